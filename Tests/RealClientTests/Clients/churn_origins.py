"""The servers that churn.py talks to through the proxy; they end connections soon."""

import asyncio
import os
import ssl
import types

IDLE = 1
CONTENT = os.urandom(20_000)


async def answer(reader, writer):
    """HTTP/1.1, and an echo of WebSocket messages whose masks are zero."""
    while True:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), IDLE)
        lower = head.lower()
        if b"upgrade: websocket" in lower:
            writer.write(
                b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")
            return await echo_messages(reader, writer)
        if b"content-length:" in lower:
            await reader.readexactly(int(lower.split(b"content-length:")[1].split(b"\r\n")[0]))
        elif b"transfer-encoding:" in lower:
            while size := int(await reader.readuntil(b"\r\n"), 16):
                await reader.readexactly(size + 2)
            await reader.readexactly(2)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(CONTENT))
        if head.split(b" ")[1].endswith(b"/broken"):
            writer.write(CONTENT[:5_000])
            await writer.drain()
            writer.transport.abort()
            return
        writer.write(CONTENT)
        await writer.drain()


async def echo_messages(reader, writer):
    while True:
        start = await reader.readexactly(2)
        size, length = start[1] & 127, b""
        if size > 125:
            length = await reader.readexactly(2 if size == 126 else 8)
            size = int.from_bytes(length, "big")
        await reader.readexactly(4)
        content = await reader.readexactly(size)
        writer.write(bytes([start[0], start[1] & 127]) + length + content)
        await writer.drain()
        if start[0] & 15 == 8:
            return


async def echo(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


def mail(context):
    async def talk(reader, writer):
        writer.write(b"220 localhost\r\n")
        while True:
            line = (await reader.readuntil(b"\n")).upper().strip()
            if line.startswith(b"EHLO"):
                writer.write(b"250-localhost\r\n250 STARTTLS\r\n")
            elif line == b"STARTTLS":
                writer.write(b"220 go ahead\r\n")
                await writer.drain()
                await writer.start_tls(context)
            elif line == b"QUIT":
                writer.write(b"221 bye\r\n")
                await writer.drain()
                return
            else:
                writer.write(b"500 what\r\n")
    return talk


def tolerant(talk):
    """Whatever the peer does to a connection is its business."""
    async def talk_to(reader, writer):
        try:
            await talk(reader, writer)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.TimeoutError,
                OSError, ValueError):
            pass
        finally:
            writer.close()
    return talk_to


async def start(plan):
    """The ports, by name, and the servers."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(plan["certificate"], plan["key"])
    ports, servers = types.SimpleNamespace(origin=plan["origin"]), []
    for name, talk, tls in [
        ("http", answer, None), ("secure", answer, context), ("echo", echo, None),
        ("mail", mail(context), None),
    ]:
        server = await asyncio.start_server(tolerant(talk), "127.0.0.1", 0, ssl=tls, backlog=256)
        setattr(ports, name, server.sockets[0].getsockname()[1])
        servers.append(server)
    return ports, servers
