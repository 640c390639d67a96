"""A site that hands out a new session and a new CSRF token each time, and takes no old ones.

Usage: login.py [CERTIFICATE KEY]; prints its port.
"""

import http.server
import json
import secrets
import ssl
import sys
import threading
import urllib.parse

lock = threading.Lock()
# The token of each session before its log-in, and the user and API token behind it.
tokens, members, orders = {}, {}, {}


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def cookie(self, name):
        for pair in self.headers.get("Cookie", "").split(";"):
            key, _, value = pair.strip().partition("=")
            if key == name:
                return value
        return None

    def answer(self, status, content=b"", *fields):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def html(self, status, text, *fields):
        self.answer(status, text.encode(), ("Content-Type", "text/html"), *fields)

    def json(self, status, value, *fields):
        content = json.dumps(value).encode()
        self.answer(status, content, ("Content-Type", "application/json"), *fields)

    def member(self):
        with lock:
            return members.get(self.cookie("sid"))

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/login":
            session, token = secrets.token_urlsafe(18), secrets.token_urlsafe(24) + "+/=&"
            with lock:
                tokens[session] = token
            page = (
                '<html><head><meta name="csrf-token" content="%s"></head><form method=post>'
                '<input type="hidden" name="_csrf" value="%s"></form>'
            ) % (token.replace("&", "&amp;"), token.replace("&", "&#38;"))
            return self.html(200, page, ("Set-Cookie", "sid=%s; HttpOnly" % session))
        member = self.member()
        if member is None:
            return self.html(403, "who are you?")
        if url.path == "/home/" + member["home"]:
            return self.html(200, "welcome, %s" % member["user"])
        if url.path == "/api/token":
            return self.json(200, {"data": {"access_token": member["api"]}})
        if url.path.startswith("/api/orders/"):
            number = int(url.path.rpartition("/")[2])
            if self.headers.get("Authorization") != "Bearer " + member["api"]:
                return self.html(401, "no token")
            return self.json(200 if number in orders else 404, {"number": number})
        self.html(404, "nothing here")

    def do_POST(self):
        content = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.path == "/login":
            form = urllib.parse.parse_qs(content.decode())
            old = self.cookie("sid")
            with lock:
                expected = tokens.pop(old, None)
            if expected is None or form.get("_csrf") != [expected]:
                return self.html(403, "the form is too old")
            session, home = secrets.token_urlsafe(18), secrets.token_hex(8)
            with lock:
                members[session] = {
                    "user": form["user"][0], "home": home, "api": secrets.token_hex(20),
                    "csrf": secrets.token_urlsafe(24),
                }
                csrf = members[session]["csrf"]
            return self.html(
                303, "", ("Location", "/home/" + home), ("Set-Cookie", "sid=%s" % session),
                ("X-CSRF-Token", csrf))
        member = self.member()
        if member is None or self.headers.get("X-CSRF-Token") != member["csrf"]:
            return self.html(403, "who are you?")
        if self.path == "/api/orders":
            value = json.loads(content)
            if value["token"] != member["api"]:
                return self.html(403, "no token")
            number = 10_000_000 + secrets.randbelow(80_000_000)
            orders[number] = value
            return self.json(201, {"order": {"number": number}})
        self.html(404, "nothing here")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
