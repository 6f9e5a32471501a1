"""Writes tests/python/data/image_record.npz and image_record.json: small record files and what
MXNet 1.9.1's iterators make of them. Run it under MXNet 1.9.1, which brings OpenCV and Pillow:

    python record_image_record.py
"""
import io
import json
import os
import sys
import tempfile

import cv2
import mxnet as mx
import numpy as np
from PIL import Image

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data')
sys.path.insert(0, HERE)
import image_record_cases as cases  # noqa: E402  (beside the data)


def picture(seed, height, width):
    random = np.random.RandomState(seed)
    coarse = random.randint(0, 256, (4, 5, 3)).astype(np.uint8)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)


def png(pixels):
    return cv2.imencode('.png', pixels, [cv2.IMWRITE_PNG_COMPRESSION, 9])[1].tobytes()


def jpeg(pixels, **options):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, 'JPEG', quality=88, **options)
    return file.getvalue()


def write(path, files, labels=None):
    writer = mx.recordio.MXRecordIO(path, 'w')
    for i, file in enumerate(files):
        label = float(i) if labels is None else labels[i]
        writer.write(mx.recordio.pack(mx.recordio.IRHeader(0, label, 10 * i, 0), file))
    writer.close()


def make(folder):
    sizes = [(61, 83), (83, 61), (50, 50), (77, 40), (128, 96)]
    pictures = [picture(i, *size) for i, size in enumerate(sizes)]
    alpha = [np.dstack([p, np.arange(p[..., 0].size).reshape(p.shape[:2]).astype(np.uint8)]) for p in pictures[:3]]
    noisy = np.clip(picture(9, 101, 151).astype(int) + np.random.RandomState(1).randint(-20, 21, (101, 151, 3)), 0, 255).astype(np.uint8)
    kinds = [jpeg(noisy, subsampling=s, progressive=p) for s in (0, 1, 2) for p in (False, True)] + [jpeg(noisy[..., 0])]
    files = {'png': [png(p) for p in pictures], 'jpg': [jpeg(p) for p in pictures], 'gray': [png(p[..., 0]) for p in pictures],
             'rgba': [png(a) for a in alpha], 'many': [png(picture(i, 12 + i, 14)) for i in range(11)], 'jpeg_kinds': kinds}
    for name, all_of_it in files.items():
        write('%s/%s.rec' % (folder, name), all_of_it)
    write(folder + '/labels.rec', files['jpg'], [np.array([i, 2, 3.5]) for i in range(5)])
    return list(files) + ['labels']


def main():
    with tempfile.TemporaryDirectory() as folder:
        names = make(folder)
        results = {name: cases.run(mx, case, folder) for name, case in cases.CASES.items()}
        contents = {name: np.fromfile('%s/%s.rec' % (folder, name), np.uint8) for name in names}
    np.savez_compressed(HERE + '/image_record.npz', **contents)
    with open(HERE + '/image_record.json', 'w') as file:
        file.write('{\n' + ',\n'.join('%s: %s' % (json.dumps(k), json.dumps(v)) for k, v in results.items()) + '\n}\n')


if __name__ == '__main__':
    main()
