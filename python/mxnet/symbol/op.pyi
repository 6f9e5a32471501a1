# Generated from the operator records by `./dev docs`; do not edit.
from collections.abc import Sequence
from typing import Any, Literal, overload

from .symbol import Symbol
def abs(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes abs(x) for every element x."""
@overload
def Activation(data: Symbol | None = ..., *, act_type: Literal["log_sigmoid", "mish", "relu", "sigmoid", "softrelu", "softsign", "tanh"], name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Element by element: relu max(x, 0), sigmoid 1 / (1 + exp(-x)), softrelu log(1 + exp(x)),
    softsign x / (1 + |x|), tanh, log_sigmoid log(sigmoid(x)), mish x tanh(softrelu(x)).

    act_type: The function.
    """
@overload
def Activation(data: Symbol | None, act_type: Literal["log_sigmoid", "mish", "relu", "sigmoid", "softrelu", "softsign", "tanh"], name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def adam_update(weight: Symbol | None = ..., grad: Symbol | None = ..., mean: Symbol | None = ..., var: Symbol | None = ..., *, lr: float, beta1: float = ..., beta2: float = ..., epsilon: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., lazy_update: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Adam (Kingma and Ba, ICLR 2015): with g = clip(rescale_grad\\*grad + wd\\*weight), mean =
    beta1\\*mean + (1-beta1)\\*g, var = beta2\\*var + (1-beta2)\\*g\\*g; weight -= lr\\*mean/(sqrt(var)
    + epsilon). The caller corrects the bias through lr. `mean` and `var` are updated in place.

    lr: Learning rate.
    beta1: Decay of the running mean of the gradient.
    beta2: Decay of the running mean of its square.
    epsilon: Added to the square root.
    wd: Weight decay: the share of the weight that is added to the gradient.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    lazy_update: With row_sparse gradients: only rows that have a gradient are touched.
    """
@overload
def adam_update(weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, lr: float, beta1: float = ..., beta2: float = ..., epsilon: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., lazy_update: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def add_n(*args: Symbol | Sequence[Symbol], num_args: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Sum of equally shaped arrays."""
def ElementWiseSum(*args: Symbol | Sequence[Symbol], num_args: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Sum of equally shaped arrays."""
def all_finite(data: Symbol | None = ..., init_output: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """1 when every number of `data` is finite, else 0, as a float32 array of one element.

    init_output: False: a result that already is 0 stays 0, so that several calls accumulate.
    """
@overload
def amp_cast(data: Symbol | None = ..., *, dtype: object, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Converts between float16, bfloat16 and float32; other dtypes pass unchanged.

    dtype: What to convert to.
    """
@overload
def amp_cast(data: Symbol | None, dtype: object, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def amp_multicast(*data: Symbol | Sequence[Symbol], cast_narrow: bool = ..., num_outputs: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Converts all float16, bfloat16 and float32 inputs to one of their dtypes: the widest, or the
    narrowest.

    cast_narrow: Convert to the narrowest floating type among the inputs, not the widest.
    """
def arccos(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes arccos(x) for every element x."""
def arccosh(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes arccosh(x) for every element x."""
def arcsin(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes arcsin(x) for every element x."""
def arcsinh(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes arcsinh(x) for every element x."""
def arctan(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes arctan(x) for every element x."""
def arctanh(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes arctanh(x) for every element x."""
def argmax(data: Symbol | None = ..., axis: int | None = ..., keepdims: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Index of the largest element along an axis; the first of equals, NaN counting as the extreme.
    The index has the dtype of the data.

    axis: Axis to search; None: the flattened array.
    keepdims: Whether the axis stays with size 1.
    """
def argmax_channel(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """argmax along axis 1; the index has the dtype of the data."""
def argmin(data: Symbol | None = ..., axis: int | None = ..., keepdims: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Index of the smallest element along an axis; the first of equals, NaN counting as the extreme.
    The index has the dtype of the data.

    axis: Axis to search; None: the flattened array.
    keepdims: Whether the axis stays with size 1.
    """
def argsort(data: Symbol | None = ..., axis: int | None = ..., is_ascend: bool = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The indices that sort along one dimension.

    axis: The dimension that is sorted; None takes the array as a vector.
    is_ascend: Smallest first.
    dtype: Element type of the result.
    """
def batch_dot(lhs: Symbol | None = ..., rhs: Symbol | None = ..., transpose_a: bool = ..., transpose_b: bool = ..., forward_stype: Literal["csr", "default", "row_sparse"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Products of the matrices in the last two dimensions, one for each index of the others.

    transpose_a: Multiply with lhs transposed: its first dimension is summed over instead of its
        last.
    transpose_b: Multiply with rhs transposed: its last dimension is summed over instead of its
        first.
    forward_stype: Storage type wanted for the result.
    """
def batch_take(a: Symbol | None = ..., indices: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """One entry of each row; indices out of range take the nearest."""
def BatchNorm(data: Symbol | None = ..., gamma: Symbol | None = ..., beta: Symbol | None = ..., moving_mean: Symbol | None = ..., moving_var: Symbol | None = ..., eps: float = ..., momentum: float = ..., fix_gamma: bool = ..., use_global_stats: bool = ..., output_mean_var: bool = ..., axis: int = ..., cudnn_off: bool = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """data is normalized over all dimensions except `axis` to mean 0 and variance 1, then multiplied
    by gamma and shifted by beta.

    eps: Added to the variance.
    momentum: Part of the old value that a moving average keeps.
    fix_gamma: Take gamma as 1, with gradient 0.
    use_global_stats: Use the moving averages in training too.
    output_mean_var: Also return the mean and 1 / sqrt(variance + eps).
    axis: Dimension of the channels.
    cudnn_off: Do not use cuDNN for this layer.
    min_calib_range: Least output seen in calibration, for quantization.
    max_calib_range: Greatest output seen in calibration, for quantization.
    """
def BatchNorm_v1(data: Symbol | None = ..., gamma: Symbol | None = ..., beta: Symbol | None = ..., moving_mean: Symbol | None = ..., moving_var: Symbol | None = ..., eps: float = ..., momentum: float = ..., fix_gamma: bool = ..., use_global_stats: bool = ..., output_mean_var: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Batch normalization (Ioffe and Szegedy, ICML 2015), as the first networks call it.

    eps: Added to the variance.
    momentum: Part of the old value that a moving average keeps.
    fix_gamma: Take gamma as 1, with gradient 0.
    use_global_stats: Use the moving averages in training too.
    output_mean_var: Also return the mean and the variance.
    """
def BilinearSampler(data: Symbol | None = ..., grid: Symbol | None = ..., cudnn_off: bool | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Samples images at given points (Jaderberg et al., Spatial Transformer Networks, NeurIPS 2015).

    cudnn_off: Accepted for compatibility; the kernel is the library's own.
    """
def BlockGrad(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """A copy through which no gradient flows."""
def stop_gradient(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """A copy through which no gradient flows."""
def broadcast_add(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes a + b for every pair of elements, broadcasting the inputs."""
def broadcast_plus(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes a + b for every pair of elements, broadcasting the inputs."""
def broadcast_axis(data: Symbol | None = ..., axis: int | Sequence[int] = ..., size: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Repeats the given axes of size 1.

    axis: Axes of size 1 to repeat.
    size: Their new sizes.
    """
def broadcast_axes(data: Symbol | None = ..., axis: int | Sequence[int] = ..., size: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Repeats the given axes of size 1.

    axis: Axes of size 1 to repeat.
    size: Their new sizes.
    """
def broadcast_div(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes divide(a, b) for every pair of elements, broadcasting the inputs."""
def broadcast_equal(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes a == b ? T(1) : T(0) for every pair of elements, broadcasting the inputs."""
def broadcast_greater(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes a > b ? T(1) : T(0) for every pair of elements, broadcasting the inputs."""
def broadcast_greater_equal(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes a >= b ? T(1) : T(0) for every pair of elements, broadcasting the inputs."""
def broadcast_hypot(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes hypot(a, b) for every pair of elements, broadcasting the inputs."""
def broadcast_lesser(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes a < b ? T(1) : T(0) for every pair of elements, broadcasting the inputs."""
def broadcast_lesser_equal(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes a <= b ? T(1) : T(0) for every pair of elements, broadcasting the inputs."""
def broadcast_like(lhs: Symbol | None = ..., rhs: Symbol | None = ..., lhs_axes: int | Sequence[int] | None = ..., rhs_axes: int | Sequence[int] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Repeats dimensions of size 1 of lhs up to the shape of rhs, or of some of its axes.

    lhs_axes: Axes of lhs to repeat; None: all.
    rhs_axes: Axes of rhs that give the sizes, one for each of lhs_axes.
    """
def broadcast_logical_and(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes a != T(0) && b != T(0) ? T(1) : T(0) for every pair of elements, broadcasting the
    inputs.
    """
def broadcast_logical_or(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes a != T(0) || b != T(0) ? T(1) : T(0) for every pair of elements, broadcasting the
    inputs.
    """
def broadcast_logical_xor(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes (a != T(0)) != (b != T(0)) ? T(1) : T(0) for every pair of elements, broadcasting the
    inputs.
    """
def broadcast_maximum(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes maximum(a, b) for every pair of elements, broadcasting the inputs."""
def broadcast_minimum(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes minimum(a, b) for every pair of elements, broadcasting the inputs."""
def broadcast_mod(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes mod(a, b) for every pair of elements, broadcasting the inputs."""
def broadcast_mul(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes a * b for every pair of elements, broadcasting the inputs."""
def broadcast_not_equal(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes a != b ? T(1) : T(0) for every pair of elements, broadcasting the inputs."""
def broadcast_power(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes power(a, b) for every pair of elements, broadcasting the inputs."""
def broadcast_sub(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes a - b for every pair of elements, broadcasting the inputs."""
def broadcast_minus(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes a - b for every pair of elements, broadcasting the inputs."""
def broadcast_to(data: Symbol | None = ..., shape: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Repeats dimensions of size 1 up to the given shape.

    shape: The wanted shape; in broadcast_to, 0 keeps a dimension, in NumPy's function -2.
    """
@overload
def Cast(data: Symbol | None = ..., *, dtype: object, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Converts to another dtype; fractions are truncated towards zero for integers.

    dtype: What to convert to.
    """
@overload
def Cast(data: Symbol | None, dtype: object, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def cast(data: Symbol | None = ..., *, dtype: object, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Converts to another dtype; fractions are truncated towards zero for integers.

    dtype: What to convert to.
    """
@overload
def cast(data: Symbol | None, dtype: object, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def cast_storage(data: Symbol | None = ..., *, stype: Literal["csr", "default", "row_sparse"], name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The same array in another storage type: 'default', 'row_sparse' (rows with an element that is
    not 0) or 'csr' (elements that are not 0, of 2-D arrays).

    stype: Storage type of the result.
    """
@overload
def cast_storage(data: Symbol | None, stype: Literal["csr", "default", "row_sparse"], name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def cbrt(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes cbrt(x) for every element x."""
def ceil(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes ceil(x) for every element x."""
@overload
def clip(data: Symbol | None = ..., *, a_min: float, a_max: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes x > q ? q : x < p ? p : x for every element x.

    a_min: Smaller elements become this.
    a_max: Larger elements become this.
    """
@overload
def clip(data: Symbol | None, a_min: float, *, a_max: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def clip(data: Symbol | None, a_min: float, a_max: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def col2im(data: Symbol | None = ..., *, output_size: int | Sequence[int], kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Sums columns, as im2col makes them, into images of shape (batch, channels, output_size...).

    output_size: Spatial shape of the image: (w,), (h, w) or (d, h, w).
    kernel: Window: (w,), (h, w) or (d, h, w).
    stride: Step of the window; 1 in every dimension when not given.
    dilate: Distance between the window's elements; 1 when not given.
    pad: Zeros put on both sides; 0 when not given.
    """
@overload
def col2im(data: Symbol | None, output_size: int | Sequence[int], *, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def col2im(data: Symbol | None, output_size: int | Sequence[int], kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def Concat(*data: Symbol | Sequence[Symbol], dim: int = ..., num_args: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Puts arrays together along one dimension.

    dim: The dimension along which inputs are put together; negative counts from the end.
    """
def concat(*data: Symbol | Sequence[Symbol], dim: int = ..., num_args: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Puts arrays together along one dimension.

    dim: The dimension along which inputs are put together; negative counts from the end.
    """
@overload
def Convolution(data: Symbol | None = ..., weight: Symbol | None = ..., bias: Symbol | None = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., num_filter: int, num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = ..., cudnn_off: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Convolution (cross-correlation) in one, two or three dimensions.

    kernel: Window: (w,), (h, w) or (d, h, w).
    stride: Step of the window; 1 in every dimension when not given.
    dilate: Distance between the window's elements; 1 when not given.
    pad: Zeros put on both sides; 0 when not given.
    num_filter: Number of output channels.
    num_group: Number of groups that channels and filters are divided into.
    workspace: MiB of workspace memory that a GPU's engine may use; no effect on the CPU.
    no_bias: Leave the bias out.
    cudnn_tune: How cuDNN chooses an engine: the first, the fastest within workspace, the fastest;
        no effect on the CPU.
    cudnn_off: Accepted for compatibility: every convolution on a GPU is cuDNN's.
    layout: Order of data's dimensions; NCW, NCHW or NCDHW by the kernel when not given.
    """
@overload
def Convolution(data: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., *, num_filter: int, num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = ..., cudnn_off: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def Convolution(data: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: int | Sequence[int], stride: int | Sequence[int], dilate: int | Sequence[int], pad: int | Sequence[int], num_filter: int, num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = ..., cudnn_off: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def Convolution_v1(data: Symbol | None = ..., weight: Symbol | None = ..., bias: Symbol | None = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., num_filter: int, num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = ..., cudnn_off: bool = ..., layout: Literal["NCDHW", "NCHW", "NDHWC", "NHWC"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Convolution in two or three dimensions, as the first networks call it.

    kernel: Window: (h, w) or (d, h, w).
    stride: Step of the window; 1 in every dimension when not given.
    dilate: Distance between the window's elements; 1 when not given.
    pad: Zeros put on both sides; 0 when not given.
    num_filter: Number of output channels.
    num_group: Number of groups that channels and filters are divided into.
    workspace: MiB of workspace memory that a GPU's engine may use; no effect on the CPU.
    no_bias: Leave the bias out.
    cudnn_tune: How cuDNN chooses an engine: the first, the fastest within workspace, the fastest;
        no effect on the CPU.
    cudnn_off: Accepted for compatibility: every convolution on a GPU is cuDNN's.
    layout: Order of data's dimensions; NCHW or NCDHW by the kernel when not given.
    """
@overload
def Convolution_v1(data: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., *, num_filter: int, num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = ..., cudnn_off: bool = ..., layout: Literal["NCDHW", "NCHW", "NDHWC", "NHWC"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def Convolution_v1(data: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: int | Sequence[int], stride: int | Sequence[int], dilate: int | Sequence[int], pad: int | Sequence[int], num_filter: int, num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = ..., cudnn_off: bool = ..., layout: Literal["NCDHW", "NCHW", "NDHWC", "NHWC"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def Correlation(data1: Symbol | None = ..., data2: Symbol | None = ..., kernel_size: int = ..., max_displacement: int = ..., stride1: int = ..., stride2: int = ..., pad_size: int = ..., is_multiply: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Compares patches of two images (Fischer et al., FlowNet, ICCV 2015).

    kernel_size: Height and width of a patch.
    max_displacement: Largest displacement of data2, in pixels, in either direction.
    stride1: Distance of neighbouring patches of data1.
    stride2: Distance of neighbouring displacements.
    pad_size: Zeros put around both images.
    is_multiply: Add up products of elements; else absolute differences.
    """
def cos(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes cos(x) for every element x."""
def cosh(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes cosh(x) for every element x."""
def Crop(*data: Symbol | Sequence[Symbol], offset: int | Sequence[int] = ..., h_w: int | Sequence[int] = ..., center_crop: bool = ..., num_args: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Takes a rectangle out of images (batch, channels, height, width).

    offset: Row and column of the rectangle's first pixel.
    h_w: Height and width of the rectangle.
    center_crop: Take the rectangle out of the middle; offset is then ignored.
    """
def CTCLoss(data: Symbol | None = ..., label: Symbol | None = ..., data_lengths: Symbol | None = ..., label_lengths: Symbol | None = ..., use_data_lengths: bool = ..., use_label_lengths: bool = ..., blank_label: Literal["first", "last"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Connectionist temporal classification loss of each sequence of a batch.

    use_data_lengths: data_lengths gives the number of steps of each sequence.
    use_label_lengths: label_lengths gives the number of labels of each sequence; otherwise the
        first padding ends it.
    blank_label: Class of the blank: first (0; labels start at 1, padding is 0) or last (labels
        start at 0, padding is -1).
    """
def ctc_loss(data: Symbol | None = ..., label: Symbol | None = ..., data_lengths: Symbol | None = ..., label_lengths: Symbol | None = ..., use_data_lengths: bool = ..., use_label_lengths: bool = ..., blank_label: Literal["first", "last"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Connectionist temporal classification loss of each sequence of a batch.

    use_data_lengths: data_lengths gives the number of steps of each sequence.
    use_label_lengths: label_lengths gives the number of labels of each sequence; otherwise the
        first padding ends it.
    blank_label: Class of the blank: first (0; labels start at 1, padding is 0) or last (labels
        start at 0, padding is -1).
    """
def Custom(*data: Symbol | Sequence[Symbol], op_type: str, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ..., **kwargs: Any) -> Symbol:
    """Runs an operator that the program has registered: a class of mx.operator.CustomOp, described
    by one of mx.operator.CustomOpProp.

    op_type: Name under which mx.operator.register has made the operator known.
    """
@overload
def Deconvolution(data: Symbol | None = ..., weight: Symbol | None = ..., bias: Symbol | None = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., adj: int | Sequence[int] = ..., target_shape: int | Sequence[int] = ..., num_filter: int, num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = ..., cudnn_off: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Transposed convolution: the gradient of Convolution with respect to its data (Zeiler et al.,
    CVPR 2010).

    kernel: Window: (w,), (h, w) or (d, h, w).
    stride: Step of the window in the output; 1 when not given.
    dilate: Distance between the window's elements; 1 when not given.
    pad: What is cut from both sides of the output; 0 when not given. Ignored with target_shape.
    adj: Added to the far side of the output; less than stride. Ignored with target_shape.
    target_shape: Spatial shape of the output, from which pad and adj follow.
    num_filter: Number of output channels.
    num_group: Number of groups that channels and filters are divided into.
    workspace: MiB of workspace memory that a GPU's engine may use; no effect on the CPU.
    no_bias: Leave the bias out.
    cudnn_tune: How cuDNN chooses an engine: the first, the fastest within workspace, the fastest;
        no effect on the CPU.
    cudnn_off: Accepted for compatibility: every convolution on a GPU is cuDNN's.
    layout: Order of data's dimensions; NCW, NCHW or NCDHW by the kernel when not given.
    """
@overload
def Deconvolution(data: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., adj: int | Sequence[int] = ..., target_shape: int | Sequence[int] = ..., *, num_filter: int, num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = ..., cudnn_off: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def Deconvolution(data: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: int | Sequence[int], stride: int | Sequence[int], dilate: int | Sequence[int], pad: int | Sequence[int], adj: int | Sequence[int], target_shape: int | Sequence[int], num_filter: int, num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = ..., cudnn_off: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def degrees(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes x * T(57.295779513082321) for every element x."""
@overload
def depth_to_space(data: Symbol | None = ..., *, block_size: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Moves channels into blocks of height and width.

    block_size: Height and width of the blocks; at least 1.
    """
@overload
def depth_to_space(data: Symbol | None, block_size: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def diag(data: Symbol | None = ..., k: int = ..., axis1: int = ..., axis2: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """A matrix with the vector on a diagonal, or the diagonals of matrices.

    k: Which diagonal: above the main one when positive.
    axis1: Dimension of the rows of the matrices whose diagonals are taken.
    axis2: Dimension of their columns.
    """
def digamma(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes digamma(x) for every element x."""
def dot(lhs: Symbol | None = ..., rhs: Symbol | None = ..., transpose_a: bool = ..., transpose_b: bool = ..., forward_stype: Literal["csr", "default", "row_sparse"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Product of matrices. Of arrays with more dimensions the last of lhs and the first of rhs are
    summed over, of vectors the only one.

    transpose_a: Multiply with lhs transposed: its first dimension is summed over instead of its
        last.
    transpose_b: Multiply with rhs transposed: its last dimension is summed over instead of its
        first.
    forward_stype: Storage type wanted for the result.
    """
def Dropout(data: Symbol | None = ..., p: float = ..., mode: Literal["always", "training"] = ..., axes: int | Sequence[int] = ..., cudnn_off: bool | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Sets elements to 0 with probability p and multiplies the others by 1 / (1 - p), in training or
    (mode='always') always; the identity otherwise.

    p: Probability that an element becomes 0.
    mode: When elements are dropped.
    axes: Axes along which one decision is shared.
    cudnn_off: Do not use cuDNN for this layer.
    """
def elemwise_add(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes a + b for every pair of elements of two equally shaped inputs."""
def elemwise_div(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes divide(a, b) for every pair of elements of two equally shaped inputs."""
def elemwise_mul(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes a * b for every pair of elements of two equally shaped inputs."""
def elemwise_sub(lhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes a - b for every pair of elements of two equally shaped inputs."""
@overload
def Embedding(data: Symbol | None = ..., weight: Symbol | None = ..., *, input_dim: int, output_dim: int, dtype: object = ..., sparse_grad: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Rows of weight (input_dim, output_dim) chosen by the integers in data; the output has data's
    shape followed by output_dim.

    input_dim: Number of rows of the weight.
    output_dim: Length of a row.
    dtype: Dtype of the weight when nothing else says it.
    sparse_grad: Gradient of the weight as row_sparse.
    """
@overload
def Embedding(data: Symbol | None, weight: Symbol | None, input_dim: int, *, output_dim: int, dtype: object = ..., sparse_grad: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def Embedding(data: Symbol | None, weight: Symbol | None, input_dim: int, output_dim: int, dtype: object = ..., sparse_grad: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def erf(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes erf(x) for every element x."""
def erfinv(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes erfinv(x) for every element x."""
def exp(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes exp(x) for every element x."""
@overload
def expand_dims(data: Symbol | None = ..., *, axis: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Puts in a dimension of size 1.

    axis: Where the dimension of size 1 is put, from -(ndim + 1) to ndim.
    """
@overload
def expand_dims(data: Symbol | None, axis: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def expm1(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes expm1(x) for every element x."""
def fill_element_0index(lhs: Symbol | None = ..., mhs: Symbol | None = ..., rhs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """lhs with the entry rhs[i] of row i replaced by mhs[i]."""
def fix(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes trunc(x) for every element x."""
def Flatten(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """A matrix with one row per entry of the first dimension."""
def flatten(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """A matrix with one row per entry of the first dimension."""
def floor(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes floor(x) for every element x."""
@overload
def ftml_update(weight: Symbol | None = ..., grad: Symbol | None = ..., d: Symbol | None = ..., v: Symbol | None = ..., z: Symbol | None = ..., *, lr: float, beta1: float = ..., beta2: float = ..., epsilon: float = ..., t: int, wd: float = ..., rescale_grad: float = ..., clip_grad: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Follow the moving leader (Zheng and Kwok, ICML 2017). `d`, `v` and `z` are updated in place.

    lr: Learning rate.
    beta1: Decay of the running mean of the gradient, in [0, 1).
    beta2: Decay of the running mean of its square, in [0, 1).
    epsilon: Added to the square root.
    t: Number of this update, from 1.
    wd: Weight decay: the share of the weight that is added to the gradient.
    rescale_grad: The gradient is multiplied by this first.
    clip_grad: The rescaled gradient is cut to [-clip_grad, clip_grad]; negative: it is not.
    """
@overload
def ftml_update(weight: Symbol | None, grad: Symbol | None, d: Symbol | None, v: Symbol | None, z: Symbol | None, lr: float, beta1: float = ..., beta2: float = ..., epsilon: float = ..., *, t: int, wd: float = ..., rescale_grad: float = ..., clip_grad: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def ftml_update(weight: Symbol | None, grad: Symbol | None, d: Symbol | None, v: Symbol | None, z: Symbol | None, lr: float, beta1: float, beta2: float, epsilon: float, t: int, wd: float = ..., rescale_grad: float = ..., clip_grad: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def ftrl_update(weight: Symbol | None = ..., grad: Symbol | None = ..., z: Symbol | None = ..., n: Symbol | None = ..., *, lr: float, lamda1: float = ..., beta: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Follow the regularized leader, proximal form (McMahan et al., KDD 2013). `z` and `n` are
    updated in place.

    lr: Learning rate.
    lamda1: L1 regularization: weights whose z is within it are 0.
    beta: Added to the square root of n.
    wd: Weight decay: the share of the weight that is added to the gradient.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    """
@overload
def ftrl_update(weight: Symbol | None, grad: Symbol | None, z: Symbol | None, n: Symbol | None, lr: float, lamda1: float = ..., beta: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def FullyConnected(data: Symbol | None = ..., weight: Symbol | None = ..., bias: Symbol | None = ..., *, num_hidden: int, no_bias: bool = ..., flatten: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Dense layer: output = data * weight^T + bias.

    num_hidden: Number of output features.
    no_bias: Leave the bias out.
    flatten: Treat all dimensions of data behind the first as one; otherwise only the last is
        transformed.
    """
@overload
def FullyConnected(data: Symbol | None, weight: Symbol | None, bias: Symbol | None, num_hidden: int, no_bias: bool = ..., flatten: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def gamma(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes gamma(x) for every element x."""
def gammaln(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes gammaln(x) for every element x."""
def gather_nd(data: Symbol | None = ..., indices: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Pieces of data that a column of indices addresses each; negative indices count from the end."""
@overload
def GridGenerator(data: Symbol | None = ..., *, transform_type: Literal["affine", "warp"], target_shape: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Points (batch, 2, height, width) at which BilinearSampler samples images: x and y, from -1 to
    1.

    transform_type: affine: data are matrices (batch, 6); warp: data is a flow (batch, 2, height,
        width) in pixels.
    target_shape: Height and width of the grid for affine; a flow has its own size.
    """
@overload
def GridGenerator(data: Symbol | None, transform_type: Literal["affine", "warp"], target_shape: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def GroupNorm(data: Symbol | None = ..., gamma: Symbol | None = ..., beta: Symbol | None = ..., num_groups: int = ..., eps: float = ..., output_mean_var: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Channels (dimension 1) are divided into num_groups; each group of each batch element is
    normalized to mean 0 and variance 1 (biased), then multiplied by gamma and shifted by beta.

    num_groups: Number of groups that the channels are divided into.
    eps: Added to the variance.
    output_mean_var: Also return the mean and the standard deviation sqrt(variance + eps).
    """
def hard_sigmoid(data: Symbol | None = ..., alpha: float = ..., beta: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes p * x + q < T(0) ? T(0) : p * x + q > T(1) ? T(1) : p * x + q for every element x.

    alpha: Slope of the middle part.
    beta: Value at 0.
    """
def IdentityAttachKLSparseReg(data: Symbol | None = ..., moving_avg: Symbol | None = ..., sparseness_target: float = ..., penalty: float = ..., momentum: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Gives data as it is, and adds the gradient of a penalty on the mean activity of each unit (Ng,
    Sparse Autoencoder, CS294A lecture notes, 2011).

    sparseness_target: Activity that a unit should have on average.
    penalty: Weight of the penalty.
    momentum: Part of the old value that a moving average keeps.
    """
@overload
def im2col(data: Symbol | None = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The windows of a convolution as columns: convolution is then a product of matrices.

    kernel: Window: (w,), (h, w) or (d, h, w).
    stride: Step of the window; 1 in every dimension when not given.
    dilate: Distance between the window's elements; 1 when not given.
    pad: Zeros put on both sides; 0 when not given.
    """
@overload
def im2col(data: Symbol | None, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def InstanceNorm(data: Symbol | None = ..., gamma: Symbol | None = ..., beta: Symbol | None = ..., eps: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Each channel of each batch element is normalized to mean 0 and variance 1 (biased), then
    multiplied by gamma and shifted by beta, both (channels,).

    eps: Added to the variance.
    """
def khatri_rao(*args: Symbol | Sequence[Symbol], num_args: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The Kronecker product of matrices, column by column."""
def L2Normalization(data: Symbol | None = ..., eps: float = ..., mode: Literal["channel", "instance", "spatial"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Divides by the L2 norm: x / sqrt(sum(x * x) + eps).

    eps: Added to the sum of squares.
    mode: What shares one norm: a whole sample, the channels of a position, or the positions of a
        channel.
    """
@overload
def lamb_update_phase1(weight: Symbol | None = ..., grad: Symbol | None = ..., mean: Symbol | None = ..., var: Symbol | None = ..., beta1: float = ..., beta2: float = ..., epsilon: float = ..., *, t: int, bias_correction: bool = ..., wd: float, rescale_grad: float = ..., clip_gradient: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """LAMB (You et al., ICLR 2020), direction of the step: Adam's means of clip(rescale_grad\\*grad),
    divided by 1 - beta^t with bias_correction; mean/(sqrt(var) + epsilon) + wd\\*weight. `mean`
    and `var` are updated in place, the weight is not.

    beta1: Decay of the running mean of the gradient.
    beta2: Decay of the running mean of its square.
    epsilon: Added to the square root.
    t: Number of this update, from 1.
    bias_correction: Divide the means by 1 - beta^t.
    wd: Weight decay, added to the direction.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    """
@overload
def lamb_update_phase1(weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, beta1: float, beta2: float, epsilon: float, t: int, bias_correction: bool = ..., *, wd: float, rescale_grad: float = ..., clip_gradient: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def lamb_update_phase1(weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, beta1: float, beta2: float, epsilon: float, t: int, bias_correction: bool, wd: float, rescale_grad: float = ..., clip_gradient: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def lamb_update_phase2(weight: Symbol | None = ..., g: Symbol | None = ..., r1: Symbol | None = ..., r2: Symbol | None = ..., *, lr: float, lower_bound: float = ..., upper_bound: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """LAMB (You et al., ICLR 2020), the step: weight -= lr\\*ratio\\*g, where g is the direction of
    phase 1 and ratio = r1/r2, the norms of weight (cut to [lower_bound, upper_bound]) and of g; 1
    when either is 0.

    lr: Learning rate.
    lower_bound: Least norm of the weight that the trust ratio sees; negative: none.
    upper_bound: Largest norm of the weight that the trust ratio sees; negative: none.
    """
@overload
def lamb_update_phase2(weight: Symbol | None, g: Symbol | None, r1: Symbol | None, r2: Symbol | None, lr: float, lower_bound: float = ..., upper_bound: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def LayerNorm(data: Symbol | None = ..., gamma: Symbol | None = ..., beta: Symbol | None = ..., axis: int = ..., eps: float = ..., output_mean_var: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """data is normalized along `axis` to mean 0 and variance 1 (biased), then multiplied by gamma
    and shifted by beta, both of shape (data.shape[axis],).

    axis: Dimension that is normalized.
    eps: Added to the variance.
    output_mean_var: Also return the mean and the standard deviation sqrt(variance + eps).
    """
def LeakyReLU(data: Symbol | None = ..., gamma: Symbol | None = ..., act_type: Literal["elu", "gelu", "leaky", "prelu", "rrelu", "selu"] = ..., slope: float = ..., lower_bound: float = ..., upper_bound: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Element by element, by act_type: leaky x or slope x; prelu the same with a learned slope gamma
    per channel; elu x or slope (exp(x) - 1) (Clevert et al. 2015); selu, the self-normalizing
    scaled elu (Klambauer et al. 2017); gelu x Phi(x) (Hendrycks and Gimpel 2016); rrelu with a
    slope drawn from [lower_bound, upper_bound) in training and their mean otherwise (Xu et al.
    2015).

    act_type: The function.
    slope: Slope for negative data (leaky), factor of exp(x) - 1 (elu).
    lower_bound: Least random slope (rrelu).
    upper_bound: Greatest random slope (rrelu).
    """
def LinearRegressionOutput(data: Symbol | None = ..., label: Symbol | None = ..., grad_scale: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The identity, with the gradient of half the squared error: (output - label) grad_scale /
    (numbers per row).

    grad_scale: The gradient is multiplied by this.
    """
def log(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes log(x) for every element x."""
def log10(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes log10(x) for every element x."""
def log1p(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes log1p(x) for every element x."""
def log2(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes log2(x) for every element x."""
def log_sigmoid(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes -softrelu(-x) for every element x."""
def log_softmax(data: Symbol | None = ..., axis: int = ..., temperature: float | None = ..., dtype: object = ..., use_length: bool | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The logarithm of softmax, computed without taking the logarithm of small numbers.

    axis: Axis over which the results sum to 1.
    temperature: Data is divided by this first.
    dtype: Dtype of the output; data's when not given.
    use_length: A second input says how many elements along the axis count; the results of the
        others are 0.
    """
def logical_not(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes x == T(0) ? T(1) : T(0) for every element x."""
def LogisticRegressionOutput(data: Symbol | None = ..., label: Symbol | None = ..., grad_scale: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The sigmoid, with the gradient of the logistic loss: (output - label) grad_scale / (numbers
    per row).

    grad_scale: The gradient is multiplied by this.
    """
@overload
def LRN(data: Symbol | None = ..., alpha: float = ..., beta: float = ..., knorm: float = ..., *, nsize: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Local response normalization over neighbouring channels: data / (knorm + alpha / nsize * sum
    of nsize squares) ^ beta.

    alpha: Weight of the squares.
    beta: Exponent.
    knorm: Constant term.
    nsize: Number of channels in the window; an even number counts as one less there.
    """
@overload
def LRN(data: Symbol | None, alpha: float, beta: float, knorm: float, nsize: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def MAERegressionOutput(data: Symbol | None = ..., label: Symbol | None = ..., grad_scale: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The identity, with the gradient of the absolute error: sign(output - label) grad_scale /
    (numbers per row).

    grad_scale: The gradient is multiplied by this.
    """
def make_loss(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """A copy whose gradient is 1, whatever comes from above: the end of a symbolic loss."""
def MakeLoss(data: Symbol | None = ..., grad_scale: float = ..., valid_thresh: float = ..., normalization: Literal["batch", "null", "valid"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """A copy whose gradient is grad_scale, normalized as asked, whatever comes from above.

    grad_scale: The gradient that every element starts with.
    valid_thresh: With normalization 'valid': elements above this count.
    normalization: What the gradient is divided by: nothing, the batch size, or the number of
        valid elements.
    """
def masked_log_softmax(data: Symbol | None = ..., mask: Symbol | None = ..., axis: int = ..., temperature: float | None = ..., normalize: bool | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """log_softmax over the elements whose mask is true; the others become -inf.

    axis: Axis over which the results sum to 1.
    temperature: Data is divided by this first.
    normalize: Accepted for compatibility; the maximum is always subtracted first.
    """
def masked_softmax(data: Symbol | None = ..., mask: Symbol | None = ..., axis: int = ..., temperature: float | None = ..., normalize: bool | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """softmax over the elements whose mask is true; the others become 0.

    axis: Axis over which the results sum to 1.
    temperature: Data is divided by this first.
    normalize: Accepted for compatibility; the maximum is always subtracted first.
    """
def max(data: Symbol | None = ..., axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Largest element over axes; NaN when there is one.

    axis: Axes to reduce; None or (): all. Negative ones count from the end.
    keepdims: Whether reduced axes stay with size 1.
    exclude: Reduce all axes but the given ones.
    """
def max_axis(data: Symbol | None = ..., axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Largest element over axes; NaN when there is one.

    axis: Axes to reduce; None or (): all. Negative ones count from the end.
    keepdims: Whether reduced axes stay with size 1.
    exclude: Reduce all axes but the given ones.
    """
def mean(data: Symbol | None = ..., axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Arithmetic mean over axes.

    axis: Axes to reduce; None or (): all. Negative ones count from the end.
    keepdims: Whether reduced axes stay with size 1.
    exclude: Reduce all axes but the given ones.
    """
def min(data: Symbol | None = ..., axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Smallest element over axes; NaN when there is one.

    axis: Axes to reduce; None or (): all. Negative ones count from the end.
    keepdims: Whether reduced axes stay with size 1.
    exclude: Reduce all axes but the given ones.
    """
def min_axis(data: Symbol | None = ..., axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Smallest element over axes; NaN when there is one.

    axis: Axes to reduce; None or (): all. Negative ones count from the end.
    keepdims: Whether reduced axes stay with size 1.
    exclude: Reduce all axes but the given ones.
    """
def mish(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes x * tanh(softrelu(x)) for every element x."""
def moments(data: Symbol | None = ..., axes: int | Sequence[int] | None = ..., keepdims: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Mean and (biased) variance over axes. Of integers both are cut off, and the variance is that
    around the cut mean.

    axes: Axes to reduce; None: all.
    keepdims: Whether reduced axes stay with size 1.
    """
@overload
def mp_lamb_update_phase1(weight: Symbol | None = ..., grad: Symbol | None = ..., mean: Symbol | None = ..., var: Symbol | None = ..., weight32: Symbol | None = ..., beta1: float = ..., beta2: float = ..., epsilon: float = ..., *, t: int, bias_correction: bool = ..., wd: float, rescale_grad: float = ..., clip_gradient: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """lamb_update_phase1 for 16-bit weights: reads `weight32`, the means and the result are float32.

    beta1: Decay of the running mean of the gradient.
    beta2: Decay of the running mean of its square.
    epsilon: Added to the square root.
    t: Number of this update, from 1.
    bias_correction: Divide the means by 1 - beta^t.
    wd: Weight decay, added to the direction.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    """
@overload
def mp_lamb_update_phase1(weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, weight32: Symbol | None, beta1: float, beta2: float, epsilon: float, t: int, bias_correction: bool = ..., *, wd: float, rescale_grad: float = ..., clip_gradient: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def mp_lamb_update_phase1(weight: Symbol | None, grad: Symbol | None, mean: Symbol | None, var: Symbol | None, weight32: Symbol | None, beta1: float, beta2: float, epsilon: float, t: int, bias_correction: bool, wd: float, rescale_grad: float = ..., clip_gradient: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def mp_lamb_update_phase2(weight: Symbol | None = ..., g: Symbol | None = ..., r1: Symbol | None = ..., r2: Symbol | None = ..., weight32: Symbol | None = ..., *, lr: float, lower_bound: float = ..., upper_bound: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """lamb_update_phase2 for 16-bit weights: `g`, the norms and `weight32` are float32; `weight32`
    is updated in place and rounded into the result.

    lr: Learning rate.
    lower_bound: Least norm of the weight that the trust ratio sees; negative: none.
    upper_bound: Largest norm of the weight that the trust ratio sees; negative: none.
    """
@overload
def mp_lamb_update_phase2(weight: Symbol | None, g: Symbol | None, r1: Symbol | None, r2: Symbol | None, weight32: Symbol | None, lr: float, lower_bound: float = ..., upper_bound: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def mp_nag_mom_update(weight: Symbol | None = ..., grad: Symbol | None = ..., mom: Symbol | None = ..., weight32: Symbol | None = ..., *, lr: float, momentum: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """nag_mom_update for 16-bit weights: computed on the float32 copies `weight32` and `mom`,
    updated in place; the weight is rounded into the result.

    lr: Learning rate.
    momentum: Share of the previous step that is kept.
    wd: Weight decay: the share of the weight that is added to the gradient.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    """
@overload
def mp_nag_mom_update(weight: Symbol | None, grad: Symbol | None, mom: Symbol | None, weight32: Symbol | None, lr: float, momentum: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def mp_sgd_mom_update(weight: Symbol | None = ..., grad: Symbol | None = ..., mom: Symbol | None = ..., weight32: Symbol | None = ..., *, lr: float, momentum: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., lazy_update: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """sgd_mom_update for 16-bit weights: computed on the float32 copies `weight32` and `mom`,
    updated in place; the weight is rounded into the result.

    lr: Learning rate.
    momentum: Share of the previous step that is kept.
    wd: Weight decay: the share of the weight that is added to the gradient.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    lazy_update: With row_sparse gradients: only rows that have a gradient are touched.
    """
@overload
def mp_sgd_mom_update(weight: Symbol | None, grad: Symbol | None, mom: Symbol | None, weight32: Symbol | None, lr: float, momentum: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., lazy_update: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def mp_sgd_update(weight: Symbol | None = ..., grad: Symbol | None = ..., weight32: Symbol | None = ..., *, lr: float, wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., lazy_update: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """sgd_update for 16-bit weights: computed on the float32 copy `weight32`, which is updated in
    place and rounded into the result.

    lr: Learning rate.
    wd: Weight decay: the share of the weight that is added to the gradient.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    lazy_update: With row_sparse gradients: only rows that have a gradient are touched.
    """
@overload
def mp_sgd_update(weight: Symbol | None, grad: Symbol | None, weight32: Symbol | None, lr: float, wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., lazy_update: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def multi_all_finite(*data: Symbol | Sequence[Symbol], num_arrays: int = ..., init_output: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """1 when every number of every array is finite, else 0, as a float32 array of one element.

    num_arrays: Number of arrays.
    init_output: False: a result that already is 0 stays 0, so that several calls accumulate.
    """
@overload
def multi_lars(lrs: Symbol | None = ..., weights_sum_sq: Symbol | None = ..., grads_sum_sq: Symbol | None = ..., wds: Symbol | None = ..., *, eta: float, eps: float, rescale_grad: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Learning rates by layer-wise adaptive rate scaling (You et al. 2017, arXiv:1708.03888): lr *
    eta\\*|w| / (|g| + wd\\*|w| + eps), with |w| and |g| from sums of squares and |g| rescaled; lr
    itself where either norm is 0. All arrays have one element per layer.

    eta: LARS coefficient: the trusted ratio of step and weight.
    eps: Added to the divisor.
    rescale_grad: Factor on the gradients.
    """
@overload
def multi_lars(lrs: Symbol | None, weights_sum_sq: Symbol | None, grads_sum_sq: Symbol | None, wds: Symbol | None, eta: float, *, eps: float, rescale_grad: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def multi_lars(lrs: Symbol | None, weights_sum_sq: Symbol | None, grads_sum_sq: Symbol | None, wds: Symbol | None, eta: float, eps: float, rescale_grad: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def multi_mp_sgd_mom_update(*data: Symbol | Sequence[Symbol], lrs: float | Sequence[float], wds: float | Sequence[float], momentum: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., num_weights: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """mp_sgd_mom_update of several weights; `data` is weight, grad, mom, weight32 of each in turn.
    Each mom and weight32 is updated in place.

    lrs: Learning rate of each weight.
    wds: Weight decay of each weight.
    momentum: Share of the previous step that is kept.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    num_weights: Number of weights.
    """
def multi_mp_sgd_update(*data: Symbol | Sequence[Symbol], lrs: float | Sequence[float], wds: float | Sequence[float], rescale_grad: float = ..., clip_gradient: float = ..., num_weights: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """mp_sgd_update of several weights; `data` is weight, grad, weight32 of each in turn. Each
    weight32 is updated in place.

    lrs: Learning rate of each weight.
    wds: Weight decay of each weight.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    num_weights: Number of weights.
    """
def multi_sgd_mom_update(*data: Symbol | Sequence[Symbol], lrs: float | Sequence[float], wds: float | Sequence[float], momentum: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., num_weights: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """sgd_mom_update of several weights; `data` is weight, grad, mom of each in turn. Each mom is
    updated in place.

    lrs: Learning rate of each weight.
    wds: Weight decay of each weight.
    momentum: Share of the previous step that is kept.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    num_weights: Number of weights.
    """
def multi_sgd_update(*data: Symbol | Sequence[Symbol], lrs: float | Sequence[float], wds: float | Sequence[float], rescale_grad: float = ..., clip_gradient: float = ..., num_weights: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """sgd_update of several weights; `data` is weight, grad of each in turn.

    lrs: Learning rate of each weight.
    wds: Weight decay of each weight.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    num_weights: Number of weights.
    """
def multi_sum_sq(*data: Symbol | Sequence[Symbol], num_arrays: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Sum of the squares of each array, as one float32 array of num_arrays numbers.

    num_arrays: Number of arrays.
    """
@overload
def nag_mom_update(weight: Symbol | None = ..., grad: Symbol | None = ..., mom: Symbol | None = ..., *, lr: float, momentum: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Nesterov's accelerated gradient (Sutskever et al., ICML 2013): with g =
    clip(rescale_grad\\*grad) + wd\\*weight, mom = momentum\\*mom - lr\\*g; weight += momentum\\*mom -
    lr\\*g. `mom` is updated in place; where the weight is too, the decay in `mom` is of the new
    weight, as in 1.9.1.

    lr: Learning rate.
    momentum: Share of the previous step that is kept.
    wd: Weight decay: the share of the weight that is added to the gradient.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    """
@overload
def nag_mom_update(weight: Symbol | None, grad: Symbol | None, mom: Symbol | None, lr: float, momentum: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def nanprod(data: Symbol | None = ..., axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Product over axes, counting NaN as 1.

    axis: Axes to reduce; None or (): all. Negative ones count from the end.
    keepdims: Whether reduced axes stay with size 1.
    exclude: Reduce all axes but the given ones.
    """
def nansum(data: Symbol | None = ..., axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Sum over axes, counting NaN as 0.

    axis: Axes to reduce; None or (): all. Negative ones count from the end.
    keepdims: Whether reduced axes stay with size 1.
    exclude: Reduce all axes but the given ones.
    """
def negative(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes -x for every element x."""
def norm(data: Symbol | None = ..., ord: int = ..., axis: int | Sequence[int] | None = ..., out_dtype: Literal["float16", "float32", "float64", "int32", "int64", "int8"] | None = ..., keepdims: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """L1 or L2 norm over axes; sums of integers are taken exactly and rounded down.

    ord: 1: sum of magnitudes; 2: root of the sum of squares.
    axis: Axes to reduce; None: all.
    out_dtype: None: that of the input.
    keepdims: Whether reduced axes stay with size 1.
    """
@overload
def one_hot(indices: Symbol | None = ..., *, depth: int, on_value: float = ..., off_value: float = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """on_value at the index and off_value elsewhere, along a new last dimension.

    depth: Size of the new last dimension.
    on_value: Value at the index.
    off_value: Value elsewhere, and everywhere for an index out of range.
    dtype: Element type of the result.
    """
@overload
def one_hot(indices: Symbol | None, depth: int, on_value: float = ..., off_value: float = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def ones_like(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Ones in the shape and dtype of the input."""
@overload
def Pad(data: Symbol | None = ..., *, mode: Literal["constant", "edge", "reflect"], pad_width: int | Sequence[int], constant_value: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Puts entries around the spatial dimensions of images (N, C, H, W) or volumes (N, C, D, H, W).

    mode: What stands around the array: one value, its border, or the array mirrored at its
        border.
    pad_width: Entries before and behind each dimension: (before0, behind0, before1, ...). The
        first two dimensions take none.
    constant_value: The value for mode constant.
    """
@overload
def Pad(data: Symbol | None, mode: Literal["constant", "edge", "reflect"], *, pad_width: int | Sequence[int], constant_value: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def Pad(data: Symbol | None, mode: Literal["constant", "edge", "reflect"], pad_width: int | Sequence[int], constant_value: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def pad(data: Symbol | None = ..., *, mode: Literal["constant", "edge", "reflect"], pad_width: int | Sequence[int], constant_value: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Puts entries around the spatial dimensions of images (N, C, H, W) or volumes (N, C, D, H, W).

    mode: What stands around the array: one value, its border, or the array mirrored at its
        border.
    pad_width: Entries before and behind each dimension: (before0, behind0, before1, ...). The
        first two dimensions take none.
    constant_value: The value for mode constant.
    """
@overload
def pad(data: Symbol | None, mode: Literal["constant", "edge", "reflect"], *, pad_width: int | Sequence[int], constant_value: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def pad(data: Symbol | None, mode: Literal["constant", "edge", "reflect"], pad_width: int | Sequence[int], constant_value: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def pick(data: Symbol | None = ..., index: Symbol | None = ..., axis: int | None = ..., keepdims: bool = ..., mode: Literal["clip", "wrap"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """One entry along a dimension for each index of the others.

    axis: The dimension of which one entry is picked.
    keepdims: Keep the dimension, with size 1.
    mode: Indices out of range: the nearest valid one, or counted around.
    """
def choose_element_0index(data: Symbol | None = ..., index: Symbol | None = ..., axis: int | None = ..., keepdims: bool = ..., mode: Literal["clip", "wrap"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """One entry along a dimension for each index of the others.

    axis: The dimension of which one entry is picked.
    keepdims: Keep the dimension, with size 1.
    mode: Indices out of range: the nearest valid one, or counted around.
    """
def Pooling(data: Symbol | None = ..., kernel: int | Sequence[int] = ..., pool_type: Literal["avg", "lp", "max", "sum"] = ..., global_pool: bool = ..., cudnn_off: bool = ..., pooling_convention: Literal["full", "same", "valid"] = ..., stride: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., p_value: int | None = ..., count_include_pad: bool | None = ..., layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Maximum, average, sum or p-norm of windows in one, two or three dimensions.

    kernel: Window: (w,), (h, w) or (d, h, w). Not needed with global_pool.
    pool_type: What is taken of a window.
    global_pool: One window over the whole of each channel; kernel, stride and pad are ignored.
    cudnn_off: Do not use cuDNN for this layer.
    pooling_convention: Output size: valid rounds down, full rounds up, same is ceil(size /
        stride).
    stride: Step of the window; 1 in every dimension when not given.
    pad: Padding on both sides; 0 when not given. Must be smaller than kernel.
    p_value: Exponent of pool_type lp.
    count_include_pad: Whether averages count padding; true when not given.
    layout: Order of data's dimensions; NCW, NCHW or NCDHW by the rank when not given.
    """
def Pooling_v1(data: Symbol | None = ..., kernel: int | Sequence[int] = ..., pool_type: Literal["avg", "max", "sum"] = ..., global_pool: bool = ..., pooling_convention: Literal["full", "valid"] = ..., stride: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Maximum, average or sum of windows in two or three dimensions, as the first networks call it.

    kernel: Window: (h, w) or (d, h, w). Not needed with global_pool.
    pool_type: What is taken of a window.
    global_pool: One window over the whole of each channel; kernel, stride and pad are ignored.
    pooling_convention: Output size: valid rounds down, full rounds up.
    stride: Step of the window; 1 in every dimension when not given.
    pad: Padding on both sides; 0 when not given. Must be smaller than kernel.
    """
def preloaded_multi_mp_sgd_mom_update(*data: Symbol | Sequence[Symbol], momentum: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., num_weights: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """As the operator without preloaded_, with learning rates and decays in two arrays of
    num_weights float32 numbers at the end of `data`.

    momentum: Share of the previous step that is kept.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    num_weights: Number of weights.
    """
def preloaded_multi_mp_sgd_update(*data: Symbol | Sequence[Symbol], rescale_grad: float = ..., clip_gradient: float = ..., num_weights: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """As the operator without preloaded_, with learning rates and decays in two arrays of
    num_weights float32 numbers at the end of `data`.

    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    num_weights: Number of weights.
    """
def preloaded_multi_sgd_mom_update(*data: Symbol | Sequence[Symbol], momentum: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., num_weights: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """As the operator without preloaded_, with learning rates and decays in two arrays of
    num_weights float32 numbers at the end of `data`.

    momentum: Share of the previous step that is kept.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    num_weights: Number of weights.
    """
def preloaded_multi_sgd_update(*data: Symbol | Sequence[Symbol], rescale_grad: float = ..., clip_gradient: float = ..., num_weights: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """As the operator without preloaded_, with learning rates and decays in two arrays of
    num_weights float32 numbers at the end of `data`.

    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    num_weights: Number of weights.
    """
def prod(data: Symbol | None = ..., axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Product over axes.

    axis: Axes to reduce; None or (): all. Negative ones count from the end.
    keepdims: Whether reduced axes stay with size 1.
    exclude: Reduce all axes but the given ones.
    """
def radians(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes x * T(0.017453292519943295) for every element x."""
def rcbrt(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes T(1) / cbrt(x) for every element x."""
def reciprocal(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes T(1) / x for every element x."""
def relu(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes x <= T(0) ? T(0) : x for every element x."""
@overload
def repeat(data: Symbol | None = ..., *, repeats: int, axis: int | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Every entry several times in a row.

    repeats: How often each entry stands in the result; not negative.
    axis: The dimension whose entries are repeated; None takes the array as a vector.
    """
@overload
def repeat(data: Symbol | None, repeats: int, axis: int | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def reset_arrays(*data: Symbol | Sequence[Symbol], num_arrays: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Fills every array with zeros, in place. There is no result.

    num_arrays: Number of arrays.
    """
def Reshape(data: Symbol | None = ..., shape: int | Sequence[int] = ..., reverse: bool = ..., target_shape: int | Sequence[int] = ..., keep_highest: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The same elements in another shape.

    shape: Sizes > 0, or codes: 0 copies this dimension, -1 is inferred, -2 copies all remaining
        dimensions, -3 merges two, -4 splits one into the next two sizes.
    reverse: Resolve the codes from the last dimension to the first.
    target_shape: Older form of `shape`, used without it: one size may be 0 and is inferred.
    keep_highest: With `target_shape`: keep the first dimension of the input.
    """
def reshape(data: Symbol | None = ..., shape: int | Sequence[int] = ..., reverse: bool = ..., target_shape: int | Sequence[int] = ..., keep_highest: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The same elements in another shape.

    shape: Sizes > 0, or codes: 0 copies this dimension, -1 is inferred, -2 copies all remaining
        dimensions, -3 merges two, -4 splits one into the next two sizes.
    reverse: Resolve the codes from the last dimension to the first.
    target_shape: Older form of `shape`, used without it: one size may be 0 and is inferred.
    keep_highest: With `target_shape`: keep the first dimension of the input.
    """
def reshape_like(lhs: Symbol | None = ..., rhs: Symbol | None = ..., lhs_begin: int | None = ..., lhs_end: int | None = ..., rhs_begin: int | None = ..., rhs_end: int | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """lhs in the shape of rhs, or with some of its dimensions replaced by some of those of rhs.

    lhs_begin: First dimension of lhs to replace; None is 0, negative counts from the end.
    lhs_end: Dimension of lhs behind the last to replace; None is the number of dimensions.
    rhs_begin: First dimension of rhs to take.
    rhs_end: Dimension of rhs behind the last to take.
    """
@overload
def reverse(data: Symbol | None = ..., *, axis: int | Sequence[int], name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The order of entries turned around along some dimensions.

    axis: The dimensions whose order is turned around.
    """
@overload
def reverse(data: Symbol | None, axis: int | Sequence[int], name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def flip(data: Symbol | None = ..., *, axis: int | Sequence[int], name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The order of entries turned around along some dimensions.

    axis: The dimensions whose order is turned around.
    """
@overload
def flip(data: Symbol | None, axis: int | Sequence[int], name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def rint(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes rint(x) for every element x."""
@overload
def rmsprop_update(weight: Symbol | None = ..., grad: Symbol | None = ..., n: Symbol | None = ..., *, lr: float, gamma1: float = ..., epsilon: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., clip_weights: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """RMSProp (Tieleman and Hinton 2012): with g = clip(rescale_grad\\*grad + wd\\*weight), n =
    gamma1\\*n + (1-gamma1)\\*g\\*g; weight -= lr\\*g/sqrt(n + epsilon). `n` is updated in place.

    lr: Learning rate.
    gamma1: Decay of the running mean of the squared gradient.
    epsilon: Added under the square root.
    wd: Weight decay: the share of the weight that is added to the gradient.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    clip_weights: The new weights are cut to [-clip_weights, clip_weights]; negative: they are
        not.
    """
@overload
def rmsprop_update(weight: Symbol | None, grad: Symbol | None, n: Symbol | None, lr: float, gamma1: float = ..., epsilon: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., clip_weights: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def rmspropalex_update(weight: Symbol | None = ..., grad: Symbol | None = ..., n: Symbol | None = ..., g: Symbol | None = ..., delta: Symbol | None = ..., *, lr: float, gamma1: float = ..., gamma2: float = ..., epsilon: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., clip_weights: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Centred RMSProp with momentum (Graves 2013, arXiv:1308.0850, equations 38 to 45). `n`, `g` and
    `delta` are updated in place.

    lr: Learning rate.
    gamma1: Decay of the running means of the gradient and of its square.
    gamma2: Share of the previous step that is kept.
    epsilon: Added under the square root.
    wd: Weight decay: the share of the weight that is added to the gradient.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    clip_weights: The new weights are cut to [-clip_weights, clip_weights]; negative: they are
        not.
    """
@overload
def rmspropalex_update(weight: Symbol | None, grad: Symbol | None, n: Symbol | None, g: Symbol | None, delta: Symbol | None, lr: float, gamma1: float = ..., gamma2: float = ..., epsilon: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., clip_weights: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def RNN(data: Symbol | None = ..., parameters: Symbol | None = ..., state: Symbol | None = ..., state_cell: Symbol | None = ..., sequence_length: Symbol | None = ..., *, state_size: int, num_layers: int, bidirectional: bool = ..., mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"], p: float = ..., state_outputs: bool = ..., projection_size: int | None = ..., lstm_state_clip_min: float | None = ..., lstm_state_clip_max: float | None = ..., lstm_state_clip_nan: bool = ..., use_sequence_length: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Stacked recurrent layers over whole sequences: rnn_relu, rnn_tanh, lstm or gru.

    state_size: Number of hidden units of a layer and direction.
    num_layers: Number of stacked layers.
    bidirectional: Also run each layer backwards in time, and concatenate.
    mode: The cell.
    p: Dropout between layers, in training.
    state_outputs: Also return the last states.
    projection_size: lstm: the hidden state is projected to this size.
    lstm_state_clip_min: lstm: least cell state.
    lstm_state_clip_max: lstm: greatest cell state.
    lstm_state_clip_nan: lstm: with clipping, replace NaN by the greatest cell state.
    use_sequence_length: Another input gives the length of each sequence.
    """
@overload
def RNN(data: Symbol | None, parameters: Symbol | None, state: Symbol | None, state_cell: Symbol | None, sequence_length: Symbol | None, state_size: int, *, num_layers: int, bidirectional: bool = ..., mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"], p: float = ..., state_outputs: bool = ..., projection_size: int | None = ..., lstm_state_clip_min: float | None = ..., lstm_state_clip_max: float | None = ..., lstm_state_clip_nan: bool = ..., use_sequence_length: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def RNN(data: Symbol | None, parameters: Symbol | None, state: Symbol | None, state_cell: Symbol | None, sequence_length: Symbol | None, state_size: int, num_layers: int, bidirectional: bool = ..., *, mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"], p: float = ..., state_outputs: bool = ..., projection_size: int | None = ..., lstm_state_clip_min: float | None = ..., lstm_state_clip_max: float | None = ..., lstm_state_clip_nan: bool = ..., use_sequence_length: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def RNN(data: Symbol | None, parameters: Symbol | None, state: Symbol | None, state_cell: Symbol | None, sequence_length: Symbol | None, state_size: int, num_layers: int, bidirectional: bool, mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"], p: float = ..., state_outputs: bool = ..., projection_size: int | None = ..., lstm_state_clip_min: float | None = ..., lstm_state_clip_max: float | None = ..., lstm_state_clip_nan: bool = ..., use_sequence_length: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def ROIPooling(data: Symbol | None = ..., rois: Symbol | None = ..., *, pooled_size: int | Sequence[int], spatial_scale: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The largest pixel of each bin of a region of interest (Girshick, Fast R-CNN, ICCV 2015).

    pooled_size: Bins of a region: (height, width).
    spatial_scale: Coordinates of rois times this are pixels of data.
    """
@overload
def ROIPooling(data: Symbol | None, rois: Symbol | None, pooled_size: int | Sequence[int], *, spatial_scale: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def ROIPooling(data: Symbol | None, rois: Symbol | None, pooled_size: int | Sequence[int], spatial_scale: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def round(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes round(x) for every element x."""
def rsqrt(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes T(1) / sqrt(x) for every element x."""
@overload
def scatter_nd(data: Symbol | None = ..., indices: Symbol | None = ..., *, shape: int | Sequence[int], name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Zeros with pieces of data at the places that indices address. Of several pieces for one place
    the last is kept.

    shape: Shape of the result.
    """
@overload
def scatter_nd(data: Symbol | None, indices: Symbol | None, shape: int | Sequence[int], name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def SequenceLast(data: Symbol | None = ..., sequence_length: Symbol | None = ..., use_sequence_length: bool = ..., axis: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The last step of each sequence.

    use_sequence_length: Read the length of each sequence; without it all are as long as the
        array.
    axis: The dimension along which sequences run, 0 or 1; the other of the two counts the
        sequences.
    """
def SequenceMask(data: Symbol | None = ..., sequence_length: Symbol | None = ..., use_sequence_length: bool = ..., value: float = ..., axis: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Sequences with everything behind their ends set to one value.

    use_sequence_length: Read the length of each sequence; without it nothing is masked.
    value: What stands behind the end of a sequence.
    axis: The dimension along which sequences run, 0 or 1; the other of the two counts the
        sequences.
    """
def SequenceReverse(data: Symbol | None = ..., sequence_length: Symbol | None = ..., use_sequence_length: bool = ..., axis: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Each sequence in the opposite order; what is behind its end stays.

    use_sequence_length: Read the length of each sequence; without it all are as long as the
        array.
    axis: The dimension along which sequences run, 0 or 1; the other of the two counts the
        sequences.
    """
@overload
def sgd_mom_update(weight: Symbol | None = ..., grad: Symbol | None = ..., mom: Symbol | None = ..., *, lr: float, momentum: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., lazy_update: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Gradient descent with momentum (Polyak 1964): mom = momentum\\*mom -
    lr\\*(clip(rescale_grad\\*grad) + wd\\*weight); weight += mom. `mom` is updated in place.

    lr: Learning rate.
    momentum: Share of the previous step that is kept.
    wd: Weight decay: the share of the weight that is added to the gradient.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    lazy_update: With row_sparse gradients: only rows that have a gradient are touched.
    """
@overload
def sgd_mom_update(weight: Symbol | None, grad: Symbol | None, mom: Symbol | None, lr: float, momentum: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., lazy_update: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def sgd_update(weight: Symbol | None = ..., grad: Symbol | None = ..., *, lr: float, wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., lazy_update: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Gradient descent: weight = (1 - lr\\*wd)\\*weight - lr\\*clip(rescale_grad\\*grad).

    lr: Learning rate.
    wd: Weight decay: the share of the weight that is added to the gradient.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    lazy_update: With row_sparse gradients: only rows that have a gradient are touched.
    """
@overload
def sgd_update(weight: Symbol | None, grad: Symbol | None, lr: float, wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., lazy_update: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def shape_array(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The sizes of the dimensions, as an int64 vector."""
def sigmoid(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes sigmoid(x) for every element x."""
def sign(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes sign(x) for every element x."""
@overload
def signsgd_update(weight: Symbol | None = ..., grad: Symbol | None = ..., *, lr: float, wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """signSGD (Bernstein et al., ICML 2018): weight = (1 - lr\\*wd)\\*weight - lr\\*sign(grad).

    lr: Learning rate.
    wd: Weight decay: the share of the weight that is added to the gradient.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    """
@overload
def signsgd_update(weight: Symbol | None, grad: Symbol | None, lr: float, wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def signum_update(weight: Symbol | None = ..., grad: Symbol | None = ..., mom: Symbol | None = ..., *, lr: float, momentum: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., wd_lh: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Signum (Bernstein et al., ICML 2018): mom = momentum\\*mom - (1-momentum)\\*(wd\\*weight +
    clip(rescale_grad\\*grad)); weight = (1 - lr\\*wd_lh)\\*weight + lr\\*sign(mom). `mom` is updated
    in place.

    lr: Learning rate.
    momentum: Share of the previous momentum that is kept.
    wd: Weight decay: the share of the weight that is added to the gradient.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    wd_lh: Weight decay applied to the weight itself rather than to the gradient.
    """
@overload
def signum_update(weight: Symbol | None, grad: Symbol | None, mom: Symbol | None, lr: float, momentum: float = ..., wd: float = ..., rescale_grad: float = ..., clip_gradient: float = ..., wd_lh: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def sin(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes sin(x) for every element x."""
def sinh(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes sinh(x) for every element x."""
def size_array(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The number of elements, as an int64 vector of length 1."""
@overload
def slice(data: Symbol | None = ..., *, begin: int | Sequence[int], end: int | Sequence[int], step: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """A box of the array: begin, end and step by dimension.

    begin: First index by dimension; None takes the end from which the step leads away, negative
        counts from the end.
    end: Index that is not reached any more, by dimension; None goes to the end.
    step: Distance of indices by dimension, not 0; None or nothing is 1.
    """
@overload
def slice(data: Symbol | None, begin: int | Sequence[int], *, end: int | Sequence[int], step: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def slice(data: Symbol | None, begin: int | Sequence[int], end: int | Sequence[int], step: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def crop(data: Symbol | None = ..., *, begin: int | Sequence[int], end: int | Sequence[int], step: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """A box of the array: begin, end and step by dimension.

    begin: First index by dimension; None takes the end from which the step leads away, negative
        counts from the end.
    end: Index that is not reached any more, by dimension; None goes to the end.
    step: Distance of indices by dimension, not 0; None or nothing is 1.
    """
@overload
def crop(data: Symbol | None, begin: int | Sequence[int], *, end: int | Sequence[int], step: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def crop(data: Symbol | None, begin: int | Sequence[int], end: int | Sequence[int], step: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def slice_axis(data: Symbol | None = ..., *, axis: int, begin: int, end: int | None, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Consecutive entries of one dimension.

    axis: The dimension that is cut.
    begin: First index; negative counts from the end.
    end: Index behind the last; None goes to the end.
    """
@overload
def slice_axis(data: Symbol | None, axis: int, *, begin: int, end: int | None, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def slice_axis(data: Symbol | None, axis: int, begin: int, *, end: int | None, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def slice_axis(data: Symbol | None, axis: int, begin: int, end: int | None, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def slice_like(data: Symbol | None = ..., shape_like: Symbol | None = ..., axes: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The leading entries of dimensions, as many as another array has.

    axes: The dimensions that are cut to the size of shape_like; all without it.
    """
@overload
def SliceChannel(data: Symbol | None = ..., *, num_outputs: int, axis: int = ..., squeeze_axis: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Splits into equal parts along one dimension.

    num_outputs: Number of equal parts.
    axis: The dimension that is split.
    squeeze_axis: Remove the dimension, which must have num_outputs entries.
    """
@overload
def SliceChannel(data: Symbol | None, num_outputs: int, axis: int = ..., squeeze_axis: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def split(data: Symbol | None = ..., *, num_outputs: int, axis: int = ..., squeeze_axis: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Splits into equal parts along one dimension.

    num_outputs: Number of equal parts.
    axis: The dimension that is split.
    squeeze_axis: Remove the dimension, which must have num_outputs entries.
    """
@overload
def split(data: Symbol | None, num_outputs: int, axis: int = ..., squeeze_axis: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def smooth_l1(data: Symbol | None = ..., *, scalar: float, is_int: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes abs(x) * p * p < T(1) ? T(0.5) * x * x * p * p : abs(x) - T(0.5) / (p * p) for every
    element x.

    scalar: sigma: the quadratic part ends at 1/sigma^2.
    is_int: Changes nothing; files of 1.9.1 and 2.0 have it.
    """
@overload
def smooth_l1(data: Symbol | None, scalar: float, is_int: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def softmax(data: Symbol | None = ..., length: Symbol | None = ..., axis: int = ..., temperature: float | None = ..., dtype: object = ..., use_length: bool | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """exp(data / temperature), divided by its sum along an axis.

    axis: Axis over which the results sum to 1.
    temperature: Data is divided by this first.
    dtype: Dtype of the output; data's when not given.
    use_length: A second input says how many elements along the axis count; the results of the
        others are 0.
    """
def softmax_cross_entropy(data: Symbol | None = ..., label: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The sum over rows of -log(softmax(data)[label]), as an array of shape (1,)."""
def SoftmaxActivation(data: Symbol | None = ..., mode: Literal["channel", "instance"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """softmax over the last dimension (mode instance), or over dimension 1 (mode channel).
    Superseded by softmax.

    mode: instance: over the last dimension; channel: over dimension 1.
    """
def SoftmaxOutput(data: Symbol | None = ..., label: Symbol | None = ..., grad_scale: float = ..., ignore_label: float = ..., multi_output: bool = ..., use_ignore: bool = ..., preserve_shape: bool = ..., normalization: Literal["batch", "null", "valid"] = ..., out_grad: bool = ..., smooth_alpha: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """softmax(data) whose gradient is that of the cross entropy with `label`: (output - target)
    grad_scale / normalization, whatever comes from above.

    grad_scale: The gradient is multiplied by this.
    ignore_label: Label without gradient when use_ignore is set.
    multi_output: Softmax over dimension 1, one label per batch element and position.
    use_ignore: Elements labelled ignore_label get gradient 0.
    preserve_shape: Softmax over the last dimension, instead of over all dimensions behind the
        first.
    normalization: What the gradient is divided by: nothing, the number of labels, or of labels
        other than ignore_label.
    out_grad: Multiply by the gradient that comes from above.
    smooth_alpha: Label smoothing: this much of the target is shared by the other classes.
    """
def Softmax(data: Symbol | None = ..., label: Symbol | None = ..., grad_scale: float = ..., ignore_label: float = ..., multi_output: bool = ..., use_ignore: bool = ..., preserve_shape: bool = ..., normalization: Literal["batch", "null", "valid"] = ..., out_grad: bool = ..., smooth_alpha: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """softmax(data) whose gradient is that of the cross entropy with `label`: (output - target)
    grad_scale / normalization, whatever comes from above.

    grad_scale: The gradient is multiplied by this.
    ignore_label: Label without gradient when use_ignore is set.
    multi_output: Softmax over dimension 1, one label per batch element and position.
    use_ignore: Elements labelled ignore_label get gradient 0.
    preserve_shape: Softmax over the last dimension, instead of over all dimensions behind the
        first.
    normalization: What the gradient is divided by: nothing, the number of labels, or of labels
        other than ignore_label.
    out_grad: Multiply by the gradient that comes from above.
    smooth_alpha: Label smoothing: this much of the target is shared by the other classes.
    """
def softmin(data: Symbol | None = ..., axis: int = ..., temperature: float | None = ..., dtype: object = ..., use_length: bool | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """softmax of -data.

    axis: Axis over which the results sum to 1.
    temperature: Data is divided by this first.
    dtype: Dtype of the output; data's when not given.
    use_length: A second input says how many elements along the axis count; the results of the
        others are 0.
    """
def softsign(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes x / (T(1) + abs(x)) for every element x."""
def sort(data: Symbol | None = ..., axis: int | None = ..., is_ascend: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Sorts along one dimension; equal entries keep their order, NaN counts as largest.

    axis: The dimension that is sorted; None takes the array as a vector.
    is_ascend: Smallest first.
    """
@overload
def space_to_depth(data: Symbol | None = ..., *, block_size: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Moves blocks of height and width into channels.

    block_size: Height and width of the blocks; at least 1.
    """
@overload
def space_to_depth(data: Symbol | None, block_size: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def SpatialTransformer(data: Symbol | None = ..., loc: Symbol | None = ..., target_shape: int | Sequence[int] = ..., *, transform_type: Literal["affine"], sampler_type: Literal["bilinear"], cudnn_off: bool | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Samples images at the points of an affine grid (Jaderberg et al., Spatial Transformer
    Networks, NeurIPS 2015).

    target_shape: Height and width of the output; both must be given.
    transform_type: How loc is applied to the places of a regular grid.
    sampler_type: How pixels between which a place lies are weighted.
    cudnn_off: Accepted for compatibility; the kernel is the library's own.
    """
@overload
def SpatialTransformer(data: Symbol | None, loc: Symbol | None, target_shape: int | Sequence[int], transform_type: Literal["affine"], *, sampler_type: Literal["bilinear"], cudnn_off: bool | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def SpatialTransformer(data: Symbol | None, loc: Symbol | None, target_shape: int | Sequence[int], transform_type: Literal["affine"], sampler_type: Literal["bilinear"], cudnn_off: bool | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def sqrt(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes sqrt(x) for every element x."""
def square(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes x * x for every element x."""
def squeeze(data: Symbol | None = ..., axis: int | Sequence[int] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Removes dimensions of size 1.

    axis: Dimensions to remove, each of size 1; None removes all of size 1.
    """
def stack(*data: Symbol | Sequence[Symbol], axis: int = ..., num_args: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Puts arrays of one shape together along a new dimension.

    axis: Where the new dimension stands in the result.
    """
def sum(data: Symbol | None = ..., axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Sum over axes.

    axis: Axes to reduce; None or (): all. Negative ones count from the end.
    keepdims: Whether reduced axes stay with size 1.
    exclude: Reduce all axes but the given ones.
    """
def sum_axis(data: Symbol | None = ..., axis: int | Sequence[int] | None = ..., keepdims: bool = ..., exclude: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Sum over axes.

    axis: Axes to reduce; None or (): all. Negative ones count from the end.
    keepdims: Whether reduced axes stay with size 1.
    exclude: Reduce all axes but the given ones.
    """
def SVMOutput(data: Symbol | None = ..., label: Symbol | None = ..., margin: float = ..., regularization_coefficient: float = ..., use_linear: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The identity, with the gradient of the squared (or linear) hinge loss of every class against
    the rest; label has one class number per row.

    margin: Scores must be this far on their side of 0.
    regularization_coefficient: Weight of the loss.
    use_linear: Hinge loss instead of its square.
    """
def SwapAxis(data: Symbol | None = ..., dim1: int = ..., dim2: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Exchanges two dimensions.

    dim1: One of the two dimensions.
    dim2: The other.
    """
def swapaxes(data: Symbol | None = ..., dim1: int = ..., dim2: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Exchanges two dimensions.

    dim1: One of the two dimensions.
    dim2: The other.
    """
def take(a: Symbol | None = ..., indices: Symbol | None = ..., axis: int = ..., mode: Literal["clip", "from_end", "raise", "wrap"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Entries of one dimension at given indices.

    axis: The dimension whose entries are taken.
    mode: Indices out of range: the nearest valid one, counted around, or an IndexError; with
        from_end negative ones count from the end.
    """
def tan(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes tan(x) for every element x."""
def tanh(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes tanh(x) for every element x."""
@overload
def tile(data: Symbol | None = ..., *, reps: int | Sequence[int], name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The array laid out several times along its dimensions.

    reps: How often the array is laid out along each dimension; the shorter of shape and reps is
        filled up with ones on the left.
    """
@overload
def tile(data: Symbol | None, reps: int | Sequence[int], name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def topk(data: Symbol | None = ..., axis: int | None = ..., k: int = ..., ret_typ: Literal["both", "indices", "mask", "value"] = ..., is_ascend: bool = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The k largest or smallest entries along one dimension, in order; of equal ones that with the
    lower index comes first.

    axis: The dimension along which entries compete; None takes the array as a vector.
    k: Number of entries; all when less than 1.
    ret_typ: The values, their indices, both, or ones at their places in an array of zeros.
    is_ascend: Take the smallest instead of the largest.
    dtype: Element type of indices.
    """
def transpose(data: Symbol | None = ..., axes: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Permutes the dimensions.

    axes: Dimension i of the result is dimension axes[i] of the input; without it, the order is
        reversed.
    """
def trunc(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes trunc(x) for every element x."""
def UpSampling(*data: Symbol | Sequence[Symbol], scale: int, num_filter: int = ..., sample_type: Literal["bilinear", "nearest"], multi_input_mode: Literal["concat", "sum"] = ..., workspace: int = ..., num_args: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Enlarges images (batch, channels, height, width) by an integer factor.

    scale: Factor of height and width.
    num_filter: Number of channels; bilinear needs it.
    sample_type: nearest repeats elements; bilinear is a transposed convolution with the second
        input.
    multi_input_mode: How several inputs of nearest are joined.
    workspace: Accepted for compatibility; workspace memory is planned by need.
    """
def where(condition: Symbol | None = ..., x: Symbol | None = ..., y: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """x where condition is not zero, else y. A vector as condition chooses whole rows."""
def zeros_like(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Zeros in the shape and dtype of the input."""
def quantized_reshape(data: Symbol | None = ..., min_data: Symbol | None = ..., max_data: Symbol | None = ..., shape: int | Sequence[int] = ..., reverse: bool = ..., target_shape: int | Sequence[int] = ..., keep_highest: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Reshape of 8-bit integers.

    shape: Sizes > 0, or codes: 0 copies this dimension, -1 is inferred, -2 copies all remaining
        dimensions, -3 merges two, -4 splits one into the next two sizes.
    reverse: Resolve the codes from the last dimension to the first.
    target_shape: Older form of `shape`, used without it: one size may be 0 and is inferred.
    keep_highest: With `target_shape`: keep the first dimension of the input.
    """
def quantized_transpose(data: Symbol | None = ..., min_data: Symbol | None = ..., max_data: Symbol | None = ..., axes: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """transpose of 8-bit integers.

    axes: Dimension i of the result is dimension axes[i] of the input; without it, the order is
        reversed.
    """
def identity(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """A copy."""
def linalg_det(A: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Determinants of square matrices."""
def linalg_extractdiag(A: Symbol | None = ..., offset: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Diagonals of square matrices.

    offset: Which diagonal: above the main one when positive, below it when negative.
    """
def linalg_extracttrian(A: Symbol | None = ..., offset: int = ..., lower: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Triangles of square matrices as vectors.

    offset: The diagonal that bounds the triangle. When positive the triangle lies above it, when
        negative below it.
    lower: With offset 0: the lower triangle, else the upper one.
    """
def linalg_gelqf(A: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """LQ factors of matrices with at most as many rows as columns: A = L * Q, with L lower
    triangular and orthonormal rows in Q.
    """
def linalg_gemm(A: Symbol | None = ..., B: Symbol | None = ..., C: Symbol | None = ..., transpose_a: bool = ..., transpose_b: bool = ..., alpha: float = ..., beta: float = ..., axis: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Products of matrices plus other matrices: alpha * op(A) * op(B) + beta * C, where op may
    transpose.

    transpose_a: Multiply with the matrices of A transposed.
    transpose_b: Multiply with the matrices of B transposed.
    alpha: Factor of the product.
    beta: Factor of C.
    axis: Dimension that the rows of the matrices lie along; their columns lie along the last one.
        All other dimensions count matrices.
    """
def linalg_gemm2(A: Symbol | None = ..., B: Symbol | None = ..., transpose_a: bool = ..., transpose_b: bool = ..., alpha: float = ..., axis: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Products of matrices: alpha * op(A) * op(B), where op may transpose.

    transpose_a: Multiply with the matrices of A transposed.
    transpose_b: Multiply with the matrices of B transposed.
    alpha: Factor of the product.
    axis: Dimension that the rows of the matrices lie along; their columns lie along the last one.
        All other dimensions count matrices.
    """
def linalg_inverse(A: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Inverses of square matrices."""
def linalg_makediag(A: Symbol | None = ..., offset: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Square matrices with given diagonals and zeros elsewhere.

    offset: Which diagonal: above the main one when positive, below it when negative.
    """
def linalg_maketrian(A: Symbol | None = ..., offset: int = ..., lower: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Square matrices with given triangles and zeros elsewhere, the reverse of linalg_extracttrian.

    offset: The diagonal that bounds the triangle. When positive the triangle lies above it, when
        negative below it.
    lower: With offset 0: the lower triangle, else the upper one.
    """
def linalg_potrf(A: Symbol | None = ..., lower: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Cholesky factors of positive definite matrices: lower triangular L with A = L * L^T, or upper
    triangular U with A = U^T * U.

    lower: The factors are lower triangular, and so are the triangles that are read; else upper.
    """
def linalg_potri(A: Symbol | None = ..., lower: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Inverses of positive definite matrices from their Cholesky factors: (A * A^T)^-1 with A lower
    triangular, or (A^T * A)^-1 with A upper triangular.

    lower: The factors are lower triangular, and so are the triangles that are read; else upper.
    """
def linalg_slogdet(A: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Signs of determinants of square matrices, and the logarithms of their absolute values."""
def linalg_sumlogdiag(A: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Sums of the logarithms of the diagonals of square matrices: of a Cholesky factor, half of the
    logarithm of the determinant.
    """
def linalg_syrk(A: Symbol | None = ..., transpose: bool = ..., alpha: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Products of matrices with their own transposes: alpha * A * A^T, or alpha * A^T * A with
    `transpose`.

    transpose: Multiply the transposed matrices with the matrices.
    alpha: Factor of the product.
    """
def linalg_trmm(A: Symbol | None = ..., B: Symbol | None = ..., transpose: bool = ..., rightside: bool = ..., lower: bool = ..., alpha: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Products with triangular matrices: alpha * op(A) * B, or alpha * B * op(A) with `rightside`,
    where op may transpose.

    transpose: Use the triangular matrices transposed.
    rightside: The triangular matrices stand right of the others instead of left.
    lower: The lower triangles of A are used, else the upper ones.
    alpha: Factor of the result.
    """
def linalg_trsm(A: Symbol | None = ..., B: Symbol | None = ..., transpose: bool = ..., rightside: bool = ..., lower: bool = ..., alpha: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Solves systems of equations with triangular matrices: X with op(A) * X = alpha * B, or X *
    op(A) = alpha * B with `rightside`, where op may transpose.

    transpose: Use the triangular matrices transposed.
    rightside: The triangular matrices stand right of the others instead of left.
    lower: The lower triangles of A are used, else the upper ones.
    alpha: Factor of the result.
    """
def cumsum(a: Symbol | None = ..., axis: int | None = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Running sum along an axis, or of the flattened array.

    axis: Axis to sum along; None: the flattened array.
    dtype: Of the result; None: that of the input, int64 for bool.
    """
def random_binomial(n: int = ..., p: float = ..., shape: int | Sequence[int] | None = ..., ctx: str = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from a binomial distribution (successes in n trials of probability p).

    n: parameter of the distribution
    p: parameter of the distribution
    shape: shape of the result
    ctx: device of the result, e.g. cpu(0)
    dtype: dtype of the result; float32 when None
    """
def random_exponential(lam: float = ..., shape: int | Sequence[int] | None = ..., ctx: str = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from an exponential distribution with rate lam.

    lam: parameter of the distribution
    shape: shape of the result
    ctx: device of the result, e.g. cpu(0)
    dtype: dtype of the result; float32 when None
    """
def random_gamma(alpha: float = ..., beta: float = ..., shape: int | Sequence[int] | None = ..., ctx: str = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from a gamma distribution with shape alpha and scale beta.

    alpha: parameter of the distribution
    beta: parameter of the distribution
    shape: shape of the result
    ctx: device of the result, e.g. cpu(0)
    dtype: dtype of the result; float32 when None
    """
def random_generalized_negative_binomial(mu: float = ..., alpha: float = ..., shape: int | Sequence[int] | None = ..., ctx: str = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from a negative binomial distribution with mean mu and dispersion alpha.

    mu: parameter of the distribution
    alpha: parameter of the distribution
    shape: shape of the result
    ctx: device of the result, e.g. cpu(0)
    dtype: dtype of the result; float32 when None
    """
def random_negative_binomial(k: int = ..., p: float = ..., shape: int | Sequence[int] | None = ..., ctx: str = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from a negative binomial distribution (failures before the k-th success of probability
    p).

    k: parameter of the distribution
    p: parameter of the distribution
    shape: shape of the result
    ctx: device of the result, e.g. cpu(0)
    dtype: dtype of the result; float32 when None
    """
def normal(loc: float = ..., scale: float = ..., shape: int | Sequence[int] | None = ..., ctx: str = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from a normal distribution.

    loc: parameter of the distribution
    scale: parameter of the distribution
    shape: shape of the result
    ctx: device of the result, e.g. cpu(0)
    dtype: dtype of the result; float32 when None
    """
def random_normal(loc: float = ..., scale: float = ..., shape: int | Sequence[int] | None = ..., ctx: str = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from a normal distribution.

    loc: parameter of the distribution
    scale: parameter of the distribution
    shape: shape of the result
    ctx: device of the result, e.g. cpu(0)
    dtype: dtype of the result; float32 when None
    """
def random_pdf_dirichlet(sample: Symbol | None = ..., alpha: Symbol | None = ..., is_log: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Density of Dirichlet distributions at each sample.

    is_log: Whether the result is the natural logarithm of the density.
    """
def random_pdf_exponential(sample: Symbol | None = ..., lam: Symbol | None = ..., is_log: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Density of the exponential distribution with rate lam at each sample.

    is_log: Whether the result is the natural logarithm of the density.
    """
def random_pdf_gamma(sample: Symbol | None = ..., alpha: Symbol | None = ..., beta: Symbol | None = ..., is_log: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Density of the gamma distribution with shape alpha and rate beta at each sample.

    is_log: Whether the result is the natural logarithm of the density.
    """
def random_pdf_generalized_negative_binomial(sample: Symbol | None = ..., mu: Symbol | None = ..., alpha: Symbol | None = ..., is_log: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Density of the negative binomial distribution with mean mu and dispersion alpha (variance mu +
    alpha * mu^2) at each sample.

    is_log: Whether the result is the natural logarithm of the density.
    """
def random_pdf_negative_binomial(sample: Symbol | None = ..., k: Symbol | None = ..., p: Symbol | None = ..., is_log: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Density of the negative binomial distribution, of failures before the k-th success of
    probability p, at each sample.

    is_log: Whether the result is the natural logarithm of the density.
    """
def random_pdf_normal(sample: Symbol | None = ..., mu: Symbol | None = ..., sigma: Symbol | None = ..., is_log: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Density of the normal distribution with mean mu and standard deviation sigma at each sample.

    is_log: Whether the result is the natural logarithm of the density.
    """
def random_pdf_poisson(sample: Symbol | None = ..., lam: Symbol | None = ..., is_log: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Density of the Poisson distribution with mean lam at each sample.

    is_log: Whether the result is the natural logarithm of the density.
    """
def random_pdf_uniform(sample: Symbol | None = ..., low: Symbol | None = ..., high: Symbol | None = ..., is_log: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Density of the uniform distribution on [low, high] at each sample.

    is_log: Whether the result is the natural logarithm of the density.
    """
def random_poisson(lam: float = ..., shape: int | Sequence[int] | None = ..., ctx: str = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from a Poisson distribution with mean lam.

    lam: parameter of the distribution
    shape: shape of the result
    ctx: device of the result, e.g. cpu(0)
    dtype: dtype of the result; float32 when None
    """
def random_randint(low: int, high: int, shape: int | Sequence[int] | None = ..., ctx: str = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws integers from [low, high), all equally likely.

    low: smallest value
    high: one more than the largest value
    shape: shape of the result
    ctx: device of the result, e.g. cpu(0)
    dtype: dtype of the result; int32 when None
    """
def random_uniform(low: float = ..., high: float = ..., shape: int | Sequence[int] | None = ..., ctx: str = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from a uniform distribution on [low, high).

    low: parameter of the distribution
    high: parameter of the distribution
    shape: shape of the result
    ctx: device of the result, e.g. cpu(0)
    dtype: dtype of the result; float32 when None
    """
def uniform(low: float = ..., high: float = ..., shape: int | Sequence[int] | None = ..., ctx: str = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from a uniform distribution on [low, high).

    low: parameter of the distribution
    high: parameter of the distribution
    shape: shape of the result
    ctx: device of the result, e.g. cpu(0)
    dtype: dtype of the result; float32 when None
    """
def ravel_multi_index(data: Symbol | None = ..., shape: int | Sequence[int] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Flat indices of an array of the given shape from columns of indices. Not checked against the
    shape.

    shape: Shape of the array that is indexed; its first size is not needed and may be -1.
    """
def sample_binomial(n: Symbol | None = ..., p: Symbol | None = ..., shape: int | Sequence[int] = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from a binomial distribution (successes in n trials of probability p) with arrays as
    parameters: `shape` values for each of their elements.

    shape: shape of the draws of each pair of parameters
    dtype: dtype of the result; float32 when None
    """
def sample_categorical(data: Symbol | None = ..., shape: int | Sequence[int] = ..., get_prob: bool = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws class numbers with the probabilities in the last axis of `data`, which are divided by
    their sum.

    shape: shape of the draws of each row
    get_prob: also return the logarithm of each draw's probability
    dtype: dtype of the drawn indices
    """
def sample_exponential(lam: Symbol | None = ..., shape: int | Sequence[int] = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from an exponential distribution with rate lam with arrays as parameters: `shape` values
    for each of their elements.

    shape: shape of the draws of each pair of parameters
    dtype: dtype of the result; float32 when None
    """
def sample_gamma(alpha: Symbol | None = ..., beta: Symbol | None = ..., shape: int | Sequence[int] = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from a gamma distribution with shape alpha and scale beta with arrays as parameters:
    `shape` values for each of their elements.

    shape: shape of the draws of each pair of parameters
    dtype: dtype of the result; float32 when None
    """
def sample_generalized_negative_binomial(mu: Symbol | None = ..., alpha: Symbol | None = ..., shape: int | Sequence[int] = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from a negative binomial distribution with mean mu and dispersion alpha with arrays as
    parameters: `shape` values for each of their elements.

    shape: shape of the draws of each pair of parameters
    dtype: dtype of the result; float32 when None
    """
def sample_multinomial(data: Symbol | None = ..., shape: int | Sequence[int] = ..., get_prob: bool = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws class numbers with the probabilities in the last axis of `data`, which are divided by
    their sum.

    shape: shape of the draws of each row
    get_prob: also return the logarithm of each draw's probability
    dtype: dtype of the drawn indices
    """
def sample_negative_binomial(k: Symbol | None = ..., p: Symbol | None = ..., shape: int | Sequence[int] = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from a negative binomial distribution (failures before the k-th success of probability
    p) with arrays as parameters: `shape` values for each of their elements.

    shape: shape of the draws of each pair of parameters
    dtype: dtype of the result; float32 when None
    """
def sample_normal(mu: Symbol | None = ..., sigma: Symbol | None = ..., shape: int | Sequence[int] = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from a normal distribution with arrays as parameters: `shape` values for each of their
    elements.

    shape: shape of the draws of each pair of parameters
    dtype: dtype of the result; float32 when None
    """
def sample_poisson(lam: Symbol | None = ..., shape: int | Sequence[int] = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from a Poisson distribution with mean lam with arrays as parameters: `shape` values for
    each of their elements.

    shape: shape of the draws of each pair of parameters
    dtype: dtype of the result; float32 when None
    """
def sample_uniform(low: Symbol | None = ..., high: Symbol | None = ..., shape: int | Sequence[int] = ..., dtype: object = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Draws from a uniform distribution on [low, high) with arrays as parameters: `shape` values for
    each of their elements.

    shape: shape of the draws of each pair of parameters
    dtype: dtype of the result; float32 when None
    """
def shuffle(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Rows of `data` in random order."""
def unravel_index(data: Symbol | None = ..., shape: int | Sequence[int] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Columns of indices from flat indices of an array of the given shape.

    shape: Shape of the array that is indexed; its first size is not needed and may be -1.
    """
