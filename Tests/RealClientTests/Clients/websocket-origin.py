"""usage: websocket-origin.py CERTIFICATE KEY

A WebSocket server that echoes, without TLS and with it; says the ports as a line of JSON.
"""

import asyncio
import json
import ssl
import sys

import websockets.asyncio.server


async def echo(connection):
    async for message in connection:
        await connection.send(message)
        if message == "close":
            await connection.close(4321, "as asked")


async def main():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*sys.argv[1:])
    serve = websockets.asyncio.server.serve
    ports = {}
    async with (
        serve(echo, "127.0.0.1", 0, max_size=None) as plain,
        serve(echo, "127.0.0.1", 0, max_size=None, ssl=context) as secure,
    ):
        for name, server in (("plain", plain), ("secure", secure)):
            ports[name] = server.sockets[0].getsockname()[1]
        print(json.dumps(ports), flush=True)
        await asyncio.get_running_loop().create_future()


asyncio.run(main())
