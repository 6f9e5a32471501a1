"""Taking, placing, choosing, sorting, masking by index."""
import numpy as np

from op_cases import INTEGERS, NUMBERS, NUMBERS_AND_BOOL, ints, rand, rotated

ALL = dict(dtypes=NUMBERS_AND_BOOL)
CASES = []


def by_index(index, size, mode):
    index = np.trunc(index).astype("int64")
    return np.clip(index, 0, size - 1) if mode == "clip" else index % size


def indexed(op, ref, data, index, index_dtype="int32", grad=True, bad=(), **attrs):
    """Data of any dtype in input 0, indices in input 1."""
    CASES.append(dict(op=op, inputs=[data, np.asarray(index)], ref=ref, attrs=attrs,
                      input_dtypes={1: index_dtype}, grad=[0] if grad else False, grad2=grad,
                      empty=False,
                      bad=list(bad), **ALL))


def retained(data, index):
    result = np.zeros_like(data)
    result[index.astype("int64")] = data[index.astype("int64")]
    return result


for _index, _dtype in (([0, 2], "int64"), ([3, 0, 3, 1], "float32"), ([2], "int8")):
    indexed("_sparse_retain", retained, (4, 3), _index, _dtype,
            bad=[dict(inputs=[(4, 3), np.array([4])]), dict(inputs=[(4, 3), np.array([-1])])])

# ---- take, pick
TAKE = ["take", "_npi_take"]
for _mode in ("clip", "wrap"):
    for _index, _dtype in [([0, 2, 1], "int32"), ([-1, 5, -7], "int64"), ([1.7, -0.5], "float32"),
                           ([[0, 2], [1, 1]], "float64"), ([2, 2, 2, 0], "int8"), (1, "int32")]:
        for _axis in (0, 1, -1):
            indexed(TAKE, lambda a, i, axis=0,
                    mode="clip": np.take(a, by_index(i, a.shape[axis], mode), axis), (3, 4, 2),
                    _index, _dtype, axis=_axis, mode=_mode,
                    bad=[dict(attrs=dict(axis=3)), dict(attrs=dict(mode="x")), dict(inputs=[(0, 2), np.array([0])], attrs={})])
indexed(TAKE, lambda a, i, mode: np.take(a, i, 0), (3, 4), [0, 2], mode="raise",
        bad=[dict(inputs=[(3, 4), np.array([3])]), dict(inputs=[(3, 4), np.array([-1])])])
indexed(TAKE, lambda a, i, mode: np.take(a, i, 0), (3, 4), [0, -1, -3, 2], mode="from_end",
        bad=[dict(inputs=[(3, 4), np.array([3])]), dict(inputs=[(3, 4), np.array([-4])])])
indexed(TAKE, lambda a, i: np.take(a, i, 0), (300, 64), np.arange(3000) * 7919 % 300, grad=False)
indexed(TAKE, lambda a, i: np.take(a, i, 0), (3, 4), np.zeros((2, 0), "int64"))
indexed("batch_take", lambda a, i: np.take_along_axis(a, np.clip(i, 0, 3)[:, None], 1)[:, 0],
        (3, 4), [0, 3, 9], bad=[dict(inputs=[(3, 4), np.array([0, 1])])])
indexed("batch_take", lambda a, i: np.take_along_axis(a, i[..., None], 2)[..., 0], (2, 3, 4), [[0, 3, 1], [2, 2, 0]])


def pick(data, index, axis=-1, keepdims=False, mode="clip"):
    index = by_index(index, data.shape[axis], mode)
    index = index if index.ndim == data.ndim else np.expand_dims(index, axis)
    out = np.take_along_axis(data, index, axis)
    return out if keepdims else np.squeeze(out, axis)


PICK = ["pick", "choose_element_0index", "_npx_pick"]
for _attrs in [dict(), dict(keepdims=True), dict(mode="wrap"), dict(mode="wrap", keepdims=True)]:
    indexed(PICK, pick, (3, 4), [-1, 7, 2], "float32", **_attrs,
            bad=[dict(inputs=[(3, 4), np.array([1, 1])]), dict(attrs=dict(axis=2)),
                 dict(attrs=dict(axis=None))])
    indexed(PICK, pick, (3, 4), [[0], [3], [1]], "int32", **_attrs)
    indexed(PICK, pick, (2, 3, 4), np.arange(8).reshape(2, 4) % 3, "int64", axis=1, **_attrs)
    indexed(PICK, pick, (2, 3, 4), np.arange(12).reshape(3, 4) % 2, "uint8", axis=0, **_attrs)


def one_hot(index, depth, on_value=1, off_value=0, dtype="float32"):
    return np.where(np.trunc(index).astype("int64")[..., None] == np.arange(depth), float(on_value), float(off_value))


for _attrs in [dict(depth=3), dict(depth=4, on_value=8, off_value=-2), dict(depth=0)]:
    for _in in ("float32", "int32", "uint8"):
        CASES.append(dict(op=["one_hot", "_npx_one_hot"], inputs=[np.array([[0, 2, 5], [1, 3, 1]])],
                          ref=one_hot, attrs=_attrs, dtypes=[_in], refuses=False,
                          out_dtype="float32", empty=False,
                          bad=[dict(attrs=dict(depth=-1))]))
CASES.append(dict(op="one_hot", inputs=[np.array([0, 2, -1, 1.7])], ref=one_hot,
                  attrs=dict(depth=3), dtypes=["float32", "float64"], refuses=False,
                  out_dtype="float32", empty=False))
CASES.append(dict(op="one_hot", inputs=[np.array([0, 2])], ref=one_hot,
                  attrs=dict(depth=3, dtype="float16"), dtypes=["int64"], refuses=False,
                  out_dtype="float16", empty=False))
CASES.append(dict(op="_onehot_encode", inputs=[np.array([1, 0, 3]), (3, 4)], ref=lambda i,
                  out: one_hot(i, out.shape[1]), dtypes=["float32", "int32"], refuses=False,
                  empty=False,
                  bad=[dict(inputs=[np.array([1, 0]), (3, 4)])]))


def fill_element(lhs, mhs, rhs):
    out = lhs.copy()
    out[np.arange(len(out)), rhs] = mhs
    return out


CASES.append(dict(op="fill_element_0index", inputs=[(3, 4), (3,), np.array([1, 0, 3])],
                  ref=fill_element, input_dtypes={2: "int32"}, empty=False,
                  bad=[dict(inputs=[(3, 4), (3,), np.array([1, 0, 4])]), dict(inputs=[(3,), (3,), np.array([1, 0, 3])])], **ALL))

# ---- gather_nd and back
for _index in ([[0, 2], [1, 3]], [[0, 2, 2]], [[0, -1], [1, -1]], [[[0, 1], [2, 0]], [[3, 3], [0, 1]]]):
    for _shape in [(3, 4), (3, 4, 2)]:
        indexed(["gather_nd", "_npi_gather_nd", "_npx_gather_nd"], lambda data, i: data[tuple(i)], _shape, _index, "int64",
                bad=[dict(inputs=[(3, 4), np.array([[3], [0]])]),
                     dict(inputs=[(3, 4), np.array([[0], [-5]])]),
                     dict(inputs=[(3, 4), np.array([0, 1])]),
                     dict(inputs=[(3,), np.zeros((2, 2))])])


def scatter(data, index, shape):
    out = np.zeros(shape)
    out[tuple(index)] = data
    return out


indexed("scatter_nd", scatter, (2,), [[0, 2], [1, 3]], shape=(3, 4),
        bad=[dict(inputs=[(2,), np.array([[0, 9], [1, 3]])]),
             dict(inputs=[(3,), np.array([[0, 2], [1, 3]])]), dict(attrs={})])
indexed("scatter_nd", scatter, (1, 4), [[2]], shape=(3, 4))
indexed("scatter_nd", scatter, (4, 4), [[2, 0, 2, 2]], shape=(3, 4))


def scatter_set(lhs, rhs, index, shape):
    out = lhs.copy()
    out[tuple(index)] = rhs
    return out


for _index, _rhs in [([[0, 2], [1, 3]], (2,)), ([[0, 2, 2], [1, 3, 3]], (3,)), ([[1, 1, 0]], (3, 4))]:
    CASES.append(dict(op=["_scatter_set_nd", "_npi_scatter_set_nd"],
                      inputs=[(3, 4), _rhs, np.array(_index)], ref=scatter_set,
                      attrs=dict(shape=(3, 4)), input_dtypes={2: "int64"}, grad=[0, 1], grad2=True,
                      empty=False, bad=[dict(inputs=[(3, 4), (2,), np.array([[0, 3], [1, 3]])])], **ALL))
CASES += [dict(op=["_ravel_multi_index", "ravel_multi_index"], inputs=[np.array([[1, 2], [2, 3]])],
               ref=lambda x, shape: np.ravel_multi_index(x.astype("int64"), (3, 4)),
               attrs=dict(shape=s),
               dtypes=NUMBERS, refuses=False, empty=False,
               bad=[dict(attrs={}), dict(inputs=[np.array([1, 2])]),
                    dict(attrs=dict(shape=(3, 0)))]) for s in [(3, 4), (-1, 4)]]
for _data in ([6, 11, 0], [[6, 11], [3, 2]]):
    CASES.append(dict(op=["_unravel_index", "unravel_index", "_npi_unravel_index"],
                      inputs=[np.array(_data)], ref=lambda x,
                      shape: np.array(np.unravel_index(x.astype("int64"), shape)),
                      attrs=dict(shape=(3, 4)), dtypes=NUMBERS, refuses=False, empty=False,
                      bad=[dict(attrs={}), dict(attrs=dict(shape=(3, -4)))]))

# ---- where
for _condition, _dtype in [([[1, 0, 2], [0, 0, -3]], "float32"), ([[1, 0, 2], [0, 0, 1]], "uint8"),
                           ([[1, 0, 1], [0, 0, 1]], "bool"), ([[1, 0, 1], [0, 0, 1]], "float16")]:
    CASES.append(dict(op=["where", "_npi_where", "_sparse_where"],
                      inputs=[np.array(_condition), (2, 3), (2, 3)], ref=lambda c, x,
                      y: np.where(c, x, y), input_dtypes={0: _dtype},
                      out_dtype=lambda t: t, grad=[1, 2], grad2=True, empty=False, bad=[dict(inputs=[(2, 3), (2, 3), (2, 5)])], **ALL))
CASES.append(dict(op="where", inputs=[np.array([1, 0, 3]), (3, 4), (3, 4)], ref=lambda c, x,
                  y: np.where(c[:, None], x, y), input_dtypes={0: "int32"}, out_dtype=lambda t: t,
                  grad=[1, 2],
                  grad2=True, empty=False, bad=[dict(inputs=[np.array([1, 0]), (3, 4), (3, 4)])], **ALL))
CASES.append(dict(op="where", inputs=[ints((300, 400), 0, 1), (300, 400), (300, 400)], ref=lambda c,
                  x, y: np.where(c, x, y), input_dtypes={0: "int8"}, out_dtype=lambda t: t,
                  empty=False, **ALL))
CASES.append(dict(op="_npi_where", inputs=[ints((2, 1, 3), 0, 1), (4, 1), (3,)], ref=lambda c, x,
                  y: np.where(c, x, y), input_dtypes={0: "bool"}, out_dtype=lambda t: t,
                  grad=[1, 2],
                  grad2=True, empty=False, **ALL))

# ---- order
_distinct = np.random.default_rng(5).permutation(24).reshape(2, 3, 4) - 6
_ties = np.array([[3, 1, 2, 2], [0, 5, 5, 1]])


def ordered(x, axis, ascending):
    x = x.astype("float64")
    return np.argsort(x if ascending else -x, axis=axis, kind="stable")


def sort(x, axis=-1, is_ascend=True):
    x, axis = (x.ravel(), 0) if axis is None else (x, axis)
    return np.take_along_axis(x, ordered(x, axis, is_ascend), axis)


def argsort(x, axis=-1, is_ascend=True, dtype="float32"):
    return ordered(*((x.ravel(), 0) if axis is None else (x, axis)), is_ascend)


def topk(x, axis=-1, k=1, ret_typ="indices", is_ascend=False, dtype="float32"):
    shape = x.shape
    x, axis = (x.ravel(), 0) if axis is None else (x, axis)
    at = np.take(ordered(x, axis, is_ascend), range(k if k > 0 else x.shape[axis]), axis)
    values = np.take_along_axis(x, at, axis)
    mask = np.zeros(x.shape)
    np.put_along_axis(mask, at, 1, axis)
    return {"indices": at, "value": values, "mask": mask.reshape(shape), "both": [values, at]}[ret_typ]


for _x in (_distinct, _ties):
    _values = dict(inputs=[_x], dtypes=NUMBERS if _x.min() >= 0
                   else ["float32", "float64", "float16", "bfloat16", "int8", "int32", "int64"],
                   refuses=False, empty=False)
    for _attrs in [dict(), dict(is_ascend=False, axis=0), dict(axis=None), dict(axis=1), dict(axis=-2, is_ascend=False)]:
        CASES.append(dict(_values, op=["sort", "_npi_sort"], ref=sort, attrs=_attrs, grad=True,
                          grad2=_x is _distinct, bad=[dict(attrs=dict(axis=7))]) if _x is _distinct
                     else
                     dict(_values, op="sort", ref=sort, attrs=_attrs))
        CASES.append(dict(_values, op=["argsort", "_npi_argsort"], ref=argsort, attrs=_attrs,
                          out_dtype="float32",
                          bad=[dict(attrs=dict(axis=7)), dict(attrs=dict(dtype="int8"))]))
        CASES.append(dict(_values, op="argsort", ref=argsort, attrs=dict(_attrs, dtype="int64"), out_dtype="int64"))
    for _attrs in [dict(k=2), dict(axis=0), dict(k=3, axis=None, is_ascend=True), dict(k=-1), dict(k=2, axis=1, is_ascend=True)]:
        for _type in ["indices", "value", "mask", "both"]:
            CASES.append(dict(_values, op=["topk", "_npx_topk"], ref=topk, attrs=dict(_attrs, ret_typ=_type, dtype="int32"),
                              out_dtype=(lambda t: ["int32"]) if _type == "indices"
                              else (lambda t: [t, "int32"]) if _type == "both" else (lambda t: [t]),
                              grad=_type == "value" and _x is _distinct,
                              grad2=_type == "value" and _x is _distinct,
                              bad=[dict(attrs=dict(k=99)), dict(attrs=dict(axis=7))]))
CASES.append(dict(op="sort", inputs=[rand((50, 2000))], ref=sort, dtypes=["float32"], refuses=False, empty=[(2, 0)]))
CASES.append(dict(op="topk", inputs=[np.random.default_rng(6).permutation(60000).reshape(30, 2000)],
                  ref=topk, attrs=dict(k=9, ret_typ="both"), dtypes=["float32", "int32"],
                  out_dtype=lambda t: [t, "float32"], refuses=False, empty=False))
CASES.append(dict(op="sort", inputs=[np.array([1.0, np.nan, 0.0, 2.0])], ref=np.sort, refuses=False, empty=False))   # NaN counts as largest

# ---- sequences


def lengths(x, n, axis):
    return np.full(x.shape[1 - axis], x.shape[axis]) if n is None else np.clip(n.astype("int64"), 0, x.shape[axis])


def sequence_mask(x, n=None, value=0, axis=0, use_sequence_length=False):
    out = np.moveaxis(x.copy(), axis, 0)
    for b, length in enumerate(lengths(x, n, axis)):
        out[length:, b] = value
    return np.moveaxis(out, 0, axis)


def sequence_last(x, n=None, axis=0, use_sequence_length=False):
    x, n = np.moveaxis(x, axis, 0), lengths(x, n, axis)
    return np.stack([x[max(length, 1) - 1, b] for b, length in enumerate(n)])


def sequence_reverse(x, n=None, axis=0, use_sequence_length=False):
    out = x.copy()
    for b, length in enumerate(lengths(x, n, axis)):
        out[:length, b] = x[:length, b][::-1]
    return out


for _ops, _f, _more in [(["SequenceMask", "_npx_sequence_mask"], sequence_mask, dict(value=-1)),
                        (["SequenceMask"], sequence_mask, dict(axis=1)),
                        (["SequenceMask"], sequence_mask, {}),
                        (["SequenceLast", "_npx_sequence_last"], sequence_last, {}), (["SequenceLast"], sequence_last, dict(axis=1)),
                        (["SequenceReverse", "_npx_sequence_reverse"], sequence_reverse, {})]:
    _dtypes = ["float32", "float64", "float16", "bfloat16", "int8", "int32", "int64"] if _more.get("value") else NUMBERS_AND_BOOL
    for _shape in [(3, 2, 4), (4, 3), (2, 3, 2, 2)]:
        _steps, _batch = (_shape[1], _shape[0]) if _more.get("axis") else _shape[:2]
        for _n, _type in [(np.arange(_batch) % _steps + 1, "float32"), (np.arange(_batch) * 9, "int32")]:
            CASES.append(dict(op=_ops, inputs=[_shape, _n], ref=_f,
                              attrs=dict(_more, use_sequence_length=True), input_dtypes={1: _type},
                              grad=[0], grad2=True, empty=False, dtypes=_dtypes,
                              refuses=False, bad=[dict(inputs=[_shape, np.ones(7)]),
                                                  dict(inputs=[(3,), np.ones(3)]),
                                                  dict(attrs=dict(_more, use_sequence_length=True,
                                                                  axis=2))]))
        CASES.append(dict(op=_ops, inputs=[_shape], ref=_f, attrs=_more, grad=True, empty=False, dtypes=_dtypes, refuses=False))

# ---- masks, positions, counts
for _mask, _axis in [([0, 1, 1], 0), ([0, 0, 0], 0), ([1, 1, 1], 0), ([1, 0, 0, 1], 1), ([0, 2, 0], -2)]:
    indexed(["_contrib_boolean_mask", "_npi_boolean_mask"], lambda x, m,
            axis: np.compress(m != 0, x, axis), (3, 4), _mask, "int32", axis=_axis,
            bad=[dict(inputs=[(3, 4), np.ones(2)]), dict(inputs=[(3, 4), np.ones((3, 4))])])


def index_copy(old, index, new):
    out = old.copy()
    out[index] = new
    return out


for _index in [[2, 0], [2, 2]]:
    CASES.append(dict(op="_contrib_index_copy", inputs=[(3, 4), np.array(_index), (2, 4)],
                      ref=index_copy, input_dtypes={1: "int64"}, grad=[0, 2], grad2=True, empty=False,
                      bad=[dict(inputs=[(3, 4), np.array([2, 3]), (2, 4)]), dict(inputs=[(3, 4), np.array([2, 0]), (1, 4)])], **ALL))
for _axes in [None, (1,), (1, 0), (-1,)]:
    CASES.append(dict(op="_contrib_index_array", inputs=[(2, 3)], attrs=dict(axes=_axes),
                      out_dtype="int64", empty=False, bad=[dict(attrs=dict(axes=(2,)))], **ALL,
                      ref=lambda x, axes: np.moveaxis(np.indices(x.shape)[list(range(x.ndim) if axes is None else axes)], 0, -1)))


def arange_like(x, start=0, step=1, repeat=1, axis=None):
    n = x.size if axis is None else x.shape[axis]
    out = start + step * (np.arange(n) // repeat)
    return out.reshape(x.shape) if axis is None else out


for _attrs in [dict(), dict(axis=1, start=2, step=3), dict(axis=-1, repeat=2), dict(repeat=3)]:
    CASES.append(dict(op=["_contrib_arange_like", "_npx_arange_like"], inputs=[(2, 4)],
                      ref=arange_like, attrs=_attrs, dtypes=NUMBERS, refuses=False,
                      bad=[dict(attrs=dict(axis=2))]))
_values = np.array([1, 2, 3, 4, 0.5, 9, -1, 0, np.nan])
for _attrs in [dict(bin_cnt=4, range=(0, 4)), dict(bin_cnt=3, range=(1, 1))]:       # no width: as wide as 1 around it
    CASES.append(dict(op=["_histogram", "_npi_histogram"], inputs=[_values], ref=lambda x, bin_cnt,
                      range: np.histogram(x[~np.isnan(x)], bin_cnt, range), attrs=_attrs,
                      out_dtype=lambda t: ["int64", t], dtypes=["float32", "float64"], refuses=False, empty=False,
                      bad=[dict(attrs=dict(bin_cnt=4)), dict(attrs=dict(bin_cnt=0, range=(0, 1))),
                           dict(attrs=dict(bin_cnt=3, range=(1, 0))),
                           dict(attrs=dict(bin_cnt=3, range="x"))]))
CASES.append(dict(op=["_histogram", "_npi_histogram"],
                  inputs=[_values[:-1], np.array([0.0, 1.0, 2.0, 4.0])], ref=lambda x,
                  bins: np.histogram(x, bins), out_dtype=lambda t: ["int64", t],
                  dtypes=["float32", "float64", "int32"], refuses=False, empty=False, bad=[dict(inputs=[_values, np.array([1.0])])]))
for _attrs in [dict(), dict(right=True)]:
    CASES.append(dict(op="_searchsorted", inputs=[np.array([0, 1, 1, 3, 7]), np.array([[1, 0, 9], [3, 2, 4]])],
                      ref=lambda x, v, right=False: np.searchsorted(x, v, "right" if right else "left"), attrs=_attrs,
                      out_dtype="int64", dtypes=NUMBERS, refuses=False, empty=False,
                      bad=[dict(inputs=[np.ones((2, 2)), np.ones(3)])]))



def tree_scores(data, nodes, values, roots, weights, depth, comparison=-1, aggregate="sum"):
    compare = [np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal]
    rows = []
    for x in data:
        ends = []
        for at in roots:
            for _ in range(depth):
                head, yes, no = nodes[at]
                if yes != at:
                    value = x[head >> 4]
                    at = yes if compare[head & 7](value, values[at]) or (head & 8 and np.isnan(value)) else no
            ends.append(weights[nodes[at][0] >> 4])
        rows.append({"sum": np.sum, "min": np.min, "max": np.max}[aggregate](ends, axis=0))
    return np.array(rows)


# Two trees, of two leaves and of three, with several comparisons; NaN goes to yes in one node.
_nodes = np.array([[0 * 16 + 0, 1, 2], [0, 1, 1], [16, 2, 2], [1 * 16 + 8 + 3, 4, 5], [32, 4, 4], [2 * 16 + 4, 6, 7], [48, 6, 6],
                   [64, 7, 7]])
_trees = [np.array([[0.5, 2, 1], [-1, np.nan, 3], [3, -2, 3]]), _nodes, np.array([1, 0, 0, 0.5, 0, 3, 0, 0]), np.array([0, 3]),
          np.arange(10).reshape(5, 2) - 4.0]
for _attrs in [dict(depth=2), dict(depth=5, aggregate="min"), dict(depth=3, aggregate="max")]:
    CASES.append(dict(op="_contrib_tree_ensemble", inputs=_trees, ref=tree_scores, attrs=_attrs, dtypes=["float32", "float64"],
                      input_dtypes={1: "int32", 3: "int32"}, refuses=False, empty=False,
                      bad=[dict(inputs=[_trees[0][0], *_trees[1:]]), dict(inputs=[_trees[0], _nodes[:, :2], *_trees[2:]]),
                           dict(attrs=dict(depth=-1))]))

CASES = rotated(CASES)


COVERED_ELSEWHERE = {"_contrib_backward_index_copy": "test_gradient_paths.py"}


# ---- index arrays of neighbouring dimensions
def index_axes(a, *index, axis=0):
    return a[(slice(None),) * axis + tuple(i.astype("int64") for i in index)]


def index_axes_assign(a, value, *index, axis=0):
    out = a.copy()
    out[(slice(None),) * axis + tuple(i.astype("int64") for i in index)] = value
    return out


for _arrays, _dtypes, _attrs in [
        ([[0, 2, -1]], ["int32"], dict()), ([[[1, 0], [-2, 1]]], ["int64"], dict(axis=1)), ([1], ["float32"], dict(axis=2)),
        ([[2, 0], [1, -1]], ["int64", "int64"], dict()), ([[[0], [2]], [1, 0, 1]], ["int32", "float64"], dict()),
        ([[2, 0, -1, 0]], ["int64"], dict()), ([[1, 1, -1]], ["int32"], dict(axis=1)),
        ([[0, 1, 1], [-1, 0, 2]], ["uint8", "int8"], dict(axis=1)), ([[0, 1, 0], [2, 3, 2]], ["int64"] * 2, dict(axis=1)),
        ([0, [1, 0], [[1], [3]]], ["int64"] * 3, dict())]:
    _arrays = [np.array(v) for v in _arrays]
    CASES.append(dict(op="_index_axes", inputs=[(3, 2, 4), *_arrays], ref=index_axes, attrs=_attrs, grad=[0], grad2=True, empty=False,
                      input_dtypes={i + 1: d for i, d in enumerate(_dtypes)},
                      bad=[dict(attrs=dict(axis=3)), dict(attrs=dict(axis=-1)),
                           dict(inputs=[(3, 2, 4), np.array([3]), *_arrays[1:]], attrs=dict(axis=0)),
                           dict(inputs=[(3, 2, 4), *_arrays, np.zeros((5, 5, 5, 5), "int64")], attrs=_attrs)], **ALL))
    _block = np.broadcast_shapes(*[v.shape for v in _arrays])
    _axis = _attrs.get("axis", 0)
    _inner = (3, 2, 4)[_axis + len(_arrays):]
    for _value in [(), (1,) * len(_block) + _inner, (*(3, 2, 4)[:_axis], *_block, *_inner)]:
        CASES.append(dict(op="_index_axes_assign", inputs=[(3, 2, 4), _value, *_arrays], ref=index_axes_assign, attrs=_attrs,
                          grad=[0, 1], grad2=True, empty=False, input_dtypes={i + 2: d for i, d in enumerate(_dtypes)},
                          bad=[dict(attrs=dict(axis=3)), dict(inputs=[(3, 2, 4), (7,), *_arrays], attrs=_attrs)], **ALL))
CASES.append(dict(op="_index_axes", inputs=[(3, 4), np.zeros((2, 0), "int64")], ref=index_axes, empty=False,
                  input_dtypes={1: "int64"}, **ALL))

# NumPy's bincount: its length depends on the values
for _attrs in [dict(), dict(minlength=9)]:
    CASES.append(dict(op="_npi_bincount", inputs=[ints((30,), 0, 6)], attrs=_attrs, ref=lambda x, minlength=0: np.bincount(
        x.astype("int64"), minlength=minlength), dtypes=INTEGERS[::-1],
        out_dtype=lambda d: "int32" if d == "int32" else "int64", empty=False, refuses=False,
        bad=[dict(inputs=[np.array([1, -1])]), dict(inputs=[(2, 3)]), dict(attrs=dict(minlength=-1))]))
    CASES.append(dict(op="_npi_bincount", inputs=[ints((30,), 0, 6), rand((30,))], input_dtypes={1: "float64"},
                      attrs=dict(_attrs, has_weights=True), ref=lambda x, w, minlength=0, **kw: np.bincount(
                          x.astype("int64"), w, minlength=minlength), dtypes=INTEGERS[::-1], out_dtype="float64", tol=4, empty=False,
                      refuses=False, bad=[dict(inputs=[ints((4,), 0, 3), (5,)])]))
