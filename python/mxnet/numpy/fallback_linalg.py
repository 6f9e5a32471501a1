"""Functions of linear algebra that 2.0 left to NumPy; here they are those of mx.np.linalg."""
from .linalg import cond, matrix_power, multi_dot

__all__ = ["cond", "matrix_power", "multi_dot"]
