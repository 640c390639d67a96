"""Uses a content server as programs with requests or httpx do: LIBRARY HTTP-URL HTTPS-URL CA."""
import hashlib
import io
import json
import sys

library, plain, secure, authority = sys.argv[1:5]
checks = 0


def check(found, expected):
    global checks
    assert found == expected, (found, expected)
    checks += 1


if library == "requests":
    import requests
    from requests.auth import HTTPDigestAuth

    session = requests.Session()

    def ask(method, url, **options):
        return session.request(method, url, timeout=20, verify=authority, **options)
else:
    import httpx
    import ssl

    HTTPDigestAuth = httpx.DigestAuth
    session = httpx.Client(
        http2=True, verify=ssl.create_default_context(cafile=authority), follow_redirects=True)

    def ask(method, url, allow_redirects=True, **options):
        return session.request(method, url, timeout=20, follow_redirects=allow_redirects, **options)

for base in (plain, secure):
    check(ask("GET", base + "/get", params={"a": ["1", "2"]}).json()["args"], {"a": ["1", "2"]})
    check(ask("POST", base + "/post", data={"k": "v"}).json()["form"], {"k": "v"})
    check(ask("POST", base + "/post", json={"x": [1]}).json()["json"], {"x": [1]})
    file = io.BytesIO(b"content")
    posted = ask("POST", base + "/post", files={"upload": ("n.txt", file)}).json()
    check(posted["files"], {"upload": "content"})
    check(ask("PUT", base + "/put", headers={"X-Own": "1"}).json()["headers"]["X-Own"], "1")
    redirected = ask("GET", base + "/redirect/5")
    check((redirected.status_code, len(redirected.history)), (200, 5))
    check(ask("GET", base + "/redirect/1", allow_redirects=False).status_code, 302)
    ask("GET", base + "/cookies/set", params={"sallyport": "yes"})
    check(ask("GET", base + "/cookies").json()["cookies"]["sallyport"], "yes")
    check(ask("GET", base + "/basic-auth/user/pass", auth=("user", "pass")).status_code, 200)
    check(ask("GET", base + "/basic-auth/user/pass", auth=("user", "no")).status_code, 401)
    for algorithm in ("MD5", "SHA-256", "SHA-512"):
        url = f"{base}/digest-auth/auth/user/pass/{algorithm}"
        check(ask("GET", url, auth=HTTPDigestAuth("user", "pass")).status_code, 200)
    check(ask("GET", base + "/gzip").json()["gzipped"], True)
    check(ask("GET", base + "/deflate").json()["deflated"], True)
    check(ask("GET", base + "/bearer", headers={"Authorization": "Bearer t"}).json()["token"], "t")
    for status in (204, 304, 404, 418, 503):
        check(ask("GET", f"{base}/status/{status}").status_code, status)
    check(ask("GET", base + "/encoding/utf8").text.count("∮"), 1)
    check(len(ask("GET", base + "/bytes/1000").content), 1000)
    lines = [json.loads(line) for line in ask("GET", base + "/stream/10").text.splitlines()]
    check(len(lines), 10)
    asset = ask("GET", base + "/assets/7/100k").content
    check(hashlib.sha256(asset).hexdigest(), ask("GET", base + "/assets/7/100k/sha256").text.strip())
    part = ask("GET", base + "/assets/7/100k", headers={"Range": "bytes=1000-1999"})
    check((part.status_code, part.content), (206, asset[1000:2000]))
    tag = part.headers["ETag"]
    known = ask("GET", base + "/assets/7/100k", headers={"If-None-Match": tag})
    check(known.status_code, 304)
    feed = ask("GET", f"{base}/feeds/json/{library}{len(base)}").json()
    check("items" in feed, True)
    check(ask("GET", base + "/image/png").content[:4], b"\x89PNG")
if library == "httpx":
    check(ask("GET", secure + "/get").http_version, "HTTP/2")
print("checks", checks)
