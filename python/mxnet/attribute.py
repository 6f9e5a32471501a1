"""Attributes that symbols inherit from the scope in which they are created."""
import warnings

from ._startup.scopes import Scopes

__all__ = ["AttrScope", "current"]


def _warn_of_current():
    warnings.warn("AttrScope.current has been deprecated. A with statement with an AttrScope is advised.", DeprecationWarning,
                  stacklevel=3)


class _ScopeType(type):
    @property
    def current(cls):
        """The innermost scope of this thread. Deprecated: use a ``with`` statement."""
        _warn_of_current()
        return _scopes.stack[-1]

    @current.setter
    def current(cls, scope):
        _warn_of_current()
        _scopes.value = scope


class AttrScope(metaclass=_ScopeType):
    """Every symbol created inside the ``with`` block carries these attributes; an inner scope adds
    to the outer one.

    Parameters
    ----------
    **kwargs : str
        Attributes, e.g. ``ctx_group='stage1'``, ``__lr_mult__='0.1'``.

    Raises
    ------
    ValueError
        if a value is not a string.

    Examples
    --------
    >>> with mx.AttrScope(ctx_group='stage1'):
    ...     x = mx.sym.Variable('x')
    >>> x.attr('ctx_group')
    'stage1'
    """

    def __init__(self, **kwargs):
        for key, value in kwargs.items():
            if not isinstance(value, str):
                raise ValueError(f"[AttrScope] attribute {key}={value!r}; attributes need to be string")
        self._own = kwargs
        self._attr = kwargs

    def __setstate__(self, state):
        self.__dict__.update(state, _own=state["_attr"])    # 1.x has no _own

    def get(self, attr):
        """The scope's attributes, overridden by the dictionary `attr` (None: no overriding).

        >>> mx.AttrScope(mood='good').get({'lr_mult': '2'})
        {'mood': 'good', 'lr_mult': '2'}
        """
        if not self._attr:
            return attr if attr else {}
        merged = dict(self._attr)
        if attr:
            merged.update(attr)
        return merged

    def __enter__(self):
        self._attr = {**_scopes.stack[-1]._attr, **self._own}
        _scopes.stack.append(self)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        _scopes.stack.pop()
        self._attr = self._own


_scopes = AttrScope._current = Scopes(AttrScope)


def current():
    """The innermost scope of this thread.

    >>> with mx.AttrScope(mood='good'):
    ...     mx.attribute.current().get(None)
    {'mood': 'good'}
    """
    return _scopes.stack[-1]
