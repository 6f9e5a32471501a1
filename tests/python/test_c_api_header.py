"""The headers of the C interface are written by hand: they declare what the library exports.

That it exports nothing else is in test_c_api_null.py.
"""

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


def test_every_declared_function_is_exported_and_declared_once():
    names = declared()
    assert len(names) > 200
    assert len(names) == len(set(names))
    missing = [n for n in names if not hasattr(_LIB, n)]
    assert missing == []
    assert isinstance(_LIB, ctypes.CDLL)
