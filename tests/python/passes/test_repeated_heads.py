"""Keys and values that several heads share are read once."""
import numpy as np
import pytest

import mxnet as mx
from test_passes import bind, compare, operators

pytestmark = pytest.mark.cpu     # on a GPU attention reads repeated ones

N, HEADS, GROUPS, ROWS, COLUMNS, WIDTH = 2, 6, 2, 4, 5, 3
TIMES = HEADS // GROUPS
OPEN = (N, GROUPS, COLUMNS, WIDTH)


def variables(names):
    return [mx.sym.Variable(n) for n in names]


def spread(x, rows=COLUMNS, width=WIDTH, shape=None):
    """As exporters write it: a new dimension, an Expand and a Reshape."""
    apart = mx.sym.broadcast_to(mx.sym.expand_dims(x, axis=2), shape=(N, GROUPS, TIMES, rows, width))
    return mx.sym.reshape(apart, shape=shape or (N, HEADS, rows, width))


FORMS = {
    "expanded": spread,
    "expanded into one stack": lambda x, *size: mx.sym.reshape(spread(x, *size), shape=(N, HEADS) + (size or (COLUMNS, WIDTH))),
    "repeated": lambda x, *size: mx.sym.repeat(x, repeats=TIMES, axis=1),
    "repeated, counted from the end": lambda x, *size: mx.sym.repeat(x, repeats=TIMES, axis=-3),
}
COPIES = {"broadcast_to", "repeat"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("transposed", [False, True])
def test_products_read_each_matrix_once(form, transposed):
    a, b = variables("ab")
    size = (COLUMNS, WIDTH) if transposed else (WIDTH, COLUMNS)
    net = mx.sym.batch_dot(a, FORMS[form](b, *size), transpose_b=transposed)
    folded, _ = compare(net, {"a": (N, HEADS, ROWS, WIDTH), "b": (N, GROUPS) + size}, ["fold_repeats"], fewer=False)
    assert operators(folded).count("batch_dot") == 1 and not COPIES & set(operators(folded))


def test_stacks_of_three_dimensions():
    a, b = variables("ab")
    net = mx.sym.batch_dot(a, spread(b, shape=(N * HEADS, COLUMNS, WIDTH)), transpose_b=True)
    folded, _ = compare(net, {"a": (N * HEADS, ROWS, WIDTH), "b": OPEN}, ["fold_repeats"], fewer=False)
    assert not COPIES & set(operators(folded))


OTHERS = {
    "all groups one after another": lambda b: mx.sym.reshape(
        mx.sym.broadcast_to(mx.sym.expand_dims(b, axis=1), shape=(N, TIMES, GROUPS, COLUMNS, WIDTH)), shape=(N, HEADS, COLUMNS, WIDTH)),
    "tiled": lambda b: mx.sym.tile(b, reps=(1, TIMES, 1, 1)),
    "rows repeated": lambda b: mx.sym.reshape(mx.sym.repeat(b, repeats=TIMES, axis=2), shape=(N, HEADS, COLUMNS, WIDTH)),
    "other matrices": lambda b: mx.sym.reshape(
        mx.sym.broadcast_to(mx.sym.expand_dims(b, axis=2), shape=(N, GROUPS, TIMES, COLUMNS, WIDTH)), shape=(N, HEADS, WIDTH, COLUMNS)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_repeats_otherwise_stays(name):
    a, b = variables("ab")
    net = mx.sym.batch_dot(a, OTHERS[name](b), transpose_b=name != "other matrices")
    compare(net, {"a": (N, HEADS, ROWS, WIDTH), "b": OPEN}, ["fold_repeats"], fewer=False)


def test_first_factors_that_are_transposed_stay():
    a, b = variables("ab")
    net = mx.sym.batch_dot(a, spread(b), transpose_a=True, transpose_b=True)
    compare(net, {"a": (N, HEADS, WIDTH, ROWS), "b": OPEN}, ["fold_repeats"], fewer=False)


MASKS = [None, (ROWS, COLUMNS), (1, 1, ROWS, COLUMNS), (N, 1, 1, COLUMNS), (N, HEADS, ROWS, COLUMNS), (1, HEADS, 1, COLUMNS)]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("form", ["expanded", "repeated"])
def test_attention_reads_shared_heads(mask, form):
    q, k, v, m = variables("qkvm")
    scores = mx.sym.batch_dot(q, FORMS[form](k) * 1.5, transpose_b=True) / 1.5
    if mask:
        scores = mx.sym._internal._npi_add(scores, m)
    net = mx.sym.batch_dot(mx.sym.softmax(scores, axis=-1), FORMS[form](v))
    shapes = dict({"q": (N, HEADS, ROWS, WIDTH), "k": OPEN, "v": OPEN}, **({"m": mask} if mask else {}))
    fused, _ = compare(net, shapes, ["fuse_attention"], tolerance=2e-6, fewer=False)
    names, spreads = operators(fused), mask in [(N, 1, 1, COLUMNS), (1, HEADS, 1, COLUMNS)]     # the mask itself
    assert names.count("_fused_attention") == 1 and names.count("broadcast_to") == spreads and "repeat" not in names


def test_attention_over_stacks_of_three_dimensions():
    q, k, v = variables("qkv")
    one = lambda x: spread(x, shape=(N * HEADS, COLUMNS, WIDTH))
    net = mx.sym.batch_dot(mx.sym.softmax(mx.sym.batch_dot(q, one(k), transpose_b=True)), one(v))
    fused, _ = compare(net, {"q": (N * HEADS, ROWS, WIDTH), "k": OPEN, "v": OPEN}, ["fuse_attention"], tolerance=2e-6, fewer=False)
    assert not COPIES & set(operators(fused))


def test_half_precision_and_training_agree():
    """In training heads are repeated as before, and gradients are summed over them."""
    q, k, v = variables("qkv")
    net = mx.sym.batch_dot(mx.sym.softmax(mx.sym.batch_dot(q, spread(k), transpose_b=True)), spread(v))
    shapes = {"q": (N, HEADS, ROWS, WIDTH), "k": OPEN, "v": OPEN}
    compare(net, shapes, ["fuse_attention_training", "fold_repeats"], tolerance=2e-5, train=True, fewer=False)
    rng = np.random.RandomState(0)
    arrays = {n: rng.standard_normal(s) for n, s in shapes.items()}
    found = {}
    for dtype in ("float32", "float16", "bfloat16"):
        executor = net.simple_bind(mx.cpu(), grad_req="null", type_dict={n: dtype for n in shapes}, **shapes)
        for n, a in arrays.items():
            executor.arg_dict[n][:] = mx.nd.array(a).astype(dtype)
        found[dtype] = executor.forward()[0].astype("float32").asnumpy()
    np.testing.assert_allclose(found["float16"], found["float32"], atol=1e-2)
    np.testing.assert_allclose(found["bfloat16"], found["float32"], atol=8e-2)


def test_a_repeated_stack_that_others_read_is_there():
    a, b = variables("ab")
    whole = spread(b)
    net = mx.sym.Group([mx.sym.batch_dot(a, whole, transpose_b=True), whole])
    executor = bind(net, {"a": (N, HEADS, ROWS, WIDTH), "b": OPEN})
    b = np.random.RandomState(1).standard_normal(OPEN).astype("float32")
    executor.arg_dict["b"][:] = b
    executor.arg_dict["a"][:] = 1
    product, copy = (o.asnumpy() for o in executor.forward())
    np.testing.assert_array_equal(copy, np.repeat(b, TIMES, axis=1))
    np.testing.assert_allclose(product, np.ones((N, HEADS, ROWS, WIDTH)) @ copy.swapaxes(2, 3), rtol=1e-5, atol=1e-5)
