"""Xfer: layers of a Module removed and added by its ModelHandler, features, repurposing."""
import mxnet as mx
import numpy as np
import xfer
from mxnet import nd

draws = np.random.RandomState(0)
net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, name="fc1")
net = mx.sym.Activation(net, act_type="relu", name="relu1")
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=3, name="fc2"), name="softmax")
batches = mx.io.NDArrayIter(draws.uniform(-1, 1, (24, 5)).astype("float32"), draws.randint(0, 3, 24).astype("float32"), 8,
                            label_name="softmax_label")
module = mx.mod.Module(net)
module.bind(batches.provide_data, batches.provide_label)
module.init_params(arg_params={
    "fc1_weight": nd.array(draws.normal(0, 0.3, (8, 5))), "fc1_bias": nd.zeros(8),
    "fc2_weight": nd.array(draws.normal(0, 0.3, (3, 8))), "fc2_bias": nd.zeros(3)})
handler = xfer.model_handler.ModelHandler(module)
print(handler.layer_names)
handler.drop_layer_top(2)
print(handler.layer_names)
features, labels = handler.get_layer_output(batches, ["fc1"])
print({name: f"{np.abs(v).mean():.5g}" for name, v in features.items()}, labels)
handler.add_layer_top([mx.sym.FullyConnected(num_hidden=4, name="new"), mx.sym.SoftmaxOutput(name="softmax")])
print(handler.layer_names)
print(sorted(handler.get_module(batches).get_params()[0]))
repurposer = xfer.LrRepurposer(module, ["fc1"])
repurposer.repurpose(batches)
print(repurposer.predict_label(batches))
