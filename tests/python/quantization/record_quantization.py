"""Writes data/quantization_1_9_1.json and .npz: what MXNet 1.9.1 makes of the networks of
quantization_cases.py.

    python record_quantization.py digits FILE.npz     # with scikit-learn
    MXNET_SUBGRAPH_BACKEND=NONE oracle/bin/python record_quantization.py record FILE.npz

Without that variable 1.9.1 calibrates a graph whose layers it has merged, and so does not find most
names.
"""
import json
import os
import sys

import numpy as np
from quantization_cases import cases, digits_network, parameters, values

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "quantization_1_9_1")


def digits(path):
    from sklearn.datasets import load_digits
    data = load_digits()
    np.savez_compressed(path, images=data.images.astype("uint8"), labels=data.target.astype("uint8"))


def graph(symbol):
    nodes = json.loads(symbol.tojson())["nodes"]
    return [[n["op"], n["name"], n.get("attrs", {}), [[nodes[i]["name"], k] for i, k, _ in n["inputs"]]] for n in nodes]


def record_graphs(mx, quantization):
    found = {}
    for key, make, options in cases():
        net = make(mx)
        qsym, params, _, collector = quantization.quantize_graph(net, parameters(mx, net), {}, calib_mode="naive", **options)
        found[key] = dict(nodes=graph(qsym), outputs=qsym.list_outputs(), params=sorted(params), calibrated=collector.include_layer)
    return found


def record_parameters(mx, quantization):
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="f")
    rng, found = np.random.RandomState(0), {}
    for key, value in {"even": rng.uniform(-1, 1, (3, 40)), "small": rng.normal(0, 1e-20, (3, 40)), "one side": rng.uniform(2, 9, (3, 40)),
                       "halves": np.arange(-127, 128)[None] / 2.}.items():
        weight = value.astype("float32")
        params = quantization.quantize_graph(net, {"f_weight": mx.nd.array(weight)}, {}, calib_mode="none")[1]
        found[key + " in"] = weight
        for name in ("f_weight_quantize", "f_weight_quantize_min", "f_weight_quantize_max"):
            found[f"{key} {name}"] = params[name].asnumpy()
    return found


def record_histograms(quantization):
    first = np.random.RandomState(0).uniform(-1, 1, 50).astype("float32")
    counts, edges = np.histogram(first, bins=8, range=(-1., 1.))
    combined = []
    for scale in (0.5, 1.0, 1.3, 2.6):
        new = (np.random.RandomState(1).uniform(-1, 1, 50) * scale).astype("float32")
        result = quantization.combine_histogram((counts, edges, first.min(), first.max(), 1.0), new, new.min(), new.max(), abs(new).max())
        combined.append([scale, result[0].tolist(), [float(e) for e in result[1]], *map(float, result[2:])])
    thresholds = []
    for kind in ("both", "relu", "positive"):
        for seed in (0, 1):
            x = values(kind, seed)
            end = abs(x).max()
            hist = (*np.histogram(x, bins=8001, range=(-end, end)), x.min(), x.max(), end)
            for dtype in ("int8", "uint8", "auto"):
                result = quantization._get_optimal_threshold(hist, dtype)
                thresholds.append([kind, seed, dtype, float(result[2]), float(result[3])])
    return dict(combined=combined, thresholds=thresholds)


def trained(mx, images, labels):
    mx.random.seed(0)
    np.random.seed(0)
    net = mx.sym.SoftmaxOutput(digits_network(mx), name="softmax")
    module = mx.mod.Module(net)
    module.fit(mx.io.NDArrayIter(images, labels, 50, shuffle=True), num_epoch=12, optimizer="adam", initializer=mx.init.Xavier(),
               optimizer_params=dict(learning_rate=0.003))
    return module.get_params()


def ranges(symbol):
    attrs = {name: a for _, name, a, _ in graph(symbol)}
    return {n: [float(a["min_calib_range"]), float(a["max_calib_range"])] for n, a in attrs.items() if "min_calib_range" in a}


def record_digits(mx, quantization, path):
    loaded = np.load(path)
    images = loaded["images"].astype("float32")[:, None] / 16
    labels, held_out = loaded["labels"], np.arange(len(images)) % 5 == 0
    arg_params, aux_params = trained(mx, images[~held_out], labels[~held_out])
    net, found = digits_network(mx), {}
    arg_params.pop("softmax_label", None)
    calibration = images[~held_out][:200]
    arrays = dict(held_out=loaded["images"][held_out], labels=labels[held_out], calibration=loaded["images"][~held_out][:200])
    arrays.update({"arg:" + n: a.asnumpy() for n, a in arg_params.items()})
    arrays.update({"aux:" + n: a.asnumpy() for n, a in aux_params.items()})

    def scores(symbol, args, aux):
        test = mx.nd.array(images[held_out])
        return symbol.bind(mx.cpu(), {**args, "data": test}, aux_states=aux).forward()[0].asnumpy()
    arrays["float32"] = scores(net, arg_params, aux_params)
    for mode in ("naive", "entropy"):
        for dtype in ("int8", "uint8", "auto"):
            batches = mx.io.NDArrayIter(calibration, None, 50)
            qsym, args, aux = quantization.quantize_model(net, arg_params, aux_params, calib_mode=mode, calib_data=batches,
                                                          quantized_dtype=dtype, quantize_mode="full", num_calib_examples=150)
            found[f"{mode} {dtype}"] = ranges(qsym)
            if (mode, dtype) == ("naive", "int8"):    # its convolutions read unsigned integers alone: this does not run
                arrays.update({f"int8 {n}": args[n].asnumpy() for n in args if "_quantize" in n})
    for mode in ("naive", "entropy"):
        batches = mx.io.NDArrayIter(calibration, None, 50)
        qsym, args, aux = quantization.quantize_model_mkldnn(net, arg_params, aux_params, calib_mode=mode, calib_data=batches,
                                                             quantized_dtype="auto", quantize_mode="full")
        arrays[f"merged {mode}"] = scores(qsym, args, aux)
        found[f"merged {mode}"] = ranges(qsym)
    return found, arrays


def record(path):
    import mxnet as mx
    from mxnet.contrib import quantization
    found = dict(graphs=record_graphs(mx, quantization), **record_histograms(quantization))
    found["digits"], arrays = record_digits(mx, quantization, path)
    with open(DATA + ".json", "w") as out:
        json.dump(found, out, indent=None, sort_keys=True, separators=(",", ":"))
        out.write("\n")
    np.savez_compressed(DATA + ".npz", **record_parameters(mx, quantization), **arrays)


if __name__ == "__main__":
    {"digits": digits, "record": record}[sys.argv[1]](sys.argv[2])
