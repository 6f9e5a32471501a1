#!/usr/bin/env python3
"""Checks every #include of the library against the order that docs/architecture.md draws.

The drawing is the first code block of that page. An arrow `a -> b` lets a module include the
headers of another, and of all that lie below it. The table under the drawing says which module
owns which header of include/mxnet. What else is an error, with file and line:

* an #include "..." of a file that does not exist;
* a circle among the folders of one module (src/operator, src/executor): a folder that includes
  another one is above it. Files that lie in the module's own folder count as one more folder.

    tools/check_includes.py [--root FOLDER]

Exit status 1 when anything is wrong.
"""

import argparse
import os
import re
import sys
from collections import defaultdict
from pathlib import Path

PAGE = "docs/architecture.md"
SUFFIXES = (".h", ".cc", ".inc", ".cu", ".cuh")
INCLUDE = re.compile(r'\s*#\s*include\s+([<"])([^>"]+)[>"]')
# Folders that may include everything, but nothing that does not exist.
USERS = ("tests", "benchmark", "python/src", "examples")
# The C++ front end, which the drawing names by its folder, and its header that the build writes.
FRONT_END = "include/mxnet-cpp"
GENERATED = ("mxnet-cpp/op.h",)
# Modules whose folders must not include each other in circles, and how many levels count.
LAYERED = {"operator": 2, "executor": 2}


def read_drawing(text):
    """{module: modules it may include}, from the first code block."""
    block = re.search(r"```\n(.*?)```", text, re.S)
    if not block:
        sys.exit(f"{PAGE}: no code block with the drawing")
    below = defaultdict(set)
    for line in block.group(1).splitlines():
        groups = [
            [re.sub(r"\(.*?\)", "", name).strip() for name in part.split(",")]
            for part in line.split("->")
        ]
        for above, under in zip(groups, groups[1:]):
            for name in above:
                below[name].update(under)
        for name in groups[-1]:
            below[name].update(())
    return {name: reachable(name, below) for name in list(below)}


def reachable(start, edges):
    seen, todo = set(), [start]
    while todo:
        for name in edges.get(todo.pop(), ()):
            if name not in seen:
                seen.add(name)
                todo.append(name)
    return seen


def read_headers(text):
    """{header of include/mxnet: module}, from the rows `| src/module | what | contract |`."""
    owner = {}
    for row in re.finditer(r"^\| `src/(\w+)` \|(.*)$", text, re.M):
        for header in re.findall(r"`(\w+\.(?:h|inc))`", row.group(2)):
            owner[header] = row.group(1)
    return owner


class Tree:
    """The library's files, what they include and which module owns them."""

    def __init__(self, root, headers):
        self.root = root
        self.headers = headers
        self.errors = []
        self.includes = []  # (file, line, included file)

    def module(self, path):
        parts = path.split("/")
        if parts[0] == "src":
            return parts[1] if len(parts) > 2 else None
        if path.startswith(FRONT_END + "/"):
            return FRONT_END
        return self.headers.get(parts[-1]) if parts[0] == "include" else None

    def scan(self):
        for top in ("include", "src", *USERS):
            for folder, _, names in sorted(os.walk(self.root / top)):
                for name in sorted(names):
                    if name.endswith(SUFFIXES):
                        self.scan_file(os.path.relpath(os.path.join(folder, name), self.root))

    def scan_file(self, path):
        front_end = path.startswith(FRONT_END + "/")
        if path.startswith("include/") and not front_end and path.split("/")[-1] not in self.headers:
            self.errors.append(f"{path}:1: no row of the table in {PAGE} names this header")
        text = (self.root / path).read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            found = self.resolve(path, match.group(2))
            if found:
                self.includes.append((path, number, found))
            elif match.group(1) == '"' and match.group(2) not in GENERATED:
                self.errors.append(f'{path}:{number}: "{match.group(2)}" does not exist')

    def resolve(self, path, name):
        for folder in ("include", "src", "tests/cpp", os.path.dirname(path)):
            found = os.path.normpath(os.path.join(folder, name))
            if (self.root / found).is_file():
                return found
        return None


def check_order(tree, allowed):
    for path, line, found in tree.includes:
        above, below = tree.module(path), tree.module(found)
        if above is None or below is None or above == below:
            continue
        if above not in allowed:
            tree.errors.append(f"{path}:{line}: the drawing in {PAGE} has no module {above}")
        elif below not in allowed[above]:
            tree.errors.append(
                f"{path}:{line}: {above} includes {found} of {below}, which is not below it"
            )


def folder_in(path, module, levels):
    """The folder that counts, or None for a file of another module."""
    parts = path.split("/")
    if parts[:2] != ["src", module]:
        return None
    return "/".join(parts[: min(2 + levels, len(parts) - 1)])


def check_circles(tree, module, levels):
    edges, lines = defaultdict(set), defaultdict(list)
    for path, line, found in tree.includes:
        above, below = folder_in(path, module, levels), folder_in(found, module, levels)
        if above and below and above != below:
            edges[above].add(below)
            lines[above, below].append(f"{path}:{line}")
    # Of a circle, the arrow that the fewest includes make is named: the cheapest to mend.
    for above, below in sorted(lines, key=lambda pair: (len(lines[pair]), pair)):
        if above not in reachable(below, edges):
            continue
        edges[above].discard(below)
        for place in lines[above, below]:
            tree.errors.append(f"{place}: {above} includes {below}, which includes it in turn")


def check(root):
    text = (root / PAGE).read_text(encoding="utf-8")
    tree = Tree(root, read_headers(text))
    tree.scan()
    check_order(tree, read_drawing(text))
    for module, levels in LAYERED.items():
        for level in range(1, levels + 1):
            check_circles(tree, module, level)
    return list(dict.fromkeys(tree.errors))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    errors = check(parser.parse_args().root)
    for error in errors:
        print(error)
    if errors:
        sys.exit(f"{len(errors)} include(s) against the order of {PAGE}")


if __name__ == "__main__":
    main()
