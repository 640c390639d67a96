"""A command for random_ends.py: many connections of every state, until it is ended."""

import pathlib
import socket
import socketserver
import ssl
import sys
import threading
import time
import urllib.request


class Slow(socketserver.BaseRequestHandler):
    """Answers half, or nothing, or all."""

    def handle(self):
        said = self.request.recv(4096)
        if said.startswith(b"GET /whole"):
            self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        elif said.startswith(b"GET /half"):
            self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        time.sleep(3)


def repeat(action):
    while True:
        try:
            action()
        except (OSError, ValueError):
            time.sleep(0.01)


def fetch(url):
    with urllib.request.urlopen(url, timeout=2) as response:
        response.read(4)


def shake_hands():
    """With a server that does not answer, or a name that is not there."""
    context = ssl.create_default_context()
    with socket.create_connection(("a.test", 443), timeout=1) as connection:
        with context.wrap_socket(connection, server_hostname="a.test"):
            pass


def main():
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Slow)
    server.daemon_threads = True
    url = f"http://127.0.0.1:{server.server_address[1]}"
    work = [server.serve_forever]
    work += [lambda path=path: repeat(lambda: fetch(url + path)) for path in ("/whole", "/half", "/")]
    work += [lambda: repeat(shake_hands)] * 2
    for action in work:
        threading.Thread(target=action, daemon=True).start()
    pathlib.Path(sys.argv[1]).touch()
    time.sleep(20)


main()
