"""usage: websocket-client.py URL PROXY CA

Says things to websocket-origin.py at the URL, by way of the PROXY if that is not empty, and ends
with 0 if the same comes back.
"""

import random
import ssl
import sys

import websockets.exceptions
from websockets.sync.client import connect

url, proxy, authority = sys.argv[1:]
options = {}
if url.startswith("wss:"):
    options["ssl"] = ssl.create_default_context(cafile=authority)
with connect(url, proxy=proxy or None, max_size=None, **options) as connection:
    for size in (0, 1, 125, 126, 100_000, 10_000_000):
        message = random.Random(size).randbytes(size)
        connection.send(message)
        assert connection.recv(timeout=30) == message, size
        print("binary", size)
    connection.send(["in ", "three ", "pieces"])
    assert connection.recv(timeout=30) == "in three pieces"
    assert connection.ping(b"here").wait(30)
    connection.send("close")
    assert connection.recv(timeout=30) == "close"
    try:
        connection.recv(timeout=30)
        raise AssertionError("not closed")
    except websockets.exceptions.ConnectionClosedError as error:
        assert (error.rcvd.code, error.rcvd.reason) == (4321, "as asked"), error
    print("closed")
