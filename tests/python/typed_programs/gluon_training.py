"""An ordinary Gluon program with annotations."""
from typing import Any

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn


class Net(gluon.HybridBlock):
    def __init__(self, classes: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.body = nn.HybridSequential()
            self.body.add(nn.Conv2D(channels=4, kernel_size=3, activation="relu"), nn.BatchNorm(), nn.MaxPool2D(2), nn.Flatten())
            self.head = nn.Dense(classes, weight_initializer=mx.init.Xavier(magnitude=2))

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.head(F.Dropout(self.body(x), p=0.1))


def accuracy(net: gluon.Block, loader: gluon.data.DataLoader) -> float:
    metric = mx.metric.Accuracy()
    for x, y in loader:
        metric.update([y], [net(x)])
    name, value = metric.get()
    return float(value)


def train(epochs: int = 2, ctx: mx.Context = mx.cpu()) -> float:
    mx.random.seed(0)
    images: nd.NDArray = nd.random.uniform(0, 1, shape=(64, 1, 8, 8), ctx=ctx)
    labels = (images.mean(axis=(1, 2, 3)) > 0.5).astype("float32")
    dataset = gluon.data.ArrayDataset(images, labels)
    loader = gluon.data.DataLoader(dataset.transform_first(lambda image: image - 0.5), batch_size=16, shuffle=True, last_batch="keep")
    net = Net(2, prefix="net_")
    net.initialize(mx.init.Normal(0.1), ctx=ctx)
    net.hybridize(static_alloc=True)
    schedule = mx.lr_scheduler.FactorScheduler(step=10, factor=0.9, base_lr=0.05)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"lr_scheduler": schedule, "wd": 1e-4})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    total = 0.0
    for epoch in range(epochs):
        total = 0.0
        for x, y in loader:
            with autograd.record():
                out = net(x)
                error = loss(out, y)
            error.backward()
            trainer.step(x.shape[0])
            total += float(error.mean().asscalar())
        print(f"epoch {epoch}: loss {total / len(loader):.3f}, learning rate {trainer.learning_rate:.4f}")
    net.save_parameters("typed.params")
    net.export("typed", epoch=1)
    restored = gluon.SymbolBlock.imports("typed-symbol.json", ["data"], "typed-0001.params", ctx=ctx)
    difference: np.ndarray[Any, Any] = (restored(images) - net(images)).asnumpy()
    assert abs(difference).max() < 1e-4
    weight = net.head.weight.data()
    print(weight.shape[0], weight.dtype, [p.name for p in net.collect_params().values()][:2], accuracy(net, loader))
    a, b = nd.split(images, num_outputs=2, axis=0)
    c = nd.concat(a, b, dim=0) * 2 + 1 - images[0:1] / images.max()
    c[0, 0] = 3
    print(c[1:3].shape, nd.dot(weight, weight.T).sum().asscalar(), nd.maximum(c, 0).size)
    return total


if __name__ == "__main__":
    train()
