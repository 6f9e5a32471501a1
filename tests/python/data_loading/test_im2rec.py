"""mxnet.tools.im2rec: lists and record files as the tool of 1.9.1 wrote them (im2rec_oracle.json,
made by record_oracle_im2rec.py), and what it does about damaged pictures and lists."""
import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import recordio
from mxnet.tools import im2rec

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ORACLE = json.load(open(os.path.join(HERE, "data", "im2rec_oracle.json")))
pytestmark = pytest.mark.skipif(not mx.runtime.Features().is_enabled("OPENCV"), reason="a build without OpenCV")


@pytest.fixture
def pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in ORACLE["files"].items():
        path = tmp_path / "pictures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes.fromhex(text))
    (tmp_path / "out").mkdir()
    return tmp_path


def run(*arguments):
    return im2rec.main(["out/p", "pictures", *arguments])


@pytest.mark.parametrize("case", ORACLE["lists"], ids=lambda case: " ".join(case["arguments"]))
def test_lists(case, pictures, capsys):
    assert run("--list", *case["arguments"]) == 0
    got = {name: open(f"out/{name}").read() for name in os.listdir("out")}
    assert got == case["lists"]
    assert capsys.readouterr().out == case["printed"]


@pytest.mark.parametrize("case", ORACLE["records"], ids=lambda case: " ".join(case["arguments"]))
def test_records(case, pictures):
    (pictures / "out/p.lst").write_text(ORACLE["list"])
    assert run("--num-thread", "1", *case["arguments"]) == 0
    assert {ending: hashlib.sha1(open("out/p" + ending, "rb").read()).hexdigest() for ending in (".rec", ".idx")} == case["sha1"]


def test_several_processes_keep_the_order(pictures):
    (pictures / "out/p.lst").write_text("".join(f"{i}\t{i % 7}\ttop.jpg\n" for i in range(50)))
    files = []
    for processes in "1", "3":
        assert run("--resize", "12", "--num-thread", processes) == 0
        files.append([open("out/p" + ending, "rb").read() for ending in (".rec", ".idx", ".lst")])
    assert files[0] == files[1]


def test_the_file_is_a_program(pictures):
    """Scripts of 1.9.1 run the path that get_im2rec_path() gives."""
    tool = [sys.executable, mx.test_utils.get_im2rec_path()]
    for step in (["--list", "--recursive"], ["--num-thread", "2"]):
        done = subprocess.run([*tool, *step, "out/p", "pictures"], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    assert sorted(os.listdir("out")) == ["p.idx", "p.lst", "p.rec"]


def test_what_is_wrong_is_named_and_skipped(pictures, capsys):
    whole = open("pictures/top.jpg", "rb").read()
    (pictures / "pictures/cut.jpg").write_bytes(whole[:len(whole) // 2])
    (pictures / "pictures/empty.jpg").write_bytes(b"")
    (pictures / "pictures/text.jpg").write_bytes(b"hello")
    lines = ["1\t1\ttop.jpg", "2\t1\tcut.jpg", "3\t1\tempty.jpg", "4\t1\ttext.jpg", "5\t1\tmissing.jpg", "", "6\t1", "7\tabc\ttop.jpg",
             "8.5\t1\ttop.jpg", "-9\t1\ttop.jpg", "10 1 top.jpg", "11\t1\t2\t3\ttop.jpg", " 12 \t 2 \t top.jpg "]
    for processes in "1", "2":
        (pictures / "out/p.lst").write_text("\n".join(lines * 2))
        assert run("--pack-label", "--num-thread", processes) == 0
        printed = capsys.readouterr().err
        assert "6 pictures packed, 8 skipped" in printed
        for text in ("cut.jpg: ", "empty.jpg: the file is empty", "text.jpg: ", "missing.jpg: ", "line 7: 2 fields", "line 8: ", "line 9: ",
                     "line 10: ", "line 11: "):
            assert text in printed
        with recordio.MXIndexedRecordIO("out/p.idx", "out/p.rec", "r") as record:
            assert record.keys == [1, 11, 12] * 2
            header, _ = recordio.unpack(record.read_idx(11))
            assert header.label.tolist() == [1, 2, 3] and header.id == 11
    (pictures / "out/p.lst").write_text("4\t1\ttext.jpg\n")
    assert run() == 1


def test_errors(pictures, capsys):
    assert run() == 1 and "Did not find any list" in capsys.readouterr().out
    assert im2rec.main(["--list", "out/p", "nowhere"]) == 1 and "nowhere" in capsys.readouterr().err
    assert run("--list", "--chunks", "0") == 1
    assert os.listdir("out") == []
    (pictures / "out/p.lst").write_text("1\t1\ttop.jpg\n")
    assert im2rec.main(["out/p", "nowhere"]) == 1
    for wrong in (["--color", "5"], ["--resize", "-3"], ["--encoding", ".gif"]):
        with pytest.raises(SystemExit):
            run(*wrong)


def test_circles_and_names_that_no_list_can_hold(pictures, capsys):
    os.symlink("..", "pictures/dog/up")
    os.symlink("top.jpg", "pictures/link.jpg")
    os.symlink("nowhere.jpg", "pictures/dangling.jpg")
    (pictures / "pictures/a\tb.jpg").write_bytes(b"")
    assert run("--list", "--recursive", "--no-shuffle") == 0
    names = [line.split("\t")[2] for line in open("out/p.lst").read().splitlines()]
    assert "link.jpg" in names and "dangling.jpg" not in names and not any("up" in name for name in names)
    printed = capsys.readouterr().err
    assert "leads back" in printed and "a\\tb.jpg" in printed


@pytest.mark.parametrize("module", [True, False])
def test_the_commands(pictures, module):
    command = ["-m", "mxnet.tools.im2rec"] if module else [os.path.join(HERE, "../../tools/im2rec.py")]
    done = subprocess.run([sys.executable, *command, "--list", "--recursive", "out/p", "pictures"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith(". 0\n"), done.stderr
    assert os.listdir("out") == ["p.lst"]


def test_encoder():
    encode = mx.nd._internal._cvimencode
    image = np.random.RandomState(0).randint(0, 256, (9, 7, 4)).astype("uint8")
    for channels in (1, 3, 4):
        pixels = mx.nd.array(image[:, :, :channels], dtype="uint8")
        for to_rgb in (True, False):
            file = encode(pixels, encoding="png", quality=3, to_rgb=to_rgb)
            got = mx.image.imdecode(file, flag=-1, to_rgb=to_rgb).asnumpy()
            np.testing.assert_array_equal(got, image[:, :, :channels])
    smooth = mx.nd.array(np.full((8, 8, 3), [250, 10, 60]), dtype="uint8")
    for to_rgb in (True, False):
        got = mx.image.imdecode(encode(smooth, to_rgb=to_rgb), to_rgb=to_rgb).asnumpy().astype(int)
        assert abs(got - smooth.asnumpy()).max() <= 3
    sizes = [encode(mx.nd.array(image[:, :, :3], dtype="uint8"), quality=quality).size for quality in (-3, 0, 50, 100, 101)]
    assert sizes[0] == sizes[1] < sizes[2] < sizes[3] == sizes[4]
    for shape in ((4, 4), (4, 4, 2), (0, 4, 3), (1, 4, 4, 3)):
        with pytest.raises(ValueError, match="accepted are"):
            encode(mx.nd.zeros(shape, dtype="uint8"))
    with pytest.raises(ValueError, match="65500"):
        encode(mx.nd.zeros((1, 65501, 3), dtype="uint8"))
    with pytest.raises(TypeError):
        encode(mx.nd.zeros((4, 4, 3)))
