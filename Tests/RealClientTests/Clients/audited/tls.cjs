// A client of Node's https: default, or with one of its checks switched off.
const https = require("https");
const [how, url] = process.argv.slice(2);
const options = { agent: false };
if (how === "unverified") options.rejectUnauthorized = false;
if (how === "no-hostname") options.checkServerIdentity = () => undefined;
https.get(url, options, (response) => {
  response.on("data", (part) => process.stdout.write(part));
}).on("error", (error) => {
  console.error(error.message);
  process.exitCode = 1;
});
