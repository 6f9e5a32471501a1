#!/usr/bin/env python3
"""Fine-tuning: a network of the model zoo with saved parameters learns other classes.

    python examples/fine_tuning.py [--params FILE.params] [--examples-per-class N] [--gpu]

Without --params the script first trains the network on the digits 0 to 4, and saves it. Then the
features are loaded, a new output layer learns the digits 5 to 9 from a few examples, and the same
network without the saved parameters shows what they are worth.
"""
import argparse
import os

import numpy as np
from tqdm import tqdm

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon.model_zoo import vision


def load():
    """Digits as pictures of 3 x 32 x 32; those from 0 to 4, and those from 5 to 9."""
    from sklearn.datasets import load_digits
    data = load_digits()
    pixels = (data.images / 8.0 - 1).astype("float32").repeat(4, axis=1).repeat(4, axis=2)
    pixels = np.stack([pixels] * 3, axis=1)
    low = data.target < 5
    return (pixels[low], data.target[low]), (pixels[~low], data.target[~low] - 5)


def train(net, pixels, labels, args, steps, description):
    """Trains all parameters with Adam."""
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    data = gluon.data.ArrayDataset(pixels, labels.astype("float32"))
    batches = gluon.data.DataLoader(data, args.batch, shuffle=True, last_batch="rollover")
    schedule = mx.lr_scheduler.CosineScheduler(steps, base_lr=4e-3, final_lr=1e-5)
    trainer = gluon.Trainer(net.collect_params(), "adam",
                            {"learning_rate": 4e-3, "lr_scheduler": schedule})
    progress = tqdm(total=steps, desc=description, leave=False)
    while progress.n < steps:
        for data, label in batches:
            data, label = data.as_in_context(args.ctx), label.as_in_context(args.ctx)
            with autograd.record():
                loss = loss_of(net(data), label)
            loss.backward()
            trainer.step(data.shape[0])
            progress.update()
            if progress.n >= steps:
                break
    progress.close()


def accuracy(net, pixels, labels, ctx):
    scores = [net(mx.nd.array(part, ctx=ctx)).asnumpy() for part in np.array_split(pixels, 8)]
    return float((np.concatenate(scores).argmax(axis=1) == labels).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="mobilenet0.25", help="a name of the model zoo")
    parser.add_argument("--params", help="parameters of that network with 5 classes")
    parser.add_argument("--out", default="build/fine_tuning")
    parser.add_argument("--examples-per-class", type=int, default=20)
    parser.add_argument("--steps", type=int, default=200, help="of training before fine-tuning")
    parser.add_argument("--tuning-steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=40)
    parser.add_argument("--gpu", action="store_true")
    args = parser.parse_args()
    args.ctx = mx.gpu() if args.gpu else mx.cpu()
    mx.random.seed(4)
    np.random.seed(4)
    (low, low_labels), (high, high_labels) = load()

    def fresh(classes):
        net = vision.get_model(args.model, classes=classes)
        net.initialize(mx.init.Xavier(), ctx=args.ctx)
        net.hybridize(static_alloc=True)
        return net

    if not args.params:
        os.makedirs(args.out, exist_ok=True)
        args.params = os.path.join(args.out, args.model + "-digits.params")
        net = fresh(5)
        train(net, low, low_labels, args, args.steps, "digits 0 to 4")
        net.save_parameters(args.params)

    order = np.random.permutation(len(high))
    few = np.concatenate([order[high_labels[order] == c][:args.examples_per_class]
                          for c in range(5)])
    rest = np.setdiff1d(order, few)

    tuned = fresh(5)
    saved = vision.get_model(args.model, classes=5)
    saved.load_parameters(args.params, ctx=args.ctx)
    tuned.features = saved.features       # the output layer stays as it was initialised
    train(tuned, high[few], high_labels[few], args, args.tuning_steps, "fine-tuning")

    scratch = fresh(5)
    train(scratch, high[few], high_labels[few], args, args.tuning_steps, "from scratch")

    scores = [accuracy(net, high[rest], high_labels[rest], args.ctx) for net in (scratch, tuned)]
    print("fine-tuning: accuracy %.4f from scratch, %.4f from saved parameters" % tuple(scores))


if __name__ == "__main__":
    main()
