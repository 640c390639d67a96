"""How connections to servers of its own live: a line for each case, the same with and without us.

usage: life.py PORT    the servers listen on 127.0.0.1:PORT, one after the other
"""

import http.client
import http.server
import select
import socket
import sys
import threading

PORT = int(sys.argv[1])
# Longer than anything here takes, and shorter than what a pool keeps.
PATIENCE = 8


def listen():
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", PORT))
    server.listen()
    return server


def serve(script, times=1):
    """Plays a script on each of so many connections, one at a time."""
    server = listen()
    said = []

    def run():
        for _ in range(times):
            connection = server.accept()[0]
            connection.settimeout(PATIENCE)
            try:
                said.append(script(connection))
            except OSError as error:
                said.append(type(error).__name__)
            connection.close()
        server.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def end():
        thread.join(PATIENCE * 2)
        return said

    return end


def head(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            break
        data += more
    return data.decode()


def connect():
    client = socket.create_connection(("127.0.0.1", PORT))
    client.settimeout(PATIENCE)
    return client


def request(client, fields="", path="/"):
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n{fields}\r\n".encode())


def rest(client):
    """What comes until the end, and how that comes."""
    data = b""
    try:
        while more := client.recv(65536):
            data += more
        return data, "end"
    except OSError as error:
        return data, type(error).__name__


def line_of(text, name):
    return [line for line in text.split("\r\n") if line.lower().startswith(name)]


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def closes_after_each_response():
    """A client of http.client opens a new connection when it is told to."""

    def script(connection):
        text = head(connection)
        connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok")
        return "secret" in text

    end = serve(script, 3)
    client = http.client.HTTPConnection("127.0.0.1", PORT, timeout=PATIENCE)
    statuses = []
    for _ in range(3):
        client.request("GET", "/", headers={"Authorization": "Bearer secret"})
        response = client.getresponse()
        statuses.append((response.status, response.read()))
    return statuses, end()


def one_connection_at_a_time():
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *arguments):
            pass

    http.server.HTTPServer.allow_reuse_address = True
    server = http.server.HTTPServer(("127.0.0.1", PORT), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    statuses = []
    for _ in range(3):
        client = http.client.HTTPConnection("127.0.0.1", PORT, timeout=PATIENCE)
        client.request("GET", "/")
        statuses.append(client.getresponse().read())
        client.close()
    server.shutdown()
    server.server_close()
    return statuses


def proxy_of_its_own():
    def script(connection):
        text = head(connection)
        connection.sendall(
            b"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n"
        )
        return line_of(text, "proxy-authorization"), text.split("\r\n")[0]

    end = serve(script)
    client = connect()
    client.sendall(
        b"GET http://far.test/ HTTP/1.1\r\nHost: far.test\r\n"
        b"Proxy-Authorization: Basic dTpw\r\nConnection: close\r\n\r\n"
    )
    data, _ = rest(client)
    return line_of(data.decode(), "proxy-authenticate"), end()


def upgrade_without_option():
    def script(connection):
        text = head(connection)
        connection.sendall(OK)
        asked = bool(line_of(text, "upgrade")) and "upgrade" in str(
            [o.strip() for l in line_of(text.lower(), "connection:") for o in l[11:].split(",")]
        ).replace("xupgrade-not", "")
        return asked

    end = serve(script)
    client = connect()
    request(client, "Connection: xupgrade-not\r\nUpgrade: websocket\r\n")
    return rest(client)[0][:15], end()


def connection_option(option):
    def script(connection):
        text = head(connection)
        connection.sendall(
            f"HTTP/1.1 200 OK\r\nConnection: {option}\r\nContent-Length: 2\r\n\r\nok".encode()
        )
        return line_of(text.lower(), "connection")

    end = serve(script)
    client = connect()
    request(client, f"Connection: {option}\r\n")
    data, how = rest(client)
    return line_of(data.decode().lower(), "connection"), how, end()


def client_leaves():
    def script(connection):
        head(connection)
        ready = select.select([connection], [], [], PATIENCE)[0]
        return bool(ready) and connection.recv(1)

    end = serve(script)
    client = connect()
    request(client)
    client.close()
    return end()


def client_ends_its_direction():
    def script(connection):
        head(connection)
        told = connection.recv(1)
        connection.sendall(OK)
        return told

    end = serve(script)
    client = connect()
    request(client)
    client.shutdown(socket.SHUT_WR)
    return rest(client), end()


def origin_leaves_a_resting_client():
    def script(connection):
        head(connection)
        connection.sendall(OK)

    end = serve(script)
    client = connect()
    request(client)
    end()
    return rest(client)


def no_answer():
    end = serve(head)
    client = connect()
    request(client)
    said = rest(client)
    end()
    return said


def reset():
    def script(connection):
        head(connection)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    end = serve(script)
    client = connect()
    request(client)
    said = rest(client)
    end()
    return said


def half_an_answer(framing, part):
    def script(connection):
        head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + framing + b"\r\n\r\n" + part)

    end = serve(script)
    client = http.client.HTTPConnection("127.0.0.1", PORT, timeout=PATIENCE)
    client.request("GET", "/")
    try:
        said = client.getresponse().read()
    except (http.client.HTTPException, OSError) as error:
        said = repr(error)
    end()
    return said


CASES = {
    "closes after each response": closes_after_each_response,
    "one connection at a time": one_connection_at_a_time,
    "a proxy of its own": proxy_of_its_own,
    "upgrade without its option": upgrade_without_option,
    "close": lambda: connection_option("close"),
    "keep-alive": lambda: connection_option("keep-alive"),
    "client leaves": client_leaves,
    "client ends its direction": client_ends_its_direction,
    "origin leaves a resting client": origin_leaves_a_resting_client,
    "no answer": no_answer,
    "reset": reset,
    "half a length": lambda: half_an_answer(b"Content-Length: 10", b"12345"),
    "half of the chunks": lambda: half_an_answer(b"Transfer-Encoding: chunked", b"5\r\n12345\r\n"),
}

for name, case in CASES.items():
    print(f"{name}: {case()}", flush=True)
