"""Records what the 1.9.1 wheel says about a few networks. Run with the wheel's Python in this
folder; the tests read what it writes.

    PYTHON record.py        (PYTHON: an interpreter with mxnet==1.9.1)
"""
import json

import mxnet as mx

sym = mx.sym


def mlp():
    net = sym.Variable("data")
    for i, n in enumerate((32, 16)):
        net = sym.Activation(sym.FullyConnected(net, num_hidden=n, name=f"fc{i}"), act_type="relu", name=f"relu{i}")
    return sym.SoftmaxOutput(sym.FullyConnected(net, num_hidden=10, name="out"), name="softmax"), {"data": (8, 20)}


def lenet():
    net = sym.Variable("data")
    for i, n in enumerate((6, 16)):
        net = sym.Convolution(net, kernel=(5, 5), num_filter=n, name=f"conv{i}")
        net = sym.BatchNorm(net, fix_gamma=False, name=f"bn{i}")
        net = sym.Pooling(sym.Activation(net, act_type="tanh", name=f"act{i}"), kernel=(2, 2),
                          stride=(2, 2), pool_type="max", name=f"pool{i}")
    net = sym.FullyConnected(sym.Flatten(net, name="flat"), num_hidden=10, name="fc")
    return sym.SoftmaxOutput(net, name="softmax"), {"data": (2, 1, 28, 28)}


def residual():
    data = sym.Variable("data", shape=(0, 8, 0, 0))
    body = sym.Convolution(data, kernel=(3, 3), pad=(1, 1), num_filter=8, no_bias=True, name="c1")
    body = sym.Activation(sym.BatchNorm(body, name="b1"), act_type="relu", name="r1")
    body = sym.Convolution(body, kernel=(3, 3), pad=(1, 1), num_filter=8, no_bias=True, name="c2", lr_mult=2)
    net = sym.concat(body + data, sym.Dropout(data * 0.5 - 1, p=0.3, name="drop"), dim=1, name="cat")
    net = sym.Pooling(net, global_pool=True, pool_type="avg", kernel=(1, 1), name="gap")
    return sym.Group([net, sym.BlockGrad(body, name="stop")]), {"data": (2, 8, 6, 6)}


def two_heads():
    data, w = sym.Variable("data"), sym.Variable("w", lr_mult=3, init=mx.init.One(), dtype="float32")
    parts = sym.SliceChannel(data, num_outputs=2, axis=1, name="cut")
    a = sym.FullyConnected(parts[0], weight=w, num_hidden=4, no_bias=True, name="a")
    b = sym.LeakyReLU(sym.FullyConnected(parts[1], weight=w, num_hidden=4, no_bias=True, name="b"), act_type="prelu", name="p")
    return sym.Group([sym.elemwise_add(a, b, name="sum"), sym.sum(a * b, axis=1, name="dot")]), {"data": (5, 12)}


def main():
    record = {}
    for make in (mlp, lenet, residual, two_heads):
        with mx.name.NameManager():
            net, shapes = make()
        name = make.__name__
        net.save(f"{name}-symbol.json", remove_amp_cast=False)
        args, outs, aux = net.infer_shape(**shapes)
        record[name] = {
            "shapes": shapes, "arguments": net.list_arguments(), "outputs": net.list_outputs(), "auxiliary": net.list_auxiliary_states(),
            "internals": net.get_internals().list_outputs(), "arg_shapes": args, "out_shapes": outs,
            "aux_shapes": aux, "attr_dict": net.attr_dict(),
            "partial": net.infer_shape_partial()[0],
        }
    with open("recorded.json", "w") as f:
        json.dump(record, f, indent=1, sort_keys=True)


if __name__ == "__main__":
    main()
