"""What blocks keep beside Parameters and children, as a value that can be compared: whether a
forward changed it, and how it was."""
import random
from collections import deque

import numpy as np

__all__ = ['Snapshot', 'token', 'is_ours', 'is_own_attribute']

_DEEPEST, _LONGEST, _MOST_BYTES = 4, 4096, 1 << 20

# Attributes of the machinery of Block and HybridBlock: what a block is, not what its forward keeps.
_OWN = frozenset('''_empty_prefix _prefix _params _name _scope_counter _children _reg_params _forward_hooks _forward_pre_hooks
_active _flags _backend _backend_opts _op_hook
_cached_graph _cached_in _cached_out _in_format _plain_trace _plain_inputs _plain_class _traces _by_operator _inside_of'''.split())


def is_own_attribute(name):
    """True for the attributes that Block and HybridBlock keep themselves."""
    return name in _OWN


def _kept_by(block):
    """The attributes that a forward may read and change."""
    return {k: v for k, v in block.__dict__.items() if k not in _OWN}


def _comparable(state):
    """The state of a NumPy generator with bytes for its arrays. Its text would tell as much, in a
    thousand times the time."""
    if isinstance(state, dict):
        return {k: _comparable(v) for k, v in state.items()}
    return state.tobytes() if isinstance(state, np.ndarray) else state


def is_ours(block):
    """True for the package's own layers: what they keep, such as the number of a step, is theirs to
    renew."""
    return type(block).__module__.startswith('mxnet.')


def token(value, depth=0):
    """Something that is equal for a value that holds the same as before: containers by what is in
    them, everything else by identity."""
    kind = type(value)
    if value is None or kind in (int, float, str, bool, bytes, complex):
        return kind, value
    if isinstance(value, (list, tuple, deque)):
        return (kind, id(value), len(value)) + (tuple(token(v, depth + 1) for v in value)
                                                if depth < _DEEPEST and len(value) <= _LONGEST
                                                else ())
    if isinstance(value, dict):
        return (kind, id(value), len(value)) + (tuple((token(k, depth + 1), token(v, depth + 1)) for k, v in value.items())
                                                if depth < _DEEPEST and len(value) <= _LONGEST else ())
    if isinstance(value, (set, frozenset)):
        return (kind, id(value), len(value)) + (tuple(sorted(map(id, value))) if len(value) <= _LONGEST else ())
    if isinstance(value, np.ndarray):
        return kind, id(value), value.tobytes() if value.nbytes <= _MOST_BYTES and value.dtype.kind != 'O' else None
    if isinstance(value, bytearray):
        return kind, id(value), bytes(value[:_MOST_BYTES])
    if isinstance(value, random.Random):
        return kind, id(value), value.getstate()
    if isinstance(value, np.random.RandomState):
        return kind, id(value), _comparable(value.get_state(legacy=False))
    if isinstance(value, np.random.Generator):
        return kind, id(value), _comparable(value.bit_generator.state)
    own = getattr(value, '__dict__', None)
    plain = type(own) is dict and len(own) <= 64 and not isinstance(value, type) and not callable(value)
    if plain and depth < 2 and not kind.__module__.startswith('mxnet.'):
        return kind, id(value), tuple((k, token(v, depth + 2)) for k, v in own.items())
    return kind, id(value)


class Snapshot:
    """Attributes of `blocks` and the states of Python's and NumPy's global random generators, as
    they were when this was made."""

    def __init__(self, blocks):
        self._attributes = [(b, _kept_by(b)) for b in blocks]
        self._tokens = [None if is_ours(b) else {k: token(v) for k, v in kept.items() if k not in b._numbering}
                        for b, kept in self._attributes]
        self._contents = [(v, list(v) if isinstance(v, list) else v.copy()) for _, kept in self._attributes for v in kept.values()
                          if isinstance(v, (list, dict, set, deque))]
        self._python, self._numpy = random.getstate(), np.random.get_state(legacy=False)

    def changed(self):
        """What is not as it was, in words; None when everything is."""
        if random.getstate() != self._python or _comparable(np.random.get_state(legacy=False)) != _comparable(self._numpy):
            return "Python's or NumPy's random numbers are drawn"
        for (block, _), before in zip(self._attributes, self._tokens):
            if before is None:
                continue
            now = {k: v for k, v in _kept_by(block).items() if k not in block._numbering}
            for key in now.keys() | before.keys():
                if key not in now or key not in before or token(now[key]) != before[key]:
                    return f'the attribute {key!r} of {block.name!r} changes'
        return None

    def restore(self):
        """Put back attributes, what lists, dicts and sets among them held, and the generators."""
        for block, kept in self._attributes:
            for key in [k for k in _kept_by(block) if k not in kept]:
                del block.__dict__[key]
            block.__dict__.update(kept)
        for container, content in self._contents:
            if isinstance(container, list):
                container[:] = content
            else:
                container.clear()
                (container.extend if isinstance(container, deque) else container.update)(content)
        random.setstate(self._python)
        np.random.set_state(self._numpy)
