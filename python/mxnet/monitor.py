"""A look at the values that flow through executors."""
import logging
import math
import re

from .base import CheckedTypeError
from .ndarray import NDArray

__all__ = ["Monitor"]


def _root_mean_square(x):
    return x.norm() / math.sqrt(x.size)


class Monitor:
    """Collects a statistic of arguments, outputs and intermediate results every `interval` batches.

    Parameters
    ----------
    interval : int
        Batches between two collections.
    stat_func : callable, optional
        From an NDArray to an NDArray, or a list of them; the root of the mean square by default.
    pattern : str
        Regular expression that the name of an array must match.
    sort : bool
        Sort the results by name.
    monitor_all : bool
        Also the inputs of operators, not only their outputs.

    >>> net = mx.sym.exp(mx.sym.Variable('x'), name='exp')
    >>> executor = net.bind(mx.cpu(), {'x': mx.nd.zeros(2)})
    >>> monitor = mx.mon.Monitor(1, stat_func=lambda a: a.max(), pattern='exp.*')
    >>> monitor.install(executor)
    >>> monitor.tic()
    >>> _ = executor.forward()
    >>> [(name, value.strip()) for _, name, value in monitor.toc()]
    [('exp_output', '1.0')]
    """

    def __init__(self, interval, stat_func=None, pattern=".*", sort=False, monitor_all=False):
        if not interval > 0:
            raise ValueError(f"[Monitor] interval={interval!r}; accepted: batches between two collections, above 0")
        self.stat_func = stat_func or _root_mean_square
        self.interval = interval
        self.activated = False
        self.queue = []
        self.step = 0
        self.exes = []
        self.re_prog = re.compile(pattern)
        self.sort = sort
        self.monitor_all = monitor_all

    def stat_helper(self, name, array):
        """What an executor calls with each value while collecting; `array` is an NDArray or a
        handle.

        >>> monitor = mx.mon.Monitor(1, stat_func=lambda a: a.max(), pattern='.*output')
        >>> monitor.tic()
        >>> monitor.stat_helper('fc_output', mx.nd.array([1, 5, 2]))
        >>> monitor.stat_helper('fc_weight', mx.nd.array([7]))    # not of the pattern
        >>> monitor.toc()
        [(1, 'fc_output', '5.0\\t')]
        """
        if isinstance(name, bytes):
            name = name.decode()
        if not self.activated or not self.re_prog.match(name):
            return
        if not isinstance(array, NDArray):
            array = NDArray(array, writable=False)
        self.queue.append((self.step, name, self.stat_func(array)))

    def install(self, exe):
        """Watch an executor."""
        if not hasattr(exe, "set_monitor_callback"):
            raise TypeError(f"[Monitor] install got a {type(exe).__name__}; accepted: an executor "
                            f"(Module.install_monitor takes the monitor itself)")
        exe.set_monitor_callback(self.stat_helper, self.monitor_all)
        self.exes.append(exe)

    def _wait(self):
        for exe in self.exes:
            for array in exe.arg_arrays:
                array.wait_to_read()
            for array in exe.aux_arrays:
                array.wait_to_read()

    def tic(self):
        """Before a forward pass: start collecting, if this batch is one of those to look at."""
        if self.step % self.interval == 0:
            self._wait()
            self.queue = []
            self.activated = True
        self.step += 1

    def toc(self):
        """After a backward pass: stop collecting.

        Returns
        -------
        list of (int, str, str)
            Number of the batch, name of the array, and its statistics, each followed by a tab.
        """
        if not self.activated:
            return []
        self._wait()
        for exe in self.exes:
            for name, array in zip(exe._symbol.list_arguments(), exe.arg_arrays):
                if self.re_prog.match(name):
                    self.queue.append((self.step, name, self.stat_func(array)))
            for name, array in zip(exe._symbol.list_auxiliary_states(), exe.aux_arrays):
                if self.re_prog.match(name):
                    self.queue.append((self.step, name, self.stat_func(array)))
        self.activated = False
        if self.sort:
            self.queue.sort(key=lambda entry: entry[1])
        result = [(step, name, self._as_text(stats)) for step, name, stats in self.queue]
        self.queue = []
        return result

    @staticmethod
    def _as_text(stats):
        if isinstance(stats, NDArray):
            stats = [stats]
        if not isinstance(stats, list):
            raise CheckedTypeError(f"[Monitor] stat_func returned {type(stats).__name__}; an NDArray or a list of them is expected")
        text = ""
        for value in stats:
            if not isinstance(value, NDArray):
                raise CheckedTypeError(f"[Monitor] stat_func returned a list with {type(value).__name__}; NDArrays are expected")
            text += (str(value.item()) if value.size == 1 else str(value.asnumpy())) + "\t"
        return text

    def toc_print(self):
        """:meth:`toc`, with the results logged, as ``Batch:       1 y_output      1.0``.

        >>> executor = mx.sym.exp(mx.sym.var('x'), name='y').bind(mx.cpu(), {'x': mx.nd.zeros(2)})
        >>> monitor = mx.mon.Monitor(1)
        >>> monitor.install(executor)
        >>> monitor.tic()
        >>> _ = executor.forward()
        >>> monitor.toc_print()
        """
        for step, name, text in self.toc():
            logging.info(f"Batch: {step:7d} {name:30s} {text}")
