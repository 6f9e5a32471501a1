#!/usr/bin/env python3
"""Forecasting a time series with an LSTM that gives distributions (as DeepAR does).

    python examples/forecasting.py [--epochs N] [--csv FILE] [--season N] [--horizon N] [--gpu]

The network reads the past and gives mean and deviation of the next value. It is trained on windows
of the series. To forecast, it reads its own samples, many paths at a time. The series is the
monthly number of air passengers, 1949 to 1960, in thousands; --csv reads one number a line.
"""
import argparse

import numpy as np
from tqdm import tqdm

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn, rnn

PASSENGERS = """
112 118 132 129 121 135 148 148 136 119 104 118  115 126 141 135 125 149 170 170 158 133 114 140
145 150 178 163 172 178 199 199 184 162 146 166  171 180 193 181 183 218 230 242 209 191 172 194
196 196 236 235 229 243 264 272 237 211 180 201  204 188 235 227 234 264 302 293 259 229 203 229
242 233 267 269 270 315 364 347 312 274 237 278  284 277 317 313 318 374 413 405 355 306 271 306
315 301 356 348 355 422 465 467 404 347 305 336  340 318 362 348 363 435 491 505 404 359 310 337
360 342 406 396 420 472 548 559 463 407 362 405  417 391 419 461 472 535 622 606 508 461 390 432
"""


class Forecaster(gluon.HybridBlock):
    """From what is known of each step to mean and deviation of the next one."""

    def __init__(self, hidden, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.lstm = rnn.LSTM(hidden, num_layers=1, layout="NTC")
            self.out = nn.Dense(2, flatten=False)

    def hybrid_forward(self, F, x, state):
        y, state = self.lstm(x, state)
        y = self.out(y)
        mean = F.slice_axis(y, axis=2, begin=0, end=1)
        deviation = F.Activation(F.slice_axis(y, axis=2, begin=1, end=2), act_type="softrelu")
        return mean, deviation + 1e-3, state


def features(values, steps, season):
    """What the network reads at a step: the change since a season ago, the last change, and the
    place in the season. `values` are logarithms, up to the step."""
    angle = 2 * np.pi * (steps % season) / season
    change = values[..., season:] - values[..., :-season]
    place = np.broadcast_to(np.stack([np.sin(angle), np.cos(angle)], -1), change.shape + (2,))
    return np.concatenate([10 * change[..., None], place], axis=-1).astype("float32")


def forecast(net, log, season, horizon, context, paths, ctx):
    """`paths` samples of the next `horizon` values (logarithms)."""
    values = np.tile(log[-context - season:], (paths, 1))
    steps = np.arange(len(log) - context, len(log)) + 1
    state = net.lstm.begin_state(paths, ctx=ctx)
    x = features(values, steps, season)
    for _ in range(horizon):
        mean, deviation, state = net(mx.nd.array(x, ctx=ctx), state)
        drawn = np.random.normal(mean[:, -1, 0].asnumpy(), deviation[:, -1, 0].asnumpy())
        following = values[:, -season] + drawn / 10
        values = np.concatenate([values, following[:, None]], axis=1)
        steps = steps[-1:] + 1
        x = features(values[:, -season - 1:], steps, season)
    return values[:, -horizon:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--csv", help="a file of positive numbers, one a line")
    parser.add_argument("--season", type=int, default=12)
    parser.add_argument("--horizon", type=int, default=12, help="steps to forecast; held out here")
    parser.add_argument("--context", type=int, default=24, help="steps that the network reads")
    parser.add_argument("--epochs", type=int, default=25, help="more learn the windows by heart")
    parser.add_argument("--paths", type=int, default=200)
    parser.add_argument("--gpu", action="store_true")
    args = parser.parse_args()
    ctx = mx.gpu() if args.gpu else mx.cpu()
    mx.random.seed(7)
    np.random.seed(7)

    series = np.loadtxt(args.csv) if args.csv else np.array(PASSENGERS.split(), dtype="float64")
    log, truth = np.log(series[:-args.horizon]), series[-args.horizon:]
    season, context = args.season, args.context
    starts = np.arange(len(log) - season - context)
    x = np.stack([features(log[s:s + season + context], s + season + 1 + np.arange(context), season)
                  for s in starts])
    change = 10 * (log[season:] - log[:-season])
    y = np.stack([change[s + 1:s + 1 + context] for s in starts]).astype("float32")[:, :, None]

    net = Forecaster(hidden=24)
    net.initialize(mx.init.Xavier(), ctx=ctx)
    net.hybridize(static_alloc=True)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.005, "wd": 1e-4})
    data = gluon.data.DataLoader(gluon.data.ArrayDataset(x, y), 32, shuffle=True, last_batch="keep")
    progress = tqdm(range(args.epochs), unit="epoch")
    for _ in progress:
        total = 0.0
        for past, following in data:
            past, following = past.as_in_context(ctx), following.as_in_context(ctx)
            state = net.lstm.begin_state(past.shape[0], ctx=ctx)
            with autograd.record():
                mean, deviation, _ = net(past, state)
                loss = mx.nd.log(deviation) + 0.5 * ((following - mean) / deviation) ** 2
            loss.backward()
            trainer.step(loss.size)
            total += loss.mean().asscalar()
        progress.set_postfix(loss="%.3f" % (total / len(data)))

    paths = np.exp(forecast(net, log, season, args.horizon, context, args.paths, ctx))
    low, middle, high = np.percentile(paths, [5, 50, 95], axis=0)
    print(" step   truth  median   5 %..95 %")
    for step in range(args.horizon):
        print("%5d %7.1f %7.1f   %.1f..%.1f"
              % (step + 1, truth[step], middle[step], low[step], high[step]))
    naive = series[-args.horizon - season:-season][:args.horizon]
    errors = [100 * np.mean(np.abs(guess - truth) / truth) for guess in (middle, naive)]
    print("forecasting: mean error %.2f %% (a season ago: %.2f %%), %d of %d within 5 %%..95 %%"
          % (errors[0], errors[1], np.sum((low <= truth) & (truth <= high)), args.horizon))


if __name__ == "__main__":
    main()
