# Generated from the modules by `./dev docs`; do not edit.
from typing import Any
embedding: Any
utils: Any
vocab: Any
