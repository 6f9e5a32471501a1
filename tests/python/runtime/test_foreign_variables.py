"""Variables of other libraries and of jobs: one table, which the sources use and the page shows."""
import os
import pathlib
import re
import subprocess
import sys

import mxnet as mx
import pytest

TREE = pathlib.Path(__file__).resolve().parents[3]
READERS = {"src/base/env.cc", "src/base/foreign_env.cc"}
TABLE = (TREE / "src/base/foreign_env.inc").read_text()
NAMES = re.findall(r'^MXNET_FOREIGN_ENV\("(\w+)"', TABLE, re.M)


def sources():
    for path in (TREE / "src").rglob("*"):
        if path.suffix in (".cc", ".h", ".cu"):
            yield str(path.relative_to(TREE)), path.read_text()


def test_two_files_alone_read_the_environment():
    others = [name for name, text in sources() if re.search(r"\bgetenv\s*\(", text) and name not in READERS]
    assert not others, f"read variables through mxnet/env.h or base/foreign_env.h: {others}"


def test_each_name_that_is_asked_for_has_a_row():
    asked = {name for _, text in sources() for name in re.findall(r'\bForeign(?:Text|Number|Variable|IsSet)\("(\w+)"', text)}
    assert len(asked) > 10 and not asked - set(NAMES)


def test_the_page_has_them():
    page = (TREE / "docs/env_var.md").read_text()
    texts = re.findall(r'^MXNET_FOREIGN_ENV\("(\w+)",\s*"[^"]*",\s*"([^"]*)"\)', TABLE, re.M)
    assert len(texts) == len(NAMES) and not [name for name, text in texts if text and f"| `{name}` |" not in page]


def decode(kind, most):
    """What a program says that decodes an image of 100 pixels."""
    if kind == ".png" and not mx.runtime.Features().is_enabled("OPENCV"):
        pytest.skip("this build decodes JPEG files alone")
    program = "import mxnet as mx\nimport numpy as np\nimport sys\nheader = mx.recordio.IRHeader(0, 0, 0, 0)\n" \
              "record = mx.recordio.pack_img(header, np.zeros((10, 10, 3), 'uint8'), img_fmt=sys.argv[1])\n" \
              "mx.image.imdecode(mx.recordio.unpack(record)[1])\nprint('fine')"
    done = subprocess.run([sys.executable, "-c", program, kind], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "OPENCV_IO_MAX_IMAGE_PIXELS": most})
    return done.stdout + done.stderr


@pytest.mark.parametrize("value", ["many", "-1", "0", "", "1e6", "4 MB"])
@pytest.mark.parametrize("kind", [".jpg", ".png"])
def test_a_wrong_number_of_pixels_is_an_error(value, kind):
    """OpenCV ended the process while it was loaded; for JPEG files the word meant no limit."""
    out = decode(kind, value)
    assert f"OPENCV_IO_MAX_IMAGE_PIXELS='{value}'; accepted: a whole number of at least 1, also with KB or MB" in out, out


@pytest.mark.parametrize("value,message", [("99", "IO_MAX_IMAGE_PIXELS"), ("100", "fine"), ("1Kb", "fine"),
                                           ("1MB", "fine")])
@pytest.mark.parametrize("kind", [".jpg", ".png"])
def test_the_number_of_pixels_holds_for_all_files(value, message, kind):
    assert message in decode(kind, value)
