"""Mixed precision: 16-bit operands where they pay, float32 where they would lose too much.

Inference: :func:`convert_hybrid_block`, :func:`convert_model`, :func:`convert_symbol`. Training:
:func:`init` once, then :func:`init_trainer` and :func:`scale_loss`. Which operator runs in which
precision follows from the operators' records (``list_lp16_ops`` and its relatives).
"""
from . import _bucketing, amp, loss_scaler
from .amp import *  # noqa: F403
from .amp import __all__  # noqa: F401
from .loss_scaler import LossScaler

amp.convert_bucketing_module = _bucketing.convert_bucketing_module    # where 1.x has it


def __dir__():
    return sorted({*globals(), "lists"})
