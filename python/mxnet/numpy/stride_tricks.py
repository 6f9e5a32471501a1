"""``mx.np.stride_tricks``: where 2.0 has broadcast_arrays."""
from ._manipulation import broadcast_arrays

__all__ = ["broadcast_arrays"]
