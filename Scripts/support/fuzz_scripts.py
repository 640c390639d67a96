"""What hostile clients and hostile origins do: scripts of steps, made by a seed.

A step is a tuple: ("send", bytes), ("pause", seconds), ("read", seconds), ("end",) for a half-close,
("reset",), ("close",), ("tls", protocols) and ("await", stream) for the head of a stream of HTTP/2;
`Peer.play` knows them all.
"""

import base64
import hashlib
import random
import re
import struct

NUMBERS = [0, 1, 2, 127, 128, 255, 256, 16384, 65535, 65536, 1 << 24, 2**31 - 1, 2**31, 2**32 - 1,
           2**53, 2**63 - 1, 2**63, 2**64 - 1, -1]
TOKENS = [b"\r\n", b"\r\n\r\n", b"\n", b"\r", b"\0", b"chunked", b"Transfer-Encoding: chunked\r\n",
          b"Content-Length: 5\r\n", b"Connection: close\r\n", b"Connection: upgrade\r\n", b" ",
          b"Upgrade: websocket\r\n", b"Expect: 100-continue\r\n", b"HTTP/1.0", b"HTTP/1.1", b":", b"\t",
          b"0\r\n\r\n", b"ffffffffffffffff\r\n", b"Host: h\r\n", b"\xff\xfe", b"PRI * HTTP/2.0\r\n\r\n"]
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def mutated(chance, data, rate=0.4):
    """The same bytes, or a few changes away from them."""
    if chance.random() > rate or not data:
        return data
    data = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        place = chance.randrange(len(data) + 1)
        kind = chance.randrange(7)
        if kind == 0 and place < len(data):
            data[place] ^= 1 << chance.randrange(8)
        elif kind == 1 and place < len(data):
            data[place] = chance.randrange(256)
        elif kind == 2:
            data[place:place] = chance.choice(TOKENS)
        elif kind == 3:
            del data[place:place + chance.randrange(1, 12)]
        elif kind == 4:
            del data[place:]
        elif kind == 5:
            data[place:place] = data[place:place + 40] * chance.randrange(1, 8)
        else:
            data[place:place] = str(chance.choice(NUMBERS)).encode()
    return bytes(data)


def cut(chance, data):
    """Steps that send the bytes, in pieces of any size."""
    steps = []
    pieces = chance.choice([1, 1, 1, 2, 3, 8])
    places = sorted(chance.randrange(len(data) + 1) for _ in range(pieces - 1)) if data else []
    for start, end in zip([0] + places, places + [len(data)]):
        if end > start:
            steps.append(("send", bytes(data[start:end])))
        if chance.random() < 0.3:
            steps.append(("pause", chance.choice([0, 0.001, 0.005, 0.02])))
    return steps


def ending(chance):
    return chance.choice([
        [("read", 0.3)], [("read", 0.05)], [("read", 1.0)], [("end",), ("read", 0.5)], [("reset",)],
        [("close",)], [("end",), ("reset",)], [("read", 0.02), ("reset",)],
    ])


def chunks(chance):
    body = b""
    for _ in range(chance.randrange(4)):
        part = b"x" * chance.choice([1, 5, 300, 20000])
        body += b"%x%s\r\n%s\r\n" % (len(part), chance.choice([b"", b";a=b"]), part)
    return body + chance.choice([b"0\r\n\r\n", b"0\r\nT: v\r\n\r\n", b"", b"zz\r\n", b"0\r\n"])


# Frames of HTTP/2

def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    return b"\0" + bytes([len(name)]) + name + bytes([len(value) & 127]) + value[:127]


def http2_request(chance, stream, authority):
    fields = [(b":method", chance.choice([b"GET", b"POST", b"HEAD", b"CONNECT", b"PUT"])),
              (b":scheme", b"http"), (b":authority", authority), (b":path", b"/h2")]
    if chance.random() < 0.1:
        fields += [(b":protocol", b"x")]
    if chance.random() < 0.3:
        fields += [(chance.choice([b"te", b"x", b"cookie", b"content-length", b"expect"]),
                    chance.choice([b"trailers", b"5", b"100-continue", b"a"]))]
    ends = chance.random() < 0.6
    block = b"".join(literal(*field) for field in fields)
    frames = [frame(1, 4 | ends, stream, block)]
    if not ends:
        for _ in range(chance.randrange(4)):
            frames.append(frame(0, 0, stream, b"d" * chance.choice([0, 1, 100, 16384])))
        frames.append(chance.choice([frame(0, 1, stream), frame(3, 0, stream, b"\0\0\0\x08"), b"",
                                     frame(1, 5, stream, literal(b"t", b"v"))]))
    return frames


def http2_noise(chance, stream):
    return chance.choice([
        frame(6, 0, 0, b"12345678"), frame(4, 0, 0), frame(4, 1, 0),
        frame(8, 0, 0, struct.pack(">I", chance.choice([1, 65535, 2**31 - 1, 0]))),
        frame(8, 0, stream, struct.pack(">I", chance.choice([1, 65535, 2**31 - 1]))),
        frame(2, 0, stream, b"\0\0\0\0\1"), frame(3, 0, stream, b"\0\0\0\x08"),
        frame(7, 0, 0, b"\0\0\0\1\0\0\0\0"), frame(0x10, 0, 0, b"\0\0\0\1u=1"),
        frame(9, 4, stream, b""), frame(0, 8, stream, b"\xff"), frame(0x42, 0xff, stream, b"?"),
        frame(4, 0, 0, struct.pack(">HI", chance.randrange(10), chance.choice(NUMBERS) & 0xFFFFFFFF)),
    ])


def http2_settings(chance):
    """Most let the other side open WebSockets (RFC 8441, section 3)."""
    return frame(4, 0, 0, struct.pack(">HI", 8, 1) if chance.random() < 0.7 else b"")


def http2_messages(chance, stream, is_masked):
    """Steps: messages of a WebSocket in frames of HTTP/2, in any pieces, and an end of any kind."""
    steps = []
    for _ in range(chance.choice([0, 1, 2, 6])):
        said = websocket_frames(chance, is_masked)
        place = chance.randrange(len(said) + 1)
        for piece in chance.choice([[said], [said[:place], said[place:]]]):
            steps += cut(chance, mutated(chance, frame(0, 0, stream, piece), 0.1))
        steps.append(chance.choice([("pause", 0.005), ("read", 0.02), ("pause", 0)]))
    steps += cut(chance, chance.choice([
        b"", b"", frame(0, 1, stream), frame(3, 0, stream, b"\0\0\0\x08"), frame(3, 0, stream, b"\0\0\0\0"),
        frame(7, 0, 0, b"\0\0\0\1\0\0\0\0"), frame(1, 5, stream, literal(b"t", b"v")),
        http2_noise(chance, stream), frame(0, 1, stream, websocket_frames(chance, is_masked))]))
    # What follows an end, as it does where the other side has not yet heard of it.
    if chance.random() < 0.3:
        steps += cut(chance, frame(0, 0, stream, b"\x81\x01a") + http2_noise(chance, stream))
    return steps


def http2_websockets(chance, authority):
    """A client's steps: WebSockets on one connection, each with its end, while others are open."""
    steps = [("send", PREFACE + http2_settings(chance) + frame(4, 1, 0))]
    if chance.random() < 0.9:
        # Until the proxy has said what the origin takes.
        steps.append(("read", 0.05))
    if chance.random() < 0.2:
        # It takes nothing, or little, of each stream.
        steps.append(("send", frame(4, 0, 0, struct.pack(">HI", 4, chance.choice([0, 1, 100])))))
    streams = range(1, 1 + 2 * chance.choice([1, 1, 2, 5]), 2)
    for stream in streams:
        fields = [(b":method", b"CONNECT"), (b":scheme", chance.choice([b"https", b"http"])),
                  (b":authority", authority), (b":path", b"/ws"), (b":protocol", b"websocket"),
                  (b"sec-websocket-version", b"13")]
        block = b"".join(literal(*field) for field in fields)
        steps += cut(chance, mutated(chance, frame(1, 4, stream, block), 0.05))
        if chance.random() < 0.8:
            steps.append(("await", stream))
        steps += http2_messages(chance, stream, True)
        if chance.random() < 0.3:
            steps.append(("send", b"".join(http2_request(chance, stream + 100, authority))))
    return steps + [chance.choice([("read", 0.1), ("read", 0.5), ("pause", 0)])]


def http2_client(chance, authority):
    frames = [http2_settings(chance)]
    for number in range(chance.choice([1, 1, 3, 20])):
        frames += http2_request(chance, 2 * number + 1, authority)
        if chance.random() < 0.4:
            frames.append(http2_noise(chance, 2 * number + 1))
    return PREFACE + mutated(chance, b"".join(frames), 0.3)


def http2_origin(chance):
    if chance.random() < 0.5:
        return cut(chance, http2_answers(chance))
    # One that opens WebSockets, and speaks on them.
    steps = [("send", http2_settings(chance) + frame(4, 1, 0))]
    for stream in range(1, 1 + 2 * chance.choice([1, 1, 2, 5]), 2):
        steps.append(("await", stream))
        status = chance.choice([b"200"] * 6 + [b"404", b"101"])
        steps += cut(chance, frame(1, 4, stream, literal(b":status", status)))
        steps += http2_messages(chance, stream, False)
    return steps


def http2_answers(chance):
    frames = [http2_settings(chance), frame(4, 1, 0)]
    for stream in (1, 3, 5):
        for _ in range(chance.choice([0, 0, 1, 3])):
            frames.append(frame(1, 4, stream, literal(b":status", b"103") + literal(b"link", b"</a>")))
        status = chance.choice([b"200", b"204", b"404", b"101", b"000", b"304", b"502"])
        frames.append(frame(1, 4 | (chance.random() < 0.3), stream, literal(b":status", status)))
        frames.append(frame(0, chance.choice([0, 1]), stream, b"b" * chance.choice([0, 10, 9000])))
        if chance.random() < 0.5:
            frames.append(http2_noise(chance, stream))
    return mutated(chance, b"".join(frames), 0.4)


# Scripts

def request(chance, form, authority):
    """A request of HTTP/1; `form` is what stands before the path."""
    method = chance.choice([b"GET"] * 4 + [b"POST"] * 3 + [b"PUT", b"HEAD", b"OPTIONS", b"DELETE"])
    head = method + b" " + form + b"/fuzz HTTP/1." + chance.choice([b"1", b"1", b"1", b"0"]) + b"\r\n"
    head += b"Host: " + authority + b"\r\n"
    body = b""
    if method in (b"POST", b"PUT"):
        if chance.random() < 0.5:
            body = b"u" * chance.choice([0, 5, 1000, 70000])
            head += b"Content-Length: %d\r\n" % (len(body) + chance.choice([0, 0, 0, 5, -1]))
        else:
            body = chunks(chance)
            head += b"Transfer-Encoding: chunked\r\n"
    for _ in range(chance.randrange(3)):
        head += chance.choice([
            b"Expect: 100-continue\r\n", b"Connection: close\r\n", b"Connection: keep-alive\r\n",
            b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
            b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n",
            b"Authorization: NTLM TlRMTVNTUAABAAAA\r\n", b"Cookie: a=b\r\n", b"Accept-Encoding: gzip\r\n",
            b"X-Long: " + b"y" * 9000 + b"\r\n",
        ])
    return mutated(chance, head + b"\r\n" + body)


def websocket_frames(chance, is_masked=True):
    data = b""
    mask = 0x80 if is_masked else 0
    for _ in range(chance.randrange(1, 5)):
        payload = b"m" * chance.choice([0, 5, 126, 300])
        size = bytes([mask | len(payload)]) if len(payload) < 126 else struct.pack(
            ">BH", mask | 126, len(payload))
        data += bytes([chance.choice([0x81, 0x82, 0x01, 0x80, 0x89, 0x88, 0xC1])]) + size
        data += (b"\0\0\0\0" if is_masked else b"") + payload
    return mutated(chance, data)


def accepted(asked):
    """What an origin says that opens the WebSocket which it was asked for (RFC 6455, 4.2.2)."""
    key = re.search(rb"(?i)sec-websocket-key: *(\S+)", asked)
    digest = hashlib.sha1((key[1] if key else b"") + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    return (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\n")


DIALOGUE = [b"EHLO a\r\n", b"STARTTLS\r\n", b"AUTH LOGIN\r\n", b"a1 STARTTLS\r\n", b"USER u\r\nPASS p\r\n",
            b"QUIT\r\n", b"CAPA\r\nSTLS\r\n", b"\0\0\0\x08\x04\xd2\x16/", b"<stream:stream xmlns='x'>",
            b"\x16\x03\x01\x00\x05\x01\0\0\x01\0", b"*1\r\n$4\r\nPING\r\n", b"\x10\x0c\0\x04MQTT\x04\x02\0<\0\0"]
ANSWERS = [b"220 x ESMTP\r\n", b"250-x\r\n250 STARTTLS\r\n", b"220 go\r\n", b"a1 OK\r\n", b"+OK\r\n", b"S", b"N",
           b"-ERR\r\n", b"* OK x\r\n", b"<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>", b"+PONG\r\n",
           b"\x16\x03\x03\x00\x02\x02\x28", b"\x4a\0\0\0\x0a8.0.1\0"]


def dialogue(chance, words):
    steps = []
    for _ in range(chance.randrange(1, 6)):
        steps += cut(chance, mutated(chance, chance.choice(words), 0.2))
        if chance.random() < 0.5:
            steps.append(("read", 0.02))
    return steps


def inner(chance, origin, is_secure):
    """What is spoken where the way to the origin stands."""
    kind = chance.randrange(12 if is_secure else 6)
    authority = b"%s:%d" % origin
    if kind == 0:
        return cut(chance, request(chance, b"", authority))
    if kind == 1:
        return cut(chance, http2_client(chance, authority))
    if kind == 2:
        return dialogue(chance, DIALOGUE)
    if kind == 3:
        return cut(chance, mutated(chance, hello(), 0.6))
    return secure(chance, authority)


def secure(chance, authority):
    """TLS to the proxy, and what is spoken in it."""
    protocols = chance.choice([["http/1.1"], ["h2"], ["h2"], ["h2", "http/1.1"], []])
    if protocols[:1] != ["h2"]:
        said = cut(chance, request(chance, b"", authority))
    elif chance.random() < 0.5:
        said = http2_websockets(chance, authority)
    else:
        said = cut(chance, http2_client(chance, authority))
    return [("tls", protocols)] + said


def hello():
    names = b"\0\0\0\x0e\0\x0c\0\0\x09localhost"
    extensions = names + b"\0\x2b\0\x03\x02\x03\x04" + b"\0\x0a\0\x04\0\x02\0\x1d"
    body = (b"\x03\x03" + b"\x07" * 32 + b"\0" + b"\0\x04\x13\x01\xc0\x2b" + b"\x01\0"
            + struct.pack(">H", len(extensions)) + extensions)
    message = b"\x01" + struct.pack(">I", len(body))[1:] + body
    return b"\x16\x03\x01" + struct.pack(">H", len(message)) + message


def client(chance, ports, origins, around):
    """A client's script: the port that it connects to, and its steps.

    `ports` are the proxy's by mode, `origins` the hostile ones by "plain" and "tls".
    """
    is_secure = chance.random() < 0.4
    origin = origins["tls" if is_secure else "plain"]
    authority = b"%s:%d" % origin
    mode = chance.choice(["explicit"] * 5 + ["connect"] * 3 + ["socks"] * 3
                         + ["http", "http", "https", "https", "tcp", "tcp", "h2", "noise"])
    if mode in ("http", "https", "tcp"):
        port = ports[mode]
        if mode == "http":
            steps = cut(chance, chance.choice([
                lambda: request(chance, b"", authority),
                lambda: http2_client(chance, authority)])())
        elif mode == "https":
            steps = secure(chance, authority)
        else:
            steps = inner(chance, origin, is_secure)
        return port, steps + ending(chance)
    port = ports["explicit"]
    if mode == "connect":
        head = b"CONNECT " + authority + b" HTTP/1.1\r\nHost: " + authority + b"\r\n\r\n"
        steps = cut(chance, mutated(chance, head, 0.15)) + [("read", 0.05)] + inner(chance, origin, is_secure)
    elif mode == "socks":
        address = bytes(map(int, origin[0].split(b"."))) + struct.pack(">H", origin[1])
        greeting = chance.choice([b"\x05\x01\0\x05\x01\0\x01" + address, b"\x05\x02\0\x02",
                                  b"\x04\x01" + address[4:] + address[:4] + b"u\0"])
        steps = cut(chance, mutated(chance, greeting, 0.2)) + [("read", 0.05)]
        steps += inner(chance, origin, is_secure)
    elif mode == "h2" and chance.random() < 0.1:
        steps = http2_websockets(chance, authority)
    elif mode == "h2":
        steps = cut(chance, http2_client(chance, authority))
    elif mode == "noise":
        steps = cut(chance, chance.randbytes(chance.choice([1, 10, 500])))
    elif chance.random() < 0.15:
        steps = ahead(chance, origins)
    else:
        steps = []
        for _ in range(chance.choice([1, 1, 2, 4])):
            steps += cut(chance, request(chance, b"http://" + authority, authority))
            if chance.random() < 0.4:
                steps.append(("read", 0.05))
        if chance.random() < 0.3:
            steps += cut(chance, websocket_frames(chance))
    if not around and chance.random() < 0.002:
        steps = flood(chance, authority)
    return port, steps + ending(chance)


def ahead(chance, origins):
    """Requests that are all sent before the first answer, with the end behind them: what is left in
    a buffer at one's turn must not get into another's."""
    data = b""
    for _ in range(chance.choice([1, 2, 3, 6])):
        authority = b"%s:%d" % origins[chance.choice(["plain", "plain", "tls"])]
        head = b"GET http://%s/a HTTP/1.1\r\nHost: %s\r\n" % (authority, authority)
        # As long as a buffer, a few, or none in particular.
        size = chance.choice([0, 0, 73728, 3 * 73728, chance.randrange(300000)])
        data += head + b"Keep-Alive: " + b"k" * max(0, size - len(head) - 16) + b"\r\n\r\n"
    data += chance.choice([b"", b"GET /INJECTED HTTP/1.1\r\n", b"HTTP/1.1 200 OK\r\n\r\nFORGED"])
    return [("send", data)] + chance.choice([[("end",)], [("pause", 0.005), ("end",)], []])


def flood(chance, authority):
    """One peer that is always readable."""
    if chance.random() < 0.5:
        updates = frame(8, 0, 0, struct.pack(">I", 1)) * 2000
        return [("send", PREFACE + frame(4, 0, 0))] + [("send", updates)] * 60
    head = b"POST http://%s/f HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" % authority
    return [("send", head)] + [("send", b"1\r\nx\r\n" * 20000)] * 12


def origin(chance, around, asked):
    """An origin's script, once `asked` has come, the first bytes; none if it speaks first."""
    if asked.startswith(PREFACE[:3]):
        return http2_origin(chance) + [("read", 0.1)] + ending(chance)
    if not asked.split(b" ")[-1].startswith(b"HTTP/") and b" HTTP/1" not in asked:
        return dialogue(chance, ANSWERS) + ending(chance)
    head = b""
    for _ in range(chance.choice([0] * 6 + [1, 1, 3, 40, 90])):
        head += chance.choice([b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
                               b"HTTP/1.1 102 Processing\r\n\r\n"])
    if b"ebsocket" in asked and not around and chance.random() < 0.5:
        steps = cut(chance, head + accepted(asked))
        for _ in range(chance.choice([0, 1, 4])):
            steps += cut(chance, websocket_frames(chance, False)) + [("read", 0.02)]
        return steps + ending(chance)
    kind = chance.randrange(9)
    if kind == 0 and not around:
        head += (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: "
                 + chance.choice([b"websocket", b"h2c", b"x"]) + b"\r\nConnection: upgrade\r\n\r\n")
        head += chance.choice([websocket_frames(chance, False), http2_answers(chance), b"tunnel"])
    elif kind == 1:
        head += b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks(chance)
    elif kind == 2:
        head += b"HTTP/1.0 200 OK\r\n\r\n" + b"c" * chance.choice([0, 10, 100000])
    elif kind == 3:
        head += b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello"
    elif kind == 4:
        head += (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + b"data: a\n\n" * 20)
    elif kind == 5:
        head += (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n"
                 b"Set-Cookie: a=b; Max-Age=-9223372036854775808\r\nAlt-Svc: h3=\":443\"\r\n\r\n\x1f\x8b\0\0")
    else:
        body = b"o" * chance.choice([0, 2, 5000, 200000])
        size = len(body) + chance.choice([0] * 5 + [7, -1])
        head += b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (
            chance.choice([200, 200, 404, 301, 304, 500, 206, 401, 999]), size) + body
        if chance.random() < 0.2:
            head += b"HTTP/1.1 200 Second\r\nContent-Length: 0\r\n\r\n"
    head = mutated(chance, head, 0.3)
    if around:
        head = head.replace(b" 101", b" 102")
    return cut(chance, head) + chance.choice([[("read", 0.1)], [("read", 0.5)], ending(chance)])


def generator(seed, side, number):
    return random.Random(f"{seed}/{side}/{number}")
