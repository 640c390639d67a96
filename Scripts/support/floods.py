"""Floods a proxy of one event loop, in one way after another, and asks a well-behaved client beside
the flood how long it waits.

The client must be served within 250 ms, the proxy must live within its memory, end in order, and
record every connection with its end. Prints a row for each flood, from one and from four
connections at once; ends with 1 if a rule was broken.

The waits are in milliseconds and without the time that a thread of the proxy or of the client stood
in line for a CPU; `clocked` is the longest with it. What was sent counts what the kernel still held
when the connection was ended, some MiB each time.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import select
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import flood_scripts
import fuzz_proxy
from fuzz_scripts import PREFACE

# Before the flood and after it: those that come last stand behind what was left of it.
PROBES = 3
PROBES_LIMIT = 25  # seconds
COLUMNS = [("flood", 34), ("connections", 11), ("MiB sent", 9), ("count", 11), ("ended", 7),
           ("probes", 6), ("median", 7), ("p99", 7), ("longest", 7), ("clocked", 7),
           ("peak MiB", 8)]


class Tally:
    """What one flooder got through, and how often it was ended."""

    def __init__(self):
        self.bytes = 0
        self.count = 0
        self.ended = 0


def drain(connection):
    """Drops what has come; false at the end."""
    try:
        for _ in range(8):
            if not connection.recv(1 << 16):
                return False
    except (BlockingIOError, ssl.SSLWantReadError):
        pass
    return True


def pump(connection, pieces, tally, is_over):
    """Sends the pieces, and drops what comes, until it is over; tells whether the peer ended it."""
    connection.setblocking(False)
    left, count = b"", 0
    while not is_over():
        readable, writable, _ = select.select(
            [connection], [connection] if pieces else [], [], 0.05)
        try:
            if readable and not drain(connection):
                return True
            if not writable:
                continue
            if not left:
                tally.count += count
                piece, count = next(pieces)
                left = memoryview(piece)
            sent = connection.send(left)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            continue
        except OSError:
            return True
        tally.bytes += sent
        left = left[sent:]
    return False


def has_asked(data, is_http2):
    """Whether the head of a request has come whole."""
    if not is_http2:
        return b"\r\n\r\n" in data
    place = len(PREFACE)
    while place + 9 <= len(data):
        if data[place + 3] == 1:
            return True
        place += 9 + int.from_bytes(data[place:place + 3], "big")
    return False


class Flooder(threading.Thread):
    """One connection to the proxy at a time, or its origin, that floods."""

    def __init__(self, run, number):
        super().__init__(daemon=True)
        self.of = run
        self.flood = run.flood
        self.tally = Tally()
        # The ports of this address are no others' to want.
        self.address = (f"127.0.0.{2 + number}", 0)
        self.origin = run.listen(run.flood.way == "connect")
        self.is_turned = threading.Event()

    def run(self):
        while not self.is_over():
            try:
                if self.flood.peer == "connections":
                    self.connect_on()
                else:
                    self.play()
            except (OSError, ValueError):
                self.tally.ended += self.flood.peer != "origin"

    def is_over(self):
        return self.of.is_over.is_set()

    def is_turn_over(self):
        return self.is_turned.is_set() or self.is_over()

    def connect(self):
        connection = socket.create_connection(
            ("127.0.0.1", self.of.ports["explicit"]), timeout=5, source_address=self.address)
        with self.of.lock:
            self.of.made["%s:%d" % connection.getsockname()] += 1
        return connection

    def connect_on(self):
        """Makes connections that ask for nothing, as fast as it can."""
        held = collections.deque()
        try:
            while not self.is_over():
                held.append(self.connect())
                if self.flood.way == "tls":
                    held[-1] = fuzz_proxy.client_context(()).wrap_socket(
                        held[-1], server_hostname="localhost")
                said = self.flood.opening(b"")
                if said:
                    held[-1].sendall(said)
                self.tally.count += 1
                self.tally.bytes += len(said)
                if len(held) > self.flood.held:
                    held.popleft().close()
        finally:
            for connection in held:
                connection.close()

    def play(self):
        """A connection until it is ended, or its origin's is."""
        self.is_turned.clear()
        connection = self.connect()
        authority = b"%s:%d" % self.origin
        updates = None
        try:
            if self.flood.way == "connect":
                connection = self.tunnel(connection, authority)
            pieces = self.flood.peer == "client" and self.flood.pieces(authority)
            if self.flood.way == "updates":
                updates = flood_scripts.KeyUpdates(connection)
                pieces = updates.pieces()
            connection.sendall(self.flood.opening(authority))
            if self.flood.answer == flood_scripts.UPGRADED and self.flood.peer == "client":
                connection.recv(1 << 16)
            ended = pump(connection, pieces, self.tally, self.is_turn_over)
            self.tally.ended += ended and self.flood.peer == "client"
        finally:
            if updates:
                updates.free()
            connection.close()

    def tunnel(self, connection, authority):
        connection.sendall(b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (authority, authority))
        if b" 200 " not in connection.recv(1 << 16):
            raise OSError("no tunnel")
        return fuzz_proxy.client_context(("h2",)).wrap_socket(
            connection, server_hostname="localhost")

    def serve(self, connection):
        """Plays the origin: it floods, or answers each request and drops what comes."""
        if self.flood.peer != "origin":
            while data := connection.recv(1 << 18):
                if self.flood.answer:
                    connection.sendall(self.flood.answer * data.count(b"\r\n\r\n"))
            return
        asked = b""
        while not has_asked(asked, self.flood.way == "connect"):
            if not (more := connection.recv(1 << 16)):
                return
            asked += more
        connection.sendall(self.flood.answer)
        pieces = self.flood.pieces(b"%s:%d" % self.origin)
        self.tally.ended += pump(connection, pieces, self.tally, self.is_over)
        self.is_turned.set()


class FloodRun(fuzz_proxy.Run):
    """One flood against a proxy of its own."""

    def __init__(self, options, folder, flood, connections):
        super().__init__(options, folder)
        self.flood = flood
        self.is_over = threading.Event()
        self.make_certificate()
        self.flooders = [Flooder(self, number) for number in range(connections)]

    def fault(self, what):
        """The flood goes on: what else it does is told as well."""
        with self.lock:
            self.faults.append(what)

    def answer(self, connection, context, number):
        port = connection.getsockname()[1]
        try:
            connection.settimeout(5)
            if context:
                connection = context.wrap_socket(connection, server_side=True)
            next(each for each in self.flooders if each.origin[1] == port).serve(connection)
        except (OSError, ValueError):
            pass
        finally:
            connection.close()

    def watch(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.ended.wait(0.05):
            if not self.is_well():
                return

    def await_probes(self):
        """Until the client beside the flood has been served a few times more."""
        wanted = len(self.latencies) + PROBES
        end = time.monotonic() + PROBES_LIMIT
        while len(self.latencies) < wanted and time.monotonic() < end:
            if self.proxy.poll() is not None:
                return
            time.sleep(0.01)
        if len(self.latencies) < wanted:
            self.fault("another client waits without end")

    def run(self):
        origin = self.flooders[0].origin
        self.ports = self.start({"plain": origin, "tls": origin})
        prober = threading.Thread(target=self.probe, args=(self.ports["explicit"],))
        prober.start()
        self.await_probes()
        flooders = self.flooders if self.flood.peer != "none" else []
        for thread in flooders:
            thread.start()
        self.watch(self.options.seconds)
        self.is_over.set()
        for thread in flooders:
            thread.join(10)
        self.await_probes()
        self.ended.set()
        if flooders and not any(each.tally.bytes or each.tally.count for each in flooders):
            self.fault("the flood sent nothing")
        prober.join(30)
        self.finish()

    def figures(self):
        waits = [1000 * value for value in sorted(self.latencies) or [0]]
        tallies = [each.tally for each in self.flooders]
        return {
            "MiB sent": round(sum(each.bytes for each in tallies) / (1 << 20), 1),
            "count": sum(each.count for each in tallies),
            "ended": sum(each.ended for each in tallies), "probes": len(self.latencies),
            "median": round(waits[len(waits) // 2], 1),
            "p99": round(waits[len(waits) * 99 // 100], 1), "longest": round(waits[-1], 1),
            "clocked": round(1000 * max(self.clocked, default=0), 1),
            "peak MiB": self.peak >> 20, "faults": self.faults,
        }


def play_one(options, flood, connections):
    """One row, in a process of its own, which leaves nothing behind for the next."""
    with tempfile.TemporaryDirectory(prefix="sallyport-floods-") as folder:
        run = FloodRun(options, pathlib.Path(folder), flood, connections)
        try:
            run.run()
        finally:
            run.is_over.set()
            run.ended.set()
            if getattr(run, "proxy", None) and run.proxy.poll() is None:
                run.proxy.kill()
        run.log.flush()
        log = (pathlib.Path(folder) / "proxy.log").read_text(errors="replace")
        if run.faults and log:
            print(log[-2000:], file=sys.stderr, flush=True)
    print(json.dumps(run.figures()), flush=True)
    os._exit(0)


def told(flood):
    return flood.name if flood.peer in ("none", "connections") else (
        f"{flood.name} ({flood.peer})")


def row(cells):
    """The first cell stands left, all others right."""
    print("  ".join(
        str(cell).ljust(width) if not index else str(cell).rjust(width)
        for index, (cell, (_, width)) in enumerate(zip(cells, COLUMNS))), flush=True)


def play_all(options):
    row([name for name, _ in COLUMNS])
    is_sound = True
    for index, flood in enumerate(flood_scripts.FLOODS):
        if not re.search(options.only, told(flood)):
            continue
        for connections in [1] if flood.peer == "none" else options.connections:
            result = subprocess.run(
                [sys.executable, "-B", __file__, "--tool", ",".join(options.tool), "--seconds",
                 str(options.seconds), "--one", f"{index},{connections}"],
                stdout=subprocess.PIPE, text=True)
            try:
                figures = json.loads(result.stdout)
            except ValueError:
                figures = {"faults": [f"no figures: it ended with {result.returncode}"]}
            row([told(flood), connections] + [
                f"{figures[name]:,}" if name in figures else "-" for name, _ in COLUMNS[2:]])
            faults = figures["faults"]
            for fault in faults[:5]:
                print(f"    rule broken: {fault}", flush=True)
            if len(faults) > 5:
                print(f"    and {len(faults) - 5} more", flush=True)
            is_sound = is_sound and not faults
    return is_sound


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", type=lambda text: text.split(","), required=True,
                        help="the command of the tool, with commas between its words")
    parser.add_argument("--seconds", type=float, default=6, help="for each flood (6)")
    parser.add_argument("--only", default="", metavar="REGEX", help="these floods")
    parser.add_argument("--connections", default=[1, 4], metavar="N,N",
                        type=lambda text: [int(word) for word in text.split(",")],
                        help="from so many at once (1,4)")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    # What `fuzz_proxy.Run` asks for: one loop, and no commands that read what was recorded.
    parser.set_defaults(threads=1, around=True)
    options = parser.parse_args()
    if options.one:
        index, connections = map(int, options.one.split(","))
        return play_one(options, flood_scripts.FLOODS[index], connections)
    sys.exit(0 if play_all(options) else 1)


if __name__ == "__main__":
    main()
