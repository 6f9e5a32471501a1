"""Parameters of one block in the place of another's."""
import warnings

from .parameter_dict import ParameterDict


def _by_path(block, shared):
    """{path below `block`: the Parameter to put there}; warns of names that the block does not
    have."""
    paths = block._collect_params_with_prefix()
    if isinstance(shared, ParameterDict):   # names of 1.x: they agree behind the prefixes of the two blocks
        own = {p.name[len(block.prefix):]: path for path, p in paths.items() if p.name.startswith(block.prefix)}
        begin = len(shared.prefix)
        shared = {own.get(name[begin:] if name.startswith(shared.prefix) else name, name): p for name, p in shared.items()}
    for name in shared:
        if name not in paths:
            warnings.warn(f"[gluon.share_parameters] Parameter name {name} is not in the current model!", stacklevel=4)
    return {path: shared[path] for path in paths if path in shared}


def share(block, shared):
    """See ``Block.share_parameters``."""
    if not isinstance(shared, (dict, ParameterDict)):
        raise ValueError(f"[gluon.share_parameters] 'shared' should be in type of Dict. Get type {type(shared)}!")
    for path, param in _by_path(block, shared).items():
        *children, name = path.split(".")
        owner = block
        for child in children:
            owner = owner._children[child]
        old = owner._reg_params[name]
        owner._reg_params[name] = param
        object.__setattr__(owner, name, param)
        owner._params._params.pop(old.name, None)
        owner._params._params[param.name] = param
    block.apply(lambda b: b._clear_cached_op() if hasattr(b, "_clear_cached_op") else None)
    return block
