"""Docstrings as Markdown.

What the package's docstrings use is understood: sections with a ruler below their names, entries
`name : type` with indented text, examples, literal blocks behind `::`, lists, and roles such as
:class:`mxnet.gluon.Block`.
"""
import inspect
import re

_ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc|obj):`~?([^`]+)`")
_CODE = re.compile(r"(``.+?``|`[^`]+`)")
_RULER = re.compile(r"-{3,}$")
_ENTRY = re.compile(r"(\*{0,2}[\w*, .]+?)(?: ?: (.+))?$")
_EXAMPLES = ("Examples", "Example")
_ENTRIES = ("Parameters", "Attributes", "Inputs", "Outputs", "Returns", "Raises", "Yields", "Other Parameters")


def inline(text):
    """Markdown of running text: code stays code, all else says what it says."""
    text = _ROLE.sub(lambda role: f"`{role.group(1)}`", text)
    parts = _CODE.split(text)
    for at, part in enumerate(parts):
        if at % 2:
            parts[at] = "`" + part.strip("`") + "`"
        else:
            parts[at] = re.sub(r"([\\*_>\[\]])", r"\\\1", part).replace("<", "&lt;")     # Markdown knows no escape of it
    return "".join(parts)


def _paragraphs(lines):
    """Markdown lines of text outside of sections of entries."""
    out, at = [], 0
    while at < len(lines):
        line = lines[at]
        if line.lstrip().startswith(">>> "):
            end = at
            while end < len(lines) and lines[end].strip():
                end += 1
            out += ["", "```pycon", *inspect.cleandoc("\n".join(lines[at:end])).split("\n"), "```", ""]
            at = end
        elif line.rstrip().endswith("::"):
            out += [inline(line.rstrip()[:-1]), ""]
            end = at + 1
            while end < len(lines) and (not lines[end].strip() or lines[end].startswith((" ", "\t"))):
                end += 1
            block = inspect.cleandoc("\n".join(["", *lines[at + 1:end]])).strip("\n")
            out += ["```", *block.split("\n"), "```", ""]
            at = end
        else:
            marker = re.match(r"(\s*)([-*] |\d+[.)] )(.*)", line)
            if marker and out and out[-1].strip() and not re.match(r"\s*([-*] |\d+[.)] |    )", out[-1]):
                out.append("")
            out.append(f"{marker[1]}{marker[2]}{inline(marker[3])}" if marker else inline(line.strip() if not out else line))
            at += 1
    return out


def _entries(lines):
    """Markdown list of `name : type` entries with the text below them."""
    out, at = [""], 0
    while at < len(lines):
        head = lines[at]
        at += 1
        if not head.strip():
            continue
        body = []
        while at < len(lines) and (not lines[at].strip() or lines[at].startswith(" ")):
            body.append(lines[at].strip())
            at += 1
        text = " ".join(line for line in body if line)
        found = _ENTRY.match(head.strip())
        if found and (text or found.group(2)):
            kind = f" ({inline(found.group(2))})" if found.group(2) else ""
            out.append(f"- `{found.group(1).strip()}`{kind}" + (f": {inline(text)}" if text else ""))
        else:
            out.append(f"- {inline(head.strip())}" + (f" {inline(text)}" if text else ""))
    return [*out, ""]


def markdown(docstring):
    """Markdown of a docstring that `inspect.cleandoc` has cleaned."""
    lines = docstring.split("\n")
    sections, name, current = [], None, []
    at = 0
    while at < len(lines):
        if at + 1 < len(lines) and lines[at].strip() and _RULER.match(lines[at + 1].strip()):
            sections.append((name, current))
            name, current = lines[at].strip(), []
            at += 2
            continue
        current.append(lines[at])
        at += 1
    sections.append((name, current))
    out = []
    for title, body in sections:
        if title is not None:
            out += ["", f"**{title}**", ""]
        out += _entries(body) if title in _ENTRIES else _paragraphs(body)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip("\n")


def first_sentence(docstring):
    """The first sentence of a docstring, as Markdown on one line."""
    paragraph = " ".join(line.strip() for line in docstring.split("\n\n")[0].split("\n"))
    if ">>>" in paragraph:
        paragraph = paragraph.split(">>>")[0]
    for end in re.finditer(r"[.;:](?=\s|$)", paragraph):
        text = paragraph[:end.end()]
        if text.count("(") == text.count(")") and not text.endswith(("e.g.", "i.e.", " al.")):
            return inline(text.rstrip(";:"))
    return inline(paragraph.rstrip(";:"))


def signature(value):
    """`(a, b=1)` of a function or class; "" where it has none."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values()]
    if parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    text = str(found.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    return re.sub(r"<[^>]*>|\b_Null\b", "...", text)
