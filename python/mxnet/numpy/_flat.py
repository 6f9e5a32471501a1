"""``x.flat``: the elements of an array of mx.np as those of a vector."""
import operator

import numpy as onp

from .._binding import NDArrayBase
from ._dispatch import call, operand
from ._views import in_memory, makes_views

__all__ = ["Flags", "flatiter", "repeated", "write_flat"]


def _vector(array):
    """The elements as a vector: a view, or a recorded operation."""
    return array._reshape_exact((array.size,)) if array.ndim != 1 else array


def repeated(values, count, like):
    """`count` of the values in a row, which begin anew when they are spent."""
    values = call("_npi_reshape", (operand(values, like),), newshape=(-1,))
    if not values.size:
        raise ValueError("[put] there are no values to write; accepted: at least one")
    if values.size < count:
        values = call("_npi_tile", (values,), reps=(-(-count // values.size),))
    return values[:count]


def write_flat(array, values):
    """Writes values into all elements of an array, one after the other; they begin anew when they
    are spent."""
    if array.size:
        array[...] = call("_npi_reshape", (repeated(values, array.size, array),), newshape=array.shape)


class flatiter:   # pylint: disable=invalid-name
    """The elements of an array, the last dimension fastest: ``x.flat[3]``, ``x.flat[1:3] = 5``,
    ``for v in x.flat``.

    Attributes
    ----------
    base : ndarray
        The array.
    index : int
        How many elements ``next`` has given.

    Examples
    --------
    >>> x = mx.np.array([[1, 2], [3, 4]]); x.flat[1::2] = [7, 8]; x
    array([[1., 7.],
           [3., 8.]])
    >>> [int(v) for v in x.flat]
    [1, 7, 3, 8]
    """

    __module__ = "mxnet.numpy"
    __hash__ = None
    __array_priority__ = 1000.0

    def __init__(self, base):
        self.base, self.index = base, 0

    @property
    def coords(self):
        """The indices of the element that ``next`` will give.

        >>> elements = mx.np.array([[1, 2], [3, 4]]).flat
        >>> _ = next(elements), next(elements)
        >>> elements.coords
        (1, 0)
        """
        return tuple(int(i) for i in onp.unravel_index(self.index, self.base.shape))

    def __len__(self):
        return self.base.size

    def __iter__(self):
        self.index = 0
        return self

    def __next__(self):
        if self.index >= self.base.size:
            raise StopIteration
        self.index += 1
        return _vector(self.base)[self.index - 1]

    def __getitem__(self, key):
        """A copy of the elements that a key of a vector takes."""
        return call("_npi_copy", (_vector(self.base)[self._key(key)],))

    def __setitem__(self, key, value):
        key = self._key(key)
        if isinstance(key, int):
            value = operand(value, self.base)
            if value.ndim:
                raise ValueError(f"[flat] a value of shape {value.shape} for one element; accepted: a number")
            places = range(self.base.size)[key]
        else:
            places = onp.arange(self.base.size)[key.asnumpy() if isinstance(key, NDArrayBase) else key]
            if not places.size:
                return
            value = repeated(value, places.size, self.base)
        if self.base.ndim:
            self.base[onp.unravel_index(places, self.base.shape)] = value
        else:
            self.base[()] = value[0] if value.ndim else value

    def _key(self, key):
        if isinstance(key, tuple):
            if len(key) != 1:
                raise IndexError(f"[flat] {len(key)} indices; accepted: one, because the elements are those of a vector")
            key = key[0]
        if isinstance(key, (slice, list, type(Ellipsis), onp.ndarray)) or isinstance(key, NDArrayBase) and key.ndim:
            return key
        return operator.index(key)

    def copy(self):
        """The elements as a new vector.

        >>> mx.np.array([[1, 2], [3, 4]]).flat.copy()
        array([1., 2., 3., 4.])
        """
        return call("_npi_copy", (_vector(self.base),))

    def __array__(self, dtype=None, copy=None):
        del copy
        values = self.base.asnumpy().reshape(-1)
        return values if dtype is None else values.astype(dtype)


class Flags:
    """``x.flags``: how the elements of an array lie in memory."""

    __slots__ = ("_array",)
    _SHORT = {"C": "C_CONTIGUOUS", "F": "F_CONTIGUOUS", "O": "OWNDATA", "W": "WRITEABLE", "A": "ALIGNED", "X": "WRITEBACKIFCOPY",
              "CONTIGUOUS": "C_CONTIGUOUS", "FORTRAN": "F_CONTIGUOUS"}

    def __init__(self, array):
        self._array = array

    aligned = owndata = property(lambda self: True)
    writebackifcopy = property(lambda self: False)

    @property
    def c_contiguous(self):
        """Whether the elements lie row by row, as those of all arrays but some views do."""
        return in_memory(self._array).flags.c_contiguous if makes_views() else True
    contiguous = c_contiguous

    @property
    def f_contiguous(self):
        """Whether the elements lie column by column as well: of a vector, for instance."""
        if makes_views():
            return in_memory(self._array).flags.f_contiguous
        return not self._array.size or sum(n != 1 for n in self._array.shape) < 2

    @property
    def writeable(self):
        """Whether the array may be written."""
        return self._array.writable

    def __getitem__(self, name):
        name = self._SHORT.get(name, name)
        if name not in self._SHORT.values():
            raise KeyError(name)
        return getattr(self, name.lower())

    def __repr__(self):
        names = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED", "WRITEBACKIFCOPY")
        return "".join(f"  {name} : {self[name]}\n" for name in names)


def _compared(name):
    compare = getattr(operator, name)

    def method(self, other):
        return compare(self.copy(), other.copy() if isinstance(other, flatiter) else other)
    method.__name__ = method.__qualname__ = f"__{name}__"
    method.__doc__ = "The comparison of the elements as a vector."
    return method


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(flatiter, f"__{_name}__", _compared(_name))
