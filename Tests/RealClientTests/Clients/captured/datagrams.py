"""Sends datagrams: the QUIC Initial of RFC 9001 §A.2, whose hello is for example.com, and one for a
time server; says what became of each. Argument: the file with the Initial in hexadecimal digits."""

import socket
import sys

with open(sys.argv[1]) as file:
    initial = bytes.fromhex(file.read())
for host, port, content in [("quic.test", 443, initial), ("time.test", 123, b"\x1b" + bytes(47))]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        try:
            sender.sendto(content, (host, port))
            print(host, "sent")
        except OSError:
            print(host, "refused")
