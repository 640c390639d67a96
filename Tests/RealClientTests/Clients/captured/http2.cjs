const http2 = require('node:http2')

const url = new URL(process.argv[2])
const session = http2.connect(url.origin)
const stream = session.request({ ':path': url.pathname })
stream.pipe(process.stdout)
stream.on('close', () => session.close())
