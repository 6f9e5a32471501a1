#!/usr/bin/env python3
"""Recommendation by matrix factorisation: what would a user think of a film?

    python examples/recommendation.py [--ratings u.data] [--epochs N] [--gpu]

A rating is a mean, a bias of the user, a bias of the film, and the product of two short vectors.
--ratings reads lines of `user film rating` (MovieLens' u.data has that form). Without it the script
draws ratings of 1 to 5 for users with hidden tastes, with noise whose size it knows.
"""
import argparse

import numpy as np
from tqdm import tqdm

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

NOISE = 0.5


def draw(users=400, films=300, tastes=4, share=0.15, seed=5):
    """(user, film, rating) of a share of all pairs, in random order."""
    rng = np.random.RandomState(seed)
    likes = rng.normal(0, 0.55, (users, tastes)).dot(rng.normal(0, 0.9, (tastes, films)))
    likes += 3.1 + rng.normal(0, 0.4, (users, 1)) + rng.normal(0, 0.5, (1, films))
    user, film = np.nonzero(rng.uniform(size=likes.shape) < share)
    rating = np.clip(likes[user, film] + rng.normal(0, NOISE, len(user)), 1, 5)
    order = rng.permutation(len(user))
    return user[order], film[order], rating[order].astype("float32")


def read(file):
    """The same from a file, with users and films numbered from 0."""
    table = np.loadtxt(file, usecols=(0, 1, 2))
    np.random.RandomState(0).shuffle(table)
    user, film = (np.unique(table[:, column], return_inverse=True)[1] for column in (0, 1))
    return user, film, table[:, 2].astype("float32")


class Factors(gluon.HybridBlock):
    def __init__(self, users, films, size, mean, **kwargs):
        super().__init__(**kwargs)
        self.mean = mean
        with self.name_scope():
            self.user, self.film = nn.Embedding(users, size), nn.Embedding(films, size)
            zero = mx.init.Zero()
            self.user_bias = nn.Embedding(users, 1, weight_initializer=zero)
            self.film_bias = nn.Embedding(films, 1, weight_initializer=zero)

    def hybrid_forward(self, F, user, film):
        product = F.sum(self.user(user) * self.film(film), axis=-1)
        biases = self.user_bias(user) + self.film_bias(film)
        return product + F.reshape(biases, shape=(-1,)) + self.mean


def rmse(net, user, film, rating, ctx):
    guess = net(mx.nd.array(user, ctx=ctx), mx.nd.array(film, ctx=ctx)).clip(1, 5).asnumpy()
    return float(np.sqrt(np.mean((guess - rating) ** 2)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ratings", help="a file of lines: user film rating")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--size", type=int, default=4, help="of the vectors")
    parser.add_argument("--decay", type=float, default=1e-4, help="of all parameters")
    parser.add_argument("--gpu", action="store_true")
    args = parser.parse_args()
    ctx = mx.gpu() if args.gpu else mx.cpu()
    mx.random.seed(6)
    np.random.seed(6)

    user, film, rating = read(args.ratings) if args.ratings else draw()
    held_out = len(user) // 10
    test = [column[:held_out] for column in (user, film, rating)]
    train = [column[held_out:] for column in (user, film, rating)]
    mean = float(train[2].mean())

    net = Factors(user.max() + 1, film.max() + 1, args.size, mean)
    net.initialize(mx.init.Normal(0.1), ctx=ctx)
    net.hybridize(static_alloc=True)
    data = gluon.data.ArrayDataset(*[column.astype("float32") for column in train])
    batches = gluon.data.DataLoader(data, args.batch, shuffle=True, last_batch="rollover")
    steps = args.epochs * len(batches)
    schedule = mx.lr_scheduler.CosineScheduler(steps, base_lr=0.02, final_lr=1e-4)
    trainer = gluon.Trainer(net.collect_params(), "adam",
                            {"learning_rate": 0.02, "lr_scheduler": schedule, "wd": args.decay})
    loss_of = gluon.loss.L2Loss()
    progress = tqdm(range(args.epochs), unit="epoch")
    for _ in progress:
        total = mx.nd.zeros(1, ctx=ctx)
        for users, films, ratings in batches:
            users, films = users.as_in_context(ctx), films.as_in_context(ctx)
            with autograd.record():
                loss = loss_of(net(users, films), ratings.as_in_context(ctx))
            loss.backward()
            trainer.step(users.shape[0])
            total += loss.mean()
        progress.set_postfix(loss="%.4f" % (total.asscalar() / len(batches)))

    guess_mean = float(np.sqrt(np.mean((test[2] - mean) ** 2)))
    print("recommendation: RMSE %.4f on %d held-out ratings (the mean alone: %.4f)"
          % (rmse(net, *test, ctx=ctx), held_out, guess_mean))
    if not args.ratings:
        print("the noise of the drawn ratings: %.4f" % NOISE)
    user_no = int(test[0][0])
    films = np.arange(film.max() + 1)
    scores = net(mx.nd.full(films.shape, user_no, ctx=ctx), mx.nd.array(films, ctx=ctx)).asnumpy()
    scores[film[user == user_no]] = -1        # what the user has seen
    print("user %d may like the films %s" % (user_no, np.argsort(-scores)[:5].tolist()))


if __name__ == "__main__":
    main()
