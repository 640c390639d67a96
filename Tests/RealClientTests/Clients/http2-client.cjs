// usage: node http2-client.cjs PLAN
// PLAN is JSON: `url` of the origin, `server` (host and port to connect to, if not the origin's),
// `version` (1 or 2), `tunnel` ("http1" or "http2": CONNECT at `server`), `absolute` (whether to ask
// `server`, without TLS, for the whole URL), `ca` (a file) and `jobs`: each with `method`, `path`,
// `fields`, `upload` (a file), `trailers` and `output` (a file).
// All jobs of HTTP/2 run at once, on one connection. Says what came as a line of JSON for each job.
const fs = require("fs");
const http = require("http");
const http2 = require("http2");
const net = require("net");
const tls = require("tls");

const plan = JSON.parse(process.argv[2]);
const url = new URL(plan.url);
const [serverHost, serverPort] = (plan.server ?? url.host).split(":");
const sessions = [];

function connected(socket, event) {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve(socket));
    socket.once("error", reject);
  });
}

function connectByHTTP1() {
  return new Promise((resolve, reject) => {
    const options = { host: serverHost, port: serverPort, method: "CONNECT", path: url.host };
    const request = http.request(options);
    request.on("connect", (answer, socket) => {
      if (answer.statusCode === 200) resolve(socket);
      else reject(new Error(`CONNECT: ${answer.statusCode}`));
    });
    request.on("error", reject);
    request.end();
  });
}

function connectByHTTP2() {
  return new Promise((resolve, reject) => {
    const session = http2.connect(`http://${serverHost}:${serverPort}`);
    sessions.push(session);
    session.on("error", reject);
    const stream = session.request(
      { ":method": "CONNECT", ":authority": url.host }, { endStream: false });
    stream.on("error", reject);
    stream.on("response", (fields) => {
      if (fields[":status"] === 200) resolve(stream);
      else reject(new Error(`CONNECT: ${fields[":status"]}`));
    });
  });
}

// A connection on which the origin, or who stands in for it, is spoken to.
async function connect() {
  let socket;
  if (plan.tunnel === "http1") socket = await connectByHTTP1();
  else if (plan.tunnel === "http2") socket = await connectByHTTP2();
  else socket = await connected(net.connect(serverPort, serverHost), "connect");
  socket.setKeepAlive ??= () => {}; // A stream of HTTP/2 has no such thing.
  if (url.protocol === "http:" || plan.absolute) return socket;
  const secured = tls.connect({
    socket, servername: "localhost", ca: fs.readFileSync(plan.ca),
    ALPNProtocols: plan.version === 2 ? ["h2"] : ["http/1.1"],
  });
  await connected(secured, "secureConnect");
  const wanted = plan.version === 2 ? "h2" : "http/1.1";
  if (secured.alpnProtocol !== wanted) throw new Error(`ALPN: ${secured.alpnProtocol}`);
  return secured;
}

// Gathers a message; `times` has when each piece came, on the clock that processes share.
function gather(stream, job, result, resolve, reject) {
  const pieces = [];
  result.times = [];
  stream.on("data", (piece) => {
    if (job.timed) result.times.push([String(process.hrtime.bigint()), piece.toString()]);
    pieces.push(piece);
  });
  stream.on("end", () => {
    if (job.output) fs.writeFileSync(job.output, Buffer.concat(pieces));
    else result.text = Buffer.concat(pieces).toString();
  });
  stream.on("error", reject);
  stream.on("aborted", () => reject(new Error(`${job.path}: aborted`)));
}

function withoutPseudo(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith(":")));
}

function byHTTP2(session, job) {
  return new Promise((resolve, reject) => {
    const result = { path: job.path, interims: [], trailers: {} };
    const stream = session.request(
      {
        ":method": job.method, ":scheme": url.protocol.slice(0, -1), ":authority": url.host,
        ":path": job.path, ...job.fields,
      },
      { endStream: !job.upload, waitForTrailers: !!job.trailers });
    stream.on("wantTrailers", () => stream.sendTrailers(job.trailers));
    stream.on("headers", (fields) => {
      result.interims.push({ status: fields[":status"], link: fields.link });
    });
    stream.on("response", (fields) => {
      result.status = fields[":status"];
      result.fields = withoutPseudo(fields);
    });
    stream.on("trailers", (fields) => (result.trailers = withoutPseudo(fields)));
    gather(stream, job, result, resolve, reject);
    stream.on("close", () => {
      if (stream.rstCode) reject(new Error(`${job.path}: reset with ${stream.rstCode}`));
      else resolve(result);
    });
    if (job.upload) fs.createReadStream(job.upload).pipe(stream);
  });
}

function byHTTP1(agent, job) {
  return new Promise((resolve, reject) => {
    const result = { path: job.path, interims: [], trailers: {} };
    const request = http.request({
      agent, method: job.method, path: plan.absolute ? plan.url + job.path : job.path,
      setHost: false,
      headers: { host: url.host, ...job.fields },
    });
    request.on("information", (answer) => {
      result.interims.push({ status: answer.statusCode, link: answer.headers.link });
    });
    request.on("error", reject);
    request.on("response", (answer) => {
      result.status = answer.statusCode;
      result.fields = answer.headers;
      gather(answer, job, result, resolve, reject);
      answer.on("end", () => {
        result.trailers = answer.trailers;
        resolve(result);
      });
    });
    if (!job.upload) return request.end();
    const file = fs.createReadStream(job.upload);
    file.pipe(request, { end: false });
    file.on("end", () => {
      if (job.trailers) request.addTrailers(job.trailers);
      request.end();
    });
  });
}

async function main() {
  let results = [];
  if (plan.version === 2) {
    const socket = await connect();
    const session = http2.connect(plan.url, { createConnection: () => socket });
    await connected(session, "connect");
    results = await Promise.all(plan.jobs.map((job) => byHTTP2(session, job)));
    session.close();
  } else {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    agent.createConnection = (options, done) => {
      connect().then((socket) => done(null, socket), done);
    };
    for (const job of plan.jobs) results.push(await byHTTP1(agent, job));
    agent.destroy();
  }
  for (const session of sessions) session.close();
  for (const result of results) console.log(JSON.stringify(result));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
