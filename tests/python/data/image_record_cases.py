"""What test_image_record_iter.py and record_image_record.py run."""
import zlib

import numpy as np

_SMALL = {'data_shape': (3, 32, 36), 'batch_size': 2}


def _cases():
    def case(file, iterator='ImageRecordIter', **given):
        return (iterator, file, dict(_SMALL, **given))

    yield case('png')
    yield case('jpg')
    yield case('gray')
    yield case('gray', data_shape=(1, 32, 36), mean_r=5, std_r=3)
    yield case('png', data_shape=(1, 32, 36))
    yield case('rgba', data_shape=(4, 32, 36), mean_r=5, mean_g=4, mean_b=3, mean_a=10, std_a=3)
    yield case('rgba')
    for kind in ('ImageRecordIter_v1', 'ImageRecordUInt8Iter', 'ImageRecordInt8Iter', 'ImageRecordUInt8Iter_v1'):
        yield case('png', kind)
    for kind in ('ImageRecordUInt8Iter', 'ImageRecordInt8Iter'):
        yield case('png', kind, mean_r=10.5, mean_g=3, mean_b=-4.5, std_r=2, scale=.3, mirror=True)
    for size in (40, 45, 52, 100):
        for method in (0, 1, 2, 3, 4, 9):
            yield case('png', resize=size, inter_method=method)
    for shape in ((3, 70, 70), (3, 55, 40), (3, 30, 90), (3, 64, 90), (3, 90, 64)):
        for method in (1, 9):
            yield case('png', data_shape=shape, inter_method=method)
    yield case('png', pad=3)
    yield case('png', pad=5, data_shape=(3, 70, 70), fill_value=7)
    yield case('png', pad=10, resize=40, data_shape=(3, 60, 60))
    scale = {'min_random_scale': 1.5, 'max_random_scale': 1.5}
    for warp in (dict(rotate=30), dict(rotate=90, fill_value=3), dict(rotate=217), dict(min_random_scale=.7, max_random_scale=.7),
                 scale, dict(max_img_size=40), dict(min_img_size=100), dict(rotate=30, inter_method=2),
                 dict(rotate=30, inter_method=4), dict(rotate=30, inter_method=9), dict(rotate=20, resize=45, inter_method=2, **scale),
                 dict(min_random_scale=.9, max_random_scale=.9, inter_method=9), dict(min_aspect_ratio=1.5, max_aspect_ratio=1.5),
                 dict(rotate=45, pad=6, fill_value=9),
                 dict(min_aspect_ratio=.5, max_aspect_ratio=.5, min_random_scale=.83, max_random_scale=.83, rotate=33)):
        yield case('png', **warp)
    for method in (0, 1, 3, 9):
        yield case('png', min_crop_size=38, max_crop_size=38, inter_method=method)
    yield case('png', random_resized_crop=True)
    yield case('png', random_resized_crop=True, resize=60, rotate=30)
    yield case('png', mirror=True)
    yield case('png', mean_r=10, mean_g=20, mean_b=30, std_r=3, std_g=5, std_b=7, scale=1 / 255.)
    yield case('png', dtype='uint8')
    yield case('labels', label_width=3)
    yield case('many', data_shape=(3, 8, 8), batch_size=4)
    yield case('many', data_shape=(3, 8, 8), batch_size=3, num_parts=3, part_index=1)
    for more in (dict(), dict(resize=60), dict(resize=60, mirror=True), dict(data_shape=(3, 99, 149)), dict(data_shape=(3, 17, 149)),
                 dict(data_shape=(3, 80, 33)), dict(data_shape=(1, 50, 51), resize=90), dict(resize=80, inter_method=9)):
        yield case('jpeg_kinds', **more)


def name(case):
    iterator, file, given = case
    return ' '.join([iterator, file] + ['%s=%s' % (k, given[k]) for k in sorted(given)])


CASES = {name(case): case for case in _cases()}


def digest(batch):
    """Checksum and mean of the data, labels, rows that fill up."""
    data = np.ascontiguousarray(batch.data[0].asnumpy())
    return [zlib.crc32(data.tobytes()), round(float(data.astype(np.float64).mean()), 6), batch.label[0].asnumpy().tolist(), batch.pad]


def run(mx, case, folder, epochs=2, **more):
    """Digests of all batches of some epochs."""
    iterator, file, given = case
    batches = getattr(mx.io, iterator)(path_imgrec='%s/%s.rec' % (folder, file), verbose=False, **dict(given, **more))
    digests = []
    for _ in range(epochs):
        digests += [digest(batch) for batch in batches]
        batches.reset()
    return digests
