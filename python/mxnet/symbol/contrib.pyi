# Generated from the operator records by `./dev docs`; do not edit.
from collections.abc import Sequence
from typing import Any, Literal, overload

from .symbol import Symbol
def adamw_update(weight: Any, grad: Any, mean: Any, var: Any, rescale_grad: Any, lr: Any, eta: Any, beta1: Any = ..., beta2: Any = ..., epsilon: Any = ..., wd: Any = ..., clip_gradient: Any = ..., out: Any = ..., name: Any = ..., **kwargs: Any) -> Any: ...
def cond(pred: Any, then_func: Any, else_func: Any, name: Any = ...) -> Any: ...
def foreach(body: Any, data: Any, init_states: Any, name: Any = ...) -> Any: ...
def mp_adamw_update(weight: Any, grad: Any, mean: Any, var: Any, weight32: Any, rescale_grad: Any, lr: Any, eta: Any, beta1: Any = ..., beta2: Any = ..., epsilon: Any = ..., wd: Any = ..., clip_gradient: Any = ..., out: Any = ..., name: Any = ..., **kwargs: Any) -> Any: ...
def rand_zipfian(true_classes: Any, num_sampled: Any, range_max: Any) -> Any: ...
def while_loop(cond: Any, func: Any, loop_vars: Any, max_iterations: Any = ..., name: Any = ...) -> Any: ...
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
def AdaptiveAvgPooling2D(data: Symbol | None = ..., output_size: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Averages of an image over output_size windows: row i covers rows floor(i H / h) to ceil((i +
    1) H / h) - 1, columns alike.

    output_size: (height, width) of the output, or one number for both; 1 when not given.
    """
def allclose(a: Symbol | None = ..., b: Symbol | None = ..., rtol: float = ..., atol: float = ..., equal_nan: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Whether |a - b| <= atol + rtol |b| for all elements of two arrays of one shape and dtype: 1 or
    0, of dtype uint8 and without dimensions.

    rtol: Tolerance relative to b.
    atol: Absolute tolerance.
    equal_nan: Whether NaN agrees with NaN.
    """
def arange_like(data: Symbol | None = ..., start: float = ..., step: float = ..., repeat: int = ..., ctx: str = ..., axis: int | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """A range as long as an array, or as one of its dimensions.

    start: First value.
    step: Distance between values.
    repeat: How often each value stands in the result.
    ctx: Device of the result; read by eager calls only.
    axis: Make a vector as long as this dimension; None makes an array of data's shape.
    """
def backward_gradientmultiplier(data: Symbol | None = ..., scalar: float = ..., is_int: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes x * scalar for every element x.

    scalar: The other operand.
    is_int: Whether `scalar` was given as an integer; a fraction turns integer arrays into
        float64.
    """
def backward_hawkesll(ograd: Symbol | None = ..., lda: Symbol | None = ..., alpha: Symbol | None = ..., beta: Symbol | None = ..., state: Symbol | None = ..., lags: Symbol | None = ..., marks: Symbol | None = ..., valid_length: Symbol | None = ..., max_time: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Gradients of the likelihood of _contrib_hawkesll with respect to lda, alpha and beta."""
def backward_index_copy(ograd: Symbol | None = ..., old_tensor: Symbol | None = ..., index_vector: Symbol | None = ..., new_tensor: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Gradients of _contrib_index_copy: of old_tensor, index_vector (zeros) and new_tensor."""
def BatchNormWithReLU(data: Symbol | None = ..., gamma: Symbol | None = ..., beta: Symbol | None = ..., moving_mean: Symbol | None = ..., moving_var: Symbol | None = ..., eps: float = ..., momentum: float = ..., fix_gamma: bool = ..., use_global_stats: bool = ..., output_mean_var: bool = ..., axis: int = ..., cudnn_off: bool = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def BilinearResize2D(data: Symbol | None = ..., like: Symbol | None = ..., height: int = ..., width: int = ..., scale_height: float | None = ..., scale_width: float | None = ..., mode: Literal["like", "odd_scale", "size", "to_even_down", "to_even_up", "to_odd_down", "to_odd_up"] = ..., align_corners: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def bipartite_matching(data: Symbol | None = ..., is_ascend: bool = ..., *, threshold: float, topk: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Matches rows with columns of a matrix of scores, the pair of the best score first, each row
    and each column at most once.

    is_ascend: Smallest scores first.
    threshold: A pair matches only if its score is above this; with is_ascend, below.
    topk: topk + 1 pairs are matched at most, as in 1.x; 0 or less: no limit.
    """
@overload
def bipartite_matching(data: Symbol | None, is_ascend: bool, threshold: float, topk: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def boolean_mask(data: Symbol | None = ..., index: Symbol | None = ..., axis: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The entries of one dimension where index is not zero.

    axis: The dimension whose entries are chosen.
    """
def box_decode(data: Symbol | None = ..., anchors: Symbol | None = ..., std0: float = ..., std1: float = ..., std2: float = ..., std3: float = ..., clip: float = ..., format: Literal["center", "corner"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Boxes from what a network predicts for its anchors; the inverse of box_encode.

    std0: Factor of the offset in x.
    std1: Factor of the offset in y.
    std2: Factor of the logarithm of the width.
    std3: Factor of the logarithm of the height.
    clip: Upper limit of the logarithms; none if not above 0.
    format: Format of anchors: (left, top, right, bottom) or (x, y, width, height).
    """
def box_encode(samples: Symbol | None = ..., matches: Symbol | None = ..., anchors: Symbol | None = ..., refs: Symbol | None = ..., means: Symbol | None = ..., stds: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """What a network has to predict so that its anchors become the boxes that they are matched with."""
def box_iou(lhs: Symbol | None = ..., rhs: Symbol | None = ..., format: Literal["center", "corner"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Overlaps of all pairs of a box of lhs and a box of rhs: the area of the intersection over that
    of the union.

    format: corner: boxes are (left, top, right, bottom); center: (x, y, width, height).
    """
def box_nms(data: Symbol | None = ..., overlap_thresh: float = ..., valid_thresh: float = ..., topk: int = ..., coord_start: int = ..., score_index: int = ..., id_index: int = ..., background_id: int = ..., force_suppress: bool = ..., in_format: Literal["center", "corner"] = ..., out_format: Literal["center", "corner"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def box_non_maximum_suppression(data: Symbol | None = ..., overlap_thresh: float = ..., valid_thresh: float = ..., topk: int = ..., coord_start: int = ..., score_index: int = ..., id_index: int = ..., background_id: int = ..., force_suppress: bool = ..., in_format: Literal["center", "corner"] = ..., out_format: Literal["center", "corner"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def calibrate_entropy(hist: Symbol | None = ..., hist_edges: Symbol | None = ..., num_quantized_bins: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The magnitude to quantize to, from a histogram of numbers around 0, by least information lost
    (Kullback-Leibler divergence).

    num_quantized_bins: Number of bins that the quantized histogram has, at most as many as the
        histogram has.
    """
@overload
def count_sketch(data: Symbol | None = ..., h: Symbol | None = ..., s: Symbol | None = ..., *, out_dim: int, processing_batch_size: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Count sketch of rows (Charikar, Chen and Farach-Colton, 2002; Gao et al., Compact Bilinear
    Pooling, CVPR 2016).

    out_dim: Length of an output row.
    processing_batch_size: Accepted for compatibility; all rows are processed at once.
    """
@overload
def count_sketch(data: Symbol | None, h: Symbol | None, s: Symbol | None, out_dim: int, processing_batch_size: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def DeformableConvolution(data: Symbol | None = ..., offset: Symbol | None = ..., weight: Symbol | None = ..., bias: Symbol | None = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., num_filter: int, num_group: int = ..., num_deformable_group: int = ..., workspace: int = ..., no_bias: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def DeformableConvolution(data: Symbol | None, offset: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., *, num_filter: int, num_group: int = ..., num_deformable_group: int = ..., workspace: int = ..., no_bias: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def DeformableConvolution(data: Symbol | None, offset: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: int | Sequence[int], stride: int | Sequence[int], dilate: int | Sequence[int], pad: int | Sequence[int], num_filter: int, num_group: int = ..., num_deformable_group: int = ..., workspace: int = ..., no_bias: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def DeformablePSROIPooling(data: Symbol | None = ..., rois: Symbol | None = ..., trans: Symbol | None = ..., *, spatial_scale: float, output_dim: int, group_size: int, pooled_size: int, part_size: int = ..., sample_per_part: int = ..., trans_std: float = ..., no_trans: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def DeformablePSROIPooling(data: Symbol | None, rois: Symbol | None, trans: Symbol | None, spatial_scale: float, *, output_dim: int, group_size: int, pooled_size: int, part_size: int = ..., sample_per_part: int = ..., trans_std: float = ..., no_trans: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def DeformablePSROIPooling(data: Symbol | None, rois: Symbol | None, trans: Symbol | None, spatial_scale: float, output_dim: int, *, group_size: int, pooled_size: int, part_size: int = ..., sample_per_part: int = ..., trans_std: float = ..., no_trans: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def DeformablePSROIPooling(data: Symbol | None, rois: Symbol | None, trans: Symbol | None, spatial_scale: float, output_dim: int, group_size: int, *, pooled_size: int, part_size: int = ..., sample_per_part: int = ..., trans_std: float = ..., no_trans: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def DeformablePSROIPooling(data: Symbol | None, rois: Symbol | None, trans: Symbol | None, spatial_scale: float, output_dim: int, group_size: int, pooled_size: int, part_size: int = ..., sample_per_part: int = ..., trans_std: float = ..., no_trans: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def dequantize(data: Symbol | None = ..., min_range: Symbol | None = ..., max_range: Symbol | None = ..., out_type: Literal["float32"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The numbers that 8-bit integers stand for: data * m / 127.5 of int8, data * m / 255.5 of
    uint8.

    out_type: Dtype of the numbers.
    """
def dgl_adjacency(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The adjacency matrix of a graph: csr, float32, 1 for each edge."""
def dgl_csr_neighbor_non_uniform_sample(*csr_matrix: Symbol | Sequence[Symbol], num_hops: int = ..., num_neighbor: int = ..., max_num_vertices: int = ..., num_args: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """As _contrib_dgl_csr_neighbor_uniform_sample, with edges drawn in proportion to the probability
    (float32, a number for each vertex) of the vertex that they lead to.

    num_hops: How many edges a vertex of the sample is away from a seed at most.
    num_neighbor: How many edges of a vertex are drawn; all where it has no more.
    max_num_vertices: Most vertices of a sample, seeds included.
    """
def dgl_csr_neighbor_uniform_sample(*csr_matrix: Symbol | Sequence[Symbol], num_hops: int = ..., num_neighbor: int = ..., max_num_vertices: int = ..., num_args: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Vertices around each array of seeds: of every vertex that is fewer than num_hops edges away,
    num_neighbor edges drawn without replacement.

    num_hops: How many edges a vertex of the sample is away from a seed at most.
    num_neighbor: How many edges of a vertex are drawn; all where it has no more.
    max_num_vertices: Most vertices of a sample, seeds included.
    """
def dgl_graph_compact(*graph_data: Symbol | Sequence[Symbol], return_mapping: bool, graph_sizes: int | Sequence[int], num_args: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Samples of graphs as graphs of their own: columns are positions among the sample's vertices,
    and empty rows behind the last vertex go.

    return_mapping: Also give matrices with the edges' data.
    graph_sizes: Number of vertices of each graph.
    """
def dgl_subgraph(*graph: Symbol | Sequence[Symbol], return_mapping: bool, num_args: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The part of a graph that has the given vertices (ascending) and the edges between them.

    return_mapping: Also give matrices with the edges' data.
    """
def div_sqrt_dim(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Divides by the square root of the last dimension's size; integers by the whole part of that
    root.
    """
def dynamic_reshape(data: Symbol | None = ..., shape: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The elements of data in the shape that is the contents of another array; the codes 0, -1, -2,
    -3 and -4 are those of Reshape.
    """
def edge_id(data: Symbol | None = ..., u: Symbol | None = ..., v: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Elements data[u[i], v[i]] of a csr matrix, -1 where none is stored: the numbers of edges of a
    graph.
    """
def fft(data: Symbol | None = ..., compute_size: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Discrete Fourier transform of the last dimension of real data (..., n); n is arbitrary.

    compute_size: Accepted for compatibility; how many rows are transformed at a time follows from
        their length.
    """
def getnnz(data: Symbol | None = ..., axis: int | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The number of elements of a matrix that are not zero, as int64: in all, by row, or by column.

    axis: 1: one number for each row of a matrix; 0: one for each column; None: one number.
    """
def gradientmultiplier(data: Symbol | None = ..., scalar: float = ..., is_int: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Passes the data on; multiplies the gradient by `scalar` on the way back (gradient reversal
    with a negative number).

    scalar: The other operand.
    is_int: Whether `scalar` was given as an integer; a fraction turns integer arrays into
        float64.
    """
@overload
def group_adagrad_update(weight: Symbol | None = ..., grad: Symbol | None = ..., history: Symbol | None = ..., *, lr: float, rescale_grad: float = ..., clip_gradient: float = ..., epsilon: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """AdaGrad (Duchi, Hazan and Singer, JMLR 2011) with one history for each row of the weight, for
    embeddings.

    lr: Learning rate.
    rescale_grad: The gradient is multiplied by this first.
    clip_gradient: The rescaled gradient is cut to [-clip_gradient, clip_gradient]; negative: it
        is not.
    epsilon: Added under the square root.
    """
@overload
def group_adagrad_update(weight: Symbol | None, grad: Symbol | None, history: Symbol | None, lr: float, rescale_grad: float = ..., clip_gradient: float = ..., epsilon: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def hawkesll(lda: Symbol | None = ..., alpha: Symbol | None = ..., beta: Symbol | None = ..., state: Symbol | None = ..., lags: Symbol | None = ..., marks: Symbol | None = ..., valid_length: Symbol | None = ..., max_time: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Log-likelihood of marked Hawkes processes with exponential kernels (Laub, Taimre and Pollett,
    Hawkes Processes, 2015).
    """
def ifft(data: Symbol | None = ..., compute_size: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Real part of the inverse discrete Fourier transform of the last dimension, not divided by its
    length.

    compute_size: Accepted for compatibility; how many rows are transformed at a time follows from
        their length.
    """
def index_array(data: Symbol | None = ..., axes: int | Sequence[int] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The indices of every element, along a new last dimension, as int64.

    axes: The dimensions whose indices are given; None gives all.
    """
def index_copy(old_tensor: Symbol | None = ..., index_vector: Symbol | None = ..., new_tensor: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """old_tensor with the rows at index_vector replaced by those of new_tensor."""
@overload
def interleaved_matmul_encdec_qk(queries: Symbol | None = ..., keys_values: Symbol | None = ..., *, heads: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Scores of attention between two sequences: queries times keys, divided by the square root of a
    head's size.

    heads: Number of attention heads.
    """
@overload
def interleaved_matmul_encdec_qk(queries: Symbol | None, keys_values: Symbol | None, heads: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def interleaved_matmul_encdec_valatt(keys_values: Symbol | None = ..., attention: Symbol | None = ..., *, heads: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Output of attention between two sequences: attention times values.

    heads: Number of attention heads.
    """
@overload
def interleaved_matmul_encdec_valatt(keys_values: Symbol | None, attention: Symbol | None, heads: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def interleaved_matmul_selfatt_qk(queries_keys_values: Symbol | None = ..., *, heads: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Scores of self-attention: for every sequence and head, queries times keys, divided by the
    square root of a head's size.

    heads: Number of attention heads.
    """
@overload
def interleaved_matmul_selfatt_qk(queries_keys_values: Symbol | None, heads: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def interleaved_matmul_selfatt_valatt(queries_keys_values: Symbol | None = ..., attention: Symbol | None = ..., *, heads: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Output of self-attention: for every sequence and head, attention times values.

    heads: Number of attention heads.
    """
@overload
def interleaved_matmul_selfatt_valatt(queries_keys_values: Symbol | None, attention: Symbol | None, heads: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def intgemm_fully_connected(data: Symbol | None = ..., weight: Symbol | None = ..., scaling: Symbol | None = ..., bias: Symbol | None = ..., *, num_hidden: int, no_bias: bool = ..., flatten: bool = ..., out_type: Literal["float32", "int32"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Dense layer of 8-bit integers: output = data * weight^T * scaling + bias.

    num_hidden: Number of columns of the output.
    no_bias: There is no bias.
    flatten: All dimensions of data but the first are one.
    out_type: float32: the sums times scaling. int32: the sums; there is no scaling.
    """
@overload
def intgemm_fully_connected(data: Symbol | None, weight: Symbol | None, scaling: Symbol | None, bias: Symbol | None, num_hidden: int, no_bias: bool = ..., flatten: bool = ..., out_type: Literal["float32", "int32"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def intgemm_maxabsolute(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The largest magnitude of all elements, of shape (1,): the maximum that intgemm_prepare_data
    and intgemm_prepare_weight take.
    """
def intgemm_prepare_data(data: Symbol | None = ..., maxabs: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """8-bit integers for intgemm_fully_connected: data * 127 / maxabs, rounded to the nearest (ties
    to even) and cut to [-127, 127].
    """
def intgemm_prepare_weight(weight: Symbol | None = ..., maxabs: Symbol | None = ..., already_quantized: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The weight of intgemm_fully_connected in 8-bit integers, as intgemm_prepare_data makes them.

    already_quantized: weight is int8, and there is no maxabs.
    """
def intgemm_take_weight(weight: Symbol | None = ..., indices: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Rows of a prepared weight, such as those of the words that a decoder may choose from."""
@overload
def ModulatedDeformableConvolution(data: Symbol | None = ..., offset: Symbol | None = ..., mask: Symbol | None = ..., weight: Symbol | None = ..., bias: Symbol | None = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., num_filter: int, num_group: int = ..., num_deformable_group: int = ..., workspace: int = ..., no_bias: bool = ..., im2col_step: int = ..., layout: Literal["NCDHW", "NCHW", "NCW"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def ModulatedDeformableConvolution(data: Symbol | None, offset: Symbol | None, mask: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., *, num_filter: int, num_group: int = ..., num_deformable_group: int = ..., workspace: int = ..., no_bias: bool = ..., im2col_step: int = ..., layout: Literal["NCDHW", "NCHW", "NCW"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def ModulatedDeformableConvolution(data: Symbol | None, offset: Symbol | None, mask: Symbol | None, weight: Symbol | None, bias: Symbol | None, kernel: int | Sequence[int], stride: int | Sequence[int], dilate: int | Sequence[int], pad: int | Sequence[int], num_filter: int, num_group: int = ..., num_deformable_group: int = ..., workspace: int = ..., no_bias: bool = ..., im2col_step: int = ..., layout: Literal["NCDHW", "NCHW", "NCW"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def MultiBoxDetection(cls_prob: Symbol | None = ..., loc_pred: Symbol | None = ..., anchor: Symbol | None = ..., clip: bool = ..., threshold: float = ..., background_id: int = ..., nms_threshold: float = ..., force_suppress: bool = ..., variances: float | Sequence[float] = ..., nms_topk: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def MultiBoxPrior(data: Symbol | None = ..., sizes: float | Sequence[float] = ..., ratios: float | Sequence[float] = ..., clip: bool = ..., steps: float | Sequence[float] = ..., offsets: float | Sequence[float] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Anchors of the single shot detector: boxes of several sizes and ratios around each cell of a
    map of features.

    sizes: Sizes of anchors; 1 is the height of the image.
    ratios: Ratios of width to height.
    clip: Cut coordinates to [0, 1].
    steps: Distances of centers in y and x; not above 0: 1 / height, 1 / width.
    offsets: Where centers lie in a cell, in y and x.
    """
def MultiBoxTarget(anchor: Symbol | None = ..., label: Symbol | None = ..., cls_pred: Symbol | None = ..., overlap_threshold: float = ..., ignore_label: float = ..., negative_mining_ratio: float = ..., negative_mining_thresh: float = ..., minimum_negative_samples: int = ..., variances: float | Sequence[float] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def MultiProposal(cls_prob: Symbol | None = ..., bbox_pred: Symbol | None = ..., im_info: Symbol | None = ..., rpn_pre_nms_top_n: int = ..., rpn_post_nms_top_n: int = ..., threshold: float = ..., rpn_min_size: int = ..., scales: float | Sequence[float] = ..., ratios: float | Sequence[float] = ..., feature_stride: int = ..., output_score: bool = ..., iou_loss: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def Proposal(cls_prob: Symbol | None = ..., bbox_pred: Symbol | None = ..., im_info: Symbol | None = ..., rpn_pre_nms_top_n: int = ..., rpn_post_nms_top_n: int = ..., threshold: float = ..., rpn_min_size: int = ..., scales: float | Sequence[float] = ..., ratios: float | Sequence[float] = ..., feature_stride: int = ..., output_score: bool = ..., iou_loss: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def PSROIPooling(data: Symbol | None = ..., rois: Symbol | None = ..., *, spatial_scale: float, output_dim: int, pooled_size: int, group_size: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Means over the bins of a region of interest, each of channels of its own (Dai et al., R-FCN,
    NIPS 2016).

    spatial_scale: Coordinates of rois times this are pixels of data.
    output_dim: Channels of the result.
    pooled_size: Bins of a region each way.
    group_size: Groups of channels each way; 0: as many as bins.
    """
@overload
def PSROIPooling(data: Symbol | None, rois: Symbol | None, spatial_scale: float, *, output_dim: int, pooled_size: int, group_size: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def PSROIPooling(data: Symbol | None, rois: Symbol | None, spatial_scale: float, output_dim: int, *, pooled_size: int, group_size: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def PSROIPooling(data: Symbol | None, rois: Symbol | None, spatial_scale: float, output_dim: int, pooled_size: int, group_size: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def quadratic(data: Symbol | None = ..., a: float = ..., b: float = ..., c: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes (p * x + q) * x + r for every element x.

    a: Coefficient of x * x.
    b: Coefficient of x.
    c: Constant term.
    """
def quantize(data: Symbol | None = ..., min_range: Symbol | None = ..., max_range: Symbol | None = ..., out_type: Literal["int8", "uint8"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """8-bit integers for numbers of a given range.

    out_type: Dtype of the integers.
    """
def quantize_asym(data: Symbol | None = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """uint8 integers for numbers from a least to a greatest one: data * scale + shift.

    min_calib_range: Least number seen in calibration; without both, those of data are found.
    max_calib_range: Greatest number seen in calibration; without both, those of data are found.
    """
def quantize_v2(data: Symbol | None = ..., out_type: Literal["auto", "int8", "uint8"] = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """8-bit integers for numbers, whose range is given or found.

    out_type: Dtype of the integers; auto: uint8 where min_calib_range is 0 or more, else int8.
    min_calib_range: Least number seen in calibration; without both, those of data are found.
    max_calib_range: Greatest number seen in calibration; without both, those of data are found.
    """
@overload
def quantized_act(data: Symbol | None = ..., min_data: Symbol | None = ..., max_data: Symbol | None = ..., *, act_type: Literal["log_sigmoid", "mish", "relu", "sigmoid", "softrelu", "softsign", "tanh"], name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Activation of 8-bit integers: relu, the larger of data and 0.

    act_type: The function.
    """
@overload
def quantized_act(data: Symbol | None, min_data: Symbol | None, max_data: Symbol | None, act_type: Literal["log_sigmoid", "mish", "relu", "sigmoid", "softrelu", "softsign", "tanh"], name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def quantized_batch_norm(data: Symbol | None = ..., gamma: Symbol | None = ..., beta: Symbol | None = ..., moving_mean: Symbol | None = ..., moving_var: Symbol | None = ..., min_data: Symbol | None = ..., max_data: Symbol | None = ..., eps: float = ..., momentum: float = ..., fix_gamma: bool = ..., use_global_stats: bool = ..., output_mean_var: bool = ..., axis: int = ..., cudnn_off: bool = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def quantized_concat(*data: Symbol | Sequence[Symbol], dim: int = ..., num_args: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Concat of 8-bit integers: puts arrays together along one dimension, in the range that holds
    all of theirs.

    dim: The dimension along which inputs are put together; negative counts from the end.
    """
@overload
def quantized_conv(data: Symbol | None = ..., weight: Symbol | None = ..., bias: Symbol | None = ..., min_data: Symbol | None = ..., max_data: Symbol | None = ..., min_weight: Symbol | None = ..., max_weight: Symbol | None = ..., min_bias: Symbol | None = ..., max_bias: Symbol | None = ..., *, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., num_filter: int, num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = ..., cudnn_off: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def quantized_conv(data: Symbol | None, weight: Symbol | None, bias: Symbol | None, min_data: Symbol | None, max_data: Symbol | None, min_weight: Symbol | None, max_weight: Symbol | None, min_bias: Symbol | None, max_bias: Symbol | None, kernel: int | Sequence[int], stride: int | Sequence[int] = ..., dilate: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., *, num_filter: int, num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = ..., cudnn_off: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def quantized_conv(data: Symbol | None, weight: Symbol | None, bias: Symbol | None, min_data: Symbol | None, max_data: Symbol | None, min_weight: Symbol | None, max_weight: Symbol | None, min_bias: Symbol | None, max_bias: Symbol | None, kernel: int | Sequence[int], stride: int | Sequence[int], dilate: int | Sequence[int], pad: int | Sequence[int], num_filter: int, num_group: int = ..., workspace: int = ..., no_bias: bool = ..., cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = ..., cudnn_off: bool = ..., layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def quantized_elemwise_add(lhs: Symbol | None = ..., rhs: Symbol | None = ..., lhs_min: Symbol | None = ..., lhs_max: Symbol | None = ..., rhs_min: Symbol | None = ..., rhs_max: Symbol | None = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Sum of two arrays of 8-bit integers.

    min_calib_range: Least output seen in calibration. With it and max_calib_range the output is
        of 8 bits, else of 32.
    max_calib_range: Greatest output seen in calibration.
    """
def quantized_elemwise_mul(lhs: Symbol | None = ..., rhs: Symbol | None = ..., lhs_min: Symbol | None = ..., lhs_max: Symbol | None = ..., rhs_min: Symbol | None = ..., rhs_max: Symbol | None = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., enable_float_output: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Product of two arrays of 8-bit integers, element by element.

    min_calib_range: Least output seen in calibration. With it and max_calib_range the output is
        of 8 bits, else of 32.
    max_calib_range: Greatest output seen in calibration.
    enable_float_output: Give the products as float32 instead, without a range.
    """
@overload
def quantized_embedding(data: Symbol | None = ..., weight: Symbol | None = ..., min_weight: Symbol | None = ..., max_weight: Symbol | None = ..., *, input_dim: int, output_dim: int, dtype: object = ..., sparse_grad: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Rows of an int8 weight (input_dim, output_dim) chosen by the integers in data; the output has
    data's shape followed by output_dim.

    input_dim: Number of rows of the weight.
    output_dim: Length of a row.
    dtype: Dtype of the weight when nothing else says it.
    sparse_grad: Gradient of the weight as row_sparse.
    """
@overload
def quantized_embedding(data: Symbol | None, weight: Symbol | None, min_weight: Symbol | None, max_weight: Symbol | None, input_dim: int, *, output_dim: int, dtype: object = ..., sparse_grad: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def quantized_embedding(data: Symbol | None, weight: Symbol | None, min_weight: Symbol | None, max_weight: Symbol | None, input_dim: int, output_dim: int, dtype: object = ..., sparse_grad: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def quantized_flatten(data: Symbol | None = ..., min_data: Symbol | None = ..., max_data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Flatten of 8-bit integers: a matrix with one row per entry of the first dimension."""
@overload
def quantized_fully_connected(data: Symbol | None = ..., weight: Symbol | None = ..., bias: Symbol | None = ..., min_data: Symbol | None = ..., max_data: Symbol | None = ..., min_weight: Symbol | None = ..., max_weight: Symbol | None = ..., min_bias: Symbol | None = ..., max_bias: Symbol | None = ..., *, num_hidden: int, no_bias: bool = ..., flatten: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Dense layer of 8-bit integers: data * weight^T + bias in sums of 32 bits, and their range.

    num_hidden: Number of output features.
    no_bias: Leave the bias out.
    flatten: Treat all dimensions of data behind the first as one; otherwise only the last is
        transformed.
    """
@overload
def quantized_fully_connected(data: Symbol | None, weight: Symbol | None, bias: Symbol | None, min_data: Symbol | None, max_data: Symbol | None, min_weight: Symbol | None, max_weight: Symbol | None, min_bias: Symbol | None, max_bias: Symbol | None, num_hidden: int, no_bias: bool = ..., flatten: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def quantized_pooling(data: Symbol | None = ..., min_data: Symbol | None = ..., max_data: Symbol | None = ..., kernel: int | Sequence[int] = ..., pool_type: Literal["avg", "lp", "max", "sum"] = ..., global_pool: bool = ..., cudnn_off: bool = ..., pooling_convention: Literal["full", "same", "valid"] = ..., stride: int | Sequence[int] = ..., pad: int | Sequence[int] = ..., p_value: int | None = ..., count_include_pad: bool | None = ..., layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC"] | None = ..., output_size: int | Sequence[int] | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def quantized_reshape(data: Symbol | None = ..., min_data: Symbol | None = ..., max_data: Symbol | None = ..., shape: int | Sequence[int] = ..., reverse: bool = ..., target_shape: int | Sequence[int] = ..., keep_highest: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Reshape of 8-bit integers.

    shape: Sizes > 0, or codes: 0 copies this dimension, -1 is inferred, -2 copies all remaining
        dimensions, -3 merges two, -4 splits one into the next two sizes.
    reverse: Resolve the codes from the last dimension to the first.
    target_shape: Older form of `shape`, used without it: one size may be 0 and is inferred.
    keep_highest: With `target_shape`: keep the first dimension of the input.
    """
@overload
def quantized_rnn(data: Symbol | None = ..., parameters: Symbol | None = ..., state: Symbol | None = ..., state_cell: Symbol | None = ..., data_scale: Symbol | None = ..., data_shift: Symbol | None = ..., *, state_size: int, num_layers: int, bidirectional: bool = ..., mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"], p: float = ..., state_outputs: bool = ..., projection_size: int | None = ..., lstm_state_clip_min: float | None = ..., lstm_state_clip_max: float | None = ..., lstm_state_clip_nan: bool = ..., use_sequence_length: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def quantized_rnn(data: Symbol | None, parameters: Symbol | None, state: Symbol | None, state_cell: Symbol | None, data_scale: Symbol | None, data_shift: Symbol | None, state_size: int, *, num_layers: int, bidirectional: bool = ..., mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"], p: float = ..., state_outputs: bool = ..., projection_size: int | None = ..., lstm_state_clip_min: float | None = ..., lstm_state_clip_max: float | None = ..., lstm_state_clip_nan: bool = ..., use_sequence_length: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def quantized_rnn(data: Symbol | None, parameters: Symbol | None, state: Symbol | None, state_cell: Symbol | None, data_scale: Symbol | None, data_shift: Symbol | None, state_size: int, num_layers: int, bidirectional: bool = ..., *, mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"], p: float = ..., state_outputs: bool = ..., projection_size: int | None = ..., lstm_state_clip_min: float | None = ..., lstm_state_clip_max: float | None = ..., lstm_state_clip_nan: bool = ..., use_sequence_length: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def quantized_rnn(data: Symbol | None, parameters: Symbol | None, state: Symbol | None, state_cell: Symbol | None, data_scale: Symbol | None, data_shift: Symbol | None, state_size: int, num_layers: int, bidirectional: bool, mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"], p: float = ..., state_outputs: bool = ..., projection_size: int | None = ..., lstm_state_clip_min: float | None = ..., lstm_state_clip_max: float | None = ..., lstm_state_clip_nan: bool = ..., use_sequence_length: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def quantized_transpose(data: Symbol | None = ..., min_data: Symbol | None = ..., max_data: Symbol | None = ..., axes: int | Sequence[int] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """transpose of 8-bit integers.

    axes: Dimension i of the result is dimension axes[i] of the input; without it, the order is
        reversed.
    """
def requantize(data: Symbol | None = ..., min_range: Symbol | None = ..., max_range: Symbol | None = ..., out_type: Literal["auto", "int8", "uint8"] = ..., min_calib_range: float | None = ..., max_calib_range: float | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """8-bit integers for 32-bit sums, such as quantized_conv and quantized_fully_connected give.

    out_type: Dtype of the 8-bit integers; auto: uint8 where min_calib_range is 0 or more, else
        int8.
    min_calib_range: Least number seen in calibration; without both, the largest magnitude of data
        counts.
    max_calib_range: Greatest number seen in calibration; without both, the largest magnitude of
        data counts.
    """
@overload
def ROIAlign(data: Symbol | None = ..., rois: Symbol | None = ..., *, pooled_size: int | Sequence[int], spatial_scale: float, sample_ratio: int = ..., position_sensitive: bool = ..., aligned: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def ROIAlign(data: Symbol | None, rois: Symbol | None, pooled_size: int | Sequence[int], *, spatial_scale: float, sample_ratio: int = ..., position_sensitive: bool = ..., aligned: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def ROIAlign(data: Symbol | None, rois: Symbol | None, pooled_size: int | Sequence[int], spatial_scale: float, sample_ratio: int = ..., position_sensitive: bool = ..., aligned: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def round_ste(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes round(x) for every element x."""
@overload
def RROIAlign(data: Symbol | None = ..., rois: Symbol | None = ..., *, pooled_size: int | Sequence[int], spatial_scale: float, sampling_ratio: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """ROIAlign of rotated regions of interest (Ma et al., IEEE Transactions on Multimedia 20, 2018).

    pooled_size: Bins of a region: (height, width).
    spatial_scale: Coordinates of rois times this are pixels of data.
    sampling_ratio: Points of a bin each way; 0 or less: as many as it is pixels high and wide,
        rounded up.
    """
@overload
def RROIAlign(data: Symbol | None, rois: Symbol | None, pooled_size: int | Sequence[int], *, spatial_scale: float, sampling_ratio: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def RROIAlign(data: Symbol | None, rois: Symbol | None, pooled_size: int | Sequence[int], spatial_scale: float, sampling_ratio: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def sign_ste(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Computes sign(x) for every element x."""
@overload
def sldwin_atten_context(score: Symbol | None = ..., value: Symbol | None = ..., dilation: Symbol | None = ..., *, w: int, symmetric: bool, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Results of attention within a sliding window: each step's weights times the values of its
    neighbours (see sldwin_atten_score).

    w: How many neighbours on one side.
    symmetric: Whether the window has as many behind the step; else it ends with the step itself.
    """
@overload
def sldwin_atten_context(score: Symbol | None, value: Symbol | None, dilation: Symbol | None, w: int, *, symmetric: bool, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def sldwin_atten_context(score: Symbol | None, value: Symbol | None, dilation: Symbol | None, w: int, symmetric: bool, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def sldwin_atten_mask_like(score: Symbol | None = ..., dilation: Symbol | None = ..., valid_length: Symbol | None = ..., *, w: int, symmetric: bool, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """1 where a step and its neighbour are both within the sequence, else 0 (see
    sldwin_atten_score).

    w: How many neighbours on one side.
    symmetric: Whether the window has as many behind the step; else it ends with the step itself.
    """
@overload
def sldwin_atten_mask_like(score: Symbol | None, dilation: Symbol | None, valid_length: Symbol | None, w: int, *, symmetric: bool, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def sldwin_atten_mask_like(score: Symbol | None, dilation: Symbol | None, valid_length: Symbol | None, w: int, symmetric: bool, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def sldwin_atten_score(query: Symbol | None = ..., key: Symbol | None = ..., dilation: Symbol | None = ..., *, w: int, symmetric: bool, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Scores of attention within a sliding window (Beltagy, Peters and Cohan, Longformer, 2020):
    each step's query times the keys of its neighbours.

    w: How many neighbours on one side.
    symmetric: Whether the window has as many behind the step; else it ends with the step itself.
    """
@overload
def sldwin_atten_score(query: Symbol | None, key: Symbol | None, dilation: Symbol | None, w: int, *, symmetric: bool, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def sldwin_atten_score(query: Symbol | None, key: Symbol | None, dilation: Symbol | None, w: int, symmetric: bool, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def SparseEmbedding(data: Symbol | None = ..., weight: Symbol | None = ..., *, input_dim: int, output_dim: int, dtype: object = ..., sparse_grad: bool = ..., deterministic: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Embedding whose weight has a row_sparse gradient: the rows that data names.

    input_dim: Number of rows of the weight.
    output_dim: Length of a row.
    dtype: Dtype of the weight when nothing else says it.
    sparse_grad: Gradient of the weight as row_sparse.
    deterministic: Accepted and without effect: sums have a fixed order.
    """
@overload
def SparseEmbedding(data: Symbol | None, weight: Symbol | None, input_dim: int, *, output_dim: int, dtype: object = ..., sparse_grad: bool = ..., deterministic: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def SparseEmbedding(data: Symbol | None, weight: Symbol | None, input_dim: int, output_dim: int, dtype: object = ..., sparse_grad: bool = ..., deterministic: bool = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def SyncBatchNorm(data: Symbol | None = ..., gamma: Symbol | None = ..., beta: Symbol | None = ..., moving_mean: Symbol | None = ..., moving_var: Symbol | None = ..., eps: float = ..., momentum: float = ..., fix_gamma: bool = ..., use_global_stats: bool = ..., output_mean_var: bool = ..., ndev: int = ..., *, key: str, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
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
def SyncBatchNorm(data: Symbol | None, gamma: Symbol | None, beta: Symbol | None, moving_mean: Symbol | None, moving_var: Symbol | None, eps: float, momentum: float, fix_gamma: bool, use_global_stats: bool, output_mean_var: bool, ndev: int, key: str, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def tree_ensemble(data: Symbol | None = ..., nodes: Symbol | None = ..., values: Symbol | None = ..., roots: Symbol | None = ..., weights: Symbol | None = ..., *, depth: int, comparison: int = ..., aggregate: Literal["max", "min", "sum"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The scores (examples, targets) that decision trees give to data (examples, features).

    depth: The most steps from a root to a leaf.
    comparison: What all nodes ask: 0 data <= value, 1 <, 2 >=, 3 >, 4 ==, 5 !=. -1: each node
        says it.
    aggregate: How the weights of all trees become one score.
    """
@overload
def tree_ensemble(data: Symbol | None, nodes: Symbol | None, values: Symbol | None, roots: Symbol | None, weights: Symbol | None, depth: int, comparison: int = ..., aggregate: Literal["max", "min", "sum"] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
