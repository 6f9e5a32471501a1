"""Classes of the user's own, with parameter names of the user's own."""
from __future__ import annotations
from typing import Any, Sequence

import numpy as onp
import mxnet as mx
from mxnet import gluon, nd


class Weights(mx.init.Initializer):
    def __init__(self, scale: float = 0.1) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, _: Any, array: nd.NDArray) -> None:
        array[:] = self.scale

    def _init_bias(self, _: Any, array: nd.NDArray) -> None:
        array[:] = 0.5

    def _init_default(self, desc: Any, out: nd.NDArray) -> None:
        out[:] = 0


class Sgd(mx.optimizer.Optimizer):
    def create_state(self, i: int, w: nd.NDArray) -> nd.NDArray:
        return mx.nd.zeros(w.shape, w.context, dtype=w.dtype)

    def update(self, i: int, w: nd.NDArray, g: nd.NDArray, s: Any) -> None:
        self._update_count(i)
        w -= self._get_lr(i) * (g * self.rescale_grad + self._get_wd(i) * w)


class Mse(mx.metric.EvalMetric):
    def __init__(self) -> None:
        super().__init__("mymse")

    def update(self, labels: Sequence[nd.NDArray], preds: Sequence[nd.NDArray]) -> None:
        for a, b in zip(labels, preds):
            self.sum_metric += float(((a - b) ** 2).mean().asscalar())
            self.num_inst += 1


class Poly(mx.lr_scheduler.LRScheduler):
    def __call__(self, step: int) -> float:
        return self.base_lr / (1 + step)


class Data(gluon.data.Dataset):
    def __getitem__(self, i: int) -> tuple[onp.ndarray[Any, Any], int]:
        return onp.zeros((2,), "float32"), i

    def __len__(self) -> int:
        return 4


class Odd(gluon.data.Sampler):
    def __iter__(self) -> Any:
        return iter(range(1, 4, 2))

    def __len__(self) -> int:
        return 2


class Iter(mx.io.DataIter):
    def __init__(self) -> None:
        super().__init__(2)
        self.n = 0

    @property
    def provide_data(self) -> list[mx.io.DataDesc]:
        return [mx.io.DataDesc("data", (2, 3))]

    @property
    def provide_label(self) -> list[mx.io.DataDesc]:
        return [mx.io.DataDesc("softmax_label", (2,))]

    def reset(self) -> None:
        self.n = 0

    def next(self) -> mx.io.DataBatch:
        if self.n == 2:
            raise StopIteration
        self.n += 1
        return mx.io.DataBatch([nd.ones((2, 3))], [nd.zeros((2,))], pad=0, index=None)


class Twice(mx.operator.CustomOp):
    def forward(self, is_train: bool, req: list[str], in_data: list[nd.NDArray], out_data: list[nd.NDArray], aux: list[nd.NDArray]) -> None:
        self.assign(out_data[0], req[0], in_data[0] * 2)

    def backward(self, req: list[str], out_grad: list[nd.NDArray], in_data: list[nd.NDArray], out_data: list[nd.NDArray],
                 in_grad: list[nd.NDArray], aux: list[nd.NDArray]) -> None:
        self.assign(in_grad[0], req[0], out_grad[0] * 2)


@mx.operator.register("twice_rel")
class TwiceProp(mx.operator.CustomOpProp):
    def __init__(self) -> None:
        super().__init__(need_top_grad=True)

    def list_arguments(self) -> list[str]:
        return ["data"]

    def list_outputs(self) -> list[str]:
        return ["output"]

    def infer_shape(self, shapes: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        return shapes, [shapes[0]], []

    def create_operator(self, device: Any, shapes: Any, types: Any) -> Twice:
        return Twice()


class Focal(gluon.loss.Loss):
    def __init__(self, gamma: float = 2.0, **kwargs: Any) -> None:
        super().__init__(None, 0, **kwargs)
        self.gamma = gamma

    def hybrid_forward(self, F: Any, scores: Any, target: Any, sample_weight: Any = None) -> Any:
        p = F.softmax(scores)
        return -F.pick((1 - p) ** self.gamma * F.log(p + 1e-9), target)


class Own(gluon.HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        self.layer = gluon.nn.Dense(2)

    def forward(self, images: nd.NDArray, scale: float = 1.0) -> nd.NDArray:
        return self.layer(images) * scale


class Clip(mx.autograd.Function):
    def forward(self, x: nd.NDArray) -> nd.NDArray:
        self.save_for_backward(x)
        return nd.clip(x, 0, 1)

    def backward(self, dy: nd.NDArray) -> nd.NDArray:
        x, = self.saved_tensors
        return dy * (x > 0) * (x < 1)


def stat(array: nd.NDArray) -> nd.NDArray:
    return nd.norm(array) / float(onp.sqrt(array.size))


w = nd.ones((2,))
w.attach_grad()
with mx.autograd.record():
    y = nd.Custom(w, op_type="twice_rel") + Clip()(w)
y.backward()
net = Own()
net.initialize(Weights())
trainer = gluon.Trainer(net.collect_params(), Sgd(learning_rate=0.1, lr_scheduler=Poly(0.5)))
with mx.autograd.record():
    loss = Focal()(net(nd.ones((2, 3))), nd.zeros((2,)))
loss.backward()
trainer.step(2)
metric = Mse()
metric.update([nd.ones((2,))], [nd.zeros((2,))])
assert w.grad is not None
print(w.grad.asnumpy(), metric.get(), len(gluon.data.DataLoader(Data(), 2, sampler=Odd())), sum(1 for _ in Iter()))
print(mx.mon.Monitor(1, stat_func=stat).interval)
