"""Parts of arrays that are written while autograd records: ``row = x[i]; row += y``.

Where nothing is recorded, a part whose elements lie side by side is a view, and whoever writes
into it writes into the whole array. What autograd records has memory of its own, so `row` and `x`
are two arrays then. So an array that was taken out of another one while autograd recorded notes
that in `_part`, as (weak reference to the whole, key, `_part` of the whole). The binding calls
:func:`write_through` after it has written into such an array, which assigns it to its place.
"""
import threading
import weakref

__all__ = ["note_part", "lies_together", "write_through", "is_written"]


class _Last(threading.local):
    written = None    # (part, whole, key) of the last write_through, the arrays by weak references


_last = _Last()


def note_part(part, whole, key):
    """Remembers that `part` is ``whole[key]``, a selection whose elements lie side by side. The
    compiled binding notes the same for the keys that it serves itself. Returns `part`."""
    if part is not whole:
        part._part = weakref.ref(whole), key, whole._part
    return part


def lies_together(keys):
    """Whether a basic key chooses elements that lie side by side in an array of any sizes:
    integers, then at most one slice, then whole axes."""
    keys = [k for k in keys if k is not None and k is not Ellipsis]
    while keys and not isinstance(keys[0], slice):
        keys.pop(0)
    return all(k == slice(None) for k in keys[1:]) and (not keys or keys[0].step in (None, 1))


def write_through(part):
    """Assigns an array that has just been written to its place in the array that it is a part of.
    Where that one is gone, it is taken anew out of the next larger one, and so on."""
    keys, note, whole, _last.written = [], part._part, None, None
    while note is not None and whole is None:
        whole, key, note = note[0](), note[1], note[2]
        keys.append(key)
    if whole is None:    # nobody can see it
        return
    wholes = [whole]
    while len(wholes) < len(keys):
        wholes.append(wholes[-1][keys[-len(wholes)]])
        wholes[-1]._part = None
    value = part
    for key in keys:
        whole = wholes.pop()
        whole[key] = value
        value = whole
    if len(keys) == 1:
        _last.written = weakref.ref(part), weakref.ref(whole), keys[0]


def is_written(whole, key, part):
    """Whether ``whole[key] = part`` has nothing to do, as :func:`write_through` has just done it:
    ``whole[key] += y`` ends with this assignment."""
    last, _last.written = _last.written, None
    return last is not None and last[2] is key and last[0]() is part and last[1]() is whole
