"""The headers of the C interface are written by hand: they declare what the library exports."""

import ctypes
import re
from pathlib import Path

from mxnet.base import _LIB

ROOT = Path(__file__).resolve().parents[2]


def declared():
    """Names of the functions that the headers declare, and how often."""
    text = "".join(p.read_text() for p in sorted((ROOT / "include/mxnet").glob("c_*.h")))
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    return re.findall(r"\b((?:MX|NN)\w+)\s*\((?!\s*\*)", text)


def defined():
    names = set()
    for path in sorted((ROOT / "src/c_api").glob("*.cc")):
        names.update(re.findall(r"^int ((?:MX|NN)\w+)\(", path.read_text(), flags=re.M))
    return names


def test_every_declared_function_is_exported_and_declared_once():
    names = declared()
    assert len(names) > 200
    assert len(names) == len(set(names))
    missing = [n for n in names if not hasattr(_LIB, n)]
    assert missing == []
    assert isinstance(_LIB, ctypes.CDLL)


def test_every_function_of_the_interface_is_declared():
    names = defined()
    assert len(names) > 200
    assert sorted(names - set(declared())) == []
