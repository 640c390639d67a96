"""A client of Python's ssl: says how it verifies, and asks a server for a page."""
import socket
import ssl
import sys

how, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
context = ssl.create_default_context()
if how == "unverified":
    context = ssl._create_unverified_context()
elif how == "no-hostname":
    context.check_hostname = False
elif how == "no-expiry":
    context.verify_flags |= 0x200000  # X509_V_FLAG_NO_CHECK_TIME
with socket.create_connection((host, port)) as plain:
    with context.wrap_socket(plain, server_hostname=host) as secure:
        secure.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        while part := secure.recv(65536):
            sys.stdout.buffer.write(part)
