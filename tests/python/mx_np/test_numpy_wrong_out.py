"""Arguments of mx.np that old programs give: `out` that is no array, and None."""
import inspect

import mxnet as mx
import numpy as np
import pytest


@pytest.mark.parametrize("module", ["", "linalg", "random"])
@pytest.mark.parametrize("out", [[1], "x", 3, np.zeros((2, 2))], ids=["list", "text", "number", "NumPy"])
def test_out_that_is_no_array_of_ours(module, out):
    """Of every function: no error is one of Python's about an attribute that is missing."""
    owner, x = getattr(mx.np, module) if module else mx.np, mx.np.ones((2, 2))
    named = 0
    for name in sorted(dir(owner)):
        function = getattr(owner, name)
        if name.startswith("_") or not callable(function) or inspect.isclass(function):
            continue
        for inputs in ((), (x,), (x, x), (x, 1), (1, 2), ([x, x],)):
            try:
                function(*inputs, out=out)
                mx.nd.waitall()
            except AttributeError as error:
                raise AssertionError(f"{name}{inputs}: {error}") from None
            except Exception as error:   # which, the tests of each function say
                named += "out" in str(error)
    assert named > 10


@pytest.mark.parametrize("given,like", [((1, 5, None), (1, 5)), ((None, 3), (0, 3)), ((4, None, None), (4,))])
def test_arange_with_none(given, like):
    assert mx.np.arange(*given).asnumpy().tolist() == np.arange(*like).tolist()


@pytest.mark.parametrize("given", [(None,), (None, None), (None, None, 2)])
def test_arange_without_a_number(given):
    with pytest.raises(TypeError, match="start and stop are None; accepted: a number"):
        mx.np.arange(*given)
