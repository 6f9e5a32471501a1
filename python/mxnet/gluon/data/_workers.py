"""Worker processes and threads that make batches ahead of the training loop."""
import atexit
import collections
import contextlib
import functools
import multiprocessing
import os
import pickle
import queue
import signal
import threading
import time
import weakref
from multiprocessing import connection

from ... import engine, util
from ..._startup import tracebacks as _tracebacks
from . import _shared_memory
from ..._startup.interrupt import HeldInterrupt
from ._make_batch import make_batch

__all__ = ['ProcessWorkers', 'ThreadWorkers', 'WorkerDied']


class WorkerDied(RuntimeError):
    """A worker process ended by itself: killed, out of memory, or crashed in native code."""


def _worker_seed():
    """A number that follows from NumPy's global generator, without advancing it: users who seed it
    get the same batches, and the order of a RandomSampler does not depend on the number of
    workers."""
    import numpy as np
    state = np.random.get_state()
    return (int(state[1][0]) * 1000003 + int(state[1][-1]) * 10007 + int(state[2])) % (1 << 31)


def _with_trace(error, text):
    """The exception of a worker, with its traceback as the cause."""
    error.__cause__ = RuntimeError(f'in the worker:\n{text}')
    return error


def _prepare_worker(seed, switches):
    """Settings of a fresh worker process. If it is a fork, the engine gives it
    MXNET_MP_WORKER_NTHREADS threads by itself; else `mxnet._machine.environment` has."""
    import random
    import sys

    import numpy as np

    from ... import context, env, random as mx_random
    if context.current_context().device_type == 'gpu':
        context.Context._default_ctx.value = context.Context('cpu')    # a fork cannot use a GPU
    util.set_np(*switches)
    signal.signal(signal.SIGINT, signal.SIG_IGN)    # Ctrl-C is for the parent, which ends the workers
    util.set_env('OMP_NUM_THREADS', 1)              # the workers are the parallelism
    opencv_threads = env.value('MXNET_MP_OPENCV_NUM_THREADS')
    os.environ['OPENCV_FOR_THREADS_NUM'] = str(max(1, opencv_threads))    # for OpenCV loaded from now on
    if 'cv2' in sys.modules:
        sys.modules['cv2'].setNumThreads(opencv_threads)
    random.seed(seed)
    np.random.seed(seed % (1 << 32))
    mx_random.seed(seed % (1 << 31))


def _switches():
    """Positions of the switches of this thread, which a worker is to have: arguments of set_np."""
    return util.is_np_shape(), util.is_np_array(), util.is_np_default_dtype(), util.is_np_views()


def _process_loop(conn, dataset, batchify_fn, seed, switches):
    """One worker process: receives (task, indices), sends (task, ok, pickled batch or (exception,
    trace)), until the pipe closes."""
    _prepare_worker(seed, switches)
    while True:
        try:
            message = conn.recv()
        except (EOFError, OSError):
            break
        if message is None:
            break
        task, indices = message
        try:
            payload = task, True, _shared_memory.dumps(make_batch(dataset, batchify_fn, indices))
        except BaseException as e:    # pylint: disable=broad-except  (also SystemExit: the parent decides)
            text = _tracebacks.text(e)
            try:
                packed = pickle.dumps((e, text))
                pickle.loads(packed)    # some exceptions pickle and do not come back
            except Exception:    # pylint: disable=broad-except
                packed = pickle.dumps((RuntimeError(f'{type(e).__name__}: {e}'), text))
            payload = task, False, packed
        try:
            conn.send(payload)
        except (BrokenPipeError, OSError):
            break
    os._exit(0)    # the parent's exit handlers are not ours to run


def _start_method():
    """What the program has chosen; 'fork' if that is what this Python does by default, which other
    modules choose by starting a process."""
    chosen = multiprocessing.get_start_method(allow_none=True)
    return 'fork' if chosen in (None, multiprocessing.get_all_start_methods()[0]) else chosen


@contextlib.contextmanager
def _environment():
    """Scope in which processes start that load the library anew, with the threads of a worker."""
    from ... import env
    given = {'MXNET_CPU_WORKER_NTHREADS': str(env.value('MXNET_MP_WORKER_NTHREADS')), 'OMP_NUM_THREADS': '1'}
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


_open = set()                # weak references to ProcessWorkers and ThreadWorkers
_TICK = 0.25                 # seconds between two looks at whether the loader, or the iterator of an epoch, is gone


class _Watched:
    """What workers know of their loader and of its epochs, by weak references: those have no
    finalizers, in which an interrupt would be lost. Threads, processes and connections have some in
    Python. So threads of the workers free them, never the program's. A callback of a weak reference
    loses it as well, and a WeakSet has such callbacks."""

    def __init__(self):
        self._loader = None
        self._epochs = []    # (reference to an epoch, its list of tasks)

    def _opened(self):
        _open.difference_update([workers for workers in list(_open) if workers() is None])
        _open.add(weakref.ref(self))

    def belong_to(self, loader):
        """End when `loader` is gone."""
        self._loader = weakref.ref(loader)

    def watch(self, epoch, tasks):
        """Forget `tasks`, a list that `epoch` changes, when `epoch` is gone."""
        self._reap()
        self._epochs.append((weakref.ref(epoch), tasks))

    def _reap(self):
        for entry in [e for e in self._epochs if e[0]() is None]:
            try:
                self._epochs.remove(entry)
            except ValueError:
                continue    # another thread was faster
            self.forget(list(entry[1]))

    def _abandoned(self):
        return self._loader is not None and self._loader() is None


# Workers end while there are threads: multiprocessing, whose own exit handler runs behind this one,
# ends them under the dispatching thread, which then notes their deaths with its lock held when the
# interpreter stops it; a loader that is destroyed later would wait for that lock for ever.
@atexit.register
def _close_all():
    for reference in list(_open):
        workers = reference()
        if workers is not None:
            workers.close()


class ProcessWorkers(_Watched):
    """`count` processes that share the tasks. Made once per DataLoader; tasks are numbered by
    `submit`. They are forks, unless the program has called multiprocessing.set_start_method: then
    data set and batchify function are pickled for 'spawn' and 'forkserver'."""

    def __init__(self, count, dataset, batchify_fn):
        super().__init__()
        method = _start_method()
        ctx = multiprocessing.get_context(method)
        self._owner = os.getpid()
        self._lock = threading.Condition()
        self._waiting = collections.deque()    # (task, indices) not yet with a worker
        self._results = {}                     # task -> (ok, bytes)
        self._forgotten = set()                # tasks nobody will fetch
        self._idle = []
        self._busy = {}                        # connection -> task
        self._failure = None
        self._next = 0
        self._closed = False
        self._processes = {}
        self._ended = threading.Event()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        base = _worker_seed()
        engine.stats()    # makes the engine, which then learns of the fork that it is a data worker's
        for i in range(count):
            mine, theirs = ctx.Pipe()
            target, ends = (self._run_child, (mine, theirs)) if method == 'fork' else (_process_loop, (theirs,))
            process = ctx.Process(target=target, args=(*ends, dataset, batchify_fn, base + i, _switches()), daemon=True,
                                  name=f'mxnet-dataloader-{i}')
            with HeldInterrupt(), contextlib.nullcontext() if method == 'fork' else _environment():
                process.start()
            theirs.close()
            self._processes[mine] = process
            self._idle.append(mine)
        threading.Thread(target=self._dispatch, name='mxnet-dataloader', daemon=True).start()
        self._opened()

    def _run_child(self, mine, theirs, *work):
        # Ends of pipes inherited from the parent would keep this worker alive after the parent is
        # gone.
        mine.close()
        for conn in self._processes:
            conn.close()
        os.close(self._wake_read)
        os.close(self._wake_write)
        _process_loop(theirs, *work)

    def submit(self, indices):
        """Queue a batch; returns the number of the task."""
        with self._lock:
            task = self._next
            self._next += 1
            self._waiting.append((task, indices))
            self._wake()
        return task

    def _wake(self):
        """Called with the lock."""
        if self._wake_write is not None:
            try:
                os.write(self._wake_write, b'x')
            except BlockingIOError:
                pass    # it is full: the thread will wake

    def fetch(self, task, timeout):
        """The batch of a task. Raises what the worker raised (its traceback is the __cause__),
        multiprocessing.TimeoutError after `timeout` seconds, WorkerDied."""
        deadline = time.monotonic() + timeout
        with self._lock:
            while task not in self._results:
                if self._failure is not None:
                    raise self._failure
                left = deadline - time.monotonic()
                if left <= 0:
                    raise multiprocessing.TimeoutError(
                        f'[gluon.data.DataLoader] no batch after {timeout} seconds; a larger '
                        f'timeout is accepted (the transformation may be slow, '
                        'or /dev/shm full)')
                self._lock.wait(left)
            ok, packed = self._results.pop(task)
        value = pickle.loads(packed)
        if not ok:
            raise _with_trace(*value)
        return value

    def forget(self, tasks):
        """Drop tasks whose batches nobody will fetch."""
        tasks = set(tasks)
        with self._lock:
            self._waiting = collections.deque(w for w in self._waiting if w[0] not in tasks)
            running = set(self._busy.values())
            done = [t for t in tasks if t in self._results]
            self._forgotten |= tasks & running
            packed = [self._results.pop(t) for t in done]
        for ok, data in packed:
            if ok:
                pickle.loads(data)    # opens and frees the segments inside

    def _dispatch(self):
        """The thread that serves the workers and ends them."""
        try:
            self._serve()
        finally:
            self._end()
            self._ended.set()

    def _serve(self):
        """Hands tasks to idle workers and takes in results, so that neither side ever blocks on a
        full pipe; until the workers are closed, or the loader is gone."""
        while True:
            with self._lock:
                while self._waiting and self._idle:
                    conn = self._idle.pop()
                    item = self._waiting.popleft()
                    try:
                        conn.send(item)
                        self._busy[conn] = item[0]
                    except OSError:
                        self._waiting.appendleft(item)
                        self._note_death(conn)
                if self._closed:
                    return
                sources = list(self._busy) + list(self._idle)
            self._reap()
            if self._abandoned():
                return
            for source in connection.wait(sources + [self._wake_read], _TICK):
                if source is self._wake_read:
                    os.read(source, 4096)
                    continue
                try:
                    task, ok, packed = source.recv()
                except (EOFError, OSError):
                    with self._lock:
                        self._note_death(source)
                    continue
                with self._lock:
                    self._busy.pop(source, None)
                    self._idle.append(source)
                    unwanted = task in self._forgotten
                    if unwanted:
                        self._forgotten.discard(task)
                    else:
                        self._results[task] = ok, packed
                        self._lock.notify_all()
                if unwanted and ok:
                    pickle.loads(packed)

    def _note_death(self, conn):
        """Called with the lock: a worker's pipe closed."""
        self._busy.pop(conn, None)
        if conn in self._idle:
            self._idle.remove(conn)
        process = self._processes.pop(conn, None)
        conn.close()
        if process is not None and not self._closed:
            process.join(1)
            self._failure = WorkerDied(f'[gluon.data.DataLoader] worker {process.name} (pid {process.pid}) ended with exit code '
                                       f'{process.exitcode} while the loader was in use')
            self._lock.notify_all()

    def _drain(self, seconds):
        """Take in, and free, what busy workers are about to send; the rest is left to the library's
        search for abandoned segments."""
        deadline = time.monotonic() + seconds
        while self._busy:
            ready = connection.wait(list(self._busy), max(0, deadline - time.monotonic()))
            if not ready:
                return
            for conn in ready:
                self._busy.pop(conn)
                try:
                    _, ok, packed = conn.recv()
                except (EOFError, OSError):
                    continue
                if ok:
                    pickle.loads(packed)

    def close(self):
        """End the workers. Safe to call again."""
        if self._owner != os.getpid():
            return    # a copy inherited by a fork, which must not touch the workers
        with self._lock:
            self._closed = True
            self._waiting.clear()
            self._wake()
        self._ended.wait(15)

    def _end(self):
        """What `close` asks for, on the dispatching thread."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
        self.forget(list(self._results))
        self._drain(1)
        processes = list(self._processes.items())
        self._processes = {}
        for conn, process in processes:
            try:
                conn.send(None)
            except OSError:
                pass
            conn.close()
        # A worker may be stopped, hang in native code, or have a handler of SIGTERM, which it
        # inherited; multiprocessing would wait for it at the end of the program, for ever.
        for ask in (None, multiprocessing.process.BaseProcess.terminate, multiprocessing.process.BaseProcess.kill):
            alive = [process for _, process in processes if process.is_alive()]
            for process in alive if ask else ():
                ask(process)
            deadline = time.monotonic() + 2
            for process in alive:
                process.join(max(0, deadline - time.monotonic()))
        with self._lock:
            self._idle.clear()
            os.close(self._wake_read)
            os.close(self._wake_write)
            self._wake_read = self._wake_write = None


class _Task:
    """A batch that a thread makes."""

    def __init__(self, indices):
        self.indices, self.done, self.dropped = indices, threading.Event(), False
        self.value = self.error = None


def _thread_loop(ended, *work):
    try:
        _make_batches(*work)
    finally:
        ended.set()


def _make_batches(owner, tasks, make, switches):
    """What a worker thread does, until its ThreadWorkers are closed or gone."""
    util.set_np(*switches)
    while True:
        try:
            task = tasks.get(timeout=_TICK)
        except queue.Empty:
            workers = owner()
            if workers is None or workers._closed or workers._abandoned():
                return
            del workers
            continue
        if task is None:
            return
        if not task.dropped:
            try:
                task.value = make(task.indices)
            except BaseException as e:    # pylint: disable=broad-except  (whoever fetches it decides)
                task.error = e
        task.done.set()
        del task


class ThreadWorkers(_Watched):
    """`count` threads, with the interface of ProcessWorkers."""

    def __init__(self, count, dataset, batchify_fn):
        super().__init__()
        self._closed = False
        self._tasks = queue.SimpleQueue()
        arguments = weakref.ref(self), self._tasks, functools.partial(make_batch, dataset, batchify_fn), _switches()
        self._threads = []    # (identifier, event of its end)
        for i in range(count):
            ended = threading.Event()
            thread = threading.Thread(target=_thread_loop, args=(ended, *arguments), name=f'mxnet-dataloader_{i}', daemon=True)
            thread.start()
            self._threads.append((thread.ident, ended))
        self._opened()

    def submit(self, indices):
        task = _Task(indices)
        self._tasks.put(task)
        return task

    def fetch(self, task, timeout):
        if not task.done.wait(timeout):
            raise multiprocessing.TimeoutError(f'[gluon.data.DataLoader] no batch after {timeout} seconds; a larger timeout is accepted')
        if task.error is not None:
            raise task.error
        return task.value

    def forget(self, tasks):
        for task in tasks:
            task.dropped = True

    def close(self):
        self._closed = True
        for _ in self._threads:
            self._tasks.put(None)
        for thread, ended in self._threads:
            if thread != threading.get_ident():
                ended.wait(5)
