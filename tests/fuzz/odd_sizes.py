"""Every operator with axes of odd lengths, in every dtype that its record takes, forward and
backward: what vector kernels read or write behind the last element.

    ./dev fuzz --odd-sizes [--from N] [--every N] [--level 2|3|4] [--guard | --preset asan]

Calls are those of tests/python/op_cases, with each length of an axis replaced in turn by each of
SIZES, in all inputs and, where the operator refuses that, in the parameters too. Nothing looks at
results: whoever runs this watches memory (guard_malloc.c, AddressSanitizer). Exit status 1: a call
ended the process or hung, and its line was printed. Operators that no odd size reached are named.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

from harness import begin

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = (1, 3, 7, 17, 33, 65, 0)
LARGEST = 1 << 13    # elements of an input: a length in several axes multiplies
LONGEST = 120.0      # seconds for the calls of one case with one dtype


def _cases():
    """One name of each record, with each of its cases once."""
    sys.path[:0] = [os.path.join(HERE, "..", "python"), os.path.join(HERE, "..", "python", "operators")]
    import test_operators as tests
    from mxnet._operators import functions as _op_functions
    seen, cases = set(), []
    for case in tests.CASES:
        key = (_op_functions.op_info(case["op"]).handle, repr(case["inputs"])[:300], repr(case.get("attrs")))
        if isinstance(case["inputs"], list) and key not in seen:
            seen.add(key)
            cases.append(case)
    return tests, cases


def _lengths(shapes):
    return sorted({n for shape in shapes if shape is not None for n in shape if n > 1})


def _replaced(value, old, new):
    """A parameter with one length replaced."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return new if value == old else value
    if isinstance(value, (tuple, list)):
        return type(value)(_replaced(v, old, new) for v in value)
    return value


def _variants(shapes, attrs):
    """(shapes, parameters): alternatives in a list, of which the first that is accepted is
    enough."""
    for old in _lengths(shapes):
        for new in SIZES:
            every = [None if s is None else tuple(new if n == old else n for n in s) for s in shapes]
            last = [None if s is None else s[:-1] + (new,) if s and s[-1] == old else s for s in shapes]
            changed = {k: _replaced(v, old, new) for k, v in attrs.items()}
            yield [(every, attrs), (every, changed), (last, attrs), (last, changed)]


def _cap(level):
    """Kernels of at most this level of the processor, as C++ tests choose it (cpu_dispatch.h)."""
    from mxnet.base import _LIB
    _LIB._ZN5mxnet11CapCpuLevelENS_8CpuLevelE(level)


class Sweep:
    def __init__(self, level):
        import numpy as np
        import mxnet as mx
        _cap(level)
        self.np, self.mx = np, mx
        self.tests, self.cases = _cases()
        self.accepted = self.refused = 0

    def shapes(self, case):
        return [None if s is None else tuple(s) if isinstance(s, tuple) else tuple(self.np.asarray(s).shape)
                if isinstance(s, (self.np.ndarray, list)) else tuple(s.shape) for s in case["inputs"]]

    def _changed(self, case, shapes, attrs):
        inputs = []
        for given, shape in zip(case["inputs"], shapes):
            if given is None or isinstance(given, tuple):
                inputs.append(shape)
            elif isinstance(given, self.tests.Draw):
                inputs.append(self.tests.Draw(shape, given.low, given.high, given.integer))
            else:
                values = self.np.asarray(given)
                flat = values.reshape(-1) if values.size else self.np.zeros(1, values.dtype)
                inputs.append(self.np.resize(flat, shape))
        return dict(case, inputs=inputs, attrs=attrs)

    def _call(self, case, dtype):
        tests, mx = self.tests, self.mx
        arrays = tests._arrays(case, tests._draw(case, dtype), dtype)
        for out in tests._run(case, arrays):
            out.wait_to_read()
        arrays = tests._arrays(case, tests._draw(case, dtype), dtype)
        for x in arrays:
            if x is not None and tests._name(x) in tests.FLOATS:
                x.attach_grad()
        with mx.autograd.record():
            outs = tests._run(case, arrays)
        try:
            mx.autograd.backward(outs, [mx.nd.ones(x.shape, dtype=x.dtype) for x in outs])
        except mx.MXNetError:
            pass    # nothing to differentiate
        mx.nd.waitall()

    def _first_accepted(self, case, alternatives, dtype):
        for shapes, attrs in alternatives:
            if max((int(self.np.prod(s, dtype=float)) for s in shapes if s is not None), default=0) > LARGEST:
                continue
            try:
                self._call(self._changed(case, shapes, attrs), dtype)
            except Exception:    # pylint: disable=broad-except
                try:
                    self.mx.nd.waitall()
                except self.mx.MXNetError:
                    pass
                self.refused += 1
                continue
            self.accepted += 1
            return True
        return False

    def run(self, number, tell):
        """Returns how many calls of a case were accepted."""
        case, before = self.cases[number], self.accepted
        shapes, attrs = self.shapes(case), dict(case.get("attrs", {}))
        for dtype in self.tests._accepted(case):
            tell(f"{case['op']} {dtype} {shapes} {attrs}")
            for alternatives in _variants(shapes, attrs):
                tell(f"{case['op']} {dtype} {alternatives[0][0]} {alternatives[1][1]}")
                self._first_accepted(case, alternatives, dtype)
        return self.accepted - before


def _work(state, first, every, level):
    """Says at each call in the file `state` which it is; prints what a case came to."""
    sweep = Sweep(level)
    file = os.open(state, os.O_RDWR | os.O_CREAT, 0o600)
    for number in range(first, len(sweep.cases), every):
        def tell(text, number=number):
            os.ftruncate(file, 0)
            os.pwrite(file, f"{number}\n{text}".encode(), 0)
        accepted = sweep.run(number, tell)
        print(f"CASE\t{sweep.cases[number]['op']}\t{accepted}", flush=True)
    os.ftruncate(file, 0)
    print(f"DONE\t{sweep.accepted}\t{sweep.refused}", flush=True)
    os._exit(0)


def _life(folder, first, options):
    """One process from case `first` on. Returns (what it printed, number and text of the call that
    ended it or None)."""
    state, said = os.path.join(folder, "state"), os.path.join(folder, "said")
    open(state, "w").close()
    with open(said, "wb") as out:
        command = [sys.executable, os.path.abspath(__file__), "--work", state, "--from", str(first),
                   "--every", str(options.every), "--level", str(options.level)]
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        seen, since = None, time.monotonic()
        while process.poll() is None:
            time.sleep(0.2)
            now = os.stat(state).st_mtime_ns
            if now != seen:
                seen, since = now, time.monotonic()
            if time.monotonic() - since > LONGEST:
                process.kill()
                process.wait()
    with open(state, encoding="utf-8") as f:
        number, _, text = f.read().partition("\n")
    with open(said, encoding="utf-8", errors="replace") as f:
        output = f.read()
    if process.returncode == 0 and not number:
        return output, None
    return output, (int(number or first), text, process.returncode)


def main():
    parser = argparse.ArgumentParser(prog="./dev fuzz --odd-sizes", description=__doc__.split("\n")[0])
    parser.add_argument("--from", type=int, default=0, dest="first", help="the case to begin with (0)")
    parser.add_argument("--every", type=int, default=1, help="only each Nth case from there (1)")
    parser.add_argument("--level", type=int, default=4, choices=(2, 3, 4),
                        help="kernels for processors like x86-64-v2, -v3 or -v4 at most (4)")
    parser.add_argument("--work", metavar="STATE", help=argparse.SUPPRESS)
    options = begin(parser)
    if options.work:
        return _work(options.work, options.first, options.every, options.level)
    first, found, reached = options.first, 0, {}
    with tempfile.TemporaryDirectory() as folder:
        while True:
            output, end = _life(folder, first, options)
            for line in output.splitlines():
                if line.startswith("CASE\t"):
                    _, op, accepted = line.split("\t")
                    reached[op] = reached.get(op, 0) + int(accepted)
            if end is None:
                break
            number, text, status = end
            found += 1
            print(f"---- status {status} in case {number}: {text}\n{output[-6000:]}", flush=True)
            first = number + options.every
    never = sorted(op for op, accepted in reached.items() if not accepted)
    print(f"odd sizes: {sum(reached.values())} calls of {len(reached)} operators, {found} found; "
          f"{len(never)} operators took no odd size: {' '.join(never)}", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
