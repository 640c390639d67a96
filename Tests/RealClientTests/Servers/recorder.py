"""An origin that tells, a line of JSON for each, which requests came as they were on the wire, and
answers each with its number; to those for /cut it promises more than it sends.

Usage: recorder.py; prints its port first.
"""

import base64
import itertools
import json
import socketserver

numbers = itertools.count(1)


class Recorder(socketserver.StreamRequestHandler):
    def handle(self):
        while self.one():
            pass

    def one(self):
        start = self.rfile.readline()
        if not start:
            return False
        method, target, _ = start.decode("latin-1").split(" ", 2)
        fields = []
        while (line := self.rfile.readline().rstrip(b"\r\n")):
            name, _, value = line.decode("latin-1").partition(":")
            fields.append([name, value.strip(" \t")])
        known = {name.lower(): value for name, value in fields}
        if known.get("expect", "").lower() == "100-continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = self.body(known)
        record = {
            "method": method,
            "target": target,
            "fields": fields,
            "body": base64.b64encode(body).decode(),
        }
        print(json.dumps(record), flush=True)
        answer = b"%d" % next(numbers)
        is_cut = target.startswith("/cut")
        length = len(answer) + (9 if is_cut else 0)
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length)
        if method != "HEAD":
            self.wfile.write(answer)
        return known.get("connection", "").lower() != "close" and not is_cut

    def body(self, known):
        if known.get("transfer-encoding", "").lower() == "chunked":
            body = b""
            while (size := int(self.rfile.readline().split(b";")[0], 16)):
                body += self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return body
        return self.rfile.read(int(known.get("content-length", "0")))


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


with Server(("127.0.0.1", 0), Recorder) as server:
    print(server.server_address[1], flush=True)
    server.serve_forever()
