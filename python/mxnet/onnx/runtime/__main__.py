"""Runs a Python program that was written for onnxruntime on this library."""
import argparse
import os
import runpy
import sys

from ._replace import replace_onnxruntime


def main():
    """The program sees its own arguments, and imports this library as onnxruntime."""
    parser = argparse.ArgumentParser(prog="python -m mxnet.onnx.runtime", description=__doc__)
    parser.add_argument("-m", dest="module", action="store_true", help="`program` is the name of a module, as in python -m")
    parser.add_argument("program", help="a Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program is given")
    given = parser.parse_args()
    replace_onnxruntime()
    sys.argv = [given.program, *given.arguments]
    if given.module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(given.program, run_name="__main__", alter_sys=True)
        return
    if not os.path.isfile(given.program):
        parser.error(f"no file {given.program!r}")
    sys.path.insert(0, os.path.dirname(os.path.abspath(given.program)))
    runpy.run_path(given.program, run_name="__main__")


if __name__ == "__main__":
    main()
