#!/usr/bin/env python3
"""Checks the prose of the tree: lines of docs, comments and docstrings that are too long, and files
named there that do not exist.

    tools/check_prose.py [FILE...]           all files of the tree without arguments
    tools/check_prose.py --wrap [FILE...]    breaks the long lines; what is no running text keeps its lines

Prints ``file:line: what is wrong`` for each finding; the exit status is 1 if there is one.
"""
import ast
import re
import subprocess
import sys
import tokenize
from io import StringIO
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = 100
CODE = {".cc", ".h", ".cu", ".cuh", ".c", ".inc"}
PYTHON = {".py", ".pyi"}
# Written by programs, and so as they write it.
GENERATED = {"docs/operators.md", "docs/env_var.md", "docs/iterators.md",
             *(f"python/mxnet/{module}/{name}.pyi" for module in ("ndarray", "symbol") for name in ("op", "contrib", "linalg", "image"))}

FILE_NAME = re.compile(r"(?<![\w*<>%}$-])[\w./+]*\w\.(?:cc|cu|cuh|h|inc|py|md)\b(?![\w(*<]|\.\w)")
# Files of others, and of the reader in examples.
ELSEWHERE = {"classify.cc", "cuda_fp16.h", "dmlc/parameter.h", "file.py", "mine.cc", "script.py", "train.py"}

ITEM = re.compile(r"(?:[-*+•]|\d+[.)])\s+")
# What begins a line that is no running text: tables, headings, quotations, underlines, marks of
# linters.
SPECIAL = re.compile(r"[|#>]|--|==|~~|``` |@\w|\.\. |noqa|ruff:|pylint:|NOLINT|clang-format")
PARAMETER = re.compile(r"[\w*, ]+ : ")      # of a docstring
TABLE = re.compile(r"\S {3,}\S|\S  \S.*\S  \S")    # columns kept apart by spaces
RULER = re.compile(r"-{5,}$")


class Prose(NamedTuple):
    """A line that holds nothing but text: what stands before the text, and before a line that
    continues it."""

    number: int      # from 0
    prefix: str
    following: str
    text: str
    fixed: bool      # code or a table: never broken, never joined


def tracked_files():
    """All files of the tree that git knows or would take."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in listed.splitlines() if (ROOT / line).is_file()]


# ---- where the text is

_TOKEN = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.S)


def code_comments(source):
    """Comments of C++ that have their lines for themselves."""
    lines = source.split("\n")
    for match in _TOKEN.finditer(source):
        start = source.rfind("\n", 0, match.start()) + 1
        if match.group()[:2] not in ("//", "/*") or source[start:match.start()].strip():
            continue
        first, indent = source.count("\n", 0, start), source[start:match.start()]
        if match.group().startswith("//"):
            text = lines[first].strip()[2:].lstrip("/")
            marker = lines[first].strip()[:len(lines[first].strip()) - len(text)]
            yield Prose(first, indent + marker + " ", indent + marker + " ", text.removeprefix(" "), False)
            continue
        for number in range(first, first + match.group().count("\n") + 1):
            text = lines[number].strip()
            text = re.sub(r"^(?:/\*+|\*(?!/)) ?", "", text)
            opening = indent + ("/* " if number == first else " * ")
            yield Prose(number, opening, indent + " * ", text, not lines[number].startswith(opening.rstrip()))


def python_comments(source):
    """Comments of Python that have their lines for themselves, and docstrings."""
    lines = source.split("\n")
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type == tokenize.COMMENT and token.line.strip().startswith("#") and not token.string.startswith("#!"):
            indent = token.line[:token.start[1]]
            yield Prose(token.start[0] - 1, indent + "# ", indent + "# ", token.string[1:].removeprefix(" "), False)
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) or ast.get_docstring(node) is None:
            continue
        string = node.body[0]
        indent = " " * string.col_offset
        literal = False
        for number in range(string.lineno - 1, string.end_lineno):
            line = lines[number]
            body = line[len(indent):] if line.startswith(indent) else line
            deeper = len(body) - len(body.lstrip())
            literal = deeper > 0 if literal and body.strip() else literal
            fixed = literal or body.lstrip().startswith((">>>", "...")) or PARAMETER.match(body.lstrip()) is not None
            yield Prose(number, indent, indent, body, fixed)
            literal = literal or body.rstrip().endswith("::") or body.lstrip().startswith("usage:")


def page_text(source):
    """Paragraphs and items of Markdown."""
    fenced = False
    for number, line in enumerate(source.split("\n")):
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        fixed = fence or fenced or re.match(r"\s*(?:[|<#]|\[[^\]]+\]:|    )", line) is not None
        yield Prose(number, "", "", line, fixed)


def prose_of(path, source):
    """The lines of a file that are text."""
    if path.suffix in CODE:
        return list(code_comments(source))
    if path.suffix in PYTHON:
        return sorted(python_comments(source))
    return list(page_text(source)) if path.suffix == ".md" else []


# ---- long lines

def _cut(line, room):
    """(head, rest) of a text at the last space where a line of `room` columns may end; (text, "")
    where there is none."""
    text = line.text
    if RULER.search(text):
        return text[:room], ""
    item = ITEM.match(text.lstrip())
    at = len(text) - len(text.lstrip()) + (item.end() if item else 0)
    best = None
    for space in re.finditer(" +", text[at:]):
        head, rest = text[:at + space.start()], text[at + space.end():]
        if len(head) > room and best:
            break
        if not ITEM.match(rest + " ") and not SPECIAL.match(rest) and rest not in ("*/", '"""'):
            best = head, rest
        if len(head) > room:
            break
    return best or (text, "")


def _runs_on(line, following):
    """Whether the text of the next line continues the paragraph of this one."""
    if following is None or following.number != line.number + 1 or following.fixed or not following.text.strip():
        return False
    text, after = line.text, following.text
    if "  " in text.strip() or "  " in after.strip() or SPECIAL.match(after.lstrip()) or ITEM.match(after.lstrip()):
        return False
    if after.lstrip().startswith(('"""', "*/")) or following.prefix != line.following:
        return False
    return len(after) - len(after.lstrip()) == _continued(text)


def _continued(text):
    """Columns by which the continuation of a text is indented."""
    indent = len(text) - len(text.lstrip())
    item = ITEM.match(text.lstrip())
    return indent + (item.end() if item else 0)


def is_too_long(line):
    """Whether the line is over the limit and could be broken."""
    if line.fixed or TABLE.search(line.text) or len(line.prefix) + len(line.text) <= COLUMNS:
        return False
    return _cut(line, COLUMNS - len(line.prefix))[0] != line.text


def wrapped(path, source):
    """The source with its long lines of text broken, and rulers cut."""
    lines = source.split("\n")
    pending = {line.number: line for line in prose_of(path, source)}
    result = []
    for number, original in enumerate(lines):
        line = pending.get(number)
        if line is None or not is_too_long(line):
            result.append(original)
            continue
        head, rest = _cut(line, COLUMNS - len(line.prefix))
        result.append((line.prefix + head).rstrip())
        indent = " " * _continued(line.text)
        following = pending.get(number + 1)
        if _runs_on(line, following):
            pending[number + 1] = following._replace(text=f"{indent}{rest.rstrip()} {following.text.lstrip()}")
            lines[number + 1] = line.following + pending[number + 1].text
            continue
        while rest:
            more = Prose(number, line.following, line.following, indent + rest, False)
            rest = ""
            if is_too_long(more):
                head, rest = _cut(more, COLUMNS - len(more.prefix))
                more = more._replace(text=head)
            result.append((more.prefix + more.text).rstrip())
    return "\n".join(result)


# ---- names of files

def missing_files(line, path, known):
    """Names in the text of files that are not in the tree."""
    for match in FILE_NAME.finditer(line.text):
        name = match.group().removeprefix("./")
        before = line.text[:match.start()]
        if name in ELSEWHERE or "://" in before.split(" ")[-1] or before.endswith(("~/", "-")) or name.startswith(("/", "_", "..")):
            continue
        if not any(file == name or file.endswith("/" + name) for file in known) and not (path.parent / name).is_file():
            yield name


def main(arguments):
    """The command; returns its exit status."""
    wrap = "--wrap" in arguments
    chosen = [Path(a).resolve() for a in arguments if a != "--wrap"]
    tree = tracked_files()
    known = [str(p.relative_to(ROOT)) for p in tree]
    findings = 0
    for path in chosen or tree:
        name = str(path.relative_to(ROOT))
        if path.suffix not in CODE | PYTHON | {".md"} or name in GENERATED:
            continue
        source = path.read_text(encoding="utf-8")
        if wrap:
            changed = wrapped(path, source)
            if changed != source:
                path.write_text(changed, encoding="utf-8")
            continue
        for line in prose_of(path, source):
            if is_too_long(line):
                print(f"{name}:{line.number + 1}: text of {len(line.prefix) + len(line.text)} columns; {COLUMNS} are accepted")
                findings += 1
            for missing in missing_files(line, path, known):
                print(f"{name}:{line.number + 1}: {missing} is not in the tree")
                findings += 1
    return int(findings > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
