"""Environment variables: what there is, what is in effect, and where it comes from.

    python -m mxnet.env [--json | --markdown] [NAME ...]

Variables are read once, when the library is loaded; see :func:`mxnet.util.set_env` for changing one
afterwards.
"""
import argparse
import ctypes
import json
import re
import sys

from ._machine.command import run
from .base import _LIB, c_str, check_call, py_str

__all__ = ["list", "value", "source"]


def list():  # pylint: disable=redefined-builtin
    """Returns a list of dicts, one per variable: name, group, type, default (as documented),
    accepted, help, value (typed: bool, int, float, str or list of int), source and
    fixed_after_start.

    >>> row = mx.env.list()[0]
    >>> row['name'], row['type']
    ('MXNET_LIBRARY_PATH', 'path')
    """
    text = ctypes.c_char_p()
    check_call(_LIB.MXListEnv(ctypes.byref(text)))
    return json.loads(py_str(text.value))


def _row(name):
    text = ctypes.c_char_p()
    check_call(_LIB.MXGetEnv(c_str(name), ctypes.byref(text)))  # knows unknown names and the nearest one
    return next(row for row in list() if row["name"] == name)


def value(name):
    """Returns the value in effect of variable `name`, typed. Raises ValueError for an unknown
    name.

    >>> mx.env.value('MXNET_CHECK_INDICES')
    False
    """
    return _row(name)["value"]


def source(name):
    """Returns where the value of `name` comes from: "default", "environment", "set_env" or "alias
    NAME" (an older name of it). Raises ValueError for an unknown name.

    >>> mx.env.source('MXNET_CHECK_INDICES') in ('default', 'environment', 'set_env')
    True
    """
    return _row(name)["source"]


def _shown(val):
    if isinstance(val, bool):
        return "1" if val else "0"
    return ",".join(map(str, val)) if not isinstance(val, (str, int, float)) else str(val)


def _text(rows):
    name = max(len(row["name"]) for row in rows)
    val = max(len(_shown(row["value"])) for row in rows)
    lines = [f"{row['name']:{name}}  {_shown(row['value']):{val}}  {row['source']}" for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def _plain(text):
    """Markdown of running text: code stays code, and a star or an angle that would be a mark is
    what it is."""
    marks = {"*": "\\*", "<": "&lt;"}
    return re.sub(r"`[^`]*`|\*(?=\S)|(?<=\S)\*|<(?=[A-Za-z/!?])", lambda found: marks.get(found.group(), found.group()), text)


def _cell(text):
    return text.replace("|", "\\|")


def _code(text):
    return f"`{_cell(text)}`" if text else ""


_SPELLED = {"cpu": "CPU", "cuda": "CUDA", "cudnn": "cuDNN", "onednn": "oneDNN", "python": "Python"}


def _markdown(rows):
    lines = ["# Environment variables", "",
             "Generated from `include/mxnet/env_table.inc` by `./dev docs`; do not edit.", "",
             "A variable is read once, when the library is loaded. An empty value means the default. A value",
             "that is not accepted stops the import; the error says what is accepted. A name that begins with",
             "`MXNET_` and is not listed here is reported once, with the nearest name. `python -m mxnet.env`",
             "lists the values in effect and where they come from. A variable that a program puts into",
             "`os.environ` after the import has no effect, and a warning says so.", "",
             "`mx.util.set_env(name, value)` and `MXSetEnv` change a variable of the running process, except",
             "those marked *start*. `cores` is the number of processors that the process may use, `all` every",
             "bit. A default of `= NAME` follows that variable. Of an older and a newer name of the same",
             "setting the newer one wins."]
    groups = [*dict.fromkeys(row["group"] for row in rows)]      # a group is one table wherever its rows stand
    group = None
    for row in sorted(rows, key=lambda row: groups.index(row["group"])):
        if row["group"] != group:
            group = row["group"]
            words = [_SPELLED.get(word, word) for word in group.split()]
            if words[0] == words[0].lower():
                words[0] = words[0].capitalize()
            lines += ["", "## " + " ".join(words), "",
                      "| variable | type | default | accepted | what it does |",
                      "|---|---|---|---|---|"]
        note = " *start*" if row["fixed_after_start"] else ""
        lines.append(f"| `{row['name']}`{note} | {row['type']} | {_code(row['default'])} | "
                     f"{_code(row['accepted'])} | {_cell(_plain(row['help']))} |")
    return "\n".join(lines)


def _main(argv):
    parser = argparse.ArgumentParser(prog="python -m mxnet.env", description="Lists the environment variables of the library.")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="a list of objects with name, type, default, value, source, ...")
    form.add_argument("--markdown", action="store_true", help="the tables of docs/env_var.md")
    parser.add_argument("name", nargs="*", help="only these variables")
    args = parser.parse_args(argv)
    try:
        rows = [_row(name) for name in args.name] or list()
    except ValueError as error:
        sys.exit(str(error))
    print(json.dumps(rows, indent=1) if args.json else _markdown(rows) if args.markdown else _text(rows))


if __name__ == "__main__":
    sys.exit(run(_main, sys.argv[1:]))
