"""Checks the size of files and functions, and that no private key is in the project.

Prints each place that breaks a rule and ends with 1 if there is any. Swift functions are found by
their layout, which the format check has made sure of: the closing brace stands under the start.
"""

import re
import subprocess
import sys

FILE_LIMIT = 600
FUNCTION_LIMIT = 60
START = re.compile(
    r"^( *)(?:(?:@\S+|[a-z]+(?:\([a-z]+\))?) )*(?:func\b|init[?<(]|deinit\b|subscript\b|(?:var|let) .*\{$)"
)
KEY = re.compile(
    rb"-----BEGIN ([A-Z]+ )*PRIVATE KEY-----(\\n|[\s\"'+\\])*[A-Za-z0-9+/]{40}"
)


def body_start(lines, start):
    """The line where a declaration's body opens, or None if it has none."""
    depth = 0
    for number in range(start, min(start + 30, len(lines))):
        code = lines[number].split(" // ")[0].rstrip()
        depth += sum(code.count(c) for c in "([") - sum(code.count(c) for c in ")]")
        if depth > 0:
            continue
        if code.endswith("{") or re.search(r"\{ .* in$|\{ .*\($", code):
            return number
        following = lines[number + 1].strip() if number + 1 < len(lines) else ""
        if not re.match(r"(where|throws|async|->|\))", following):
            return None
    return None


def functions(lines):
    """Each function with the number of its lines."""
    for start, line in enumerate(lines):
        match = START.match(line)
        if not match:
            continue
        opening = body_start(lines, start)
        if opening is None:
            continue
        closing = match.group(1) + "}"
        for number in range(opening + 1, len(lines)):
            if lines[number].rstrip() == closing:
                yield start, number - start + 1
                break


def problems(path):
    with open(path, "rb") as file:
        content = file.read()
    if KEY.search(content):
        yield f"{path}: holds a private key"
    if not re.search(r"\.(swift|py|sh)$|^Scripts/[a-z-]+$|^\.ci/", path) or "enerated" in path:
        return
    lines = content.decode(errors="replace").split("\n")
    if len(lines) - 1 > FILE_LIMIT:
        yield f"{path}: {len(lines) - 1} lines, at most {FILE_LIMIT}"
    if path.endswith(".swift"):
        for start, length in functions(lines):
            if length > FUNCTION_LIMIT:
                yield f"{path}:{start + 1}: a function of {length} lines, at most {FUNCTION_LIMIT}"


def main():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True,
    ).stdout
    found = []
    for path in sorted(set(listed.split("\0")) - {""}):
        try:
            found += problems(path)
        except (FileNotFoundError, IsADirectoryError):
            continue  # deleted, and not yet committed; or a link to a folder
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


main()
