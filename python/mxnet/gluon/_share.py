"""Parameters of one block in the place of another's."""
import warnings
from collections import OrderedDict

from ._parameter import Parameter
from .parameter_dict import ParameterDict


def _by_path(block, shared):
    """{path below `block`: Parameter}. A ParameterDict has names instead of paths: blocks of one
    structure have them in the same order."""
    own = block._collect_params_with_prefix()
    if not isinstance(shared, ParameterDict) or set(shared) <= set(own):
        return dict(shared.items())
    paths = {}
    for path, param in own.items():
        paths.setdefault(param.name, path)
    mine = list(block.collect_params())
    if [name.rpartition("_")[2] for name in mine] != [name.rpartition("_")[2] for name in shared] or set(mine) - set(paths):
        raise ValueError(f"[gluon.share_parameters] a block with the Parameters {list(shared)[:8]} was given to one with "
                         f"{mine[:8]}; a block of the same structure, or a dict by paths, is accepted")
    return {paths[name]: param for name, param in zip(mine, shared.values())}


def replace(block, name, param):
    """Put `param` in the place of the Parameter that is the attribute `name`."""
    old = block._reg_params.pop(name)
    block._params._params = OrderedDict((param.name, param) if p is old else (key, p) for key, p in block._params.items())
    block._params._params[param.name] = param
    setattr(block, name, param)
    forget_graphs(block)


def forget_graphs(block):
    """What was recorded of `block` with other Parameters or children, alone and within other
    blocks, is out of date."""
    for one in (block, *(block.__dict__.get("_inside_of") or ())):
        if hasattr(one, "_clear_cached_op"):
            one._clear_cached_op()


def share(block, shared):
    """See ``Block.share_parameters``."""
    if not isinstance(shared, (dict, ParameterDict)):
        raise ValueError(f"[gluon.share_parameters] 'shared' should be in type of Dict. Get type {type(shared)}!")
    for path, param in _by_path(block, shared).items():
        if not isinstance(param, Parameter):
            raise TypeError(f"[gluon.share_parameters] {path!r} is a {type(param).__name__}; a Parameter is accepted")
        *way, name = path.split(".")
        owner = block
        for step in way:
            owner = owner._children.get(step) if owner is not None else None
        if owner is None or name not in owner._reg_params:
            warnings.warn(f"[gluon.share_parameters] Parameter name {path} is not in the current model!", stacklevel=3)
        elif owner._reg_params[name] is not param:
            replace(owner, name, param)
    return block
