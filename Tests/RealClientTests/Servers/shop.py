"""A shop that takes no request from another site, and hands out sessions, tokens and numbers.

Usage: shop.py FIRST-NUMBER [REGRESSION]; prints its port.
"""

import http.server
import json
import secrets
import sys
import threading

lock = threading.Lock()
number = int(sys.argv[1])
regression = sys.argv[2] if len(sys.argv) > 2 else ""
members, orders = {}, {}


class Shop(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    @property
    def origin(self):
        return "http://" + self.headers["Host"]

    def answer(self, status, content=b"", *fields):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def html(self, text):
        self.answer(200, text.encode(), ("Content-Type", "text/html"))

    def json(self, status, value, *fields):
        content = json.dumps(value).encode()
        self.answer(status, content, ("Content-Type", "application/json"), *fields)

    def token(self):
        return members.get(self.headers.get("Cookie", "").partition("sid=")[2])

    def is_foreign(self):
        return not self.headers.get("Referer", "").startswith(self.origin + "/")

    def shown(self, order):
        lines = list(order["lines"].values())
        total = sum(line["price"] * line["count"] for line in lines)
        if regression == "total" and len(lines) > 1:
            total -= lines[-1]["price"]
        return {
            "id": order["id"], "self": "%s/api/orders/%d" % (self.origin, order["id"]),
            "lines": lines, "total": total,
        }

    def do_GET(self):
        if self.path == "/":
            return self.html("<form action=/login method=post><input name=user></form>")
        if self.token() is None or self.is_foreign():
            return self.answer(403)
        if self.path == "/dashboard":
            return self.html('<meta name="csrf-token" content="%s">hello' % self.token())
        words = self.path.split("/")[1:]
        with lock:
            if words == ["api", "orders"]:
                return self.json(200, [self.shown(order) for order in orders.values()])
            order = orders.get(words[2]) if len(words) == 3 else None
            return self.json(200, self.shown(order)) if order else self.answer(404)

    def do_POST(self):
        global number
        content = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.headers.get("Origin") != self.origin or self.is_foreign():
            return self.answer(403)
        if self.path == "/login":
            session = secrets.token_urlsafe(18)
            members[session] = secrets.token_urlsafe(24)
            cookie = "sid=%s; HttpOnly" % session
            return self.answer(303, b"", ("Location", "/dashboard"), ("Set-Cookie", cookie))
        if self.token() is None or self.headers.get("X-CSRF-Token") != self.token():
            return self.answer(403)
        with lock:
            number += 1
            if self.path == "/api/orders":
                order = {"id": number, "lines": {}}
                orders[str(number)] = order
                place = ("Location", "%s/api/orders/%d" % (self.origin, number))
                return self.json(201, self.shown(order), place)
            order = orders.get(self.path.split("/")[3])
            if order is None:
                return self.answer(404)
            line = dict(json.loads(content), id="line_%x" % (number * 7919))
            order["lines"][line["id"]] = line
            return self.json(201, line)

    def do_DELETE(self):
        if self.headers.get("X-CSRF-Token") != self.token() or self.is_foreign():
            return self.answer(403)
        words = self.path.split("/")
        order = orders.get(words[3])
        found = order and order["lines"].pop(words[5], None)
        self.answer(204 if found else 404)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop)
print(server.server_address[1], flush=True)
server.serve_forever()
