"""What a client of another machine gets through a proxy whose upstream proxy is on the proxy's own
machine: a line for each way in and host.

usage: unshare --mount --net python3 elsewhere.py SALLYPORT

The client has an address that is not the proxy's. The upstream proxy answers by itself, and says
whom it was asked for. In the table of hosts, loop.test is loopback and far.test is not.
"""

import http.client
import json
import socket
import subprocess
import sys
import threading

PATIENCE = 20
TABLE = "127.0.0.1 localhost loop.test\n192.0.2.80 far.test\n"
PROXY, CLIENT = "192.0.2.1", "192.0.2.2"
HOSTS = ["127.0.0.1", "localhost", "loop.test", "127.1", "far.test"]


def head(connection):
    data = b""
    while b"\r\n\r\n" not in data and (more := connection.recv(65536)):
        data += more
    return data.decode()


def upstream(server):
    while True:
        connection = server.accept()[0]
        connection.settimeout(PATIENCE)
        try:
            if asked := head(connection).split(" ")[1:2]:
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                head(connection)
                said = f"asked for {asked[0]}".encode()
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
                    % (len(said), said)
                )
        except OSError:
            pass
        connection.close()


def connect(port):
    return socket.create_connection((PROXY, port), PATIENCE, (CLIENT, 0))


def answer(client, target, host):
    client.sendall(f"GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    return told(client)


def told(client):
    response = http.client.HTTPResponse(client)
    response.begin()
    if response.status == 200:
        return response.read().decode()
    return f"{response.status} {response.headers['sallyport-error']}"


def by_absolute_form(client, host):
    return answer(client, f"http://{host}/", host)


def by_connect(client, host):
    client.sendall(f"CONNECT {host}:80 HTTP/1.1\r\nHost: {host}:80\r\n\r\n".encode())
    if "HTTP/1.1 200 " in (said := head(client)):
        return answer(client, "/", host)
    named = [line for line in said.split("\r\n") if line.lower().startswith("sallyport-error: ")]
    return f"{said[9:12]} {named[0][17:]}"


def by_socks(client, host):
    name = host.encode()
    client.sendall(b"\5\1\0")
    assert client.recv(2) == b"\5\0"
    client.sendall(b"\5\1\0\3" + bytes([len(name)]) + name + b"\0\x50")
    reply = client.recv(10)
    if reply[1:2] == b"\0":
        return answer(client, "/", host)
    return f"reply {reply[1]}"


with open("hosts", "w") as table:
    table.write(TABLE)
subprocess.run(["mount", "--bind", "hosts", "/etc/hosts"], check=True)
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
for address in PROXY, CLIENT:
    subprocess.run(["ip", "address", "add", f"{address}/32", "dev", "lo"], check=True)
server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=upstream, args=(server,), daemon=True).start()
proxy = subprocess.Popen(
    [sys.argv[1], "proxy", "--json", "--listen", f"{PROXY}:0"]
    + ["--upstream", f"http://127.0.0.1:{server.getsockname()[1]}"],
    stdout=subprocess.PIPE,
)
try:
    port = int(json.loads(proxy.stdout.readline())["listen"].rpartition(":")[2])
    for way in by_absolute_form, by_connect, by_socks:
        for host in HOSTS:
            with connect(port) as client:
                print(f"{way.__name__} {host}: {way(client, host)}", flush=True)
finally:
    proxy.terminate()
    proxy.wait(PATIENCE)
