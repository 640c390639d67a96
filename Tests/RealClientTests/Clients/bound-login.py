"""usage: bound-login.py PORT CA PATH (right|wrong|none)

Logs in with Negotiate and a token that names the TLS connection, another one, or none, and prints the
status and the content of the answer.
"""

import base64
import ctypes
import hashlib
import http.client
import ssl
import sys

port, authority, path, kind = sys.argv[1:]
gss = ctypes.CDLL("libgssapi_krb5.so.2")


class Buffer(ctypes.Structure):
    _fields_ = [("length", ctypes.c_size_t), ("value", ctypes.c_char_p)]


class Identifier(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint32), ("elements", ctypes.c_char_p)]


class Bindings(ctypes.Structure):
    _fields_ = [
        ("initiator_type", ctypes.c_uint32),
        ("initiator", Buffer),
        ("acceptor_type", ctypes.c_uint32),
        ("acceptor", Buffer),
        ("data", Buffer),
    ]


class Output(ctypes.Structure):
    _fields_ = [("length", ctypes.c_size_t), ("value", ctypes.c_void_p)]


connection = http.client.HTTPSConnection(
    "localhost", int(port), context=ssl.create_default_context(cafile=authority)
)
connection.connect()
digest = hashlib.sha256(connection.sock.getpeercert(True)).digest()
if kind == "wrong":
    digest = hashlib.sha256(digest).digest()
named = b"tls-server-end-point:" + digest
bindings = Bindings(0, Buffer(), 0, Buffer(), Buffer(len(named), named))

minor = ctypes.c_uint32()
name = ctypes.c_void_p()
service = b"HTTP@localhost"
by_host = ctypes.c_void_p.in_dll(gss, "GSS_C_NT_HOSTBASED_SERVICE")
assert not gss.gss_import_name(
    ctypes.byref(minor),
    ctypes.byref(Buffer(len(service), service)),
    by_host,
    ctypes.byref(name),
)
context = ctypes.c_void_p()
output = Output()
negotiate = Identifier(6, bytes.fromhex("2b0601050502"))
mutual, bound = 2, 2048
status = gss.gss_init_sec_context(
    ctypes.byref(minor),
    None,
    ctypes.byref(context),
    name,
    ctypes.byref(negotiate),
    ctypes.c_uint32(mutual | (bound if kind != "none" else 0)),
    ctypes.c_uint32(0),
    ctypes.byref(bindings) if kind != "none" else None,
    None,
    None,
    ctypes.byref(output),
    None,
    None,
)
assert status in (0, 1), hex(status)
token = base64.b64encode(ctypes.string_at(output.value, output.length)).decode()
connection.request("GET", path, headers={"Authorization": f"Negotiate {token}"})
answer = connection.getresponse()
print(answer.status, answer.read().decode().strip())
