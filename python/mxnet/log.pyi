# Generated from the modules by `./dev docs`; do not edit.
from typing import Any
CRITICAL: Any
DEBUG: Any
ERROR: Any
INFO: Any
NOTSET: Any
WARNING: Any
def getLogger(name: Any = ..., filename: Any = ..., filemode: Any = ..., level: Any = ...) -> Any: ...
def get_logger(name: str | None = ..., filename: str | None = ..., filemode: str | None = ..., level: int = ...) -> Any: ...
