"""Compares proxies from TLS to TLS on loopback and writes a Markdown table.

The proxy has a core of its own, the load generator and the origin share another. Each measurement
starts every proxy anew, in turn, so that what else the machine does meets all of them; the table
shows medians, and the ratios of medians are what counts.
"""

import argparse
import concurrent.futures
import json
import os
import platform
import re
import resource
import signal
import ssl
import statistics
import subprocess
import sys
import time

from bench_peers import (
    CORES, HERE, LOAD_CORE, MITMDUMP, PEERS, PINNED, PROXY_CORE, Connection, content_server,
    core_busy_seconds, cpu_seconds, lay_out, nginx_binary, path, pinned, resident_kilobytes,
    sallyport_peer,
)


# The measurements: each returns a dictionary of figures


def load(peer, target, connections, seconds, kind):
    if kind == "full":
        return load_output(
            [path("handshakes"), str(peer.port), target, str(connections), str(seconds)], seconds)
    if kind == "messages":
        return load_output([
            path("websocket"), "load", str(peer.port), str(connections), "64", str(seconds),
        ], seconds)
    url = f"https://localhost:{peer.port}{target}"
    command = [
        "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s",
        "-s", os.path.join(HERE, "wrk.lua"),
    ]
    if kind == "resumed":
        command += ["-H", "Connection: close"]
    return load_output([*command, url, *(["--", "post"] if kind == "post" else [])], seconds)


def load_output(command, seconds):
    ran = subprocess.run(
        pinned(LOAD_CORE, command), capture_output=True, text=True, timeout=seconds + 60,
        env=load_environment(),
    )
    for line in ran.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(line)
    raise RuntimeError(f"{command[0]} gave no figures: {ran.stdout[-300:]}{ran.stderr[-300:]}")


def load_environment():
    return {**os.environ, "OPENSSL_CONF": path("client.cnf")}


class Meter:
    """What the proxy and its core did since it was made."""

    def __init__(self, process):
        self.process = process
        self.cpu, self.busy = cpu_seconds(process.pid), core_busy_seconds(PROXY_CORE)

    def read(self):
        """CPU seconds of the proxy, and of all on its core."""
        return (
            cpu_seconds(self.process.pid) - self.cpu, core_busy_seconds(PROXY_CORE) - self.busy)


def measured_load(process, peer, target, connections, seconds, kind):
    load(peer, target, connections, 1, kind)
    meter = Meter(process)
    result = load(peer, target, connections, seconds, kind)
    return result, *meter.read()


def measured_streams(process, peer, target, connections, seconds):
    """The same by h2load. The connections to the origin, a thousand, belong to its warm-up."""
    # Offered HTTP/1.1 too, proxies would choose what the origin has chosen.
    command = [
        "h2load", "-t1", f"-c{connections}", "-m100", "--npn-list=h2", "--warm-up-time=2",
        f"-D{seconds}", f"https://localhost:{peer.port}{target}",
    ]
    said, meter, figures = "", None, (0, 0)
    with subprocess.Popen(
        pinned(LOAD_CORE, command), stdout=subprocess.PIPE, text=True, env=load_environment(),
    ) as child:
        for line in child.stdout:
            said += line
            if line.startswith("Main benchmark duration is started"):
                meter = Meter(process)
            elif line.startswith("Main benchmark duration is over") and meter:
                figures = meter.read()
    counts = re.search(r"requests: .* (\d+) done, .* (\d+) failed", said)
    statuses = re.search(r"status codes: \d+ 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx", said)
    traffic = re.search(r"traffic: \S+ \((\d+)\)", said)
    if not (counts and statuses and traffic) or "Application protocol: h2" not in said:
        raise RuntimeError(f"h2load gave no figures of HTTP/2: {said[-600:]}")
    result = {
        "requests": int(counts[1]), "seconds": seconds, "bytes": int(traffic[1]),
        "failed": int(counts[2]) + sum(int(count) for count in statuses.groups()),
    }
    return result, *figures


class Loaded:
    """Kinds: requests on connections that are kept, post (the same, with a content), resumed (a new
    one each time) or full (the same, with a full handshake), streams of HTTP/2, and messages of
    WebSockets."""

    def __init__(self, target, connections, kind="kept", origin="http1"):
        self.target, self.connections, self.kind, self.origin = target, connections, kind, origin
        self.bridges = kind == "streams" and origin == "http1"

    def __call__(self, peer, origins, options):
        if self.bridges and peer.bridging is None:
            return None
        process = self.start(peer, origins)
        try:
            return figures(peer, *self.measure(process, peer, options.seconds))
        finally:
            process.stop()

    def start(self, peer, origins):
        return peer.start(getattr(origins, self.origin), self.bridges)

    def measure(self, process, peer, seconds):
        if self.kind == "streams":
            return measured_streams(process, peer, self.target, self.connections, seconds)
        return measured_load(process, peer, self.target, self.connections, seconds, self.kind)


def figures(peer, result, cpu, busy):
    if result["requests"] == 0:
        raise RuntimeError(f"{peer.name} answered nothing")
    return {
        "cpu_us": cpu / result["requests"] * 1e6,
        "rate": result["requests"] / result["seconds"],
        "per_cpu_second": result["requests"] / cpu if cpu else 0,
        "megabytes": result["bytes"] / result["seconds"] / 1e6,
        "cpu_gigabyte": cpu / (result["bytes"] / 1e9),
        "failed": result["failed"],
        "foreign": max(0, busy - cpu) / result["seconds"] if PINNED else 0,
    }


def served(target, connections):
    """What the peers serve themselves, without an origin."""
    def measure(peer, _, options):
        server = content_server(peer.name, peer.binary)
        if server is None:
            return None
        process = server.start()
        try:
            result, cpu, busy = measured_load(
                process, server, server.targets[target], connections, options.seconds, "kept")
        finally:
            process.stop()
        return figures(peer, result, cpu, busy)
    return measure


def idle(peer, origins, options):
    process = peer.start(origins.http1)
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
    "keep-alive": Loaded("/1k", 64),
    "post": Loaded("/post", 64, kind="post"),
    "new": Loaded("/1k", 32, kind="full"),
    "resumed": Loaded("/1k", 32, kind="resumed"),
    "large": Loaded("/10m", 4),
    "streams-http1": Loaded("/1k", 10, kind="streams"),
    "streams-http2": Loaded("/1k", 10, kind="streams", origin="http2"),
    "websocket": Loaded("/echo", 16, kind="messages", origin="websocket"),
    "content": served("/1k", 64),
    "content-large": served("/10m", 4),
    "idle": idle,
}

# Title, measurement, figure, unit with its format
ROWS = [
    ("1 KB, keep-alive, 64 connections: CPU a request", "keep-alive", "cpu_us", "{:,.1f} µs"),
    ("the same: requests a second", "keep-alive", "rate", "{:,.0f}"),
    ("POST of 1 KB, keep-alive, 64 connections: CPU a request", "post", "cpu_us", "{:,.1f} µs"),
    ("the same: requests a second", "post", "rate", "{:,.0f}"),
    ("1 KB, a new TLS connection each, full handshake: CPU", "new", "cpu_us", "{:,.0f} µs"),
    ("the same: connections a second", "new", "rate", "{:,.0f}"),
    ("1 KB, a new TLS connection each, wrk resuming: CPU", "resumed", "cpu_us", "{:,.0f} µs"),
    ("the same: connections a second", "resumed", "rate", "{:,.0f}"),
    ("10 MB bodies, 4 connections: throughput", "large", "megabytes", "{:,.0f} MB/s"),
    ("the same: CPU a gigabyte", "large", "cpu_gigabyte", "{:,.2f} s"),
    ("1 KB over HTTP/2, 10 connections of 100 streams, origin in HTTP/1.1: CPU a request",
     "streams-http1", "cpu_us", "{:,.1f} µs"),
    ("the same: requests a second", "streams-http1", "rate", "{:,.0f}"),
    ("the same, to an origin that speaks HTTP/2 too (nginx: HTTP/1.1 still): CPU a request",
     "streams-http2", "cpu_us", "{:,.1f} µs"),
    ("the same: requests a second", "streams-http2", "rate", "{:,.0f}"),
    ("WebSocket, 100-byte messages echoed, 16 connections: messages a CPU second",
     "websocket", "per_cpu_second", "{:,.0f}"),
    ("the same: messages a second", "websocket", "rate", "{:,.0f}"),
    ("1 KB that the peer itself serves, 64 connections: requests a CPU second", "content",
     "per_cpu_second", "{:,.0f}"),
    ("10 MB that it serves, 4 connections: throughput", "content-large", "megabytes",
     "{:,.0f} MB/s"),
    ("the same: CPU a gigabyte", "content-large", "cpu_gigabyte", "{:,.2f} s"),
    ("start to first answer", "idle", "ready_ms", "{:,.0f} ms"),
    ("memory when idle (RSS)", "idle", "resident_mb", "{:,.1f} MB"),
    ("memory of an idle connection (RSS)", "idle", "connection_kb", "{:,.1f} KB"),
]


def run(peers, origins, options):
    results = []
    for measurement in options.measurements:
        for number in range(options.rounds):
            shift = number % len(peers)
            for peer in peers[shift:] + peers[:shift]:
                figures = MEASUREMENTS[measurement](peer, origins, options)
                if figures is None:
                    continue
                results.append(
                    {"measurement": measurement, "round": number, "peer": peer.name, **figures})
                shown = ", ".join(f"{key} {value:,.2f}" for key, value in figures.items())
                print(f"{measurement}, round {number + 1}, {peer.name}: {shown}", file=sys.stderr)
    return results


def run_pairs(now, before, origins, options):
    """Loads both at once, again and again, and compares the CPU of each pair: whatever else the
    machine does meets both in the same second, so that a few hundredths show."""
    lines = [f"| CPU, {options.pairs} pairs | {now.title} | {before.title} | ratio | quartiles |",
             "|---|---:|---:|---:|---:|"]
    for name in options.measurements:
        measurement = MEASUREMENTS[name]
        if not isinstance(measurement, Loaded):
            continue
        processes = []
        try:
            for peer in (now, before):
                processes.append(measurement.start(peer, origins))
            pairs = [pair(measurement, (now, before), processes, options)
                     for _ in range(options.pairs)]
        finally:
            for process in processes:
                process.stop()
        ratios = [first / second for first, second in pairs]
        low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
        cpu = [statistics.median(values) for values in zip(*pairs)]
        lines.append(f"| {name} | {cpu[0]:,.2f} µs | {cpu[1]:,.2f} µs | {middle:.2f} "
                     f"| {low:.2f} to {high:.2f} |")
        print(lines[-1], file=sys.stderr)
    return "\n".join(lines)


def pair(measurement, peers, processes, options):
    """What a request cost each of two that were loaded at once, in microseconds of CPU."""
    def cpu(process, peer):
        return figures(peer, *measurement.measure(process, peer, options.seconds))["cpu_us"]

    with concurrent.futures.ThreadPoolExecutor(len(peers)) as threads:
        return list(threads.map(cpu, processes, peers))


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
        cells = [unit.format(medians[name]) if medians[name] else "–" for name in names]
        cells += [
            f"{medians['sallyport'] / medians[name]:.2f}"
            if medians["sallyport"] and medians[name] else "–" for name in others
        ]
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
    parser.add_argument("--before", metavar="FILE",
                        help="another sallyport, such as one of an earlier state, as a peer")
    parser.add_argument("--pairs", type=int, metavar="N",
                        help="load both sallyports at once, N times, and compare their CPU alone")
    parser.add_argument("--sallyport", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.measurements = options.measurements.split(",")
    options.peers = options.peers.split(",")
    if options.pairs is not None:
        if not options.before:
            parser.error("--pairs compares with --before FILE")
        if options.pairs < 2:
            parser.error("--pairs takes at least 2")
        options.peers = ["sallyport"]
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
    origins = lay_out()
    try:
        peers = []
        for name in options.peers:
            peer = PEERS[name](options.sallyport)
            if isinstance(peer, str):
                print(f"{name} is skipped: {peer}", file=sys.stderr)
            else:
                peers.append(peer)
        if options.before:
            peer = sallyport_peer(os.path.abspath(options.before), "before")
            if isinstance(peer, str):
                sys.exit(f"error: {options.before}: {peer}")
            peers.append(peer)
        if not peers:
            sys.exit("error: no peer is left")
        results = []
        if options.pairs:
            if len(peers) < 2:
                sys.exit("error: there is no sallyport to compare with")
            text = run_pairs(*peers, origins, options) + "\n"
        else:
            results = run(peers, origins, options)
            text = table(peers, results) + "\n\n" + conditions(peers, results, options) + "\n"
    finally:
        origins.stop()
    print(text, end="")
    if options.output:
        with open(options.output, "w") as file:
            file.write(text)
    if options.raw:
        with open(options.raw, "w") as file:
            file.writelines(json.dumps(result) + "\n" for result in results)


main()
