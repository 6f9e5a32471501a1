"""Custom metric, initializer, optimizer, iterator, autograd.Function, hooks, schedulers."""
from __future__ import annotations

from typing import Any, Callable, Union

import numpy as np
import mxnet as mx
from mxnet import autograd, gluon, nd


class TopK(mx.metric.EvalMetric):
    def __init__(self, k: int = 2) -> None:
        super().__init__(f"top{k}")
        self.k = k

    def update(self, labels: list[nd.NDArray], preds: list[nd.NDArray]) -> None:
        for label, pred in zip(labels, preds):
            order = np.argsort(-pred.asnumpy(), axis=1)[:, : self.k]
            self.sum_metric += float((order == label.asnumpy()[:, None]).any(axis=1).sum())
            self.num_inst += label.shape[0]


@mx.init.register
class Bilinear2(mx.init.Initializer):
    def __init__(self, scale: float = 1.0) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name: str, arr: nd.NDArray) -> None:
        arr[:] = self.scale


@mx.optimizer.register
class Plain(mx.optimizer.Optimizer):
    def __init__(self, learning_rate: float = 0.1, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)

    def create_state(self, index: int, weight: nd.NDArray) -> nd.NDArray:
        return nd.zeros(weight.shape, weight.context, dtype=weight.dtype)

    def update(self, index: int, weight: nd.NDArray, grad: nd.NDArray, state: nd.NDArray) -> None:
        self._update_count(index)
        lr = self._get_lr(index)
        state[:] += grad * self.rescale_grad
        weight[:] -= lr * state


class Sigmoid(autograd.Function):
    def forward(self, x: nd.NDArray) -> nd.NDArray:
        y = 1 / (1 + nd.exp(-x))
        self.save_for_backward(y)
        return y

    def backward(self, dy: nd.NDArray) -> nd.NDArray:
        y, = self.saved_tensors
        return dy * y * (1 - y)


class Polynomial(mx.lr_scheduler.LRScheduler):
    def __init__(self, base_lr: float, total: int) -> None:
        super().__init__(base_lr)
        self.total = total

    def __call__(self, num_update: int) -> float:
        return self.base_lr * (1 - num_update / self.total) ** 2


def hook(block: gluon.Block, inputs: tuple[nd.NDArray, ...], output: nd.NDArray) -> None:
    print("hook", block.name, inputs[0].shape, output.shape)


def apply_to(net: gluon.Block, fn: Callable[[gluon.Block], None]) -> gluon.Block:
    return net.apply(fn)


def freeze(net: gluon.Block, pattern: str) -> int:
    count = 0
    for p in net.collect_params(pattern).values():
        p.grad_req = "null"
        count += int(np.prod(p.shape))
    return count


def gradients(f: Callable[[nd.NDArray], nd.NDArray], x: nd.NDArray) -> nd.NDArray:
    x.attach_grad()
    with autograd.record():
        y = f(x)
    y.backward()
    return x.grad


def second(x: nd.NDArray) -> nd.NDArray:
    x.attach_grad()
    with autograd.record():
        y = x ** 3
        first = autograd.grad(y, x, create_graph=True)[0]
    first.backward()
    return x.grad


def number(x: Union[float, nd.NDArray]) -> float:
    return float(x.asscalar()) if isinstance(x, nd.NDArray) else x


def main() -> None:
    metric = TopK(2)
    metric.update([nd.array([0, 1])], [nd.array([[0.1, 0.2, 0.7], [0.2, 0.5, 0.3]])])
    name, value = metric.get()
    print(name, round(value, 2), metric.get_name_value())
    both = mx.metric.CompositeEvalMetric([mx.metric.Accuracy(), mx.metric.TopKAccuracy(top_k=2)])
    both.update([nd.array([0, 1])], [nd.array([[0.1, 0.9], [0.2, 0.8]])])
    for n, v in zip(*both.get()):
        print(n, v)
    several = mx.metric.create(["acc", "ce"])
    names, values = several.get()
    print(len(names), len(values))
    custom = mx.metric.np(lambda label, pred: float(np.abs(label - pred).mean()))
    print(custom.name)
    net = gluon.nn.Sequential()
    net.add(gluon.nn.Dense(4, activation="tanh"), gluon.nn.Dense(2))
    net.initialize(Bilinear2(0.5))
    handle = net.register_forward_hook(hook)
    out = net(nd.ones((1, 3)))
    handle.detach()
    print(out.asnumpy(), freeze(net, ".*bias"), type(apply_to(net, lambda b: None)).__name__)
    trainer = gluon.Trainer(net.collect_params(), Plain(learning_rate=0.2, lr_scheduler=Polynomial(0.2, 10)))
    with autograd.record():
        loss = net(nd.ones((2, 3))).sum()
    loss.backward()
    trainer.step(2)
    print(trainer.learning_rate, number(loss), number(3.0))
    print(gradients(Sigmoid(), nd.array([0.0, 1.0])).asnumpy(), second(nd.array([2.0])).asscalar())
    kv = mx.kv.create("local")
    kv.init("w", nd.ones((2,)))
    kv.push("w", [nd.ones((2,)), nd.ones((2,))])
    out2 = nd.zeros((2,))
    kv.pull("w", out=out2)
    print(out2.asnumpy(), kv.rank, kv.num_workers)
    a = nd.arange(6).reshape((2, 3))
    a += 1
    mask = a > 3
    print((mask * a).sum().asscalar(), a[:, 1].asnumpy(), a[nd.array([1], dtype="int32")].shape, nd.concat(*[a, a], dim=0).shape)
    print(nd.contrib.boolean_mask(a, nd.array([0, 1])).shape, (a.max() - a.min()).asscalar(), -a[0, 0].asscalar())
    sparse = a.tostype("default")
    print(sparse.shape)


main()
