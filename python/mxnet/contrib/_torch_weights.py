"""Which arrays of a file go to which parameters of a block."""
import re

import numpy as np

from .. import ndarray as nd
from .._binding import NDArrayBase
from .._files.other_dtypes import OtherTensor
from ..base import MXNetError, error_class
from ..gluon import nn
from ..ndarray._dlpack import of_other_library
from ..util import np_shape
from ._torch_names import names_of
from ._torch_parts import joined_parts

__all__ = ["assign", "of_other_libraries", "weights_among"]

_KEYS = ("state_dict", "model_state_dict", "model", "net", "weights", "params", "module")
_WRAPPERS = ("module.", "_orig_mod.", "model.", "net.")
_COUNTERS = ("num_batches_tracked", "n_averaged")     # of batches, and of what torch.optim.swa_utils has averaged
_AUXILIARY = "AuxLogits."        # of torchvision's inception_v3, which trains with a second head
# How torchvision's older files of DenseNets spell norm1 and conv1.
_OLD_DENSE = re.compile(r"(\.denselayer\d+\.(?:norm|conv))\.([12])\.")
_PACKED = "._packed_params._packed_params"       # of torch.ao.nn.quantized.Linear: (weight, bias)
_SHOWN = 20
_DEEPEST = 4     # dictionaries around the weights


def _error(what):
    return error_class(MXNetError, ValueError)("[contrib.torch.load_into] " + what)


def _is_weights(value):
    return isinstance(value, dict) and any(isinstance(v, NDArrayBase) for v in value.values())


def weights_among(values, what, depth=0):
    """{name: array} of a file: what it holds, or the one dictionary of arrays in it."""
    if not isinstance(values, dict):
        raise _error(f"{what} holds a {type(values).__name__}; accepted: a dictionary {{name: array}}")
    for key in _KEYS if depth < _DEEPEST else ():
        if _is_weights(values.get(key)):
            return weights_among(values[key], what, depth + 1)
    values = _of_quantized_layers(values)
    if not values or _is_weights(values):
        return {name: array for name, array in values.items() if isinstance(array, (NDArrayBase, OtherTensor)) and isinstance(name, str)}
    found = [key for key, value in values.items() if _is_weights(value)]
    if len(found) == 1:
        return weights_among(values[found[0]], what, _DEEPEST)
    if found:
        raise _error(f"{what} holds dictionaries of arrays under {', '.join(map(repr, found))}; accepted: one of them, as "
                     f"mx.contrib.torch.load(path)[{found[0]!r}]")
    raise _error(f"{what} holds no arrays by name; it has {', '.join(repr(key)[:40] for key in list(values)[:_SHOWN])}")


def of_other_libraries(values, depth=0):
    """A dictionary with arrays of ours in the place of those of NumPy and of PyTorch's tensors,
    also in dictionaries inside. What these refuse (tensors without memory) stays."""
    return {key: of_other_libraries(value, depth + 1) if isinstance(value, dict) and depth < _DEEPEST else _ours(value)
            for key, value in values.items()}


def _ours(value):
    if isinstance(value, (NDArrayBase, OtherTensor)) or not (isinstance(value, np.ndarray) or hasattr(value, "__dlpack__")):
        return value
    try:
        value = value if isinstance(value, np.ndarray) else of_other_library(value)
        with np_shape(True):    # counters have the shape ()
            return value if isinstance(value, NDArrayBase) else nd.array(value, dtype=value.dtype)
    except TypeError:
        return value


def _of_quantized_layers(values):
    """Weights of PyTorch's quantized layers by the names of plain ones: without scales of results,
    and with weight and bias in the place of a pair."""
    found = {}
    for name, value in values.items():
        if isinstance(name, str) and name.endswith(_PACKED) and isinstance(value, tuple) and len(value) == 2:
            owner = name[:-len(_PACKED)]
            found.update({owner + part: array for part, array in zip((".weight", ".bias"), value) if array is not None})
        else:
            found[name] = value
    owners = {n[:-len(".zero_point")] for n in found if isinstance(n, str) and n.endswith(".zero_point")}
    left_out = {owner + part for owner in owners if owner + ".scale" in found and found[owner + ".scale"].size == 1
                for part in (".scale", ".zero_point")}
    return {name: value for name, value in found.items() if name not in left_out}


# ---- names ----

def _without_wrappers(weights, expected):
    """The weights by the names that they have without DataParallel and others around the
    network."""
    changed = True
    while changed and weights:
        changed = False
        for wrapper in _WRAPPERS:
            if all(name.startswith(wrapper) for name in weights) and not any(name.startswith(wrapper) for name in expected):
                weights = {name[len(wrapper):]: array for name, array in weights.items()}
                changed = True
    return weights


def _by_rule(mapping, name):
    """The name that a mapping gives for a name: (whether it has one, the name or None)."""
    if callable(mapping):
        return True, mapping(name)
    if name in mapping:
        return True, mapping[name]
    for begin, replaced in mapping.items():
        if begin.endswith(".") and name.startswith(begin):
            return True, None if replaced is None else replaced + name[len(begin):]
    return False, name


def _pairs_by_name(block, weights, params, mapping):
    """({our name: their name}, unexpected names)."""
    try:
        ours_of = {theirs: ours for ours, theirs in names_of(block)}
    except ValueError:
        if mapping is None and not all(name in params for name in weights):
            raise
        ours_of = {}
    if mapping is None and sum(name in ours_of for name in weights) < sum(name in params for name in weights):
        ours_of = {name: name for name in params}       # written from a block
    pairs, unexpected = {}, []
    for name in weights:
        known, target = _by_rule(mapping, name) if mapping is not None else (False, name)
        if known and target is None:
            continue
        ours = target if target in params and known else ours_of.get(target)
        if ours is None and known:
            ours = target if target in params else None
        if ours is None:
            unexpected.append(name)
        elif ours in pairs:
            raise _error(f"{pairs[ours]!r} and {name!r} both become {ours!r}; accepted: one name for each parameter")
        else:
            pairs[ours] = name
    return pairs, unexpected


def _layers(names):
    """Names by layer, in order: what stands before the last dot."""
    found = {}
    for name in names:
        found.setdefault(name.rpartition(".")[0], []).append(name)
    return list(found.values())


def _pairs_in_order(weights, params):
    """({our name: their name}, unexpected names): layers are paired in order, and their parameters
    by what they are called in both."""
    from ._torch_names import _layer_name
    pairs, unexpected = {}, []
    ours, theirs = _layers(params), _layers(weights)
    for mine, given in zip(ours, theirs):
        by_kind = {_layer_name(name.rpartition(".")[2]): name for name in mine}
        for name in given:
            target = by_kind.get(name.rpartition(".")[2])
            if target is None:
                unexpected.append(name)
            else:
                pairs[target] = name
    return pairs, unexpected + [name for given in theirs[len(ours):] for name in given]


# ---- checks ----

def _fits(param, array):
    return param.shape is None or len(param.shape) == array.ndim and all(n in (0, -1, m) for n, m in zip(param.shape, array.shape))


def _listed(head, rows):
    shown = "".join(f"\n    {row}" for row in rows[:_SHOWN])
    return f"\n  {head}: {len(rows)}{shown}" + (f"\n    and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else "") if rows else ""


def _scales_of_groups(block, names):
    """Are there scales of a GroupNorm, which has one for each group, among these?"""
    for name in names:
        owner = block
        for part in name.split(".")[:-1]:
            owner = owner._children.get(part) if hasattr(owner, "_children") else None
        if isinstance(owner, nn.GroupNorm) and owner.gamma.shape == (owner._num_groups,):
            return True
    return False


def _advice(missing, unexpected, wrong, strict, groups):
    more = []
    if strict and (missing or unexpected):
        more.append("Accepted: all names on both sides, or strict=False.")
    if strict and missing and unexpected:
        more.append("Names that differ can be given as mapping={'PyTorch name': 'block name'}, or layers paired by mapping='order'.")
    if any(".parametrizations." in "." + name for name in unexpected):
        more.append("Parametrizations other than weight_norm and spectral_norm are code; accepted: the weight itself, as "
                    "torch.nn.utils.parametrize.remove_parametrizations(module, name) leaves it.")
    if groups:
        more.append("nn.GroupNorm(groups) has a scale for each group, as in 1.x; accepted: nn.GroupNorm(groups, in_channels=channels), "
                    "which has one for each channel, as PyTorch.")
    elif wrong:
        more.append("To keep the block's own values for arrays of other shapes (another number of classes), take these names out of what "
                    "mx.contrib.torch.load(path) gives, and use strict=False.")
    return "\n" + " ".join(more)


def _is_optional(name, param):
    """A scale or offset that is not trained: PyTorch has none in such a layer."""
    return name.rpartition(".")[2] in ("gamma", "beta") and param.grad_req == "null"


def _biases_of_none(missing, params):
    """Biases of recurrent layers whose weights are there: PyTorch's layer has ``bias=False``, which
    is one with zeros here."""
    missing, found = set(missing), []
    for name in missing:
        owner, _, kind = name.rpartition("i2h_bias")
        parts = [f"{owner}{gate}_weight" for gate in ("i2h", "h2h")]
        if not kind and name.endswith("i2h_bias") and f"{owner}h2h_bias" in missing \
                and all(part in params and part not in missing for part in parts):
            found += [name, f"{owner}h2h_bias"]
    return found


def assign(block, weights, what, mapping, strict, ctx):
    """Set parameters of a block. Returns (missing names, unexpected names)."""
    if mapping is not None and mapping != "order" and not callable(mapping) and not isinstance(mapping, dict):
        raise _error(f"mapping={mapping!r}; accepted: None, a dictionary of names, a function of a name, 'order'")
    params = block._collect_params_with_prefix()
    weights = {name: array for name, array in weights.items() if name.rpartition(".")[2] not in _COUNTERS}
    weights = joined_parts(weights, params)
    if mapping == "order":
        pairs, unexpected = _pairs_in_order(weights, params)
    else:
        weights = _without_wrappers(weights, [*params, *(_safe_names(block))])
        weights = {_OLD_DENSE.sub(r"\1\2.", name): array for name, array in weights.items() if not name.startswith(_AUXILIARY)}
        pairs, unexpected = _pairs_by_name(block, weights, params, mapping)
    filled = {id(params[ours]) for ours in pairs}
    missing = [name for name, param in params.items() if id(param) not in filled and not _is_optional(name, param)]
    zeros = _biases_of_none(missing, params)
    missing = [name for name in missing if name not in zeros]
    others = [ours for ours, theirs in pairs.items() if not _fits(params[ours], weights[theirs])]
    wrong = [f"{ours}: {params[ours].shape} in the block, {weights[pairs[ours]].shape} in {pairs[ours]!r}" for ours in others]
    if wrong or strict and (missing or unexpected):
        raise _error(f"{what} does not fit the {type(block).__name__}:"
                     + (_listed("parameters of the block that it lacks", missing) if strict else "")
                     + (_listed("names in it that the block has no parameter for", unexpected) if strict else "")
                     + _listed("shapes that differ", wrong) + _advice(missing, unexpected, wrong, strict, _scales_of_groups(block, others)))
    if weights and not pairs:
        raise _error(f"{what}: none of its {len(weights)} names is one of the {type(block).__name__}'s "
                     f"({', '.join(list(weights)[:3])}, ...; {', '.join(list(params)[:3])}, ...); accepted: names that "
                     "mx.contrib.torch.names(block) gives, or a mapping")
    for ours, theirs in pairs.items():
        if isinstance(weights[theirs], OtherTensor):
            raise _error(f"{theirs!r}, which is to become {ours!r}, is {weights[theirs]!r:.200}; accepted: arrays. "
                         "Take it out of what mx.contrib.torch.load(path) gives, or put an array in its place")
    for ours, theirs in pairs.items():
        params[ours]._load_init(_dense(weights[theirs]), ctx, cast_dtype=True)
    for name in zeros:
        params[name]._load_init(nd.zeros(params[name].shape), ctx, cast_dtype=True)
    for name, param in params.items():
        if _is_optional(name, param) and id(param) not in filled and param._data is None and not param._deferred_init:
            param.initialize(ctx=ctx)
    for ours in (*pairs, *zeros):      # the file may change once this function has returned
        for copy in params[ours].list_data():
            copy.wait_to_read()
    return missing, unexpected


def _dense(array):
    """PyTorch's parameters may be sparse, those of blocks are not."""
    return array if getattr(array, "stype", "default") == "default" else array.tostype("default")


def _safe_names(block):
    try:
        return [theirs for _, theirs in names_of(block)]
    except ValueError:
        return []
