"""Workloads of operators.py made of the records: every operator that the 1.9.1 wheel has too, on
the arrays of its first case in tests/python/op_cases, and on larger ones.

`write(folder, ...)` runs under this library and leaves arrays.npz and calls.json there;
`workloads(folder, ...)` reads them under either library.
"""
import ast
import importlib
import json
import os
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Bytes of the first array, about: the price of a call, arrays that a core's cache holds, arrays
# that it does not.
SIZES = {"small": 0, "cache": 256 << 10, "memory": 16 << 20}
# The wheel touches memory beyond the arrays of these operators' cases.
UNSAFE = {"SequenceLast", "SequenceReverse", "batch_take"}
# The same of the backward passes: the wheel ends there, or hangs in its handler of signals.
UNSAFE_GRADIENT = {"_contrib_DeformablePSROIPooling", "_contrib_PSROIPooling", "_contrib_DeformableConvolution", "_contrib_box_nms",
                   "_contrib_box_iou", "_contrib_bipartite_matching", "_contrib_ROIAlign", "transpose", "amp_multicast",
                   "_identity_with_attr_like_rhs"}
# The wheel leaves the results of these cases as they are: it has no time to compare with.
UNWRITTEN = {"_image_random_color_jitter"}
# One call of the wheel takes minutes on the larger arrays.
SLOW = {"_contrib_box_nms"}
SPACES = {"_contrib_": "contrib", "_linalg_": "linalg", "_image_": "image"}


def larger(values, copies):
    """The arrays with so many copies along axis 0 of the first and of those as long as it."""
    first = values[0]
    if copies == 1 or first is None or first.ndim == 0:
        return values
    return [v if v is None or v.ndim == 0 or v.shape[0] != first.shape[0] else np.tile(v, (copies,) + (1,) * (v.ndim - 1))
            for v in values]


def copies_for(values, size, results):
    """How many copies make the first array `size` bytes, about; None when the results would grow
    faster than the arrays. `results(values)`: the number of elements of the results."""
    if not size:
        results(values)
        return 1
    if values[0] is None or values[0].size == 0 or results(larger(values, 2)) > 2.5 * results(values):
        return None
    copies = max(1, size // (4 * values[0].size))
    grown = larger(values, copies)
    results(grown)
    return copies if sum(v.size for v in grown if v is not None) <= 2 * size else None


def write(folder, size, only=None):
    """Names of the operators whose workloads are in `folder` now."""
    sys.path[:0] = [os.path.join(ROOT, "tests", "python"), os.path.join(ROOT, "tests", "python", "operators")]
    import test_operators as harness
    from mxnet._operators import functions as _op_functions
    calls, kept = {}, {}
    for case in harness.CASES:
        name = _op_functions.op_info(case["op"]).name
        if name in UNSAFE | UNWRITTEN or size == "memory" and name in SLOW:
            continue
        if name in calls or name.startswith(("_npi_", "_np_", "_npx_", "_backward")) or only and name not in only:
            continue
        accepted = harness._accepted(case)
        dtype = "float32" if "float32" in accepted else accepted[0]
        attrs = case.get("attrs", {})
        if dtype == "bfloat16" or ast.literal_eval(repr(attrs)) != attrs:
            continue
        try:
            values = harness._draw(case, dtype)
            copies = copies_for(values, SIZES[size], lambda v: sum(o.wait_to_read() or o.size for o in harness._run(
                case, harness._arrays(case, v, dtype))))
        except Exception:   # not on arrays of this size
            continue
        if copies is None:
            continue
        dtypes = [case.get("input_dtypes", {}).get(i, dtype) for i, v in enumerate(values) if v is not None]
        given = [v for v in values if v is not None]
        if "bfloat16" in dtypes:
            continue
        names = [n for n in _op_functions.op_names() if _op_functions.op_info(n).name == name]
        calls[name] = {"attrs": repr(attrs), "dtypes": dtypes, "copies": copies, "names": names}
        kept.update({f"{name}|{i}": v.astype(d) for i, (v, d) in enumerate(zip(given, dtypes))})
    np.savez(os.path.join(folder, "arrays.npz"), **kept)
    with open(os.path.join(folder, "calls.json"), "w", encoding="utf-8") as f:
        json.dump(calls, f)
    return list(calls)


def leave_out_last(folder, error):
    """Takes the operator that an ended contestant named last out of the workloads, and says so;
    false where there is none."""
    path = os.path.join(folder, "calls.json")
    with open(path, encoding="utf-8") as f:
        calls = json.load(f)
    name = next((line for line in reversed(error.splitlines()) if line in calls), None)
    if name is None:
        return False
    del calls[name]
    with open(path, "w", encoding="utf-8") as f:
        json.dump(calls, f)
    print(f"{error.splitlines()[0]} in {name} or one before it; started again without {name}", flush=True)
    return True


def function(mx, names):
    """The operator as either library's users call it; None when it has none of the names."""
    for name in names:
        spaces = [(mx.nd, name), (importlib.import_module("mxnet.ndarray._internal"), name)]
        spaces += [(getattr(mx.nd, space), name[len(prefix):]) for prefix, space in SPACES.items() if name.startswith(prefix)]
        for space, short in spaces:
            found = getattr(space, short, None)
            if found is not None:
                return found
    return None


class Workload:
    """Calls one operator. Its arrays exist while it is the one that runs: all of them together
    would not fit into memory."""
    running = None

    def __init__(self, mx, operator, attrs, make, gradient):
        self.mx, self.operator, self.attrs, self.make, self.gradient = mx, operator, attrs, make, gradient
        self.given = None

    def __call__(self):
        if Workload.running is not self:
            if Workload.running:
                Workload.running.given = None
            Workload.running = self
            self.given = self.make()
            if self.gradient:
                for array in self.given:
                    if array.dtype == np.float32:
                        array.attach_grad()
        if not self.gradient:
            self.operator(*self.given, **self.attrs)
            return
        with self.mx.autograd.record():
            out = self.operator(*self.given, **self.attrs)
            out = out[0] if isinstance(out, (list, tuple)) else out
        out.backward()


def workloads(folder, gradient):
    """name -> Workload; operators that this library does not have or run are left out."""
    import mxnet as mx
    with open(os.path.join(folder, "calls.json"), encoding="utf-8") as f:
        calls = json.load(f)
    arrays = np.load(os.path.join(folder, "arrays.npz"))
    made = {}
    for name, call in calls.items():
        operator = function(mx, call["names"])
        if operator is None or gradient and name in UNSAFE_GRADIENT:
            continue

        def make(name=name, call=call):
            values = larger([arrays[f"{name}|{i}"] for i in range(len(call["dtypes"]))], call["copies"])
            return [mx.nd.array(v, dtype=d) for v, d in zip(values, call["dtypes"])]
        step = Workload(mx, operator, ast.literal_eval(call["attrs"]), make, gradient)
        print(name, file=sys.stderr, flush=True)   # who looks for the one that ends the process finds it
        try:
            step()
            mx.nd.waitall()
        except Exception:   # refused, or without a gradient
            continue
        made[name] = step
    return made
