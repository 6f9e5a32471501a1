"""Converters by operator. Each takes a :class:`~.conversion.Conversion` and returns the names of
the node's results: one name, or a sequence of them. `families.py` finds them."""

__all__ = ["CONVERTERS", "converts"]

CONVERTERS = {}


def converts(*operators):
    """Decorator: the function converts `operators`, under whatever alias a graph has them."""
    def register(function):
        for name in operators:
            if name in CONVERTERS:
                raise ValueError(f"[onnx] two converters of {name}")
            CONVERTERS[name] = function
        return function
    return register
