"""The origins of the test of `run --capture-all` that are no servers of their own: names, a directory
and gRPC. Arguments: the certificate and the key. Says `ready` when all listen."""

import concurrent.futures
import socket
import socketserver
import ssl
import sys
import threading

import grpc

CERTIFICATE, KEY = sys.argv[1:3]


class Names(socketserver.BaseRequestHandler):
    """Every name has the address 127.0.0.1, and no other record."""

    def handle(self):
        query, answering = self.request
        end = query.index(b"\0", 12) + 5
        question = query[12:end]
        is_address = question[-4:-2] == b"\0\1"
        head = query[:2] + b"\x81\x80\0\1" + (b"\0\1" if is_address else b"\0\0") + b"\0\0\0\0"
        answer = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4\x7f\0\0\1" if is_address else b""
        answering.sendto(head + question + answer, self.client_address)


def element(tag, content):
    assert len(content) < 128
    return bytes([tag, len(content)]) + content


SUCCESS = element(0x0A, b"\0") + element(0x04, b"") + element(0x04, b"")


class Directory(socketserver.BaseRequestHandler):
    """StartTLS (RFC 4511 §4.14), a bind, and one entry for every search."""

    def handle(self):
        self.secured = False
        while (message := self.message()) is not None:
            number = message[: 2 + message[1]]
            operation = message[len(number)]
            if operation == 0x77:
                self.answer(number, 0x78, SUCCESS)
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(CERTIFICATE, KEY)
                self.request = context.wrap_socket(self.request, server_side=True)
                self.secured = True
            elif operation == 0x60:
                self.answer(number, 0x61, SUCCESS)
            elif operation == 0x63 and self.secured:
                values = element(0x31, element(0x04, b"entry of the origin"))
                attribute = element(0x30, element(0x04, b"description") + values)
                entry = element(0x04, b"cn=entry,dc=test") + element(0x30, attribute)
                self.answer(number, 0x64, entry)
                self.answer(number, 0x65, SUCCESS)
            else:
                return

    def message(self):
        """The content of the sequence that a message is; None at the end."""
        head = self.exactly(2)
        if head is None or head[0] != 0x30 or head[1] > 0x84:
            return None
        size = head[1]
        if size > 0x80:
            size = int.from_bytes(self.exactly(size - 0x80), "big")
        return self.exactly(size)

    def exactly(self, count):
        content = b""
        while len(content) < count:
            piece = self.request.recv(count - len(content))
            if not piece:
                return None
            content += piece
        return content

    def answer(self, number, tag, content):
        self.request.sendall(element(0x30, number + element(tag, content)))


class Calls(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(lambda request, context: b"echo of " + request)


class Threads(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def start(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()


start(socketserver.ThreadingUDPServer(("127.0.0.1", 53), Names))
start(Threads(("127.0.0.1", 389), Directory))
calls = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
calls.add_generic_rpc_handlers((Calls(),))
with open(KEY, "rb") as key, open(CERTIFICATE, "rb") as certificate:
    pair = (key.read(), certificate.read())
calls.add_secure_port("127.0.0.1:8443", grpc.ssl_server_credentials([pair]))
calls.start()
print("ready", flush=True)
threading.Event().wait()
