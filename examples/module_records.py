#!/usr/bin/env python3
"""Training with Symbol and Module from a RecordIO file, with checkpoints.

    python examples/module_records.py [--records TRAIN.rec TEST.rec] [--resume EPOCH] [--gpu]

The native iterator ImageRecordIter decodes and augments pictures on threads. Without --records the
script packs scikit-learn's handwritten digits first.
"""
import argparse
import logging
import os

import numpy as np

import mxnet as mx


def write_records(prefix):
    """Packs the digits; every fifth goes to the second file. Returns both names."""
    from sklearn.datasets import load_digits
    data = load_digits()
    names = [prefix + "-train.rec", prefix + "-held-out.rec"]
    files = [mx.recordio.MXRecordIO(name, "w") for name in names]
    for number, (pixels, label) in enumerate(zip(data.images, data.target)):
        large = np.repeat(np.repeat(pixels * 15.9, 2, axis=0), 2, axis=1).astype("uint8")
        header = mx.recordio.IRHeader(0, float(label), number, 0)
        picture = np.repeat(large[:, :, None], 3, axis=2)
        files[number % 5 == 0].write(mx.recordio.pack_img(header, picture, quality=100, img_fmt=".jpg"))
    for file in files:
        file.close()
    return names


def network(classes):
    """Two convolutions, each with normalisation and pooling, and two dense layers."""
    x = mx.sym.Variable("data")
    for i, channels in enumerate((16, 32)):
        x = mx.sym.Convolution(x, kernel=(3, 3), pad=(1, 1), num_filter=channels, no_bias=True,
                               name="conv%d" % i)
        x = mx.sym.BatchNorm(x, fix_gamma=False, name="norm%d" % i)
        x = mx.sym.Activation(x, act_type="relu")
        x = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
    x = mx.sym.FullyConnected(mx.sym.Flatten(x), num_hidden=64, name="hidden")
    x = mx.sym.FullyConnected(mx.sym.Activation(x, act_type="relu"), num_hidden=classes, name="out")
    return mx.sym.SoftmaxOutput(x, name="softmax")


def iterator(file, batch, shape, train):
    augmentation = dict(shuffle=True, rand_crop=True, pad=2, fill_value=0) if train else {}
    return mx.io.ImageRecordIter(path_imgrec=file, data_shape=shape, batch_size=batch,
                                 mean_r=77, mean_g=77, mean_b=77, scale=1 / 90.0, seed=3,
                                 preprocess_threads=2, round_batch=True, **augmentation)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--records", nargs=2, metavar="FILE")
    parser.add_argument("--size", type=int, default=16, help="height and width of the pictures")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--resume", type=int, default=0, help="the epoch of a checkpoint")
    parser.add_argument("--out", default="build/module_records", help="folder of the checkpoints")
    parser.add_argument("--gpu", action="store_true")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    mx.random.seed(2)
    np.random.seed(2)
    os.makedirs(args.out, exist_ok=True)
    prefix = os.path.join(args.out, "digits")

    train_file, test_file = args.records or write_records(prefix)
    shape = (3, args.size, args.size)
    train = iterator(train_file, args.batch, shape, train=True)
    test = iterator(test_file, args.batch, shape, train=False)

    if args.resume:
        symbol, arguments, states = mx.model.load_checkpoint(prefix, args.resume)
    else:
        symbol, arguments, states = network(args.classes), None, None
    module = mx.mod.Module(symbol, context=mx.gpu() if args.gpu else mx.cpu())
    module.fit(train, eval_data=test, eval_metric=["acc", "ce"],
               optimizer="sgd",
               optimizer_params={"learning_rate": 0.1, "momentum": 0.9, "wd": 1e-4},
               initializer=mx.init.Xavier(magnitude=2), arg_params=arguments, aux_params=states,
               begin_epoch=args.resume, num_epoch=args.epochs,
               batch_end_callback=mx.callback.Speedometer(args.batch, 10, auto_reset=True),
               epoch_end_callback=mx.callback.do_checkpoint(prefix, period=2))

    test.reset()
    print("module: accuracy %.4f" % dict(module.score(test, "acc"))["accuracy"])


if __name__ == "__main__":
    main()
