"""Registries of classes by name, one per base class: what stands behind ``register``, ``alias`` and
``create``."""
import json
import warnings

from ._startup.names import hint as _hint
from .base import CheckedTypeError, CheckedValueError, error_class

__all__ = ["get_alias_func", "get_create_func", "get_register_func", "get_registry"]

_REGISTRIES = {}
_REPLACED = "New {kind} {new} registered with name {key} is overriding existing {kind} {old}"


def _registry(base_class):
    return _REGISTRIES.setdefault(base_class, {})


def live_registry(base_class):
    """The registry of `base_class` itself: what is entered counts."""
    return _registry(base_class)


def get_registry(base_class):
    """A copy of the registry of `base_class`: lower-case name to class."""
    return dict(_registry(base_class))


def get_register_func(base_class, nickname, replaced=_REPLACED):
    """A function ``register(klass, name=None)`` that enters a subclass of `base_class`; usable as a
    decorator. `replaced` is what it warns of where the name had another class."""
    registry = _registry(base_class)

    def path(klass):
        return f"{klass.__module__}.{klass.__name__}"

    def register(klass, name=None):
        if not (isinstance(klass, type) and issubclass(klass, base_class)):
            raise CheckedTypeError(f"[register] {klass!r} is not a subclass of {base_class.__name__}, "
                            f"only those can be registered as {nickname}")
        key = (name or klass.__name__).lower()
        known = registry.get(key)
        if known is not None:
            warnings.warn(replaced.format(kind=nickname, new=path(klass), key=key, old=path(known)), stacklevel=2)
        registry[key] = klass
        return klass

    register.__doc__ = f"Register a {nickname} class under its name in lower case (or `name`)."
    return register


def get_alias_func(base_class, nickname):
    """A function ``alias(*names)``: a decorator that registers a class under further names."""
    register = get_register_func(base_class, nickname)

    def alias(*aliases):
        def enter(klass):
            for name in aliases:
                register(klass, name)
            return klass
        return enter

    alias.__doc__ = f"Register a {nickname} class under further names."
    return alias


def get_create_func(base_class, nickname):
    """A function ``create(spec, *args, **kwargs)`` that makes an instance.

    `spec` is an instance (returned as it is), a registered name, JSON ``'["name", {"option":
    value}]'``, or a dictionary with the name under the key `nickname` and the options beside it.
    """
    registry = _registry(base_class)

    def create(*args, **kwargs):
        if args:
            spec, args = args[0], args[1:]
        elif nickname in kwargs:
            spec = kwargs.pop(nickname)
        else:
            raise ValueError(f"[create] no {nickname} was given")
        if isinstance(spec, base_class):
            if args or kwargs:
                raise CheckedValueError(f"[create] {nickname} is an instance already: further arguments are not accepted")
            return spec
        if isinstance(spec, dict):
            return create(**{**spec, **kwargs})
        if not isinstance(spec, str):
            raise error_class(TypeError, AssertionError, AttributeError)(
                f"[create] {nickname} {spec!r}; a name, JSON, or an instance of {base_class.__name__} is accepted")
        if spec.startswith("["):
            if args or kwargs:
                raise ValueError(f"[create] {nickname} is given as JSON: further arguments are not accepted")
            spec, kwargs = json.loads(spec)
            return create(spec, **kwargs)
        if spec.startswith("{"):
            if args or kwargs:
                raise ValueError(f"[create] {nickname} is given as JSON: further arguments are not accepted")
            return create(**json.loads(spec))
        klass = registry.get(spec.lower())
        if klass is None:
            raise CheckedValueError(f"[create] {nickname} {spec!r} is not registered; {_hint(spec, registry)}"
                                    f"known are {', '.join(sorted(registry))}")
        return klass(*args, **kwargs)

    create.__doc__ = f"Create a {nickname} from its name, from JSON or from a dictionary; an instance is returned as it is."
    return create
