"""Key-value stores: how copies of parameters on several devices stay the same."""
from . import base, kvstore
from .base import KVStoreBase, create
from .kvstore import KVStore

__all__ = ["KVStore", "KVStoreBase", "create"]
