"""Operators by their precision in mixed precision with bfloat16."""
from .. import amp as _amp

__all__ = ["BF16_FP32_FUNCS", "BF16_FUNCS", "BF16_USE_FP32_PARAMS", "CONDITIONAL_FP32_FUNCS",
           "FP32_FUNCS", "LOSS_OUTPUT_FUNCTIONS", "WIDEST_TYPE_CASTS"]

BF16_FP32_FUNCS = _amp.list_lp16_fp32_ops("bfloat16")
BF16_FUNCS = _amp.list_lp16_ops("bfloat16")
BF16_USE_FP32_PARAMS = _amp.list_lp16_use_fp32_params("bfloat16")
CONDITIONAL_FP32_FUNCS = _amp.list_conditional_fp32_ops("bfloat16")
FP32_FUNCS = _amp.list_fp32_ops("bfloat16")
LOSS_OUTPUT_FUNCTIONS = _amp.list_loss_output_functions("bfloat16")
WIDEST_TYPE_CASTS = _amp.list_widest_type_cast("bfloat16")
