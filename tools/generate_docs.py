#!/usr/bin/env python3
"""Writes what is derived from the library: env_var.md, variables.md, iterators.md, operators.md and
passes.md in docs, and type stubs of the operator modules, of mx.np, and of the modules that
programs import.

    ./dev docs [--check]

`--check` writes nothing and fails, naming the pages, when a committed one differs from what the
library says.
"""
import argparse
import collections
import ctypes
import importlib
import inspect
import keyword
import os
import re
import sys

import either_stub
import module_stubs
import numpy_stubs
import speed_picture
import variable_tasks
from mxnet._operators import functions as _op_functions
from mxnet import env
from mxnet._dtypes import NAMES
from mxnet.base import _LIB, check_call

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# ---- what the records say


def dtypes(info):
    """Names of the dtypes that the operator accepts for its first input; [] when any."""
    count, numbers = ctypes.c_uint(), ctypes.POINTER(ctypes.c_int)()
    check_call(_LIB.MXOpListDTypes(ctypes.c_void_p(info.handle), ctypes.byref(count), ctypes.byref(numbers)))
    return [NAMES[numbers[i]] for i in range(count.value)] if count.value < len(NAMES) else []


def records():
    """(info, aliases) of every public operator, by name. A record all of whose names begin with
    `_backward` is internal."""
    names = collections.defaultdict(list)
    for name in _op_functions.op_names():
        names[_op_functions.op_info(name).name].append(name)
    for canonical in sorted(names, key=lambda n: (n.startswith("_"), n.lower(), n)):
        if not canonical.startswith("_backward"):
            yield _op_functions.op_info(canonical), [n for n in names[canonical] if n != canonical]


def default_of(type_text):
    """The default as written in "float, optional, default=0.5"; None when the parameter is
    required."""
    found = re.search(r"default=(.*)$", type_text)
    return found.group(1).strip() if found else ("None" if "optional" in type_text else None)


# ---- pages

PASSES_PAGE = """\
# Passes of the plan compiler

Generated from the library by `./dev docs`; do not edit.

A bound symbol or a hybridized block becomes a plan. On the way these passes rewrite its graph, in
this order. All of them are on.

- `MXNET_PLAN_PASSES_OFF=name,name` leaves some out.
- `MXNET_PLAN_LOG_PASSES=name` (or `all`) prints the graph before and after.
- `executor.debug_str()`, `executor.plan_stats()` and `executor.get_optimized_symbol()` say what
  they did to one plan. [explain](explain.md) shows it as a page.

Saved parameters never change. A plan holds only what its outputs and the wanted gradients need:
nodes that nobody reads are gone before the first pass and after each.

How far results with passes may be from those without:

- Inference of whole networks in float32 agrees to 1e-5 of the largest result.
- What one pass makes agrees with what it replaces to 2e-5, relative and absolute, and so do its
  gradients. Behind convolutions in training it is 1e-4.
- Pointwise groups and removed identities agree to the bit.
- In training, rounding grows where BatchNorm divides by the deviation of few values, as it does
  between any two orders of summation.

These tests check that: `test_passes.py`, `test_pointwise_passes.py`, `test_norm_passes.py`,
`test_attention_passes.py`, `test_attention_dropout.py` and `test_interleaved_passes.py` in
`tests/python`. [How to write a pass](guide/write_a_pass.md) has an example.

## The passes, in their order
""".split("\n")

def wrapped(text, columns=100):
    """Lines of so many columns, none of which begins as a list, heading or quotation does."""
    lines = []
    for line in text.split("\n"):
        together = r"(?:`[^`]*`|\S)+" if not line.startswith("`") else r"\S+"   # a signature may be cut
        words = re.findall(together, line) if len(line) > columns else [line]
        lines.append(words[0] if words else "")
        for word in words[1:]:
            begins_block = re.fullmatch(r"[-+*=]+|[#>|].*|\d+[.)]", word)
            if len(lines[-1]) + 1 + len(word) > columns and not begins_block:
                lines.append(word)
            else:
                lines[-1] += " " + word
    return lines


def item(mark, text):
    """Lines of a list's item that begins with `mark`."""
    first, *rest = wrapped(text, 100 - len(mark))
    return [mark + first, *(" " * len(mark) + line for line in rest)]


def operator_section(info, aliases):
    arguments = [("*" if info.variadic else "") + n for n in info.inputs]
    for name, kind, _ in info.params:
        if name == info.counter:
            continue
        default = default_of(kind)
        arguments.append(name if default is None else f"{name}={default}")
    signature = f"`{info.name}({', '.join(arguments)})`"
    lines = ["", f"## {info.name}", "", *wrapped(signature), "", *wrapped(env._plain(info.doc or ""))]
    if aliases:
        lines += ["", *wrapped("Also called: " + ", ".join(f"`{a}`" for a in aliases) + ".")]
    accepted = dtypes(info)
    if accepted:
        lines += ["", *wrapped("Dtypes: " + ", ".join(accepted) + ".")]
    if info.params:
        lines += ["", "Parameters:", ""]
        for name, kind, doc in info.params:
            lines += item("- ", f"`{name}` " + env._plain(f"({kind})" + (f": {doc}" if doc else "")))
    return lines


def operators_page():
    listed = list(records())
    lines = ["# Operators", "", "Generated from the operator records by `./dev docs`; do not edit.", "",
             f"{len(listed)} operators under {sum(1 + len(a) for _, a in listed)} names. `mx.nd.NAME` runs one at once,",
             "`mx.sym.NAME` puts it into a graph. Names that begin with `_` live in `mx.nd._internal`, or in the",
             "module that their prefix names (`_contrib_`, `_linalg_`, `_random_`, ...). Arrays come first, then",
             "parameters. *Dtypes* are those accepted for the first array; where none are named, any."]
    for info, aliases in listed:
        lines += operator_section(info, aliases)
    return "\n".join(lines) + "\n"


ITERATORS_PAGE = """# Native iterators

Generated from the library's records by `./dev docs`; do not edit.

`mx.io.NAME(...)` makes an iterator. Parameters are given by keyword. An iterator gives `DataBatch`
objects until its epoch ends; `reset()` begins the next one. A thread reads `prefetch_buffer`
batches ahead. Arrays of a batch stay as they are when further ones are read.

```python
import mxnet as mx
with open("points.csv", "w") as out:
    out.write("0,1\\n2,3\\n4,5\\n")
rows = mx.io.CSVIter(data_csv="points.csv", data_shape=(2,), batch_size=2)
for batch in rows:
    print(batch.data[0].asnumpy(), batch.index, batch.pad)
```

Files that are broken raise `MXNetError` with the file and the line or byte, when the batch is read.
The batches behind it can be read.

From C the same is `MXListDataIters`, `MXDataIterCreateIter` and so on
(`include/mxnet/c_api_data.h`). How to write an iterator stands in `src/io/data_iter.h`.
""".split("\n")

NATIVE_DATASETS = """
# Native datasets

`mxnet.gluon.data._internal.NAME(...)` makes a dataset, or a function that makes one batch of a list
of items. They work without the interpreter, in the threads of `ThreadedDataLoader`.
`DataLoader(try_nopython=True)` makes them of the ordinary ones where it can.
""".split("\n")


def record_section(record):
    lines = ["", f"## {record.name}", "", *wrapped(env._plain(record.doc))]
    if record.params:
        lines += ["", "Parameters:", ""]
        for name, (kind, doc) in record.params.items():
            lines += item("- ", f"`{name}` " + env._plain(f"({kind})" + (f": {doc}" if doc else "")))
    return lines


def iterators_page():
    from mxnet.io._native import iterator_records
    from mxnet.io._records import records as native_records
    lines = ITERATORS_PAGE[:-1]
    for record in iterator_records.values():
        lines += record_section(record)
    lines += NATIVE_DATASETS[:-1]
    for record in [*native_records(_LIB.MXListDatasets, _LIB.MXDatasetGetDatasetInfo),
                   *native_records(_LIB.MXListBatchifyFunctions, _LIB.MXBatchifyFunctionGetFunctionInfo)]:
        lines += record_section(record)
    return "\n".join(lines) + "\n"


def passes_page():
    count, texts = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXListPlanPasses(ctypes.byref(count), ctypes.byref(texts)))
    words = [texts[i].decode() for i in range(count.value)]
    lines = list(PASSES_PAGE)
    for number, (name, text) in enumerate(zip(words[::2], words[1::2]), 1):
        lines += item(f"{number}. ", f"`{name}`: {env._plain(text)}")
    return "\n".join(lines) + "\n"


# ---- stubs

NAMESPACES = {"contrib": "_contrib_", "linalg": "_linalg_", "image": "_image_"}


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


def stub_head(kind, module):
    return ["# Generated from the operator records by `./dev docs`; do not edit.",
            "from collections.abc import Sequence", "from typing import Any, Literal", "",
            f"from .{module} import {kind}"]


def declarations(kind, lead, prefix=""):
    """Lines that declare the functions of the operators whose names begin with `prefix`."""
    for info, aliases in records():
        arguments = [f"*{info.inputs[0]}: {kind}"] if info.variadic else [f"{identifier(n)}: {kind} | None = ..." for n in info.inputs]
        # A dtype is also NumPy's class or object of it.
        arguments += [f"{identifier(n)}: {'object' if n == 'dtype' else python_type(t)} = ..."
                      for n, t, _ in info.params if n != info.counter]
        signature = ", ".join(arguments + lead)
        for name in [info.name] + aliases:
            short = name[len(prefix):]
            if name.startswith(prefix) and short.isidentifier() and not keyword.iskeyword(short) and not short.startswith("_"):
                yield short, f"def {short}({signature}) -> {kind}: ..."


def stub(kind, module, lead):
    """Text of op.pyi for arrays (kind NDArray) or graphs (kind Symbol)."""
    return "\n".join(stub_head(kind, module) + [line for _, line in declarations(kind, lead)]) + "\n"


def namespace_stub(kind, module, lead, namespace):
    """Text of contrib.pyi and its like: operators, and the functions that are written in Python."""
    source = importlib.import_module(f"mxnet.{module}.{namespace}")
    written = {name: value for name, value in vars(source).items()
               if inspect.isfunction(value) and value.__module__.startswith("mxnet.") and not name.startswith("_")}
    lines = [f"def {name}{untyped(value)}: ..." for name, value in sorted(written.items())]
    lines += [line for name, line in declarations(kind, lead, NAMESPACES[namespace]) if name not in written]
    return "\n".join(stub_head(kind, module) + lines) + "\n"


def untyped(function):
    parts = []
    for parameter in inspect.signature(function).parameters.values():
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        parts.append(f"{star}{parameter.name}: Any" + ("" if parameter.default is parameter.empty else " = ..."))
    return f"({', '.join(parts)}) -> Any"


def pages():
    """Path (from the repository's root) to contents."""
    out = {
        "docs/env_var.md": env._markdown(env.list()) + "\n",
        "docs/variables.md": variable_tasks.page(),
        "docs/operators.md": operators_page(),
        "docs/iterators.md": iterators_page(),
        "docs/passes.md": passes_page(),
        "docs/images/speed.svg": speed_picture.picture(),
    }
    for kind, module, lead in (("NDArray", "ndarray", ["out: NDArray | Sequence[NDArray] | None = ...",
                                                       "name: str | None = ...", "**kwargs: Any"]),
                               ("Symbol", "symbol", ["name: str | None = ...",
                                                     "attr: dict[str, str] | None = ...", "**kwargs: Any"])):
        out[f"python/mxnet/{module}/op.pyi"] = stub(kind, module, lead)
        for namespace in NAMESPACES:
            out[f"python/mxnet/{module}/{namespace}.pyi"] = namespace_stub(kind, module, lead, namespace)
    out.update({**numpy_stubs.paths(), **module_stubs.paths()})
    return {**out, **either_stub.paths(out)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    check = parser.parse_args().check
    stale = []
    for path, text in pages().items():
        full = os.path.join(ROOT, path)
        try:
            with open(full, encoding="utf-8") as f:
                old = f.read()
        except FileNotFoundError:
            old = None
        if old != text:
            stale.append(path)
            if not check:
                with open(full, "w", encoding="utf-8") as f:
                    f.write(text)
                print("wrote", path)
    if check and stale:
        sys.exit(f"generated pages differ from the library: {', '.join(stale)}; run ./dev docs")


if __name__ == "__main__":
    main()
