"""A proxy that knows CONNECT only, on port 3128; says when it listens."""

import socket
import socketserver
import threading


def copy(source, target):
    try:
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Tunnel(socketserver.BaseRequestHandler):
    def handle(self):
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.request.recv(4096)
        host, port = head.split()[1].decode().split(":")
        with socket.create_connection((host, int(port))) as origin:
            self.request.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
            back = threading.Thread(target=copy, args=(origin, self.request))
            back.start()
            copy(self.request, origin)
            back.join()


class Threads(socketserver.ThreadingTCPServer):
    allow_reuse_address = True


with Threads(("127.0.0.1", 3128), Tunnel) as server:
    print("ready", flush=True)
    server.serve_forever()
