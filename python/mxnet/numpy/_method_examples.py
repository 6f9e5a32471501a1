"""Examples of the methods of mx.np's arrays that are functions of mx.np; tests run them as
doctests."""

__all__ = ["add_example"]

# Method | array | call | what is printed
_ROWS = """
all | [1, 0] | all() | array(False)
any | [1, 0] | any() | array(True)
argmax | [3, 9, 2] | argmax() | array(1, dtype=int64)
argmin | [3, 9, 2] | argmin() | array(2, dtype=int64)
argsort | [3, 1, 2] | argsort() | array([1, 2, 0], dtype=int64)
broadcast_to | [1, 2] | broadcast_to((2, 2)).shape | (2, 2)
choose | [1, 0], dtype='int32' | choose([[10, 20], [30, 40]]) | array([30, 20], dtype=int64)
clip | [1, 5, 9] | clip(2, 6) | array([2., 5., 6.])
compress | [1, 2, 3] | compress([True, False, True]) | array([1., 3.])
conj | [1, 2] | conj() | array([1., 2.])
cumprod | [1, 2, 3] | cumprod() | array([1., 2., 6.])
cumsum | [1, 2, 3] | cumsum() | array([1., 3., 6.])
diagonal | [[1, 2], [3, 4]] | diagonal() | array([1., 4.])
dot | [1, 2] | dot(mx.np.array([3, 4])) | array(11.)
max | [3, 9, 2] | max() | array(9.)
mean | [3, 9, 3] | mean() | array(5.)
min | [3, 9, 2] | min() | array(2.)
nonzero | [0, 5] | nonzero() | (array([1], dtype=int64),)
prod | [2, 3] | prod() | array(6.)
ptp | [3, 9, 2] | ptp() | array(7.)
ravel | [[1, 2], [3, 4]] | ravel() | array([1., 2., 3., 4.])
repeat | [1, 2] | repeat(2) | array([1., 1., 2., 2.])
round | [1.26, 2.5] | round(1) | array([1.3, 2.5])
searchsorted | [1, 3, 5] | searchsorted(4) | array(2, dtype=int64)
squeeze | [[1, 2]] | squeeze() | array([1., 2.])
std | [1, 3] | std() | array(1.)
sum | [1, 2, 3] | sum() | array(6.)
swapaxes | [[1, 2]] | swapaxes(0, 1).shape | (2, 1)
take | [5, 6, 7] | take([2, 0]) | array([7., 5.])
tile | [1, 2] | tile(2) | array([1., 2., 1., 2.])
trace | [[1, 2], [3, 4]] | trace() | array(5.)
var | [1, 3] | var() | array(1.)
"""
_TEXTS = {}
for _row in _ROWS.strip().split("\n"):
    _name, _array, _call, _printed = _row.split(" | ")
    _TEXTS[_name] = f"\n\n    >>> mx.np.array({_array}).{_call}\n    {_printed}\n    "


def add_example(method):
    """The method, whose docstring ends with its example where there is one."""
    method.__doc__ += _TEXTS.get(method.__name__, "")
    return method
