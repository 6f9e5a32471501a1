"""Forks beside threads that are the first to use parts of the package. One process forks programs
that have just imported it; each has three threads at work, and forks children that work as well."""
import subprocess
import sys

import pytest

PROGRAMS = '''
import os, random, signal, sys, threading, time
import mxnet as mx

def train():
    x = mx.nd.ones((8, 40))
    x.attach_grad()
    with mx.autograd.record():
        y = (mx.nd.softmax(x) * x).sum()
    y.backward()
    x.grad.asnumpy()

def layer():
    dense = mx.gluon.nn.Dense(4, in_units=40)
    dense.initialize()
    dense.hybridize()
    dense(mx.nd.ones((3, 40))).asnumpy()

USES = [train, layer, lambda: mx.nd.dot(mx.nd.ones((300, 40)), mx.nd.ones((40, 300))).sum().asscalar(),
        lambda: mx.np.linalg.svd(mx.np.ones((5, 5)))[1].asnumpy(), lambda: mx.nd.random.normal(shape=(50, 50)).asnumpy(),
        lambda: mx.np.sort(mx.np.array([3, 1, 2])).asnumpy(), lambda: mx.sym.var('a').infer_shape(a=(1,)),
        lambda: mx.nd.Convolution(mx.nd.ones((1, 3, 20, 20)), mx.nd.ones((8, 3, 3, 3)), no_bias=True,
                                  kernel=(3, 3), num_filter=8).asnumpy()]

def work(seed, failed, uses=6):
    chosen = random.Random(seed)
    try:
        for _ in range(uses):
            chosen.choice(USES)()
    except BaseException as error:
        failed.append(repr(error))

def status_of(run):
    child = os.fork()
    if child == 0:
        signal.alarm(120)
        os._exit(run())
    return os.waitpid(child, 0)[1]

def in_child(seed):
    failed = []
    work(seed, failed, 4)
    print(*failed, sep='\\\\n', end='', file=sys.stderr)
    return bool(failed)

def program(seed):
    failed = []
    threads = [threading.Thread(target=work, args=(10 * seed + i, failed)) for i in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(random.Random(seed).choice([0, 0, 0.001, 0.003, 0.01, 0.03]))
    for i in range(2):
        status = status_of(lambda: in_child(77 * seed + i))
        if status:
            failed.append(f'a child ended with {status}')
    for thread in threads:
        thread.join()
    print(*failed, sep='\\\\n', end='', file=sys.stderr)
    return bool(failed)

ended = {seed: status_of(lambda: program(seed)) for seed in range(int(sys.argv[1]))}
sys.exit(any(ended.values()) and f'{ended}')
'''


@pytest.mark.nightly
@pytest.mark.parametrize('threads', ['1', '2'])
def test_programs_that_fork_beside_first_uses(threads, monkeypatch):
    monkeypatch.setenv('OMP_NUM_THREADS', threads)
    ran = subprocess.run([sys.executable, '-W', 'ignore', '-c', PROGRAMS, '60'], check=False, capture_output=True, text=True, timeout=1800)
    assert ran.returncode == 0, ran.stderr
