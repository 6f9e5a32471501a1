"""Key-value stores: how copies of parameters on several devices stay the same."""
from . import base, byteps, horovod, kvstore, kvstore_server
from .base import KVStoreBase, create
from .kvstore import KVStore
from .kvstore_server import KVStoreServer

__all__ = ["KVStore", "KVStoreBase", "KVStoreServer", "create"]
