"""Numbers at and beyond the ends of what each environment variable accepts: a small net trains, or
the import says what is accepted."""
import json
import os
import re
import subprocess
import sys

import pytest

TRAIN = r"""
import re
import numpy as np
import mxnet as mx
from mxnet import autograd, gluon

x, y = mx.nd.random.uniform(shape=(8, 3, 12, 12)), mx.nd.arange(8) % 4
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Conv2D(8, 3, activation='relu'), gluon.nn.BatchNorm(), gluon.nn.MaxPool2D(), gluon.nn.Flatten(),
        gluon.nn.Dense(16, activation='tanh'), gluon.nn.Dropout(0.3), gluon.nn.Dense(4))
net.initialize(mx.init.Xavier())
net.hybridize(static_alloc=True)
trainer = gluon.Trainer(net.collect_params(), 'adam', kvstore='device')
loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
for _ in range(3):
    with autograd.record():
        loss = loss_of(net(x), y)
    loss.backward()
    trainer.step(8)
assert np.isfinite(loss.asnumpy()).all()

out = mx.sym.Convolution(mx.sym.Variable('data'), kernel=(3, 3), num_filter=4)
out = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Dropout(mx.sym.Activation(out, act_type='relu')), num_hidden=4), name='softmax')
module = mx.mod.Module(out)
data = mx.io.NDArrayIter(x.asnumpy(), y.asnumpy(), batch_size=4)
module.fit(data, num_epoch=2, optimizer='sgd', eval_metric='acc')
assert np.isfinite(module.predict(data).asnumpy()).all()
assert np.isfinite((mx.nd.random.normal(shape=(300, 300)) + 1).pick(mx.nd.zeros(300)).asnumpy()).all()
# getrusage would also count what the parent process had when it started this one.
print('trained', int(re.search(r'VmHWM:\s+(\d+)', open('/proc/self/status').read()).group(1)) >> 10)
"""
MOST_MEGABYTES = 1200   # the same program without variables: about 150
FAR = ["0", "1", str(2**31 - 1), str(2**31), str(2**63 - 1), str(2**63)]


def run(code, **variables):
    """Runs Python with these variables and none of the caller's, except where the package and its
    library are."""
    environment = {k: v for k, v in os.environ.items()
                   if not re.match("MXNET_|NNVM_|OMP_|DMLC_|CUDA_HOME", k) or k == "MXNET_LIBRARY_PATH"}
    environment.update(variables)
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=400)


def numbers():
    """Returns name -> (accepted, smallest, largest) of the variables that take numbers; the largest
    is None where there is no end."""
    rows = json.loads(run("import json, mxnet.env; print(json.dumps(mxnet.env.list()))").stdout)
    found = {}
    for row in rows:
        if row["type"] not in ("int", "float", "bitmask"):
            continue
        accepted = row["accepted"]
        if accepted.startswith(">="):
            found[row["name"]] = (accepted, accepted[2:], None)
        elif ".." in accepted:
            found[row["name"]] = (accepted, *accepted.split(".."))
        else:
            choices = ["-1", "0"] if accepted == "bitmask" else accepted.split("|")
            found[row["name"]] = (accepted, choices[0], None if accepted == "bitmask" else choices[-1])
    return found


def check_trains(**variables):
    result = run(TRAIN, **variables)
    assert result.returncode == 0, (variables, result.stderr[-2000:])
    memory = int(re.search(r"trained (\d+)", result.stdout).group(1))
    assert memory < MOST_MEGABYTES, (variables, memory)


def check_refused(result, name, value, accepted):
    last = result.stderr.strip().splitlines()[-1]
    assert result.returncode == 1 and name in last and f"'{value}'" in last and accepted in last, (name, value, result.stderr[-500:])


def test_a_small_net_trains_with_all_smallest_and_all_largest_numbers():
    table = numbers()
    assert len(table) > 40
    check_trains(**{name: smallest for name, (_, smallest, _) in table.items()})
    check_trains(**{name: most or str(2**31 - 1) for name, (_, _, most) in table.items()})


def test_far_numbers_are_taken_or_refused_with_what_is_accepted():
    table = numbers()
    code = ("import json, sys, mxnet.util as u\n"
            "said = {}\n"
            "for name, value in json.loads(sys.argv[1]):\n"
            "    try:\n        u.set_env(name, value)\n        u.set_env(name, '')\n        said[name + '=' + value] = ''\n"
            "    except ValueError as e: said[name + '=' + value] = str(e)\n"
            "print(json.dumps(said))")
    cases = [(name, value) for name in table for value in FAR + ["-1", "-2147483649", "1e99", "nan", "cores", "all"]]
    code = code.replace("sys.argv[1]", repr(json.dumps(cases)))
    result = run(code)
    assert result.returncode == 0, result.stderr
    said = json.loads(result.stdout.splitlines()[-1])
    for name, value in cases:
        message = said[f"{name}={value}"]
        accepted, smallest, largest = table[name]
        try:
            inside = float(value) >= float(smallest) and (largest is None or float(value) <= float(largest))
        except ValueError:
            inside = None
        if message and "fixed after start" not in message:
            assert name in message and f"'{value}'" in message and accepted in message, message
        elif inside is not None:
            assert inside, f"{name}={value} was taken; accepted: {accepted}"


@pytest.mark.nightly
def test_every_number_by_itself():
    for name, (accepted, smallest, largest) in numbers().items():
        for value in dict.fromkeys(FAR + [smallest] + ([largest] if largest else [])):
            result = run("import mxnet", **{name: value})
            if result.returncode == 0:
                check_trains(**{name: value})
            else:
                check_refused(result, name, value, accepted)
