"""Connectionist temporal classification (Graves et al., ICML 2006): a Scan over the steps."""
import numpy as np

from ... import _dtypes
from .sampling import counted
from .shapes import Value
from .table import converts
from .terms import Term, term

__all__ = []

_NEVER = -1e30      # logarithm of a chance of 0


def _labels(c):
    """(labels, where there are none the blank; how many each sequence has)."""
    params, classes = c.params, c.shape()[2]
    first = params["blank_label"] == "first"
    blank, labels = 0 if first else classes - 1, term(c, 1, np.int64)
    if params["use_label_lengths"]:
        lengths = term(c, len(c) - 1, np.int64).unsqueeze(1)
        inside = counted(c, c.dims(1)[1], np.int64) < lengths
    else:       # the first padding ends them
        padding = labels.same(0 if first else -1).to(np.int32)
        inside = padding.op("CumSum", Term(c, c.const(1, np.int64), np.int64)).same(0)
    counts = inside.to(np.int64).reduce("Sum", [1])
    return inside.where(labels, blank), counts, blank


def _states(c, labels, blank):
    """(the class of each state, blanks around the labels; which states follow the one two before
    them)."""
    blanks = labels * 0 + blank
    states = labels.unsqueeze(2)
    states = Term(c, c.op("Concat", blanks.unsqueeze(2).name, states.name, axis=2), np.int64)
    states = states.op("Reshape", Term(c, c.ints(0, -1), np.int64))
    end = Term(c, c.expand(c.const(blank, np.int64), [c.dims()[1], (1,) * len(c.dims()[1])]), np.int64)
    states = states.op("Concat", end, axis=1)
    before = _moved(c, states, 2, blank)
    return states, (states.same(before).op("Not")) & (states.same(blank).op("Not"))


def _moved(c, x, by, number):
    """Columns moved to the right, with a number in front."""
    end = Term(c, c.ints(-by), np.int64)
    rest = x.op("Slice", Term(c, c.ints(0), np.int64), end, Term(c, c.ints(1), np.int64))
    return rest.op("Pad", Term(c, c.ints(0, by, 0, 0), np.int64), number)


def _sum_of(logs):
    """The logarithm of a sum."""
    most = logs[0].op("Max", *logs[1:])
    total = (logs[0] - most).exp()
    for one in logs[1:]:
        total = total + (one - most).exp()
    return most + total.log()


@converts("CTCLoss")
def _(c):
    labels, counts, blank = _labels(c)
    states, skips = _states(c, labels, blank)
    wide = _dtypes.number(c.dtype()) == _dtypes.number(np.float64)
    steps, dtype = c.dims()[0], np.float64 if wide else np.float32
    chances = term(c, 0, dtype).op("LogSoftmax", axis=2)
    shape = c.op("Concat", c.size(steps), c.op("Shape", states.name), axis=0)
    own = chances.op("GatherElements", states.op("Expand", Term(c, shape, np.int64)), axis=2)
    place = Term(c, c.op("CumSum", (states * 0 + 1).name, c.const(1, np.int64)), np.int64)
    start = place.same(1).where(Term(c, c.const(0, dtype), dtype), _NEVER)
    live = None
    if c.params["use_data_lengths"]:
        live = (counted(c, steps, np.int64).unsqueeze(1) < term(c, 2, np.int64)).unsqueeze(2)
    last = _last(c, start, own, skips, live)
    ends = counts * 2
    ends = ends.op("Concat", (ends - 1).op("Max", 0), axis=1)
    total = last.op("GatherElements", ends, axis=1)
    one, other = total.columns(0, 1), counts.same(0).where(_NEVER, total.columns(1, 2))
    total = _sum_of([one, other]).squeeze(1)
    return (total > _NEVER / 2).where(-total, 0).to(c.out_dtype()).name


def _last(c, start, own, skips, live):
    """The logarithms of chances of the states behind the last step of each sequence."""
    dtype, batch = start.dtype, c.dims()[1]
    width = tuple(2 * n + 1 for n in c.dims(1)[1])
    body = c.body()
    before = Term(body, body.input(f"{c.name}_before", (batch, width), dtype).name, dtype)
    now = Term(body, body.input(f"{c.name}_now", (batch, width), dtype).name, dtype)
    skipped = Term(body, skips.name, np.bool_).where(_moved(body, before, 2, _NEVER), _NEVER)
    made = now + _sum_of([before, _moved(body, before, 1, _NEVER), skipped])
    if live is not None:
        own_live = body.input(f"{c.name}_live", (batch, (1,) * len(batch)), np.bool_)
        made = Term(body, own_live.name, np.bool_).where(made, before)
    graph = body.proto([Value(made.name, (batch, width), dtype)])
    data = [own.name] if live is None else [own.name, live.name]
    return Term(c, c.op("Scan", start.name, *data, body=graph, num_scan_inputs=len(data)), dtype)
