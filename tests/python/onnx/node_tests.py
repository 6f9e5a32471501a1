"""onnx's own node tests on this library.

    ./dev python tests/python/onnx/node_tests.py [--expanded] [--trace] [OPERATOR or test name...]

prints one line for each test that fails, and a count for each operator. `run(case)` is what the
tests of this folder call.
"""
import argparse
import collections
import functools
import re
import sys
import traceback

import numpy as np

import mxnet as mx


@functools.lru_cache(1)
def cases():
    """All of onnx's node tests, by name."""
    import onnx.backend.test.case.node as node
    from onnx.backend.test.case.node import collect_testcases
    del node
    return {c.name: c for c in collect_testcases(None)}


def operator_of(case):
    """`domain.operator` that a test is about."""
    nodes = case.model.graph.node
    n = nodes[0]
    return (n.domain + "." if n.domain not in ("", "ai.onnx") else "") + n.op_type


def _given(value):
    """An operand as the loader takes it."""
    import onnx
    from onnx import numpy_helper
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, onnx.SequenceProto):
        return numpy_helper.to_list(value)
    if isinstance(value, onnx.OptionalProto):
        return numpy_helper.to_optional(value)
    return value


def _plain(value):
    if isinstance(value, mx.nd.NDArray):
        return value.asnumpy()
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return value


def _compare(got, want, rtol, atol, where=""):
    if want is None:
        assert got is None, f"{where}: {got!r} for an optional without element"
        return
    if isinstance(want, (list, tuple)):
        assert isinstance(got, list) and len(got) == len(want), f"{where}: {got!r} for a sequence of {len(want)}"
        for i, (g, w) in enumerate(zip(got, want)):
            _compare(g, w, rtol, atol, f"{where}[{i}]")
        return
    want = np.asarray(want)
    assert got is not None, f"{where}: nothing for an array of shape {want.shape}"
    assert got.shape == want.shape, f"{where}: shape {got.shape} for {want.shape}"
    if want.dtype.kind in "OUST":
        texts = [v.decode() if isinstance(v, bytes) else str(v) for v in want.flat]
        assert [str(v) for v in got.flat] == texts, f"{where}: {got} for {want}"
        return
    if want.dtype.name in ("bfloat16",):
        want = want.astype("float32")
    if want.dtype.name in ("int4", "uint4", "int2", "uint2"):
        want = want.astype("int8" if want.dtype.name[0] == "i" else "uint8")
    if want.dtype.name.startswith(("float8", "float4")):   # bytes, here: NaN has several
        assert got.dtype == np.uint8, f"{where}: dtype {got.dtype} for {want.dtype}"
        got, want = got.view(want.dtype).astype("float32"), want.astype("float32")
    assert got.dtype == want.dtype, f"{where}: dtype {got.dtype} for {want.dtype}"
    got, want = (v.astype("float64") if v.dtype.kind in "fiub" else v for v in (got, want))
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=where)


def run(case):
    """Raises when the library's results are not onnx's."""
    model = mx.onnx.load(case.model.SerializeToString(), folder=None)
    names = [i.name for i in case.model.graph.input]
    for inputs, outputs in case.data_sets:
        given = {n: v for n, v in zip(names, map(_given, inputs)) if v is not None}
        got = [_plain(v) for v in model.run(given).values()]
        want = [_given(o) for o in outputs]
        kinds = {np.asarray(w).dtype.name for w in want if w is not None and not isinstance(w, (list, tuple))}
        loose = max(case.rtol, 2.5e-2 if "bfloat16" in kinds else 2e-3 if "float16" in kinds else 0)   # a few units of the results' dtype
        for i, (g, w) in enumerate(zip(got, want)):
            _compare(g, w, loose, max(case.atol, 1e-6), f"output {i}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--expanded", action="store_true", help="also the tests with functions written out")
    parser.add_argument("--trace", action="store_true")
    args = parser.parse_args()
    passed, failed = collections.Counter(), collections.Counter()
    for name, case in cases().items():
        expanded = "_expanded" in name
        op = operator_of(case) if not expanded else "expanded"
        if args.names and not any(n in (op, name) or (n.endswith("*") and re.match(n[:-1], name)) for n in args.names):
            continue
        if expanded and not args.expanded:
            continue
        try:
            run(case)
            passed[op] += 1
        except Exception as error:   # each failure is a line of the report
            failed[op] += 1
            text = " ".join(str(error).split())[:300]
            print(f"FAIL {name} ({op}): {type(error).__name__}: {text}", flush=True)
            if args.trace:
                traceback.print_exc(file=sys.stdout)
    for op in sorted({*passed, *failed}):
        if failed[op]:
            print(f"{op}: {passed[op]} of {passed[op] + failed[op]}")
    print(f"{sum(passed.values())} passed, {sum(failed.values())} failed")


if __name__ == "__main__":
    main()
