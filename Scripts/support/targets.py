"""Holds the table of targets in Documentation/architecture.md to Package.swift."""

import re
import sys

NAMES = r'"([A-Za-z0-9-]+)"'


def declared():
    """What Package.swift says: each target of Sources, and what it needs besides Base."""
    text = re.sub(r"//.*", "", open("Package.swift").read())
    pattern = (
        r"(?<![.\w])target\(\s*" + NAMES + r",\s*\[(.*?)\]\)"
        r"|\.systemLibrary\(\s*name: " + NAMES + r"()"
        r"|\.(?:executableTarget|target)\(\s*name: " + NAMES + r", dependencies: \[(.*?)\]"
    )
    targets = {}
    for match in re.finditer(pattern, text, re.DOTALL):
        name = match[1] or match[3] or match[5]
        needs = match[2] or match[6] or ""
        targets[name] = set(re.findall(NAMES, needs)) - {"Base"}
    return targets


def described():
    """What the table says; None for needs that it gives in words."""
    text = open("Documentation/architecture.md").read()
    targets = {}
    for line in text.split("## Targets", 1)[1].split("\n## ", 1)[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 4 or "`" not in cells[1]:
            continue
        needs = None
        if not cells[3].startswith("all "):
            needs = set(re.findall(r"[A-Za-z0-9-]+", cells[3])) - {"nothing"}
        for name in re.findall(r"`([^`]+)`", cells[1]):
            targets[name] = needs
    return targets


def main():
    wanted, told = declared(), described()
    flaws = [f"{name} is in no row" for name in sorted(wanted.keys() - told.keys())]
    flaws += [f"{name} is no target" for name in sorted(told.keys() - wanted.keys())]
    for name in sorted(wanted.keys() & told.keys()):
        if told[name] is not None and told[name] != wanted[name]:
            flaws.append(f"{name} needs {', '.join(sorted(wanted[name])) or 'nothing'}")
    order = list(told)
    for name in sorted(wanted.keys() & told.keys()):
        for need in sorted((told[name] or set()) & told.keys()):
            if order.index(need) > order.index(name):
                flaws.append(f"{name} stands above {need}, which it needs")
    for flaw in flaws:
        print(f"Documentation/architecture.md: {flaw}", file=sys.stderr)
    return 1 if flaws else 0


sys.exit(main())
