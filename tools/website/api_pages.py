"""The pages of the API reference, made from the package: one for each public module, with every
name's docstring. Long ones are divided by first letters."""
import importlib
import inspect
import textwrap
from collections import defaultdict

from docstring_pages import first_sentence, markdown, signature
from public_names import MODULES, OPERATORS, methods, public_names

SHORT = {"mxnet.ndarray": "mx.nd", "mxnet.symbol": "mx.sym", "mxnet.numpy": "mx.np", "mxnet.numpy_extension": "mx.npx",
         "mxnet.module": "mx.mod", "mxnet.kvstore": "mx.kv", "mxnet.initializer": "mx.init"}
INDEX = ["# API reference", "", "These pages are made from the package: what stands here is what `help()` prints.",
         "Examples in them run in the project's tests. The search field finds every name.", "",
         "| module | for | names |", "|---|---|---|"]
MOST = 60       # names on one page


def short(module):
    """How programs write the module's name."""
    for long, name in SHORT.items():
        if module == long or module.startswith(long + "."):
            return name + module[len(long):]
    return module.replace("mxnet", "mx", 1)


def _call(name, value):
    """Lines of code that show how something is called."""
    text = name + signature(value)
    if len(text) <= 88:
        return [text]
    head, _, rest = text.partition("(")
    return [head + "(", *textwrap.wrap(rest[:-1], 84, initial_indent="    ", subsequent_indent="    ",
                                       break_long_words=False), ")"]


def _code(lines):
    return ["```python", *lines, "```", ""]


def _method(owner, name, value):
    """Lines of a method or property of a class."""
    prop = isinstance(value, property)
    doc = inspect.cleandoc(value.__doc__) if isinstance(value.__doc__, str) else ""
    title = f"{name}" if prop else f"{name}()"
    lines = ["", f"#### `{title}` {{ #{owner}.{name} .member }}", ""]
    if not prop:
        lines += _code(_call(name, value))
    return lines + [markdown(doc)]


def _section(entry, synonyms, page_of):
    """Lines of a function or class."""
    name = f"{short(entry.module)}.{entry.name}"
    lines = ["", f"## {entry.name} {{ #{entry.module}.{entry.name} }}", ""]
    if entry in synonyms:
        other = synonyms[entry]
        return [*lines, f"Another name of [`{other.name}`]({page_of[other]}#{other.module}.{other.name})."]
    lines += [*_code(_call(name, entry.value)), markdown(entry.docstring)]
    if entry.is_class:
        made = vars(entry.value).get("__init__")
        doc = getattr(made, "__doc__", None) if inspect.isfunction(made) else None
        if doc and doc not in entry.docstring:
            lines += ["", markdown(inspect.cleandoc(doc))]
        bases = [b.__name__ for b in entry.value.__mro__[1:] if b is not object and not b.__name__.startswith("_")]
        if bases:
            lines += ["", f"Based on `{bases[0]}`, whose methods it has as well."]
        known, plain = [], []
        for method, value in methods(entry.value):
            (known if isinstance(value.__doc__, str) else plain).append((method, value))
        for method, value in known:
            lines += _method(f"{entry.module}.{entry.name}", method, value)
        if plain:
            lines += ["", "Also: " + ", ".join(f"`{m}`" for m, _ in plain) + "."]
    return lines


def _synonyms(entries):
    """Functions whose docstring another one of the module has: operators with several names. The
    first in the alphabet that does not begin with an underscore or a module's name is described."""
    first, found = {}, {}
    for entry in sorted(entries, key=lambda e: ("_" in e.name, e.name)):
        if entry.is_class or len(entry.docstring) < 80:
            continue
        if entry.docstring in first:
            found[entry] = first[entry.docstring]
        else:
            first[entry.docstring] = entry
    return found


def _overview(entries, page_of):
    """A table of the names, with the first sentence of each."""
    lines = ["", "| name | |", "|---|---|"]
    for entry in entries:
        text = first_sentence(entry.docstring).replace("|", "\\|")
        lines.append(f"| [`{entry.name}`]({page_of[entry]}#{entry.module}.{entry.name}) | {text} |")
    return lines


def _parts(entries):
    """Divides a module's names into pages of at most MOST names; names of one letter stay
    together."""
    letters = defaultdict(list)
    for entry in entries:
        letters[entry.name[0].lower()].append(entry)
    parts = [[]]
    for letter in sorted(letters):
        if parts[-1] and len(parts[-1]) + len(letters[letter]) > MOST:
            parts.append([])
        parts[-1] += letters[letter]
    return parts


def _operators_of_graphs(entries, homes):
    """Lines for the operators that `mx.sym` shares with `mx.nd`."""
    lines = ["", "## Operators", "", "Each takes symbols and gives a symbol. The pages of `mx.nd` describe what it computes.", ""]
    return lines + [", ".join(f"[`{e.name}`]({homes[e.name]})" for e in entries)]


def pages():
    """Path below api/ to Markdown, and the navigation: (title, path or list of such)."""
    by_module = defaultdict(list)
    for entry in public_names():
        by_module[entry.module].append(entry)
    out, navigation, arrays, index = {}, [], {}, []
    for module, purpose in MODULES.items():
        entries = by_module[module]
        if not entries:
            continue
        shared = []
        if module == "mxnet.symbol":
            shared = [e for e in entries if e.name in arrays]
            entries = [e for e in entries if e.name not in arrays]
        name = short(module)
        documentation = importlib.import_module(module).__doc__ or ""
        lines = [f"# {name}", "", markdown(inspect.cleandoc(documentation)) if documentation else purpose]
        synonyms = _synonyms(entries)
        parts = _parts(entries) if len(entries) > MOST else [entries]
        page_of = {}
        index.append(f"| [`{name}`]({name}.md) | {purpose} | {len(entries) + len(shared)} |")
        for number, part in enumerate(parts):
            path = f"{name}.md" if len(parts) == 1 else f"{name}-{number + 1}.md"
            for entry in part:
                page_of[entry] = "" if len(parts) == 1 else path
        lines += _overview(entries, page_of)
        if module in OPERATORS[:1]:
            arrays = {e.name: f"{page_of[e]}#{e.module}.{e.name}" for e in entries}
        if shared:
            lines += _operators_of_graphs(shared, arrays)
        if len(parts) == 1:
            for entry in entries:
                lines += _section(entry, synonyms, page_of)
            navigation.append((name, f"{name}.md"))
        else:
            below = [(name, f"{name}.md")]
            for number, part in enumerate(parts):
                title = f"{part[0].name[0].lower()} to {part[-1].name[0].lower()}"
                text = [f"# {name}: {title}", ""]
                for entry in part:
                    text += _section(entry, synonyms, page_of)
                out[f"{name}-{number + 1}.md"] = "\n".join(text) + "\n"
                below.append((title, f"{name}-{number + 1}.md"))
            navigation.append((name, below))
        out[f"{name}.md"] = "\n".join(lines) + "\n"
    out["index.md"] = "\n".join(INDEX + index) + "\n"
    return out, [("All modules", "index.md"), *navigation]
