# Generated from the operator records by `./dev docs`; do not edit.
from collections.abc import Sequence
from typing import Any, Literal

from .symbol import Symbol
