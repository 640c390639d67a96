// Uses a content server as programs of Node do: HTTP-URL HTTPS-URL; trusts NODE_EXTRA_CA_CERTS.
const assert = require("node:assert");
const crypto = require("node:crypto");

let checks = 0;
function check(found, expected) {
    assert.deepStrictEqual(found, expected);
    checks += 1;
}

async function use(base) {
    const json = async (path, options) => (await fetch(base + path, options)).json();
    check((await json("/get?a=1")).args, { a: "1" });
    check((await json("/post", { method: "POST", body: new URLSearchParams({ k: "v" }) })).form, { k: "v" });
    const form = new FormData();
    form.append("upload", new Blob(["content"]), "n.txt");
    check((await json("/post", { method: "POST", body: form })).files, { upload: "content" });
    check((await fetch(base + "/redirect/5")).redirected, true);
    check((await fetch(base + "/redirect/1", { redirect: "manual" })).status, 302);
    const login = { Authorization: "Basic " + btoa("user:pass") };
    check((await fetch(base + "/basic-auth/user/pass", { headers: login })).status, 200);
    check((await fetch(base + "/basic-auth/user/pass")).status, 401);
    for (const coding of ["gzip", "deflate", "brotli"]) {
        check((await json("/" + coding, { headers: { "Accept-Encoding": "gzip, deflate, br" } })).method, "GET");
    }
    const asset = Buffer.from(await (await fetch(base + "/assets/7/100k")).arrayBuffer());
    const digest = (await (await fetch(base + "/assets/7/100k/sha256")).text()).trim();
    check(crypto.createHash("sha256").update(asset).digest("hex"), digest);
    const part = await fetch(base + "/assets/7/100k", { headers: { Range: "bytes=1000-1999" } });
    check(part.status, 206);
    check(Buffer.from(await part.arrayBuffer()), asset.subarray(1000, 2000));
    check((await (await fetch(base + "/stream/10")).text()).trim().split("\n").length, 10);
    const sent = await fetch(base + "/uploads/node.bin", { method: "PUT", body: asset });
    check([200, 201, 204].includes(sent.status), true);
}

(async () => {
    for (const base of process.argv.slice(2)) await use(base);
    console.log("checks", checks);
})();
