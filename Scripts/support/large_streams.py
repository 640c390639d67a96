"""What Scripts/support/constant-memory-streams runs, once there is a build."""

import hashlib
import http.server
import json
import os
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time

PIECE = 64 << 10
# In kB
MEMORY_LIMIT = 60 << 10

NGINX = """
daemon off; pid @FOLDER@/nginx.pid; error_log stderr error; worker_processes 1; @USER@
events { worker_connections 64; }
http {
    access_log off; client_max_body_size 0;
    client_body_temp_path @FOLDER@; proxy_temp_path @FOLDER@; fastcgi_temp_path @FOLDER@;
    uwsgi_temp_path @FOLDER@; scgi_temp_path @FOLDER@;
    server {
        listen 127.0.0.1:@PORT@ ssl http2;
        ssl_certificate @FOLDER@/origin.pem; ssl_certificate_key @FOLDER@/origin.key;
        location / {
            proxy_pass http://127.0.0.1:@BEHIND@;
            proxy_http_version 1.1;
            proxy_buffering off; proxy_request_buffering off;
        }
    }
}
"""


def pieces(size):
    """A content of this size, in which no two pieces are the same."""
    number = 0
    while size > 0:
        piece = (b"%015d\n" % number) * (PIECE // 16)
        yield piece[:size]
        size -= PIECE
        number += 1


def digest(size):
    whole = hashlib.sha256()
    for piece in pieces(size):
        whole.update(piece)
    return whole.hexdigest()


class Behind(http.server.BaseHTTPRequestHandler):
    """Sends contents, and answers those that it gets with their digests."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        size = int(self.path.rsplit("/", 1)[1])
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        for piece in pieces(size):
            self.wfile.write(piece)

    def do_PUT(self):
        whole, left = hashlib.sha256(), int(self.headers["Content-Length"])
        while left > 0:
            data = self.rfile.read(min(left, PIECE))
            if not data:
                return
            whole.update(data)
            left -= len(data)
        self.send_response(200)
        self.send_header("Content-Length", "64")
        self.end_headers()
        self.wfile.write(whole.hexdigest().encode())

    def log_message(self, *_):
        pass


# WebSocket messages in one frame; clients mask with zeros (RFC 6455 §5.3), which changes nothing.


def send_message(connection, size, mask=b""):
    flag = 0x80 if mask else 0
    connection.sendall(struct.pack(">BBQ", 0x82, 127 | flag, size) + mask)
    for piece in pieces(size):
        connection.sendall(piece)


def message_digest(reader):
    _, second, size = struct.unpack(">BBQ", reader.read(10))
    if second & 0x80:
        reader.read(4)
    whole = hashlib.sha256()
    while size > 0:
        data = reader.read(min(size, PIECE))
        if not data:
            raise EOFError("the message was cut")
        whole.update(data)
        size -= len(data)
    return whole.hexdigest()


def serve_websocket(listener, size, got):
    connection, _ = listener.accept()
    with connection, connection.makefile("rb") as reader:
        while reader.readline().strip():
            pass
        connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")
        got.append(message_digest(reader))
        send_message(connection, size)
        reader.read(1)


class Laboratory:
    def __init__(self, sallyport, size):
        self.sallyport, self.size = sallyport, size
        self.folder = tempfile.mkdtemp()
        self.processes = []

    def file(self, name):
        return os.path.join(self.folder, name)

    def start(self):
        request = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-days", "2"]
        subprocess.run([
            *request, "-subj", "/CN=Origin Test CA", "-keyout", self.file("ca.key"),
            "-out", self.file("ca.pem")], check=True, capture_output=True)
        subprocess.run([
            *request, "-CA", self.file("ca.pem"), "-CAkey", self.file("ca.key"),
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
            "-addext", "basicConstraints=critical,CA:FALSE", "-keyout", self.file("origin.key"),
            "-out", self.file("origin.pem")], check=True, capture_output=True)
        behind = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Behind)
        threading.Thread(target=behind.serve_forever, daemon=True).start()
        self.start_nginx(behind.server_port)
        self.start_proxy()

    def start_nginx(self, behind):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.origin = listener.getsockname()[1]
        text = NGINX
        for key, value in {
            "FOLDER": self.folder, "PORT": self.origin, "BEHIND": behind,
            "USER": "user root;" if os.getuid() == 0 else "",
        }.items():
            text = text.replace(f"@{key}@", str(value))
        with open(self.file("nginx.conf"), "w") as file:
            file.write(text)
        self.processes.append(subprocess.Popen(
            ["nginx", "-c", self.file("nginx.conf"), "-e", "stderr"]))

    def start_proxy(self):
        self.proxy = subprocess.Popen([
            self.sallyport, "proxy", "--listen", "127.0.0.1:0", "--json",
            "--capture", self.file("capture.sallyport"), "--origin-ca", self.file("ca.pem"),
            "--body-limit", "4g",
        ], stdout=subprocess.PIPE, text=True, env={
            **os.environ, "XDG_STATE_HOME": self.file("state")})
        self.processes.append(self.proxy)
        ready = json.loads(self.proxy.stdout.readline())
        self.address, self.authority = ready["listen"], ready["ca"]

    def stop(self):
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        codes = [process.wait(30) for process in self.processes]
        capture = os.path.getsize(self.file("capture.sallyport"))
        shutil.rmtree(self.folder)
        return codes[-1], capture

    def memory(self, name):
        """In kB."""
        with open(f"/proc/{self.proxy.pid}/status") as file:
            return int(re.search(rf"{name}:\s+(\d+)", file.read())[1])

    def curl(self, *arguments):
        return [
            "curl", "-sS", "--fail", "--http2", "--proxy", f"http://{self.address}",
            "--cacert", self.authority, "--retry", "5", "--retry-connrefused", "--noproxy", "",
            *arguments,
        ]

    def download(self, size):
        with subprocess.Popen(
            self.curl(f"https://localhost:{self.origin}/{size}"), stdout=subprocess.PIPE,
        ) as child:
            whole = hashlib.sha256()
            while data := child.stdout.read(PIECE):
                whole.update(data)
        return [whole.hexdigest()]

    def upload(self, size):
        with subprocess.Popen(
            self.curl(
                "--upload-file", "-", "-H", f"Content-Length: {size}", "-H", "Expect:",
                f"https://localhost:{self.origin}/sink"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        ) as child:
            for piece in pieces(size):
                child.stdin.write(piece)
            child.stdin.close()
            return [child.stdout.read().decode()]

    def messages(self, size):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file("origin.pem"), self.file("origin.key"))
        got = []
        with context.wrap_socket(
            socket.create_server(("127.0.0.1", 0)), server_side=True) as listener:
            threading.Thread(
                target=serve_websocket, args=(listener, size, got), daemon=True).start()
            plain = socket.create_connection(self.address.rsplit(":", 1), 60)
            target = f"localhost:{listener.getsockname()[1]}"
            plain.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
            while b"\r\n\r\n" not in plain.recv(65536):
                pass
            client = ssl.create_default_context(cafile=self.authority)
            with client.wrap_socket(plain, server_hostname="localhost") as connection:
                connection.sendall(
                    f"GET / HTTP/1.1\r\nHost: {target}\r\nConnection: Upgrade\r\n"
                    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
                reader = connection.makefile("rb")
                while reader.readline().strip():
                    pass
                send_message(connection, size, bytes(4))
                got.append(message_digest(reader))
        return got


def main():
    size = int(sys.argv[2].rstrip("kmgKMG")) << {"k": 10, "m": 20, "g": 30}.get(
        sys.argv[2][-1].lower(), 0)
    expected, failed = digest(size), False
    laboratory = Laboratory(sys.argv[1], size)
    try:
        laboratory.start()
        small = laboratory.download(PIECE)
        failed = small != [digest(PIECE)]
        print(f"at the start: {laboratory.memory('VmRSS')} kB")
        for name, pass_on, sum_of in [
            ("download over HTTP/2", laboratory.download, 1),
            ("upload over HTTP/2", laboratory.upload, 1),
            ("WebSocket message each way", laboratory.messages, 2),
        ]:
            started = time.monotonic()
            fine = pass_on(size) == [expected] * sum_of
            seconds = time.monotonic() - started
            failed = failed or not fine
            print(
                f"{name}: {size * sum_of} bytes in {seconds:.1f} s, "
                f"{size * sum_of / seconds / 1e6:.0f} MB/s{'' if fine else ', and they DIFFER'}; "
                f"{laboratory.memory('VmRSS')} kB now, {laboratory.memory('VmHWM')} kB at most")
        peak = laboratory.memory("VmHWM")
    finally:
        code, capture = laboratory.stop()
    print(f"capture: {capture >> 10} kB")
    if failed or code != 0:
        sys.exit(f"error: not everything passed; the proxy ended with {code}")
    if peak > MEMORY_LIMIT:
        sys.exit(f"error: {peak} kB of memory, more than {MEMORY_LIMIT} kB")


main()
