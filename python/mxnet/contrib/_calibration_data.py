"""What a program gives for calibration: checked, and as batches that can be read again."""
import inspect
import itertools

import numpy as np

from .. import ndarray as nd
from ..base import CheckedTypeError, CheckedValueError
from ..gluon import Block
from ..io import DataDesc, DataIter
from ..ndarray import NDArray
from ..util import is_np_array

ACCEPTED = "a DataLoader, a DataIter, another iterable of batches, or a function of nothing that gives one"


def count_or_none(argument, value):
    """A number of at least 1, or None."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, np.integer))):
        raise CheckedTypeError(f"[quantization] {argument} is a {type(value).__name__}; an int of at least 1, or None, is accepted")
    if value is not None and value < 1:
        raise CheckedValueError(f"[quantization] {argument} is {value}; an int of at least 1, or None, is accepted")
    return value


def logger_or_none(logger):
    """Something with a method `info`, or None."""
    if logger is not None and not all(callable(getattr(logger, name, None)) for name in ("debug", "info")):
        raise CheckedTypeError(f"[quantization] logger is a {type(logger).__name__}; a logging.Logger, or None, is accepted")
    return logger


def collector_or_none(collector):
    """An object that collects, or None."""
    if collector is not None and (isinstance(collector, type) or not callable(getattr(collector, "collect", None))):
        given = f"the class {collector.__name__}" if isinstance(collector, type) else f"a {type(collector).__name__}"
        raise CheckedTypeError(f"[quantization] LayerOutputCollector is {given}; an object of a CalibrationCollector is accepted")
    return collector


def _batch(index, entry):
    """The arrays of one batch. Only networks in float32 are quantized, and NumPy's numbers are
    float64 by themselves."""
    arrays = list(entry) if isinstance(entry, (list, tuple)) else [entry]
    for i, array in enumerate(arrays):
        if isinstance(array, np.ndarray):
            arrays[i] = nd.array(array, dtype=array.dtype)
        elif not isinstance(array, NDArray):
            raise CheckedTypeError(f"[quantization] batch {index} of calib_data has a {type(array).__name__}; arrays are accepted")
        if arrays[i].dtype == np.float64:
            arrays[i] = arrays[i].astype("float32")
    if not arrays:
        raise CheckedValueError(f"[quantization] batch {index} of calib_data is empty; it needs the network's inputs")
    return arrays


class Batches:
    """Lists of arrays, each time from the first batch on. What cannot be read twice, such as a
    generator, is read once: its first batch is kept."""

    def __init__(self, data):
        if callable(data) and not isinstance(data, (Block, type)) and not hasattr(data, "__iter__"):
            try:
                inspect.signature(data).bind()
            except TypeError:
                raise CheckedTypeError(f"[quantization] calib_data is a function that needs arguments; {ACCEPTED} is accepted") from None
            except ValueError:      # of C: it says nothing of its arguments
                pass
            made = data()
            if not hasattr(made, "__iter__") or isinstance(made, (str, bytes, dict, NDArray, np.ndarray)):
                raise CheckedTypeError(f"[quantization] calib_data() gives a {type(made).__name__}; an iterable of batches is accepted")
            # What was made to see what it is gives the first batches; later ones are made anew.
            self._next, self._make = made, data
        else:
            if isinstance(data, (str, bytes, dict, NDArray, np.ndarray, Block, type)) or not hasattr(data, "__iter__"):
                hint = "; a list with it is one batch" if isinstance(data, (NDArray, np.ndarray)) else ""
                raise CheckedTypeError(f"[quantization] calib_data is a {type(data).__name__}; {ACCEPTED} is accepted{hint}")
            self._next, self._make = data, lambda: data
        self._kept = None

    @property
    def provide_data(self):
        """Names and shapes, where the data says them."""
        return getattr(self._next, "provide_data", None)

    def first(self):
        """The first batch."""
        batches = iter(self)
        try:
            return next(batches)
        except StopIteration:
            raise CheckedValueError("[quantization] calib_data has no batches; at least one is needed") from None
        finally:
            batches.close()

    def __iter__(self):
        source, self._next = self._next, None
        if source is None:
            source = self._make()
        if isinstance(source, DataIter):
            source.reset()
            batches = (batch.data for batch in source)
        elif iter(source) is source:      # to be read once
            if self._kept is None:
                self._kept = list(itertools.islice(source, 1))
            batches = itertools.chain(self._kept, source)
            self._next = source
        else:
            batches = iter(source)
        for index, entry in enumerate(batches):
            yield _batch(index, entry)


def first_batch(batches, data_shapes):
    """Arrays like those that the network will get."""
    if data_shapes is None:
        if batches is None:
            raise CheckedValueError("[quantization] neither data_shapes nor calib_data is given; one of them is needed")
        return batches.first()
    if not isinstance(data_shapes, (list, tuple)) or any(isinstance(entry, (int, np.integer, str)) for entry in data_shapes):
        raise CheckedTypeError(f"[quantization] data_shapes is {data_shapes!r}; "
                               "a list with a shape or a DataDesc for each input is accepted")
    shapes = []
    for entry in data_shapes:
        named = isinstance(entry, DataDesc) or len(entry) > 1 and isinstance(entry[0], str)
        shape = tuple(entry[1]) if named else tuple(entry)
        if not all(isinstance(size, (int, np.integer)) and not isinstance(size, bool) for size in shape):
            raise CheckedTypeError(f"[quantization] data_shapes has {shape!r}; shapes of integers are accepted")
        shapes.append((shape, getattr(entry, "dtype", np.float32)))
    make = _np_zeros if is_np_array() else nd.zeros
    return [make(shape, dtype=dtype) for shape, dtype in shapes]


def _np_zeros(shape, dtype):
    from .. import numpy    # loaded only by programs that use its arrays
    return numpy.zeros(shape, dtype=dtype)
