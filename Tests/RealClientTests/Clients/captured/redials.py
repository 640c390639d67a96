"""What needs a second connection to a server of the command's own: a line for each case.

usage: redials.py PORT    the servers listen on 127.0.0.1:PORT, one after the other
"""

import socket
import ssl
import struct
import sys
import threading

PORT = int(sys.argv[1])
PATIENCE = 8
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# GET of http://a.te/ (RFC 7541 appendix A).
REQUEST = b"\x82\x86\x84\x41\x04a.te"
DATA, HEADERS, SETTINGS, ENDS = 0, 1, 4, 1


def serve(answer):
    """Gives each connection to a thread of its own, with its place from 0."""
    server = socket.create_server(("127.0.0.1", PORT))
    places = []

    def one(connection, place):
        connection.settimeout(PATIENCE)
        try:
            answer(connection, place)
        except (OSError, threading.BrokenBarrierError):
            pass
        connection.close()

    def run():
        while True:
            try:
                connection = server.accept()[0]
            except OSError:
                return
            places.append(len(places))
            threading.Thread(target=one, args=(connection, places[-1]), daemon=True).start()

    threading.Thread(target=run, daemon=True).start()

    def end():
        # Without it the thread would go on to wait, and keep the port.
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        return len(places)

    return end


def connect():
    client = socket.create_connection(("127.0.0.1", PORT))
    client.settimeout(PATIENCE)
    return client


def frame(kind, flags, stream, content=b""):
    head = struct.pack(">I", len(content))[1:] + bytes([kind, flags]) + struct.pack(">I", stream)
    return head + content


def frames(connection):
    data = b""
    while True:
        while len(data) >= 9 and len(data) >= 9 + int.from_bytes(data[:3], "big"):
            end = 9 + int.from_bytes(data[:3], "big")
            yield data[3], data[4], int.from_bytes(data[5:9], "big"), data[9:end]
            data = data[end:]
        more = connection.recv(65536)
        if not more:
            return
        data += more


def streams():
    """Two of HTTP/2 at once and one behind them, to a server of HTTP/1 that closes each time."""
    both = threading.Barrier(2)

    def answer(connection, place):
        head = b""
        while b"\r\n\r\n" not in head and (more := connection.recv(65536)):
            head += more
        if place < 2:
            both.wait(PATIENCE)
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 6\r\n\r\ninside"
        )

    end = serve(answer)
    client = connect()
    asked = b"".join(frame(HEADERS, 5, stream, REQUEST) for stream in (1, 3))
    client.sendall(PREFACE + frame(SETTINGS, 0, 0) + asked)
    answers, ended = {}, 0
    try:
        for kind, flags, stream, content in frames(client):
            if kind == SETTINGS and not flags & 1:
                client.sendall(frame(SETTINGS, 1, 0))
            if kind == DATA:
                answers[stream] = answers.get(stream, b"") + content
            if kind in (DATA, HEADERS) and flags & ENDS:
                ended += 1
                if ended == 2:
                    client.sendall(frame(HEADERS, 5, 5, REQUEST))
                if ended == 3:
                    break
    except OSError:
        pass
    client.close()
    return sorted(answers.items()), end()


def protocol_is_refused():
    """A server that takes no client without HTTP/2 is asked again, with HTTP/2."""

    def answer(connection, _):
        connection.recv(65536)
        connection.sendall(b"\x15\3\3\0\2\2\x78")

    end = serve(answer)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="a.test")
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    client = connect()
    client.sendall(outgoing.read())
    data = b""
    while more := client.recv(65536):
        data += more
    return data[:1] == b"\x15", end()


for case in streams, protocol_is_refused:
    print(f"{case.__name__}: {case()}", flush=True)
