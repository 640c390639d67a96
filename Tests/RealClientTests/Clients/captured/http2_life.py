"""How a connection of HTTP/2 to a server of its own ends: a line for each case, the same with and
without us.

usage: http2_life.py    the server listens on free ports of 127.0.0.1
"""

import socket
import struct
import threading

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# GET of http://a.te/ (RFC 7541 appendix A).
REQUEST = b"\x82\x86\x84\x41\x04a.te"
HEADERS, RESET, SETTINGS, GOAWAY = 1, 3, 4, 7
PATIENCE = 8


def frame(kind, flags, stream, content=b""):
    return struct.pack(">I", len(content))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + content


def frames(connection):
    data = b""
    while True:
        while len(data) >= 9 and len(data) >= 9 + int.from_bytes(data[:3], "big"):
            end = 9 + int.from_bytes(data[:3], "big")
            kind, flags, stream = data[3], data[4], int.from_bytes(data[5:9], "big")
            if kind == SETTINGS and not flags & 1:
                try:
                    connection.sendall(frame(SETTINGS, 1, 0))
                except OSError:
                    pass  # The peer is gone; what it said before is still to be read.
            yield kind, stream, data[9:end]
            data = data[end:]
        more = connection.recv(65536)
        if not more:
            return
        data += more


def answer(connection, how, said):
    while len(head := connection.recv(24, socket.MSG_PEEK)) < 24 and head:
        pass
    connection.recv(24)
    connection.sendall(frame(SETTINGS, 0, 0))
    for kind, stream, _ in frames(connection):
        if kind != HEADERS:
            continue
        said.append(stream)
        if stream == 1:
            connection.sendall(frame(HEADERS, 5, 1, b"\x88"))
            if how == "resting":
                return
        elif how == "reset":
            connection.sendall(frame(RESET, 0, stream, struct.pack(">I", 7)))
        else:
            if how == "goodbye":
                connection.sendall(frame(GOAWAY, 0, 0, struct.pack(">II", 1, 0)))
            return


def serve(how):
    server = socket.create_server(("127.0.0.1", 0))
    said = []

    def run():
        while True:
            connection = server.accept()[0]
            connection.settimeout(PATIENCE)
            said.append("connection")
            try:
                answer(connection, how, said)
                # What was sent last is lost to who closes with bytes unread, of which there are some.
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
            except OSError:
                pass
            connection.close()

    threading.Thread(target=run, daemon=True).start()
    return server, said


def ask(how):
    server, said = serve(how)
    client = socket.create_connection(server.getsockname())
    client.settimeout(PATIENCE)
    client.sendall(PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, 5, 1, REQUEST))
    answered = []
    try:
        for kind, stream, _ in frames(client):
            if kind == HEADERS:
                answered.append(stream)
                if how != "resting":
                    client.sendall(frame(HEADERS, 5, 3, REQUEST))
            elif stream == 3:
                break
    except OSError:
        pass
    client.close()
    return f"{how}: answered {answered}, the server saw {said}"


for case in ["close", "reset", "goodbye", "resting"]:
    print(ask(case), flush=True)
