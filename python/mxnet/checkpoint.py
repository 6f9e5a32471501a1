"""Checkpoints of training: weights, optimizer states and the iteration, saved and resumed as one.

A job that is killed at any moment goes on from its last whole checkpoint: each one is a folder that
gets its name only when everything in it is on the disk.
"""
import json
import os
import re
import shutil

from . import ndarray as nd
from ._files.whole_files import write_file
from .base import MXNetError
from ._training.model import _split_params

__all__ = ["Checkpoint"]

_NAME = re.compile(r"step-(\d{10})$")


def _sync(path):
    """Let the file or folder reach the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class _Gluon:
    """What a checkpoint holds of a Block and its Trainer."""

    def __init__(self, net, trainer):
        self.net, self.trainer = net, trainer

    def store(self):
        if self.trainer is None:
            return None
        self.trainer._prepare()
        return self.trainer._kvstore

    def save(self, folder):
        self.net.save_parameters(os.path.join(folder, "weights.params"))

    def save_states(self, folder):
        if self.trainer is not None:
            self.trainer.save_states(os.path.join(folder, "optimizer.states"))

    def load(self, folder):
        contexts = None
        if self.trainer is not None:
            contexts = self.trainer._check_contexts() if self.trainer._params else None
        self.net.load_parameters(os.path.join(folder, "weights.params"), ctx=contexts)

    def load_states(self, folder):
        if self.trainer is not None:
            self.trainer.load_states(os.path.join(folder, "optimizer.states"))


class _Module:
    """What a checkpoint holds of a Module. A store takes the weights when the optimizer is set up,
    so loading comes before that."""

    def __init__(self, module):
        self.module = module

    def store(self):
        return getattr(self.module, "_kvstore", None)

    def save(self, folder):
        self.module.save_params(os.path.join(folder, "weights.params"))

    def save_states(self, folder):
        module, path = self.module, os.path.join(folder, "optimizer.states")
        if not module.optimizer_initialized:
            return
        # with the optimizer, whose counts of updates Module's own files leave out
        if module._update_on_kvstore:
            module._kvstore.save_optimizer_states(path, dump_optimizer=True)
        else:
            write_file(path, module._updater.get_states(dump_optimizer=True))

    def load(self, folder):
        module, path = self.module, os.path.join(folder, "weights.params")
        if module.optimizer_initialized:
            raise MXNetError("[Checkpoint] the module has its optimizer already; accepted: resume "
                             "before init_optimizer or fit")
        if module.binded:
            module.load_params(path)
        else:
            module._arg_params, module._aux_params = _split_params(nd.load(path), path)
            module.params_initialized = True

    def load_states(self, folder):
        states = os.path.join(folder, "optimizer.states")
        if os.path.exists(states):
            self.module._preload_opt_states = states    # init_optimizer reads them


class Checkpoint:
    """Save a training job every so many steps, and resume it where it was.

    Nothing that the files of a checkpoint say is run; the optimizer's class must be one that the
    program has (:meth:`mxnet.optimizer.Updater.set_states`).

    Parameters
    ----------
    folder : str or os.PathLike
        Where checkpoints lie: one folder ``step-0000000100`` for each. With several workers, the
        folder is one that all of them see; the first worker writes.
    net : gluon.Block, optional
        The network, initialised.
    trainer : gluon.Trainer, optional
        Its trainer.
    module : module.Module, optional
        Instead of `net` and `trainer`: a Module, whose optimizer is set up after :meth:`resume`.
    every : int
        Steps from one checkpoint to the next. A job that is killed loses at most so many.
    keep : int
        So many of the latest checkpoints stay.

    Raises
    ------
    ValueError
        for neither or both of `net` and `module`, and for numbers below 1.

    Examples
    --------
    >>> import tempfile
    >>> import mxnet as mx
    >>> net = mx.gluon.nn.Dense(1, in_units=2)
    >>> net.initialize()
    >>> trainer = mx.gluon.Trainer(net.collect_params(), 'sgd')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for step in mx.checkpoint.Checkpoint(folder, net, trainer, every=2).steps(5):
    ...         with mx.autograd.record():
    ...             loss = net(mx.nd.ones((1, 2))).sum()
    ...         loss.backward()
    ...         trainer.step(1)
    ...     mx.checkpoint.Checkpoint(folder, net, trainer).resume()
    5
    """

    def __init__(self, folder, net=None, trainer=None, module=None, every=1, keep=2):
        if (net is None) == (module is None) or (module is not None and trainer is not None):
            raise ValueError("[Checkpoint] accepted: a net, with or without its trainer, "
                             "or a module")
        for name, number in (("every", every), ("keep", keep)):
            if not isinstance(number, int) or number < 1:
                raise ValueError(f"[Checkpoint] {name}={number!r}; accepted: integers from 1")
        self.folder = os.path.abspath(os.fspath(folder))
        self.every, self.keep = every, keep
        self._job = _Module(module) if module is not None else _Gluon(net, trainer)

    def latest(self):
        """The number of steps of the latest whole checkpoint, or None."""
        return max(self._numbers(), default=None)

    def _numbers(self):
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        return [int(m.group(1)) for m in map(_NAME.match, names) if m]

    def _path(self, step):
        return os.path.join(self.folder, f"step-{step:010d}")

    def resume(self):
        """Load the latest checkpoint, if there is one.

        Returns
        -------
        int
            The steps that were done; 0 where there is no checkpoint.

        Raises
        ------
        MXNetError
            for a checkpoint whose files are damaged or belong to another network.
        """
        step = self.latest()
        if step is None:
            return 0
        path = self._path(step)
        try:
            with open(os.path.join(path, "job.json"), encoding="utf-8") as file:
                known = json.load(file)
            if known.get("step") != step:
                raise ValueError(f"its job.json is of step {known.get('step')!r}")
        except (OSError, ValueError) as error:
            raise MXNetError(f"[Checkpoint] {path} cannot be read: {error}; remove the folder to "
                             "resume from the checkpoint before") from error
        self._job.load(path)
        self._job.load_states(path)
        self._wait_for_all()
        return step

    def _wait_for_all(self):
        store = self._job.store()
        if store is not None and store.num_workers > 1:
            store._barrier()

    def save(self, step):
        """Write a checkpoint of `step` steps, and remove those that are older than the latest
        `keep`. Every worker calls it; the first one writes.

        >>> import tempfile
        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     checkpoint = Checkpoint(folder, net, keep=2)
        ...     for step in 10, 20, 30:
        ...         checkpoint.save(step)
        ...     sorted(os.listdir(folder)), checkpoint.latest()
        (['step-0000000020', 'step-0000000030'], 30)
        """
        store = self._job.store()
        if store is None or store.rank == 0:
            self._write(step)
        self._wait_for_all()

    def _write(self, step):
        os.makedirs(self.folder, exist_ok=True)
        for name in os.listdir(self.folder):     # of jobs that were killed while they wrote
            if name.startswith(".step-"):
                shutil.rmtree(os.path.join(self.folder, name), ignore_errors=True)
        path, part = self._path(step), os.path.join(self.folder, f".step-{step:010d}")
        os.mkdir(part)
        self._job.save(part)
        self._job.save_states(part)
        write_file(os.path.join(part, "job.json"), json.dumps({"step": step}))
        for name in os.listdir(part):
            _sync(os.path.join(part, name))
        _sync(part)
        if os.path.exists(path):
            shutil.rmtree(path)
        os.rename(part, path)
        _sync(self.folder)
        for old in sorted(self._numbers())[:-self.keep]:
            shutil.rmtree(self._path(old), ignore_errors=True)

    def steps(self, total):
        """The numbers of the steps that are left of `total`, from where the latest checkpoint was.

        Resumes first. A checkpoint is written behind each step whose number, counted from 1, is a
        multiple of `every`, and behind the last one.
        """
        done = self.resume()
        for step in range(done, total):
            yield step
            if (step + 1) % self.every == 0 or step + 1 == total:
                self.save(step + 1)

    def epoch_end(self, epoch, *_):
        """For ``Module.fit(begin_epoch=checkpoint.resume(),
        epoch_end_callback=checkpoint.epoch_end)``: epochs are the steps.

        >>> import tempfile
        >>> graph = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, name='fc')
        >>> module = mx.mod.Module(mx.sym.SoftmaxOutput(graph, name='softmax'))
        >>> data = mx.io.NDArrayIter(mx.nd.ones((4, 3)), mx.nd.zeros(4), batch_size=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     checkpoint = Checkpoint(folder, module=module)
        ...     module.bind(data.provide_data, data.provide_label)
        ...     module.init_params()
        ...     module.fit(data, num_epoch=3, begin_epoch=checkpoint.resume(),
        ...                epoch_end_callback=checkpoint.epoch_end)
        ...     checkpoint.latest()
        3
        """
        if (epoch + 1) % self.every == 0:
            self.save(epoch + 1)
