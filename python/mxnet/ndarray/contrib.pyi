# Generated from the operator records by `./dev docs`; do not edit.
from collections.abc import Sequence
from typing import Any, Literal, overload

from .ndarray import NDArray
def adabelief_update(weight: Any, grad: Any, mean: Any, var: Any, rescale_grad: Any, lr: Any, eta: Any, beta1: Any = ..., beta2: Any = ..., epsilon: Any = ..., wd: Any = ..., clip_gradient: Any = ..., out: Any = ..., name: Any = ..., **kwargs: Any) -> Any: ...
def adamw_update(weight: Any, grad: Any, mean: Any, var: Any, rescale_grad: Any, lr: Any, eta: Any, beta1: Any = ..., beta2: Any = ..., epsilon: Any = ..., wd: Any = ..., clip_gradient: Any = ..., out: Any = ..., name: Any = ..., **kwargs: Any) -> Any: ...
def cond(pred: Any, then_func: Any, else_func: Any) -> Any: ...
def foreach(body: Any, data: Any, init_states: Any) -> Any: ...
def isfinite(data: Any) -> Any: ...
def isinf(data: Any) -> Any: ...
def isnan(data: Any) -> Any: ...
def mp_adabelief_update(weight: Any, grad: Any, mean: Any, var: Any, weight32: Any, rescale_grad: Any, lr: Any, eta: Any, beta1: Any = ..., beta2: Any = ..., epsilon: Any = ..., wd: Any = ..., clip_gradient: Any = ..., out: Any = ..., name: Any = ..., **kwargs: Any) -> Any: ...
def mp_adamw_update(weight: Any, grad: Any, mean: Any, var: Any, weight32: Any, rescale_grad: Any, lr: Any, eta: Any, beta1: Any = ..., beta2: Any = ..., epsilon: Any = ..., wd: Any = ..., clip_gradient: Any = ..., out: Any = ..., name: Any = ..., **kwargs: Any) -> Any: ...
def multi_adabelief_update(weights: Any, grads: Any, mean: Any, var: Any, rescale_grad: Any, lrs: Any, wds: Any, etas: Any, out: Any = ..., name: Any = ..., size: Any = ..., **kwargs: Any) -> Any: ...
def multi_adamw_update(weights: Any, grads: Any, mean: Any, var: Any, rescale_grad: Any, lrs: Any, wds: Any, etas: Any, out: Any = ..., name: Any = ..., size: Any = ..., **kwargs: Any) -> Any: ...
def multi_lamb_update(weights: Any, grads: Any, mean: Any, var: Any, step_count: Any, lrs: Any, wds: Any, out: Any = ..., num_tensors: Any = ..., **kwargs: Any) -> Any: ...
def multi_lans_update(weights: Any, grads: Any, mean: Any, var: Any, step_count: Any, lrs: Any, wds: Any, out: Any = ..., num_tensors: Any = ..., **kwargs: Any) -> Any: ...
def multi_mp_adabelief_update(weights: Any, grads: Any, mean: Any, var: Any, weights32: Any, rescale_grad: Any, lrs: Any, wds: Any, etas: Any, out: Any = ..., name: Any = ..., size: Any = ..., **kwargs: Any) -> Any: ...
def multi_mp_adamw_update(weights: Any, grads: Any, mean: Any, var: Any, weights32: Any, rescale_grad: Any, lrs: Any, wds: Any, etas: Any, out: Any = ..., name: Any = ..., size: Any = ..., **kwargs: Any) -> Any: ...
def multi_mp_lamb_update(weights: Any, grads: Any, mean: Any, var: Any, weights32: Any, step_count: Any, lrs: Any, wds: Any, out: Any = ..., num_tensors: Any = ..., **kwargs: Any) -> Any: ...
def multi_mp_lans_update(weights: Any, grads: Any, mean: Any, var: Any, weights32: Any, step_count: Any, lrs: Any, wds: Any, out: Any = ..., num_tensors: Any = ..., **kwargs: Any) -> Any: ...
def rand_zipfian(true_classes: Any, num_sampled: Any, range_max: Any, ctx: Any = ...) -> Any: ...
def while_loop(cond: Any, func: Any, loop_vars: Any, max_iterations: Any = ...) -> Any: ...
def CTCLoss(data: NDArray, label: NDArray | None = ..., data_lengths: NDArray | None = ..., label_lengths: NDArray | None = ..., use_data_lengths: bool = ..., use_label_lengths: bool = ..., blank_label: Literal["first", "last"] = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Connectionist temporal classification loss of each sequence of a batch.

    use_data_lengths: data_lengths gives the number of steps of each sequence.
    use_label_lengths: label_lengths gives the number of labels of each sequence; otherwise the
        first padding ends it.
    blank_label: Class of the blank: first (0; labels start at 1, padding is 0) or last (labels
        start at 0, padding is -1).
    """
def ctc_loss(data: NDArray, label: NDArray | None = ..., data_lengths: NDArray | None = ..., label_lengths: NDArray | None = ..., use_data_lengths: bool = ..., use_label_lengths: bool = ..., blank_label: Literal["first", "last"] = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Connectionist temporal classification loss of each sequence of a batch.

    use_data_lengths: data_lengths gives the number of steps of each sequence.
    use_label_lengths: label_lengths gives the number of labels of each sequence; otherwise the
        first padding ends it.
    blank_label: Class of the blank: first (0; labels start at 1, padding is 0) or last (labels
        start at 0, padding is -1).
    """
def AdaptiveAvgPooling2D(data: NDArray, output_size: int | Sequence[int] = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Averages of an image over output_size windows: row i covers rows floor(i H / h) to ceil((i +
    1) H / h) - 1, columns alike.

    output_size: (height, width) of the output, or one number for both; 1 when not given.
    """
def allclose(a: NDArray, b: NDArray | None = ..., rtol: float = ..., atol: float = ..., equal_nan: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Whether |a - b| <= atol + rtol |b| for all elements of two arrays of one shape and dtype: 1 or
    0, of dtype uint8 and without dimensions.

    rtol: Tolerance relative to b.
    atol: Absolute tolerance.
    equal_nan: Whether NaN agrees with NaN.
    """
def arange_like(data: NDArray, start: float = ..., step: float = ..., repeat: int = ..., ctx: str = ..., axis: int | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """A range as long as an array, or as one of its dimensions.

    start: First value.
    step: Distance between values.
    repeat: How often each value stands in the result.
    ctx: Device of the result; read by eager calls only.
    axis: Make a vector as long as this dimension; None makes an array of data's shape.
    """
def backward_gradientmultiplier(data: NDArray, scalar: float = ..., is_int: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Computes x * scalar for every element x.

    scalar: The other operand.
    is_int: Whether `scalar` was given as an integer; a fraction turns integer arrays into
        float64.
    """
def backward_hawkesll(ograd: NDArray, lda: NDArray | None = ..., alpha: NDArray | None = ..., beta: NDArray | None = ..., state: NDArray | None = ..., lags: NDArray | None = ..., marks: NDArray | None = ..., valid_length: NDArray | None = ..., max_time: NDArray | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Gradients of the likelihood of _contrib_hawkesll with respect to lda, alpha and beta."""
def backward_index_copy(ograd: NDArray, old_tensor: NDArray | None = ..., index_vector: NDArray | None = ..., new_tensor: NDArray | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Gradients of _contrib_index_copy: of old_tensor, index_vector (zeros) and new_tensor."""
def BatchNormWithReLU(data: NDArray, gamma: NDArray | None = ..., beta: NDArray | None = ..., moving_mean: NDArray | None = ..., moving_var: NDArray | None = ..., eps: float = ..., momentum: float = ..., fix_gamma: bool = ..., use_global_stats: bool = ..., output_mean_var: bool = ..., axis: int = ..., cudnn_off: bool = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """BatchNorm followed by relu, in one pass.

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
def BilinearResize2D(data: NDArray, like: NDArray | None = ..., height: int = ..., width: int = ..., scale_height: float | None = ..., scale_width: float | None = ..., mode: Literal["like", "odd_scale", "size", "to_even_down", "to_even_up", "to_odd_down", "to_odd_up"] = ..., align_corners: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Resizes images (batch, channels, height, width) by bilinear interpolation.

    height: Rows of the output in mode size, if no scale is given.
    width: Columns of the output in mode size, if no scale is given.
    scale_height: Factor of the rows, for modes size and odd_scale. It counts if scale_width is
        given too.
    scale_width: Factor of the columns, for modes size and odd_scale. It counts if scale_height is
        given too.
    mode: size: height and width, or the scales. odd_scale: the scales, of an odd side less 1,
        which is then added. like: as `like`. The others: to the next even or odd number, down or
        up.
    align_corners: Whether the middles of the corner pixels stay where they are; else the outer
        edges do.
    """
@overload
def bipartite_matching(data: NDArray, is_ascend: bool = ..., *, threshold: float, topk: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Matches rows with columns of a matrix of scores, the pair of the best score first, each row
    and each column at most once.

    is_ascend: Smallest scores first.
    threshold: A pair matches only if its score is above this; with is_ascend, below.
    topk: topk + 1 pairs are matched at most, as in 1.x; 0 or less: no limit.
    """
@overload
def bipartite_matching(data: NDArray, is_ascend: bool, threshold: float, topk: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
def boolean_mask(data: NDArray, index: NDArray | None = ..., axis: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """The entries of one dimension where index is not zero.

    axis: The dimension whose entries are chosen.
    """
def box_decode(data: NDArray, anchors: NDArray | None = ..., std0: float = ..., std1: float = ..., std2: float = ..., std3: float = ..., clip: float = ..., format: Literal["center", "corner"] = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Boxes from what a network predicts for its anchors; the inverse of box_encode.

    std0: Factor of the offset in x.
    std1: Factor of the offset in y.
    std2: Factor of the logarithm of the width.
    std3: Factor of the logarithm of the height.
    clip: Upper limit of the logarithms; none if not above 0.
    format: Format of anchors: (left, top, right, bottom) or (x, y, width, height).
    """
def box_encode(samples: NDArray, matches: NDArray | None = ..., anchors: NDArray | None = ..., refs: NDArray | None = ..., means: NDArray | None = ..., stds: NDArray | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """What a network has to predict so that its anchors become the boxes that they are matched with."""
def box_iou(lhs: NDArray, rhs: NDArray, format: Literal["center", "corner"] = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Overlaps of all pairs of a box of lhs and a box of rhs: the area of the intersection over that
    of the union.

    format: corner: boxes are (left, top, right, bottom); center: (x, y, width, height).
    """
def box_nms(data: NDArray, overlap_thresh: float = ..., valid_thresh: float = ..., topk: int = ..., coord_start: int = ..., score_index: int = ..., id_index: int = ..., background_id: int = ..., force_suppress: bool = ..., in_format: Literal["center", "corner"] = ..., out_format: Literal["center", "corner"] = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Non-maximum suppression: of boxes that overlap, only the one of the highest score stays.

    overlap_thresh: A box is dropped when a better one overlaps it by more than this.
    valid_thresh: Boxes whose score is not above this are dropped.
    topk: How many of the best boxes take part, the others are dropped; negative: all; 0: the
        result is data.
    coord_start: Where the four numbers of the box begin in an entry.
    score_index: Where the score stands in an entry.
    id_index: Where the class stands in an entry; negative: there is none.
    background_id: Boxes of this class are dropped, where entries have a class.
    force_suppress: Boxes of different classes suppress each other, too.
    in_format: corner: boxes are (left, top, right, bottom); center: (x, y, width, height).
    out_format: Format of the boxes in the result.
    """
def box_non_maximum_suppression(data: NDArray, overlap_thresh: float = ..., valid_thresh: float = ..., topk: int = ..., coord_start: int = ..., score_index: int = ..., id_index: int = ..., background_id: int = ..., force_suppress: bool = ..., in_format: Literal["center", "corner"] = ..., out_format: Literal["center", "corner"] = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Non-maximum suppression: of boxes that overlap, only the one of the highest score stays.

    overlap_thresh: A box is dropped when a better one overlaps it by more than this.
    valid_thresh: Boxes whose score is not above this are dropped.
    topk: How many of the best boxes take part, the others are dropped; negative: all; 0: the
        result is data.
    coord_start: Where the four numbers of the box begin in an entry.
    score_index: Where the score stands in an entry.
    id_index: Where the class stands in an entry; negative: there is none.
    background_id: Boxes of this class are dropped, where entries have a class.
    force_suppress: Boxes of different classes suppress each other, too.
    in_format: corner: boxes are (left, top, right, bottom); center: (x, y, width, height).
    out_format: Format of the boxes in the result.
    """
def calibrate_entropy(hist: NDArray, hist_edges: NDArray | None = ..., num_quantized_bins: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """The magnitude to quantize to, from a histogram of numbers around 0, by least information lost
    (Kullback-Leibler divergence).

    num_quantized_bins: Number of bins that the quantized histogram has, at most as many as the
        histogram has.
    """
@overload
def count_sketch(data: NDArray, h: NDArray | None = ..., s: NDArray | None = ..., *, out_dim: int, processing_batch_size: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Count sketch of rows (Charikar, Chen and Farach-Colton, 2002; Gao et al., Compact Bilinear
    Pooling, CVPR 2016).

    out_dim: Length of an output row.
    processing_batch_size: Accepted for compatibility; all rows are processed at once.
    """
@overload
def count_sketch(data: NDArray, h: NDArray | None, s: NDArray | None, out_dim: int, processing_batch_size: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def DeformableConvolution(data: NDArray, offset: NDArray | None = ..., weight: NDArray | None = ..., bias: NDArray | None = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., num_filter: int, num_group: int = ..., num_deformable_group: int = ..., workspace: int = ..., no_bias: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW"] | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Convolution whose windows have elements that are moved by offsets (Dai et al., Deformable
    Convolutional Networks, ICCV 2017).

    kernel: Window: (h, w).
    stride: Step of the window; 1 in both dimensions when not given.
    dilate: Distance between the window's elements; 1 when not given.
    pad: Zeros put on both sides; 0 when not given.
    num_filter: Number of output channels.
    num_group: Number of groups that channels and filters are divided into.
    num_deformable_group: Number of groups of channels that have offsets of their own.
    workspace: Accepted for compatibility; workspace memory is planned by need.
    no_bias: Leave the bias out.
    layout: Order of data's dimensions: NCHW.
    """
@overload
def DeformableConvolution(data: NDArray, offset: NDArray | None, weight: NDArray | None, bias: NDArray | None, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., *, num_filter: int, num_group: int = ..., num_deformable_group: int = ..., workspace: int = ..., no_bias: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW"] | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def DeformableConvolution(data: NDArray, offset: NDArray | None, weight: NDArray | None, bias: NDArray | None, kernel: int | Sequence[int], stride: int | Sequence[int], dilate: int | Sequence[int], pad: int | Sequence[int], num_filter: int, num_group: int = ..., num_deformable_group: int = ..., workspace: int = ..., no_bias: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW"] | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def DeformablePSROIPooling(data: NDArray, rois: NDArray | None = ..., trans: NDArray | None = ..., *, spatial_scale: float, output_dim: int, group_size: int, pooled_size: int, part_size: int = ..., sample_per_part: int = ..., trans_std: float = ..., no_trans: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Position-sensitive pooling whose bins are moved by offsets (Dai et al., Deformable
    Convolutional Networks, ICCV 2017).

    spatial_scale: Coordinates of rois times this are pixels of data.
    output_dim: Channels of the result.
    group_size: Groups of channels each way.
    pooled_size: Bins of a region each way.
    part_size: Offsets of a region each way; 0: as many as bins.
    sample_per_part: Points of a bin each way.
    trans_std: Offsets times this are parts of a region's size.
    no_trans: Leave the offsets out.
    """
@overload
def DeformablePSROIPooling(data: NDArray, rois: NDArray | None, trans: NDArray | None, spatial_scale: float, *, output_dim: int, group_size: int, pooled_size: int, part_size: int = ..., sample_per_part: int = ..., trans_std: float = ..., no_trans: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def DeformablePSROIPooling(data: NDArray, rois: NDArray | None, trans: NDArray | None, spatial_scale: float, output_dim: int, *, group_size: int, pooled_size: int, part_size: int = ..., sample_per_part: int = ..., trans_std: float = ..., no_trans: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def DeformablePSROIPooling(data: NDArray, rois: NDArray | None, trans: NDArray | None, spatial_scale: float, output_dim: int, group_size: int, *, pooled_size: int, part_size: int = ..., sample_per_part: int = ..., trans_std: float = ..., no_trans: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def DeformablePSROIPooling(data: NDArray, rois: NDArray | None, trans: NDArray | None, spatial_scale: float, output_dim: int, group_size: int, pooled_size: int, part_size: int = ..., sample_per_part: int = ..., trans_std: float = ..., no_trans: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
def dequantize(data: NDArray, min_range: NDArray | None = ..., max_range: NDArray | None = ..., out_type: Literal["float32"] = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """The numbers that 8-bit integers stand for: data * m / 127.5 of int8, data * m / 255.5 of
    uint8.

    out_type: Dtype of the numbers.
    """
def dgl_adjacency(data: NDArray, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """The adjacency matrix of a graph: csr, float32, 1 for each edge."""
def dgl_csr_neighbor_non_uniform_sample(*csr_matrix: NDArray | Sequence[NDArray], num_hops: int = ..., num_neighbor: int = ..., max_num_vertices: int = ..., num_args: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """As _contrib_dgl_csr_neighbor_uniform_sample, with edges drawn in proportion to the probability
    (float32, a number for each vertex) of the vertex that they lead to.

    num_hops: How many edges a vertex of the sample is away from a seed at most.
    num_neighbor: How many edges of a vertex are drawn; all where it has no more.
    max_num_vertices: Most vertices of a sample, seeds included.
    """
def dgl_csr_neighbor_uniform_sample(*csr_matrix: NDArray | Sequence[NDArray], num_hops: int = ..., num_neighbor: int = ..., max_num_vertices: int = ..., num_args: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Vertices around each array of seeds: of every vertex that is fewer than num_hops edges away,
    num_neighbor edges drawn without replacement.

    num_hops: How many edges a vertex of the sample is away from a seed at most.
    num_neighbor: How many edges of a vertex are drawn; all where it has no more.
    max_num_vertices: Most vertices of a sample, seeds included.
    """
def dgl_graph_compact(*graph_data: NDArray | Sequence[NDArray], return_mapping: bool, graph_sizes: int | Sequence[int], num_args: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Samples of graphs as graphs of their own: columns are positions among the sample's vertices,
    and empty rows behind the last vertex go.

    return_mapping: Also give matrices with the edges' data.
    graph_sizes: Number of vertices of each graph.
    """
def dgl_subgraph(*graph: NDArray | Sequence[NDArray], return_mapping: bool, num_args: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """The part of a graph that has the given vertices (ascending) and the edges between them.

    return_mapping: Also give matrices with the edges' data.
    """
def div_sqrt_dim(data: NDArray, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Divides by the square root of the last dimension's size; integers by the whole part of that
    root.
    """
def dynamic_reshape(data: NDArray, shape: NDArray | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """The elements of data in the shape that is the contents of another array; the codes 0, -1, -2,
    -3 and -4 are those of Reshape.
    """
def edge_id(data: NDArray, u: NDArray | None = ..., v: NDArray | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Elements data[u[i], v[i]] of a csr matrix, -1 where none is stored: the numbers of edges of a
    graph.
    """
def fft(data: NDArray, compute_size: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Discrete Fourier transform of the last dimension of real data (..., n); n is arbitrary.

    compute_size: Accepted for compatibility; how many rows are transformed at a time follows from
        their length.
    """
def getnnz(data: NDArray, axis: int | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """The number of elements of a matrix that are not zero, as int64: in all, by row, or by column.

    axis: 1: one number for each row of a matrix; 0: one for each column; None: one number.
    """
def gradientmultiplier(data: NDArray, scalar: float = ..., is_int: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Passes the data on; multiplies the gradient by `scalar` on the way back (gradient reversal
    with a negative number).

    scalar: The other operand.
    is_int: Whether `scalar` was given as an integer; a fraction turns integer arrays into
        float64.
    """
@overload
def group_adagrad_update(weight: NDArray, grad: NDArray | None = ..., history: NDArray | None = ..., *, lr: float, rescale_grad: float = ..., clip_gradient: float = ..., epsilon: float = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """AdaGrad (Duchi, Hazan and Singer, JMLR 2011) with one history for each row of the weight, for
    embeddings.

    lr: Learning rate.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    epsilon: Added under the square root.
    """
@overload
def group_adagrad_update(weight: NDArray, grad: NDArray | None, history: NDArray | None, lr: float, rescale_grad: float = ..., clip_gradient: float = ..., epsilon: float = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
def hawkesll(lda: NDArray, alpha: NDArray | None = ..., beta: NDArray | None = ..., state: NDArray | None = ..., lags: NDArray | None = ..., marks: NDArray | None = ..., valid_length: NDArray | None = ..., max_time: NDArray | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Log-likelihood of marked Hawkes processes with exponential kernels (Laub, Taimre and Pollett,
    Hawkes Processes, 2015).
    """
def ifft(data: NDArray, compute_size: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Real part of the inverse discrete Fourier transform of the last dimension, not divided by its
    length.

    compute_size: Accepted for compatibility; how many rows are transformed at a time follows from
        their length.
    """
def index_array(data: NDArray, axes: int | Sequence[int] | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """The indices of every element, along a new last dimension, as int64.

    axes: The dimensions whose indices are given; None gives all.
    """
def index_copy(old_tensor: NDArray, index_vector: NDArray | None = ..., new_tensor: NDArray | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """old_tensor with the rows at index_vector replaced by those of new_tensor."""
@overload
def interleaved_matmul_encdec_qk(queries: NDArray, keys_values: NDArray | None = ..., *, heads: int, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Scores of attention between two sequences: queries times keys, divided by the square root of a
    head's size.

    heads: Number of attention heads.
    """
@overload
def interleaved_matmul_encdec_qk(queries: NDArray, keys_values: NDArray | None, heads: int, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def interleaved_matmul_encdec_valatt(keys_values: NDArray, attention: NDArray | None = ..., *, heads: int, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Output of attention between two sequences: attention times values.

    heads: Number of attention heads.
    """
@overload
def interleaved_matmul_encdec_valatt(keys_values: NDArray, attention: NDArray | None, heads: int, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
def interleaved_matmul_selfatt_qk(queries_keys_values: NDArray, heads: int, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Scores of self-attention: for every sequence and head, queries times keys, divided by the
    square root of a head's size.

    heads: Number of attention heads.
    """
@overload
def interleaved_matmul_selfatt_valatt(queries_keys_values: NDArray, attention: NDArray | None = ..., *, heads: int, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Output of self-attention: for every sequence and head, attention times values.

    heads: Number of attention heads.
    """
@overload
def interleaved_matmul_selfatt_valatt(queries_keys_values: NDArray, attention: NDArray | None, heads: int, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def intgemm_fully_connected(data: NDArray, weight: NDArray | None = ..., scaling: NDArray | None = ..., bias: NDArray | None = ..., *, num_hidden: int, no_bias: bool = ..., flatten: bool = ..., out_type: Literal["float32", "int32"] = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Dense layer of 8-bit integers: output = data * weight^T * scaling + bias.

    num_hidden: Number of columns of the output.
    no_bias: There is no bias.
    flatten: All dimensions of data but the first are one.
    out_type: float32: the sums times scaling. int32: the sums; there is no scaling.
    """
@overload
def intgemm_fully_connected(data: NDArray, weight: NDArray | None, scaling: NDArray | None, bias: NDArray | None, num_hidden: int, no_bias: bool = ..., flatten: bool = ..., out_type: Literal["float32", "int32"] = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
def intgemm_maxabsolute(data: NDArray, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """The largest magnitude of all elements, of shape (1,): the maximum that intgemm_prepare_data
    and intgemm_prepare_weight take.
    """
def intgemm_prepare_data(data: NDArray, maxabs: NDArray | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """8-bit integers for intgemm_fully_connected: data * 127 / maxabs, rounded to the nearest (ties
    to even) and cut to [-127, 127].
    """
def intgemm_prepare_weight(weight: NDArray, maxabs: NDArray | None = ..., already_quantized: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """The weight of intgemm_fully_connected in 8-bit integers, as intgemm_prepare_data makes them.

    already_quantized: weight is int8, and there is no maxabs.
    """
def intgemm_take_weight(weight: NDArray, indices: NDArray | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Rows of a prepared weight, such as those of the words that a decoder may choose from."""
@overload
def ModulatedDeformableConvolution(data: NDArray, offset: NDArray | None = ..., mask: NDArray | None = ..., weight: NDArray | None = ..., bias: NDArray | None = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., num_filter: int, num_group: int = ..., num_deformable_group: int = ..., workspace: int = ..., no_bias: bool = ..., im2col_step: int = ..., layout: Literal["NCDHW", "NCHW", "NCW"] | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Deformable convolution whose samples are multiplied by a mask (Zhu et al., Deformable ConvNets
    v2, CVPR 2019).

    kernel: Window: (h, w).
    stride: Step of the window; 1 in both dimensions when not given.
    dilate: Distance between the window's elements; 1 when not given.
    pad: Zeros put on both sides; 0 when not given.
    num_filter: Number of output channels.
    num_group: Number of groups that channels and filters are divided into.
    num_deformable_group: Number of groups of channels that have offsets of their own.
    workspace: Accepted for compatibility; workspace memory is planned by need.
    no_bias: Leave the bias out.
    im2col_step: Accepted for compatibility: images are divided by what memory they need.
    layout: Order of data's dimensions: NCHW.
    """
@overload
def ModulatedDeformableConvolution(data: NDArray, offset: NDArray | None, mask: NDArray | None, weight: NDArray | None, bias: NDArray | None, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., *, num_filter: int, num_group: int = ..., num_deformable_group: int = ..., workspace: int = ..., no_bias: bool = ..., im2col_step: int = ..., layout: Literal["NCDHW", "NCHW", "NCW"] | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def ModulatedDeformableConvolution(data: NDArray, offset: NDArray | None, mask: NDArray | None, weight: NDArray | None, bias: NDArray | None, kernel: int | Sequence[int], stride: int | Sequence[int], dilate: int | Sequence[int], pad: int | Sequence[int], num_filter: int, num_group: int = ..., num_deformable_group: int = ..., workspace: int = ..., no_bias: bool = ..., im2col_step: int = ..., layout: Literal["NCDHW", "NCHW", "NCW"] | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
def MultiBoxDetection(cls_prob: NDArray, loc_pred: NDArray | None = ..., anchor: NDArray | None = ..., clip: bool = ..., threshold: float = ..., background_id: int = ..., nms_threshold: float = ..., force_suppress: bool = ..., variances: float | Sequence[float] = ..., nms_topk: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """The boxes that a single shot detector found.

    clip: Cut coordinates to [0, 1].
    threshold: Anchors whose best score is below this are dropped.
    background_id: Accepted; the background is class 0 whatever it says, as in 1.x.
    nms_threshold: A box is suppressed when a better one overlaps it by this or more; no
        suppression and no order if outside of (0, 1].
    force_suppress: Boxes of different classes suppress each other, too.
    variances: The four predictions for a box are multiplied by these.
    nms_topk: How many of the best boxes can stay; all if not above 0.
    """
def MultiBoxPrior(data: NDArray, sizes: float | Sequence[float] = ..., ratios: float | Sequence[float] = ..., clip: bool = ..., steps: float | Sequence[float] = ..., offsets: float | Sequence[float] = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Anchors of the single shot detector: boxes of several sizes and ratios around each cell of a
    map of features.

    sizes: Sizes of anchors; 1 is the height of the image.
    ratios: Ratios of width to height.
    clip: Cut coordinates to [0, 1].
    steps: Distances of centers in y and x; not above 0: 1 / height, 1 / width.
    offsets: Where centers lie in a cell, in y and x.
    """
def MultiBoxTarget(anchor: NDArray, label: NDArray | None = ..., cls_pred: NDArray | None = ..., overlap_threshold: float = ..., ignore_label: float = ..., negative_mining_ratio: float = ..., negative_mining_thresh: float = ..., minimum_negative_samples: int = ..., variances: float | Sequence[float] = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Training targets of the single shot detector: which anchor has to find which box.

    overlap_threshold: Anchors whose overlap with a box is above this are matched with it; none of
        these if not above 0.
    ignore_label: Class of anchors that do not count.
    negative_mining_ratio: Background anchors for each matched one, the hardest; not above 0: all
        that are not matched.
    negative_mining_thresh: Only anchors whose overlap with every box is below this are chosen as
        background.
    minimum_negative_samples: Accepted; 1.x does not use it on the CPU, either.
    variances: The four targets of a box are divided by these.
    """
def MultiProposal(cls_prob: NDArray, bbox_pred: NDArray | None = ..., im_info: NDArray | None = ..., rpn_pre_nms_top_n: int = ..., rpn_post_nms_top_n: int = ..., threshold: float = ..., rpn_min_size: int = ..., scales: float | Sequence[float] = ..., ratios: float | Sequence[float] = ..., feature_stride: int = ..., output_score: bool = ..., iou_loss: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Regions of interest from the predictions of a region proposal network.

    rpn_pre_nms_top_n: How many of the best boxes take part in suppression; all if not above 0.
    rpn_post_nms_top_n: How many boxes of an image there are in the result.
    threshold: A box is suppressed when a better one overlaps it by more than this.
    rpn_min_size: Boxes smaller than this times the image's scale rank last.
    scales: Sizes of anchors in cells.
    ratios: Ratios of height to width of anchors.
    feature_stride: Pixels of the image in a cell, along each side.
    output_score: Return the scores as well.
    iou_loss: bbox_pred holds differences of corners, not of centers and logarithms of sizes.
    """
def Proposal(cls_prob: NDArray, bbox_pred: NDArray | None = ..., im_info: NDArray | None = ..., rpn_pre_nms_top_n: int = ..., rpn_post_nms_top_n: int = ..., threshold: float = ..., rpn_min_size: int = ..., scales: float | Sequence[float] = ..., ratios: float | Sequence[float] = ..., feature_stride: int = ..., output_score: bool = ..., iou_loss: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Regions of interest from the predictions of a region proposal network.

    rpn_pre_nms_top_n: How many of the best boxes take part in suppression; all if not above 0.
    rpn_post_nms_top_n: How many boxes of an image there are in the result.
    threshold: A box is suppressed when a better one overlaps it by more than this.
    rpn_min_size: Boxes smaller than this times the image's scale rank last.
    scales: Sizes of anchors in cells.
    ratios: Ratios of height to width of anchors.
    feature_stride: Pixels of the image in a cell, along each side.
    output_score: Return the scores as well.
    iou_loss: bbox_pred holds differences of corners, not of centers and logarithms of sizes.
    """
@overload
def PSROIPooling(data: NDArray, rois: NDArray | None = ..., *, spatial_scale: float, output_dim: int, pooled_size: int, group_size: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Means over the bins of a region of interest, each of channels of its own (Dai et al., R-FCN,
    NIPS 2016).

    spatial_scale: Coordinates of rois times this are pixels of data.
    output_dim: Channels of the result.
    pooled_size: Bins of a region each way.
    group_size: Groups of channels each way; 0: as many as bins.
    """
@overload
def PSROIPooling(data: NDArray, rois: NDArray | None, spatial_scale: float, *, output_dim: int, pooled_size: int, group_size: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def PSROIPooling(data: NDArray, rois: NDArray | None, spatial_scale: float, output_dim: int, *, pooled_size: int, group_size: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def PSROIPooling(data: NDArray, rois: NDArray | None, spatial_scale: float, output_dim: int, pooled_size: int, group_size: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
def quadratic(data: NDArray, a: float = ..., b: float = ..., c: float = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Computes (p * x + q) * x + r for every element x.

    a: Coefficient of x * x.
    b: Coefficient of x.
    c: Constant term.
    """
def quantize(data: NDArray, min_range: NDArray | None = ..., max_range: NDArray | None = ..., out_type: Literal["int8", "uint8"] = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """8-bit integers for numbers of a given range.

    out_type: Dtype of the integers.
    """
def quantize_asym(data: NDArray, min_calib_range: float | None = ..., max_calib_range: float | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """uint8 integers for numbers from a least to a greatest one: data * scale + shift.

    min_calib_range: Least number seen in calibration; without both, those of data are found.
    max_calib_range: Greatest number seen in calibration; without both, those of data are found.
    """
def quantize_v2(data: NDArray, out_type: Literal["auto", "int8", "uint8"] = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """8-bit integers for numbers, whose range is given or found.

    out_type: Dtype of the integers; auto: uint8 where min_calib_range is 0 or more, else int8.
    min_calib_range: Least number seen in calibration; without both, those of data are found.
    max_calib_range: Greatest number seen in calibration; without both, those of data are found.
    """
@overload
def quantized_act(data: NDArray, min_data: NDArray | None = ..., max_data: NDArray | None = ..., *, act_type: Literal["log_sigmoid", "mish", "relu", "sigmoid", "softrelu", "softsign", "tanh"], out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Activation of 8-bit integers: relu, the larger of data and 0.

    act_type: The function.
    """
@overload
def quantized_act(data: NDArray, min_data: NDArray | None, max_data: NDArray | None, act_type: Literal["log_sigmoid", "mish", "relu", "sigmoid", "softrelu", "softsign", "tanh"], out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
def quantized_batch_norm(data: NDArray, gamma: NDArray | None = ..., beta: NDArray | None = ..., moving_mean: NDArray | None = ..., moving_var: NDArray | None = ..., min_data: NDArray | None = ..., max_data: NDArray | None = ..., eps: float = ..., momentum: float = ..., fix_gamma: bool = ..., use_global_stats: bool = ..., output_mean_var: bool = ..., axis: int = ..., cudnn_off: bool = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """BatchNorm of 8-bit integers by moving averages: (x - moving_mean) / sqrt(moving_var + eps) *
    gamma + beta as int8.

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
def quantized_concat(*data: NDArray | Sequence[NDArray], dim: int = ..., num_args: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Concat of 8-bit integers: puts arrays together along one dimension, in the range that holds
    all of theirs.

    dim: The dimension along which inputs are put together; negative counts from the end.
    """
@overload
def quantized_conv(data: NDArray, weight: NDArray | None = ..., bias: NDArray | None = ..., min_data: NDArray | None = ..., max_data: NDArray | None = ..., min_weight: NDArray | None = ..., max_weight: NDArray | None = ..., min_bias: NDArray | None = ..., max_bias: NDArray | None = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., num_filter: int, num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = ..., cudnn_off: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Convolution of 8-bit integers in one, two or three dimensions: sums of 32 bits, and their
    range.

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
def quantized_conv(data: NDArray, weight: NDArray | None, bias: NDArray | None, min_data: NDArray | None, max_data: NDArray | None, min_weight: NDArray | None, max_weight: NDArray | None, min_bias: NDArray | None, max_bias: NDArray | None, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., *, num_filter: int, num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = ..., cudnn_off: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def quantized_conv(data: NDArray, weight: NDArray | None, bias: NDArray | None, min_data: NDArray | None, max_data: NDArray | None, min_weight: NDArray | None, max_weight: NDArray | None, min_bias: NDArray | None, max_bias: NDArray | None, kernel: int | Sequence[int], stride: int | Sequence[int], dilate: int | Sequence[int], pad: int | Sequence[int], num_filter: int, num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = ..., cudnn_off: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
def quantized_elemwise_add(lhs: NDArray, rhs: NDArray | None = ..., lhs_min: NDArray | None = ..., lhs_max: NDArray | None = ..., rhs_min: NDArray | None = ..., rhs_max: NDArray | None = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Sum of two arrays of 8-bit integers.

    min_calib_range: Least output seen in calibration. With it and max_calib_range the output is
        of 8 bits, else of 32.
    max_calib_range: Greatest output seen in calibration.
    """
def quantized_elemwise_mul(lhs: NDArray, rhs: NDArray | None = ..., lhs_min: NDArray | None = ..., lhs_max: NDArray | None = ..., rhs_min: NDArray | None = ..., rhs_max: NDArray | None = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., enable_float_output: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Product of two arrays of 8-bit integers, element by element.

    min_calib_range: Least output seen in calibration. With it and max_calib_range the output is
        of 8 bits, else of 32.
    max_calib_range: Greatest output seen in calibration.
    enable_float_output: Give the products as float32 instead, without a range.
    """
@overload
def quantized_embedding(data: NDArray, weight: NDArray | None = ..., min_weight: NDArray | None = ..., max_weight: NDArray | None = ..., *, input_dim: int, output_dim: int, dtype: object = ..., sparse_grad: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Rows of an int8 weight (input_dim, output_dim) chosen by the integers in data; the output has
    data's shape followed by output_dim.

    input_dim: Number of rows of the weight.
    output_dim: Length of a row.
    dtype: Dtype of the weight when nothing else says it.
    sparse_grad: Gradient of the weight as row_sparse.
    """
@overload
def quantized_embedding(data: NDArray, weight: NDArray | None, min_weight: NDArray | None, max_weight: NDArray | None, input_dim: int, *, output_dim: int, dtype: object = ..., sparse_grad: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def quantized_embedding(data: NDArray, weight: NDArray | None, min_weight: NDArray | None, max_weight: NDArray | None, input_dim: int, output_dim: int, dtype: object = ..., sparse_grad: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
def quantized_flatten(data: NDArray, min_data: NDArray | None = ..., max_data: NDArray | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Flatten of 8-bit integers: a matrix with one row per entry of the first dimension."""
@overload
def quantized_fully_connected(data: NDArray, weight: NDArray | None = ..., bias: NDArray | None = ..., min_data: NDArray | None = ..., max_data: NDArray | None = ..., min_weight: NDArray | None = ..., max_weight: NDArray | None = ..., min_bias: NDArray | None = ..., max_bias: NDArray | None = ..., *, num_hidden: int, no_bias: bool = ..., flatten: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Dense layer of 8-bit integers: data * weight^T + bias in sums of 32 bits, and their range.

    num_hidden: Number of output features.
    no_bias: Leave the bias out.
    flatten: Treat all dimensions of data behind the first as one; otherwise only the last is
        transformed.
    """
@overload
def quantized_fully_connected(data: NDArray, weight: NDArray | None, bias: NDArray | None, min_data: NDArray | None, max_data: NDArray | None, min_weight: NDArray | None, max_weight: NDArray | None, min_bias: NDArray | None, max_bias: NDArray | None, num_hidden: int, no_bias: bool = ..., flatten: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
def quantized_pooling(data: NDArray, min_data: NDArray | None = ..., max_data: NDArray | None = ..., kernel: int | Sequence[int] = ..., pool_type: Literal["avg", "lp", "max", "sum"] = ..., global_pool: bool = ..., cudnn_off: bool = ..., pooling_convention: Literal["full", "same", "valid"] = ..., stride: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., p_value: int | None = ..., count_include_pad: bool | None = ..., layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC"] | None = ..., output_size: int | Sequence[int] | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Pooling of 8-bit integers: the maximum or the average of windows in one, two or three
    dimensions.

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
    output_size: Accepted for compatibility: None.
    """
def quantized_reshape(data: NDArray, min_data: NDArray | None = ..., max_data: NDArray | None = ..., shape: int | Sequence[int] = ..., reverse: bool = ..., target_shape: int | Sequence[int] = ..., keep_highest: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Reshape of 8-bit integers.

    shape: Sizes > 0, or codes: 0 copies this dimension, -1 is inferred, -2 copies all remaining
        dimensions, -3 merges two, -4 splits one into the next two sizes.
    reverse: Resolve the codes from the last dimension to the first.
    target_shape: Older form of `shape`, used without it: one size may be 0 and is inferred.
    keep_highest: With `target_shape`: keep the first dimension of the input.
    """
@overload
def quantized_rnn(data: NDArray, parameters: NDArray | None = ..., state: NDArray | None = ..., state_cell: NDArray | None = ..., data_scale: NDArray | None = ..., data_shift: NDArray | None = ..., *, state_size: int, num_layers: int, bidirectional: bool = ..., mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"], p: float = ..., state_outputs: bool = ..., projection_size: int | None = ..., lstm_state_clip_min: float | None = ..., lstm_state_clip_max: float | None = ..., lstm_state_clip_nan: bool = ..., use_sequence_length: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Stacked LSTM layers over whole sequences of quantized data: RNN of (data - data_shift) /
    data_scale.

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
def quantized_rnn(data: NDArray, parameters: NDArray | None, state: NDArray | None, state_cell: NDArray | None, data_scale: NDArray | None, data_shift: NDArray | None, state_size: int, *, num_layers: int, bidirectional: bool = ..., mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"], p: float = ..., state_outputs: bool = ..., projection_size: int | None = ..., lstm_state_clip_min: float | None = ..., lstm_state_clip_max: float | None = ..., lstm_state_clip_nan: bool = ..., use_sequence_length: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def quantized_rnn(data: NDArray, parameters: NDArray | None, state: NDArray | None, state_cell: NDArray | None, data_scale: NDArray | None, data_shift: NDArray | None, state_size: int, num_layers: int, bidirectional: bool = ..., *, mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"], p: float = ..., state_outputs: bool = ..., projection_size: int | None = ..., lstm_state_clip_min: float | None = ..., lstm_state_clip_max: float | None = ..., lstm_state_clip_nan: bool = ..., use_sequence_length: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def quantized_rnn(data: NDArray, parameters: NDArray | None, state: NDArray | None, state_cell: NDArray | None, data_scale: NDArray | None, data_shift: NDArray | None, state_size: int, num_layers: int, bidirectional: bool, mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"], p: float = ..., state_outputs: bool = ..., projection_size: int | None = ..., lstm_state_clip_min: float | None = ..., lstm_state_clip_max: float | None = ..., lstm_state_clip_nan: bool = ..., use_sequence_length: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
def quantized_transpose(data: NDArray, min_data: NDArray | None = ..., max_data: NDArray | None = ..., axes: int | Sequence[int] = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """transpose of 8-bit integers.

    axes: Dimension i of the result is dimension axes[i] of the input; without it, the order is
        reversed.
    """
def requantize(data: NDArray, min_range: NDArray | None = ..., max_range: NDArray | None = ..., out_type: Literal["auto", "int8", "uint8"] = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """8-bit integers for 32-bit sums, such as quantized_conv and quantized_fully_connected give.

    out_type: Dtype of the 8-bit integers; auto: uint8 where min_calib_range is 0 or more, else
        int8.
    min_calib_range: Least number seen in calibration; without both, the largest magnitude of data
        counts.
    max_calib_range: Greatest number seen in calibration; without both, the largest magnitude of
        data counts.
    """
@overload
def ROIAlign(data: NDArray, rois: NDArray | None = ..., *, pooled_size: int | Sequence[int], spatial_scale: float, sample_ratio: int = ..., position_sensitive: bool = ..., aligned: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """The mean of bilinear interpolations at points of each bin of a region of interest (He et al.,
    Mask R-CNN, ICCV 2017).

    pooled_size: Bins of a region: (height, width).
    spatial_scale: Coordinates of rois times this are pixels of data.
    sample_ratio: Points of a bin each way; 0 or less: as many as it is pixels high and wide,
        rounded up.
    position_sensitive: Each bin has channels of its own: bin (i, j) of result c reads channel (c
        * height + i) * width + j.
    aligned: Moves regions by half a pixel, so that pixels are where their centres are, and lets
        them be smaller than a pixel.
    """
@overload
def ROIAlign(data: NDArray, rois: NDArray | None, pooled_size: int | Sequence[int], *, spatial_scale: float, sample_ratio: int = ..., position_sensitive: bool = ..., aligned: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def ROIAlign(data: NDArray, rois: NDArray | None, pooled_size: int | Sequence[int], spatial_scale: float, sample_ratio: int = ..., position_sensitive: bool = ..., aligned: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
def round_ste(data: NDArray, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Computes round(x) for every element x."""
@overload
def RROIAlign(data: NDArray, rois: NDArray | None = ..., *, pooled_size: int | Sequence[int], spatial_scale: float, sampling_ratio: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """ROIAlign of rotated regions of interest (Ma et al., IEEE Transactions on Multimedia 20, 2018).

    pooled_size: Bins of a region: (height, width).
    spatial_scale: Coordinates of rois times this are pixels of data.
    sampling_ratio: Points of a bin each way; 0 or less: as many as it is pixels high and wide,
        rounded up.
    """
@overload
def RROIAlign(data: NDArray, rois: NDArray | None, pooled_size: int | Sequence[int], *, spatial_scale: float, sampling_ratio: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def RROIAlign(data: NDArray, rois: NDArray | None, pooled_size: int | Sequence[int], spatial_scale: float, sampling_ratio: int = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
def sign_ste(data: NDArray, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Computes sign(x) for every element x."""
@overload
def sldwin_atten_context(score: NDArray, value: NDArray | None = ..., dilation: NDArray | None = ..., *, w: int, symmetric: bool, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Results of attention within a sliding window: each step's weights times the values of its
    neighbours (see sldwin_atten_score).

    w: How many neighbours on one side.
    symmetric: Whether the window has as many behind the step; else it ends with the step itself.
    """
@overload
def sldwin_atten_context(score: NDArray, value: NDArray | None, dilation: NDArray | None, w: int, *, symmetric: bool, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def sldwin_atten_context(score: NDArray, value: NDArray | None, dilation: NDArray | None, w: int, symmetric: bool, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def sldwin_atten_mask_like(score: NDArray, dilation: NDArray | None = ..., valid_length: NDArray | None = ..., *, w: int, symmetric: bool, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """1 where a step and its neighbour are both within the sequence, else 0 (see
    sldwin_atten_score).

    w: How many neighbours on one side.
    symmetric: Whether the window has as many behind the step; else it ends with the step itself.
    """
@overload
def sldwin_atten_mask_like(score: NDArray, dilation: NDArray | None, valid_length: NDArray | None, w: int, *, symmetric: bool, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def sldwin_atten_mask_like(score: NDArray, dilation: NDArray | None, valid_length: NDArray | None, w: int, symmetric: bool, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def sldwin_atten_score(query: NDArray, key: NDArray | None = ..., dilation: NDArray | None = ..., *, w: int, symmetric: bool, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Scores of attention within a sliding window (Beltagy, Peters and Cohan, Longformer, 2020):
    each step's query times the keys of its neighbours.

    w: How many neighbours on one side.
    symmetric: Whether the window has as many behind the step; else it ends with the step itself.
    """
@overload
def sldwin_atten_score(query: NDArray, key: NDArray | None, dilation: NDArray | None, w: int, *, symmetric: bool, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def sldwin_atten_score(query: NDArray, key: NDArray | None, dilation: NDArray | None, w: int, symmetric: bool, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def SparseEmbedding(data: NDArray, weight: NDArray | None = ..., *, input_dim: int, output_dim: int, dtype: object = ..., sparse_grad: bool = ..., deterministic: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """Embedding whose weight has a row_sparse gradient: the rows that data names.

    input_dim: Number of rows of the weight.
    output_dim: Length of a row.
    dtype: Dtype of the weight when nothing else says it.
    sparse_grad: Gradient of the weight as row_sparse.
    deterministic: Accepted and without effect: sums have a fixed order.
    """
@overload
def SparseEmbedding(data: NDArray, weight: NDArray | None, input_dim: int, *, output_dim: int, dtype: object = ..., sparse_grad: bool = ..., deterministic: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def SparseEmbedding(data: NDArray, weight: NDArray | None, input_dim: int, output_dim: int, dtype: object = ..., sparse_grad: bool = ..., deterministic: bool = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def SyncBatchNorm(data: NDArray, gamma: NDArray | None = ..., beta: NDArray | None = ..., moving_mean: NDArray | None = ..., moving_var: NDArray | None = ..., eps: float = ..., momentum: float = ..., fix_gamma: bool = ..., use_global_stats: bool = ..., output_mean_var: bool = ..., ndev: int = ..., *, key: str, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """BatchNorm (Ioffe and Szegedy, ICML 2015) whose batch is that of several devices of this
    process (Zhang et al., Context Encoding, CVPR 2018).

    eps: Added to the variance.
    momentum: Part of the old value that a moving average keeps.
    fix_gamma: Take gamma as 1, with gradient 0.
    use_global_stats: Use the moving averages in training too.
    output_mean_var: Also return the mean and the variance.
    ndev: Number of devices whose calls belong together.
    key: Name of the layer: calls with the same key belong together.
    """
@overload
def SyncBatchNorm(data: NDArray, gamma: NDArray | None, beta: NDArray | None, moving_mean: NDArray | None, moving_var: NDArray | None, eps: float, momentum: float, fix_gamma: bool, use_global_stats: bool, output_mean_var: bool, ndev: int, key: str, out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
@overload
def tree_ensemble(data: NDArray, nodes: NDArray | None = ..., values: NDArray | None = ..., roots: NDArray | None = ..., weights: NDArray | None = ..., *, depth: int, comparison: int = ..., aggregate: Literal["max", "min", "sum"] = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray:
    """The scores (examples, targets) that decision trees give to data (examples, features).

    depth: The most steps from a root to a leaf.
    comparison: What all nodes ask: 0 data <= value, 1 <, 2 >=, 3 >, 4 ==, 5 !=. -1: each node
        says it.
    aggregate: How the weights of all trees become one score.
    """
@overload
def tree_ensemble(data: NDArray, nodes: NDArray | None, values: NDArray | None, roots: NDArray | None, weights: NDArray | None, depth: int, comparison: int = ..., aggregate: Literal["max", "min", "sum"] = ..., out: NDArray | Sequence[NDArray] | None = ..., name: str | None = ...) -> NDArray: ...
