"""The proxies that the benchmark compares, their origin, their keys, and how they are run."""

import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(os.path.dirname(os.path.dirname(HERE)), ".build", "bench")
MITMDUMP = os.path.join(os.path.dirname(FOLDER), "bench-venv", "bin", "mitmdump")
TICKS = os.sysconf("SC_CLK_TCK")
CORES = os.sched_getaffinity(0)
PINNED = {0, 1} <= CORES
LOAD_CORE, PROXY_CORE = "0", "1"
READY_LIMIT = 30

# One suite and one group for the client side too.
CLIENT_CONFIGURATION = """openssl_conf = main
[main]
ssl_conf = ssl
[ssl]
system_default = default
[default]
Ciphersuites = TLS_AES_128_GCM_SHA256
CipherString = ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256
Groups = X25519
"""


def path(*names):
    return os.path.join(FOLDER, *names)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as listener:
            listener.bind(("::1", 0))
        return True
    except OSError:
        return False


# What the machine says of processes


def stat_fields(pid):
    """The fields of /proc/PID/stat behind the name, None if the process is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def process_tree(root):
    children = {}
    for name in os.listdir("/proc"):
        fields = stat_fields(name) if name.isdigit() else None
        if fields:
            children.setdefault(int(fields[1]), []).append(int(name))
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += children.get(pid, [])
    return found


def cpu_seconds(root):
    """Of a process and all below it, those that have ended included."""
    ticks = 0
    for pid in process_tree(root):
        fields = stat_fields(pid)
        if fields:
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / TICKS


def resident_kilobytes(root):
    total = 0
    for pid in process_tree(root):
        try:
            with open(f"/proc/{pid}/status") as file:
                total += int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])
        except (FileNotFoundError, ProcessLookupError, TypeError):
            continue
    return total


def core_busy_seconds(core):
    with open("/proc/stat") as file:
        for line in file:
            if line.startswith(f"cpu{core} "):
                ticks = [int(field) for field in line.split()[1:]]
                return (sum(ticks[:3]) + sum(ticks[5:8])) / TICKS
    return 0.0


def pinned(core, command):
    return ["taskset", "-c", core, *command] if PINNED else command


class Process:
    """A process with all that it starts, stopped by its process group."""

    def __init__(self, name, core, command):
        self.log = path(f"{name}.log")
        self.started = time.monotonic()
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(
                pinned(core, command), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, cwd=FOLDER,
            )
        self.pid = self.child.pid

    def wait_until_served(self, port, target="/1k"):
        """Seconds from the start to the first answer."""
        while time.monotonic() - self.started < READY_LIMIT:
            if self.child.poll() is not None:
                break
            try:
                with Connection(port) as connection:
                    connection.get(target)
                return time.monotonic() - self.started
            except OSError:
                time.sleep(0.001)
        with open(self.log, errors="replace") as log:
            tail = log.read()[-2000:]
        self.stop()
        raise RuntimeError(f"{self.log}: not ready\n{tail}")

    def stop(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.pid, number)
            except ProcessLookupError:
                pass
            try:
                self.child.wait(10)
                return
            except subprocess.TimeoutExpired:
                continue


class Connection:
    """A TLS connection that asks and then stays."""

    context = None

    def __init__(self, port):
        if Connection.context is None:
            Connection.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            Connection.context.check_hostname = False
            Connection.context.verify_mode = ssl.CERT_NONE
        plain = socket.create_connection(("127.0.0.1", port), 10)
        try:
            self.socket = self.context.wrap_socket(plain, server_hostname="localhost")
        except BaseException:
            plain.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def get(self, target):
        request = f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        self.socket.sendall(request.encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.received()
        head, body = answer.split(b"\r\n\r\n", 1)
        if not head.startswith(b"HTTP/1.1 200"):
            raise OSError(f"not served: {head[:60]!r}")
        length = int(re.search(rb"(?i)content-length: *(\d+)", head)[1])
        while len(body) < length:
            body += self.received()

    def received(self):
        data = self.socket.recv(65536)
        if not data:
            raise OSError("closed")
        return data


# The peers


class Origins:
    """What is behind the proxies, all with TLS: files in HTTP/1.1 alone, the same files in HTTP/2
    too, and an echo of WebSocket messages. Each has a port."""

    def __init__(self):
        self.http1, self.http2, self.websocket = free_port(), free_port(), free_port()
        self.processes = []

    def start(self):
        configuration = write_configuration(
            "bench-origin.conf", LISTEN=listening(self.http1, "") + listening(self.http2, " http2"))
        self.run(self.http1, "origin", [nginx_binary(), "-c", configuration, "-e", "stderr"])
        self.run(self.websocket, "echo", [
            path("websocket"), "serve", str(self.websocket), path("origin.pem"),
            path("origin.key")])

    def run(self, port, name, command):
        self.processes.append(Process(name, LOAD_CORE, command))
        self.processes[-1].wait_until_served(port)

    def stop(self):
        for process in self.processes:
            process.stop()


class Peer:
    """A proxy; `command` is a function from its port and the origin's. `bridging` are options for
    clients that speak HTTP/2 alone and an origin that does not; None if it cannot serve them."""

    def __init__(self, name, title, command, captures=(), bridging=(), binary=None):
        self.name = name
        self.binary = binary
        self.title = title
        self.port = free_port()
        self.command = command
        self.captures = captures
        self.bridging = bridging

    def start(self, origin_port, bridges=False):
        for name in self.captures:
            if os.path.exists(name):
                os.remove(name)
        command = self.command(self.port, origin_port) + list(self.bridging if bridges else [])
        process = Process(self.name, PROXY_CORE, command)
        process.ready = process.wait_until_served(self.port)
        return process


class Server:
    """What serves contents itself; `targets` are its own for those of nginx."""

    def __init__(self, name, command, targets):
        self.name = name
        self.port = free_port()
        self.command = command
        self.targets = targets

    def start(self):
        process = Process(f"{self.name}-content", PROXY_CORE, self.command(self.port))
        process.ready = process.wait_until_served(self.port, self.targets["/1k"])
        return process


def listening(port, option):
    addresses = ["127.0.0.1", "[::1]"] if has_ipv6() else ["127.0.0.1"]
    return "".join(f"listen {host}:{port} ssl{option} backlog=4096; " for host in addresses)


def write_configuration(name, **values):
    with open(os.path.join(HERE, name)) as file:
        text = file.read()
    # Else root's worker would be nobody, who may not reach this folder.
    user = "user root;" if os.getuid() == 0 else ""
    for key, value in {"FOLDER": FOLDER, "USER": user, **values}.items():
        text = text.replace(f"@{key}@", str(value))
    with open(path(name), "w") as file:
        file.write(text)
    return path(name)


def nginx_binary():
    return shutil.which("nginx") or "/usr/sbin/nginx"


def nginx_peer(_):
    return Peer("nginx", "nginx, no record", lambda port, origin_port: [
        nginx_binary(), "-e", "stderr",
        "-c", write_configuration("bench-proxy.conf", PORT=port, ORIGIN=origin_port),
    ])


def mitmdump_peer(_):
    if not os.path.exists(MITMDUMP):
        return "there is no mitmdump in .build/bench-venv"
    flows = path("flows.mitm")
    return Peer("mitmdump", "mitmdump -w", lambda port, origin_port: [
        MITMDUMP, "-q", "-w", flows, "--set", f"confdir={path('mitmproxy')}",
        "--set", f"ssl_verify_upstream_trusted_ca={path('ca.pem')}",
        "--mode", f"reverse:https://localhost:{origin_port}",
        "--listen-host", "127.0.0.1", "-p", str(port),
    ], [flows], bridging=None)


def sallyport_peer(binary, name="sallyport"):
    if not binary or not os.path.exists(binary):
        return "there is no release build"
    answer = subprocess.run(
        [binary, "proxy", "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=10,
    )
    if "reverse:" not in answer.stdout:
        return "the build has no reverse mode"
    capture = path("bench.sallyport")
    title = name + ", recording" if name == "sallyport" else name
    return Peer(name, title, lambda port, origin_port: [
        binary, "proxy", "--mode", f"reverse:https://localhost:{origin_port}",
        "--listen", f"127.0.0.1:{port}", "--capture", capture, "--origin-ca", path("ca.pem"),
    ], [capture, f"{capture}-wal", f"{capture}-shm"], ["--origin-http", "1"], binary)


def content_server(name, binary):
    """The content server of a peer; None if it has none."""
    if name == "nginx":
        return Server(name, lambda port: [
            nginx_binary(), "-e", "stderr", "-c",
            write_configuration("bench-origin.conf", LISTEN=listening(port, "")),
        ], {"/1k": "/1k", "/10m": "/10m"})
    if name == "mitmdump":
        return None
    return Server(name, lambda port: [
        binary, "content", "--listen", "127.0.0.1:0", "--tls-listen", f"127.0.0.1:{port}",
    ], {"/1k": "/assets/7/1024", "/10m": "/assets/7/10m"})


PEERS = {"nginx": nginx_peer, "sallyport": sallyport_peer, "mitmdump": mitmdump_peer}


# Keys and files


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=FOLDER)


def compile_load():
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "openssl"], check=True, capture_output=True, text=True,
    ).stdout.split()
    for name in ("handshakes", "websocket"):
        source = os.path.join(HERE, f"{name}.c")
        subprocess.run(
            ["cc", "-O2", "-Wall", "-o", path(name), source, *flags, "-lpthread"], check=True)


def make_certificates():
    openssl(
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-keyout", "ca.key", "-out", "ca.pem", "-days", "30", "-subj", "/CN=benchmark",
        "-addext", "basicConstraints=critical,CA:TRUE",
        "-addext", "keyUsage=critical,keyCertSign,cRLSign",
    )
    with open(path("extensions"), "w") as file:
        file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n")
    for name in ("origin", "leaf"):
        openssl(
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", "/CN=localhost",
        )
        openssl(
            "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", "30", "-extfile", "extensions", "-out", f"{name}.pem",
        )
    # With an elliptic key here mitmdump's leaves have one too, like everyone else's.
    os.makedirs(path("mitmproxy"))
    with open(path("mitmproxy", "mitmproxy-ca.pem"), "w") as both:
        for name in ("ca.key", "ca.pem"):
            with open(path(name)) as file:
                both.write(file.read())


def lay_out():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(path("files"))
    os.makedirs(path("temp"))
    make_certificates()
    compile_load()
    for name, size in (("1k", 1024), ("10m", 10 << 20)):
        with open(path("files", name), "wb") as file:
            file.write(os.urandom(size))
    with open(path("client.cnf"), "w") as file:
        file.write(CLIENT_CONFIGURATION)
    origins = Origins()
    try:
        origins.start()
    except BaseException:
        origins.stop()
        raise
    return origins
