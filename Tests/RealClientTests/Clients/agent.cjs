// usage: node agent.cjs ORIGIN PROXY CA FOLDER UPLOAD NAME…
// Fetches each NAME from the origin into the folder, then puts the file UPLOAD.
const fs = require("fs");
const https = require("https");
const path = require("path");
const { pipeline } = require("stream/promises");
const zlib = require("zlib");

const found = require("https-proxy-agent");
const HttpsProxyAgent = found.HttpsProxyAgent ?? found;
const [origin, proxy, authority, folder, upload, ...names] = process.argv.slice(2);
const agent = new HttpsProxyAgent(proxy);
const ca = fs.readFileSync(authority);

function send(url, method, headers, body) {
  return new Promise((resolve, reject) => {
    const request = https.request(url, { agent, ca, method, headers }, (answer) => {
      if (answer.statusCode < 300) resolve(answer);
      else reject(new Error(`${method} ${url}: ${answer.statusCode}`));
    });
    request.on("error", reject);
    if (body) fs.createReadStream(body).pipe(request);
    else request.end();
  });
}

async function main() {
  for (const name of names) {
    const answer = await send(`${origin}/${name}`, "GET", { "accept-encoding": "gzip" });
    const steps = answer.headers["content-encoding"] === "gzip" ? [zlib.createGunzip()] : [];
    const file = fs.createWriteStream(path.join(folder, path.basename(name)));
    await pipeline(answer, ...steps, file);
  }
  if (!upload) return;
  const headers = { "content-length": fs.statSync(upload).size };
  const url = `${origin}/upload/${path.basename(upload)}`;
  (await send(url, "PUT", headers, upload)).resume();
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
