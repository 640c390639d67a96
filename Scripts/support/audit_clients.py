"""Audits the clients of a table and compares what is said of them with what is expected.

Scripts/audit-clients starts it, and says what it is told.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
TABLE = TOP / "Tests/RealClientTests/Clients/audited/clients.table"
PYTHON = TOP / ".build/clients-venv/bin/python"
FIELDS = {
    "needs", "run", "port", "prepare", "verdict", "mistakes", "standard-verdict",
    "standard-mistakes", "slice",
}
# In seconds, for one audit: a client that takes longer is reported, not waited for.
LIMITS = {"quick": 300, "standard": 1800, "full": 3600}


@dataclasses.dataclass
class Row:
    name: str
    fields: dict

    def expected(self, profile):
        """The verdict, and the identifiers of the mistakes."""
        verdict = self.fields.get("verdict", "clean")
        mistakes = self.fields.get("mistakes", "")
        if profile != "quick":
            verdict = self.fields.get("standard-verdict", verdict)
            mistakes = self.fields.get("standard-mistakes", mistakes)
        return verdict, set(mistakes.split())

    @property
    def missing(self):
        """The packages that have to be installed first."""
        return [entry.split(":")[0] for entry in self.fields["needs"].split() if not is_there(entry)]


@dataclasses.dataclass
class Result:
    row: Row
    run: int
    verdict: str
    mistakes: set
    unknown: list
    seconds: float
    note: str = ""

    def agrees(self, profile):
        verdict, mistakes = self.row.expected(profile)
        is_known = not self.unknown or verdict == "inconclusive"
        return self.verdict == verdict and self.mistakes == mistakes and is_known


def read(path):
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            rows.append(Row(line[1:-1], {}))
            continue
        key, colon, value = line.partition(":")
        if not colon or key not in FIELDS or not rows or key in rows[-1].fields:
            sys.exit(f"error: {path}:{number}: expected a field of a row, each once: {line}")
        rows[-1].fields[key] = value.strip()
    for row in rows:
        if not {"needs", "run"} <= row.fields.keys():
            sys.exit(f"error: {path}: [{row.name}] needs 'needs' and 'run'")
    if len({row.name for row in rows}) != len(rows):
        sys.exit(f"error: {path}: two rows have one name")
    return rows


def is_there(entry):
    package, _, command = entry.partition(":")
    if command:
        return shutil.which(command, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is not None
    state = subprocess.run(
        ["dpkg-query", "-W", "-f=${db:Status-Status}", package], capture_output=True, text=True)
    return state.stdout == "installed"


def tool():
    named = os.environ.get("SALLYPORT")
    places = [named] if named else [str(TOP / f".build/{kind}/sallyport") for kind in ("release", "debug")]
    for place in places:
        if os.access(place, os.X_OK):
            return place
    sys.exit("error: there is no sallyport\nhint: swift build --product sallyport, or set SALLYPORT")


class Runner:
    def __init__(self, options):
        self.profile = options.profile
        self.tool = tool()
        self.python = options.python
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sallyport-clients."))
        # The audit's CA and its keys are made once.
        self.variables = dict(os.environ, XDG_STATE_HOME=str(self.folder / "state"))

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def filled(self, text, scratch):
        places = {"{clients}": TABLE.parent, "{scratch}": scratch, "{python}": self.python}
        for place, value in places.items():
            text = text.replace(place, str(value))
        return text

    def audit(self, row, run):
        scratch = pathlib.Path(tempfile.mkdtemp(prefix="row.", dir=self.folder))
        started = time.monotonic()
        try:
            return self.run(row, run, scratch, started)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def run(self, row, run, scratch, started):
        prepare = row.fields.get("prepare")
        if prepare:
            made = subprocess.run(
                ["sh", "-c", self.filled(prepare, scratch)], cwd=scratch, capture_output=True, text=True,
                timeout=300)
            if made.returncode != 0:
                return Result(row, run, "not prepared", set(), [], 0, made.stderr[-400:])
        command = [
            self.tool, "audit", "--json", "--capture", str(scratch / "capture"), "--profile", self.profile,
            "--timeout", "20s", "--port", row.fields.get("port", "443"), "--",
        ] + shlex.split(self.filled(row.fields["run"], scratch))
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            cwd=scratch, env=self.variables, start_new_session=True)
        try:
            output, errors = process.communicate(timeout=LIMITS[self.profile])
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)
            try:
                process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
            return Result(row, run, "too slow", set(), [], time.monotonic() - started)
        seconds = time.monotonic() - started
        try:
            answer = json.loads(output.splitlines()[-1])
        except (IndexError, json.JSONDecodeError):
            return Result(row, run, "no report", set(), [], seconds, errors[-400:])
        unknown = [one["probe"] for one in answer["results"] if one["verdict"] == "inconclusive"]
        mistakes = {one["mistake"] for one in answer["diagnosis"]}
        return Result(row, run, answer["verdict"], mistakes, unknown, seconds)


def text(verdict, mistakes):
    return verdict + (": " + " ".join(sorted(mistakes)) if mistakes else "")


def tell(result, profile, done, count):
    agrees = result.agrees(profile)
    print(f"[{done}/{count}] {'ok      ' if agrees else 'MISMATCH'} {result.row.name}"
          f" ({result.seconds:.1f} s)", flush=True)
    if agrees:
        return
    print(f"    expected  {text(*result.row.expected(profile))}")
    print(f"    actual    {text(result.verdict, result.mistakes)}")
    for label, value in (("unknown", " ".join(result.unknown)), ("said", result.note.strip())):
        if value:
            print(f"    {label:9} {value}")
    sys.stdout.flush()


def close_with_table(results, skipped, profile):
    rows = {}
    for result in results:
        rows.setdefault(result.row.name, []).append(result)
    width = max((len(name) for name in rows), default=0)
    print(f"\n{'client':{width}}  agrees  expected; what differed, if anything did")
    for name in sorted(rows):
        runs = rows[name]
        right = [one for one in runs if one.agrees(profile)]
        others = {text(one.verdict, one.mistakes) for one in runs if one not in right}
        line = f"{name:{width}}  {len(right)}/{len(runs)}     {text(*runs[0].row.expected(profile))}"
        print(line + "".join(f"; {other}" for other in sorted(others)))
    failed = sum(not one.agrees(profile) for one in results)
    print(f"\n{profile}: {len(rows)} clients, {len(results) - failed} of {len(results)} audits as expected"
          + (f", {len(skipped)} clients skipped: {', '.join(skipped)}" if skipped else ""))
    print(f"{len(results) - failed} passed, {failed} failed, {len(skipped)} skipped")
    return failed


def main():
    parser = argparse.ArgumentParser(prog="Scripts/audit-clients")
    parser.add_argument("--profile", choices=list(LIMITS), default="quick")
    parser.add_argument("--only", type=re.compile, default=re.compile(""))
    parser.add_argument("--slice", action="store_true")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--table", type=pathlib.Path, default=TABLE)
    parser.add_argument("--python", type=pathlib.Path, default=PYTHON)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--missing", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    rows = [row for row in read(options.table) if options.only.search(row.name)]
    if options.slice:
        rows = [row for row in rows if row.fields.get("slice") == "yes"]
    if options.missing:
        print("\n".join(sorted({package for row in rows for package in row.missing})))
        return 0
    if options.list:
        for row in rows:
            print(f"{row.name}: {text(*row.expected(options.profile))}")
        return 0
    skipped = [
        row.name for row in rows
        if row.missing or "{python}" in row.fields["run"] and not options.python.exists()
    ]
    work = [(row, run) for run in range(options.runs) for row in rows if row.name not in skipped]
    if not work:
        sys.exit("error: there is no row to run\nhint: --install fetches the clients")
    random.Random(options.seed).shuffle(work)
    runner = Runner(options)
    results = []
    try:
        # The first audit makes the CA and the keys, which two at once would do twice.
        results.append(runner.audit(*work[0]))
        tell(results[0], options.profile, 1, len(work))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            running = [pool.submit(runner.audit, *one) for one in work[1:]]
            for done in concurrent.futures.as_completed(running):
                results.append(done.result())
                tell(results[-1], options.profile, len(results), len(work))
    finally:
        runner.close()
    return 1 if close_with_table(results, skipped, options.profile) else 0


sys.exit(main())
