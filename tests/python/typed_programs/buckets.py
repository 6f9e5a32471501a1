"""Bucketing, custom training loop with Module, checkpoints, monitors, symbol rnn."""
import logging
import math
import random

import mxnet as mx
from mxnet import nd, sym


def sym_gen(seq_len: int) -> tuple[sym.Symbol, tuple[str, ...], tuple[str, ...]]:
    data, label = sym.Variable("data"), sym.Variable("softmax_label")
    embed = sym.Embedding(data=data, input_dim=20, output_dim=6, name="embed")
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.LSTMCell(num_hidden=5, prefix="lstm_l0_"))
    stack.reset()
    outputs, states = stack.unroll(seq_len, inputs=embed, merge_outputs=True)
    pred = sym.Reshape(outputs, shape=(-1, 5))
    pred = sym.FullyConnected(data=pred, num_hidden=20, name="pred")
    label = sym.Reshape(label, shape=(-1,))
    return sym.SoftmaxOutput(data=pred, label=label, name="softmax"), ("data",), ("softmax_label",)


def sentences(count: int) -> list[list[int]]:
    rng = random.Random(0)
    return [[rng.randrange(1, 20) for _ in range(rng.choice([5, 8]))] for _ in range(count)]


def perplexity(module: mx.mod.BaseModule, it: mx.io.DataIter) -> float:
    metric = mx.metric.Perplexity(ignore_label=None)
    it.reset()
    for batch in it:
        module.forward(batch, is_train=False)
        module.update_metric(metric, batch.label)
    return metric.get()[1]


def stats(x: nd.NDArray) -> nd.NDArray:
    return nd.norm(x) / math.sqrt(x.size)


def main() -> None:
    logging.basicConfig(level=logging.INFO)
    it = mx.rnn.BucketSentenceIter(sentences(64), 8, buckets=[5, 8], invalid_label=0)
    model = mx.mod.BucketingModule(sym_gen=sym_gen, default_bucket_key=it.default_bucket_key, context=mx.cpu())
    model.bind(data_shapes=it.provide_data, label_shapes=it.provide_label)
    model.init_params(mx.init.Xavier(factor_type="in", magnitude=2.34))
    model.init_optimizer(optimizer="sgd", optimizer_params=(("learning_rate", 0.1), ("momentum", 0.0)))
    metric = mx.metric.Perplexity(0)
    for epoch in range(2):
        it.reset()
        metric.reset()
        for nbatch, batch in enumerate(it):
            model.forward(batch)
            model.backward()
            model.update()
            model.update_metric(metric, batch.label)
        print(epoch, metric.get()[0], metric.get()[1] > 0, perplexity(model, it) > 0)
    args, aux = model.get_params()
    biggest = max(args.items(), key=lambda item: item[1].size)
    print(biggest[0], biggest[1].shape, aux)
    x = sym.var("x", shape=(2, 3))
    y = sym.sum(sym.square(x) * 2 - x / 3, axis=1)
    ex = y.bind(mx.cpu(), {"x": nd.ones((2, 3))}, args_grad={"x": nd.zeros((2, 3))})
    monitor = mx.mon.Monitor(1, stats, pattern=".*")
    monitor.install(ex)
    monitor.tic()
    out = ex.forward(is_train=True)
    ex.backward([nd.ones((2,))])
    for step, name, stat in monitor.toc():
        print(step, name)
    print(out[0].asnumpy(), ex.grad_dict["x"].asnumpy())
    arg_shapes, out_shapes, aux_shapes = y.infer_shape(x=(2, 3))
    size = 1
    for d in arg_shapes[0]:
        size *= d
    print(size, out_shapes, aux_shapes, y.attr("name"), y.name)
    again = mx.sym.load_json(y.tojson())
    same = again.list_arguments() == y.list_arguments()
    children = y.get_internals().list_outputs()[-1]
    print(same, children)
    speed = mx.callback.Speedometer(8, 10)
    speed(mx.model.BatchEndParam(epoch=0, nbatch=1, eval_metric=metric, locals=None))
    mod = mx.mod.Module(y, data_names=("x",), label_names=None)
    mod.bind(data_shapes=[("x", (2, 3))], for_training=False)
    mod.init_params()
    mod.forward(mx.io.DataBatch([nd.ones((2, 3))]), is_train=False)
    first = mod.get_outputs()[0]
    print(first.asnumpy(), mod.output_names, mod.data_shapes[0].shape)
    grid = nd.maximum(first, 0) ** 2
    print(grid.sum().asscalar())
    nd.save("x.nd", [grid])
    back = nd.load("x.nd")
    print(back[0].shape)


main()
