"""Checks that each source file, folder and link that the documentation names is there."""

import glob
import os
import re
import subprocess
import sys

files = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
    check=True, capture_output=True, text=True,
).stdout.splitlines()
files = {path for path in files if os.path.exists(path)}
sources = {path: open(path).read() for path in files
           if path.startswith("Sources/") and path.endswith((".swift", ".h", ".c"))}
tests = {}
for path in files:
    if path.startswith("Tests/") and path.endswith("Tests.swift"):
        # Targets may have suites of one name.
        name = os.path.basename(path)[:-6]
        tests[name] = tests.get(name, "") + open(path).read()
targets = {path.split("/")[2] for path in sources}
kinds = "actor|class|enum|extension|protocol|struct|typealias"
types = set(re.findall(rf"\b(?:{kinds}) (?:\w+\.)*(\w+)", "\n".join(sources.values())))
folders = {os.path.dirname(path)[:end.start()] if end else os.path.dirname(path)
           for path in files for end in [None, *re.finditer("/", os.path.dirname(path))]}
found = False


def is_place(name):
    """Whether `Target/Folder/Type.member` leads to a line of the sources."""
    path, _, member = name.partition(".")
    known = [text for file, text in sources.items()
             if f"/{path}/" in file or f"/{path}." in file or f"/{path}+" in file]
    return any(re.search(rf"\b{member}\b", text) for text in known)


for document in [*glob.glob("Documentation/*.md"), "README.md"]:
    with open(document) as file:
        text = file.read()
    for name in re.findall(r"`([\w+/.-]+\.swift)`", text):
        if not any(("/" + path).endswith("/" + name) for path in files):
            print(f"{document}: there is no {name}", file=sys.stderr)
            found = True
    for name in re.findall(r"`((?:Sources|Tests|Scripts)/[\w+/.-]+?)/?`", text):
        if name not in folders and name not in files:
            print(f"{document}: there is no {name}", file=sys.stderr)
            found = True
    for name in re.findall(r"`([A-Z]\w+/[\w+/]+(?:\.(?!swift`)\w+)?)`", text):
        if name.split("/")[0] in targets and not is_place(name):
            print(f"{document}: there is no {name}", file=sys.stderr)
            found = True
    for name, member in re.findall(r"`([A-Z]\w+)\.(?!swift`)([a-z]\w+)`", text):
        if name in tests:
            if not re.search(rf"\bfunc {member}\b", tests[name]):
                print(f"{document}: there is no test {name}.{member}", file=sys.stderr)
                found = True
        elif name not in types and name != "Package":
            print(f"{document}: there is no type {name}", file=sys.stderr)
            found = True
    for name in re.findall(r"`([A-Z]\w+Tests)`", text):
        if name not in tests and f"/{name}/" not in "".join(files):
            print(f"{document}: there are no {name}", file=sys.stderr)
            found = True
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)[^)]*\)", text):
        if not os.path.exists(os.path.join(os.path.dirname(document), target)):
            print(f"{document}: a link to {target}, which is not there", file=sys.stderr)
            found = True
sys.exit(found)
