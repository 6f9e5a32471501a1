"""Data loading: datasets, samplers, batchify, records, iterators."""
from __future__ import annotations

import os
from typing import Any, Iterator, Sequence

import numpy as np
import mxnet as mx
from mxnet import gluon, nd, recordio
from mxnet.gluon.data import ArrayDataset, DataLoader, Dataset, Sampler, SimpleDataset


class Squares(Dataset):
    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, idx: int) -> tuple[nd.NDArray, float]:
        return nd.array([idx, idx * idx]), float(idx % 2)


class EvenSampler(Sampler):
    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[int]:
        return iter(range(0, self._length, 2))

    def __len__(self) -> int:
        return (self._length + 1) // 2


def pad(samples: Sequence[tuple[nd.NDArray, float]]) -> tuple[nd.NDArray, nd.NDArray]:
    data = nd.stack(*[s[0] for s in samples])
    return data, nd.array([s[1] for s in samples])


def augment(x: nd.NDArray, y: float) -> tuple[nd.NDArray, float]:
    return x * 2, y + 1


class Numbers(mx.io.DataIter):
    def __init__(self, count: int, batch_size: int) -> None:
        super().__init__(batch_size)
        self.count, self.at = count, 0

    @property
    def provide_data(self) -> list[mx.io.DataDesc]:
        return [mx.io.DataDesc("data", (self.batch_size, 2), np.float32)]

    @property
    def provide_label(self) -> list[mx.io.DataDesc]:
        return [mx.io.DataDesc("softmax_label", (self.batch_size,))]

    def reset(self) -> None:
        self.at = 0

    def next(self) -> mx.io.DataBatch:
        if self.at >= self.count:
            raise StopIteration
        self.at += 1
        return mx.io.DataBatch([nd.ones((self.batch_size, 2))], [nd.zeros((self.batch_size,))], pad=0)


def mean_of(loader: DataLoader) -> nd.NDArray:
    total, count = nd.zeros((2,)), 0
    for x, _ in loader:
        total = total + x.sum(axis=0)
        count += x.shape[0]
    return total / count


def labels(loader: DataLoader) -> list[float]:
    out: list[float] = []
    for _, y in loader:
        out.extend(y.asnumpy().tolist())
    return out


def count_batches(it: mx.io.DataIter) -> int:
    n = 0
    for batch in it:
        n += batch.data[0].shape[0] - (batch.pad or 0)
    it.reset()
    return n


def write_records(path: str) -> None:
    writer = recordio.MXIndexedRecordIO(path + ".idx", path + ".rec", "w")
    for i in range(4):
        header = recordio.IRHeader(0, float(i), i, 0)
        writer.write_idx(i, recordio.pack(header, b"x" * (i + 1)))
    writer.close()


def read_record(path: str, i: int) -> tuple[float, bytes]:
    reader = recordio.MXIndexedRecordIO(path + ".idx", path + ".rec", "r")
    header, content = recordio.unpack(reader.read_idx(i))
    reader.close()
    return header.label, content


def main() -> None:
    dataset = Squares(10)
    loader = DataLoader(dataset, batch_size=4, sampler=EvenSampler(10), last_batch="keep", batchify_fn=pad)
    print(mean_of(loader).asnumpy(), labels(loader))
    transformed = dataset.transform(augment)
    x, y = transformed[3]
    print(x.asnumpy(), y, len(transformed))
    first = dataset.transform_first(lambda a: a / 10)
    print(first[2][0].asnumpy(), len(first))
    simple = SimpleDataset([1, 2, 3]).filter(lambda v: v > 1)
    print(len(simple), simple[0], [v for v in simple])
    arrays = ArrayDataset(np.arange(12).reshape(6, 2).astype("float32"), list(range(6)))
    many = DataLoader(arrays, 2, shuffle=False, num_workers=0, last_batch="discard")
    for i, (a, b) in enumerate(many):
        print(i, a.shape, b.dtype, a.mean().asscalar())
    train, held = arrays.take(4), arrays.shard(2, 0)
    print(len(train), len(held))
    it = Numbers(3, 5)
    print(count_batches(it), it.provide_data[0].shape)
    resized = mx.io.ResizeIter(mx.io.NDArrayIter(np.zeros((10, 2)), np.zeros(10), 5), 4)
    print(count_batches(resized))
    prefetch = mx.io.PrefetchingIter(mx.io.NDArrayIter(nd.ones((6, 2)), nd.ones((6,)), 4, last_batch_handle="pad"))
    print(count_batches(prefetch))
    path = "records"
    write_records(path)
    print(read_record(path, 2), os.path.exists(path + ".rec"))
    bucket: dict[str, Any] = {}
    bucket["pad"] = gluon.data.batchify.Pad(val=0)([nd.array([1, 2]), nd.array([3])])
    stacked = gluon.data.batchify.Stack()([nd.array([1]), nd.array([3])])
    print(bucket["pad"].shape, stacked.shape)
    parts = gluon.utils.split_and_load(nd.ones((4, 2)), ctx_list=[mx.cpu(0), mx.cpu(1)])
    total = sum(float(p.sum().asscalar()) for p in parts)
    print(total)
    sampler = gluon.data.BatchSampler(gluon.data.RandomSampler(5), 2, "rollover")
    chosen: list[list[int]] = [list(batch) for batch in sampler]
    print(len(chosen))


main()
