"""Pictures, boxes and windows of attention in exported models."""
import numpy as np
import pytest
from onnx_checks import around_zero, check_symbol, positive, run, run_here

import mxnet as mx

S = mx.sym
x, y, z = S.var("x"), S.var("y"), S.var("z")


def picture(*shape, dtype="float32"):
    return np.random.RandomState(0).randint(0, 255, shape).astype(dtype)


@pytest.mark.parametrize("interp", [0, 1, 2])
@pytest.mark.parametrize("shape", [(5, 7, 3), (2, 6, 4, 1)])
def test_resize(shape, interp, tmp_path):
    for size in ((4, 3), (9, 11)):
        check_symbol(S.image.resize(x, size=size, interp=interp), {"x": picture(*shape)}, {}, tmp_path)


def test_resize_of_bytes(tmp_path):
    data = picture(8, 8, 3, dtype="uint8")
    made = S.image.resize(S.var("x", dtype="uint8"), size=(16, 16), interp=1)
    ours = made.bind(mx.cpu(), {"x": mx.nd.array(data, dtype="uint8")}).forward()[0].asnumpy().astype(int)
    path = mx.onnx.export_model(made, {}, [(8, 8, 3)], "uint8", onnx_file_path=str(tmp_path / "b.onnx"))
    for result in (run(path, {"x": data})[0], run_here(path, {"x": data})[0]):
        assert np.abs(result.astype(int) - ours).max() <= 1
    with pytest.raises(mx.MXNetError, match="node 'area', operator _image_resize: interp 3 cannot be exported; accepted: 0"):
        mx.onnx.export_model(S.image.resize(x, size=4, interp=3, name="area"), {}, [(8, 8, 3)], onnx_file_path=str(tmp_path / "c.onnx"))


def test_borders_and_lighting(tmp_path):
    border = S._internal._cvcopyMakeBorder
    for kind in (0, 1):
        check_symbol(border(x, top=1, bot=2, left=3, right=0, type=kind, value=7), {"x": picture(4, 5, 3)}, {}, tmp_path)
    check_symbol(S.image.adjust_lighting(x, alpha=(0.1, -0.2, 0.3)), {"x": picture(4, 5, 3)}, {}, tmp_path)


def test_drawn_changes(tmp_path):
    data = picture(4, 5, 3)
    made = S.image.random_flip_left_right(x, p=0.5)
    flip = mx.onnx.load(mx.onnx.export_model(made, {}, [data.shape], onnx_file_path=str(tmp_path / "f.onnx")))
    found = {flip(data).asnumpy().tobytes() for _ in range(40)}
    assert found == {data.tobytes(), np.ascontiguousarray(data[:, ::-1]).tobytes()}
    for name in ("random_brightness", "random_contrast"):
        made = getattr(S.image, name)(x, min_factor=0.5, max_factor=0.5)
        check_symbol(made, {"x": data}, {}, tmp_path)


@pytest.mark.parametrize("symmetric", [True, False])
def test_attention_in_windows(symmetric, tmp_path):
    dilation = np.array([1, 2], np.int32)
    more = {"w": 2, "symmetric": symmetric}
    named = S.var("z", dtype="int32")
    check_symbol(S.contrib.sldwin_atten_score(x, y, named, **more),
                 {"x": around_zero(2, 6, 2, 3), "y": around_zero(2, 6, 2, 3, seed=5), "z": dilation}, {}, tmp_path)
    width = 5 if symmetric else 3
    score = around_zero(2, 6, 2, width)
    check_symbol(S.contrib.sldwin_atten_context(x, y, named, **more),
                 {"x": score, "y": around_zero(2, 6, 2, 3, seed=5), "z": dilation}, {}, tmp_path)
    check_symbol(S.contrib.sldwin_atten_mask_like(x, named, S.var("n", dtype="int32"), **more),
                 {"x": score, "z": dilation, "n": np.array([6, 3], np.int32)}, {}, tmp_path)


def boxes(*shape):
    low = positive(*shape, 2)
    return np.concatenate([low, low + positive(*shape, 2, seed=9)], -1)


def test_box_encode(tmp_path):
    given = {"s": np.array([[1, 0, 1], [1, 1, 1]], np.float32), "m": np.array([[0, 1, 3], [2, 1, -1]], np.float32),
             "a": boxes(2, 3), "r": boxes(2, 4), "u": np.zeros(4, np.float32) + 0.1, "v": np.array([0.1, 0.1, 0.2, 0.2], np.float32)}
    check_symbol(S.Group(list(S.contrib.box_encode(*(S.var(n) for n in given)))), given, {}, tmp_path)


@pytest.mark.parametrize("more", [{"threshold": 0.4}, {"threshold": 0.6, "is_ascend": True}, {"threshold": 0.1, "topk": 1}])
def test_bipartite_matching(more, tmp_path):
    made = S.Group(list(S.contrib.bipartite_matching(x, **more)))
    check_symbol(made, {"x": np.random.RandomState(2).uniform(0, 1, (2, 4, 3)).astype("float32")}, {}, tmp_path)
