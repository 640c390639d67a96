"""usage: grpc-origin.py CERTIFICATE KEY

A gRPC service without TLS and with it; says the ports as a line of JSON. Messages are plain bytes.
"""

import concurrent.futures
import json
import sys
import threading

import grpc

certificate, key = (open(path, "rb").read() for path in sys.argv[1:])


def unary(request, context):
    context.set_trailing_metadata((("x-kind", "unary"), ("x-data-bin", bytes(range(256)))))
    return request


def gather(requests, context):
    gathered = b"".join(requests)
    context.set_trailing_metadata((("x-kind", "gather"),))
    return gathered


def spread(request, context):
    for start in range(0, len(request), 50_000):
        yield request[start : start + 50_000]
    context.set_trailing_metadata((("x-kind", "spread"),))


def converse(requests, context):
    for request in requests:
        yield request[::-1]
    context.set_trailing_metadata((("x-kind", "converse"),))


def refuse(request, context):
    context.set_trailing_metadata((("x-kind", "refuse"),))
    context.abort(grpc.StatusCode.FAILED_PRECONDITION, "not today: 100% \u00e4")


handlers = {
    "Unary": grpc.unary_unary_rpc_method_handler(unary),
    "Gather": grpc.stream_unary_rpc_method_handler(gather),
    "Spread": grpc.unary_stream_rpc_method_handler(spread),
    "Converse": grpc.stream_stream_rpc_method_handler(converse),
    "Refuse": grpc.unary_unary_rpc_method_handler(refuse),
}
server = grpc.server(
    concurrent.futures.ThreadPoolExecutor(8),
    options=[("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)],
)
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Echo", handlers),))
ports = {
    "plain": server.add_insecure_port("127.0.0.1:0"),
    "secure": server.add_secure_port(
        "127.0.0.1:0", grpc.ssl_server_credentials([(key, certificate)])
    ),
}
server.start()
print(json.dumps(ports), flush=True)
threading.Event().wait()
