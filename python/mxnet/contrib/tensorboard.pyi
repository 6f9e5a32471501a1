# Generated from the modules by `./dev docs`; do not edit.
from typing import Any

class LogMetricsCallback:
    def __call__(self, param: Any) -> Any: ...
    def __init__(self, logging_dir: str, prefix: str | None = ...) -> None: ...
    prefix: Any
    summary_writer: Any
