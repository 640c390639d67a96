"""Ends the tool by signals at random times, and looks at what is left. See random-ends."""

import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

# What runs under the tool. $1 is a file that tells that it has begun.
COMMANDS = {
    "sleeps": 'touch "$1"; exec sleep 20',
    "is short": 'touch "$1"; exec sleep 0.3',
    "is over at once": 'touch "$1"',
    "ends by itself": 'trap "sleep 0.2; exit 7" TERM INT HUP; touch "$1"\n'
    "while :; do sleep 0.05; done",
    "ignores it": 'trap "" TERM INT HUP; touch "$1"; exec sleep 2.5',
    "connects": 'exec "$2" -B "$3" "$1"',
}

# The signals, each after a pause: exactly as `timeout` does, too quickly to be one, and otherwise.
SIGNALS = {
    "one": [("tool", signal.SIGTERM, 0)],
    "timeout": [
        ("tool", signal.SIGTERM, 0),
        ("group", signal.SIGTERM, 0),
        ("tool", signal.SIGCONT, 0),
        ("group", signal.SIGCONT, 0),
    ],
    "two": [("tool", signal.SIGTERM, 0), ("tool", signal.SIGTERM, 0.002)],
    "mixed": [
        ("tool", signal.SIGTERM, 0),
        ("tool", signal.SIGINT, 0.001),
        ("tool", signal.SIGHUP, 0.01),
        ("group", signal.SIGTERM, 0.05),
    ],
    "group": [("group", signal.SIGTERM, 0)],
    "hang-up": [("tool", signal.SIGHUP, 0)],
    "insisting": [("tool", signal.SIGTERM, 0), ("tool", signal.SIGTERM, 1.2)],
}

# After the last signal. Connections have five seconds, and a machine under load is slow.
LIMIT = 30


class End:
    """One end: what is started, when it is signalled, and how."""

    def __init__(self, number, seed, options):
        self.random = random.Random(f"{seed}/{number}")
        self.number = number
        self.options = options
        self.way = self.random.choice(["captured", "captured", "plain", "proxy"])
        self.command = self.random.choice(sorted(COMMANDS))
        self.signals = self.random.choice(sorted(SIGNALS))
        self.moment = self.random.choice(["start-up", "start-up", "work", "end", "verdict"])
        self.problems = []

    @property
    def name(self):
        what = "proxy" if self.way == "proxy" else f"{self.way}, a command that {self.command}"
        return f"{self.number}: {what}; {self.signals} at {self.moment}"

    def run(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="random-ends-"))
        try:
            (self.folder / "tmp").mkdir()
            self.start()
            self.wait_for_moment()
            sent = self.send()
            self.wait_for_end()
            self.judge(sent)
        finally:
            self.remove()
        return self

    def start(self):
        self.begun = self.folder / "begun"
        self.capture = self.folder / "end.sallyport"
        self.errors = self.folder / "errors"
        words = [self.options.sallyport, "proxy" if self.way == "proxy" else "run"]
        words += ["--capture", str(self.capture)]
        if self.way == "captured":
            words.append("--capture-all")
        if self.way == "proxy":
            words += ["--listen", "127.0.0.1:0", "--json"]
        else:
            traffic = pathlib.Path(__file__).with_name("random_ends_traffic.py")
            words += ["--fail-on", "critical", "--", "sh", "-c", COMMANDS[self.command], "sh"]
            words += [str(self.begun), sys.executable, str(traffic)]
        variables = dict(os.environ, TMPDIR=str(self.folder / "tmp"))
        variables["XDG_STATE_HOME"] = str(self.options.state)
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            words,
            env=variables,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=open(self.folder / "output", "wb"),
            stderr=open(self.errors, "wb"),
            start_new_session=True,
        )

    def wait_for_moment(self):
        if self.moment == "start-up":
            time.sleep(self.random.uniform(0, 0.15))
            return
        ready = self.folder / "output" if self.way == "proxy" else self.begun
        self.wait(lambda: ready.exists() and (self.way != "proxy" or ready.stat().st_size))
        if self.way == "proxy":
            self.connect()
        if self.moment == "verdict" and self.command in ("is short", "is over at once"):
            self.wait(lambda: b"sallyport: the command" in self.errors.read_bytes())
        elif self.moment == "end" and self.command == "is short":
            time.sleep(self.random.uniform(0.27, 0.33))
        else:
            time.sleep(self.random.uniform(0, 0.5))

    def wait(self, condition):
        until = time.monotonic() + LIMIT
        while time.monotonic() < until and self.process.poll() is None and not condition():
            time.sleep(0.001)

    def connect(self):
        """Has connections under way: silent ones, half a request, half a ClientHello."""
        text = (self.folder / "output").read_text()
        host, port = json.loads(text.splitlines()[0])["listen"].rsplit(":", 1)
        self.sockets = []
        for start in (b"", b"GET http://127.0.0.1:1/ HTTP/1.1\r\n", b"CONNECT a.test:443 HTTP/1.1"):
            connection = socket.create_connection((host, int(port)))
            connection.sendall(start)
            self.sockets.append(connection)

    def send(self):
        """Tells whether the tool was there for the first of the signals."""
        sent = False
        for target, number, pause in SIGNALS[self.signals]:
            time.sleep(pause)
            # As long as nobody waits for its end, the number is its own.
            if self.process.poll() is not None:
                break
            sent = True
            if target == "tool":
                os.kill(self.process.pid, number)
            else:
                os.killpg(self.process.pid, number)
        return sent

    def wait_for_end(self):
        try:
            self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.problems.append(f"goes on {LIMIT} s after the signal")
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def judge(self, sent):
        code = self.process.returncode
        said = self.errors.read_text(errors="replace")
        self.outcome = f"code {code}"
        if code < 0:
            # Until it has taken the signals over, it ends as any program does, and has done nothing.
            self.outcome = "before it began"
            if self.capture.exists() or self.begun.exists() or said:
                self.problems.append(f"ended by signal {-code} although it had begun")
        elif self.way == "proxy" and self.signals == "insisting" and code == 128 + signal.SIGTERM:
            # As it is told: connections had five seconds to end, and the second signal takes them.
            self.outcome = "at once, as asked"
            return
        elif code not in (0, 1, 3):
            self.problems.append(f"exit code {code}")
        elif self.way != "proxy" and "sallyport: the command " not in said:
            self.problems.append("no verdict")
        elif not sent and code not in (0, 3):
            self.problems.append(f"exit code {code} without a signal")
        self.judge_files()
        self.judge_processes()
        if self.problems:
            self.problems.append(f"said: {said[-1500:]}")

    def judge_files(self):
        left = sorted(path.name for path in (self.folder / "tmp").iterdir())
        if left:
            self.problems.append(f"left {', '.join(left)} among the temporary files")
        if not self.capture.exists():
            return
        for ending in ("-wal", "-shm"):
            if self.capture.with_name(self.capture.name + ending).exists():
                self.problems.append(f"left the capture's {ending}")
        with contextlib.closing(sqlite3.connect(self.capture)) as database:
            try:
                if database.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                    self.problems.append("the capture is damaged")
                query = "SELECT count(*) FROM connection WHERE outcome = 'open'"
                if database.execute(query).fetchone() != (0,):
                    self.problems.append("connections are recorded as open")
            except sqlite3.Error as error:
                self.problems.append(f"the capture cannot be read: {error}")

    def judge_processes(self):
        """Nothing of this end runs: each of its processes names the folder."""
        until = time.monotonic() + 5
        while left := self.processes():
            if time.monotonic() > until:
                self.problems.append(f"left running: {'; '.join(left)}")
                return
            time.sleep(0.02)

    def processes(self):
        mark = str(self.folder).encode()
        found = []
        for path in pathlib.Path("/proc").iterdir():
            if not path.name.isdigit():
                continue
            try:
                words = (path / "cmdline").read_bytes()
                if mark in words or mark in (path / "environ").read_bytes():
                    found.append(f"{path.name} {words.replace(bytes(1), b' ').decode()}")
            except OSError:
                pass
        return found

    def remove(self):
        for connection in getattr(self, "sockets", []):
            connection.close()
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(prog="Scripts/support/random-ends")
    parser.add_argument("--ends", type=int, default=1000, metavar="N", help="how many (1000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of what is random (1)")
    parser.add_argument("--jobs", type=int, default=4, metavar="N", help="at once (4)")
    parser.add_argument("--only", type=int, metavar="N", help="this end alone, of its seed")
    parser.add_argument("--sallyport", required=True, metavar="FILE", help="the tool")
    options = parser.parse_args()
    options.sallyport = os.path.abspath(options.sallyport)
    # Who is started with `nohup` ignores it, and so would the tool, and rightly.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with tempfile.TemporaryDirectory(prefix="random-ends-state-") as state:
        options.state = state
        # The CA is made here, once, and not by whoever comes first.
        subprocess.run(
            [options.sallyport, "ca", "show"],
            env=dict(os.environ, XDG_STATE_HOME=state),
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return end_all(options)


def end_all(options):
    numbers = range(options.ends) if options.only is None else [options.only]
    outcomes, failed, done, lock = {}, [], 0, threading.Lock()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        ends = [pool.submit(End(number, options.seed, options).run) for number in numbers]
        for future in concurrent.futures.as_completed(ends):
            end = future.result()
            with lock:
                done += 1
                outcomes[end.outcome] = outcomes.get(end.outcome, 0) + 1
                if end.problems:
                    failed.append(end)
                    print(f"{end.name}\n    " + "\n    ".join(end.problems), flush=True)
            if sys.stderr.isatty():
                print(f"\r\033[K    {done} of {len(ends)}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    print(f"{done} ends, {len(failed)} not in order ({counted}); seed {options.seed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
