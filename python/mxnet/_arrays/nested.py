"""Nested lists of arrays or symbols, as loops take and give them."""


def flatten(value, kind, what):
    """The leaves of a nested list, and its form: 0 for a leaf, a list of forms for a list.

    Raises
    ------
    AssertionError
        if a leaf is no `kind`. `what` says in the message what was given.
    """
    if isinstance(value, kind):
        return [value], 0
    if not isinstance(value, (list, tuple)):
        raise AssertionError(f"{what} must be (nested) list of {kind.__name__}, but got {value} of type {type(value)}")
    leaves, form = [], []
    for item in value:
        some, its_form = flatten(item, kind, what)
        leaves += some
        form.append(its_form)
    return leaves, form


def regroup(leaves, form):
    """The nested list of that form."""
    left = iter(leaves)

    def take(part):
        return next(left) if part == 0 else [take(p) for p in part]

    return take(form)


def whole_number(max_iterations):
    """`max_iterations` of a loop as an int; raises ValueError."""
    if max_iterations is None:
        raise ValueError("[while_loop] max_iterations should be specified: a whole number")
    try:
        return int(max_iterations)
    except (TypeError, ValueError):
        raise ValueError(f"[while_loop] Cannot convert max_iteration to python int: {max_iterations!r}") from None
