"""``mx.np.function_base``: where 1.9.1 has meshgrid."""
from ._creation import meshgrid

__all__ = ["meshgrid"]
