"""What handlers of an Estimator are derived from: a class for each moment of the training."""


class EventHandler:
    """Base of all handlers. Those with a lower `priority` (0 without that attribute) are called
    first."""


def _check_event_handlers(handlers):
    """`handlers` as a new list."""
    if isinstance(handlers, EventHandler):
        return [handlers]
    found = list(handlers or [])
    if not all(isinstance(handler, EventHandler) for handler in found):
        raise ValueError(f"[Estimator] handlers must be an EventHandler or a list of EventHandler, got: {handlers}")
    return found


class TrainBegin(EventHandler):
    """A handler that is called when training begins.

    >>> class Greeting(TrainBegin):
    ...     def train_begin(self, estimator, *args, **kwargs):
    ...         print('epochs to train:', estimator.max_epoch)
    >>> data = mx.gluon.data.ArrayDataset(mx.nd.ones((4, 3)), mx.nd.zeros(4))
    >>> estimator = mx.gluon.contrib.estimator.Estimator(
    ...     mx.gluon.nn.Dense(2), mx.gluon.loss.SoftmaxCrossEntropyLoss())
    >>> estimator.logger.setLevel('ERROR')
    >>> estimator.fit(mx.gluon.data.DataLoader(data, 2), epochs=3, event_handlers=[Greeting()])
    epochs to train: 3
    """

    def train_begin(self, estimator, *args, **kwargs):
        """Called once, before the first epoch."""


class TrainEnd(EventHandler):
    """A handler that is called when training ends.

    >>> class Farewell(TrainEnd):
    ...     def train_end(self, estimator, *args, **kwargs):
    ...         print('accuracy:', estimator.train_metrics[0].get()[1])
    >>> data = mx.gluon.data.ArrayDataset(mx.nd.ones((4, 3)), mx.nd.zeros(4))
    >>> net = mx.gluon.nn.Dense(2, weight_initializer='zeros')
    >>> estimator = mx.gluon.contrib.estimator.Estimator(
    ...     net, mx.gluon.loss.SoftmaxCrossEntropyLoss())
    >>> estimator.logger.setLevel('ERROR')
    >>> estimator.fit(mx.gluon.data.DataLoader(data, 2), epochs=3, event_handlers=[Farewell()])
    accuracy: 1.0
    """

    def train_end(self, estimator, *args, **kwargs):
        """Called once, after the last epoch."""


class EpochBegin(EventHandler):
    """A handler that is called when an epoch begins.

    >>> class Slower(EpochBegin):
    ...     def epoch_begin(self, estimator, *args, **kwargs):
    ...         estimator.trainer.set_learning_rate(estimator.trainer.learning_rate / 2)
    >>> data = mx.gluon.data.ArrayDataset(mx.nd.ones((4, 3)), mx.nd.zeros(4))
    >>> estimator = mx.gluon.contrib.estimator.Estimator(
    ...     mx.gluon.nn.Dense(2), mx.gluon.loss.SoftmaxCrossEntropyLoss())
    >>> estimator.logger.setLevel('ERROR')
    >>> rate = estimator.trainer.learning_rate
    >>> estimator.fit(mx.gluon.data.DataLoader(data, 2), epochs=3, event_handlers=[Slower()])
    >>> rate / estimator.trainer.learning_rate
    8.0
    """

    def epoch_begin(self, estimator, *args, **kwargs):
        """Called before the first batch of an epoch."""


class EpochEnd(EventHandler):
    """A handler that is called when an epoch ends.

    >>> class Limit(EpochEnd):
    ...     epochs = 0
    ...     def epoch_end(self, estimator, *args, **kwargs):
    ...         self.epochs += 1
    ...         return estimator.train_metrics[0].get()[1] == 1
    >>> data = mx.gluon.data.ArrayDataset(mx.nd.ones((4, 3)), mx.nd.zeros(4))
    >>> net = mx.gluon.nn.Dense(2, weight_initializer='zeros')
    >>> estimator = mx.gluon.contrib.estimator.Estimator(
    ...     net, mx.gluon.loss.SoftmaxCrossEntropyLoss())
    >>> estimator.logger.setLevel('ERROR')
    >>> limit = Limit()
    >>> estimator.fit(mx.gluon.data.DataLoader(data, 2), epochs=30, event_handlers=[limit])
    >>> limit.epochs
    1
    """

    def epoch_end(self, estimator, *args, **kwargs):
        """Called after the last batch of an epoch. True ends the training."""
        return False


class BatchBegin(EventHandler):
    """A handler that is called before each batch.

    >>> class Sizes(BatchBegin):
    ...     def batch_begin(self, estimator, *args, **kwargs):
    ...         data, label = kwargs['batch']
    ...         print(data.shape, label.shape)
    >>> data = mx.gluon.data.ArrayDataset(mx.nd.ones((5, 3)), mx.nd.zeros(5))
    >>> estimator = mx.gluon.contrib.estimator.Estimator(
    ...     mx.gluon.nn.Dense(2), mx.gluon.loss.SoftmaxCrossEntropyLoss())
    >>> estimator.logger.setLevel('ERROR')
    >>> estimator.fit(mx.gluon.data.DataLoader(data, 2), epochs=1, event_handlers=[Sizes()])
    (2, 3) (2,)
    (2, 3) (2,)
    (1, 3) (1,)
    """

    def batch_begin(self, estimator, *args, **kwargs):
        """Called with the keyword `batch`."""


class BatchEnd(EventHandler):
    """A handler that is called after the backward pass of each batch.

    >>> class Losses(BatchEnd):
    ...     def batch_end(self, estimator, *args, **kwargs):
    ...         print(kwargs['pred'][0].shape, kwargs['loss'][0].mean().asscalar().round(3))
    >>> data = mx.gluon.data.ArrayDataset(mx.nd.ones((4, 3)), mx.nd.zeros(4))
    >>> net = mx.gluon.nn.Dense(2, weight_initializer='zeros')
    >>> estimator = mx.gluon.contrib.estimator.Estimator(
    ...     net, mx.gluon.loss.SoftmaxCrossEntropyLoss())
    >>> estimator.logger.setLevel('ERROR')
    >>> estimator.fit(mx.gluon.data.DataLoader(data, 2), epochs=1, event_handlers=[Losses()])
    (2, 2) 0.693
    (2, 2) 0.691
    """

    def batch_end(self, estimator, *args, **kwargs):
        """Called with the keywords `batch` (as the data loader gave it) and `pred`, `label`, `loss`
        (lists with an array for each context). True ends the epoch."""
        return False
