// usage: node http2-origin.cjs CERTIFICATE KEY FOLDER
// An origin of HTTP/1 and of HTTP/2, each with TLS and without, that serves the folder's files and
// more; says the ports as a line of JSON.
const crypto = require("crypto");
const fs = require("fs");
const http = require("http");
const http2 = require("http2");
const https = require("https");
const path = require("path");

const [certificate, keyFile, folder] = process.argv.slice(2);
const tls = { cert: fs.readFileSync(certificate), key: fs.readFileSync(keyFile) };

// The content as it comes, and behind it the trailers that came and what was read.
function echo(request, response) {
  const digest = crypto.createHash("sha256");
  const type = request.headers["content-type"] ?? "application/octet-stream";
  const fields = { "content-type": type, "x-origin-protocol": request.httpVersion };
  fields["trailer"] = "x-sha256, x-request-trailer";
  response.writeHead(200, fields);
  request.on("data", (data) => digest.update(data));
  request.on("end", () => {
    response.addTrailers({
      "x-sha256": digest.digest("hex"),
      "x-request-trailer": request.trailers["x-checksum"] ?? "none",
    });
    response.end();
  });
  request.pipe(response, { end: false });
}

// 103 twice, and the response only when those have had time to go ahead.
function hint(request, response) {
  response.writeEarlyHints({ link: "</one.css>; rel=preload; as=style" });
  response.writeEarlyHints({ link: "</two.css>; rel=preload; as=style" });
  setTimeout(() => {
    response.writeHead(200, { "x-origin-protocol": request.httpVersion });
    response.end("after the hints");
  }, 20);
}

// Each event is the time at which it is sent, on the clock that the machine's processes share.
function events(request, response) {
  let left = Number(new URL(request.url, "http://origin").searchParams.get("count"));
  response.writeHead(200, { "content-type": "text/event-stream" });
  const timer = setInterval(() => {
    response.write(`data: ${process.hrtime.bigint()}\n\n`);
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    response.end();
  }, 5);
  response.on("close", () => clearInterval(timer));
}

function file(name, request, response) {
  const file = path.join(folder, path.basename(name));
  const fields = { "x-origin-protocol": request.httpVersion };
  const found = fs.statSync(file, { throwIfNoEntry: false });
  if (!found?.isFile()) {
    response.writeHead(404, fields);
    return response.end();
  }
  response.writeHead(200, { "content-length": found.size, ...fields });
  fs.createReadStream(file).pipe(response);
}

function answer(request, response) {
  // Node.js resets a stream whose request nobody reads, rather than wait until it can end it.
  if (request.method === "GET") request.resume();
  const name = request.url.split("?")[0];
  if (name === "/echo") return echo(request, response);
  if (name === "/hints") return hint(request, response);
  if (name === "/events") return events(request, response);
  file(name, request, response);
}

const servers = {
  http1: http.createServer(answer),
  http1TLS: https.createServer(tls, answer),
  http2: http2.createServer(answer),
  http2TLS: http2.createSecureServer(tls, answer),
};
const ports = {};
for (const [name, server] of Object.entries(servers)) {
  server.listen(0, "127.0.0.1", () => {
    ports[name] = server.address().port;
    if (Object.keys(ports).length === Object.keys(servers).length) {
      console.log(JSON.stringify(ports));
    }
  });
}
