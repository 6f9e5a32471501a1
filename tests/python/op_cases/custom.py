"""Custom operators have tests of their own. Attention within a window, index_add and index_update,
and what counts elements that are not zero."""
import numpy as np

from . import FLOATS, NUMBERS_AND_BOOL, ints

COVERED_ELSEWHERE = {"Custom": "test_custom_operators.py", **dict.fromkeys(("_Native", "_NDArray"), "test_custom_older_classes.py"),
                     **dict.fromkeys(("_NoGradient", "_set_value"), "test_internal_operators.py")}
CASES = []


# ---- attention within a window: entry j of step i belongs to step i + (j - w) * dilation
def neighbours(steps, heads, dilation, w, symmetric):
    for h in range(heads):
        for i in range(steps):
            for j in range((2 * w if symmetric else w) + 1):
                other = i + (j - w) * int(dilation[h])
                if 0 <= other < steps:
                    yield h, i, j, other


def score(query, key, dilation, w, symmetric):
    out = np.zeros(query.shape[:3] + ((2 * w if symmetric else w) + 1,))
    for h, i, j, other in neighbours(*query.shape[1:3], dilation, w, symmetric):
        out[:, i, h, j] = (query[:, i, h] * key[:, other, h]).sum(-1)
    return out


def context(weights, value, dilation, w, symmetric):
    out = np.zeros(value.shape)
    for h, i, j, other in neighbours(*value.shape[1:3], dilation, w, symmetric):
        out[:, i, h] += weights[:, i, h, j, None] * value[:, other, h]
    return out


def mask_like(weights, dilation, valid_length, w, symmetric):
    out = np.zeros(weights.shape)
    for h, i, j, other in neighbours(*weights.shape[1:3], dilation, w, symmetric):
        out[:, i, h, j] = (i < valid_length) & (other < valid_length)
    return out


for _w, _symmetric, _dilation in [(1, True, [1, 1]), (2, False, [1, 3]), (0, True, [1, 2]), (3, True, [2, -1]), (1, False, [0, 100])]:
    _width = (2 * _w if _symmetric else _w) + 1
    _window = dict(attrs=dict(w=_w, symmetric=_symmetric), dtypes=FLOATS, empty=False, tol=8)
    CASES.append(dict(op=["_contrib_sldwin_atten_score", "_npx_sldwin_atten_score"], ref=score, grad=[0, 1], grad2=True,
                      inputs=[(1, 4, 2, 2), (1, 4, 2, 2), np.array(_dilation)], input_dtypes={2: "int32"},
                      bad=[dict(inputs=[(1, 4, 2, 2), (1, 4, 2, 2), np.array([1])]), dict(inputs=[(1, 4, 3), (1, 4, 3), np.array([1, 1])]),
                           dict(inputs=[(1, 4, 2, 2), (1, 3, 2, 2), np.array([1, 1])]), dict(attrs=dict(w=-1, symmetric=True))], **_window))
    CASES.append(dict(op=["_contrib_sldwin_atten_context", "_npx_sldwin_atten_context"], ref=context, grad=[0, 1], grad2=True,
                      inputs=[(1, 4, 2, _width), (1, 4, 2, 2), np.array(_dilation)], input_dtypes={2: "int64"},
                      bad=[dict(inputs=[(1, 4, 2, _width + 1), (1, 4, 2, 2), np.array([1, 1])])], **_window))
    CASES.append(dict(op=["_contrib_sldwin_atten_mask_like", "_npx_sldwin_atten_mask_like"], ref=mask_like,
                      inputs=[(1, 4, 2, _width), np.array(_dilation), np.array([3])], input_dtypes={1: "int32", 2: "int32"},
                      bad=[dict(inputs=[(1, 4, 2, _width), np.array([1, 1]), np.array([3, 3])])], **_window))


# ---- index_add, index_update
def by_columns(ind):
    return tuple(ind) if ind.ndim > 1 else (ind,)


def index_add(a, ind, val):
    out = a.copy()
    np.add.at(out, by_columns(ind), val)
    return out


def index_update(a, ind, val):
    out = a.copy()
    out[by_columns(ind)] = val
    return out


_BAD = [dict(inputs=[(3, 4), np.array([[3], [0]]), (1,)]), dict(inputs=[(3, 4), np.array([[-1], [0]]), (1,)]),
        dict(inputs=[(3, 4), np.zeros((3, 1)), (1,)]), dict(inputs=[(3, 4), np.array([[0], [0]]), (2,)]),
        dict(inputs=[(3, 4), np.array(0), (1,)])]
for _ind, _val in [([[0, 1, 1], [2, 3, 3]], (3,)), ([[0, 2, 0]], (3, 4)), ([[0, 2, 0]], (1, 4)), ([[0, 2]], ()), ([0, 1], (1,)),
                   ([[[0, 1], [2, 2]]], (2, 1, 4)), (np.zeros((2, 0)), (1,))]:
    _dtypes = ["float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8"]
    CASES.append(dict(op="_npx_index_add", inputs=[(3, 4), np.array(_ind), _val], input_dtypes={1: "int32"}, ref=index_add,
                      dtypes=_dtypes, refuses=False, grad=[0, 2], grad2=True, empty=False, bad=_BAD))
    CASES.append(dict(op="_npx_index_update", inputs=[(3, 4), np.array(_ind), _val], input_dtypes={1: "int64"}, ref=index_update,
                      dtypes=_dtypes, refuses=False, grad=[0, 2], grad2=True, empty=False, bad=_BAD))

# ---- ONNX's ways to combine several values for one place
_FOLDS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def scatter_fold(a, ind, val, fold):
    out = a.copy()
    _FOLDS[fold].at(out, tuple(ind), val)
    return out


for _fold in _FOLDS:
    CASES.append(dict(op="_onnx_scatter_fold", inputs=[ints((3, 4), 1, 3), np.array([[0, -1, -1], [2, 3, 3]]), ints((3,), 1, 3)],
                      input_dtypes={1: "int64"}, attrs=dict(fold=_fold), ref=scatter_fold, empty=False, refuses=False,
                      dtypes=["float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8"],
                      bad=[dict(inputs=[(3, 4), np.array([[3], [0]]), (1,)]), dict(inputs=[(3, 4), np.array([0]), (1,)]),
                           dict(inputs=[(3, 4), np.array([[0], [0]]), (2,)]), dict(attrs=dict(fold="mean"))]))
    CASES.append(dict(op="_onnx_scatter_fold", inputs=[(3, 2), np.array([[0, -1, 0]]), (3, 2)], input_dtypes={1: "int64"},
                      attrs=dict(fold=_fold), ref=scatter_fold, empty=False, refuses=False, dtypes=["float32"], grad=[0, 2]))

# ---- what is not zero
for _shape in [(3, 4), (7,), (2, 0, 3), ()]:
    CASES.append(dict(op=["_npx_nonzero", "_npi_nonzero"], inputs=[ints(_shape, 0, 1)], out_dtype="int64", dtypes=NUMBERS_AND_BOOL,
                      refuses=False, empty=False, ref=lambda x: np.argwhere(np.atleast_1d(x))))
CASES.append(dict(op="_npx_nonzero", inputs=[np.array([np.nan, 0, 1e-300, -0.0])], out_dtype="int64", dtypes=["float64"], refuses=False,
                  empty=False, ref=lambda x: np.argwhere(x)))
for _axis in (None, 0, 1):
    CASES.append(dict(op="_contrib_getnnz", inputs=[ints((5, 3), 0, 1)], attrs=dict(axis=_axis), out_dtype="int64", dtypes=NUMBERS_AND_BOOL,
                      refuses=False, empty=[(0, 3)],
                      ref=lambda x, axis: np.atleast_1d(np.count_nonzero(x, axis=axis)),
                      bad=[dict(attrs=dict(axis=2)), dict(inputs=[(3,)])]))
for _shape in [(3, 4), (), (0, 2)]:
    CASES.append(dict(op="_npx_constraint_check", inputs=[np.ones(_shape)], attrs=dict(msg="no"), dtypes=["bool"], out_dtype="bool",
                      empty=False, ref=lambda x, msg: np.array(True)))
_SHAPES = {(0, -1): (2, 3), (-3, 4): (6, 4), (-2, 1): (2, 3, 1), (0, 3): (0, 3)}
for _shape, _codes in [((2, 3), [3, 2]), ((2, 3), [0, -1]), ((2, 3), [-1]), ((2, 3, 4), [-3, 4]), ((2, 3), [-2, 1]), ((0, 3), [0, 3])]:
    CASES.append(dict(op=["_contrib_dynamic_reshape", "_npx_dynamic_reshape"], inputs=[_shape, np.array(_codes)], input_dtypes={1: "int64"},
                      dtypes=NUMBERS_AND_BOOL, refuses=False, empty=False, grad=[0] if 0 not in _shape else False,
                      bad=[dict(inputs=[(2, 3), np.array([7])]), dict(inputs=[(2, 3), np.array([-9, 2])])],
                      ref=lambda x, codes: x.reshape(_SHAPES.get(tuple(codes), tuple(codes)))))


# ---- names of gradients in graphs of 1.x
CASES.append(dict(op="_broadcast_backward", inputs=[(2, 3)], attrs=dict(axis=1), ref=lambda x, axis: x.sum(axis), dtypes=FLOATS,
                  refuses=False, empty=False, grad=True))
