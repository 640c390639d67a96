"""An origin of three events, a pause between them.

Usage: events.py SECONDS; prints its port.
"""

import http.server
import sys
import time

pause = float(sys.argv[1])


class Events(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for number in range(3):
            if number:
                time.sleep(pause)
            self.wfile.write(f"id: {number}\ndata: event {number}\n\n".encode())
            self.wfile.flush()


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Events) as server:
    print(server.server_address[1], flush=True)
    server.serve_forever()
