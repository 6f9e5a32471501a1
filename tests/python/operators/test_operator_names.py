"""No operator is named outside src/operator: passes, the tape, plans and stores ask its record."""
import glob
import os
import re

from mxnet.base import _LIB, check_call
import ctypes

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
# A line may name an operator where it says why: what old files hold, or a word that means something
# else there.
EXCUSE = re.compile(r"operator-name: \S")
_TOKEN = re.compile(r'''
    //[^\n]*                            # comments
  | /\*.*?\*/
  | R"(?P<end>[^(\s"]*)\((?P<raw>.*?)\)(?P=end)"
  | "(?P<text>(?:[^"\\\n]|\\.)*)"
  | '(?:[^'\\\n]|\\.)'
''', re.S | re.X)


def operator_names():
    """All names and aliases, those of hidden operators too."""
    count, names = ctypes.c_uint32(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXListAllOpNames(ctypes.byref(count), ctypes.byref(names)))
    return {names[i].decode() for i in range(count.value)}


def literals(text):
    """[(line, literal)] of C++ text, without those on lines with an excuse."""
    found = []
    for token in _TOKEN.finditer(text):
        literal = token.group("raw") if token.group("raw") is not None else token.group("text")
        if literal is None:
            continue
        start, end = text.rfind("\n", 0, token.start()) + 1, text.find("\n", token.end())
        if not EXCUSE.search(text[start:end if end >= 0 else None]):
            found.append((text.count("\n", 0, token.start()) + 1, literal))
    return found


def test_literals_are_found():
    text = '''
// "sum" and 'x'
/* "exp" */ const char quote = '"', *name = "relu";
Make("max", R"(min)", "a \\"where\\" b");
Ask("Cast");  // operator-name: files of 0.8
'''
    assert literals(text) == [(3, "relu"), (4, "max"), (4, "min"), (4, 'a \\"where\\" b')]


def test_operators_are_named_in_src_operator_alone():
    names = operator_names()
    assert {"Convolution", "_npi_add", "_backward_copyto", "stop_gradient"} <= names
    found = []
    for folder in ("src", "include"):
        for path in sorted(glob.glob(os.path.join(TREE, folder, "**", "*"), recursive=True)):
            file = os.path.relpath(path, TREE)
            # The C++ front end is a program of users, and ONNX's converters write graphs as users
            # do: they call operators.
            if file.startswith(("src/operator/", "src/onnx/", "include/mxnet-cpp/")):
                continue
            if not file.endswith((".h", ".cc", ".c", ".inc", ".cu", ".cuh")):
                continue
            with open(path, encoding="utf-8") as f:
                places = [f"{file}:{line}: \"{literal}\"" for line, literal in literals(f.read()) if literal in names]
            found += places
    assert len(glob.glob(os.path.join(TREE, "src", "executor", "**", "*.cc"), recursive=True)) > 20
    assert not found, "an operator is asked for by name; ask its record (src/operator/record/traits.h):\n" + "\n".join(found)
