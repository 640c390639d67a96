"""usage: grpc-client.py TARGET CA

Calls each kind of method of grpc-origin.py, with TLS if CA is not empty; by way of $grpc_proxy if
that is set. Ends with 0 if each message, status and trailer is what the origin sent.
"""

import queue
import random
import sys

import grpc

target, authority = sys.argv[1:]
options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
if authority:
    options.append(("grpc.ssl_target_name_override", "localhost"))
    with open(authority, "rb") as file:
        credentials = grpc.ssl_channel_credentials(file.read())
    channel = grpc.secure_channel(target, credentials, options)
else:
    channel = grpc.insecure_channel(target, options)


def check(what, call, kind):
    trailers = dict(call.trailing_metadata())
    assert trailers.get("x-kind") == kind, (what, trailers)
    print(what)
    return trailers


def content(size):
    return random.Random(size).randbytes(size)


sizes = (0, 1, 100_000, 10_000_000)
unary = channel.unary_unary("/test.Echo/Unary")
for size in sizes:
    answer, call = unary.with_call(content(size), timeout=30)
    assert answer == content(size), size
    trailers = check(f"unary {size}", call, "unary")
    assert trailers["x-data-bin"] == bytes(range(256)), trailers

pieces = [content(size) for size in (0, 1, 3_000, 100_000, 1, 1_000_000)]
answer, call = channel.stream_unary("/test.Echo/Gather").with_call(iter(pieces), timeout=30)
assert answer == b"".join(pieces)
check("client streaming", call, "gather")

call = channel.unary_stream("/test.Echo/Spread")(content(1_000_000), timeout=30)
assert b"".join(call) == content(1_000_000)
check("server streaming", call, "spread")

# Each message waits for the answer to the one before: nothing on the way may hold one back.
waiting = queue.Queue()
call = channel.stream_stream("/test.Echo/Converse")(iter(waiting.get, None), timeout=30)
for size in range(1, 60):
    waiting.put(content(size * 50))
    assert next(call) == content(size * 50)[::-1], size
waiting.put(None)
assert list(call) == []
check("bidirectional", call, "converse")

try:
    channel.unary_unary("/test.Echo/Refuse")(b"x", timeout=30)
    raise AssertionError("not refused")
except grpc.RpcError as error:
    assert error.code() == grpc.StatusCode.FAILED_PRECONDITION, error
    assert error.details() == "not today: 100% \u00e4", error.details()
    check("status", error, "refuse")
channel.close()
