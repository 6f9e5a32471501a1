"""Lists of image files with their labels."""
import logging

import numpy as np

from .. import ndarray as nd

__all__ = ["read_list"]


def read_list(name, path, entries, dtype="float32"):
    """Labels (NDArray) and paths of images.

    Parameters
    ----------
    name : str
        The caller, for messages.
    path : str or None
        A file with a key, labels and a path on each line, and tabs between them.
    entries : list or None
        Used without `path`: lists of labels and a path, or of a list of labels and a path. The keys
        are '1', '2', ...

    Returns
    -------
    (dict of key to (NDArray, str), list of keys in their order), or (None, None)
    """
    if path:
        logging.info("%s: loading image list %s...", name, path)
        with open(path, encoding="utf-8") as lines:
            rows = [row for row in (line.strip().split("\t") for line in lines) if row != [""]]
        keys = [_key(name, path, row) for row in rows]
        labels = [_labels(name, [_number(name, text) for text in row[1:-1]], dtype) for row in rows]
    elif isinstance(entries, list):
        logging.info("%s: loading image list...", name)
        keys, rows = [str(i + 1) for i in range(len(entries))], entries
        labels = [_labels(name, row[0] if len(row) == 2 else row[:-1], dtype) for row in entries]
    else:
        return None, None
    return dict(zip(keys, zip(labels, (row[-1] for row in rows)))), keys


def _key(name, path, row):
    if len(row) < 2:
        raise ValueError(f"[{name}] a line of {path} is {row[0]!r}; accepted are a number, labels and a path, with tabs between them")
    return int(row[0])


def _number(name, text):
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"[{name}] a label of a list is {text!r}; accepted are numbers") from None


def _labels(name, values, dtype):
    if isinstance(values, nd.NDArray):
        values = values.asnumpy()
    try:
        return nd.array(np.atleast_1d(np.asarray(values, dtype=dtype)), dtype=dtype)
    except (TypeError, ValueError):
        raise TypeError(f"[{name}] labels {values!r} of an image; accepted are numbers") from None
