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
folders = {os.path.dirname(path)[:end.start()] if end else os.path.dirname(path)
           for path in files for end in [None, *re.finditer("/", os.path.dirname(path))]}
found = False
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
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)[^)]*\)", text):
        if not os.path.exists(os.path.join(os.path.dirname(document), target)):
            print(f"{document}: a link to {target}, which is not there", file=sys.stderr)
            found = True
sys.exit(found)
