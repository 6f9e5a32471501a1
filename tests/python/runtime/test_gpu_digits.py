"""The digits example on a GPU: trained through Gluon and through symbols, classified from C++. The
programs are those of examples/digits; the library may lie anywhere (MXNET_LIBRARY_PATH)."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import mxnet as mx

STAND_IN = "libhost_gpu.so" in os.environ.get("LD_PRELOAD", "")     # it computes thread by thread
ROOT = pathlib.Path(__file__).resolve().parents[3]
EPOCHS = 2 if STAND_IN else 30
pytestmark = [pytest.mark.gpu,
              pytest.mark.skipif(mx.num_gpus() == 0, reason="needs a GPU")]

# In the place of what a machine lacks: ten drawn digits, moved and noisy, for scikit-learn's scans.
SKLEARN = '''
import types
import numpy as np
SHAPES = """
.###. ..#.. .###. ####. #..#. ##### .##.. ##### .###. .###.
#...# .##.. #...# ....# #..#. #.... #.... ....# #...# #...#
#...# ..#.. ...#. .###. ##### ####. ####. ...#. .###. .####
#...# ..#.. ..#.. ....# ...#. ....# #...# ..#.. #...# ....#
.###. .###. ##### ####. ...#. ####. .###. ..#.. .###. .###.
"""

def load_digits():
    rng = np.random.RandomState(0)
    rows = [line.split() for line in SHAPES.split("\\n") if line]
    shapes = np.array([[[c == "#" for c in row[d]] for row in rows] for d in range(10)])
    target = rng.randint(0, 10, 1797)
    images = 3.0 * rng.uniform(size=(1797, 8, 8))
    for image, digit, (y, x) in zip(images, target, rng.randint(1, 3, (1797, 2))):
        image[y:y + 5, x:x + 5] += 13.0 * shapes[digit]
    return types.SimpleNamespace(images=images, target=target)

def train_test_split(images, labels, test_size, random_state, stratify):
    order = np.random.RandomState(random_state).permutation(len(images))
    test, train = np.split(order, [round(test_size * len(images))])
    return images[train], images[test], labels[train], labels[test]
'''
TQDM = '''
class tqdm:
    def __init__(self, items, **options):
        self.items = items

    def __iter__(self):
        return iter(self.items)

    def set_postfix(self, **values):
        pass
'''


def stand_ins(folder):
    """A folder with modules that the examples import and this Python lacks."""
    folder.mkdir()
    if importlib.util.find_spec("sklearn") is None:
        (folder / "sklearn").mkdir()
        for name in ("__init__", "datasets", "model_selection"):
            (folder / "sklearn" / f"{name}.py").write_text(SKLEARN)
    if importlib.util.find_spec("tqdm") is None:
        (folder / "tqdm.py").write_text(TQDM)
    return str(folder)


def accuracy(text, pattern):
    found = re.search(pattern, text)
    assert found, text
    return found.group(1)


def train(folder, program, *options):
    """The accuracy that a program of examples/digits prints."""
    package = str(pathlib.Path(mx.__file__).parents[1])
    path = [package, stand_ins(folder / "modules"), os.environ.get("PYTHONPATH", "")]
    result = subprocess.run([sys.executable, str(ROOT / "examples" / "digits" / program), "--gpu",
                             "--epochs", str(EPOCHS), *options], timeout=600,
                            env=dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, path))),
                            capture_output=True, text=True)
    reached = accuracy(result.stdout or result.stderr, r"accuracy (\d\.\d{4}) on \d+ held-out images")
    if STAND_IN:    # a few steps: better than guesses
        assert result.returncode == 0 or f"{reached} is below 0.985" in result.stderr, result.stderr
        assert float(reached) > 0.4
    else:
        assert result.returncode == 0 and float(reached) >= 0.985, result.stdout + result.stderr
    return reached


def compiled(folder, source):
    """The program, linked to the library of this process."""
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None:
        pytest.skip("no g++ here")
    library = pathlib.Path(mx.libinfo.find_lib_path()[0]).resolve()
    program = folder / source.stem
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    result = subprocess.run([compiler, "-std=c++17", "-O1", f"-I{ROOT / 'include'}", str(source),
                             "-o", str(program), str(library), f"-Wl,-rpath,{library.parent}",
                             "-Wl,--unresolved-symbols=ignore-in-shared-libs"],
                            env=env, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return program


def test_gluon_and_cpp_on_a_gpu(tmp_path):
    reached = train(tmp_path, "train_gluon.py", "--out", str(tmp_path))
    program = compiled(tmp_path, ROOT / "examples" / "cpp" / "digits_classify.cc")
    files = [str(tmp_path / f"digits-{name}") for name in ("symbol.json", "0000.params", "test.params")]
    for device in (["--gpu"], []):      # also what a GPU trained, on the CPU
        result = subprocess.run([str(program), *files, *device], capture_output=True, text=True,
                                timeout=600)
        assert result.returncode == 0, result.stdout + result.stderr
        assert "agree on every image" in result.stdout
        assert accuracy(result.stdout, r"accuracy (\d\.\d{4}) on \d+ images") == reached


def test_symbols_on_a_gpu(tmp_path):
    train(tmp_path, "train_symbol.py")
