"""Signatures of functions of mx.npx that MXNet 2.0 wrote by hand, where they differ from what the
records say: order, names, defaults."""

import importlib
import re

__all__ = ["SIGNATURES"]

_PREFIX = re.compile(r"_(npx?)_(?:_(image|random|linalg)_)?(\w+)\Z")


def _get_builtin_op(op_name):
    """The function of mx.np or mx.npx for an operator of 1.9.1 whose name begins with ``_np_`` or
    ``_npx_``; None for any other.

    >>> mx.numpy_op_signature._get_builtin_op("_np_sum") is mx.np.sum
    True
    >>> mx.numpy_op_signature._get_builtin_op("_npi_add") is None
    True
    """
    found = _PREFIX.match(op_name)
    if found is None:
        return None
    door, part, name = found.groups()
    module = {"np": "mxnet.numpy", "npx": "mxnet.numpy_extension"}[door] + (f".{part}" if part else "")
    return getattr(importlib.import_module(module), name, None)


class Signature:
    """Arguments of a function.

    Attributes
    ----------
    arguments : list of (str, str, bool)
        Names, sources of defaults (None stands for the record's), and whether the default is always
        handed over because the record has another one ("!" in the table).
    renamed : dict of str to str
        Name in the record: name here. Either is accepted as a keyword, for MXNet 1.9.1 has the
        record's.
    arrays : tuple of str
        Arrays beyond those that the record names.
    unless : tuple of (str, str)
        Arrays that are not handed over where an expression of the parameters is true.
    optional : tuple of str
        Parameters for which None stands for the default.
    """

    __slots__ = ("arguments", "renamed", "arrays", "unless", "optional")

    def __init__(self, text, renamed="", arrays="", unless="", optional=""):
        self.arguments = []
        for argument in text.split(", "):
            name, _, default = argument.partition("=")
            self.arguments.append((name, default.rstrip("!") or "None", default.endswith("!")))
        self.renamed = dict(pair.split(":") for pair in renamed.split())
        self.arrays = tuple(arrays.split())
        self.unless = tuple(tuple(pair.split(":")) for pair in unless.split())
        self.optional = tuple(optional.split())


_CONVOLUTION = ("data=None, weight=None, bias=None, kernel=None, stride=None, dilate=None, pad=None, {}num_filter=1!, num_group=1, "
                "workspace=1024!, no_bias=False!, cudnn_tune=None, cudnn_off=False, layout=None")

SIGNATURES = {
    "activation": Signature("data, act_type='relu'!"),
    "arange_like": Signature("data, start=0.0, step=1.0, repeat=1, ctx=None, axis=None"),
    "batch_dot": Signature("a, b, transpose_a=False, transpose_b=False, forward_stype=None", "lhs:a rhs:b"),
    "batch_norm": Signature("x, gamma, beta, running_mean, running_var, eps=1e-3, momentum=0.9, fix_gamma=True, use_global_stats=False, "
                            "output_mean_var=False, axis=1, cudnn_off=False, min_calib_range=None, max_calib_range=None",
                            "data:x moving_mean:running_mean moving_var:running_var"),
    "broadcast_like": Signature("lhs, rhs, lhs_axes=None, rhs_axes=None"),
    "convolution": Signature(_CONVOLUTION.format("")),
    "deconvolution": Signature(_CONVOLUTION.format("adj=None, target_shape=None, ")),
    "dropout": Signature("data, p=0.5, mode='training', axes=None, cudnn_off=False"),
    "embedding": Signature("data, weight, input_dim=None, output_dim=None, dtype='float32', sparse_grad=False"),
    "fully_connected": Signature("x, weight, bias=None, num_hidden=None, no_bias=True!, flatten=True", "data:x",
                                 unless="bias:no_bias"),
    "group_norm": Signature("data, gamma, beta, num_groups=1, eps=1e-3!, output_mean_var=False"),
    "layer_norm": Signature("data=None, gamma=None, beta=None, axis=None, eps=None, output_mean_var=None"),
    "leaky_relu": Signature("data=None, gamma=None, act_type='leaky', slope=0.25, lower_bound=0.125, upper_bound=0.334",
                            unless="gamma:act_type!='prelu'"),
    "log_softmax": Signature("data, axis=-1, length=None, temperature=None, use_length=False, dtype=None", arrays="length",
                             optional="axis"),
    "masked_log_softmax": Signature("data, mask, axis=-1, temperature=1.0, normalize=True", optional="axis"),
    "masked_softmax": Signature("data, mask, axis=-1, temperature=1.0, normalize=True", optional="axis"),
    "one_hot": Signature("data, depth=None, on_value=1.0, off_value=0.0, dtype='float32'", "indices:data"),
    "pick": Signature("data, index, axis=-1, mode='clip', keepdims=False"),
    "pooling": Signature("data=None, kernel=None, stride=None, pad=None, pool_type='max', pooling_convention='valid', global_pool=False, "
                         "cudnn_off=False, p_value=None, count_include_pad=None, layout=None"),
    "reshape": Signature("a, newshape=None, reverse=False, order='C'"),
    "rnn": Signature("data=None, parameters=None, state=None, state_cell=None, sequence_length=None, mode=None, state_size=None, "
                     "num_layers=None, bidirectional=False, state_outputs=False, p=0.0, use_sequence_length=False, projection_size=None, "
                     "lstm_state_clip_min=None, lstm_state_clip_max=None, lstm_state_clip_nan=None"),
    "softmax": Signature("data, length=None, axis=-1, temperature=None, use_length=False, dtype=None", optional="axis"),
    "topk": Signature("data, axis=-1, k=1, ret_typ='indices', is_ascend=False, dtype='float32'"),
}
