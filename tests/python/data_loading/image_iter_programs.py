"""Programs that read images in batches. MXNet 1.9.1 ran them for data/image_iter_1.9.1.json; the
tests run them here.

    oracle/bin/python image_iter_programs.py data/image_iter_1.9.1.json
"""
import json
import os
import random
import struct
import sys
import tempfile
import warnings
import zlib

import numpy as np

SIZES = [(40, 50), (33, 64), (60, 30), (48, 48), (20, 24), (37, 41), (52, 39)]    # height, width


def png(pixels):
    """The bytes of a PNG file with these colours."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def write_files(mx, folder):
    """Pictures, lists of them, and records, with classes and with boxes."""
    rng = np.random.RandomState(0)
    def path(name):
        return os.path.join(folder, name)
    classes = mx.recordio.MXIndexedRecordIO(path("class.idx"), path("class.rec"), "w")
    boxes = mx.recordio.MXIndexedRecordIO(path("box.idx"), path("box.rec"), "w")
    lists = {"class.lst": "", "box.lst": ""}
    for i, (height, width) in enumerate(SIZES):
        packed = png(rng.randint(0, 256, (height, width, 3)).astype("uint8"))
        with open(path(f"{i}.png"), "wb") as file:
            file.write(packed)
        label = [2.0, 5.0]
        for kind in range(1 + i % 3):
            (left, right), (top, bottom) = np.sort(np.round(rng.uniform(0, 1, 2), 2)), np.sort(np.round(rng.uniform(0, 1, 2), 2))
            label += [float(kind), left, top, right, bottom]
        lists["class.lst"] += f"{i * 10}\t{i % 3}\t{i}.png\n"
        lists["box.lst"] += "\t".join([str(i * 10), *map(str, label), f"{i}.png"]) + "\n"
        classes.write_idx(i * 10, mx.recordio.pack((0, float(i % 3), i * 10, 0), packed))
        boxes.write_idx(i * 10, mx.recordio.pack((0, np.array(label, "float32"), i * 10, 0), packed))
    classes.close()
    boxes.close()
    for name, text in lists.items():
        with open(path(name), "w") as file:
            file.write(text)


def seeded(seed):
    random.seed(seed)
    np.random.seed(seed)


def numbers(array):
    return np.round(np.asarray(array, dtype="float64"), 5).tolist()


def epochs(mx, folder):
    """Labels and padding of several passes: {arguments: passes}."""
    sources = {"list": dict(path_imglist="class.lst", path_root=""), "record": dict(path_imgrec="class.rec"),
               "index": dict(path_imgrec="class.rec", path_imgidx="class.idx")}
    found = {}
    for source, arguments in sources.items():
        arguments = {name: os.path.join(folder, value) for name, value in arguments.items()}
        for handle in ("pad", "discard", "roll_over"):
            for size in (2, 3, 5, 7):
                for more in ({}, {"shuffle": True}, {"shuffle": True, "num_parts": 2, "part_index": 1}):
                    if more and source == "record" or "num_parts" in more and size > 3:
                        continue    # needs an index; 1.9.1 does not fill batches larger than the part
                    seeded(size)
                    it = mx.image.ImageIter(size, (3, 8, 8), last_batch_handle=handle, **arguments, **more)
                    passes = []
                    for step in ("reset", "reset", "hard_reset", "reset"):
                        passes.append([[batch.label[0].asnumpy().tolist(), batch.pad] for batch in it])
                        getattr(it, step)()
                    found[f"{source} {handle} {size} {sorted(more)}"] = passes
    return found


def augmented(mx, folder):
    """Sums of pictures that went through augmenters, and the labels."""
    found = {}
    for kind, arguments in (("ImageIter", {}), ("ImageIter", dict(rand_crop=True, rand_resize=True, rand_mirror=True, inter_method=1)),
                            ("ImageIter", dict(resize=20, mean=True, std=True)),
                            ("ImageDetIter", {}), ("ImageDetIter", dict(rand_crop=0.7, rand_pad=0.7, rand_mirror=True)),
                            ("ImageDetIter", dict(rand_crop=1, min_object_covered=[0.1, 0.5, 0.9], resize=30, mean=True, inter_method=1))):
        seeded(3)
        name = "box" if "Det" in kind else "class"
        it = getattr(mx.image, kind)(3, (3, 12, 16), path_imgrec=os.path.join(folder, name + ".rec"),
                                     path_imgidx=os.path.join(folder, name + ".idx"), shuffle=True, **arguments)
        rows = []
        for _ in range(2):
            for batch in it:
                means = batch.data[0].asnumpy().reshape(3, -1).mean(-1)
                rows.append([numbers(means), numbers(batch.label[0].asnumpy()), batch.pad])
            it.reset()
        found[f"{kind} {sorted(arguments)}"] = [rows, random.random()]
    return found


def detection_augmenters(mx, seeds):
    """What the augmenters of detection make of pictures and boxes, and the random number that
    comes next."""
    detection, found = mx.image.detection, []
    for seed in seeds:
        rng = np.random.RandomState(seed)
        height, width = (32, 64) if seed % 5 == 0 else (int(rng.randint(1, 90)), int(rng.randint(1, 90)))
        image = mx.nd.array(rng.randint(0, 256, (height, width, 3)), dtype="uint8")
        corners = np.sort(rng.rand(rng.randint(1, 5), 2, 2), axis=1)
        corners = np.round(corners * 16) / 16 if seed % 5 == 0 else corners
        label = np.concatenate([rng.randint(0, 4, (len(corners), 1)), corners[:, 0], corners[:, 1]], 1).astype("float32")
        ratios, crops, pads = (tuple(np.sort(rng.uniform(low, high, 2)).tolist()) for low, high in ((0.3, 3), (0, 1.5), (1.1, 4)))
        attempts = int(rng.choice([1, 3, 50]))
        crop = detection.DetRandomCropAug(float(rng.choice([0, 0.1, 0.5])), ratios, crops, float(rng.choice([0, 0.3, 0.5])), attempts)
        pad = detection.DetRandomPadAug(ratios, pads, attempts, tuple(rng.randint(0, 255, 3).tolist()))
        select = detection.DetRandomSelectAug([crop, pad, detection.DetHorizontalFlipAug(0.5)], skip_prob=0.1)
        for augmenter in (crop, pad, select):
            seeded(seed)
            out, boxes = augmenter(image, label.copy())
            found.append([list(out.shape), zlib.crc32(out.asnumpy().tobytes()), numbers(boxes), random.random()])
    return found


def described(mx):
    """What `dumps` says."""
    image, detection = mx.image, mx.image.detection
    return [
        [a.dumps() for a in image.CreateAugmenter((3, 8, 9), resize=10, rand_crop=True, rand_mirror=True, mean=True, std=True,
                                                  brightness=0.1, hue=0.2, pca_noise=0.1, rand_gray=0.3)],
        [a.dumps() for a in detection.CreateDetAugmenter((3, 8, 9), resize=10, rand_crop=0.5, rand_pad=0.25, rand_gray=0.1,
                                                         rand_mirror=True,
                                                         mean=True, std=np.array([1, 2, 3]), brightness=0.1, contrast=0.2, saturation=0.3,
                                                         pca_noise=0.1, hue=0.1, min_object_covered=[0.1, 0.2], area_range=(0.1, 2.0))],
        detection.CreateMultiRandCropAugmenter([0.1, 0.5], [(0.5, 2), (1, 1)], [(0.1, 0.9), (0.2, 0.3)], 0.4, [10, 20], 0.2).dumps(),
        detection.DetAugmenter(a=1, b=mx.nd.array([1, 2]), c=np.array([1.0, 2]), d=(1, 2), e=None).dumps(),
    ]


LABELS = [[2, 5, 0, .1, .1, .5, .5], [2, 5, 0, .1, .1, .5, .5, 1, .2, .2, .6], [2, 5, 0, .5, .5, .1, .1],
          [2, 5, 0, .1, .1, .5, .5, 1, .9, .9, .1, .1], [4, 5, 40, 50, 0, .1, .1, .5, .5], [2, 6, 0, .1, .1, .5, .5, .7],
          [2, 4, 0, .1, .1, .5], [2, 5], [1, 5, 0, .1, .1, .5, .5], [3, 5, 0, 0, .1, .1, .5, .5], [2.9, 5.9, 0, .1, .1, .5, .5],
          [2, 5, 0, -.1, .1, 1.5, .5], [2, 5, -1, .1, .1, .5, .5], [2, 5, -1, -1, -1, -1, -1], [2, 5, 0, .1, .1, .1, .5],
          [-2, 5, 0, .1, .1, .5, .5]]


def labels(mx, folder):
    """The objects in labels, or the kind of the error."""
    found = []
    for label in LABELS:
        try:
            it = mx.image.ImageDetIter(1, (3, 8, 8), imglist=[[*label, "1.png"]], path_root=folder)
            found.append([it.label_shape, [numbers(batch.label[0].asnumpy()) for batch in it]])
        except RuntimeError:
            found.append("RuntimeError")
    return found


NATIVE = {"": {}, "wide": dict(label_pad_width=25, label_pad_value=7), "shrink": dict(resize_mode="shrink"),
          "shrink large": dict(resize_mode="shrink", data_shape=(3, 100, 120)), "fit": dict(resize_mode="fit", mean_r=10, mean_g=20),
          "fit large": dict(resize_mode="fit", data_shape=(3, 100, 120)), "resized": dict(resize=25),
          "normalized": dict(mean_r=100, std_r=2, scale=0.5), "mirrored": dict(rand_mirror_prob=1), "gray": dict(data_shape=(1, 20, 30)),
          "listed": dict(path_imglist="box.lst"), "not round": dict(round_batch=False), "part": dict(num_parts=2, part_index=1)}


def native(mx, folder):
    """Means of pictures, labels, padding and numbers of records from ImageDetRecordIter."""
    found = {}
    for name, more in NATIVE.items():
        arguments = dict(path_imgrec=os.path.join(folder, "box.rec"), data_shape=(3, 20, 30), batch_size=3, verbose=False)
        arguments.update(more)
        if "path_imglist" in more:
            arguments["path_imglist"] = os.path.join(folder, more["path_imglist"])
        rows = []
        for batch in mx.io.ImageDetRecordIter(**arguments):
            used = 3 if arguments.get("round_batch", True) else 3 - batch.pad
            rows.append([numbers(batch.data[0].asnumpy()[:used].mean(axis=(2, 3))), numbers(batch.label[0].asnumpy()[:used]), batch.pad,
                         list(map(int, batch.index[:used]))])
        found[name] = rows
    return found


def everything(mx):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_files(mx, folder)
        return json.loads(json.dumps({"epochs": epochs(mx, folder), "augmented": augmented(mx, folder), "described": described(mx),
                                      "detection": detection_augmenters(mx, range(80)), "labels": labels(mx, folder),
                                      "native": native(mx, folder)}))


if __name__ == "__main__":
    import mxnet
    with open(sys.argv[1], "w") as out:
        json.dump(everything(mxnet), out, separators=(",", ":"))
        out.write("\n")
