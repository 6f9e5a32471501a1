#!/usr/bin/env python3
"""A generative adversarial network that draws digits.

    python examples/gan.py [--epochs N] [--picture FILE.png] [--gpu]

One network draws pictures of 8 x 8 from noise, another one tells them from scans of real digits,
and each learns from the other. The Frechet distance of both sets' pixels says how alike they are.
"""
import argparse

import numpy as np
from tqdm import tqdm

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

NOISE = 32


def twice_as_large():
    return nn.HybridLambda(lambda F, x: F.UpSampling(x, scale=2, sample_type="nearest"))


def generator():
    net = nn.HybridSequential(prefix="generator_")
    with net.name_scope():
        net.add(nn.Dense(64 * 2 * 2), nn.HybridLambda(lambda F, x: F.reshape(x, (-1, 64, 2, 2))),
                nn.BatchNorm(), nn.Activation("relu"),
                twice_as_large(),
                nn.Conv2D(32, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"),
                twice_as_large(), nn.Conv2D(1, 3, padding=1), nn.Activation("tanh"))
    return net


def discriminator():
    net = nn.HybridSequential(prefix="discriminator_")
    with net.name_scope():
        net.add(nn.Conv2D(32, 4, 2, 1), nn.LeakyReLU(0.2),
                nn.Conv2D(64, 4, 2, 1, use_bias=False), nn.BatchNorm(), nn.LeakyReLU(0.2),
                nn.Flatten(), nn.Dropout(0.3), nn.Dense(1))
    return net


def frechet(a, b):
    """Squared distance of two normal distributions that have the sets' means and covariances."""
    a, b = a.reshape(len(a), -1), b.reshape(len(b), -1)
    c, d = np.cov(a.T), np.cov(b.T)
    root = np.sqrt(np.maximum(np.linalg.eigvals(c.dot(d)).real, 0)).sum()
    return float(((a.mean(0) - b.mean(0)) ** 2).sum() + np.trace(c) + np.trace(d) - 2 * root)


def noise(count, ctx):
    return mx.nd.random.normal(shape=(count, NOISE), ctx=ctx)


def save(pictures, file, columns=16):
    """Pictures side by side as a PNG file, eight times as large."""
    rows = pictures[:columns * (len(pictures) // columns)].reshape(-1, columns, 8, 8)
    sheet = rows.transpose(0, 2, 1, 3).reshape(-1, columns * 8)
    sheet = np.uint8(127.5 - 127.5 * sheet).repeat(8, axis=0).repeat(8, axis=1)
    header = mx.recordio.IRHeader(0, 0, 0, 0)
    with open(file, "wb") as out:
        packed = mx.recordio.pack_img(header, sheet[:, :, None].repeat(3, axis=2), img_fmt=".png")
        out.write(mx.recordio.unpack(packed)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--picture", help="file for what the network draws")
    parser.add_argument("--gpu", action="store_true")
    args = parser.parse_args()
    ctx = mx.gpu() if args.gpu else mx.cpu()
    mx.random.seed(10)
    np.random.seed(10)

    from sklearn.datasets import load_digits
    pixels = np.random.permutation(load_digits().images / 8 - 1).astype("float32")[:, None]
    real, held_out = pixels[:1000], pixels[1000:]
    batches = gluon.data.DataLoader(gluon.data.ArrayDataset(real), args.batch, shuffle=True,
                                    last_batch="rollover")
    draw, judge = generator(), discriminator()
    trainers = []
    for net in (draw, judge):
        net.initialize(mx.init.Normal(0.05), ctx=ctx)
        net.hybridize(static_alloc=True)
        trainers.append(gluon.Trainer(net.collect_params(), "adam",
                                      {"learning_rate": 1e-3, "beta1": 0.5}))
    loss_of = gluon.loss.SigmoidBinaryCrossEntropyLoss()
    before = frechet(draw(noise(len(held_out), ctx)).asnumpy(), held_out)

    progress = tqdm(range(args.epochs), unit="epoch")
    for _ in progress:
        totals = np.zeros(2)
        for data in batches:
            data = data.as_in_context(ctx)
            count = data.shape[0]
            with autograd.record():
                drawn = draw(noise(count, ctx))
                loss = (loss_of(judge(data), mx.nd.full(count, 0.9, ctx=ctx)) +
                        loss_of(judge(drawn.detach()), mx.nd.zeros(count, ctx=ctx)))
            loss.backward()
            trainers[1].step(count)
            with autograd.record():
                fooled = loss_of(judge(drawn), mx.nd.ones(count, ctx=ctx))
                fooled.backward()
            trainers[0].step(count)
            totals += fooled.mean().asscalar(), loss.mean().asscalar()
        progress.set_postfix(generator="%.2f" % (totals[0] / len(batches)),
                             discriminator="%.2f" % (totals[1] / len(batches)))

    pictures = draw(noise(len(held_out), ctx)).asnumpy()
    if args.picture:
        save(pictures, args.picture)
    print("gan: Frechet distance %.2f to held-out digits (before training %.2f, real ones %.2f)"
          % (frechet(pictures, held_out), before, frechet(real, held_out)))


if __name__ == "__main__":
    main()
