#!/usr/bin/env python3
"""Trains the same net through the Symbol interface: simple_bind, forward, backward, updates on a
key-value store."""
import argparse
import time

import numpy as np
from tqdm import tqdm

import mxnet as mx

import digits


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--gpu", action="store_true", help="train on gpu(0)")
    args = parser.parse_args()
    ctx = mx.gpu(0) if args.gpu else mx.cpu(0)
    rng = digits.seed()
    train_x, train_y, test_x, test_y = digits.load()

    scores = digits.network()(mx.sym.var("data"))
    net = mx.sym.SoftmaxOutput(scores, mx.sym.var("softmax_label"), name="softmax")
    executor = net.simple_bind(ctx, grad_req={n: "null" if n in ("data", "softmax_label") else "write" for n in net.list_arguments()},
                               data=(args.batch, 1, 8, 8), softmax_label=(args.batch,))
    initialize = mx.init.Xavier()
    for name, array in list(executor.arg_dict.items()) + list(executor.aux_dict.items()):
        if name not in ("data", "softmax_label"):
            initialize(mx.init.InitDesc(name), array)

    steps = args.epochs * (len(train_x) // args.batch)
    optimizer = mx.optimizer.create("adam", learning_rate=2e-3, rescale_grad=1.0 / args.batch,
                                    lr_scheduler=mx.lr_scheduler.CosineScheduler(steps, base_lr=2e-3, final_lr=2e-5))
    store = mx.kv.create("local")
    store.set_optimizer(optimizer)
    trained = [n for n in net.list_arguments() if n not in ("data", "softmax_label")]
    for i, name in enumerate(trained):
        store.init(i, executor.arg_dict[name])

    started = time.time()
    progress = tqdm(range(args.epochs), desc="symbol", unit="epoch")
    for _ in progress:
        images, order = digits.augment(train_x, rng), rng.permutation(len(train_x))
        total = 0.0
        for begin in range(0, len(order) - args.batch + 1, args.batch):
            rows = order[begin:begin + args.batch]
            executor.arg_dict["data"][:] = images[rows]
            executor.arg_dict["softmax_label"][:] = train_y[rows]
            out = executor.forward(is_train=True)[0]
            executor.backward()
            for i, name in enumerate(trained):
                store.push(i, executor.grad_dict[name], priority=-i)
                store.pull(i, executor.arg_dict[name], priority=-i)
            total += -float(np.log(out.asnumpy()[np.arange(args.batch), train_y[rows].astype(int)] + 1e-12).mean())
        progress.set_postfix(loss=f"{total / (len(order) // args.batch):.4f}")

    test = executor.reshape(data=(len(test_x), 1, 8, 8), softmax_label=(len(test_x),), partial_shaping=True, allow_up_sizing=True)
    test.arg_dict["data"][:] = test_x
    reached = digits.accuracy(test.forward(is_train=False)[0].asnumpy(), test_y)
    print(f"symbol: accuracy {reached:.4f} on {len(test_y)} held-out images, {time.time() - started:.1f} s")
    if reached < 0.985:
        raise SystemExit(f"accuracy {reached:.4f} is below 0.985")


if __name__ == "__main__":
    main()
