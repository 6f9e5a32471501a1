"""What notebooks show of arrays, symbols, blocks and profiles."""
import base64
import re
import xml.dom.minidom

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._display import html as _html


def parsed(text):
    return xml.dom.minidom.parseString(text)


def cells(text, tag="td"):
    return ["".join(n.data for n in cell.childNodes) for cell in parsed(text).getElementsByTagName(tag)]


@pytest.mark.parametrize("values, dtype, wanted", [
    ([[1, 2.5], [-3e9, np.nan]], "float32", ["1", "2.5", "-3e+09", "nan"]),
    ([[1, 2]], "int8", ["1", "2"]),
    ([[1 / 3]], "float16", ["0.33325"])])
def test_small_tables(values, dtype, wanted):
    text = nd.array(values, dtype=dtype)._repr_html_()
    assert cells(text) == wanted
    assert f"NDArray {len(values)}x{len(values[0])}, {dtype}, cpu(0)" in text


@pytest.mark.parametrize("shape, wanted", [
    ((11, 2), [*map(str, range(8)), "…", "…", *map(str, range(14, 22))]),
    ((2, 60), ["0", "1", "2", "3", "…", "56", "57", "58", "59", "60", "61", "62", "63", "…", "116", "117", "118", "119"])])
def test_matrices_are_tables(shape, wanted):
    text = nd.arange(shape[0] * shape[1]).reshape(shape)._repr_html_()
    assert cells(text) == wanted and f"NDArray {shape[0]}x{shape[1]}, float32" in text


@pytest.mark.parametrize("shape", [(), (3,), (1, 0), (2, 3, 4), (0,), (2, 3, 60)])
def test_other_shapes_are_text(shape):
    with mx.util.np_shape(True):
        array = nd.ones(shape)
        text = array._repr_html_()
    parsed(text)
    assert np.array2string(array.asnumpy(), max_line_width=10**6) in text      # rows are not broken


def test_only_the_ends_of_large_arrays_are_copied(monkeypatch):
    copied = []
    real = nd.NDArray.asnumpy
    monkeypatch.setattr(nd.NDArray, "asnumpy", lambda self: copied.append(self.size) or real(self))
    array = nd.arange(1000000).reshape((1000, 1000))
    with autograd.record():
        text = array._repr_html_()
        assert autograd.is_recording()
    assert max(copied) <= 100 and "NDArray 1000x1000, float32" in text
    numbers = [int(float(cell)) for cell in cells(text) if cell != "…"]
    ends = (0, 1, 2, 3, 996, 997, 998, 999)
    assert np.allclose(numbers, [r * 1000 + c for r in ends for c in ends], rtol=1e-4)
    assert cells(text).count("…") == 17 and len(text) < 5000
    assert len(nd.zeros((3, 2000, 2, 2))._repr_html_()) < 2000


def read_png(data):
    return mx.image.imdecode(data, flag=-1).asnumpy()


@pytest.mark.skipif(not mx.runtime.Features().is_enabled("OPENCV"), reason="a build without OpenCV")
@pytest.mark.parametrize("shape", [(8, 9, 3), (20, 8, 1), (16, 16, 4), (600, 30, 3), (100, 1500, 3)])
def test_pictures(shape):
    array = nd.array(np.random.RandomState(0).randint(0, 256, shape), dtype="uint8")
    text = array._repr_html_()
    image, = parsed(text).getElementsByTagName("img")
    got = read_png(base64.b64decode(image.getAttribute("src").split(",")[1]))
    step = max(1, -(-max(shape[:2]) // 512))
    np.testing.assert_array_equal(got, array.asnumpy()[::step, ::step])
    assert int(image.getAttribute("width")) % got.shape[1] == 0 and ("th pixel" in text) == (step > 1)


def test_what_is_no_picture():
    for array in (nd.zeros((8, 9, 3)), nd.zeros((8, 9, 2), dtype="uint8"), nd.zeros((7, 9, 3), dtype="uint8")):
        assert "<img" not in array._repr_html_()


def test_symbols():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="a<b")
    text = x._repr_html_()
    parsed(text)
    assert "<details open=" in text and "FullyConnected" in text and "&lt;Symbol a&lt;b&gt;" in text
    for count, start in ((100, "<details>"), (1000, "<div>")):
        for _ in range(count):
            x = x + 1
        text = x._repr_html_()
        parsed(text)
        assert text.startswith(start) and len(text) < 200000
    assert "1101 operators" in text
    assert "group" in mx.sym.Group([x, x * 2])._repr_html_()


def test_blocks():
    net = gluon.nn.HybridSequential(prefix="net_")
    shared = gluon.nn.Dense(4, in_units=3, prefix="d_")
    net.add(shared, gluon.nn.Dense(4, in_units=3, params=shared.params, prefix="d_"), gluon.nn.Dense(5, prefix="later_"))
    text = net._repr_html_()
    assert cells(text)[:6] == ["net", "HybridSequential", "", "\u20030", "Dense(3 -> 4, linear)", "16"]
    assert cells(text)[-1] == "?" and "16 parameters, without those" in text
    styles = [cell.getAttribute("style") for cell in parsed(text).getElementsByTagName("td")][:3]
    assert "white-space:normal" in styles[1] and "white-space:pre" in styles[2]     # long texts leave the numbers in sight
    large = gluon.nn.Sequential()
    for _ in range(500):
        large.add(gluon.nn.Activation("relu"))
    text = large._repr_html_()
    assert text.count("<tr>") == 302 and "201 more" in text
    parsed(gluon.model_zoo.vision.resnet18_v1()._repr_html_())


def test_profiles(tmp_path):
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename=str(tmp_path / "p.json"))
    mx.profiler.set_state("run")
    nd.dot(nd.ones((9, 9)), nd.ones((9, 9))).wait_to_read()
    mx.profiler.set_state("stop")
    table = mx.profiler.dumps()
    assert isinstance(table, str) and "dot" in table
    text = table._repr_html_()
    assert "dot" in cells(text) and "Total Count" in cells(text, "th")
    tables = parsed(text).getElementsByTagName("table")
    for table in tables:        # as many headings as values
        rows = [len(row.childNodes) for row in table.getElementsByTagName("tr")]
        assert len(rows) > 1 and len(set(rows)) == 1, table.toxml()
    assert "Max Use (kB)" in cells(text, "th")
    assert type(mx.profiler.dumps(reset=True, format="json")) is str
    parsed(_html.TableText("")._repr_html_())
    parsed(_html.TableText("a & b\n=====\n")._repr_html_())


def test_a_compiled_plan_shows_its_dearest_operators():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(4, activation="relu"), gluon.nn.Dense(2))
    net.initialize()
    net.hybridize()
    plan = net.explain(nd.ones((3, 5)), runs=2)
    text = plan._repr_html_()
    shown = cells(text)
    assert shown[0] == plan.time_by_operator()[0][0] and shown[3].endswith(" %")
    page, = parsed(text).getElementsByTagName("iframe")
    assert page.getAttribute("srcdoc").split() == plan.html().split()
    assert re.fullmatch(r"<Explanation of .*, inference: \d+ nodes, .*s>", repr(plan))
