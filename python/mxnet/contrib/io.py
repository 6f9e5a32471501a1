"""A data loader of Gluon as a data iterator."""
from .. import ndarray as nd
from ..io import DataDesc, DataIter

__all__ = ["DataLoaderIter"]


class DataLoaderIter(DataIter):
    """Batches of a gluon DataLoader for a Module.

    The last batch is filled up with zeros if it is smaller, and `getpad` counts them.

    Parameters
    ----------
    loader : gluon.data.DataLoader
        Gives pairs of data and label. The first batch is taken at once for shapes.
    data_name, label_name : str
        What the network calls them.
    dtype : str or type
        What both are converted to.

    >>> data = mx.gluon.data.ArrayDataset(mx.nd.ones((5, 3)), mx.nd.zeros(5))
    >>> iterator = DataLoaderIter(mx.gluon.data.DataLoader(data, 2))
    >>> [batch.pad for batch in iterator]
    [0, 0, 1]
    """

    def __init__(self, loader, data_name="data", label_name="softmax_label", dtype="float32"):
        super().__init__()
        self._loader = loader
        self._iter = iter(loader)
        data, label = next(self._iter)
        self.batch_size = data.shape[0]
        self.dtype = dtype
        self.provide_data = [DataDesc(data_name, data.shape, dtype)]
        self.provide_label = [DataDesc(label_name, label.shape, dtype)]
        self._current_batch = None
        self.reset()

    def reset(self):
        self._iter = iter(self._loader)

    def iter_next(self):
        """Go to the next batch; False at the end."""
        self._current_batch = next(self._iter, None)
        return self._current_batch is not None

    def _batch(self):
        if self._current_batch is None:
            raise TypeError("[DataLoaderIter] there is no batch; call iter_next() before")
        return self._current_batch

    def _filled(self, array):
        array = array.astype(self.dtype)
        missing = self.getpad()
        if not missing:
            return [array]
        return [nd.concat(array, nd.zeros((missing, *array.shape[1:]), array.context, self.dtype), dim=0)]

    def getdata(self):
        return self._filled(self._batch()[0])

    def getlabel(self):
        return self._filled(self._batch()[1])

    def getpad(self):
        return self.batch_size - self._batch()[0].shape[0]

    def getindex(self):
        return None
