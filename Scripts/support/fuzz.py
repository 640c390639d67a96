"""Runs the readers of sallyport-fuzz one after another, and then the whole proxy."""

import argparse
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
KEPT = pathlib.Path(".build/fuzz-crashes")
CORPUS = pathlib.Path(".build/fuzz-corpus")
# A reader that breaks a rule so often is left alone.
CRASH_LIMIT = 5
# Of the time, what the whole proxy gets beside the readers.
PROXY_SHARE = 0.3


class Reader:
    def __init__(self, name, options):
        self.name = name
        self.options = options
        self.executions = 0
        self.seconds = 0.0
        self.crashes = []
        self.hangs = 0
        self.memory = 0
        self.folder = CORPUS / name
        self.corpus = 0
        # Whether it ended by itself before it had done what was asked: then nothing was shown.
        self.is_short = False

    def run(self, executions, seconds, tell):
        self.folder.mkdir(parents=True, exist_ok=True)
        seed = self.options.seed
        started = time.monotonic()
        while self.executions < executions and len(self.crashes) < CRASH_LIMIT:
            left = seconds - (time.monotonic() - started) if seconds else 0
            if seconds and left < 1:
                break
            if not self.step(executions - self.executions, left, seed, tell):
                waited = time.monotonic() - started
                self.is_short = self.executions < executions and (
                    not seconds or waited < seconds - 2)
                break
            seed += 1
        self.seconds = time.monotonic() - started
        self.corpus = len(list((self.folder / "corpus").glob("*")))

    def step(self, executions, seconds, seed, tell):
        """Runs a process; tells whether it ended early, so that another may go on."""
        command = [self.options.program, "--reader", self.name, "--folder", str(self.folder),
                   "--executions", str(executions), "--seconds", str(int(seconds)),
                   "--seed", str(seed)]
        environment = dict(
            os.environ, SWIFT_BACKTRACE="enable=no",
            ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1")
        tail, count = [], 0
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
            text=True, errors="replace")
        for line in process.stdout:
            tail = (tail + [line.rstrip()])[-80:]
            found = re.match(r"#(\d+)\s|stat::number_of_executed_units:\s+(\d+)", line)
            if found:
                count = max(count, int(found[1] or found[2]))
                tell(self, self.executions + count)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.memory = max(self.memory, usage.ru_maxrss >> 10)
        self.executions += max(count, 1)
        if process.returncode == 0:
            return False
        self.keep(process.returncode, tail)
        return True

    def keep(self, code, tail):
        """Keeps the input that broke a rule, and says how to see it again."""
        inputs = [path for path in self.folder.iterdir()
                  if re.match(r"(crash|timeout|oom|slow-unit|leak)-", path.name)]
        current = self.folder / "current"
        if not inputs and current.exists():
            content = current.read_bytes()
            length = int.from_bytes(content[:8], "little")
            inputs = [self.folder / "crash-current"]
            inputs[0].write_bytes(content[8:8 + length])
        said = [line for line in tail
                if re.search(r"oracle:|Fatal error|error:|hang:|^(- |  \S)|^SUMMARY: Addr", line)
                and not re.match(r"\s+#", line)]
        if any("hang:" in line for line in said) or any("timeout-" in p.name for p in inputs):
            self.hangs += 1
        KEPT.mkdir(parents=True, exist_ok=True)
        kept = []
        for path in inputs:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
            target = KEPT / f"{self.name}-{digest}"
            shutil.move(path, target)
            kept.append(target)
        # The first line of the product that stood on the stack: what trapped.
        place = next((found[1] for found in (re.search(r"/Sources/(?!Tool/Fuzzing|Tool/sallyport-fuzz)(\S+\.swift:\d+)", line)
                                             for line in tail if re.match(r"\s+#\d+ ", line))
                      if found), None)
        if place:
            said.append(f"at Sources/{place}")
        self.crashes.append((code, said))
        print(f"\n{self.name}: ended with {code} after {self.executions} executions",
              file=sys.stderr)
        for line in said[:12]:
            print(f"    {line[:300]}", file=sys.stderr)
        for path in kept:
            print(f"    Scripts/fuzz --reader {self.name} --input {path}", file=sys.stderr)
        if not kept:
            print("\n".join(f"    {line[:300]}" for line in tail[-10:]), file=sys.stderr)


def progress(done, total):
    """A bar on a terminal: the share of the readers, with the one that runs."""
    if not sys.stderr.isatty():
        return lambda reader, count: None

    def tell(reader, count):
        width = 30
        filled = width * done() // max(1, total)
        print(f"\r\033[K[{'#' * filled}{'.' * (width - filled)}] {reader.name} {count:,}",
              end="", file=sys.stderr, flush=True)

    return tell


def table(readers):
    rows = [("reader", "executions", "a second", "inputs", "crashes", "hangs", "peak MiB")]
    for reader in readers:
        speed = reader.executions / reader.seconds if reader.seconds else 0
        rows.append((reader.name, f"{reader.executions:,}", f"{speed:,.0f}", str(reader.corpus),
                     str(len(reader.crashes)), str(reader.hangs), str(reader.memory)))
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(cells))


def whole_proxy(options, seconds):
    command = [sys.executable, "-B", str(HERE / "fuzz_proxy.py"), "--tool",
               f"{options.program},tool", "--seconds", str(seconds), "--seed", str(options.seed)]
    if options.around:
        command.append("--around")
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    line = result.stdout.strip().split("\n")[-1]
    try:
        figures = json.loads(line)
    except json.JSONDecodeError:
        print(f"proxy: ended with {result.returncode} and no figures")
        return False
    faults = figures.pop("faults")
    print("whole proxy: " + ", ".join(f"{key} {value}" for key, value in figures.items()))
    for fault in faults:
        print(f"whole proxy: {fault}")
    return result.returncode == 0


def main():
    parser = argparse.ArgumentParser(
        prog="Scripts/fuzz", description="Feeds readers and the whole proxy with hostile bytes.",
        epilog="SALLYPORT_FUZZ_ADDRESS=1 builds with the address sanitizer, SALLYPORT_FUZZ_BLIND=1 "
        "without coverage. Inputs that broke a rule are kept in .build/fuzz-crashes.")
    parser.add_argument("--program", help=argparse.SUPPRESS)
    parser.add_argument("--list", action="store_true", help="list the readers")
    parser.add_argument("--reader", action="append", metavar="NAME", help="this one (repeatable)")
    parser.add_argument("--proxy", action="store_true", help="the whole proxy alone")
    parser.add_argument("--floods", action="store_true",
                        help="floods, one after another, and how long another client waits")
    parser.add_argument("--executions", type=int, metavar="N", help="of each reader")
    parser.add_argument("--seconds", type=float, metavar="N",
                        help="for all together, readers and proxy (300, without --executions);"
                        " for each flood (6)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="for all changes (1)")
    parser.add_argument("--input", metavar="FILE", help="run this input once and show what is read")
    parser.add_argument("--around", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = subprocess.run([options.program, "--list"], check=True, capture_output=True,
                           text=True).stdout.split()
    if options.list:
        print("\n".join(names))
        return 0
    for name in options.reader or []:
        if name not in names:
            print(f"error: there is no reader {name}\nhint: Scripts/fuzz --list", file=sys.stderr)
            return 4
    if options.input:
        name = (options.reader or [None])[0]
        if not name:
            print("error: --input needs --reader NAME", file=sys.stderr)
            return 4
        return abs(subprocess.run(
            [options.program, "--reader", name, "--input", options.input]).returncode)
    if options.floods:
        return subprocess.run(
            [sys.executable, "-B", str(HERE / "floods.py"), "--tool", f"{options.program},tool"]
            + (["--seconds", str(options.seconds)] if options.seconds else [])).returncode
    # What breaks a rule leaves its input; a core of it would only fill the disk.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seconds = options.seconds or (0 if options.executions else 300)
    with_proxy = options.proxy or not options.reader
    chosen = [] if options.proxy else [Reader(n, options) for n in options.reader or names]
    proxy_seconds = (seconds or 300) * (1 if not chosen else PROXY_SHARE)
    each = seconds * (1 - PROXY_SHARE if with_proxy else 1) / max(1, len(chosen))
    done = 0
    tell = progress(lambda: done, len(chosen))
    for reader in chosen:
        reader.run(options.executions or 1 << 60, each, tell)
        done += 1
    if chosen:
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)
        table(chosen)
    for reader in chosen:
        if reader.is_short:
            print(f"{reader.name}: ended by itself after {reader.executions} executions, which is"
                  " fewer than were asked for")
    sound = all(not reader.crashes and not reader.is_short for reader in chosen)
    if with_proxy:
        sound = whole_proxy(options, proxy_seconds) and sound
    return 0 if sound else 1


sys.exit(main())
