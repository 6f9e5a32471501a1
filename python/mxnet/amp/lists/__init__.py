"""Lists of operators by precision under the names of 1.x; they are read from the operators'
records."""
from . import symbol_bf16, symbol_fp16
