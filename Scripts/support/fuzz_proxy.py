"""Puts a real proxy between hostile clients and a hostile origin, both by a seed, and asks a
well-behaved client beside them how long it waits.

The proxy must live, serve that client within 250 ms, stay within its memory, and record every
connection with its end. Prints one line of figures; ends with 1 if a rule was broken, and prints
what was said last, so that it can be said again.
"""

import argparse
import collections
import contextlib
import functools
import json
import os
import pathlib
import select
import signal
import socket
import sqlite3
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time

import fuzz_scripts as scripts

LATENCY_LIMIT = 0.250  # seconds, without the time that the proxy or this process waited for a CPU
MEMORY_LIMIT = 512 << 20  # bytes
# What stays of each connection shows long before the limit, once buffers and caches are filled.
GROWTH_LIMIT = 1500  # bytes a connection
GROWTH_START = 48 << 20  # bytes
CLIENTS = 64
# Once all peers have gone: an origin that reads slowly may stay for its deadline.
REST_LIMIT = 30  # seconds
KEPT_DESCRIPTORS = 16


@functools.cache
def client_context(protocols):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if protocols:
        context.set_alpn_protocols(protocols)
    return context


class Peer:
    """Plays a script on a socket."""

    def __init__(self, connection):
        self.connection = connection
        # Of HTTP/2: what was read and is no whole frame yet, and the streams whose heads have come.
        self.taken = bytearray()
        self.heads = set()

    def play(self, steps):
        for step in steps:
            if not getattr(self, "do_" + step[0])(*step[1:]):
                return

    def do_send(self, data):
        self.connection.sendall(data)
        return True

    def do_pause(self, seconds):
        time.sleep(seconds)
        return True

    def do_read(self, seconds):
        """Reads until nothing comes for the time."""
        self.connection.settimeout(seconds)
        try:
            while self.receive():
                pass
        except TimeoutError:
            pass
        self.connection.settimeout(3)
        return True

    def do_await(self, stream):
        """Reads until the head of the stream of HTTP/2 has come, but not for long."""
        ends = time.monotonic() + 0.5
        while stream not in self.heads and (left := ends - time.monotonic()) > 0:
            self.connection.settimeout(left)
            try:
                if not self.receive():
                    break
            except TimeoutError:
                break
        self.connection.settimeout(3)
        return True

    def receive(self):
        """What has come, and notes which heads of HTTP/2 are in it."""
        data = self.connection.recv(65536)
        self.taken += data
        if self.taken.startswith(scripts.PREFACE):
            del self.taken[:len(scripts.PREFACE)]
        while len(self.taken) >= 9:
            length = 9 + int.from_bytes(self.taken[:3], "big")
            if len(self.taken) < length:
                break
            if self.taken[3] == 1:
                self.heads.add(int.from_bytes(self.taken[5:9], "big"))
            del self.taken[:length]
        if len(self.taken) > 1 << 17:
            # No frames at all.
            self.taken.clear()
        return data

    def do_end(self):
        self.plain().shutdown(socket.SHUT_WR)
        return True

    def do_reset(self):
        self.plain().setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    def do_close(self):
        return False

    def do_tls(self, protocols):
        context = client_context(tuple(protocols))
        self.connection = context.wrap_socket(self.connection, server_hostname="localhost")
        return True

    def plain(self):
        return self.connection


class Run:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.ended = threading.Event()
        self.lock = threading.Lock()
        self.made = collections.Counter()  # the addresses of clients
        self.count = 0
        self.served = 0
        self.history = collections.deque(maxlen=60)
        self.faults = []
        self.latencies = []
        self.clocked = []  # the same with the waits for a CPU
        self.peak = 0

    def fault(self, what):
        with self.lock:
            self.faults.append(what)
        self.ended.set()

    # The hostile origin

    def listen(self, secure):
        listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        threading.Thread(target=self.accept, args=(listener, secure), daemon=True).start()
        return (b"127.0.0.1", listener.getsockname()[1])

    def accept(self, listener, secure):
        context = None
        if secure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.folder / "origin.pem")
            context.set_alpn_protocols(["h2", "http/1.1"])
        while True:
            connection, _ = listener.accept()
            with self.lock:
                self.served += 1
                number = self.served
            threading.Thread(
                target=self.answer, args=(connection, context, number), daemon=True).start()

    def answer(self, connection, context, number):
        chance = scripts.generator(self.options.seed, "origin", number)
        peer = Peer(connection)
        try:
            connection.settimeout(3)
            if chance.random() < 0.03:
                peer.do_reset() if chance.random() < 0.5 else None
                return
            if context and chance.random() < 0.9:
                connection = peer.connection = context.wrap_socket(connection, server_side=True)
            elif context:
                peer.play(scripts.cut(chance, scripts.mutated(chance, scripts.hello(), 0.8)))
                return
            for _ in range(chance.choice([1, 1, 2, 5])):
                asked = b""
                if chance.random() < 0.9:
                    connection.settimeout(chance.choice([0.02, 1.0]))
                    try:
                        asked = peer.receive()
                        if not asked:
                            return
                    except TimeoutError:
                        pass
                    connection.settimeout(3)
                steps = scripts.origin(chance, self.options.around, asked)
                self.history.append(("origin", number, steps))
                peer.play(steps)
        except (OSError, ValueError):
            pass
        finally:
            peer.connection.close()

    # The hostile clients

    def attack(self, ports, origins):
        while not self.ended.is_set():
            with self.lock:
                self.count += 1
                number = self.count
            chance = scripts.generator(self.options.seed, "client", number)
            port, steps = scripts.client(chance, ports, origins, self.options.around)
            self.history.append(("client", number, steps))
            try:
                connection = socket.create_connection(("127.0.0.1", port), timeout=3)
            except ConnectionResetError:
                # It was accepted, and the origin that was dialled for it has reset it already.
                continue
            except OSError as error:
                # Who has ended is told by `watch`.
                if not self.ended.wait(1) and self.proxy.poll() is None:
                    self.fault(f"the proxy accepts nothing: {error}")
                return
            with self.lock:
                self.made["%s:%d" % connection.getsockname()] += 1
            peer = Peer(connection)
            try:
                connection.settimeout(3)
                peer.play(steps)
            except (OSError, ValueError):
                pass
            finally:
                peer.connection.close()

    # The proxy

    def start(self, origins):
        plain, secure = origins["plain"][1], origins["tls"][1]
        command = self.options.tool + [
            "proxy", "--listen", "127.0.0.1:0", "--capture", str(self.folder / "fuzz.sallyport"),
            "--mode", "explicit", "--mode", f"reverse:http://127.0.0.1:{plain}@127.0.0.1:0",
            "--mode", f"reverse:https://127.0.0.1:{secure}@127.0.0.1:0",
            "--mode", f"reverse:tcp://127.0.0.1:{plain}@127.0.0.1:0",
            "--insecure-origin", "--threads", str(self.options.threads), "--json",
        ]
        environment = dict(os.environ, XDG_STATE_HOME=str(self.folder), SWIFT_BACKTRACE="enable=no",
                           ASAN_OPTIONS="detect_leaks=0")
        self.log = open(self.folder / "proxy.log", "wb")
        self.proxy = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.log, env=environment)
        ready = json.loads(self.proxy.stdout.readline())
        threading.Thread(target=self.proxy.stdout.read, daemon=True).start()
        self.descriptors = self.open_descriptors()
        ports = {}
        for entry in ready["ports"]:
            mode = entry["mode"]
            name = mode.split(":")[1] if mode.startswith("reverse") else "explicit"
            ports[name] = int(entry["listen"].rsplit(":", 1)[1])
        return ports

    def memory(self):
        with open(f"/proc/{self.proxy.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def is_well(self):
        """Whether the proxy lives within its memory; the highest so far is kept."""
        if self.proxy.poll() is not None:
            self.fault(f"the proxy ended with {self.proxy.returncode}")
            return False
        with contextlib.suppress(OSError, IndexError):
            self.peak = max(self.peak, self.memory())
        if self.peak > MEMORY_LIMIT:
            self.fault(f"the proxy takes {self.peak >> 20} MiB")
            return False
        return True

    def open_descriptors(self):
        return len(os.listdir(f"/proc/{self.proxy.pid}/fd"))

    def computed(self):
        """Seconds of CPU that the proxy took so far."""
        with open(f"/proc/{self.proxy.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def come_to_rest(self):
        """Once all peers have gone, the proxy holds nothing of them and does nothing."""
        ends = time.monotonic() + REST_LIMIT
        while self.proxy.poll() is None:
            before, start = self.computed(), time.monotonic()
            time.sleep(0.5)
            share = (self.computed() - before) / (time.monotonic() - start)
            kept = self.open_descriptors() - self.descriptors
            if share < 0.2 and kept <= KEPT_DESCRIPTORS:
                return
            if time.monotonic() > ends:
                return self.fault(f"without a peer, the proxy takes {100 * share:.0f} % of a CPU "
                                  f"and keeps {kept} descriptors")

    def watch(self, seconds):
        started = time.monotonic()
        early = None
        while not self.ended.wait(0.05):
            if not self.is_well():
                return
            share = max((time.monotonic() - started) / seconds,
                        self.count / self.options.connections)
            if early is None and share > 0.25:
                early = (self.peak, self.count)
            if share > 1:
                grown, count = self.peak - early[0], self.count - early[1]
                if grown > max(GROWTH_START, GROWTH_LIMIT * count):
                    return self.fault(f"the proxy keeps {grown // count} bytes of each connection")
                self.ended.set()

    def probe(self, port):
        """The client that is served well or not: in a process of its own."""
        process = subprocess.Popen(
            [sys.executable, "-B", __file__, "--prober", f"{port},{self.proxy.pid}"],
            stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
        for line in process.stdout:
            if self.ended.is_set():
                # It stops, and tells of the request that is under way.
                process.stdin.close()
            kind, value, address, clocked = line.split()
            with self.lock:
                self.made[address] += 1
            if kind == "ok":
                self.latencies.append(float(value))
                self.clocked.append(float(clocked))
                if float(value) > LATENCY_LIMIT:
                    self.fault(f"another client waited {1000 * float(value):.0f} ms")
            elif self.proxy.poll() is None:
                self.fault(f"another client was not served: {kind}")
        process.stdin.close()
        process.wait()

    def check_capture(self):
        """Every connection that was made is a record with its end."""
        database = sqlite3.connect(self.folder / "fuzz.sallyport")
        recorded = collections.Counter(
            row[0] for row in database.execute("SELECT client FROM connection"))
        missing = sum((self.made - recorded).values())
        if missing:
            self.fault(f"{missing} of {sum(self.made.values())} connections are no record")
        for what, query in [
                ("connections", "SELECT count(*) FROM connection WHERE outcome IN ('open', '')"),
                ("exchanges", "SELECT count(*) FROM exchange WHERE duration_us IS NULL")]:
            left = database.execute(query).fetchone()[0]
            if left:
                self.fault(f"{left} {what} have no end")
        for command in (["check"], ["export", "--format", "har", "--output", str(self.folder / "x")]):
            if self.options.around:
                continue
            result = subprocess.run(
                self.options.tool + command[:1] + [str(self.folder / "fuzz.sallyport")] + command[1:],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                env=dict(os.environ, SWIFT_BACKTRACE="enable=no"))
            if result.returncode not in (0, 1, 3):
                self.fault(f"{command[0]} of the capture ended with {result.returncode}")

    def make_certificate(self):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-keyout", self.folder / "key.pem", "-out", self.folder / "certificate.pem",
             "-days", "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
            check=True, capture_output=True)
        (self.folder / "origin.pem").write_bytes(
            (self.folder / "key.pem").read_bytes() + (self.folder / "certificate.pem").read_bytes())

    def finish(self):
        """Ends the proxy, which has to do so in order, and looks at what it recorded."""
        if self.proxy.poll() is None:
            self.proxy.send_signal(signal.SIGINT)
            try:
                code = self.proxy.wait(30)
                if code not in (0, 3):
                    self.fault(f"the proxy ended with {code}")
            except subprocess.TimeoutExpired:
                self.fault("the proxy does not end")
                self.proxy.kill()
                self.proxy.wait()
            else:
                self.check_capture()

    def run(self):
        self.make_certificate()
        origins = {"plain": self.listen(False), "tls": self.listen(True)}
        ports = self.start(origins)
        threads = [threading.Thread(target=self.attack, args=(ports, origins))
                   for _ in range(CLIENTS)]
        prober = threading.Thread(target=self.probe, args=(ports["explicit"],))
        for thread in threads + [prober]:
            thread.start()
        self.watch(self.options.seconds)
        for thread in threads + [prober]:
            thread.join(30)
        self.come_to_rest()
        self.finish()


def prober(port, process):
    """Asks a good origin every 50 ms and prints how long it took, without waits for a CPU and with
    them."""
    origin = socket.create_server(("127.0.0.1", 0), backlog=128)
    target = "127.0.0.1:%d" % origin.getsockname()[1]

    def serve():
        while True:
            connection, _ = origin.accept()
            with connection:
                connection.settimeout(5)
                try:
                    asked = connection.recv(65536)
                    if asked:
                        # The client looks for its own request in here, and for nothing else.
                        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n"
                                           b"Connection: close\r\n\r\n%s" % (len(asked), asked))
                except OSError:
                    pass

    def waits():
        """How long each thread stood in line for a CPU, in nanoseconds."""
        found = {}
        for pid in (process, os.getpid()):
            try:
                for task in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{task}/schedstat") as file:
                        found[pid, task] = int(file.read().split()[1])
            except OSError:
                pass
        return found

    def waited(before):
        """What a request stood in line since, in seconds: with one loop of the proxy, whatever its
        other threads wait for meanwhile, and with each thread of this process in turn."""
        grown = {key: value - before.get(key, 0) for key, value in waits().items()}
        own = sum(value for (pid, _), value in grown.items() if pid != process)
        return (own + max((value for (pid, _), value in grown.items() if pid == process),
                          default=0)) / 1e9

    for _ in range(4):
        threading.Thread(target=serve, daemon=True).start()
    number = 0
    while not select.select([sys.stdin], [], [], 0.05)[0]:
        number += 1
        before, start = waits(), time.monotonic()
        address = "-"
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                address = "%s:%d" % connection.getsockname()
                connection.sendall(
                    f"GET http://{target}/{number} HTTP/1.1\r\nHost: {target}\r\n"
                    "Connection: close\r\n\r\n".encode())
                answer = b""
                while more := connection.recv(65536):
                    answer += more
            took = time.monotonic() - start
            expected = f"GET /{number} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode()
            is_own = answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"\r\n\r\n" + expected)
            kind = "ok" if is_own else repr(answer[:300]).replace(" ", "_")
            print(kind, max(0, took - waited(before)), address, took, flush=True)
        except OSError as error:
            print(type(error).__name__, 0, address, 0, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", type=lambda text: text.split(","))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--connections", type=int, default=1 << 60)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--around", action="store_true", help="leave out what is known to break")
    parser.add_argument("--keep", metavar="FOLDER", help="leave the capture there")
    parser.add_argument("--prober", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prober:
        return prober(*map(int, options.prober.split(",")))
    with contextlib.ExitStack() as stack:
        folder = options.keep or stack.enter_context(
            tempfile.TemporaryDirectory(prefix="sallyport-fuzz-"))
        run = Run(options, pathlib.Path(folder))
        try:
            run.run()
        finally:
            if getattr(run, "proxy", None) and run.proxy.poll() is None:
                run.proxy.kill()
        waits = sorted(run.latencies) or [0]
        print(json.dumps({
            "connections": sum(run.made.values()), "origin_connections": run.served,
            "probes": len(run.latencies), "p99_ms": round(1000 * waits[len(waits) * 99 // 100], 1),
            "max_ms": round(1000 * waits[-1], 1), "peak_mib": run.peak >> 20,
            "faults": run.faults[:10], "seed": options.seed,
        }))
        if run.faults:
            print("last scripts, the newest at the end:", file=sys.stderr)
            for side, number, steps in list(run.history):
                print(f"  {side} {number}: {str(steps)[:2000]}", file=sys.stderr)
            run.log.flush()
            print((pathlib.Path(folder) / "proxy.log").read_text(errors="replace")[-3000:],
                  file=sys.stderr)
            sys.stderr.flush()
            os._exit(1)
        sys.stdout.flush()
        os._exit(0)


if __name__ == "__main__":
    main()
