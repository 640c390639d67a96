"""Runs other projects' test suites plain and captured, and compares them. See compare-suites."""

import argparse
import ast
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = pathlib.Path(__file__).parent / "suites"
BUILD = pathlib.Path(".build/suites").absolute()
VENV = pathlib.Path(".build/suites-venv").absolute()
# In seconds, of one test and of one suite. Captured, a test may hang that does not hang plain.
TEST_LIMIT, SUITE_LIMIT = 60, 3600


class Trouble(Exception):
    """Why suites could not be compared."""


class Suite:
    """A suite as its file describes it: its version, its tests, and those that may differ."""

    def __init__(self, path, is_slice):
        facts = json.loads(path.read_text())
        self.name = path.stem
        self.requirement = facts["requirement"]
        self.tests = facts["slice"] if is_slice else facts["tests"]
        self.options = facts.get("options", [])
        self.authority = facts.get("authority")
        self.different = facts["different"]

    def prepare(self, sallyport):
        """Gets the source of the version that is installed, and the CA for both legs."""
        name, version = self.requirement.split("==")
        self.source = BUILD / f"{name}-{version}"
        if not self.source.exists():
            self.download(name)
        self.folder = BUILD / f"authority-{self.name}"
        self.folder.mkdir(exist_ok=True)
        if self.authority:
            files = {own: self.source / theirs for own, theirs in self.authority.items()}
        else:
            variables = dict(os.environ, XDG_STATE_HOME=str(BUILD / "state"))
            text = subprocess.run(
                [sallyport, "ca", "show", "--json"], env=variables, check=True, capture_output=True
            ).stdout
            facts = json.loads(text)
            files = {"ca.pem": facts["certificate"], "ca.key": facts["key"]}
        for name, path in files.items():
            shutil.copyfile(path, self.folder / name)
            (self.folder / name).chmod(0o600)

    def download(self, name):
        say(f"{self.name}: downloading the source of {self.requirement}")
        with tempfile.TemporaryDirectory() as folder:
            words = [VENV / "bin/pip", "download", "--quiet", "--no-deps", "--no-binary", name]
            subprocess.run([*words, "--dest", folder, self.requirement], check=True)
            (archive,) = pathlib.Path(folder).glob("*.tar.gz")
            with tarfile.open(archive) as files:
                files.extractall(folder, filter="data")
            (unpacked,) = (path for path in pathlib.Path(folder).iterdir() if path.is_dir())
            shutil.move(unpacked, self.source)


class Run:
    """One run of a suite, or of some of its tests."""

    def __init__(self, suite, title, options, tests=None):
        self.title = title
        self.path = options.keep / f"{suite.name}-{title}"
        self.outcomes_path = self.path.with_suffix(".outcomes")
        tests = suite.tests if tests is None else tests
        words = [str(VENV / "bin/python"), "-B", "-m", "pytest", "-p", "suite_plugin"]
        words += ["-p", "no:cacheprovider", "--timeout", str(TEST_LIMIT), *suite.options, *tests]
        if title != "plain" and title != "plain-again":
            words = self.captured(suite, options) + words
        # A suite that crashes, as pyOpenSSL does now and then in threads, says nothing of the rest.
        for attempt in range(3):
            self.outcomes_path.write_text("")
            self.run(suite, words)
            if self.read():
                break
            say(f"{suite.name}, {title}: ended early with code {self.code}")

    def captured(self, suite, options):
        capture = self.path.with_suffix(".sallyport")
        for ending in ("", "-wal", "-shm"):
            capture.with_name(capture.name + ending).unlink(missing_ok=True)
        authority = [str(suite.folder / "ca.pem"), str(suite.folder / "ca.key")]
        return [
            options.sallyport, "run", "--capture-all", "--insecure-origin", "--heal-after", "0",
            "--ca-file", authority[0], "--ca-key", authority[1], "--origin-ca", authority[0],
            "--capture", str(capture), "--",
        ]

    def run(self, suite, words):
        variables = {
            name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")
        }
        variables |= {
            "SUITE_OUTCOMES": str(self.outcomes_path), "SUITE_AUTHORITY": str(suite.folder),
            "PYTHONPATH": str(HERE.absolute()), "PYTHONDONTWRITEBYTECODE": "1",
            "XDG_STATE_HOME": str(BUILD / "state"),
        }
        started = time.monotonic()
        with open(self.path.with_suffix(".log"), "wb") as log:
            process = subprocess.Popen(
                words, cwd=suite.source, env=variables, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, start_new_session=True)
            try:
                while process.poll() is None:
                    if time.monotonic() - started > SUITE_LIMIT:
                        raise Trouble(f"{suite.name}, {self.title}: goes on for {SUITE_LIMIT} s")
                    show(f"{suite.name}, {self.title}: {self.progress()}")
                    time.sleep(0.2)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGTERM)
                    time.sleep(2)
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        self.seconds = time.monotonic() - started
        self.code = process.returncode
        show("")

    def progress(self):
        lines = self.outcomes_path.read_text().splitlines()
        total = [line.split("\t")[1] for line in lines if line.startswith("count\t")]
        return f"{len(lines) - len(total)} of {total[-1] if total else '?'}"

    def read(self):
        """Tells whether every test came to an end."""
        self.outcomes, total = {}, 0
        for line in self.outcomes_path.read_text().splitlines():
            outcome, _, text = line.partition("\t")
            if outcome == "count":
                total = int(text)
            else:
                self.outcomes[ast.literal_eval(text)] = outcome
        if not self.outcomes:
            raise Trouble(f"{self.title}: no test ran; see {self.path.with_suffix('.log')}")
        return len(self.outcomes) == total


class Comparison:
    """What differs of a suite."""

    def __init__(self, suite, options):
        self.suite = suite
        plain = Run(suite, "plain", options)
        captured = Run(suite, "captured", options)
        self.seconds = (plain.seconds, captured.seconds)
        self.plain, self.captured = plain.outcomes, captured.outcomes
        found = {
            name for name in self.plain.keys() | self.captured.keys()
            if self.plain.get(name) != self.captured.get(name)
        }
        self.listed = {name for name in found if self.reason(name)}
        self.different = sorted(found - self.listed)
        self.flaky, self.unsteady = [], []
        if self.different:
            self.look_again(options)
        self.same_now = [
            name for name in suite.different
            if any(fits(name, test) for test in self.plain)
            and not any(fits(name, test) for test in self.listed)
        ]

    def reason(self, test):
        return next(
            (reason for name, reason in self.suite.different.items() if fits(name, test)), None)

    def look_again(self, options):
        """Tells apart what differs from run to run: plain (flaky) or captured (unsteady)."""
        known = [name for name in self.different if name in self.plain]
        if not known:
            return
        plain = Run(self.suite, "plain-again", options, known).outcomes
        captured = Run(self.suite, "captured-again", options, known).outcomes
        # What fails here anyhow cannot break.
        self.flaky = [
            name for name in known
            if self.plain[name] == "failed" or plain.get(name) != self.plain[name]
        ]
        self.unsteady = [
            name for name in known
            if name not in self.flaky and captured.get(name) == self.plain[name]
        ]
        self.different = [
            name for name in self.different if name not in self.flaky + self.unsteady
        ]

    def row(self):
        left_out = len(self.flaky) + len(self.unsteady) + len(self.listed) + len(self.different)
        total = len(self.plain.keys() | self.captured.keys())
        return [
            self.suite.name, total, total - left_out, len(self.different), len(self.listed),
            len(self.unsteady), len(self.flaky), f"{self.seconds[0]:.0f} s",
            f"{self.seconds[1]:.0f} s",
        ]

    def tell(self):
        for name in self.different:
            was, is_now = self.plain.get(name, "missing"), self.captured.get(name, "missing")
            print(f"{self.suite.name}: different: {name}: plain {was}, captured {is_now}")
        for name in self.unsteady:
            print(f"{self.suite.name}: once different, once the same: {name}")
        for name in self.same_now:
            print(f"{self.suite.name}: listed and the same, take it off the list: {name}")


def fits(name, test):
    """Whether a name of the list, which may end with a star, means a test."""
    return test.startswith(name[:-1]) if name.endswith("*") else test == name


def say(text):
    print(f"==> {text}", file=sys.stderr, flush=True)


def show(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:100]}", end="", file=sys.stderr, flush=True)


def table(rows):
    head = ["suite", "tests", "same", "different", "listed", "unsteady", "flaky", "plain", "captured"]
    widths = [max(len(str(row[column])) for row in [head, *rows]) for column in range(len(head))]
    for row in [head, *rows]:
        cells = [str(cell).rjust(width) for cell, width in zip(row, widths)]
        print("  ".join([cells[0].strip().ljust(widths[0]), *cells[1:]]))


def main():
    names = sorted(path.stem for path in HERE.glob("*.json"))
    parser = argparse.ArgumentParser(
        prog="Scripts/compare-suites",
        description="Compares other projects' test suites, plain and captured, test by test.")
    parser.add_argument(
        "--suite", action="append", choices=names, help="this suite alone (repeatable)")
    parser.add_argument("--slice", action="store_true", help="a part of each suite")
    parser.add_argument(
        "--keep", type=pathlib.Path, metavar="FOLDER", help="for captures, logs and outcomes")
    parser.add_argument("--sallyport", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    # So that the suite that runs is ended as well.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    options.sallyport = os.path.abspath(options.sallyport)
    options.keep = (options.keep or BUILD / "runs").absolute()
    BUILD.mkdir(parents=True, exist_ok=True)
    options.keep.mkdir(parents=True, exist_ok=True)
    comparisons = []
    try:
        for name in options.suite or names:
            suite = Suite(HERE / f"{name}.json", options.slice)
            if not suite.tests and options.slice:
                continue
            suite.prepare(options.sallyport)
            comparisons.append(Comparison(suite, options))
            say(" ".join(map(str, comparisons[-1].row()[:4])) + " (suite, tests, same, different)")
    except (Trouble, subprocess.CalledProcessError, OSError) as trouble:
        print(f"error: {trouble}", file=sys.stderr)
        return 4
    table([comparison.row() for comparison in comparisons])
    for comparison in comparisons:
        comparison.tell()
    return 1 if any(comparison.different for comparison in comparisons) else 0


if __name__ == "__main__":
    sys.exit(main())
