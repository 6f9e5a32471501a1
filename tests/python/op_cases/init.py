"""Operators that make arrays: zeros, ones, full, ranges, identity matrices."""
import numpy as np

from op_cases import NUMBERS_AND_BOOL, rotated

CASES = []


def made(op, ref, out_dtype="float32", bad=(), **attrs):
    CASES.append(dict(op=op, inputs=[], ref=ref, attrs=attrs, dtypes=["float32"], refuses=False,
                      out_dtype=out_dtype, empty=False, bad=[dict(attrs=b) for b in bad]))


ZEROS, ONES = ["_zeros", "_npi_zeros"], ["_ones", "_npi_ones"]
for _dtype in NUMBERS_AND_BOOL:
    made(ZEROS, lambda shape, dtype: np.zeros(shape), _dtype, shape=(2, 3), dtype=_dtype)
    made(ONES, lambda shape, dtype: np.ones(shape), _dtype, shape=(2, 3), dtype=_dtype)
    made("_full", lambda shape, dtype, value: np.full(shape, float(value)), _dtype, shape=(3,), dtype=_dtype, value=3)
made(ZEROS, lambda shape: np.zeros(shape), shape=(2, 0, 4),
     bad=[dict(shape="(2,x)"), dict(shape=(-5,)), dict(dtype="nonsense", shape=(1,))])
made(ZEROS, lambda shape: np.zeros(shape), shape=())
made(ONES, lambda shape: np.ones(shape), shape=(300, 400))
made(["_full", "_npi_full"], lambda shape, value: np.full(shape, value), shape=(2, 2), value=-0.25,
     bad=[dict(shape=(2,)), dict(value="x", shape=(2,))])
made("_full", lambda shape, value, dtype: np.full(shape, value), "int32", shape=(2,), value=-3.7, dtype="int32")
made("_zeros_without_dtype", lambda shape: np.zeros(shape), shape=(2, 3), bad=[dict(shape=(2,), dtype=99)])


def arange(start, stop=None, step=1, repeat=1, dtype="float32", infer_range=False):
    if stop is None:
        start, stop = 0, start
    return np.repeat(np.arange(start, stop, step, dtype="float64"), repeat)


_bad_range = [dict(start=0, stop=5, step=0), dict(start=0, stop=5, repeat=0), dict(start="x")]
RANGES = ["_arange", "_npi_arange"]
made(RANGES, arange, start=0, stop=5, bad=_bad_range)
made("_arange", arange, start=0, stop=5, bad=[dict(start=1, stop=0), dict(start=0, stop=0)])
made("_npi_arange", arange, start=1, stop=0)
made(RANGES, arange, start=7)
made(RANGES, arange, start=0, stop=5, step=0.5, repeat=3)
made(RANGES, arange, start=5, stop=-2, step=-2)
made(RANGES, arange, start=0, stop=100000)
for _dtype in ["float16", "bfloat16", "float64", "int8", "uint8", "int32", "int64"]:
    made(RANGES, arange, _dtype, start=2, stop=9, dtype=_dtype)


def linspace(start, stop, num, endpoint=True, dtype=None):
    return np.linspace(start, stop, num, endpoint=endpoint)


for _op in ["_linspace", "_npi_linspace"]:
    made(_op, linspace, start=0.1, stop=0.7, num=77, bad=[dict(start=0, stop=1), dict(start=0, stop=1, num=-1)])
    made(_op, linspace, start=0, stop=10, num=4, endpoint=False)
    made(_op, linspace, start=3, stop=9, num=1)
    made(_op, linspace, start=3, stop=9, num=0)
    made(_op, linspace, "int32", start=0, stop=10, num=4, dtype="int32")
for _k in (0, 1, -2, 9, -9):
    made("_eye", lambda N, M, k: np.eye(N, M, k), N=3, M=5, k=_k)
    made("_npi_eye", lambda N, M, k: np.eye(N, M, k), N=3, M=5, k=_k)
made(["_eye", "_npi_eye"], lambda N, dtype: np.eye(N), "int64", N=4, dtype="int64", bad=[dict(N=-1), dict(N=2, M=-3)])
made("_npi_identity", lambda shape: np.eye(shape[0]), shape=(3, 3), bad=[dict(shape=(2, 3)), dict(shape=(2,))])
CASES.append(dict(op="_npi_full_like", inputs=[(2, 3)], ref=lambda a,
                  fill_value: np.full(a.shape, fill_value), attrs=dict(fill_value=2),
                  dtypes=NUMBERS_AND_BOOL))
CASES.append(dict(op="_npi_full_like", inputs=[(2, 3)], ref=lambda a, fill_value,
                  dtype: np.full(a.shape, fill_value), attrs=dict(fill_value=2.5, dtype="int32"),
                  out_dtype="int32", dtypes=NUMBERS_AND_BOOL))

CASES = rotated(CASES)
