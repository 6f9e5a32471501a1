"""Ordinary uses of optimizers, metrics, custom operators, images and records with annotations."""
from typing import Any, Optional

import mxnet as mx
from mxnet import autograd, image, nd, recordio
from mxnet.gluon.data.vision import transforms


@mx.optimizer.register
class Halves(mx.optimizer.Optimizer):
    def __init__(self, floor: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.floor = floor

    def create_state(self, index: int, weight: nd.NDArray) -> Optional[nd.NDArray]:
        return None

    def update(self, index: int, weight: nd.NDArray, grad: nd.NDArray, state: Optional[nd.NDArray]) -> None:
        weight[:] = weight * 0.5 - grad * self.lr + self.floor


class Ones(mx.io.DataIter):
    """Batches of ones; `loading.py` has an iterator with properties instead."""

    def __init__(self, count: int) -> None:
        super().__init__(batch_size=2)
        self.left = count
        self.provide_data = [mx.io.DataDesc("data", (2, 4))]
        self.provide_label = []

    def next(self) -> mx.io.DataBatch:
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return mx.io.DataBatch([nd.ones((2, 4))], [])


class Absolute(mx.gluon.loss.Loss):
    def __init__(self, weight: float = 1.0, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any) -> Any:
        return F.mean(F.abs(pred - label), axis=self._batch_axis, exclude=True) * self._weight


class Square(mx.operator.CustomOp):
    def forward(self, is_train: bool, req: list[str], in_data: list[nd.NDArray], out_data: list[nd.NDArray],
                aux: list[nd.NDArray]) -> None:
        self.assign(out_data[0], req[0], in_data[0] ** 2)

    def backward(self, req: list[str], out_grad: list[nd.NDArray], in_data: list[nd.NDArray], out_data: list[nd.NDArray],
                 in_grad: list[nd.NDArray], aux: list[nd.NDArray]) -> None:
        self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])


@mx.operator.register("typed_square")
class SquareProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx: mx.Context, shapes: list[list[int]], dtypes: list[Any]) -> mx.operator.CustomOp:
        return Square()


def main() -> float:
    x = nd.array([1.0, 2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type="typed_square").sum()
    y.backward()
    optimizer = mx.optimizer.create("halves", learning_rate=0.1)
    updater = mx.optimizer.get_updater(optimizer)
    updater(0, x.grad, x)
    picture = nd.random.randint(0, 255, shape=(8, 8, 3)).astype("uint8")
    small = image.imresize(picture, 4, 4)
    both = transforms.Compose([transforms.ToTensor(), transforms.Normalize(0.5, 0.5)])
    tensor = both(small)
    record = recordio.MXRecordIO("typed.rec", "w")
    record.write(recordio.pack(recordio.IRHeader(0, 1.0, 7, 0), b"data"))
    record.close()
    header, data = recordio.unpack(recordio.MXRecordIO("typed.rec", "r").read())
    features = mx.runtime.Features()
    mx.profiler.set_config(profile_all=True, filename="typed.json")
    mx.profiler.set_state("run")
    nd.waitall()
    mx.profiler.set_state("stop")
    net = mx.gluon.model_zoo.vision.get_model("squeezenet1.0", classes=3)
    net.initialize(ctx=[mx.cpu(0)])
    mx.gluon.utils.clip_global_norm([x], max_norm=10.0)
    parts = mx.gluon.utils.split_and_load(nd.ones((4, 2)), [mx.cpu()])
    lstm = mx.gluon.rnn.LSTM(hidden_size=4, num_layers=1)
    lstm.initialize()
    output, states = lstm(nd.ones((3, 2, 5)), lstm.begin_state(batch_size=2))
    nd.save("typed.nd", {"x": x, "y": y})
    losses = [Absolute()(batch.data[0], nd.zeros((2, 4))).sum().asscalar() for batch in Ones(2)]
    print(header.label, data, len(features) > 10, tensor.shape, parts[0].shape, output.shape, len(states),
          mx.__version__, mx.num_gpus(), sorted(nd.load("typed.nd")), f"{y.asscalar():.1f}", losses)
    return float(x.sum().asscalar())


if __name__ == "__main__":
    main()
