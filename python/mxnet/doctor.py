"""What this installation is made of, what is missing, and how to get it.

    python -m mxnet.doctor [--json]

The exit status is 1 if something that the package needs is missing, else 0. It also runs where the
library cannot be loaded. Reports of errors have its output.
"""
import ctypes
import json
import os
import sys

from . import _binding, base, env, libinfo, ndarray, runtime  # noqa: F401
from ._machine import report as _machine  # noqa: F401
from ._machine.command import run
from ._machine.report import advice, codecs, instructions, libraries, quota  # noqa: F401

__all__ = ["report"]


def _state(found, missing):
    """What can be asked of the package when its library is loaded."""
    path = base._LIB._name
    features = sorted(name for name, feature in runtime.Features().items() if feature.enabled)
    compiled = "_cy3" in _binding._backend.__name__
    found["library"] = {"path": path, "version": base.__version__, "features": features}
    levels = ctypes.c_char_p()
    base.check_call(base._LIB.MXGetCpuLevels(ctypes.byref(levels)))
    found["instructions"] = instructions(json.loads(base.py_str(levels.value)))
    found["binding"] = f"compiled ({_binding._backend.__file__})" if compiled else "ctypes (slow calls)"
    found["threads"] = {name: env.value(name) for name in ("OMP_NUM_THREADS", "MXNET_CPU_WORKER_NTHREADS", "MXNET_ENGINE_TYPE")}
    found["changed variables"] = {row["name"]: row["value"] for row in env.list() if row["source"] != "default"}
    if not compiled:
        if env.value("MXNET_ENABLE_CYTHON"):
            missing.append({"what": "the compiled binding mxnet._cy3: each call of an operator takes about 14 µs instead of 0.5 µs",
                            "needed": True, "get": "./dev build, or a wheel for this Python"})
        else:
            missing.append({"what": "the compiled binding is switched off by MXNET_ENABLE_CYTHON=0", "needed": False,
                            "get": "unset the variable"})
    found["codecs"] = codecs(os.path.dirname(os.path.realpath(path)), missing)
    found["libraries"] = libraries()
    gpus = found["gpus"]
    if "CUDA" in features and not gpus.get("devices"):
        missing.append({"what": "a GPU that the driver knows, for mx.gpu()", "needed": False, "get": "the driver of NVIDIA"})
    elif gpus.get("devices") and "CUDA" not in features:
        missing.append({"what": "a library for the GPUs of this machine", "needed": False, "get": "./dev build --preset cuda"})
    try:
        if ndarray.dot(ndarray.ones((2, 2)), ndarray.ones((2, 2))).asnumpy().tolist() != [[2, 2], [2, 2]]:
            raise ArithmeticError("wrong numbers")
    except Exception as error:      # pylint: disable=broad-except    (whatever is wrong is to be shown)
        missing.append({"what": f"a product of matrices fails: {error}", "needed": True, "get": "a report of this output"})


def report():
    """What ``--json`` prints, as a dict.

    Returns
    -------
    dict
        Versions, processor, its instructions and which of them are used, threads, GPUs, libraries,
        and under "missing" a list of dicts: `what`, whether it is `needed`, and how to `get` it.

    Examples
    --------
    >>> from mxnet import doctor
    >>> [row for row in doctor.report()["missing"] if row["needed"]]
    []
    """
    return _machine.report(ask=_state)


def main(arguments):
    """The command; returns its exit status."""
    return _machine.main(arguments, ask=_state)


if __name__ == "__main__":
    sys.exit(run(main, sys.argv[1:]))
