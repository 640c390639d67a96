"""Sends datagrams: the QUIC Initial of RFC 9001 §A.2, whose hello is for example.com, and one for a
time server; says what became of each. Arguments: the file with the Initial in hexadecimal digits;
`then-tcp` to try TCP to the same host behind it."""

import socket
import sys

with open(sys.argv[1]) as file:
    initial = bytes.fromhex(file.read())
for host, port, content in [("quic.test", 443, initial), ("time.test", 123, b"\x1b" + bytes(47))]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.settimeout(20)
        try:
            sender.connect((host, port))
            sender.send(content)
            # Version Negotiation: a long header with the version 0.
            answer = sender.recv(2048)
            known = answer[0] >= 0x80 and answer[1:5] == bytes(4)
            print(host, "knows no version of it" if known else f"said {answer.hex()}")
        except OSError as error:
            print(host, "refused" if isinstance(error, PermissionError | ConnectionError) else error)
    if sys.argv[2:] == ["then-tcp"] and port == 443:
        socket.create_connection((host, port), timeout=20).close()
