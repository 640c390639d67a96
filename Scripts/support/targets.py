"""Holds Package.swift, the folders, the imports and the table in Documentation/architecture.md to
each other: the layer of each target, what it needs, and that no arrow points down."""

import pathlib
import re
import sys

NAMES = r'"([A-Za-z0-9-]+)"'
IMPORT = re.compile(r"^\s*(?:@testable )?(?:(?:public|package|internal|private) )?import (\w+)", re.M)


def package():
    """What Package.swift says: the layers in order with their targets, and what each target needs."""
    text = re.sub(r"//.*", "", pathlib.Path("Package.swift").read_text())
    table = text.split("let layers", 1)[1].split("\n]\n", 1)[0]
    layers = {name: re.findall(NAMES, targets)
              for name, targets in re.findall(NAMES + r": \[(.*?)\]", table, re.DOTALL)}
    pattern = (
        r"(?<![.\w])(?:target|program)\(\s*" + NAMES + r",\s*\[(.*?)\]"
        r"|(?<!\w)(?:library\(\s*|\.systemLibrary\(name: )" + NAMES + r"()"
        r"|\.executableTarget\(\s*name: " + NAMES + r", dependencies: \[(.*?)\]"
    )
    needs = {}
    for match in re.finditer(pattern, text.split("let package", 1)[1], re.DOTALL):
        needs[match[1] or match[3] or match[5]] = set(re.findall(NAMES, match[2] or match[6] or ""))
    return layers, needs


def imported(layer, target):
    """What the files of a target import."""
    files = pathlib.Path("Sources", layer, target).rglob("*.swift")
    return {name for file in files for name in IMPORT.findall(file.read_text())}


def described():
    """What the table says of each target: its layer and its needs; None for needs in words."""
    text = pathlib.Path("Documentation/architecture.md").read_text()
    rows = {}
    for line in text.split("## Targets", 1)[1].split("\n## ", 1)[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 4 or "`" not in cells[1]:
            continue
        needs = None
        if not cells[3].startswith("all "):
            needs = set(re.findall(r"[A-Za-z0-9-]+", cells[3])) - {"nothing"}
        for name in re.findall(r"`([^`]+)`", cells[1]):
            rows[name] = (cells[0].strip("`"), needs)
    return rows


def flaws():
    layers, needs = package()
    rows = described()
    place = {target: layer for layer, targets in layers.items() for target in targets}
    order = list(layers)
    for target in sorted(needs.keys() | rows.keys()):
        if target not in rows:
            yield f"architecture.md: {target} is in no row"
        elif target not in needs:
            yield f"architecture.md: {target} is no target"
        else:
            layer, told = rows[target]
            if layer != place.get(target, layer):
                yield f"architecture.md: {target} is in {place[target]}, not in {layer}"
            if told is not None and told != needs[target] - {"Base"}:
                wanted = ", ".join(sorted(needs[target] - {"Base"})) or "nothing"
                yield f"architecture.md: {target} needs {wanted}"
    listed = list(rows)
    for target in sorted(needs.keys() & place.keys()):
        if not pathlib.Path("Sources", place[target], target).is_dir():
            yield f"Package.swift: there is no Sources/{place[target]}/{target}"
            continue
        for need in sorted(needs[target] & place.keys()):
            if order.index(place[need]) > order.index(place[target]):
                yield f"Package.swift: {target} in {place[target]} needs {need} in {place[need]}"
            elif need in rows and target in rows and listed.index(need) > listed.index(target):
                yield f"architecture.md: {target} stands above {need}, which it needs"
        used = imported(place[target], target) & needs.keys()
        for name in sorted(needs[target] - used):
            if not name.startswith("C") or place[target] != "C":
                yield f"Package.swift: {target} never imports {name}"
        for name in sorted(used - needs[target] - {target}):
            yield f"Package.swift: {target} imports {name} and does not name it"


found = list(flaws())
for flaw in found:
    print(flaw, file=sys.stderr)
sys.exit(1 if found else 0)
