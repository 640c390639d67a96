"""Compares downloaders against the content server and writes a Markdown table."""

import argparse
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
MEBIBYTE = 1 << 20
# What is downloaded where something is cut or killed, and where the cost is measured.
SMALL, LARGE = 8 * MEBIBYTE, 1 << 30


SCENARIO = """[rule]
name = cut
path = /assets/7/8388608
turn = first
fault = cut:50%:rst

[rule]
name = slow
path = /assets/9/8388608
turn = first
fault = rate:2m
"""


class Client:
    """A downloader: its commands for the battery, and for a URL of the laboratory."""

    def __init__(self, name, words, is_secure=True):
        self.name = name
        self.words = words
        self.is_secure = is_secure

    def origin(self, laboratory):
        return laboratory.secure if self.is_secure else laboratory.plain

    def command(self, laboratory, url, out):
        return [
            word.format(
                url=url, out=out, ca=laboratory.authority, state=laboratory.state,
                name=os.path.basename(out), folder=os.path.dirname(out))
            for word in self.words
        ]

    def battery_command(self, laboratory):
        # The servers of a battery are over http.
        words, skipped = [], False
        for word in self.words:
            if skipped:
                skipped = False
            elif word in ("--ca", "--cacert", "--ca-certificate"):
                skipped = True
            elif not word.startswith("--ca-certificate="):
                words.append(
                    word.replace("{state}", laboratory.state).replace("{name}", "{out}")
                    .replace("{folder}", "/"))
        return words


def clients(sallyport, session):
    found = [Client("sallyport transfer", [
        sallyport, "transfer", "get", "{url}", "--output", "{out}", "--wait", "--replace",
        "--ca", "{ca}", "--folder", "{state}",
    ])]
    if shutil.which("curl"):
        found.append(Client("curl -f -C -", [
            "curl", "-s", "-f", "-C", "-", "--cacert", "{ca}", "-o", "{out}", "{url}"]))
    if shutil.which("wget"):
        found.append(Client("wget -c", [
            "wget", "-q", "-t", "1", "-c", "--ca-certificate={ca}", "-O", "{out}", "{url}"]))
    if shutil.which("aria2c"):
        found.append(Client("aria2c -c", [
            "aria2c", "-q", "-c", "-m", "1", "-d", "{folder}", "-o", "{name}",
            "--ca-certificate={ca}", "{url}"]))
    if session:
        # Over http, since it trusts the CAs of the system alone.
        found.append(Client("URLSession, over http", [session, "{url}", "{out}"], False))
    return found


class Laboratory:
    """A content server with a folder."""

    def __init__(self, sallyport, folder):
        self.sallyport = sallyport
        self.folder = folder
        self.state = os.path.join(folder, "transfers")
        environment = {**os.environ, "XDG_STATE_HOME": os.path.join(folder, "state")}
        self.environment = environment
        scenario = os.path.join(folder, "scenario")
        with open(scenario, "w") as file:
            file.write(SCENARIO)
        self.server = subprocess.Popen(
            [sallyport, "content", "--listen", "127.0.0.1:0", "--tls-listen", "127.0.0.1:0",
             "--scenario", scenario, "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
        ready = json.loads(self.server.stdout.readline())
        self.plain = f"http://{ready['http']}"
        self.secure = f"https://{ready['https']}"
        self.authority = ready["ca"]

    def stop(self):
        subprocess.run(
            [self.sallyport, "transfer", "stop", "--folder", self.state], env=self.environment,
            stderr=subprocess.DEVNULL, check=False)
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(20)

    def fresh(self, name):
        folder = os.path.join(self.folder, name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        return os.path.join(folder, "out")

    def reset(self):
        urllib.request.urlopen(f"{self.plain}/.sallyport/reset", data=b"").close()

    def sent(self):
        """Content bytes that the server has sent for assets since the reset."""
        with urllib.request.urlopen(f"{self.plain}/.sallyport/journal") as answer:
            records = json.load(answer)["requests"]
        return sum(
            record.get("sentBytes") or 0 for record in records if "/assets/" in record["target"])


def digest(path):
    hasher = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(MEBIBYTE):
            hasher.update(piece)
    return hasher.hexdigest()


def expected(laboratory, path):
    with urllib.request.urlopen(f"{laboratory.plain}{path}/sha256") as answer:
        return answer.read().decode().strip()


def is_right(path, wanted):
    return os.path.exists(path) and digest(path) == wanted


# What is compared


def silent(laboratory, client):
    """Cases of the battery that ended wrong in silence, and right."""
    ran = subprocess.run(
        [laboratory.sallyport, "audit", "--battery", "resume", "--json", "--",
         *client.battery_command(laboratory)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=laboratory.environment, check=False)
    counts = json.loads(ran.stdout)["counts"]
    return f"{counts['silent']} of 19", f"{counts['correct']}"


def twice(laboratory, client):
    """Bytes that were fetched twice where the first response broke off in the middle."""
    out = laboratory.fresh("cut")
    laboratory.reset()
    path = f"/assets/7/{SMALL}"
    url = client.origin(laboratory) + path
    for _ in range(2):
        ran = subprocess.run(
            client.command(laboratory, url, out), env=laboratory.environment, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
        if ran.returncode == 0:
            break
    if not is_right(out, expected(laboratory, path)):
        return "never right"
    return f"{max(0, laboratory.sent() - SMALL) / 1024:,.0f} KiB"


def killed(laboratory, client, reboots):
    """Whether a download that was killed in the middle goes on; how much of it is fetched again."""
    out = laboratory.fresh("killed")
    laboratory.reset()
    path = f"/assets/9/{SMALL}"
    url = client.origin(laboratory) + path
    child = subprocess.Popen(
        client.command(laboratory, url, out), env=laboratory.environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # At 2 MiB a second half of it has come.
    time.sleep(2)
    kill_all(laboratory, child)
    if reboots:
        wipe(laboratory)
    ran = subprocess.run(
        client.command(laboratory, url, out), env=laboratory.environment, check=False,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    if ran.returncode or not is_right(out, expected(laboratory, path)):
        return "no"
    again = max(0, laboratory.sent() - SMALL)
    return f"yes, {again / 1024:,.0f} KiB again"


def daemon(laboratory):
    """The number of the process that does the transfers; None if there is none."""
    try:
        with open(os.path.join(laboratory.state, "lock")) as file:
            return json.load(file)["pid"]
    except (FileNotFoundError, ValueError):
        return None


def kill_all(laboratory, child):
    """SIGKILL to the client, and to a daemon that it started."""
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    number = daemon(laboratory)
    if number:
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            pass


def wipe(laboratory):
    """Leaves what a machine has after a restart: files, and no process and no socket."""
    try:
        os.remove(os.path.join(laboratory.state, "socket"))
    except FileNotFoundError:
        pass


def cost(laboratory, client):
    """CPU seconds a gigabyte over TLS, of all the client's processes, and the throughput."""
    out = laboratory.fresh("cost")
    url = f"{client.origin(laboratory)}/assets/11/{LARGE}"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    daemon_before = daemon_seconds(laboratory)
    started = time.monotonic()
    ran = subprocess.run(
        client.command(laboratory, url, out), env=laboratory.environment, check=False,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)
    took = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    cpu += daemon_seconds(laboratory) - daemon_before
    if ran.returncode:
        return "failed", "failed"
    return f"{cpu / (LARGE / 1e9):.2f} s", f"{LARGE / took / 1e6:,.0f} MB/s"


def daemon_seconds(laboratory):
    try:
        with open(f"/proc/{daemon(laboratory)}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return sum(int(field) for field in fields[11:13]) / os.sysconf("SC_CLK_TCK")
    except FileNotFoundError:
        return 0


def main():
    parser = argparse.ArgumentParser(prog="Scripts/compare-transfers")
    parser.add_argument("--sallyport", required=True)
    parser.add_argument("--clients", default="", help="some of them, by the first word")
    parser.add_argument("--output", help="a file for the table, besides standard output")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="sallyport-transfers-")
    session = os.path.join(folder, "session-download")
    built = subprocess.run(
        ["swiftc", "-O", "-o", session, os.path.join(HERE, "session-download.swift")],
        stderr=subprocess.DEVNULL, check=False)
    laboratory = Laboratory(os.path.abspath(options.sallyport), folder)
    rows = []
    try:
        for client in clients(laboratory.sallyport, session if built.returncode == 0 else None):
            if options.clients and client.name.split()[0].strip(",") not in options.clients.split(","):
                continue
            wrong, right = silent(laboratory, client)
            row = [client.name, wrong, right, twice(laboratory, client),
                   killed(laboratory, client, False), killed(laboratory, client, True),
                   *cost(laboratory, client)]
            print(" | ".join(row), file=sys.stderr)
            rows.append(row)
    finally:
        laboratory.stop()
        shutil.rmtree(folder, ignore_errors=True)
    head = ["", "wrong in silence", "right", "fetched twice after a cut", "after SIGKILL",
            "after a restart", "CPU a GB", "1 GiB over TLS"]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---|" * (len(head) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if options.output:
        with open(options.output, "w") as file:
            file.write(text)


main()
