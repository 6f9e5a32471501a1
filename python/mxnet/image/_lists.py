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
        places, rows = _rows(name, path)
        keys = [_key(place, row) for place, row in zip(places, rows)]
        labels = [_labels(name, [_number(place, text) for text in row[1:-1]], dtype) for place, row in zip(places, rows)]
    elif isinstance(entries, list):
        logging.info("%s: loading image list...", name)
        keys, rows = [str(i + 1) for i in range(len(entries))], entries
        labels = [_labels(name, row[0] if len(row) == 2 else row[:-1], dtype) for row in entries]
    else:
        return None, None
    return dict(zip(keys, zip(labels, (row[-1] for row in rows)))), keys


def _rows(name, path):
    """What begins an error about each line that is not empty, and the line's fields."""
    places, rows = [], []
    with open(path, "rb") as lines:
        for number, line in enumerate(lines, 1):
            place = f"[{name}] {path}, line {number}"
            try:
                row = line.decode("utf-8").strip().split("\t")
            except UnicodeDecodeError as error:
                raise ValueError(f"{place}: {line[:40]!r} is no UTF-8 text ({error.reason})") from None
            if row != [""]:
                places.append(place)
                rows.append(row)
    return places, rows


def _key(place, row):
    try:
        if len(row) > 1:
            return int(row[0])
    except ValueError:
        pass
    raise ValueError(f"{place}: {chr(9).join(row)!r}; accepted are a whole number, labels and a path, with tabs between them")


def _number(place, text):
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{place}: label {text!r}; accepted are numbers") from None


def _labels(name, values, dtype):
    if isinstance(values, nd.NDArray):
        values = values.asnumpy()
    try:
        return nd.array(np.atleast_1d(np.asarray(values, dtype=dtype)), dtype=dtype)
    except (TypeError, ValueError):
        raise TypeError(f"[{name}] labels {values!r} of an image; accepted are numbers") from None
