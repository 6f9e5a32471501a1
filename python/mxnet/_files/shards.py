"""Indexes of weights that are spread over several files, as Hugging Face writes them."""
import json
import os

from ..base import MXNetError, error_class, local_path
from . import kinds

__all__ = ["is_index", "load_shards", "weights_in"]

_LONGEST = 100_000_000      # bytes
# Names that Hugging Face's libraries give to weights, in the order in which they look for them.
_IN_FOLDERS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json",
               "diffusion_pytorch_model.safetensors", "diffusion_pytorch_model.safetensors.index.json",
               "diffusion_pytorch_model.bin")


def _error(function, path, what):
    return error_class(MXNetError, OSError)(f"[{function}] {os.fspath(path)!r}, an index of several files: {what}")


def is_index(source):
    """Is it the path of an index? OSError where there is no such file."""
    return (isinstance(source, (str, bytes)) or hasattr(source, "__fspath__")) and kinds.kind_of_file(source) == "shards"


def weights_in(source):
    """The path of the weights in a folder that ``save_pretrained`` wrote. What is no such folder is
    given back."""
    if not isinstance(source, (str, bytes)) and not hasattr(source, "__fspath__"):
        return source
    folder = os.fsdecode(local_path(source))
    paths = [os.path.join(folder, name) for name in _IN_FOLDERS] if os.path.isdir(folder) else []
    return next(filter(os.path.isfile, paths), source)


def load_shards(path, function, load):
    """{name: array} of an index (``model.safetensors.index.json``) and the files beside it, in the
    order of the index. `load` reads one of them."""
    with kinds.open_file(path, "rb") as file:
        text = file.read(_LONGEST + 1)
    try:
        places = json.loads(text.decode("utf-8"))["weight_map"] if len(text) <= _LONGEST else None
    except (ValueError, KeyError, TypeError, RecursionError):
        places = None
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise _error(function, path, "it is damaged; accepted: a JSON text with weight_map, {name of an array: name of a file}")
    folder, found = os.path.dirname(os.fsdecode(path)), {}
    for name in dict.fromkeys(places.values()):
        if not name or name != os.path.basename(name) or "\0" in name:
            raise _error(function, path, f"the file {name!r:.200}; accepted: names of files beside it")
        part = os.path.join(folder, name)
        if os.path.exists(part) and is_index(part):     # perhaps of itself
            raise _error(function, path, f"the file {name!r:.200} is an index, too; accepted: files of weights")
        found[name] = load(part)
    for array, name in places.items():
        if not isinstance(found[name], dict) or array not in found[name]:
            raise _error(function, path, f"{name!r} has no array {array!r:.200}")
    return {array: found[name][array] for array, name in places.items()}
