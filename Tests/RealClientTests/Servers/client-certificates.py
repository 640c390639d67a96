"""An origin that asks for a client certificate, and answers with the subject of what it was shown.

Arguments: its certificate, its key, the CA of clients, and the version of TLS.
"""
import http.server
import json
import ssl
import sys

certificate, key, authority, version = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        subject = dict(pair for part in self.connection.getpeercert()["subject"] for pair in part)
        body = (subject["commonName"] + "\n").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
context.load_verify_locations(authority)
context.verify_mode = ssl.CERT_REQUIRED
context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(json.dumps({"port": server.server_port}), flush=True)
server.serve_forever()
