"""usage: websocket-client.py URL PROXY CA

Says things to websocket-origin.py at the URL, by way of the PROXY if that is not empty, and ends
with 0 if the same comes back.

One thread: where one reads and another writes, Python up to 3.12 loses about one TLS handshake in
300 under load, without a proxy as well, as SSLSocket guards neither from the other.
"""

import asyncio
import random
import ssl
import sys

import websockets.exceptions
from websockets.asyncio.client import connect

PATIENCE = 30


async def say(url, proxy, authority):
    options = {"open_timeout": PATIENCE}
    if url.startswith("wss:"):
        options["ssl"] = ssl.create_default_context(cafile=authority)
    async with connect(url, proxy=proxy or None, max_size=None, **options) as connection:

        async def answer():
            return await asyncio.wait_for(connection.recv(), PATIENCE)

        for size in (0, 1, 125, 126, 100_000, 10_000_000):
            message = random.Random(size).randbytes(size)
            await connection.send(message)
            assert await answer() == message, size
            print("binary", size)
        await connection.send(["in ", "three ", "pieces"])
        assert await answer() == "in three pieces"
        await asyncio.wait_for(await connection.ping(b"here"), PATIENCE)
        await connection.send("close")
        assert await answer() == "close"
        try:
            await answer()
            raise AssertionError("not closed")
        except websockets.exceptions.ConnectionClosedError as error:
            assert (error.rcvd.code, error.rcvd.reason) == (4321, "as asked"), error
        print("closed")


asyncio.run(say(*sys.argv[1:]))
