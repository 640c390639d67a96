const https = require('node:https')

https.get(process.argv[2], (response) => response.pipe(process.stdout))
