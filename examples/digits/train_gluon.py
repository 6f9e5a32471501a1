#!/usr/bin/env python3
"""Trains the digits net with Gluon and exports it for C++: digits-symbol.json, digits-0000.params,
test images and Python's answers."""
import argparse
import os
import time

import numpy as np
from tqdm import tqdm

import mxnet as mx
from mxnet import autograd, gluon

import digits


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--out", default="build/digits", help="folder of the exported files")
    parser.add_argument("--gpu", action="store_true", help="train on gpu(0)")
    args = parser.parse_args()
    ctx = mx.gpu(0) if args.gpu else mx.cpu(0)
    rng = digits.seed()
    train_x, train_y, test_x, test_y = digits.load()

    net = digits.network()
    net.initialize(mx.init.Xavier(), ctx=ctx)
    net.hybridize(static_alloc=True, static_shape=True)
    steps = args.epochs * (len(train_x) // args.batch)
    trainer = gluon.Trainer(net.collect_params(), "adam",
                            {"learning_rate": 2e-3,
                             "lr_scheduler": mx.lr_scheduler.CosineScheduler(steps, base_lr=2e-3, final_lr=2e-5)})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()

    started = time.time()
    progress = tqdm(range(args.epochs), desc="gluon", unit="epoch")
    for _ in progress:
        data = gluon.data.ArrayDataset(digits.augment(train_x, rng), train_y)
        total = 0.0
        loader = gluon.data.DataLoader(data, batch_size=args.batch, shuffle=True, last_batch="discard")
        for x, y in loader:
            x, y = x.as_in_context(ctx), y.as_in_context(ctx)
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(args.batch)
            total += float(loss.mean().asscalar())
        progress.set_postfix(loss=f"{total / len(loader):.4f}")
    scores = net(mx.nd.array(test_x, ctx=ctx)).asnumpy()
    reached = digits.accuracy(scores, test_y)
    print(f"gluon: accuracy {reached:.4f} on {len(test_y)} held-out images, {time.time() - started:.1f} s")

    os.makedirs(args.out, exist_ok=True)
    prefix = os.path.join(args.out, "digits")
    net.export(prefix)
    mx.nd.save(prefix + "-test.params", {"images": mx.nd.array(test_x), "labels": mx.nd.array(test_y),
                                         "python": mx.nd.array(np.argmax(scores, axis=1).astype("float32"))})
    if reached < 0.985:
        raise SystemExit(f"accuracy {reached:.4f} is below 0.985")


if __name__ == "__main__":
    main()
