"""What floods a proxy: bytes that one peer sends again and again, and the way that they go.

A flood of pieces is sent on one connection until that is ended; a flood of connections makes new
ones. Pieces are pairs, the bytes and how many frames, chunks or fields they are.
"""

import ctypes
import ctypes.util
import dataclasses
import functools
import itertools
import socket
import struct
import typing

from fuzz_scripts import PREFACE, frame, hello, literal

PIECE = 1 << 16  # bytes, so that the sender is not what is slow
STREAMS = 500  # a piece
REQUESTS = 20  # that an origin answers with references to one field
LARGEST = 2**31 - 1
# The key and what answers it are those of RFC 6455 §1.3.
UPGRADE = (b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
           b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")
UPGRADED = (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
EMPTY = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
SETTINGS = frame(4, 0, 0)


@dataclasses.dataclass(frozen=True)
class Flood:
    name: str
    # Who floods: "client", "origin", or "connections" for a client that makes new ones.
    peer: str
    # What the client says first, by the authority that it asks for.
    opening: typing.Callable = lambda authority: b""
    # What floods, by the same.
    pieces: typing.Callable = lambda authority: None
    # What the origin says before its flood, or to each head of a request.
    answer: bytes = b""
    # How the client comes in: "plain", "connect" (a tunnel and HTTP/2 in TLS to a secure origin),
    # "tls" (to the proxy itself) or "updates" (that with KeyUpdate messages).
    way: str = "plain"
    # How many connections stay before the oldest is hung up.
    held: int = 0


def repeated(unit, size=PIECE):
    count = max(1, size // len(unit))
    piece = (unit * count, count)
    return lambda authority: itertools.repeat(piece)


@functools.lru_cache(64)
def on_streams(build, first, authority):
    numbers = range(first, first + 2 * STREAMS, 2)
    return b"".join(build(stream, authority) for stream in numbers), STREAMS


def new_streams(build):
    return lambda authority: (
        on_streams(build, first, authority) for first in itertools.count(1, 2 * STREAMS))


# HTTP/2

def fields(authority, method=b"GET", scheme=b"http"):
    return b"".join([literal(b":method", method), literal(b":scheme", scheme),
                     literal(b":authority", authority), literal(b":path", b"/flood")])


def get(stream, authority):
    return frame(1, 5, stream, fields(authority))


def start(authority):
    return PREFACE + SETTINGS


def start_upload(authority):
    return start(authority) + frame(1, 4, 1, fields(authority, b"POST"))


def start_block(authority):
    return start(authority) + frame(1, 1, 1, fields(authority))


def start_get(authority):
    return start(authority) + frame(1, 5, 1, fields(authority, scheme=b"https"))


def start_gets(authority):
    block = fields(authority, scheme=b"https")
    return start(authority) + b"".join(
        frame(1, 5, 2 * number + 1, block) for number in range(REQUESTS))


def reset(stream, authority):
    return get(stream, authority) + frame(3, 0, stream, struct.pack(">I", 8))


def provoked(stream, authority):
    return get(stream, authority) + frame(8, 0, stream, struct.pack(">I", LARGEST))


def held_open(stream, authority):
    return frame(1, 4, stream, fields(authority, b"POST"))


# A long field that is put into the table, and a byte for each further time that it is meant.
ENTRY = b"\x40\x01x\x7f" + bytes([0xA1, 0x1E]) + b"a" * 4000  # 127 + 0x21 + (0x1E << 7) = 4000
REFERENCE = b"\xbe"


def references(stream, authority):
    block = fields(authority) + (ENTRY if stream == 1 else b"")
    return frame(1, 5, stream, block + REFERENCE * 8000)


def references_by_origin(authority):
    """Interim heads of a few bytes each, and of 56,000 when they are read."""
    status = literal(b":status", b"103")
    yield frame(1, 4, 1, status + ENTRY), 1
    heads = [frame(1, 4, 2 * number + 1, status + REFERENCE * 14) for number in range(REQUESTS)]
    yield from repeated(b"".join(heads))(authority)


# HTTP/1 and WebSocket

def ask(authority, more=b"Connection: close\r\n"):
    return b"GET http://%s/flood HTTP/1.1\r\nHost: %s\r\n%s\r\n" % (authority, authority, more)


def upgrade(authority):
    return ask(authority, UPGRADE)


def post(framing):
    return lambda authority: (b"POST http://%s/flood HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n"
                              % (authority, authority, framing))


def start_head(authority):
    return ask(authority)[:-2]


# TLS

def fragments(authority):
    """A ClientHello in records of one byte, which is longer than any."""
    message = bytearray(hello()[5:])
    message[1:4] = b"\0\xff\xff"
    data = b"".join(b"\x16\x03\x01\0\x01" + bytes([byte]) for byte in message)
    yield data, len(message)
    yield from repeated(b"\x16\x03\x01\0\x01\0")(authority)


@functools.cache
def library():
    found = ctypes.CDLL(ctypes.util.find_library("ssl"))
    for name in ["TLS_client_method", "SSL_CTX_new", "SSL_new", "BIO_new", "BIO_s_mem"]:
        getattr(found, name).restype = ctypes.c_void_p
    found.context = ctypes.c_void_p(found.SSL_CTX_new(ctypes.c_void_p(found.TLS_client_method())))
    return found


class KeyUpdates:
    """A client in TLS 1.3 that sends KeyUpdate messages, which `ssl` has no call for."""

    COUNT = 1000  # a piece

    def __init__(self, connection):
        # The library reads the socket itself, for no longer than this.
        connection.settimeout(None)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 5, 0))
        self.session = ctypes.c_void_p(library().SSL_new(library().context))
        library().SSL_set_fd(self.session, connection.fileno())
        if library().SSL_connect(self.session) != 1:
            raise OSError("no TLS")
        self.output = ctypes.c_void_p(
            library().BIO_new(ctypes.c_void_p(library().BIO_s_mem())))
        library().SSL_set0_wbio(self.session, self.output)

    def pieces(self):
        buffer = ctypes.create_string_buffer(64 * self.COUNT)
        while True:
            for _ in range(self.COUNT):
                library().SSL_key_update(self.session, 0)
                library().SSL_do_handshake(self.session)
            size = library().BIO_read(self.output, buffer, len(buffer))
            if size <= 0:
                # No end by the peer, as an OSError would be.
                raise RuntimeError("no KeyUpdate")
            yield buffer.raw[:size], self.COUNT

    def free(self):
        library().SSL_free(self.session)


ONE = struct.pack(">I", 1)
FLOODS = [
    Flood("nothing", "none"),
    Flood("WINDOW_UPDATE", "client", start, repeated(frame(8, 0, 0, ONE))),
    Flood("PING", "client", start, repeated(frame(6, 0, 0, b"12345678"))),
    Flood("SETTINGS", "client", start, repeated(SETTINGS)),
    Flood("empty DATA", "client", start_upload, repeated(frame(0, 0, 1))),
    Flood("DATA of 1 byte", "client", start_upload, repeated(frame(0, 0, 1, b"x"))),
    Flood("PRIORITY", "client", start, repeated(frame(2, 0, 3, b"\0\0\0\0\1"))),
    Flood("CONTINUATION", "client", start_block, repeated(frame(9, 0, 1))),
    Flood("rapid reset", "client", start, new_streams(reset), EMPTY),
    Flood("provoked resets", "client", start, new_streams(provoked), EMPTY),
    Flood("streams, answered", "client", start, new_streams(get), EMPTY),
    Flood("streams, held open", "client", start, new_streams(held_open)),
    Flood("HPACK references", "client", start, new_streams(references), EMPTY),
    Flood("upload, chunks of 1 byte", "client", post(b"Transfer-Encoding: chunked"),
          repeated(b"1\r\nx\r\n")),
    Flood("upload, large pieces", "client", post(b"Content-Length: %d" % (1 << 50)),
          repeated(b"u" * 4096, 1 << 18)),
    Flood("head without end", "client", start_head, repeated(b"a: b\r\n")),
    Flood("requests ahead", "client", answer=EMPTY,
          pieces=lambda authority: repeated(ask(authority, b""))(authority)),
    Flood("WebSocket, 0 bytes", "client", upgrade, repeated(b"\x82\x80\0\0\0\0"), UPGRADED),
    Flood("WebSocket, 1 byte", "client", upgrade, repeated(b"\x82\x81\0\0\0\0x"), UPGRADED),
    Flood("WebSocket, fragments", "client", upgrade,
          lambda authority: itertools.chain(
              [(b"\x02\x80\0\0\0\0", 1)], repeated(b"\0\x80\0\0\0\0")(authority)), UPGRADED),
    Flood("TLS fragments", "client", pieces=fragments),
    Flood("TLS KeyUpdate", "client", way="updates"),
    Flood("TLS handshakes", "connections", way="tls"),
    Flood("TCP connections", "connections"),
    Flood("SOCKS half-greetings", "connections", lambda authority: b"\x05\x02\0", held=50),
    Flood("103 of HTTP/1", "origin", ask,
          repeated(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")),
    Flood("chunks of 1 byte", "origin", ask, repeated(b"1\r\nx\r\n"), CHUNKED),
    Flood("trailers without end", "origin", ask, repeated(b"a: b\r\n"), CHUNKED + b"0\r\n"),
    Flood("WebSocket, 1 byte", "origin", upgrade, repeated(b"\x82\x01x"), UPGRADED),
    Flood("103 of HTTP/2", "origin", start_get, repeated(frame(
        1, 4, 1, literal(b":status", b"103") + literal(b"link", b"</a>"))), SETTINGS, "connect"),
    Flood("PING", "origin", start_get, repeated(frame(6, 0, 0, b"12345678")), SETTINGS, "connect"),
    Flood("SETTINGS", "origin", start_get, repeated(SETTINGS), SETTINGS, "connect"),
    Flood("WINDOW_UPDATE", "origin", start_get, repeated(frame(8, 0, 0, ONE)), SETTINGS,
          "connect"),
    Flood("HPACK references", "origin", start_gets, references_by_origin, SETTINGS, "connect"),
]
