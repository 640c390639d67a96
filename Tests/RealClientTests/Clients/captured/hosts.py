"""Runs a command where a table of hosts has names, and one of them a server.

usage: unshare --mount --net python3 hosts.py TABLE COMMAND...

What serves HTTP at port 80 of 192.0.2.80 listens before the command starts, and ends with it.
"""

import http.server
import subprocess
import sys
import threading


class Greeter(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        said = b"from " + self.headers["Host"].encode() + b"\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *arguments):
        pass


subprocess.run(["mount", "--bind", sys.argv[1], "/etc/hosts"], check=True)
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
subprocess.run(["ip", "address", "add", "192.0.2.80/32", "dev", "lo"], check=True)
server = http.server.ThreadingHTTPServer(("192.0.2.80", 80), Greeter)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.exit(subprocess.run(sys.argv[2:]).returncode)
