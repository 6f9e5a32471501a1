"""Operators by their precision in mixed precision with float16."""
from .. import amp as _amp

__all__ = ["CONDITIONAL_FP32_FUNCS", "FP16_FP32_FUNCS", "FP16_FUNCS", "FP32_FUNCS", "LOSS_OUTPUT_FUNCTIONS", "WIDEST_TYPE_CASTS"]

CONDITIONAL_FP32_FUNCS = _amp.list_conditional_fp32_ops("float16")
FP16_FP32_FUNCS = _amp.list_lp16_fp32_ops("float16")
FP16_FUNCS = _amp.list_lp16_ops("float16")
FP32_FUNCS = _amp.list_fp32_ops("float16")
LOSS_OUTPUT_FUNCTIONS = _amp.list_loss_output_functions("float16")
WIDEST_TYPE_CASTS = _amp.list_widest_type_cast("float16")
