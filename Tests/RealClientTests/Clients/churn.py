# usage: churn.py PLAN
#
# Opens connections of many protocols through a proxy, 60 at a time, and cuts each at a random point.
# PLAN is JSON: `proxy` and `origin` (ports; the origin speaks HTTP/1.1 and HTTP/2 by TLS and has
# /small.bin), `process` (the proxy's), `authority` (the proxy's CA), `certificate` and `key` of
# localhost, `count`, `seed`. Prints JSON: what was opened, which connections that were not cut
# failed, and the proxy's descriptors and memory before and afterwards. Needs Python 3.11.

import asyncio
import collections
import json
import os
import random
import re
import socket
import ssl
import struct
import sys
import time

import churn_origins

AT_A_TIME = 60
PATIENCE = 15
UNLIMITED = 1 << 60


class Cut(Exception):
    """The point was reached at which the connection is cut."""


class Ended(Exception):
    """The proxy ended the connection."""


class Wire:
    """A connection to the proxy that lets only so many bytes pass, both ways taken together."""

    def __init__(self, plain, allowance):
        self.loop = asyncio.get_running_loop()
        self.plain, self.allowance = plain, allowance
        self.tls, self.unread = None, b""

    async def send_raw(self, data):
        allowed = data[:self.allowance]
        await asyncio.wait_for(self.loop.sock_sendall(self.plain, allowed), PATIENCE)
        self.allowance -= len(allowed)
        if self.allowance <= 0:
            raise Cut

    async def receive_raw(self):
        data = await asyncio.wait_for(
            self.loop.sock_recv(self.plain, min(65536, self.allowance)), PATIENCE)
        if not data:
            raise Ended
        self.allowance -= len(data)
        if self.allowance <= 0:
            raise Cut
        return data

    async def flush(self):
        if self.outgoing.pending:
            await self.send_raw(self.outgoing.read())

    async def secure(self, alpn):
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = Wire.context
        context.set_alpn_protocols(alpn)
        tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                await self.flush()
                self.incoming.write(await self.receive_raw())
        await self.flush()
        self.tls = tls
        return tls.selected_alpn_protocol()

    async def send(self, data):
        if self.tls is None:
            return await self.send_raw(data)
        self.tls.write(data)
        await self.flush()

    async def receive(self):
        if self.tls is None:
            return await self.receive_raw()
        while True:
            try:
                data = self.tls.read(65536)
                if not data:
                    raise Ended
                return data
            except ssl.SSLWantReadError:
                await self.flush()
                self.incoming.write(await self.receive_raw())
            except ssl.SSLZeroReturnError:
                raise Ended from None

    async def exactly(self, count):
        while len(self.unread) < count:
            self.unread += await self.receive()
        data, self.unread = self.unread[:count], self.unread[count:]
        return data

    async def until(self, mark):
        while mark not in self.unread:
            self.unread += await self.receive()
        return await self.exactly(self.unread.index(mark) + len(mark))


# What clients say


async def response(wire):
    head = await wire.until(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: *(\d+)", head)
    await wire.exactly(int(length[1]) if length else 0)
    return int(head.split(b" ", 2)[1])


async def tunnel(wire, port):
    await wire.send(f"CONNECT localhost:{port} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
    assert await response(wire) == 200


async def http1(wire, rng, base):
    for _ in range(rng.randint(1, 4)):
        if rng.random() < 0.5:
            await wire.send(f"GET {base}/small.bin HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        else:
            body = rng.randbytes(rng.randint(1, 30_000))
            await wire.send(
                f"GET {base}/small.bin HTTP/1.1\r\nHost: localhost\r\n"
                f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert await response(wire) == 200


async def plain_http(wire, rng, ports):
    await http1(wire, rng, f"http://localhost:{ports.http}")


async def broken_origin(wire, rng, ports):
    url = f"http://localhost:{ports.http}/broken"
    await wire.send(f"GET {url} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    try:
        await response(wire)
    except (Ended, ConnectionError):
        pass


async def secure_http(wire, rng, ports):
    await tunnel(wire, ports.origin)
    assert await wire.secure(["http/1.1"]) == "http/1.1"
    await http1(wire, rng, "")


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def field(name, value):
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


async def http2(wire, rng, scheme, authority):
    count = rng.randint(1, 20)
    said = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"\0\4\0\x10\0\0")
    said += frame(8, 0, 0, struct.pack(">I", 1 << 24))
    for number in range(count):
        head = (
            field(b":method", b"GET") + field(b":scheme", scheme) +
            field(b":authority", authority) + field(b":path", b"/small.bin"))
        posts = rng.random() < 0.3
        said += frame(1, 4 if posts else 5, 2 * number + 1, head)
        if posts:
            said += frame(0, 1, 2 * number + 1, rng.randbytes(rng.randint(0, 9_000)))
        if rng.random() < 0.1:
            said += frame(6, 0, 0, b"12345678")
    await wire.send(said)
    ended = 0
    while ended < count:
        start = await wire.exactly(9)
        payload = await wire.exactly(int.from_bytes(start[:3], "big"))
        assert start[3] not in (3, 7), f"frame {start.hex()} {payload.hex()}"
        if start[3] in (0, 1) and start[4] & 1:
            ended += 1
        if start[3] == 0 and payload:
            await wire.send(frame(8, 0, 0, struct.pack(">I", len(payload))))
        if start[3] == 4 and not start[4] & 1:
            await wire.send(frame(4, 1, 0, b""))


async def secure_http2(wire, rng, ports):
    await tunnel(wire, ports.origin)
    assert await wire.secure(["h2"]) == "h2"
    await http2(wire, rng, b"https", f"localhost:{ports.origin}".encode())


async def plain_http2(wire, rng, ports):
    await http2(wire, rng, b"http", f"localhost:{ports.http}".encode())


async def websocket(wire, rng, ports):
    await tunnel(wire, ports.secure)
    await wire.secure(["http/1.1"])
    await wire.send(
        b"GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    assert (await wire.until(b"\r\n\r\n")).startswith(b"HTTP/1.1 101")
    for _ in range(rng.randint(1, 10)):
        content = rng.randbytes(rng.choice([0, 5, 125, 126, 3_000, 70_000]))
        size = len(content)
        length = (
            bytes([0x80 | size]) if size < 126 else
            b"\xfe" + struct.pack(">H", size) if size < 65536 else
            b"\xff" + struct.pack(">Q", size))
        await wire.send(b"\x82" + length + bytes(4) + content)
        back = await wire.exactly(1 + len(length) + size)
        assert back[-size:] == content or size == 0
    await wire.send(b"\x88\x82" + bytes(4) + b"\x03\xe8")
    await wire.exactly(4)


async def echo(wire, rng):
    for _ in range(rng.randint(1, 5)):
        # No opening that a proxy would know.
        data = b"\0\0" + rng.randbytes(rng.randint(0, 5_000))
        await wire.send(data)
        assert await wire.exactly(len(data)) == data


async def raw_connect(wire, rng, ports):
    await tunnel(wire, ports.echo)
    await echo(wire, rng)


async def socks(wire, rng, ports):
    await wire.send(b"\5\1\0")
    assert await wire.exactly(2) == b"\5\0"
    await wire.send(b"\5\1\0\3\x09localhost" + struct.pack(">H", ports.echo))
    reply = await wire.exactly(4)
    assert reply[:2] == b"\5\0"
    await wire.exactly({1: 6, 4: 18}[reply[3]])
    await echo(wire, rng)


async def starttls(wire, rng, ports):
    await tunnel(wire, ports.mail)
    await wire.until(b"220 localhost\r\n")
    await wire.send(b"EHLO client\r\n")
    await wire.until(b"250 STARTTLS\r\n")
    await wire.send(b"STARTTLS\r\n")
    await wire.until(b"\r\n")
    await wire.secure([])
    await wire.send(b"EHLO client\r\n")
    await wire.until(b"\r\n")
    await wire.send(b"QUIT\r\n")
    await wire.until(b"221 bye\r\n")


async def garbage(wire, rng, ports):
    await wire.send(rng.randbytes(rng.randint(1, 3_000)))
    await asyncio.sleep(rng.uniform(0, 0.3))


async def silence(wire, rng, ports):
    await asyncio.sleep(rng.uniform(0, 0.5))


async def broken_hello(wire, rng, ports):
    if rng.random() < 0.5:
        await tunnel(wire, ports.origin)
    outgoing = ssl.MemoryBIO()
    tls = Wire.context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello = bytearray(outgoing.read())
    for _ in range(rng.randint(1, 8)):
        hello[rng.randrange(5, len(hello))] = rng.randrange(256)
    await wire.send(bytes(hello))
    try:
        await asyncio.wait_for(wire.receive(), 0.3)
    except (Ended, ConnectionError, asyncio.TimeoutError):
        pass


KINDS = [
    plain_http, broken_origin, secure_http, secure_http2, plain_http2, websocket, raw_connect,
    socks, starttls, garbage, silence, broken_hello,
]
# Where the proxy may end the connection at any time.
UNSOUND = {broken_origin, garbage, silence, broken_hello}


# How they end


async def end(plain, how, rng):
    loop = asyncio.get_running_loop()
    if how == "reset":
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    elif how == "half":
        try:
            plain.shutdown(socket.SHUT_WR)
            async with asyncio.timeout(rng.uniform(0.1, 3)):
                while await loop.sock_recv(plain, 65536):
                    pass
        except (OSError, asyncio.TimeoutError):
            pass
    elif how == "stall":
        await asyncio.sleep(rng.uniform(0.1, 1))
    plain.close()


class Driver:
    def __init__(self, plan, ports):
        self.plan, self.ports = plan, ports
        self.limit = asyncio.Semaphore(AT_A_TIME)
        self.opened, self.failures = [], []
        self.kinds = collections.Counter()

    async def one(self, kind, seed, is_cut):
        rng = random.Random(seed)
        allowance = UNLIMITED
        if is_cut and rng.random() < 0.85:
            allowance = int(10 ** rng.uniform(0, 5.3))
        how = rng.choice(["close", "reset", "half", "stall"])
        async with self.limit:
            plain = socket.socket()
            plain.setblocking(False)
            await asyncio.get_running_loop().sock_connect(plain, ("127.0.0.1", self.plan["proxy"]))
            self.opened.append(plain.getsockname()[1])
            self.kinds[kind.__name__] += 1
            try:
                await kind(Wire(plain, allowance), rng, self.ports)
            except Cut:
                pass
            except Exception as error:
                if allowance == UNLIMITED and kind not in UNSOUND:
                    self.failures.append(f"{kind.__name__}, seed {seed}: {error!r}")
            await end(plain, how, rng)

    async def many(self, count, seed, is_cut):
        async with asyncio.TaskGroup() as group:
            for number in range(count):
                group.create_task(
                    self.one(KINDS[number % len(KINDS)], seed * 100_000 + number, is_cut))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.plan['process']}/fd"))

    def resident(self):
        with open(f"/proc/{self.plan['process']}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) << 10

    async def settled(self, most, limit=20):
        """Waits until no more descriptors than these are open: those to origins are kept 15 s."""
        deadline = time.monotonic() + limit
        while self.descriptors() > most and time.monotonic() < deadline:
            await asyncio.sleep(0.05)


async def main():
    plan = json.loads(sys.argv[1])
    Wire.context = ssl.create_default_context(cafile=plan["authority"])
    ports, servers = await churn_origins.start(plan)
    driver = Driver(plan, ports)
    before = driver.descriptors()
    # What the first connections set up is not what more of them cost.
    await driver.many(min(2 * AT_A_TIME, plan["count"]), plan["seed"], is_cut=False)
    resident = driver.resident()
    await driver.many(plan["count"] - len(driver.opened), plan["seed"] + 1, is_cut=True)
    await driver.settled(before)
    print(json.dumps({
        "opened": driver.opened, "kinds": driver.kinds, "failures": driver.failures,
        "descriptorsBefore": before, "descriptorsAfter": driver.descriptors(),
        "residentBefore": resident, "residentAfter": driver.resident(),
    }))
    for server in servers:
        server.close()


asyncio.run(main())
