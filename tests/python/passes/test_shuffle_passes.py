"""Channels of groups taken in turn, with what stands around them in ShuffleNet."""
import numpy as np
import pytest

import mxnet as mx
from test_passes import X, bind, compare, operators

S = mx.sym


def shuffled(x, groups, channels, spatial=(5, 3), axes=(0, 2, 1, 3, 4)):
    y = S.reshape(x, shape=(-1, groups, channels // groups, *spatial))
    y = S.transpose(y, axes=axes)
    return S.reshape(y, shape=(-1, channels, *spatial))


def conv(data, filters=16, kernel=1, name=None):
    return S.Convolution(data, num_filter=filters, kernel=(kernel, kernel), pad=(kernel // 2, kernel // 2), name=name)


def count(e, name="_shuffle_channels"):
    return operators(e).count(name)


def moved(e):
    return [n for n in operators(e) if n in ("Concat", "transpose", "Reshape", "slice", "slice_axis", "SliceChannel", "_to_layout")]


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int8", "int64"])
@pytest.mark.parametrize("groups", [1, 2, 3, 4])
def test_one_array_is_moved_exactly(groups, dtype):
    fused, plain = compare(shuffled(X * 3, groups, 12), {"x": (2, 12, 5, 3)}, ["fuse_shuffle"], tolerance=0, dtype=dtype, fewer=False)
    assert count(plain) == 0
    if groups > 1:   # one group: nothing changes, and other passes take it away
        assert count(fused) == 1 and not moved(fused)


@pytest.mark.parametrize("layout", [True, False])
@pytest.mark.parametrize("cuts", [None, (0, 16, 32), (0, 7, 32), (1, 31)])
@pytest.mark.parametrize("groups", [2, 4])
def test_concatenation_and_slices_go(groups, cuts, layout):
    parts = [conv(X, 32 // groups, name=f"c{i}") for i in range(groups)]
    y = shuffled(S.concat(*parts, dim=1), groups, 32)
    if cuts is None:
        ends = [y]
    else:
        ends = [S.slice_axis(y, axis=1, begin=b, end=e) for b, e in zip(cuts, cuts[1:])]
    net = S.Group([conv(e, 16, name=f"d{i}") for i, e in enumerate(ends)])
    passes = ["fuse_shuffle"] if layout else ["fuse_shuffle", "layout"]
    fused, plain = compare(net, {"x": (3, 16, 5, 3)}, passes)
    assert count(fused) == 1 and count(plain) == 0
    assert set(moved(fused)) <= {"_to_layout"}


def test_units_pass_their_halves_on():
    """As in ShuffleNet: one half goes on, the other through a convolution; over a batch and by
    equal parts."""
    a, b = conv(X, 16, name="a"), conv(X, 16, 3, name="b")
    for i in range(3):
        halves = S.split(shuffled(S.concat(a, b, dim=1), 2, 32), num_outputs=2, axis=1)
        a, b = halves[0], conv(halves[1], 16, 3, name=f"u{i}")
    fused, _ = compare(S.concat(a, b, dim=1), {"x": (8, 16, 5, 3)}, ["fuse_shuffle"])
    assert count(fused) == 3 and "SliceChannel" not in operators(fused) and operators(fused).count("Concat") == 1


def test_stretches_are_shared():
    y = shuffled(X * 2, 2, 8)
    net = S.Group([S.slice(y, begin=(None, 2), end=(None, 6)) + 1, S.slice_axis(y, axis=1, begin=2, end=6) * 2])
    fused, _ = compare(net, {"x": (2, 8, 5, 3)}, ["fuse_shuffle", "common_expressions"])
    assert count(fused) == 1 and not moved(fused)


OTHER_READERS = {
    "whole": lambda y: y * 2,
    "rows": lambda y: S.slice_axis(y, axis=2, begin=0, end=2),
    "steps": lambda y: S.slice(y, begin=(None, 0), end=(None, 8), step=(None, 2)),
    "two axes": lambda y: S.slice(y, begin=(1, 0), end=(2, 4)),
    "everything": lambda y: S.slice_axis(y, axis=1, begin=0, end=8) - 1,
}


@pytest.mark.parametrize("name", OTHER_READERS)
def test_readers_of_something_else_get_everything(name):
    y = shuffled(X * 2, 2, 8)
    net = S.Group([S.slice_axis(y, axis=1, begin=0, end=4) * 3, OTHER_READERS[name](y)])
    fused, _ = compare(net, {"x": (2, 8, 5, 3)}, ["fuse_shuffle"], fewer=False)
    assert count(fused) == 1


def test_a_concatenation_that_others_read_stays():
    joined = S.concat(X * 2, X * 3, dim=1)
    fused, _ = compare(S.Group([shuffled(joined, 2, 8), joined + 1]), {"x": (2, 4, 5, 3)}, ["fuse_shuffle"])
    assert count(fused) == 1 and "Concat" in operators(fused)


UNEQUAL = {"sizes": lambda: S.concat(X * 2, S.slice_axis(X, axis=1, begin=0, end=2), S.slice_axis(X, axis=1, begin=2, end=4), dim=1),
           "axis": lambda: S.concat(S.reshape(X, shape=(1, 8, 5, 3)), S.reshape(X * 2, shape=(1, 8, 5, 3)), dim=0)}


@pytest.mark.parametrize("name", UNEQUAL)
def test_parts_that_are_no_groups_are_put_together_first(name):
    fused, _ = compare(shuffled(UNEQUAL[name](), 2, 8), {"x": (2, 4, 5, 3)}, ["fuse_shuffle"])
    assert count(fused) == 1 and "Concat" in operators(fused)


OTHERS = {
    "axes": lambda: shuffled(X * 2, 2, 8, axes=(0, 2, 1, 4, 3)),
    "places": lambda: S.reshape(S.transpose(S.reshape(X * 2, shape=(-1, 8, 5, 3)), axes=(0, 2, 1, 3)), shape=(-1, 8, 5, 3)),
    "batch": lambda: S.reshape(S.transpose(S.reshape(X * 2, shape=(1, 2, 8, 5, 3)), axes=(0, 2, 1, 3, 4)), shape=(-1, 8, 5, 3)),
    "shape": lambda: S.reshape(S.transpose(S.reshape(X * 2, shape=(-1, 2, 4, 5, 3)), axes=(0, 2, 1, 3, 4)), shape=(-1, 8, 15)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_transposes_stay(name):
    fused, _ = compare(OTHERS[name](), {"x": (2, 8, 5, 3)}, ["fuse_shuffle"], fewer=False)
    assert count(fused) == 0


def test_training_keeps_the_operators_that_have_gradients():
    assert count(bind(shuffled(X * 2, 2, 8), {"x": (2, 8, 5, 3)}, train=True)) == 0


def test_what_does_not_fit_is_refused():
    op = S._internal._shuffle_channels

    def infer(**params):
        x = {"num_args": 1, "groups": 2, "begins": (0,), "ends": (8,), **params}
        op(*[S.var(f"x{i}") for i in range(x.pop("num_args"))], **x).infer_shape(x0=(2, 8, 3, 3))
    infer()
    for wrong, text in (({"groups": 3}, "as many channels"), ({"num_args": 3}, "one for each group"), ({"ends": (9,)}, "a stretch of 8"),
                        ({"begins": (0, 2)}, "as many of both"), ({"begins": (4,), "ends": (4,)}, "a stretch of 8")):
        with pytest.raises(ValueError, match=text):
            infer(**wrong)
    x = mx.nd.arange(8).reshape((1, 8, 1, 1))
    first, second = mx.nd._internal._shuffle_channels(x, num_args=1, groups=4, begins=(0, 3), ends=(3, 8))
    np.testing.assert_array_equal(first.asnumpy().ravel(), [0, 2, 4])
    np.testing.assert_array_equal(second.asnumpy().ravel(), [6, 1, 3, 5, 7])
