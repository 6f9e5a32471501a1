# Generated from the functions' signatures by `./dev docs`; do not edit.
from builtins import bool as _bool
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as _onp

from mxnet.context import Context as _Context
from mxnet.ndarray.ndarray import NDArray as _NDArray

from ..numpy import ndarray
_Number: TypeAlias = _bool | int | float | _onp.generic
_Host: TypeAlias = _onp.ndarray[Any, _onp.dtype[Any]]
_ArrayLike: TypeAlias = ndarray | _Host | _Number | Sequence[Any]
_DType: TypeAlias = str | type | _onp.dtype[Any] | None
_Axis: TypeAlias = int | Sequence[int] | None
_Shape: TypeAlias = int | Sequence[int]
_Out: TypeAlias = ndarray | tuple[ndarray] | None
_Device: TypeAlias = _Context | str | None
def bernoulli(prob: Any = ..., logit: Any = ..., size: _Shape | None = ..., dtype: _DType = ..., ctx: _Device = ..., out: _Out = ..., *, device: _Device = ...) -> ndarray: ...
def categorical(data: _ArrayLike | None = ..., shape: _Shape = ..., get_prob: Any = ..., dtype: _DType = ..., out: _Out = ..., name: Any = ...) -> ndarray: ...
def multinomial(n: _ArrayLike | None = ..., p: _ArrayLike | None = ..., shape: _Shape = ..., ctx: _Device = ..., dtype: _DType = ..., out: _Out = ..., name: Any = ...) -> ndarray: ...
def normal_n(loc: _ArrayLike = ..., scale: _ArrayLike = ..., batch_shape: Any = ..., dtype: _DType = ..., ctx: _Device = ..., *, device: _Device = ...) -> ndarray: ...
def seed(seed: int | None, ctx: _Device = ..., device: _Device = ...) -> None: ...
def uniform_n(low: _ArrayLike = ..., high: _ArrayLike = ..., batch_shape: Any = ..., dtype: _DType = ..., ctx: _Device = ..., *, device: _Device = ...) -> ndarray: ...
