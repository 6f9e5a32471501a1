#!/usr/bin/env python3
"""Checks the links of the pages: files and folders of the tree that they lead to, and headings
behind a #.

    tools/check_links.py [PAGE...]       all pages of the tree without arguments

Prints ``file:line: what is wrong`` for each dead link; the exit status is 1 if there is one. Links
to other hosts are not followed.
"""
import re
import sys
from pathlib import Path
from urllib.parse import unquote

from check_prose import ROOT, tracked_files

_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?[^)]*\)"     # [text](target), also of a picture
                   r"|<(?:img|a)\s[^>]*(?:src|href)=\"([^\"]+)\""
                   r"|^\[[^\]]+\]:\s+(\S+)")                                      # [name]: target
_CODE = re.compile(r"(`+).*?\1")


def text_lines(source):
    """(number, line) of the lines of a page outside of its blocks of code, with code inside of
    lines left out."""
    fenced = False
    lines = source.split("\n")
    for number, line in enumerate(lines):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number + 1, _CODE.sub(lambda code: "x" * len(code.group()), line)


def anchors(source):
    """The names by which links reach the headings of a page, as GitHub makes them."""
    found, fenced = {}, False
    for line in source.split("\n"):
        fenced ^= line.lstrip().startswith("```")
        heading = None if fenced else re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if heading:
            text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1))
            name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            count = found[name] = found.get(name, -1) + 1
            if count:
                found[f"{name}-{count}"] = 0
        found.update((name, 0) for name in re.findall(r"<a\s+(?:id|name)=\"([^\"]+)\"", line))
    return set(found)


def dead_links(page):
    """(line number, link, reason) of the links of a page that lead nowhere."""
    source = page.read_text(encoding="utf-8")
    for number, line in text_lines(source):
        for match in _LINK.finditer(line):
            link = next(group for group in match.groups() if group)
            if re.match(r"[a-z][a-z0-9+.-]*:", link):
                continue
            path, _, anchor = unquote(link).partition("#")
            target = page if not path else (ROOT / path.lstrip("/") if path.startswith("/") else page.parent / path)
            if not target.exists():
                yield number, link, "there is no such file"
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
                yield number, link, "the page has no such heading"


def main(arguments):
    """The command; returns its exit status."""
    pages = [Path(a).resolve() for a in arguments] or [p for p in tracked_files() if p.suffix == ".md"]
    findings = [(page, *dead) for page in pages for dead in dead_links(page)]
    for page, number, link, reason in findings:
        name = page.relative_to(ROOT) if page.is_relative_to(ROOT) else page
        print(f"{name}:{number}: link {link}: {reason}")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
