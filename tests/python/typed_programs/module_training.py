"""An ordinary Module program with annotations."""
import logging

import numpy as np

import mxnet as mx
from mxnet.io import DataBatch, NDArrayIter


def network(hidden: int = 8, classes: int = 2) -> mx.sym.Symbol:
    data = mx.sym.Variable("data")
    with mx.AttrScope(ctx_group="one"):
        fc1 = mx.sym.FullyConnected(data, num_hidden=hidden, name="fc1")
    act = mx.sym.Activation(fc1, act_type="relu")
    fc2 = mx.sym.FullyConnected(data=act, num_hidden=classes, name="fc2", no_bias=False)
    return mx.sym.SoftmaxOutput(fc2 * 1.0 + 0, name="softmax")


def batches(size: int = 10) -> NDArrayIter:
    random = np.random.RandomState(0)
    x = random.uniform(-1, 1, (100, 4)).astype("float32")
    return NDArrayIter(x, (x.sum(axis=1) > 0).astype("float32"), batch_size=size, shuffle=True, label_name="softmax_label")


class Weights(mx.init.Initializer):
    def _init_weight(self, desc: str, array: mx.nd.NDArray) -> None:
        array[:] = mx.nd.random.normal(0, 0.1, shape=array.shape)


def hidden_sizes(symbol: mx.sym.Symbol) -> dict[str, int]:
    found: dict[str, int] = {}
    for node in symbol.nodes():
        if not node.is_variable and "num_hidden" in node.params:
            source, output = node.inputs[0]
            found[f"{source.name}:{output} to {node.name}"] = node.params["num_hidden"]
    return found


def fit(epochs: int = 3) -> float:
    symbol = network()
    print(symbol.list_arguments(), symbol.infer_shape(data=(10, 4))[1], symbol.get_internals()["fc1_output"].name)
    print(hidden_sizes(symbol), len(symbol.nodes().heads))
    module = mx.mod.Module(symbol, data_names=["data"], label_names=["softmax_label"], context=mx.cpu(), logger=logging.getLogger())
    iterator = batches()
    module.fit(iterator, eval_data=batches(), eval_metric="acc", optimizer="sgd", initializer=Weights(), num_epoch=epochs,
               optimizer_params={"learning_rate": 0.5, "momentum": 0.9}, kvstore="local",
               batch_end_callback=mx.callback.Speedometer(10, 5), epoch_end_callback=mx.callback.do_checkpoint("typed"))
    module.save_checkpoint("typed", epochs)
    loaded, arguments, auxiliary = mx.model.load_checkpoint("typed", epochs)
    print(loaded.tojson()[:1], sorted(arguments), len(auxiliary))
    score = dict(module.score(batches(), mx.metric.CompositeEvalMetric([mx.metric.Accuracy(), mx.metric.CrossEntropy()])))
    executor = symbol.simple_bind(ctx=mx.cpu(), data=(10, 4), grad_req="write")
    executor.copy_params_from(arguments, auxiliary)
    iterator.reset()
    for batch in iterator:
        out = executor.forward(is_train=True, data=batch.data[0])[0]
        executor.backward()
        print(out.shape, executor.grad_dict["fc1_weight"].norm().asscalar())
        break
    module.forward(DataBatch(data=[mx.nd.ones((10, 4))], label=None), is_train=False)
    result = module.get_outputs()[0].asnumpy()
    described = mx.io.DataDesc("data", (10, 4), dtype="float32", layout="NT")
    print(described.name, described.shape)
    store = mx.kv.create("local")
    store.init("w", mx.nd.ones((2, 2)))
    store.push("w", [mx.nd.ones((2, 2)), mx.nd.ones((2, 2)) * 2])
    value = mx.nd.zeros((2, 2))
    store.pull("w", out=value)
    print(result.shape, value.asnumpy().tolist(), store.rank + store.num_workers)
    return float(score["accuracy"])


if __name__ == "__main__":
    fit()
