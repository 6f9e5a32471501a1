"""The DataLoader, and the processes and threads that work for it."""
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet.gluon import data as D
from mxnet.gluon.data import batchify
from mxnet.gluon.data._workers import WorkerDied

pytestmark = pytest.mark.on_gpu


def numbers(n=5):
    return D.ArrayDataset(np.arange(2 * n, dtype='float32').reshape(n, 2), list(range(n)))


MODES = [dict(), dict(num_workers=2), dict(num_workers=2, thread_pool=True), dict(num_workers=1, prefetch=0)]


@pytest.mark.parametrize('mode', MODES, ids=['here', 'processes', 'threads', 'no prefetch'])
def test_loader_batches(mode):
    loader = D.DataLoader(numbers(), 2, **mode)
    for _ in range(2):
        batches = list(loader)
        assert len(loader) == len(batches) == 3
        assert [b[1].asnumpy().tolist() for b in batches] == [[0, 1], [2, 3], [4]]
        assert batches[0][0].dtype == np.float32 and batches[0][1].dtype == np.int64
        np.testing.assert_array_equal(np.concatenate([b[0].asnumpy() for b in batches]), np.arange(10).reshape(5, 2))


def test_batches_of_processes_are_in_shared_memory():
    loader = D.DataLoader(numbers(), 2, num_workers=1)
    batches = list(loader)
    assert all(x.context.device_type == 'cpu_shared' for b in batches for x in b)
    del loader
    assert batches[1][0].asnumpy().tolist() == [[4, 5], [6, 7]]    # outlives its worker
    assert (batches[0][0] + 1).asnumpy().tolist() == [[1, 2], [3, 4]]


def own_segments():
    """Shared memory that this process or a child of it made; its name holds the maker's number.
    Other programs use /dev/shm too."""
    def parent(pid):
        try:
            with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
                return int(f.read().rpartition(')')[2].split()[1])
        except OSError:
            return None    # has ended; its segments may be ours
    found = set()
    for name in os.listdir('/dev/shm'):
        maker = name.split('-')[1] if name.startswith('mxnet-') and name.count('-') == 2 else ''
        if maker.isdigit() and (int(maker) == os.getpid() or parent(maker) in (os.getpid(), None)):
            found.add(name)
    return found


def test_shared_memory_is_given_back():
    before = own_segments()
    loader = D.DataLoader(D.SimpleDataset([np.zeros(5000, 'float32')] * 12), 2, num_workers=2)
    for _ in range(3):
        for i, _ in enumerate(loader):
            if i == 1:
                break    # leaves batches under way
    loader.close()
    del loader
    deadline = time.monotonic() + 10
    while own_segments() - before and time.monotonic() < deadline:
        nd.waitall()
        time.sleep(0.1)
    assert not own_segments() - before


def test_loader_shuffles_and_samples():
    loader = D.DataLoader(numbers(20), 5, shuffle=True)
    a, b = ([x for batch in loader for x in batch[1].asnumpy().tolist()] for _ in range(2))
    assert sorted(a) == sorted(b) == list(range(20)) and a != b
    loader = D.DataLoader(numbers(), 2, sampler=D.SequentialSampler(4, 1), last_batch='discard')
    assert [x[1].asnumpy().tolist() for x in loader] == [[1, 2], [3, 4]]
    loader = D.DataLoader(numbers(), batch_sampler=[[4], [0, 1, 2]])
    assert [x[1].asnumpy().tolist() for x in loader] == [[4], [0, 1, 2]]


def test_order_is_the_same_with_workers():
    orders = []
    for workers in (0, 2):
        np.random.seed(3)
        loader = D.DataLoader(numbers(20), 4, shuffle=True, num_workers=workers)
        orders.append([x for b in loader for x in b[1].asnumpy().tolist()])
    assert orders[0] == orders[1]


def test_contradicting_arguments():
    d = numbers()
    for wrong in (dict(), dict(batch_size=2, shuffle=True, sampler=D.SequentialSampler(3)), dict(batch_size=2, batch_sampler=[[1]]),
                  dict(shuffle=True, batch_sampler=[[1]])):
        with pytest.raises(ValueError):
            D.DataLoader(d, **wrong)
    with pytest.raises(AssertionError, match='timeout'):
        D.DataLoader(d, 2, timeout=0)


def fail(x, y):
    if y == 3:
        raise KeyError('boom')
    return x, y


class Unpicklable(Exception):
    def __init__(self, a, b):
        super().__init__(a)


def fail_unpicklable(x, y):
    raise Unpicklable('first', 'second')


@pytest.mark.parametrize('mode', MODES[:3], ids=['here', 'processes', 'threads'])
def test_exceptions_arrive(mode):
    loader = D.DataLoader(numbers().transform(fail), 2, **mode)
    got = []
    with pytest.raises(KeyError, match='boom') as caught:
        for batch in loader:
            got.append(batch)
    assert len(got) == 1
    if mode.get('num_workers') and not mode.get('thread_pool'):
        assert 'in fail' in str(caught.value.__cause__)    # the worker's traceback
    with pytest.raises(KeyError):
        list(loader)    # and the loader can be used again


def test_exception_that_cannot_be_pickled():
    with pytest.raises(RuntimeError, match='Unpicklable: first'):
        list(D.DataLoader(numbers().transform(fail_unpicklable), 2, num_workers=1))


@pytest.mark.parametrize('threads', [False, True])
def test_timeout(threads):
    context = multiprocessing.get_context('fork')
    go_on, done = context.Event(), context.Event()

    def slow(x, y):
        go_on.wait(60)
        done.set()
        return x, y
    with pytest.raises(multiprocessing.TimeoutError, match='timeout'):
        list(D.DataLoader(numbers().transform(slow), 1, num_workers=1, timeout=0.3, thread_pool=threads))
    assert not done.is_set()    # nobody waited for the worker
    go_on.set()


def test_worker_that_dies_is_reported_at_once():
    def die(x, y):
        os.kill(os.getpid(), signal.SIGKILL)
    with pytest.raises(WorkerDied, match='exit code -9'):    # what waits for its batch for a minute raises a TimeoutError
        list(D.DataLoader(numbers().transform(die), 2, num_workers=2, timeout=60))


def test_leaving_early_and_starting_again():
    loader = D.DataLoader(numbers(40), 2, num_workers=2)
    for _ in range(3):
        for batch in loader:
            assert batch[1].asnumpy().tolist() == [0, 1]
            break
    assert len(list(loader)) == 20
    first, second = iter(loader), iter(loader)
    assert next(first)[1].asnumpy().tolist() == next(second)[1].asnumpy().tolist() == [0, 1]


def test_workers_end_with_the_loader():
    loader = D.DataLoader(numbers(), 2, num_workers=2)
    list(loader)
    processes = list(loader._workers._processes.values())
    assert all(p.is_alive() for p in processes)
    threads = threading.active_count()
    loader.close()
    assert not any(p.is_alive() for p in processes) and threading.active_count() < threads


def test_workers_end_before_the_interpreter():
    """A loader that lives until the end, as in a cycle: its __del__ would find the lock of a thread
    that is stopped already."""
    program = '''
import atexit
kept = []
atexit.register(lambda: print(kept[0]._workers._closed))    # runs behind the handlers of what is imported now
from mxnet.gluon import data
loader = data.DataLoader(data.SimpleDataset([1, 2, 3]), 1, num_workers=2)
next(iter(loader))
loader.itself = loader
kept.append(loader)
'''
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == 'True\n', done.stderr


def test_auto_reload_prepares_the_next_epoch():
    loader = D.DataLoader(numbers(), 2, num_workers=1, auto_reload=True)
    assert loader._prefetch_iter is not None
    for _ in range(2):
        assert [b[1].asnumpy().tolist() for b in loader] == [[0, 1], [2, 3], [4]]
        assert loader._prefetch_iter is not None
    loader.clean()
    assert loader._prefetch_iter is None


def test_big_batches_and_other_objects():
    big = D.SimpleDataset([np.full((3, 200, 200), i, 'float32') for i in range(6)])
    for i, b in enumerate(D.DataLoader(big, 2, num_workers=2)):
        assert b.shape == (2, 3, 200, 200) and b[1].asnumpy().max() == 2 * i + 1
    texts = D.DataLoader(D.SimpleDataset(['x' * 200000] * 4), 1, num_workers=1, batchify_fn=batchify.AsList())
    assert [len(b[0]) for b in texts] == [200000] * 4


def test_workers_compute_with_ndarrays():
    """On the CPU, whatever the loop's device is."""
    def work(x, y):
        return (nd.array(x) * 2 + 1), y
    nd.ones((3,)).wait_to_read()    # the parent's engine runs before the fork
    loader = D.DataLoader(numbers().transform(work), 2, num_workers=2)
    np.testing.assert_array_equal(np.concatenate([b[0].asnumpy() for b in loader]), np.arange(10).reshape(5, 2) * 2 + 1)


def test_workers_draw_different_random_numbers():
    def draw(x, y):
        time.sleep(0.01)
        return np.random.rand(), y
    values = [v for b in D.DataLoader(numbers(40).transform(draw), 1, num_workers=2) for v in b[0].asnumpy()]
    assert len(set(values)) == 40


@pytest.mark.parametrize('method', ['spawn', 'forkserver'])
def test_workers_start_as_the_program_says(tmp_path, method):
    (tmp_path / 'program.py').write_text("""
import multiprocessing, os, sys
import mxnet as mx, numpy as np

class Data(mx.gluon.data.Dataset):
    def __init__(self):
        self.values = mx.nd.arange(8)
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return self.values[i] * 2, os.getppid(), mx.env.value('MXNET_CPU_WORKER_NTHREADS')

if __name__ == '__main__':
    multiprocessing.set_start_method(sys.argv[1])
    loader = mx.gluon.data.DataLoader(Data(), batch_size=4, num_workers=2)
    for epoch in range(2):
        for values, parents, threads in loader:
            print(values.asnumpy().ravel().tolist(), threads.asnumpy().tolist())
    print((parents.asscalar() if parents.size == 1 else parents[0].asscalar()) == os.getpid(), 'OMP_NUM_THREADS' in os.environ)
    try:
        mx.gluon.data.DataLoader([1, 2], batch_size=1, num_workers=1, batchify_fn=lambda x: x)
    except Exception as error:
        print('cannot be pickled' if 'pickle' in str(error) else error)
""")
    env = {k: v for k, v in os.environ.items() if k != 'OMP_NUM_THREADS'}
    done = subprocess.run([sys.executable, str(tmp_path / 'program.py'), method], capture_output=True, text=True, timeout=120,
                          env={**env, 'MXNET_MP_WORKER_NTHREADS': '3'})
    epoch = ['[0.0, 2.0, 4.0, 6.0] [3, 3, 3, 3]', '[8.0, 10.0, 12.0, 14.0] [3, 3, 3, 3]']
    assert done.stdout.splitlines() == 2 * epoch + [f'{method == "spawn"} False', 'cannot be pickled'], done.stderr


@pytest.mark.parametrize('name, value', [('MXNET_MP_WORKER_NTHREADS', '3'), ('MXNET_MP_OPENCV_NUM_THREADS', '2')])
def test_worker_settings(name, value):
    def look(_):
        return {'OMP_NUM_THREADS': mx.env.value('OMP_NUM_THREADS'),
                'opencv': os.environ['OPENCV_FOR_THREADS_NUM'], name: mx.env.value(name)}
    before = mx.env.value(name)
    try:
        mx.util.set_env(name, value)
        seen = next(iter(D.DataLoader(D.SimpleDataset([0]).transform(look), 1, num_workers=1, batchify_fn=batchify.AsList())))[0]
        assert seen['OMP_NUM_THREADS'] == 1 and str(seen[name]) == value
        assert seen['opencv'] == ('2' if 'OPENCV' in name else str(max(1, mx.env.value('MXNET_MP_OPENCV_NUM_THREADS'))))
    finally:
        mx.util.set_env(name, before)


INTERRUPTED = '''
import sys, time
import mxnet as mx
from mxnet import gluon, nd
data = gluon.data.ArrayDataset(nd.ones((64, 4)), nd.ones((64,)))
print('ready', flush=True)
try:
    end = time.time() + 20
    while time.time() < end:
        loader = gluon.data.DataLoader(data, 8, num_workers=2, thread_pool={threads})
        for _ in range(2):
            for x, y in loader:
                x.sum()
            for x, y in loader:
                break
except KeyboardInterrupt:
    sys.exit(2)
'''


def interrupt_loops(repetitions, threads):
    """Exit codes of loops over loaders, half of them with their workers, that get SIGINT after a
    random time; 2 where it was seen, elsewhere with what was printed."""
    random, codes = np.random.RandomState(repetitions), []
    for i in range(repetitions):
        loop = subprocess.Popen([sys.executable, '-c', INTERRUPTED.format(threads=threads)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True)
        loop.stdout.readline()
        time.sleep(.05 + .6 * random.rand())
        (os.killpg if i % 2 else os.kill)(loop.pid, signal.SIGINT)
        said = loop.communicate(timeout=60)[1].decode()
        codes.append(2 if loop.returncode == 2 else (loop.returncode, said[-3000:]))
    return codes


@pytest.mark.parametrize('threads', [False, True])
def test_interrupt_is_not_lost(threads):
    assert interrupt_loops(4, threads) == [2] * 4


EARLY = '''
import os, signal, sys
from mxnet import gluon

class Finder:
    def find_spec(self, name, *_):
        if name == 'mxnet.gluon.data._workers':
            os.kill(os.getpid(), signal.SIGINT)
            print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, flush=True)

sys.meta_path.insert(0, Finder())
try:
    gluon.data.DataLoader([1, 2], 1, num_workers=1, thread_pool={threads})
except KeyboardInterrupt:
    print(hasattr(sys.modules.get('mxnet.gluon.data._workers'), 'ThreadWorkers'))
    sys.exit(2)
'''


@pytest.mark.parametrize('threads', [False, True])
def test_interrupt_waits_for_imports(threads):
    """Imports of Python lose it at times."""
    done = subprocess.run([sys.executable, '-c', EARLY.format(threads=threads)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.split()) == (2, ['False', 'True']), done.stderr


LAZY = '''
import os, signal, sys
import mxnet as mx

class Finder:
    def find_spec(self, name, *_):
        if name == 'mxnet.gluon.data.dataloader':
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
try:
    mx.gluon.data.DataLoader
except KeyboardInterrupt:
    print('mxnet.gluon.data.dataloader' in sys.modules)
'''


def test_interrupt_waits_for_modules_that_are_loaded_when_asked_for():
    done = subprocess.run([sys.executable, '-c', LAZY], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.split()) == (0, ['True']), done.stderr


@pytest.mark.parametrize('threads', [False, True])
@pytest.mark.parametrize('closed', [False, True])
def test_the_end_of_a_loader_calls_no_function_of_python(threads, closed):
    """Where it would be called by a destructor or a weak reference, it would lose an interrupt."""
    calls = []
    for _ in range(5):
        loader = D.DataLoader(list(range(20)), 2, num_workers=2, thread_pool=threads, batchify_fn=list)
        for _ in loader:
            break
        if closed:
            loader.close()
        sys.settrace(lambda frame, event, arg: calls.append(frame.f_code))
        loader = None
        sys.settrace(None)
    assert not calls and loader is None


@pytest.mark.nightly
@pytest.mark.parametrize('threads', [False, True])
def test_interrupt_is_not_lost_in_100_loops(threads):
    assert interrupt_loops(100, threads) == [2] * 100


EPOCHS = '''
import os, resource, sys
import numpy as np
from mxnet import nd
from mxnet.gluon import data
epochs, workers = int(sys.argv[1]), int(sys.argv[2])

def resident():
    return int(open('/proc/self/statm').read().split()[1]) * resource.getpagesize()

def children():
    task = f'/proc/self/task/{os.getpid()}/children'
    return open(task).read().split()

def files():
    return len(os.listdir('/proc/self/fd'))

dataset = data.ArrayDataset(np.random.uniform(size=(256, 3000)).astype('float32'), list(range(256)))
before = files()
loader = data.DataLoader(dataset, 8, shuffle=True, num_workers=workers)
sizes = []
for epoch in range(epochs):
    assert sum(int(labels.sum().asscalar()) for _, labels in loader) == 255 * 128
    if epoch % 7 == 0:
        next(iter(loader))                      # and an epoch that nobody finishes
    sizes.append(resident())
nd.waitall()
pids = [str(os.getpid()), *children()]
assert len(pids) == workers + 1, pids
loader.close()
del loader
nd.waitall()
settled = sizes[epochs // 2]
assert max(sizes[-5:]) < settled + (8 << 20), (settled, sizes[-5:])
assert not children() and files() <= before + 1, (children(), files(), before)
print(*pids)
'''


@pytest.mark.parametrize('epochs, workers', [(6, 2), pytest.param(200, 8, marks=pytest.mark.nightly)])
def test_epochs_leave_nothing_behind(epochs, workers):
    done = subprocess.run([sys.executable, '-c', EPOCHS, str(epochs), str(workers)], capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    pids = set(done.stdout.split())
    assert len(pids) == workers + 1
    assert not [name for name in os.listdir('/dev/shm') if name.startswith('mxnet-') and name.split('-')[1] in pids]


IMPORTED_WHILE_FORKED = """
import os, signal, sys, threading, time
import mxnet as mx
begun = threading.Event()

class Slow:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == 'mxnet.image._rotate':     # one of the modules of mx.image
            begun.set()
            time.sleep(0.5)

sys.meta_path.insert(0, Slow)
thread = threading.Thread(target=lambda: mx.image.imrotate)
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    signal.alarm(30)
    os._exit(mx.image.imrotate is None)
assert os.waitpid(child, 0)[1] == 0
thread.join()
"""


def test_a_fork_while_another_thread_imports():
    """The child would wait for that thread, which it does not have."""
    subprocess.run([sys.executable, '-c', IMPORTED_WHILE_FORKED], check=True, timeout=200)


MODULE_WHILE_FORKED = """
import os, signal, sys, threading
import mxnet as mx
begun = threading.Event()
sys.path.insert(0, sys.argv[1])
thread = threading.Thread(target=lambda: __import__('slow_module'))
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    signal.alarm(30)
    import slow_module
    os._exit(slow_module.done)
assert os.waitpid(child, 0)[1] == 7 << 8
thread.join()
"""


def test_a_fork_while_another_thread_imports_any_module(tmp_path):
    """`logging` has callbacks of fork itself, of which this fork has seen only the later ones."""
    (tmp_path / 'slow_module.py').write_text('import __main__, time\n__main__.begun.set()\ntime.sleep(0.5)\nimport logging\ndone = 7\n')
    done = subprocess.run([sys.executable, '-c', MODULE_WHILE_FORKED, tmp_path], check=True, capture_output=True, text=True, timeout=200)
    assert not done.stderr


FIRST_USES = """
import sys, threading
import mxnet as mx
sys.setswitchinterval(1e-5)
failed, begin = [], threading.Barrier(8)

def dense():
    layer = mx.gluon.nn.Dense(4)
    layer.initialize()
    layer.hybridize()
    layer(mx.nd.ones((2, 40))).asnumpy()

uses = [dense, lambda: mx.np.linalg.svd(mx.np.ones((5, 5)))[1].asnumpy(), lambda: mx.sym.var('a').infer_shape(a=(1,)),
        lambda: mx.np.sort(mx.np.array([3, 1, 2])).asnumpy(), lambda: mx.nd.dot(mx.nd.ones((3, 4)), mx.nd.ones((4, 3))).asnumpy(),
        lambda: mx.nd.ones(3).as_np_ndarray(), lambda: mx.random.seed(1), lambda: mx.npx.relu(mx.np.ones(3)).asnumpy()]

def run(use):
    begin.wait()
    try:
        use()
    except BaseException as error:
        failed.append(repr(error))

threads = [threading.Thread(target=run, args=(use,)) for use in uses]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit(chr(10).join(failed) or 0)
"""


def test_threads_may_all_be_the_first_to_use_the_package():
    for _ in range(4):
        done = subprocess.run([sys.executable, '-c', FIRST_USES], check=False, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr


STUCK = """
import os, signal, sys, time
import numpy as np
from mxnet import gluon

class Numbers(gluon.data.Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, i):
        if i == 5:
            if sys.argv[1] == "stopped":
                os.kill(os.getpid(), signal.SIGSTOP)
            time.sleep(1000)
        return np.float32([i])

if sys.argv[1] == "handler":       # which the workers inherit
    signal.signal(signal.SIGTERM, lambda *_: None)
try:
    list(gluon.data.DataLoader(Numbers(), batch_size=4, num_workers=2, timeout=1))
except Exception as error:
    print(type(error).__name__, flush=True)
"""


@pytest.mark.parametrize('how', ['stopped', 'handler'])
def test_a_program_ends_though_a_worker_does_not(how):
    done = subprocess.run([sys.executable, '-c', STUCK, how], capture_output=True, text=True, timeout=60)
    assert done.stdout == 'TimeoutError\n' and done.returncode == 0, done.stderr
