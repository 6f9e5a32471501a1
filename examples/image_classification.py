#!/usr/bin/env python3
"""Image classification with Gluon from a RecordIO file.

    python examples/image_classification.py [--epochs N] [--records TRAIN.rec TEST.rec] [--gpu]

Without --records the script packs scikit-learn's 1,797 scans of handwritten digits into two .rec
files of PNG pictures first. Records of your own come from tools/im2rec.py.
"""
import argparse
import os
import random
import tempfile

import numpy as np
from tqdm import tqdm

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn
from mxnet.gluon.data.vision import ImageRecordDataset, transforms


def write_records(folder):
    """Packs the digits; every fifth goes to the second file. Returns both names."""
    from sklearn.datasets import load_digits
    data = load_digits()
    names = [os.path.join(folder, name) for name in ("train", "held-out")]
    files = [mx.recordio.MXIndexedRecordIO(name + ".idx", name + ".rec", "w") for name in names]
    for number, (pixels, label) in enumerate(zip(data.images, data.target)):
        picture = np.repeat((pixels * 15.9).astype("uint8")[:, :, None], 3, axis=2)
        header = mx.recordio.IRHeader(0, float(label), number, 0)
        record = mx.recordio.pack_img(header, picture, quality=100, img_fmt=".jpg")
        files[number % 5 == 0].write_idx(number, record)
    for file in files:
        file.close()
    return [name + ".rec" for name in names]


def network(classes):
    net = nn.HybridSequential()
    with net.name_scope():
        for channels in (32, 64):
            net.add(nn.Conv2D(channels, kernel_size=3, padding=1, use_bias=False),
                    nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(2))
        net.add(nn.Flatten(), nn.Dense(128, activation="relu"), nn.Dropout(0.3), nn.Dense(classes))
    return net


def accuracy(net, loader, ctx):
    metric = mx.metric.Accuracy()
    for data, label in loader:
        metric.update([label], [net(data.as_in_context(ctx))])
    return metric.get()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--workers", type=int, default=0, help="processes that decode pictures")
    parser.add_argument("--records", nargs=2, metavar="FILE")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--gpu", action="store_true")
    args = parser.parse_args()
    ctx = mx.gpu() if args.gpu else mx.cpu()
    mx.random.seed(1)
    np.random.seed(1)
    random.seed(1)

    with tempfile.TemporaryDirectory() as folder:
        train_file, test_file = args.records or write_records(folder)
        to_tensor = [transforms.ToTensor(), transforms.Normalize(0.3, 0.35)]
        augmented = transforms.Compose([transforms.RandomBrightness(0.2)] + to_tensor)
        train = ImageRecordDataset(train_file).transform_first(augmented)
        test = ImageRecordDataset(test_file).transform_first(transforms.Compose(to_tensor))
        train_batches = gluon.data.DataLoader(train, args.batch, shuffle=True,
                                              last_batch="rollover", num_workers=args.workers)
        test_batches = gluon.data.DataLoader(test, 4 * args.batch, num_workers=args.workers)

        net = network(args.classes)
        net.initialize(mx.init.Xavier(), ctx=ctx)
        net.hybridize(static_alloc=True)
        steps = args.epochs * len(train_batches)
        schedule = mx.lr_scheduler.CosineScheduler(steps, base_lr=3e-3, final_lr=1e-5)
        trainer = gluon.Trainer(net.collect_params(), "adam",
                                {"learning_rate": 3e-3, "lr_scheduler": schedule})
        loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
        for epoch in range(args.epochs):
            total, count = 0.0, 0
            for data, label in tqdm(train_batches, desc="epoch %d" % (epoch + 1), leave=False):
                data, label = data.as_in_context(ctx), label.as_in_context(ctx)
                with autograd.record():
                    loss = loss_of(net(data), label)
                loss.backward()
                trainer.step(data.shape[0])
                total += loss.sum().asscalar()
                count += data.shape[0]
            print("epoch %d: loss %.4f" % (epoch + 1, total / count))
        print("image classification: accuracy %.4f" % accuracy(net, test_batches, ctx))


if __name__ == "__main__":
    main()
