"""What counts, ranks, puts in, takes out and replaces elements, as ONNX operators."""
import numpy as np
import pytest
from onnx_checks import around_zero, check_symbol

import mxnet as mx

S = mx.sym
x, y, z = S.var("x"), S.var("y"), S.var("z")
a, b, d = x.as_np_ndarray(), y.as_np_ndarray(), z.as_np_ndarray()


def whole(*numbers, dtype="int32"):
    return np.array(numbers, dtype)


@pytest.mark.parametrize("right", [True, False])
def test_searchsorted(right, tmp_path):
    given = {"x": np.array([1, 3, 3, 5], np.float32), "y": np.array([[0, 3], [4, 9]], np.float32)}
    check_symbol(S._internal._searchsorted(x, y, right=right), given, {}, tmp_path)


@pytest.mark.parametrize("more", [{}, {"left": -1.0, "right": 7.0}])
def test_interp(more, tmp_path):
    given = {"x": np.array([0.5, 1, 2.5, 3, 9], np.float32), "y": np.array([1, 2, 3], np.float32), "z": np.array([3, 2, 0], np.float32)}
    check_symbol(S.np.interp(a, b, d, **more), given, {}, tmp_path)
    check_symbol(S.np.interp(2.2, b, d, **more), {n: given[n] for n in "yz"}, {}, tmp_path)


def test_counts(tmp_path):
    numbers = {"x": whole(1, 4, 1, 0)}
    check_symbol(S.np.bincount(a), numbers, {}, tmp_path, opset_version=16)
    check_symbol(S.np.bincount(a, minlength=9), numbers, {}, tmp_path, opset_version=16)
    check_symbol(S.np.bincount(a, b), {**numbers, "y": around_zero(4)}, {}, tmp_path, opset_version=16)
    data = {"x": np.array([[1, 2, 1.5, 3], [-4, 0, 9, 2.2]], np.float32)}
    check_symbol(S.Group(list(S._internal._histogram(x, bin_cnt=4, range=(0, 3)))), data, {}, tmp_path)
    edges = {**data, "y": np.array([-1, 0, 2, 2.5], np.float32)}
    check_symbol(S.Group(list(S._internal._histogram(x, y))), edges, {}, tmp_path)


def test_unique(tmp_path):
    numbers = np.array([[3, 1], [1, 2], [3, 1]], np.float32)
    check_symbol(S.np.unique(a), {"x": numbers}, {}, tmp_path)
    every = S.np.unique(a, return_index=True, return_inverse=True, return_counts=True)
    check_symbol(S.Group(list(every)), {"x": numbers.ravel()}, {}, tmp_path)
    check_symbol(S.Group(list(S.np.unique(a, return_counts=True, axis=0))), {"x": numbers}, {}, tmp_path)


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_percentiles(interpolation, tmp_path):
    given = {"x": around_zero(3, 4, 5)}
    for more in ({}, {"axis": 1}, {"axis": (0, 2), "keepdims": True}):
        check_symbol(S.np.percentile(a, 37.5, interpolation=interpolation, **more), given, {}, tmp_path)
        several = {**given, "y": np.array([0, 20, 100], np.float32)}
        check_symbol(S.np.percentile(a, b, interpolation=interpolation, **more), several, {}, tmp_path)


def test_median_of_a_free_batch(tmp_path):
    check_symbol(S.np.median(a, axis=1), {"x": around_zero(3, 4)}, {}, tmp_path, dynamic=True, dynamic_input_shapes=[("batch", 4)])


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_divisors_and_shifts(dtype, tmp_path):
    signs = 1 if dtype == "uint8" else -1
    given = {"x": whole(12, 8 * signs, 0, 100, dtype=dtype), "y": whole(18, 12, 5, 75, dtype=dtype)}
    check_symbol(S.np.lcm(a, b), {**given, "x": given["x"] % 7, "y": given["y"] % 9}, {}, tmp_path)
    check_symbol(S.np.gcd(a, b), given, {}, tmp_path)
    by = {"x": given["x"], "y": whole(0, 2, 3, 7, dtype=dtype)}
    check_symbol(S.np.bitwise_left_shift(a, b), by, {}, tmp_path)
    check_symbol(S.np.bitwise_right_shift(a, b), by, {}, tmp_path)
    if dtype == "int32":
        far = {"x": whole(5, -5, 7), "y": whole(40, 33, 31)}
        check_symbol(S.np.bitwise_right_shift(a, b), far, {}, tmp_path)
        check_symbol(S.np.gcd(a, 6), {"x": given["x"]}, {}, tmp_path)
        check_symbol(S.np.bitwise_left_shift(a, 2), {"x": given["x"]}, {}, tmp_path)
        check_symbol(S.np.bitwise_right_shift(99, b), {"y": by["y"]}, {}, tmp_path)


def test_masks(tmp_path):
    mask = np.array([[1, 0, 1], [0, 0, 1]], bool)
    op = S._internal._npi_boolean_mask_assign_scalar
    given = {"x": around_zero(2, 3, 4), "y": mask}
    named = S.var("y", dtype="bool")
    check_symbol(op(x, named, value=7.5), given, {}, tmp_path)
    check_symbol(op(x, named, value=7.5, start_axis=1), {"x": around_zero(5, 2, 3), "y": mask}, {}, tmp_path)
    op = S._internal._npi_boolean_mask_assign_tensor
    check_symbol(op(x, named, z), {**given, "z": around_zero(3, 4)}, {}, tmp_path)
    check_symbol(op(x, named, z), {**given, "z": around_zero(1)}, {}, tmp_path)
    check_symbol(op(x, named, z, start_axis=1), {"x": around_zero(5, 2, 3), "y": mask, "z": around_zero(5, 3)}, {}, tmp_path)


@pytest.mark.parametrize("axis, value", [(0, (2, 3, 4)), (1, (5, 2)), (1, ())])
def test_positions(axis, value, tmp_path):
    indices = {"i": np.array([[0, 1], [1, 1]])[:, :1], "j": np.array([[2, 0]])}
    i, j = S.var("i", dtype="int64"), S.var("j", dtype="int64")
    if axis == 0:
        data, value = (2, 3, 4), (2, 2, 4)
    else:
        data, value = (5, 2, 3), (5, 2, 2) if value else (1,)
    made = S._internal._index_axes_assign(x, y, i, j, axis=axis, num_args=4)
    check_symbol(made, {"x": around_zero(*data), "y": around_zero(*value), **indices}, {}, tmp_path)


@pytest.mark.parametrize("fold", ["add", "mul", "min", "max"])
def test_folded_positions(fold, tmp_path):
    given = {"x": around_zero(4, 2), "y": np.array([[1, 3, 1]]), "z": around_zero(3, 2)}
    made = S._internal._onnx_scatter_fold(x, S.var("y", dtype="int64"), z, fold=fold)
    check_symbol(made, given, {}, tmp_path, opset_version=18)


def test_rows(tmp_path):
    places = np.array([1, 0, 3], np.float32)
    check_symbol(S._internal.fill_element_0index(x, y, z), {"x": around_zero(3, 4), "y": around_zero(3), "z": places}, {}, tmp_path)
    check_symbol(S.np.diagflat(a, k=1), {"x": around_zero(2, 2)}, {}, tmp_path)
    check_symbol(S.np.diagflat(a, k=-2), {"x": around_zero(3)}, {}, tmp_path)


def test_diagonals(tmp_path):
    fill = S._internal._npi_fill_diagonal
    for shape in ((4, 3), (3, 4), (7, 3), (3, 3, 3)):
        for wrap in (True, False):
            check_symbol(fill(x, val=(1.5,), wrap=wrap), {"x": around_zero(*shape)}, {}, tmp_path)
    check_symbol(fill(x, val=(1.5, 2.0)), {"x": around_zero(4, 4)}, {}, tmp_path)
    check_symbol(S._internal._npi_diag_indices_from(x), {"x": around_zero(4, 4)}, {}, tmp_path)


def test_deletions(tmp_path):
    given = {"x": around_zero(4, 5)}
    for obj, axis in ((1, 0), (-1, 1), (slice(0, 4, 2), 1), (3, None)):
        check_symbol(S.np.delete(a, obj, axis=axis), given, {}, tmp_path)


def test_insertions(tmp_path):
    given = {"x": around_zero(4, 5)}
    for obj, axis in ((1, 0), (-1, 1), (slice(0, 4, 2), 1), (3, None)):
        check_symbol(S.np.insert(a, obj, 2.5, axis=axis), given, {}, tmp_path)
    check_symbol(S.np.insert(a, 1, b, axis=0), {**given, "y": around_zero(5)}, {}, tmp_path)
    check_symbol(S.np.insert(a, 1, b, axis=1), {**given, "y": around_zero(4)}, {}, tmp_path)
    check_symbol(S.np.insert(a, 2, b, axis=1), {**given, "y": around_zero(2, 4)}, {}, tmp_path)
    check_symbol(S.np.insert(a, slice(0, 4, 2), b, axis=1), {**given, "y": around_zero(4, 2)}, {}, tmp_path)
    check_symbol(S.np.insert(a, slice(0, 4, 2), b), {**given, "y": around_zero(2)}, {}, tmp_path)


def test_large_arrays_that_depend_on_nothing(tmp_path):
    for made in (S.np.eye(300), S.np.tri(300, 301, 1), S.np.identity(300), S.np.hanning(70000), S.np.linspace(0, 1, 70000),
                 S.np.logspace(0, 1, 70000), S.np.indices((200, 200)), S.np.blackman(70000), S.np.hamming(70000)):
        first = S.np.reshape(made, (-1,))[:7]
        check_symbol(a + first.astype("float32"), {"x": around_zero(7)}, {}, tmp_path)


def test_sums_of_several(tmp_path):
    given = {"x": around_zero(3, 2), "y": around_zero(4)}
    check_symbol(S.multi_sum_sq(x, y, num_arrays=2), given, {}, tmp_path)
    check_symbol(S.multi_all_finite(x, y, num_arrays=2), given, {}, tmp_path)
    check_symbol(S.multi_all_finite(x, y, num_arrays=2), {**given, "y": np.array([1, np.nan, 0, 0], np.float32)}, {}, tmp_path)
    check_symbol(S._internal._sum_like(x, y), {"x": around_zero(2, 3, 4), "y": around_zero(1, 4)}, {}, tmp_path)
    check_symbol(S._internal._npx_constraint_check(S.var("x", dtype="bool").as_np_ndarray()), {"x": np.array([True, True])}, {}, tmp_path)


def test_sketches(tmp_path):
    given = {"x": around_zero(2, 5), "y": np.array([[0, 2, 1, 2, 0]], np.float32), "z": np.array([[1, -1, 1, 1, -1]], np.float32)}
    check_symbol(S.contrib.count_sketch(x, y, z, out_dim=3), given, {}, tmp_path)


@pytest.mark.parametrize("aggregate", ["sum", "min", "max"])
def test_trees(aggregate, tmp_path):
    nodes = np.array([[8, 1, 2], [16, 3, 4], [0, 2, 2], [16, 3, 3],
                      [32, 4, 4], [16, 6, 7], [48, 6, 6], [0, 7, 7]], np.int32)
    given = {"x": np.array([[0, 0], [1, 1], [-1, 3], [np.nan, 0]], np.float32)}
    params = {"n": nodes, "v": np.array([0.5, 1, 0, 0, 0, 0.5, 0, 0], np.float32), "r": np.array([0, 5], np.int32), "w": around_zero(4, 2)}
    made = S.contrib.tree_ensemble(x, *(S.var(n) for n in "nvrw"), depth=2, comparison=0, aggregate=aggregate)
    check_symbol(made, given, params, tmp_path)
