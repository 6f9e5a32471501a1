"""What a data iterator is and what it returns."""
from collections import namedtuple

from ..base import CheckedTypeError

import numpy as np

__all__ = ["DataBatch", "DataDesc", "DataIter"]


class DataDesc(namedtuple("DataDesc", ["name", "shape"])):
    """Name, shape, dtype and layout of one of an iterator's arrays; equal to the pair (name,
    shape).

    Parameters
    ----------
    name : str
    shape : tuple of int
        With the size of the batch; kept as it is given.
    dtype : type or str
    layout : str
        What the axes mean, 'NCHW' for example; N is the axis of the batch.

    Examples
    --------
    >>> description = mx.io.DataDesc('data', (32, 3, 224, 224))
    >>> description.name, description.shape, description.layout
    ('data', (32, 3, 224, 224), 'NCHW')
    >>> mx.io.DataDesc.get_batch_axis('TNC')
    1
    """

    def __new__(cls, name, shape, dtype=np.float32, layout="NCHW"):
        self = super().__new__(cls, name, shape)
        self.dtype = dtype
        self.layout = layout
        return self

    def __getnewargs__(self):
        return self.name, self.shape, self.dtype, self.layout

    def __repr__(self):
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    @staticmethod
    def get_batch_axis(layout):
        """Position of N in a layout, -1 if there is none; 0 for a layout of None."""
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(shapes, types):
        """Descriptions from pairs of name and shape, and pairs of name and dtype (None:
        float32).

        >>> mx.io.DataDesc.get_list([('data', (2, 3))], [('data', 'float16')])
        [DataDesc[data,(2, 3),float16,NCHW]]
        """
        if types is None:
            return [DataDesc(*pair) for pair in shapes]
        types = dict(types)
        return [DataDesc(name, shape, types[name]) for name, shape in shapes]


class DataBatch:
    """A batch.

    Parameters
    ----------
    data : list of NDArray
    label : list of NDArray, optional
    pad : int, optional
        How many instances at the end only fill the batch up.
    index : numpy.ndarray, optional
        Numbers of the instances.
    bucket_key : optional
        Which of a BucketingModule's networks the batch is for.
    provide_data, provide_label : list of DataDesc, optional
        Their names and shapes, where they differ from those of the iterator.

    Examples
    --------
    >>> batch = mx.io.DataBatch(data=[mx.nd.ones((2, 3))], label=[mx.nd.zeros(2)], pad=0)
    >>> batch.data[0].shape, batch.pad
    ((2, 3), 0)
    """

    def __init__(self, data, label=None, pad=None, index=None, bucket_key=None, provide_data=None, provide_label=None):
        for what, arrays in (("Data", data), ("Label", label)):
            if arrays is not None and not isinstance(arrays, (list, tuple)):
                raise CheckedTypeError(f"[DataBatch] {what} must be list of NDArrays, {type(arrays).__name__} was given")
        self.data = data
        self.label = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __str__(self):
        data = [d.shape for d in self.data]
        label = [array.shape for array in self.label] if self.label else None
        return f"{type(self).__name__}: data shapes: {data} label shapes: {label}"


class DataIter:
    """Base of the iterators. A subclass defines :meth:`next`, or :meth:`iter_next` and the `get`
    methods; and :meth:`reset`, `provide_data` and `provide_label` (lists of :class:`DataDesc`).

    Parameters
    ----------
    batch_size : int

    Examples
    --------
    >>> class Squares(mx.io.DataIter):
    ...     def __init__(self):
    ...         super().__init__(batch_size=2)
    ...         self.provide_data, self.provide_label = [mx.io.DataDesc('data', (2, 1))], []
    ...         self.reset()
    ...     def reset(self):
    ...         self.at = 0
    ...     def next(self):
    ...         if self.at == 2:
    ...             raise StopIteration
    ...         self.at += 1
    ...         return mx.io.DataBatch([mx.nd.full((2, 1), self.at ** 2)], pad=0)
    >>> [int(batch.data[0][0, 0].asscalar()) for batch in Squares()]
    [1, 4]
    """

    def __init__(self, batch_size=0):
        self.batch_size = batch_size

    def __iter__(self):
        return self

    def __next__(self):
        return self.next()

    def reset(self):
        """Begin a new pass."""

    def next(self):
        """The next :class:`DataBatch`; raises StopIteration at the end of the pass.

        >>> batches = mx.io.NDArrayIter(mx.nd.ones((4, 2)), mx.nd.arange(4), batch_size=2)
        >>> batches.next().label[0].asnumpy()
        array([0., 1.], dtype=float32)
        >>> batches.iter_next()
        True
        >>> batches.getdata()[0].shape, batches.getlabel()[0].asnumpy(), batches.getpad()
        ((2, 2), array([2., 3.], dtype=float32), 0)
        >>> batches.getindex() is None
        True
        """
        if self.iter_next():
            return DataBatch(data=self.getdata(), label=self.getlabel(), pad=self.getpad(), index=self.getindex())
        raise StopIteration

    def iter_next(self):
        """Go to the next batch. Returns whether there is one."""

    def getdata(self):
        """Data of the batch, as a list of NDArray."""

    def getlabel(self):
        """Labels of the batch, as a list of NDArray."""

    def getindex(self):
        """Numbers of the batch's instances, or None."""
        return None

    def getpad(self):
        """How many instances at the end of the batch only fill it up."""
