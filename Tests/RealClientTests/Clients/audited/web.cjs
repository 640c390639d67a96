// Clients of Node: web.cjs LIBRARY HOW HOST PORT. Default, unverified or no-hostname.
const [library, how, host, port] = process.argv.slice(2);
const url = port === "443" ? `https://${host}/` : `https://${host}:${port}/`;
const options = {};
if (how === "unverified") options.rejectUnauthorized = false;
if (how === "no-hostname") options.checkServerIdentity = () => undefined;
const fail = (error) => { console.error(error.message); process.exit(1); };
if (library === "fetch") {
  if (how === "unverified") process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  fetch(url).then((answer) => answer.text()).then((text) => console.log(text)).catch(fail);
} else if (library === "tls") {
  const socket = require("tls").connect({ host, port, servername: host, ...options });
  socket.on("secureConnect", () => socket.write(`GET / HTTP/1.0\r\nHost: ${host}\r\n\r\n`));
  socket.on("data", (part) => process.stdout.write(part)).on("error", fail);
} else {
  const session = require("http2").connect(url, options).on("error", fail);
  const request = session.request({ ":path": "/" }).on("error", fail);
  request.on("data", (part) => process.stdout.write(part)).on("end", () => session.close()).end();
}
