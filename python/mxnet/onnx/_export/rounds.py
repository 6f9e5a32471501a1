"""Loops that converters write: rounds of a formula on terms."""
import numpy as np

from .shapes import Value
from .terms import Term

__all__ = ["repeat"]


def repeat(c, states, step, count=None):
    """What terms are after rounds of a formula.

    Parameters
    ----------
    states : list of (Term, dims)
        What they are at first, with their dimensions, or None.
    step : callable
        ``step(body, number, terms)`` returns the terms of the next round, and a truth value that
        says whether there is one, or None. `number` counts rounds, from 0.
    count : str, optional
        Name of the largest number of rounds.
    """
    body = c.body()
    number = body.input(f"{c.name}_round", (), np.int64)
    body.input(f"{c.name}_goes_on", (), np.bool_)
    given = [body.input(f"{c.name}_state", dims, term.dtype) for term, dims in states]
    terms, goes_on = step(body, Term(body, number.name, np.int64),
                          [Term(body, value.name, value.dtype) for value in given])
    truth = c.const(True, np.bool_) if goes_on is None else goes_on.name
    results = [Value(term.name, dims, term.dtype) for term, (_, dims) in zip(terms, states)]
    made = c.op("Loop", count, c.const(True, np.bool_), *(term.name for term, _ in states),
                outputs=len(states), body=body.proto([Value(truth, (), np.bool_), *results]))
    made = [made] if isinstance(made, str) else made
    return [Term(c, name, term.dtype) for name, (term, _) in zip(made, states)]
