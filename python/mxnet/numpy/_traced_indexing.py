"""``x[key]`` and ``x[key] = value`` while a hybridized block is traced, in operators that read no
shape: the graph serves arrays of other sizes, and shapes that depend on values.
"""
from .._binding import NDArrayBase
from .._arrays.tracing import is_deferred_compute, shape_is_value, stop
from ._dispatch import call, filled_array, from_values
from ._index_keys import Places

__all__ = ["basic", "chosen_by_values", "gather", "on_device", "scatter", "shapes_are_values"]

_WHOLE = slice(None)


def on_device(a, values, dtype="int64"):
    """An index array or mask as an mx.np array beside `a`."""
    if isinstance(values, NDArrayBase):
        return values.as_in_context(a.context)
    return from_values(values, a.context, dtype)


def shapes_are_values(arrays):
    """Whether the shape of one of several arrays depends on values, in a graph that is being
    recorded."""
    return is_deferred_compute() and any(isinstance(a, NDArrayBase) and shape_is_value(a) for a in arrays)


def chosen_by_values(keys):
    """Whether values tell how much a key chooses, in a graph that is being recorded."""
    arrays = [k for k in keys if isinstance(k, Places) and isinstance(k.values, NDArrayBase)]
    return is_deferred_compute() and any(k.mask for k in arrays) or shapes_are_values(k.values for k in arrays)


def basic(a, keys):
    """``a[keys]`` for integers, slices and new axes."""
    begin, end, step, dropped, added = [], [], [], [], []
    for k in keys:
        if k is None:
            added.append(len(begin) - len(dropped) + len(added))
            continue
        if isinstance(k, slice):
            begin.append(k.start)
            end.append(k.stop)
            step.append(k.step)
            continue
        dropped.append(len(begin))
        begin.append(k)
        end.append(k + 1 if k != -1 else None)
        step.append(None)
    out = a
    if any(v is not None for v in begin + end + step):
        out = call("slice", (out,), begin=tuple(begin), end=tuple(end), step=tuple(step))
    if dropped:
        out = call("_npi_squeeze", (out,), axis=tuple(dropped))
    for axis in added:
        out = call("_npi_expand_dims", (out,), axis=axis)
    return call("identity", (a,)) if out is a else out


def _columns(a, places):
    """The index arrays that an entry of a key stands for."""
    if not places.mask:
        return [on_device(a, places.values)]
    if not places.axes:
        stop("a key holds True or False beside arrays whose shapes depend on values")
    turned = call("_npi_transpose", (call("_npi_nonzero", (on_device(a, places.values, "bool"),)),))
    return [basic(turned, [i, _WHOLE]) for i in range(places.axes)]


class _Addressed:
    """A key with arrays, of which one operator reads neighbouring axes.

    Attributes
    ----------
    slices : list of slice
        What is to be cut first, one for each axis of the array.
    axes : list of int
        Those that the index arrays address.
    arrays : list
        The index arrays.
    together : bool
        Whether nothing stands between them in the key, so that their axes stay in their place.
    added : list of int
        Where new axes stand in the result.
    """

    __slots__ = ("slices", "axes", "arrays", "together", "added")

    def __init__(self, a, keys):
        self.slices, self.axes, self.arrays, axis = [], [], [], 0
        chosen = [i for i, k in enumerate(keys) if isinstance(k, (int, Places))]
        self.together = chosen[-1] - chosen[0] + 1 == len(chosen)
        for k in keys:
            if isinstance(k, slice):
                self.slices.append(k)
                axis += 1
            elif k is not None and k is not Ellipsis:
                number = not isinstance(k, Places)
                columns = [filled_array("_npi_full", (), a.context, "int64", k)] if number else _columns(a, k)
                self.arrays += columns
                self.axes += range(axis, axis + len(columns))
                self.slices += [_WHOLE] * len(columns)
                axis += len(columns)
        block = max(v.ndim for v in self.arrays)
        self.added, at = [], 0 if self.together else block
        for i, k in enumerate(keys):
            at += block if self.together and i == chosen[0] else 0
            if k is None:
                self.added.append(at)
            at += k is None or isinstance(k, slice)

    def turned(self):
        """The axes in the order in which those that are addressed come first; None where they are
        neighbours."""
        return None if self.together else self.axes + [i for i in range(len(self.slices)) if i not in self.axes]


def gather(a, keys):
    """``a[keys]`` for a key with arrays."""
    key = _Addressed(a, keys)
    if any(k != _WHOLE for k in key.slices):
        a = basic(a, key.slices)
    order = key.turned()
    if order:
        a = call("_npi_transpose", (a,), axes=tuple(order))
    out = call("_index_axes", [a, *key.arrays], axis=0 if order else key.axes[0])
    for axis in key.added:
        out = call("_npi_expand_dims", (out,), axis=axis)
    return out


def scatter(a, keys, value):
    """``a[keys] = value`` for a key with arrays and an mx.np array that broadcasts to what the key
    chooses."""
    key = _Addressed(a, keys)
    if key.added or any(k != _WHOLE for k in key.slices):
        stop("a part is assigned whose shape depends on values and whose key has slices or new axes")
    order = key.turned()
    inputs = [call("_npi_transpose", (a,), axes=tuple(order)) if order else a, value, *key.arrays]
    out = call("_index_axes_assign", inputs, axis=0 if order else key.axes[0])
    if order:
        out = call("_npi_transpose", (out,), axes=tuple(order.index(i) for i in range(len(order))))
    call("_copyto", (out,), a)
