#!/usr/bin/env python3
"""A trained network in 8-bit integers: as right, and a quarter of the size.

    python examples/quantization.py [--epochs N] [--mode naive|entropy] [--repeats N]

The network learns scikit-learn's scans of handwritten digits. Quantization needs no labels and no
training: a few batches show it the range of every layer's results. It is faster where the processor
multiplies bytes, with AVX-512 VNNI or AVX-VNNI (`lscpu` shows `avx512_vnni` or `avx_vnni`): this
network took 4.5 ms for 5.9 of two cores. Without them expect no gain, or a loss.
"""
import argparse
import os
import statistics
import tempfile
import time

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.contrib import quantization
from mxnet.gluon import nn


def digits():
    """Pictures of 32 by 32 pixels, and labels: for training, and held out."""
    from sklearn.datasets import load_digits
    data = load_digits()
    pictures = np.kron(data.images.astype("float32") / 16 - 0.3, np.ones((4, 4), "float32"))[:, None]
    labels = data.target.astype("float32")
    held_out = np.arange(len(labels)) % 5 == 0
    return [gluon.data.ArrayDataset(pictures[part], labels[part]) for part in (~held_out, held_out)]


def network():
    net = nn.HybridSequential()
    with net.name_scope():
        for channels in (32, 64, 128):
            net.add(nn.Conv2D(channels, kernel_size=3, padding=1, use_bias=False), nn.BatchNorm(),
                    nn.Activation("relu"), nn.MaxPool2D(2))
        net.add(nn.Flatten(), nn.Dense(64, activation="relu"), nn.Dense(10))
    return net


def train(net, batches, epochs):
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 1e-3})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    for epoch in range(epochs):
        total, count = 0.0, 0
        for data, label in batches:
            with autograd.record():
                loss = loss_of(net(data), label)
            loss.backward()
            trainer.step(data.shape[0])
            total += loss.sum().asscalar()
            count += data.shape[0]
        print("epoch %d: loss %.4f" % (epoch + 1, total / count))


def classes(net, batches):
    """What the network takes each picture for, and what it is."""
    pairs = [(net(data).asnumpy().argmax(axis=1), label.asnumpy()) for data, label in batches]
    return [np.concatenate(part) for part in zip(*pairs)]


def seconds(networks, data, repeats):
    """The median time of each, measured in turn: machines drift."""
    times = [[] for _ in networks]
    for turn in range(repeats + 2):                 # the first two compile and warm up
        for net, own in zip(networks, times):
            start = time.perf_counter()
            net(data).wait_to_read()
            if turn > 1:
                own.append(time.perf_counter() - start)
    return [statistics.median(own) for own in times]


def size(net, folder):
    """Bytes of the file of parameters."""
    net.export(os.path.join(folder, "net"))
    return os.path.getsize(os.path.join(folder, "net-0000.params"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--mode", choices=["naive", "entropy"], default="naive")
    parser.add_argument("--repeats", type=int, default=20)
    args = parser.parse_args()
    mx.random.seed(1)
    np.random.seed(1)

    train_data, test_data = digits()
    batches = gluon.data.DataLoader(train_data, args.batch, shuffle=True, last_batch="discard")
    test = gluon.data.DataLoader(test_data, args.batch)
    net = network()
    train(net, batches, args.epochs)

    # Four batches are enough to know the ranges. "auto": results of a relu are unsigned.
    int8 = quantization.quantize_net_v2(net, quantized_dtype="auto", calib_data=batches,
                                        calib_mode=args.mode, num_calib_examples=4 * args.batch)
    int8.hybridize(static_alloc=True, static_shape=True)
    net.hybridize(static_alloc=True, static_shape=True)
    (as_float, label), (as_int8, _) = classes(net, test), classes(int8, test)
    data = next(iter(test))[0]
    times = seconds([net, int8], data, args.repeats)
    with tempfile.TemporaryDirectory() as folder:
        sizes = [size(net, folder), size(int8, folder)]
    print("%d pictures: %.2f ms in float32, %.2f ms in int8" % (len(data), *[t * 1e3 for t in times]))
    print("parameters: %.0f kB in float32, %.0f kB in int8" % tuple(s / 1e3 for s in sizes))
    print("the two agree on %.4f of the pictures" % (as_float == as_int8).mean())
    print("quantization: accuracy %.4f in int8 and %.4f in float32, with %.2f of the size"
          % ((as_int8 == label).mean(), (as_float == label).mean(), sizes[1] / sizes[0]))


if __name__ == "__main__":
    main()
