#!/usr/bin/env python3
"""Serving a network from C++: train and export in Python, answer HTTP with examples/cpp/serve.cc.

    python examples/serving.py [--out FOLDER]

Needs CMake and a C++ compiler. The server is linked to the library of this package, of a checkout
as well (`python -m mxnet.cmake`), or to an installed one that CMAKE_PREFIX_PATH names. The script
asks the server for the held-out flowers of scikit-learn's iris data from several threads, compares
the answers with Python's, and prints what the server measured. The network's files and the server
stay in --out.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import urllib.request

import numpy as np
from tqdm import tqdm

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

CPP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cpp")


def load():
    """Training data, training labels, held-out data, held-out labels; each column scaled."""
    from sklearn.datasets import load_iris
    data = load_iris()
    order = np.random.permutation(len(data.target))
    x = ((data.data - data.data.mean(axis=0)) / data.data.std(axis=0))[order].astype("float32")
    y = data.target[order].astype("float32")
    return x[30:], y[30:], x[:30], y[:30]


def train(x, y, epochs):
    net = nn.HybridSequential()
    net.add(nn.Dense(16, activation="relu"), nn.Dense(3))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    x, y = mx.nd.array(x), mx.nd.array(y)
    for _ in tqdm(range(epochs), desc="training"):
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(len(x))
    return net


def build(folder):
    """Compiles the server against an installed mxnet. Returns the program's name."""
    prefix = os.environ.get("CMAKE_PREFIX_PATH")
    if not prefix:
        import mxnet.cmake
        prefix = mxnet.cmake.prefix()
    for command in (["cmake", "-S", CPP, "-B", folder, "-DCMAKE_PREFIX_PATH=" + prefix],
                    ["cmake", "--build", folder, "--target", "serve"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit("%s failed:\n%s%s" % (" ".join(command), done.stdout, done.stderr))
    return os.path.join(folder, "serve")


def ask(address, sample):
    request = urllib.request.Request(address, sample.astype("<f4").tobytes(),
                                     {"Content-Type": "application/octet-stream"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", default="build/serving", help="folder of what is made")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--requests", type=int, default=600)
    parser.add_argument("--server", help="the compiled program; built without this")
    args = parser.parse_args()
    mx.random.seed(12)
    np.random.seed(12)
    os.makedirs(args.out, exist_ok=True)

    x, y, test_x, test_y = load()
    net = train(x, y, args.epochs)
    network = os.path.join(args.out, "iris")
    net.export(network)
    expected = net(mx.nd.array(test_x)).asnumpy()

    program = args.server or build(os.path.join(args.out, "cpp"))
    command = [program, network + "-symbol.json", network + "-0000.params", "4", "0",
               str(args.requests)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().strip()
            rows = [n % len(test_x) for n in range(args.requests)]
            with concurrent.futures.ThreadPoolExecutor(4) as clients:
                answers = list(clients.map(lambda n: ask(address, test_x[n]), rows))
            print(server.stdout.readline().strip())
        finally:
            if server.poll() is None:
                server.terminate()
    answers = np.array(answers)
    difference = np.abs(answers - expected[rows]).max()
    accuracy = (answers[:len(test_x)].argmax(axis=1) == test_y).mean()
    print("serving: accuracy %.4f, answers differ from Python's by %.1e" % (accuracy, difference))


if __name__ == "__main__":
    main()
