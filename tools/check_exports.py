#!/usr/bin/env python3
"""Functions that a public header declares and the library does not export, as ``file:line: what``:
programs that call them do not link. Functions of the C interface without a comment are named, too.

    tools/check_exports.py LIBRARY [HEADER...]      all headers of include/mxnet without one
"""
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What libraries of users include is defined there.
HEADER_ONLY = re.compile(r"lib_api")
NOT_A_DECLARATION = re.compile(r"^\s*(typedef|using|template|static|inline|constexpr|friend|extern\s+template|enum|public|private|"
                               r"protected|struct\s+\w+$|class\s+\w+$|return|static_assert)\b")
SCOPE = re.compile(r"\b(namespace|class|struct)\s+(?:MXNET_\w+\s+|alignas\(\w+\)\s+)?([\w:]+)?(?:\s+final)?\s*(?::[^{]*)?$")
NAME = re.compile(r"(~?\b[A-Za-z_]\w*|operator\s*[^\s\w(]+|operator\(\))\s*\($")


def blank(text):
    """The text without comments, strings and preprocessor lines; every line stays where it is."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(\\.|[^\"\\\n])*\"|'(\\.|[^'\\\n])'", spaces, text, flags=re.S)
    text = re.sub(r"^[ \t]*#(.*\\\n)*.*$", spaces, text, flags=re.M)
    text = re.sub(r"(?<==)\s*\{\}", spaces, text)      # the default of an argument
    return re.sub(r'extern\s+\{', lambda m: "namespace {".rjust(len(m.group())), text)


def name_of(statement, member):
    """Name of the function that a statement declares, of a class where `member` says so; None if it
    declares none."""
    statement = re.sub(r"^static\b\s*", "", statement) if member else statement
    if NOT_A_DECLARATION.match(statement):
        return None
    depth, head = 0, statement
    for at, char in enumerate(statement):
        depth += (char == "<") - (char == ">" and statement[at - 1] != "-")
        if char == "(" and depth <= 0 and statement[at + 1:at + 2] == "*":
            return None     # a pointer to a function
        if char == "(" and depth <= 0 and not re.search(r"\b(__attribute__|decltype|alignas|noexcept)\s*$", statement[:at]):
            head = statement[:at + 1]
            break
        if char == "=" and depth <= 0 and not re.search(r"operator\s*[<>!=+*/-]*$", statement[:at]):
            return None
    else:
        return None
    found = NAME.search(head)
    if not found or re.search(r"=\s*(default|delete|0)\s*$", statement):
        return None
    return found.group(1)


def declarations(path):
    """(line, qualified name, whether something is said about it or it is private) of each function
    that is declared and not defined."""
    original = path.read_text()
    text = blank(original)
    scopes, start, found = [], 0, []      # scopes: name of a namespace or class, or None for what is skipped
    private = [False]                     # whether members of the scope are, from outside in
    kinds = []                            # namespace, class, struct or None
    lines = original.split("\n")
    for at, char in enumerate(text):
        if char not in "{};":
            continue
        statement = text[start:at].strip()
        access = re.findall(r"\b(public|private|protected)\s*:(?!:)", statement)
        if access and char != "{" or access and statement.startswith(access[0]):
            private[-1] = access[-1] != "public"
        if None not in scopes and char == ";":
            label = re.sub(r"^((public|private|protected)\s*:\s*)+", "", statement)
            name = name_of(" ".join(label.split()), member=kinds[-1:] and kinds[-1] != "namespace")
            if name:
                line = text.count("\n", 0, start + len(text[start:at]) - len(text[start:at].lstrip())) + 1
                line += statement.count("\n", 0, statement.find(label)) if label != statement else 0
                found.append((line, "::".join([*filter(None, scopes), name]), private[-1] or is_described(lines, line, statement)))
        if char == "{":
            opened = SCOPE.search(statement)
            kind = opened and opened.group(1)
            scopes.append((opened.group(2) or "") if kind and not re.match(r"\s*template", statement) and "enum" not in statement else
                          "" if re.match(r"namespace\s*$", statement) else None)
            private.append(kind == "class")
            kinds.append(kind or "namespace")
            if scopes[-1] == "" and kind != "namespace" and not re.match(r"namespace\s*$", statement):
                scopes[-1] = None
        elif char == "}" and scopes:
            scopes.pop()
            private.pop()
            kinds.pop()
        start = at + 1
    return found


def is_described(lines, line, statement):
    """Whether a comment ends in the line before the declaration, or stands behind it."""
    last = line - 1 + statement.count("\n")
    before = lines[line - 2].strip() if line > 1 else ""
    return before.endswith("*/") or before.startswith("//") or any("//" in text or "/*" in text for text in lines[line - 1:last + 1])


def exported(library):
    """Counter of the qualified names of exported functions: one for each overload."""
    listing = subprocess.run(["nm", "-DC", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    symbols = {line.split(" ", 2)[2] for line in listing.splitlines() if len(line.split(" ", 2)) == 3}
    bare = {re.sub(r"\[abi:\w+\]", "", symbol) for symbol in symbols}
    return Counter(re.sub(r"\(.*", "", name) if "operator()" not in name else name for name in bare)


def main(arguments):
    """The command; returns its exit status."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    headers = [Path(name) for name in arguments[1:]] or sorted((ROOT / "include" / "mxnet").glob("*.h"))
    there, problems = exported(arguments[0]), []
    for header in headers:
        if HEADER_ONLY.search(header.name):
            continue
        functions = declarations(header)
        wanted = Counter(name for _, name, _ in functions)
        for line, name, described in functions:
            if there[name] < wanted[name]:
                problems.append(f"{header}:{line}: {name} is declared and not exported")
            elif not described and header.name.startswith("c_"):
                problems.append(f"{header}:{line}: {name} has no comment")
    print("\n".join(problems) or f"{sum(1 for _ in headers)} headers: every function is exported and described")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
