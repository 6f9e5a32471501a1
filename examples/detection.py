#!/usr/bin/env python3
"""Object detection in one pass (SSD): boxes and classes from two maps of features.

    python examples/detection.py [--epochs N] [--records TRAIN.rec TEST.rec] [--gpu]

Without --records the script pastes handwritten digits on noisy pictures, and packs them with their
boxes. MultiBox operators place anchors, match them with boxes, and make boxes of what comes out.
"""
import argparse
import os
import tempfile

import numpy as np
from tqdm import tqdm

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

SIZES = [(0.33, 0.4), (0.5, 0.6)]      # of anchors, as shares of the picture, for each map


def write_records(folder, classes, counts, side=48):
    """Packs `counts` pictures with one to three digits below `classes`. Returns the names."""
    from sklearn.datasets import load_digits
    data, rng, names = load_digits(), np.random.RandomState(11), []
    for part, count in enumerate(counts):
        names.append(os.path.join(folder, "part%d.rec" % part))
        file = mx.recordio.MXIndexedRecordIO(names[-1][:-3] + "idx", names[-1], "w")
        scans = [n for n in np.nonzero(data.target < classes)[0] if (n % 5 == 0) == part]
        for number in range(count):
            picture, objects, taken = rng.uniform(0, 60, (side, side)), [], np.zeros((side, side))
            for scan in rng.choice(scans, rng.randint(1, 4)):
                size = rng.choice([16, 24])
                top, left = rng.randint(0, side - size + 1, 2)
                there = slice(top, top + size), slice(left, left + size)
                if not taken[there].any():
                    taken[there] = 1
                    large = data.images[scan].repeat(size // 8, axis=0).repeat(size // 8, axis=1)
                    picture[there] = np.maximum(picture[there], large * 15.9)
                    box = np.array([left, top, left + size, top + size]) / side
                    objects.append([data.target[scan], *box])
            label = np.array([2, 5] + sum(objects, []), dtype="float32")
            header = mx.recordio.IRHeader(0, label, number, 0)
            pixels = picture.astype("uint8")[:, :, None].repeat(3, axis=2)
            file.write_idx(number, mx.recordio.pack_img(header, pixels, quality=100, img_fmt=".jpg"))
        file.close()
    return names


def block(channels):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(channels, 3, padding=1), nn.BatchNorm(), nn.LeakyReLU(0.1), nn.MaxPool2D())
    return net


class Detector(gluon.HybridBlock):
    def __init__(self, classes):
        super().__init__()
        self.classes = classes
        each = len(SIZES[0])
        with self.name_scope():
            self.base = nn.HybridSequential()
            self.base.add(*[block(channels) for channels in (16, 32, 64)])
            self.smaller = block(64)
            self.scores, self.boxes = nn.HybridSequential(), nn.HybridSequential()
            for _ in SIZES:
                self.scores.add(nn.Conv2D(each * (classes + 1), 3, padding=1))
                self.boxes.add(nn.Conv2D(each * 4, 3, padding=1))

    def hybrid_forward(self, F, x):
        """Anchors (1, all, 4), scores (batch, classes + 1, all), and offsets (batch, all * 4)."""
        large = self.base(x)
        anchors, scores, offsets = [], [], []
        maps = large, self.smaller(large)
        for y, sizes, score, box in zip(maps, SIZES, self.scores, self.boxes):
            anchors.append(F.contrib.MultiBoxPrior(y, sizes=sizes, ratios=(1,)))
            y_scores = F.transpose(score(y), (0, 2, 3, 1))
            scores.append(F.reshape(y_scores, (0, -1, self.classes + 1)))
            offsets.append(F.Flatten(F.transpose(box(y), (0, 2, 3, 1))))
        scores = F.transpose(F.concat(*scores, dim=1), (0, 2, 1))
        return F.concat(*anchors, dim=1), scores, F.concat(*offsets, dim=1)


def evaluate(net, batches, ctx, threshold=0.5):
    """(share of objects that are found, share of what is found that is right)."""
    found = objects = said = 0
    for batch in batches:
        anchors, scores, offsets = net(batch.data[0].as_in_context(ctx))
        shares = mx.nd.softmax(scores, axis=1)
        boxes = mx.nd.contrib.MultiBoxDetection(shares, offsets, anchors, nms_threshold=0.45)
        count = boxes.shape[0] - batch.pad
        overlaps = mx.nd.stack(*[mx.nd.contrib.box_iou(a[:, 2:], b[:, 1:5])
                                 for a, b in zip(boxes, batch.label[0].as_in_context(ctx))])
        for rows, truth, overlap in list(zip(boxes.asnumpy(), batch.label[0].asnumpy(),
                                             overlaps.asnumpy()))[:count]:
            sure = (rows[:, 0] >= 0) & (rows[:, 1] > threshold)
            same = (rows[:, :1] == truth[:, 0]) & (overlap > 0.5)
            found += same[sure].any(axis=0).sum()
            objects, said = objects + (truth[:, 0] >= 0).sum(), said + sure.sum()
    return found / objects, found / max(said, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--records", nargs=2, metavar="FILE")
    parser.add_argument("--pictures", type=int, default=800, help="without --records")
    parser.add_argument("--classes", type=int, default=4)
    parser.add_argument("--gpu", action="store_true")
    args = parser.parse_args()
    ctx = mx.gpu() if args.gpu else mx.cpu()
    mx.random.seed(11)
    np.random.seed(11)

    with tempfile.TemporaryDirectory() as folder:
        files = args.records or write_records(folder, args.classes, (args.pictures, 160))
        train, test = (mx.image.ImageDetIter(
            args.batch, (3, 48, 48), path_imgrec=file, path_imgidx=file[:-3] + "idx", shuffle=True,
            mean=np.full(3, 40.0), std=np.full(3, 60.0)) for file in files)
        net = Detector(args.classes)
        net.initialize(mx.init.Xavier(), ctx=ctx)
        net.hybridize(static_alloc=True)
        trainer = gluon.Trainer(net.collect_params(), "adam", {"wd": 1e-4})
        class_loss, box_loss = gluon.loss.SoftmaxCrossEntropyLoss(axis=1), gluon.loss.HuberLoss()
        progress = tqdm(range(args.epochs), unit="epoch")
        for epoch in progress:
            trainer.set_learning_rate(0.005 * (1 - epoch / args.epochs))
            train.reset()
            losses = []
            for batch in train:
                x, label = batch.data[0].as_in_context(ctx), batch.label[0].as_in_context(ctx)
                with autograd.record():
                    anchors, scores, offsets = net(x)
                    wanted, mask, classes = mx.nd.contrib.MultiBoxTarget(
                        anchors, label, scores.detach(), negative_mining_ratio=3)
                    loss = (class_loss(scores, mx.nd.maximum(classes, 0), classes >= 0) +
                            box_loss(offsets * mask, wanted * mask))
                loss.backward()
                trainer.step(x.shape[0])
                losses.append(loss.mean().asscalar())
            progress.set_postfix(loss="%.4f" % np.mean(losses))
        shares = evaluate(net, test, ctx)
    print("detection: %.4f of the held-out objects found, %.4f of the boxes right" % shares)


if __name__ == "__main__":
    main()
