"""Compares proxies from TLS to TLS on loopback and writes a Markdown table.

The proxy has a core of its own, the load generator and the origin share another. Each measurement
starts every proxy anew, in turn, so that what else the machine does meets all of them; the table
shows medians, and the ratios of medians are what counts.
"""

import argparse
import json
import os
import platform
import re
import resource
import shutil
import signal
import socket
import ssl
import statistics
import subprocess
import sys
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

    def wait_until_served(self, port):
        """Seconds from the start to the first answer."""
        while time.monotonic() - self.started < READY_LIMIT:
            if self.child.poll() is not None:
                break
            try:
                with Connection(port) as connection:
                    connection.get("/1k")
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


class Peer:
    def __init__(self, name, title, command, captures=()):
        self.name = name
        self.title = title
        self.port = free_port()
        self.command = [part.replace("@PORT@", str(self.port)) for part in command]
        self.captures = captures

    def start(self):
        for name in self.captures:
            if os.path.exists(name):
                os.remove(name)
        process = Process(self.name, PROXY_CORE, self.command)
        process.ready = process.wait_until_served(self.port)
        return process


def write_configuration(name, port, origin_port):
    with open(os.path.join(HERE, name)) as file:
        text = file.read()
    listen = [f"listen 127.0.0.1:{origin_port} ssl backlog=4096;"]
    if has_ipv6():
        listen.append(f"listen [::1]:{origin_port} ssl backlog=4096;")
    for key, value in {
        "FOLDER": FOLDER, "PORT": str(port), "ORIGIN": str(origin_port),
        "LISTEN": "\n        ".join(listen),
        # Else root's worker would be nobody, who may not reach this folder.
        "USER": "user root;" if os.getuid() == 0 else "",
    }.items():
        text = text.replace(f"@{key}@", value)
    with open(path(name), "w") as file:
        file.write(text)
    return path(name)


def nginx_binary():
    return shutil.which("nginx") or "/usr/sbin/nginx"


def nginx_peer(origin_port, _):
    peer = Peer("nginx", "nginx, no record", [])
    configuration = write_configuration("bench-proxy.conf", peer.port, origin_port)
    peer.command = [nginx_binary(), "-c", configuration, "-e", "stderr"]
    return peer


def mitmdump_peer(origin_port, _):
    if not os.path.exists(MITMDUMP):
        return "there is no mitmdump in .build/bench-venv"
    flows = path("flows.mitm")
    return Peer("mitmdump", "mitmdump -w", [
        MITMDUMP, "-q", "-w", flows, "--set", f"confdir={path('mitmproxy')}",
        "--set", f"ssl_verify_upstream_trusted_ca={path('ca.pem')}",
        "--mode", f"reverse:https://localhost:{origin_port}",
        "--listen-host", "127.0.0.1", "-p", "@PORT@",
    ], [flows])


def sallyport_peer(origin_port, binary):
    if not binary or not os.path.exists(binary):
        return "there is no release build"
    answer = subprocess.run(
        [binary, "proxy", "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=10,
    )
    if "reverse:" not in answer.stdout:
        return "the build has no reverse mode"
    capture = path("bench.sallyport")
    return Peer("sallyport", "sallyport, recording", [
        binary, "proxy", "--mode", f"reverse:https://localhost:{origin_port}",
        "--listen", "127.0.0.1:@PORT@", "--capture", capture, "--origin-ca", path("ca.pem"),
    ], [capture, f"{capture}-wal", f"{capture}-shm"])


PEERS = {"nginx": nginx_peer, "sallyport": sallyport_peer, "mitmdump": mitmdump_peer}


# Keys and files


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=FOLDER)


def compile_load():
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "openssl"], check=True, capture_output=True, text=True,
    ).stdout.split()
    source = os.path.join(HERE, "handshakes.c")
    subprocess.run(
        ["cc", "-O2", "-Wall", "-o", path("handshakes"), source, *flags, "-lpthread"], check=True)


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
    port = free_port()
    configuration = write_configuration("bench-origin.conf", 0, port)
    origin = Process("origin", LOAD_CORE, [nginx_binary(), "-c", configuration, "-e", "stderr"])
    origin.wait_until_served(port)
    return origin, port


# The measurements: each returns a dictionary of figures


def load(peer, target, connections, seconds, kind):
    if kind == "full":
        return load_output(
            [path("handshakes"), str(peer.port), target, str(connections), str(seconds)], seconds)
    command = [
        "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s",
        "-s", os.path.join(HERE, "wrk.lua"),
    ]
    if kind == "resumed":
        command += ["-H", "Connection: close"]
    return load_output([*command, f"https://localhost:{peer.port}{target}"], seconds)


def load_output(command, seconds):
    ran = subprocess.run(
        pinned(LOAD_CORE, command), capture_output=True, text=True, timeout=seconds + 60,
        env={**os.environ, "OPENSSL_CONF": path("client.cnf")},
    )
    for line in ran.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(line)
    raise RuntimeError(f"{command[0]} gave no figures: {ran.stdout[-300:]}{ran.stderr[-300:]}")


def loaded(target, connections, kind="kept"):
    """Kinds of connections: kept, resumed (a new one each time) and full (the same, with a full
    handshake)."""
    def measure(peer, options):
        process = peer.start()
        try:
            load(peer, target, connections, 1, kind)
            busy, cpu = core_busy_seconds(PROXY_CORE), cpu_seconds(process.pid)
            result = load(peer, target, connections, options.seconds, kind)
            cpu = cpu_seconds(process.pid) - cpu
            busy = core_busy_seconds(PROXY_CORE) - busy
        finally:
            process.stop()
        if result["requests"] == 0:
            raise RuntimeError(f"{peer.name} answered nothing")
        return {
            "cpu_us": cpu / result["requests"] * 1e6,
            "rate": result["requests"] / result["seconds"],
            "megabytes": result["bytes"] / result["seconds"] / 1e6,
            "cpu_gigabyte": cpu / (result["bytes"] / 1e9),
            "failed": result["failed"],
            "foreign": max(0, busy - cpu) / result["seconds"] if PINNED else 0,
        }
    return measure


def idle(peer, options):
    process = peer.start()
    connections = []
    try:
        time.sleep(0.5)
        empty = resident_kilobytes(process.pid)
        for _ in range(options.idle):
            connections.append(Connection(peer.port))
            connections[-1].get("/1k")
        time.sleep(1)
        full = resident_kilobytes(process.pid)
        return {
            "ready_ms": process.ready * 1e3,
            "resident_mb": empty / 1024,
            "connection_kb": (full - empty) / options.idle,
        }
    finally:
        for connection in connections:
            connection.__exit__()
        process.stop()


MEASUREMENTS = {
    "keep-alive": loaded("/1k", 64),
    "new": loaded("/1k", 32, kind="full"),
    "resumed": loaded("/1k", 32, kind="resumed"),
    "large": loaded("/10m", 4),
    "idle": idle,
}

# Title, measurement, figure, unit with its format
ROWS = [
    ("1 KB, keep-alive, 64 connections: CPU a request", "keep-alive", "cpu_us", "{:,.1f} µs"),
    ("the same: requests a second", "keep-alive", "rate", "{:,.0f}"),
    ("1 KB, a new TLS connection each, full handshake: CPU", "new", "cpu_us", "{:,.0f} µs"),
    ("the same: connections a second", "new", "rate", "{:,.0f}"),
    ("1 KB, a new TLS connection each, wrk resuming: CPU", "resumed", "cpu_us", "{:,.0f} µs"),
    ("the same: connections a second", "resumed", "rate", "{:,.0f}"),
    ("10 MB bodies, 4 connections: throughput", "large", "megabytes", "{:,.0f} MB/s"),
    ("the same: CPU a gigabyte", "large", "cpu_gigabyte", "{:,.2f} s"),
    ("start to first answer", "idle", "ready_ms", "{:,.0f} ms"),
    ("memory when idle (RSS)", "idle", "resident_mb", "{:,.1f} MB"),
    ("memory of an idle connection (RSS)", "idle", "connection_kb", "{:,.1f} KB"),
]


def run(peers, options):
    results = []
    for measurement in options.measurements:
        for number in range(options.rounds):
            shift = number % len(peers)
            for peer in peers[shift:] + peers[:shift]:
                figures = MEASUREMENTS[measurement](peer, options)
                results.append(
                    {"measurement": measurement, "round": number, "peer": peer.name, **figures})
                shown = ", ".join(f"{key} {value:,.2f}" for key, value in figures.items())
                print(f"{measurement}, round {number + 1}, {peer.name}: {shown}", file=sys.stderr)
    return results


def median(results, peer, measurement, figure):
    values = [
        result[figure] for result in results
        if result["peer"] == peer and result["measurement"] == measurement
    ]
    return statistics.median(values) if values else None


def table(peers, results):
    names = [peer.name for peer in peers]
    others = [name for name in names if name != "sallyport"] if "sallyport" in names else []
    head = ["", *(peer.title for peer in peers), *(f"sallyport ÷ {name}" for name in others)]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    for title, measurement, figure, unit in ROWS:
        medians = {name: median(results, name, measurement, figure) for name in names}
        if all(value is None for value in medians.values()):
            continue
        cells = [unit.format(medians[name]) for name in names]
        cells += [f"{medians['sallyport'] / medians[name]:.2f}" for name in others if medians[name]]
        lines.append("| " + " | ".join([title, *cells]) + " |")
    return "\n".join(lines)


def first_line(command):
    ran = subprocess.run(command, capture_output=True, text=True)
    return (ran.stdout + ran.stderr).splitlines()[0].strip()


def conditions(peers, results, options):
    with open("/proc/cpuinfo") as file:
        models = re.findall(r"model name\s*:\s*(.+)", file.read())
    versions = [first_line([nginx_binary(), "-v"]).replace("nginx version: ", "")]
    if any(peer.name == "mitmdump" for peer in peers):
        versions.append(first_line([MITMDUMP, "--version"]).lower().replace(": ", " "))
    cores = "the proxy alone on one core, load and origin on another" if PINNED else \
        "processes not pinned, for want of two cores"
    lines = [
        f"Medians of interleaved runs of {options.seconds} s, {options.rounds} each; {cores}.",
        f"{models[0] if models else platform.machine()}, {len(CORES)} cores, "
        f"{platform.system()} {platform.release()}, {', '.join(versions)}, "
        f"{ssl.OPENSSL_VERSION.rsplit(' ', 3)[0]}; TLS 1.3, AES-128-GCM, X25519, P-256.",
    ]
    failed = sum(result.get("failed", 0) for result in results)
    if failed:
        lines.append(f"**{failed} requests failed.**")
    disturbed = [r for r in results if r.get("foreign", 0) > 0.1]
    if disturbed:
        lines.append(
            f"In {len(disturbed)} of {len(results)} runs other processes took more than a tenth "
            "of the proxy's core.")
    return "\n".join(lines)


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="Scripts/bench", description="Compares Sallyport with nginx and mitmdump.")
    parser.add_argument("--rounds", type=int, default=3, help="of each measurement (3)")
    parser.add_argument("--seconds", type=int, default=5, help="of each load run (5)")
    parser.add_argument("--idle", type=int, default=500, help="idle connections to open (500)")
    parser.add_argument("--peers", default=",".join(PEERS), help="some of %(default)s")
    parser.add_argument("--measurements", default=",".join(MEASUREMENTS),
                        help="some of %(default)s")
    parser.add_argument("--output", help="a file for the table, besides standard output")
    parser.add_argument("--raw", help="a file for every figure, as JSON Lines")
    parser.add_argument("--sallyport", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.measurements = options.measurements.split(",")
    options.peers = options.peers.split(",")
    for name in options.measurements:
        if name not in MEASUREMENTS:
            parser.error(f"no measurement {name}")
    for name in options.peers:
        if name not in PEERS:
            parser.error(f"no peer {name}")
    return options


def main():
    options = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16384), hard))
    origin, port = lay_out()
    try:
        peers = []
        for name in options.peers:
            peer = PEERS[name](port, options.sallyport)
            if isinstance(peer, str):
                print(f"{name} is skipped: {peer}", file=sys.stderr)
            else:
                peers.append(peer)
        if not peers:
            sys.exit("error: no peer is left")
        results = run(peers, options)
    finally:
        origin.stop()
    text = table(peers, results) + "\n\n" + conditions(peers, results, options) + "\n"
    print(text, end="")
    if options.output:
        with open(options.output, "w") as file:
            file.write(text)
    if options.raw:
        with open(options.raw, "w") as file:
            file.writelines(json.dumps(result) + "\n" for result in results)


main()
