"""usage: database.py postgresql|mariadb CERTIFICATE KEY FOLDER USER PASSWORD

Makes a database in FOLDER and serves it with TLS on a free port of 127.0.0.1, as another user if
that is root, whom neither server wants to run as. Prints the port when it is ready; SIGTERM ends it.
"""

import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

# Whoever starts this may have blocked signals, and what is started here would inherit that.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
kind, certificate, key, folder, user, password = sys.argv[1:]
base = os.path.join(folder, kind)


def place(name, content=None, source=None):
    """Puts a file where the server can read it and nobody else."""
    path = os.path.join(base, name)
    if source:
        shutil.copy(source, path)
    else:
        with open(path, "w") as file:
            file.write(content)
    os.chmod(path, 0o600)
    if os.getuid() == 0:
        shutil.chown(path, "nobody", "nogroup")
    return path


def command(*arguments):
    if os.getuid() != 0:
        return arguments
    other = ["--reuid=nobody", "--regid=nogroup", "--clear-groups", "--pdeathsig=TERM"]
    return ["setpriv", *other, "--", *arguments]


def run(*arguments):
    done = subprocess.run(
        command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=base)
    if done.returncode:
        sys.exit(f"{arguments[0]}: {done.stdout.decode()}")


def postgresql():
    programs = max(glob.glob("/usr/lib/postgresql/*/bin"))
    secret = place("password", password)
    run(
        f"{programs}/initdb", "-D", f"{base}/data", "-U", user, "--pwfile", secret, "-A",
        "password", "--no-sync", "--no-instructions", "--locale=C", "--encoding=UTF8")
    settings = {
        "ssl": "on", "ssl_cert_file": certificate, "ssl_key_file": key, "fsync": "off",
        "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "shared_buffers": "1MB",
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return lambda port: [f"{programs}/postgres", "-D", f"{base}/data", "-p", str(port), *options]


def mariadb():
    start = place(
        "start.sql", f"CREATE USER {user} IDENTIFIED BY '{password}';\n"
        f"GRANT ALL ON *.* TO {user};\n")
    run(
        "mariadb-install-db", "--no-defaults", f"--datadir={base}/data", "--skip-test-db",
        "--auth-root-authentication-method=normal", "--skip-name-resolve",
        "--innodb-log-file-size=4M", "--innodb-flush-log-at-trx-commit=0")
    options = [
        f"--datadir={base}/data", f"--socket={base}/socket", f"--pid-file={base}/pid",
        "--bind-address=127.0.0.1", f"--ssl-cert={certificate}", f"--ssl-key={key}",
        f"--init-file={start}", "--skip-name-resolve", "--innodb-buffer-pool-size=8M",
        "--innodb-log-file-size=4M",
    ]
    program = shutil.which("mariadbd", path=os.environ["PATH"] + ":/usr/sbin")
    return lambda port: [program, "--no-defaults", f"--port={port}", *options]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def answers(port, server):
    for _ in range(2000):
        if server.poll() is not None:
            return False
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return True
        except ConnectionRefusedError:
            time.sleep(0.01)
    return False


os.chmod(folder, 0o711)
os.makedirs(base)
if os.getuid() == 0:
    shutil.chown(base, "nobody", "nogroup")
os.environ["TMPDIR"] = base
certificate = place("certificate.pem", source=certificate)
key = place("key.pem", source=key)
make_command = postgresql() if kind == "postgresql" else mariadb()
# Neither takes the port 0: one that was free a moment ago may be taken, and then comes another.
for _ in range(5):
    port = free_port()
    log = open(os.path.join(folder, f"{kind}.log"), "wb")
    server = subprocess.Popen(command(*make_command(port)), stdout=log, stderr=log, cwd=base)
    if answers(port, server):
        break
else:
    sys.exit(open(os.path.join(folder, f"{kind}.log")).read())
signal.signal(signal.SIGTERM, lambda *_: server.send_signal(signal.SIGQUIT))
print(port, flush=True)
server.wait()
