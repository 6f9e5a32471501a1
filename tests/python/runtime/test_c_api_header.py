"""The headers of the C interface are written by hand: they declare what the library exports.

That it exports nothing else is in test_c_api_null.py.
"""

import ctypes
import re
import sys
from pathlib import Path

import pytest

from mxnet.base import _LIB

ROOT = Path(__file__).resolve().parents[3]

sys.path.insert(0, str(ROOT / "tools"))
import check_exports    # noqa: E402

HEADERS = sorted((ROOT / "include/mxnet").glob("c_*.h"))


def declared():
    """Names of the functions that the headers declare, and how often."""
    text = "".join(p.read_text() for p in HEADERS)
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    return re.findall(r"\b((?:MX|NN)\w+)\s*\((?!\s*\*)", text)


def test_every_declared_function_is_exported_and_declared_once():
    names = declared()
    assert len(names) > 200
    assert len(names) == len(set(names))
    missing = [n for n in names if not hasattr(_LIB, n)]
    assert missing == []
    assert isinstance(_LIB, ctypes.CDLL)


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_every_function_has_a_comment_of_its_own(header):
    functions = check_exports.declarations(header)
    assert functions
    assert [name for _, name, described in functions if not described] == []
    assert len(header.read_text().splitlines()) < 600


def test_a_comment_belongs_to_one_function(tmp_path):
    header = tmp_path / "c_new.h"
    header.write_text("/* Two of them. */\nint First(void);\nint Second(void);\n\n/* Apart. */\n\nint Third(void);\n")
    assert [described for _, _, described in check_exports.declarations(header)] == [True, False, False]


def test_c_api_h_includes_every_area():
    """A program that includes c_api.h alone has what it had while that was one file."""
    own = {"c_api.h", "c_predict_api.h", "c_api_env.h", "c_api_onnx.h", "c_api_op.h", "c_api_plan.h", "c_api_storage.h", "c_api_test.h"}
    included = set(re.findall(r'#include "mxnet/(c_\w+\.h)"', (ROOT / "include/mxnet/c_api.h").read_text()))
    assert included == {path.name for path in HEADERS} - own
