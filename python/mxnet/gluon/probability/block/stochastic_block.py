"""Blocks that collect losses while they compute, such as KL divergences of what they draw from."""
import functools
import threading
import weakref

from ...hybrid_block import HybridBlock

__all__ = ["StochasticBlock", "StochasticSequential"]


class _Open(threading.local):
    """The lists of losses of the forward functions under way on this thread, the innermost last."""

    def __init__(self):
        super().__init__()
        self.lists = []


_open = _Open()
# Of the last call of each block. Not an attribute: those may not change while a graph is recorded.
_collected = weakref.WeakKeyDictionary()


class StochasticBlock(HybridBlock):
    """A block whose `forward` may call `add_loss`; after a call, `losses` has what it added.

    `forward` must be decorated with ``StochasticBlock.collectLoss``; a call is a ValueError
    otherwise.

    Examples
    --------
    >>> class Noisy(mx.gluon.probability.StochasticBlock):
    ...     @mx.gluon.probability.StochasticBlock.collectLoss
    ...     def forward(self, x):
    ...         self.add_loss(x * 2)
    ...         return x
    >>> block = Noisy()
    >>> y = block(mx.np.array([1.0]))
    >>> block.losses
    [array([2.])]
    """

    @property
    def losses(self):
        """What the last call added, in its order."""
        return _collected.get(self, [])

    def add_loss(self, loss):
        """Adds a loss to those of the call under way."""
        if not _open.lists:
            raise ValueError("The forward function should be decorated by StochasticBlock.collectLoss")
        _open.lists[-1].append(loss)

    @staticmethod
    def collectLoss(func):   # pylint: disable=invalid-name
        """Decorator of `forward`: collects what it adds."""
        @functools.wraps(func)
        def forward(self, *args, **kwargs):
            _open.lists.append([])
            try:
                out = func(self, *args, **kwargs)
            finally:
                losses = _open.lists.pop()
            return out, losses
        forward._collects_losses = True
        return forward

    def __call__(self, *args, **kwargs):
        if not getattr(type(self).forward, "_collects_losses", False):
            raise ValueError("The forward function should be decorated by StochasticBlock.collectLoss")
        out, losses = super().__call__(*args, **kwargs)
        _collected[self] = losses
        return out


class StochasticSequential(StochasticBlock):
    """Blocks one after the other; `losses` has a list for each stochastic one among them.

    Examples
    --------
    >>> net = mx.gluon.probability.StochasticSequential()
    >>> net.add(mx.gluon.nn.Dense(2), mx.gluon.nn.Dense(3))
    >>> len(net)
    2
    """

    def add(self, *blocks):
        """Appends blocks."""
        for block in blocks:
            self.register_child(block)

    @StochasticBlock.collectLoss
    def forward(self, x, *args):
        for block in self._children.values():
            x = block(x, *args)
            args = ()
            if isinstance(x, (tuple, list)):
                x, args = x[0], x[1:]
            if isinstance(block, StochasticBlock) and block.losses:
                self.add_loss(list(block.losses))
        return (x,) + tuple(args) if args else x

    def __repr__(self):
        lines = "\n".join(f"  ({key}): {str(block)}".replace("\n", "\n  ") for key, block in self._children.items())
        return f"{type(self).__name__}(\n{lines}\n)"

    def __getitem__(self, key):
        blocks = list(self._children.values())[key]
        if not isinstance(blocks, list):
            return blocks
        part = type(self)()
        part.add(*blocks)
        return part

    def __len__(self):
        return len(self._children)
