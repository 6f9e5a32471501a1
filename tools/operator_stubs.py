"""Type stubs of the modules of operators, written from the records.

A required argument has no default, and nothing takes keywords that the operator does not know: a
misspelt or forgotten argument is found by a type checker, as it is by the call.
"""
import importlib
import inspect
import keyword
import textwrap

from mxnet import env

NAMESPACES = {"contrib": "_contrib_", "linalg": "_linalg_", "image": "_image_"}
# What every function of an operator takes beside inputs and parameters.
LEAD = {"NDArray": ["out: NDArray | Sequence[NDArray] | None = ...", "name: str | None = ..."],
        "Symbol": ["name: str | None = ...", "attr: dict[str, str] | None = ...", "out: None = ...",
                   *(f"{name}: object = ..." for name in ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage"))]}
# Stubs that break a rule of subclasses on purpose, and which: == of arrays gives an array, that of
# object a bool; cells, iterators and metrics of 1.x take other arguments than their bases, or
# give other results; some classes have two bases that have members of both. The files say it
# themselves, since a checker reads them from wherever they lie.
EXCEPTIONS = {"override": ["numpy", "image", "io", "rnn", "gluon.rnn", "metric", "ndarray.ndarray", "symbol.symbol"],
              "override,misc": ["_typing", "gluon.probability"]}


def with_exceptions(path, text):
    """The text of a stub with the exceptions of its module as its second line."""
    module = path.removeprefix("python/mxnet/").removesuffix(".pyi").removesuffix("/__init__").replace("/", ".")
    for codes, modules in EXCEPTIONS.items():
        if path.endswith(".pyi") and module in modules:
            head, rest = text.split("\n", 1)
            return f'{head}\n# mypy: disable-error-code="{codes}"\n{rest}'
    return text


def literal(text):
    """Literal[...] of an enumeration such as "{'constant', 'edge'}, required"."""
    inside = text[1:text.index("}")]
    words = [word.strip() for word in inside.split(",")]
    accepted = ", ".join(f'"{word[1:-1]}"' for word in words if word.startswith("'"))
    return f"Literal[{accepted}]" + (" | None" if "None" in words else "")


def python_type(text):
    """The annotation for a parameter's type in the records' notation."""
    if text.startswith("{"):
        return literal(text)
    head = text.split(",")[0].strip().lower()
    if head.startswith(("shape", "tuple")) or "tuple" in head:
        inner = "float" if "float" in head else "int"
        return f"{inner} | Sequence[{inner}]" + (" | None" if "None" in text else "")
    known = {"int": "int", "long": "int", "int (non-negative)": "int", "long (non-negative)": "int",
             "boolean": "bool", "float": "float", "double": "float", "string": "str"}
    base = known.get(head.replace(" or none", ""), "Any")
    return base + " | None" if base != "Any" and "none" in text.lower() else base


def identifier(name):
    return name + "_" if keyword.iskeyword(name) else name


def head(kind, module):
    return ["# Generated from the operator records by `./dev docs`; do not edit.",
            "from collections.abc import Sequence", "from typing import Any, Literal, overload", "",
            f"from .{module} import {kind}"]


def required(text):
    """Whether a parameter has no default."""
    return "optional" not in text and (text.rstrip().endswith("required") or "," not in text)


def arguments_of(info, kind):
    """(name, type, whether it must be given) of inputs and parameters.

    Arrays: an operator needs its first input; the record does not tell which of the others it can
    do without, but of two operands it needs both. An input that a symbol is not given becomes a
    variable."""
    arrays = kind == "NDArray"
    both = info.inputs in (["lhs", "rhs"], ["x1", "x2"])
    for number, name in enumerate(info.inputs):
        needed = arrays and (not number or both)
        yield identifier(name), kind if needed else f"{kind} | None", needed
    for name, text, _ in info.params:
        # A dtype is also NumPy's class or object of it.
        yield identifier(name), "object" if name == "dtype" else python_type(text), required(text)


def signatures(info, kind):
    """The ways of calling an operator, each a list of arguments as text.

    What must be given can stand behind what need not, which Python has for keywords alone. So there
    is a signature for each number of required arguments that are given by position, where what
    stands between them is given, too."""
    if info.variadic:
        counter = [f"{info.counter}: int = ..."] if info.counter else []
        rest = [f"{identifier(n)}: {'object' if n == 'dtype' else python_type(t)}{'' if required(t) else ' = ...'}"
                for n, t, _ in info.params if n != info.counter]
        first = [f"*{info.inputs[0]}: {kind} | Sequence[{kind}]"]
        return [[*first, *rest, *counter, *LEAD[kind], *(["**kwargs: Any"] if info.open else [])]]
    every = list(arguments_of(info, kind))
    needed = [number for number, (_, _, must) in enumerate(every) if must]
    leading = next((number for number, (_, _, must) in enumerate(every) if not must), len(every))
    ends = [leading, *(number + 1 for number in needed if number >= leading)]
    found = []
    for place, end in enumerate(ends):
        stop = ends[place + 1] - 1 if place + 1 < len(ends) else None       # the next that must be given: by keyword
        parts = []
        for number, (name, text, must) in enumerate(every):
            if number == stop:
                parts.append("*")
            given = number < end or must
            parts.append(f"{name}: {text}" + ("" if given else " = ..."))
        found.append([*parts, *LEAD[kind]])
    return found


def documentation(info):
    """The operator's first paragraph and its parameters, as the lines of a docstring."""
    summary = env._plain((info.doc or f"Operator {info.name}.").split("\n\n")[0])
    lines = textwrap.wrap(summary, 94)
    described = [f"{name}: {env._plain(text)}" for name, _, text in info.params if text and name != info.counter]
    if described:
        lines += ["", *(line for text in described for line in textwrap.wrap(text, 94, subsequent_indent="    "))]
    quoted = [line.replace("\\", "\\\\").replace('"""', "'''") for line in lines]
    quoted[0] = '"""' + quoted[0]
    if len(quoted) == 1:
        return ["    " + quoted[0] + '"""']
    return [("    " + line).rstrip() for line in [*quoted, '"""']]


def declarations(records, kind, prefix=""):
    """Lines that declare the functions of the operators whose names begin with `prefix`."""
    for info, aliases in records:
        ways = [", ".join(way) for way in signatures(info, kind)]
        for name in [info.name] + aliases:
            short = name[len(prefix):]
            if not name.startswith(prefix) or not short.isidentifier() or keyword.iskeyword(short) or short.startswith("_"):
                continue
            lines = []
            for number, way in enumerate(ways):
                lines += ["@overload"] if len(ways) > 1 else []
                if number:
                    lines.append(f"def {short}({way}) -> {kind}: ...")
                else:
                    lines += [f"def {short}({way}) -> {kind}:", *documentation(info)]
            yield short, lines


def stub(records, kind, module):
    """Text of op.pyi for arrays (kind NDArray) or graphs (kind Symbol)."""
    return "\n".join(head(kind, module) + [line for _, lines in declarations(records, kind) for line in lines]) + "\n"


def namespace_stub(records, kind, module, namespace):
    """Text of contrib.pyi and its like: operators, and the functions that are written in Python."""
    source = importlib.import_module(f"mxnet.{module}.{namespace}")
    written = {name: value for name, value in vars(source).items()
               if inspect.isfunction(value) and value.__module__.startswith("mxnet.") and not name.startswith("_")}
    # what an operator's function becomes when it is first asked for is no function that is written
    written = {name: value for name, value in written.items() if not value.__code__.co_filename.startswith("<operator")}
    lines = [f"def {name}{untyped(value)}: ..." for name, value in sorted(written.items())]
    lines += [line for name, found in declarations(records, kind, NAMESPACES[namespace]) if name not in written for line in found]
    return "\n".join(head(kind, module) + lines) + "\n"


def untyped(function):
    parts = []
    for parameter in inspect.signature(function).parameters.values():
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        parts.append(f"{star}{parameter.name}: Any" + ("" if parameter.default is parameter.empty else " = ..."))
    return f"({', '.join(parts)}) -> Any"


def paths(records):
    """Path (from the repository's root) to text of every stub of operators."""
    out = {}
    for kind, module in (("NDArray", "ndarray"), ("Symbol", "symbol")):
        out[f"python/mxnet/{module}/op.pyi"] = stub(records, kind, module)
        for namespace in NAMESPACES:
            out[f"python/mxnet/{module}/{namespace}.pyi"] = namespace_stub(records, kind, module, namespace)
    return out
