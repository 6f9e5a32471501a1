"""Record files for the scripts of this folder. The same bytes with every release.

python make_records.py FOLDER
"""

import os
import sys

import numpy as np

import mxnet as mx

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data_loading'))
from image_iter_programs import png  # noqa: E402

CLASSES = 4
COLORS = np.array([[220, 40, 40], [40, 210, 60], [50, 60, 220], [210, 200, 40]], 'uint8')


def open_record(folder, name):
    return mx.recordio.MXIndexedRecordIO(
        os.path.join(folder, name + '.idx'), os.path.join(folder, name + '.rec'), 'w'
    )


def classes(folder, name, count, seed):
    """Pictures of one noisy colour each; the label is the colour."""
    rng, record = np.random.RandomState(seed), open_record(folder, name)
    for i in range(count):
        label = int(rng.randint(CLASSES))
        height, width = 36 + rng.randint(3) * 4, 36 + rng.randint(3) * 4
        pixels = COLORS[label] * 0.5 + rng.randint(0, 128, (height, width, 3))
        record.write_idx(
            i,
            mx.recordio.pack(
                mx.recordio.IRHeader(0, float(label), i, 0), png(pixels.astype('uint8'))
            ),
        )
    record.close()


def boxes(folder, name, count, seed):
    """One or two rectangles of a class's colour on grey; labels as im2rec packs them."""
    rng, record = np.random.RandomState(seed), open_record(folder, name)
    for i in range(count):
        pixels, label = rng.randint(90, 130, (64, 64, 3)), [2, 5]
        for half in range(1 + rng.randint(2)):
            kind, size = int(rng.randint(2)), rng.randint(18, 28)
            left, top = half * 32 + rng.randint(32 - size + 1), rng.randint(64 - size)
            pixels[top : top + size, left : left + size] = COLORS[kind * 2]
            label += [kind, left / 64, top / 64, (left + size) / 64, (top + size) / 64]
        header = mx.recordio.IRHeader(0, np.array(label, 'float32'), i, 0)
        record.write_idx(i, mx.recordio.pack(header, png(pixels.astype('uint8'))))
    record.close()


def faces(folder, name, identities, each, seed):
    """Pictures sorted by identity, then a record for each identity with the range of its pictures.
    Record 0 has the range of those records."""
    rng, record, at, ranges = np.random.RandomState(seed), open_record(folder, name), 1, []
    for identity in range(identities):
        base, begin = rng.randint(0, 256, (8, 8, 3)), at
        for _ in range(each):
            pixels = np.kron(base, np.ones((4, 4, 1))) * 0.8 + rng.randint(0, 50, (32, 32, 3))
            header = mx.recordio.IRHeader(0, float(identity), at, 0)
            record.write_idx(at, mx.recordio.pack(header, png(pixels.astype('uint8'))))
            at += 1
        ranges.append((begin, at))
    first = at
    for begin, end in ranges:
        header = mx.recordio.IRHeader(2, np.array([begin, end], 'float32'), at, 0)
        record.write_idx(at, mx.recordio.pack(header, b''))
        at += 1
    header = mx.recordio.IRHeader(2, np.array([first, at], 'float32'), 0, 0)
    record.write_idx(0, mx.recordio.pack(header, b''))
    record.close()


def words(folder):
    """A text in which each word says a good deal about the next."""
    rng = np.random.RandomState(5)
    for name, lines in (('train', 160), ('valid', 40), ('test', 40)):
        with open(os.path.join(folder, f'wiki.{name}.txt'), 'w') as out:
            for _ in range(lines):
                word, line = rng.randint(50), []
                for _ in range(rng.randint(5, 15)):
                    line.append(f'w{word}')
                    word = (word * 7 + rng.randint(3)) % 50
                out.write(' '.join(line) + '\n')


def write(folder):
    classes(folder, 'train', 128, 1)
    classes(folder, 'val', 48, 2)
    boxes(folder, 'boxes', 32, 3)
    faces(folder, 'faces', 6, 12, 4)
    words(folder)


if __name__ == '__main__':
    write(sys.argv[1])
