"""Makes a catalogue of chains in the way of published suites: each case with a root of its own.

usage: catalogue.py FOLDER COUNT

A case is a folder with a root, a chain, a key and the description of the probe. Its number is in all
names, so that nothing of one case serves another.
"""

import os
import subprocess
import sys

KINDS = [
    # name, options of the leaf, options of the intermediate (None for none), expectation
    ("sound", [], None, "accept"),
    ("sound-intermediate", [], ["basicConstraints=critical,CA:TRUE"], "accept"),
    ("wrong-name", ["subjectAltName=DNS:other.invalid"], None, "refuse"),
    ("no-authority", [], ["basicConstraints=critical,CA:FALSE"], "refuse"),
    ("client-only", ["extendedKeyUsage=clientAuth"], None, "refuse"),
    ("critical-unknown", ["1.2.3.4=critical,DER:0500"], None, "refuse"),
    (
        "name-constraints",
        [],
        ["basicConstraints=critical,CA:TRUE", "nameConstraints=critical,permitted;DNS:other.invalid"],
        "refuse",
    ),
    ("other-root", [], None, "refuse"),
]


def openssl(folder, subject, name, extensions, issuer=None):
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    words += ["-nodes", "-days", "30", "-subj", subject, "-config", "empty.cnf"]
    words += ["-keyout", f"{name}.key", "-out", f"{name}.pem"]
    if issuer:
        words += ["-CA", f"{issuer}.pem", "-CAkey", f"{issuer}.key"]
    for extension in extensions:
        words += ["-addext", extension]
    # Without the defaults of a configuration, which add to what is asked for.
    with open(f"{folder}/empty.cnf", "w") as file:
        file.write("[req]\ndistinguished_name=dn\n[dn]\n")
    subprocess.run(words, cwd=folder, check=True, stderr=subprocess.DEVNULL)


def make(folder, number):
    kind, leaf, intermediate, expectation = KINDS[number % len(KINDS)]
    host = f"case-{number}.suite.test"
    os.mkdir(folder)
    authority = ["basicConstraints=critical,CA:TRUE"]
    openssl(folder, f"/CN=Root {number}", "root", authority)
    issuer = "root"
    if kind == "other-root":
        openssl(folder, f"/CN=Root {number}", "other", authority)
        issuer = "other"
    if intermediate:
        openssl(folder, f"/CN=Intermediate {number}", "intermediate", intermediate, issuer)
        issuer = "intermediate"
    if not any(extension.startswith("subjectAltName") for extension in leaf):
        leaf = leaf + [f"subjectAltName=DNS:{host}"]
    openssl(folder, f"/CN=Leaf {number}", "leaf", leaf, issuer)
    with open(f"{folder}/chain.pem", "w") as chain:
        for name in ["leaf"] + (["intermediate"] if intermediate else []):
            with open(f"{folder}/{name}.pem") as file:
                chain.write(file.read())
    with open(f"{folder}/chain-suite-{number}.probe", "w") as probe:
        probe.write(
            f"title: {kind}\nreason: The suite says so.\nexpectation: {expectation}\n"
            f"profile: full\nhost: {host}\ntrust-file: root.pem\n\n"
            "[leaf]\nchain-file: chain.pem\nkey-file: leaf.key\n"
        )


for number in range(int(sys.argv[2])):
    make(f"{sys.argv[1]}/{number}", number)
