"""Batches from DataLoader with worker processes, beside 1.9.1 and PyTorch on the same transforms.

./dev bench dataloader [--oracle python of 1.9.1] [--torch python of PyTorch and torchvision]
                       [--workers 2] [--batch 64] [--rounds 5] [--only program ...]

Programs: `digits` has 8,192 arrays 28 x 28 in memory (ToTensor, Normalize); `photos` has 64 x 8
JPEG files of 320 x 240 on the disk (decode, Resize, CenterCrop, ToTensor, Normalize); `numbers` has
16,384 rows of 64 numbers without transforms; `nested` has 8,192 rows of 64 numbers in tuples within
tuples, a shard of a data set that is changed twice; `views` is `numbers` through five views. A call
is an epoch whose batches are read. Contestants take turns and keep their workers from epoch to
epoch. Sums of the batches are compared."""
import argparse
import os
import statistics
import sys
import tempfile

import numpy as np

from alternate import Contestant, Failed, alternate, answers, beside_target, environments, ratio, repeat, serve

PROGRAMS = ["digits", "photos", "numbers", "nested", "views"]
FILES, COPIES = 64, 8
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def digits():
    return np.random.RandomState(0).randint(0, 256, (8192, 28, 28, 1)).astype("uint8"), np.arange(8192, dtype="int32") % 10


def numbers():
    return np.random.RandomState(0).uniform(size=(16384, 64)).astype("float32"), np.arange(16384, dtype="float32")


def write_photos(folder):
    import mxnet as mx
    for i in range(FILES):
        rough = mx.nd.array(np.random.RandomState(i).randint(0, 256, (15, 20, 3)), dtype="uint8")
        file = mx.nd._internal._cvimencode(mx.image.imresize(rough, 320, 240, 2))
        with open(os.path.join(folder, f"{i}.jpg"), "wb") as out:
            out.write(file.asnumpy().tobytes())


class Rows:
    """Samples within samples: ((row, number), [number, number])."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return (self.rows[i], float(i)), (i, -i)


class Changed:
    """A view of a data set, as gluon.data makes them, for PyTorch, which has none."""

    def __init__(self, data, change, indices=None):
        self.data, self.change, self.indices = data, change, indices

    def __len__(self):
        return len(self.data if self.indices is None else self.indices)

    def __getitem__(self, i):
        return self.change(*self.data[i if self.indices is None else self.indices[i]])


def twice(pair, others):
    return (pair[0] * 2, pair[1]), others


def flat(pair, others):
    return pair[0] - 1, pair[1] + others[1] - others[0]


def add_one(row, label):
    return row + 1, label


def negative(row, label):
    return -row, label


class Files:
    """Pictures by path; `read` makes one of a path."""

    def __init__(self, folder, read, transform):
        self.paths = [os.path.join(folder, f"{i % FILES}.jpg") for i in range(FILES * COPIES)]
        self.read, self.transform = read, transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return self.transform(self.read(self.paths[i])), float(i)


def mxnet_loaders(args):
    import mxnet as mx
    from mxnet.gluon.data import ArrayDataset, DataLoader, SimpleDataset
    from mxnet.gluon.data.vision import transforms as t
    data, labels = digits()
    small = t.Compose([t.ToTensor(), t.Normalize(0.13, 0.31)])
    large = t.Compose([t.Resize(256, keep_ratio=True), t.CenterCrop(224), t.ToTensor(), t.Normalize(MEAN, STD)])
    sets = {"digits": lambda: ArrayDataset(mx.nd.array(data, dtype="uint8"), labels).transform_first(small),
            "photos": lambda: Files(args.folder, mx.image.imread, large),
            "numbers": lambda: ArrayDataset(*numbers()),
            "nested": lambda: SimpleDataset(Rows(mx.nd.array(numbers()[0]))).shard(2, 1).transform(twice).transform(flat),
            "views": lambda: ArrayDataset(mx.nd.array(numbers()[0]), numbers()[1]).shard(2, 1).transform(add_one).take(8000)
                     .transform(negative).transform(add_one)}
    return {name: DataLoader(make(), args.batch, num_workers=args.workers, pin_memory=args.pin)
            for name, make in sets.items() if name in args.only}


def torch_loaders(args):
    import torch
    from PIL import Image
    from torch.utils.data import DataLoader, TensorDataset
    from torchvision import transforms as t
    data, labels = digits()
    small = t.Compose([t.ToTensor(), t.Normalize(0.13, 0.31)])
    large = t.Compose([t.Resize(256), t.CenterCrop(224), t.ToTensor(), t.Normalize(MEAN, STD)])

    class Digits(torch.utils.data.Dataset):
        def __len__(self):
            return len(data)

        def __getitem__(self, i):
            return small(data[i]), int(labels[i])

    sets = {"digits": Digits, "photos": lambda: Files(args.folder, lambda path: Image.open(path).convert("RGB"), large),
            "numbers": lambda: TensorDataset(*map(torch.from_numpy, numbers())),
            "nested": lambda: Changed(Changed(Rows(torch.from_numpy(numbers()[0])), twice, range(8192, 16384)), flat),
            "views": lambda: Changed(Changed(Changed(TensorDataset(*map(torch.from_numpy, numbers())), add_one, range(8192, 16192)),
                                             negative), add_one)}
    return {name: DataLoader(make(), args.batch, num_workers=args.workers, persistent_workers=args.workers > 0,
                             pin_memory=args.pin)
            for name, make in sets.items() if name in args.only}


def epoch(loader):
    """The sum of the batches' first elements and of the labels."""
    total = 0.0
    for data, label in loader:
        values = data.asnumpy() if hasattr(data, "asnumpy") else data.numpy()
        total += float(values.reshape(-1)[0]) + float(label[0] if isinstance(label, (list, tuple)) else label.sum().item()
                                                      if hasattr(label, "item") else label.sum().asscalar())
    return total


def contestant(args):
    send = answers()
    loaders = (torch_loaders if args.kind == "torch" else mxnet_loaders)(args)
    sums = {name: epoch(loader) for name, loader in loaders.items()}
    serve(send, {name: repeat(lambda loader=loader: epoch(loader)) for name, loader in loaders.items()}, {"sums": sums})


def race(args, folder):
    from tqdm import tqdm       # which the other interpreters may lack
    ours, plain = environments("wall")
    entries = {"ours": (sys.executable, "mxnet", ours)}
    if args.oracle:
        entries["1.9.1"] = args.oracle, "mxnet", plain
    if args.torch:
        entries["torch"] = args.torch, "torch", plain
    options = ["--folder", folder, "--workers", str(args.workers), "--batch", str(args.batch), "--only", *args.only, *["--pin"] * args.pin]
    running = []
    try:
        for name, (python, kind, env) in entries.items():
            running.append(Contestant(name, python, __file__, ["--kind", kind, *options], env))
            running[-1].ready()
        for other in running[1:]:
            for name, total in running[0].info["sums"].items():
                if abs(other.info["sums"][name] - total) > 0.02 * abs(total):
                    raise Failed(f"{name}: {other.name} has batches that sum to {other.info['sums'][name]}, ours to {total}")
        calls = {name: {c.name: 1 for c in running} for name in args.only}
        with tqdm(total=(args.rounds + 1) * len(calls) * len(running), desc="racing", unit="epoch") as bar:
            times = alternate(running, calls, args.rounds, step=bar.update)
    finally:
        for c in running:
            c.end()
    print(f"{args.workers} workers, batches of {args.batch}; milliseconds an epoch, and how many times as fast ours is as")
    for name, seconds in times.items():
        figures = ", ".join(f"{who} {1000 * statistics.median(t):.0f}" for who, t in seconds.items())
        others = ", ".join(f"{who} {beside_target(1.1, ratio(seconds, who, 'ours'))}" for who in seconds if who != "ours")
        print(f"{name}: {figures}; {others}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--torch", help="interpreter with torch, torchvision and Pillow")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=PROGRAMS, default=PROGRAMS)
    parser.add_argument("--pin", action="store_true", help="batches in page-locked memory, where the build has it")
    for hidden in ("--kind", "--folder"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--contestant", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contestant:
        return contestant(args)
    with tempfile.TemporaryDirectory() as folder:
        write_photos(folder)
        race(args, folder)


if __name__ == "__main__":
    main()
