"""What an Estimator does with one batch."""
from .... import autograd
from ...utils import split_and_load

__all__ = ["BatchProcessor"]


class BatchProcessor:
    """Forward and backward pass of one batch, for :class:`Estimator`.

    A subclass replaces :meth:`fit_batch` or :meth:`evaluate_batch` where batches are not pairs of
    data and label, or where the loss is found in another way.

    >>> class Autoencoder(BatchProcessor):
    ...     def fit_batch(self, estimator, train_batch, batch_axis=0):
    ...         data, _ = self._get_data_and_label(train_batch, estimator.context, batch_axis)
    ...         with mx.autograd.record():
    ...             pred = [estimator.net(x) for x in data]
    ...             loss = [estimator.loss(p, x) for p, x in zip(pred, data)]
    ...         for one in loss:
    ...             one.backward()
    ...         return data, data, pred, loss
    """

    def __init__(self):
        pass

    def _get_data_and_label(self, batch, ctx, batch_axis=0):
        """The first two arrays of a batch, each as a list with a slice for every context."""
        return tuple(split_and_load(array, ctx, batch_axis) for array in (batch[0], batch[1]))

    def evaluate_batch(self, estimator, val_batch, batch_axis=0):
        """Run ``estimator.val_net`` and ``estimator.val_loss`` on a batch (data, label), without
        recording.

        Returns
        -------
        tuple of list of NDArray
            Data, labels, predictions and losses, one of each for every context.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, weight_initializer='zeros')
        >>> estimator = mx.gluon.contrib.estimator.Estimator(net, mx.gluon.loss.L2Loss())
        >>> batch = (mx.nd.ones((4, 3)), mx.nd.ones((4, 2)))
        >>> data, label, pred, loss = BatchProcessor().evaluate_batch(estimator, batch)
        >>> len(loss), loss[0].asnumpy()
        (1, array([0.5, 0.5, 0.5, 0.5], dtype=float32))
        """
        data, label = self._get_data_and_label(val_batch, estimator.context, batch_axis)
        pred = [estimator.val_net(x) for x in data]
        loss = [estimator.val_loss(p, y) for p, y in zip(pred, label)]
        return data, label, pred, loss

    def fit_batch(self, estimator, train_batch, batch_axis=0):
        """Run ``estimator.net`` and ``estimator.loss`` on a batch (data, label), and the backward
        pass. The weights stay as they are: a :class:`GradientUpdateHandler` changes them.

        Returns
        -------
        tuple of list of NDArray
            Data, labels, predictions and losses, one of each for every context.
        """
        data, label = self._get_data_and_label(train_batch, estimator.context, batch_axis)
        with autograd.record():
            pred = [estimator.net(x) for x in data]
            loss = [estimator.loss(p, y) for p, y in zip(pred, label)]
        for one in loss:
            one.backward()
        return data, label, pred, loss
