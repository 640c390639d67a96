import sys

import grpc

with grpc.secure_channel(sys.argv[1], grpc.ssl_channel_credentials()) as channel:
    call = channel.unary_unary("/test.Echo/Say")
    print(call(b"a request", timeout=20).decode())
