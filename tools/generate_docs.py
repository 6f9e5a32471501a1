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
import os
import re
import sys

import either_stub
import foreign_variables
import module_stubs
import numpy_stubs
import operator_stubs
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
    found = re.search(r"default=(.*)$", _op_functions.readable(type_text))
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
            lines += item("- ", f"`{name}` " + env._plain(f"({_op_functions.readable(kind)})" + (f": {doc}" if doc else "")))
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
            lines += item("- ", f"`{name}` " + env._plain(f"({_op_functions.readable(kind)})" + (f": {doc}" if doc else "")))
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


def pages():
    """Path (from the repository's root) to contents."""
    out = {
        "docs/env_var.md": env._markdown(env.list()) + "\n" + foreign_variables.markdown(),
        "docs/variables.md": variable_tasks.page(),
        "docs/operators.md": operators_page(),
        "docs/iterators.md": iterators_page(),
        "docs/passes.md": passes_page(),
        "docs/images/speed.svg": speed_picture.picture(),
        "docs/images/speed_narrow.svg": speed_picture.picture(narrow=True),
    }
    out.update({**operator_stubs.paths(list(records())), **numpy_stubs.paths(), **module_stubs.paths()})
    out.update(either_stub.paths(out))
    return {path: operator_stubs.with_exceptions(path, text) for path, text in out.items()}


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
