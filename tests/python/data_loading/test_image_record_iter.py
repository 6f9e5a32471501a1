"""ImageRecordIter: numbers of MXNet 1.9.1, order, seeds, broken files."""
import json
import os
import struct
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data')
sys.path.insert(0, HERE)
import image_record_cases as cases  # noqa: E402  (beside the data)

pytestmark = pytest.mark.sanitized

with open(HERE + '/image_record.json') as _file:
    RECORDED = json.load(_file)


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp('records')
    with np.load(HERE + '/image_record.npz') as contents:
        for name in contents.files:
            contents[name].tofile(path / (name + '.rec'))
    return str(path)


def iterate(folder, file, **given):
    given = dict(dict(data_shape=(3, 32, 36), batch_size=2, verbose=False), **given)
    kind = given.pop('kind', 'ImageRecordIter')
    return getattr(mx.io, kind)(path_imgrec='%s/%s.rec' % (folder, file), **given)


def labels(batches):
    return [int(label) for batch in batches for label in batch.label[0].asnumpy()[:batch.label[0].shape[0] - batch.pad]]


def pixels(batches):
    return np.concatenate([batch.data[0].asnumpy() for batch in batches])


def records(path):
    """Payloads of a file."""
    reader, found = mx.recordio.MXRecordIO(path, 'r'), []
    while True:
        payload = reader.read()
        if payload is None:
            return found
        found.append(payload)


def write(path, payloads):
    """Also writes an index."""
    writer = mx.recordio.MXIndexedRecordIO(str(path)[:-4] + '.idx', str(path), 'w')
    for i, payload in enumerate(payloads):
        writer.write_idx(i, payload)
    writer.close()


@pytest.mark.parametrize('name', list(cases.CASES))
def test_numbers_of_1_9_1(name, folder):
    assert cases.run(mx, cases.CASES[name], folder) == RECORDED[name]


RANDOM = dict(rand_crop=True, rand_mirror=True, max_rotate_angle=20, max_random_scale=1.3, brightness=.3, contrast=.2, saturation=.3,
              pca_noise=.1, random_h=20, random_s=20, random_l=20, max_random_contrast=.2, max_random_illumination=9, inter_method=10,
              shuffle=True, seed=3, seed_aug=5)


@pytest.mark.parametrize('file', ['png', 'jpeg_kinds'])
def test_equal_seeds_give_equal_batches_for_any_number_of_threads(file, folder):
    def epochs(threads, buffer, **more):
        batches = iterate(folder, file, preprocess_threads=threads, prefetch_buffer=buffer, **dict(RANDOM, **more))
        first = pixels(batches)
        batches.reset()
        return first, pixels(batches)

    once = epochs(1, 1)
    for threads, buffer in ((2, 4), (4, 1), (3, 0)):
        again = epochs(threads, buffer)
        assert all(np.array_equal(a, b) for a, b in zip(once, again))
    assert not np.array_equal(*once)
    assert not np.array_equal(once[0], epochs(1, 1, seed_aug=6)[0])


def test_equal_numbers_after_leaving_an_epoch_early(folder):
    def second_epoch(take):
        batches = iterate(folder, 'many', data_shape=(3, 8, 8), batch_size=3, prefetch_buffer=4, **RANDOM)
        for _ in range(take):
            batches.next()
        batches.reset()
        return pixels(batches)

    assert np.array_equal(second_epoch(1), second_epoch(2))


@pytest.mark.parametrize('index', [False, True])
def test_shuffling(index, folder, tmp_path):
    write(tmp_path / 'many.rec', records(folder + '/many.rec'))
    more = {'path_imgidx': str(tmp_path / 'many.idx')} if index else {}

    def order(epochs=1, **given):
        batches = iterate(str(tmp_path), 'many', data_shape=(3, 8, 8), batch_size=1, **dict(more, **given))
        orders = []
        for _ in range(epochs):
            orders.append(labels(batches))
            batches.reset()
        return orders

    assert order() == [list(range(11))]
    first, second = order(epochs=2, shuffle=True, seed=1)
    assert first != second and sorted(first) == sorted(second) == list(range(11))
    assert order(shuffle=True, seed=1)[0] == first != order(shuffle=True, seed=2)[0]
    parts = [order(num_parts=3, part_index=i, shuffle=True)[0] for i in range(3)]
    assert sorted(sum(parts, [])) == list(range(11))


def test_pieces_come_in_random_order(folder, tmp_path):
    payloads = [payload + b'\0' * 400000 for payload in records(folder + '/many.rec')]
    write(tmp_path / 'long.rec', payloads)
    given = dict(data_shape=(3, 8, 8), batch_size=1, shuffle_chunk_size=1, shuffle_chunk_seed=4)
    batches = iterate(str(tmp_path), 'long', **given)
    first = labels(batches)
    batches.reset()
    assert sorted(first) == list(range(11)) != first
    assert labels(batches) != first == labels(iterate(str(tmp_path), 'long', **given))


def test_several_files_and_records_with_the_magic_number(folder, tmp_path):
    payloads = records(folder + '/many.rec')
    magic = struct.pack('<I', 0xced7230a)
    write(tmp_path / 'a.rec', [payload + b'\0' * (-len(payload) % 4) + magic * 3 + b'end' for payload in payloads])
    paths = '%s/a.rec;%s/many.rec' % (tmp_path, folder)
    batches = mx.io.ImageRecordIter(path_imgrec=paths, data_shape=(3, 8, 8), batch_size=2, verbose=False)
    assert labels(batches) == list(range(11)) * 2
    batches.reset()
    assert len(pixels(batches)) == 22


def test_distributions(folder):
    def drawn(count=400, **given):
        batches = iterate(folder, 'flat', data_shape=(3, 4, 4), batch_size=50, **given)
        found = []
        while len(found) < count:
            found += list(pixels(batches)[:, :, 1, 1])
            batches.reset()
        return np.array(found[:count])

    png = records(folder + '/png.rec')[0]
    write(folder + '/flat.rec', [png] * 50)
    plain = drawn(count=1)[0]
    bright = drawn(brightness=.4)[:, 1] / plain[1]
    assert abs(bright.mean() - 1) < .05 and .58 < bright.min() < .65 and 1.3 < bright.max() < 1.42
    light = drawn(max_random_illumination=20)[:, 0] - plain[0]
    assert abs(light.mean()) < 2 and abs(light.std() - 20 / 3 ** .5) < 1 and abs(light).max() <= 20
    noise = drawn(pca_noise=.1) - plain
    assert np.all(abs(noise.std(0) - 3.2) < .4) and np.corrcoef(noise.T)[0, 1] > .95
    crops = {tuple(x.ravel()) for x in pixels(iterate(folder, 'flat', data_shape=(3, 60, 82), batch_size=50, rand_crop=True))}
    assert len(crops) == 4
    mirrored = pixels(iterate(folder, 'flat', batch_size=50, rand_mirror=True))
    straight = pixels(iterate(folder, 'flat', batch_size=50))
    assert 12 < sum(np.array_equal(a, b) for a, b in zip(mirrored, straight)) < 38
    hue = drawn(random_h=10)
    assert 8 < len({tuple(x) for x in hue}) <= 19


def test_an_unfilled_batch_says_how_many_rows_are_missing(folder):
    batches = list(iterate(folder, 'png', round_batch=False))
    assert [batch.pad for batch in batches] == [0, 0, 1]
    assert [list(batch.index) for batch in batches[:2]] == [[0, 10], [20, 30]] and batches[2].index[0] == 40
    assert not batches[2].data[0].asnumpy()[1].any()
    long = iterate(folder, 'png', batch_size=12)
    assert long.next().pad == 7
    long.reset()  # to the record behind the seven that were borrowed
    assert long.next().pad == 9


def test_arrays_of_a_batch_stay(folder):
    batches = iterate(folder, 'png', prefetch_buffer=1)
    first = batches.next().data[0]
    before = first.asnumpy()
    for _ in range(10):
        batches.reset()
        pixels(batches)
    assert np.array_equal(before, first.asnumpy())


def test_labels_of_a_list(folder, tmp_path):
    table = tmp_path / 'table.lst'
    table.write_text(''.join('%d\t%d\t%g\ta file.jpg\n' % (10 * i, i + 5, i / 2) for i in range(5)))
    two = iterate(folder, 'png', path_imglist=str(table), label_width=2, batch_size=5)
    assert two.next().label[0].asnumpy().tolist() == [[i + 5, i / 2] for i in range(5)]
    three = iterate(folder, 'png', path_imglist=str(table), label_width=3, batch_size=5)
    assert three.next().label[0].asnumpy()[:, 2].tolist() == [0] * 5
    table.write_text('10\t5\tx.jpg\n')
    with pytest.raises(ValueError, match='no labels for the image with id 0'):
        iterate(folder, 'png', path_imglist=str(table)).next()
    table.write_text('10\tfive\tx.jpg\n')
    with pytest.raises(ValueError, match=r"table.lst' line 1"):
        iterate(folder, 'png', path_imglist=str(table))


def test_mean_image(folder, tmp_path):
    path = str(tmp_path / 'mean.bin')
    plain = pixels(iterate(folder, 'png', batch_size=5))
    less = pixels(iterate(folder, 'png', batch_size=5, mean_img=path, scale=1))
    mean = mx.nd.load(path)['mean_img'].asnumpy()
    np.testing.assert_allclose(mean, plain.mean(0), rtol=1e-5)
    np.testing.assert_array_equal(less, plain - mean)
    turned = pixels(iterate(folder, 'png', batch_size=5, mean_img=path, mirror=True))
    np.testing.assert_array_equal(turned, (plain - mean)[..., ::-1])
    with pytest.raises(ValueError, match='the data_shape'):
        iterate(folder, 'png', data_shape=(3, 30, 36), mean_img=path)


@pytest.mark.parametrize('kind, given', [
    ('ImageRecordIter', dict(mean_r=5, std_g=3, mirror=True)), ('ImageRecordIter', dict(max_random_contrast=.2, rand_mirror=True)),
    ('ImageRecordIter', dict(data_shape=(1, 32, 36))), ('ImageRecordIter', dict(mean_img='mean', mirror=True)),
    ('ImageRecordUInt8Iter', {}), ('ImageRecordUInt8Iter', dict(mirror=True)), ('ImageRecordInt8Iter', dict(mean_g=9))])
def test_channels_last(kind, given, folder, tmp_path):
    if 'mean_img' in given:
        given = dict(given, mean_img=str(tmp_path / given['mean_img']))
    last = iterate(folder, 'png', kind=kind, layout='NHWC', **given)    # also makes the mean image
    first = iterate(folder, 'png', kind=kind, **given)
    channels, height, width = given.get('data_shape', (3, 32, 36))
    desc = last.provide_data[0]
    assert (desc.shape, desc.layout, first.provide_data[0].layout) == ((2, height, width, channels), 'NHWC', 'NCHW')
    want = pixels(first)
    np.testing.assert_array_equal(pixels(last), want.transpose(0, 2, 3, 1))
    assert want.any()


def test_page_locked_batches(folder):
    for given, where in (({}, mx.cpu()), (dict(ctx='cpu'), mx.cpu()), (dict(ctx='cpu_pinned'), mx.cpu_pinned(0)),
                         (dict(ctx='cpu_pinned', device_id=1), mx.cpu_pinned(1))):
        batch = iterate(folder, 'png', **given).next()
        assert batch.data[0].context == batch.label[0].context == where


def test_a_broken_image_costs_a_warning(folder, tmp_path, capfd):
    payloads = records(folder + '/jpg.rec')
    payloads[1] = payloads[1][:24] + b'no image'
    payloads[3] = payloads[3][:-400]
    write(tmp_path / 'broken.rec', payloads)
    batch = iterate(str(tmp_path), 'broken', batch_size=5).next()
    good = pixels(iterate(folder, 'jpg', batch_size=5))
    np.testing.assert_array_equal(batch.data[0].asnumpy(), good[[0, 0, 2, 2, 4]])
    assert batch.label[0].asnumpy().tolist() == [0, 0, 2, 2, 4] and list(batch.index) == [0, 0, 20, 20, 40]
    lines = [line for line in capfd.readouterr().err.splitlines() if 'cannot be decoded' in line]
    assert len(lines) == 2 and any("image 10 in '%s/broken.rec' at byte" % tmp_path in line for line in lines)
    write(tmp_path / 'broken.rec', [payload[:24] + b'no image' for payload in payloads])
    for _ in range(50):     # whichever thread is the first
        with pytest.raises(OSError, match='no image of a batch can be decoded; image 0 in'):
            iterate(str(tmp_path), 'broken', batch_size=5).next()


def test_damaged_record_files_name_the_place(folder, tmp_path):
    with open(folder + '/png.rec', 'rb') as file:
        contents = bytearray(file.read())
    second = 8 + (struct.unpack('<I', contents[4:8])[0] + 3) // 4 * 4

    def damaged(change):
        changed = bytearray(contents)
        change(changed)
        (tmp_path / 'bad.rec').write_bytes(changed)
        batches = iterate(str(tmp_path), 'bad', batch_size=1)
        first = batches.next().data[0]
        assert first.shape == (1, 3, 32, 36)
        with pytest.raises(OSError) as error:
            while True:
                batches.next()
        return str(error.value)

    assert "bad.rec' at byte %d: no RecordIO record" % second in damaged(lambda b: b.__setitem__(slice(second, second + 4), b'\0' * 4))
    assert 'the file ends after' in damaged(lambda b: b.__delitem__(slice(-1000, None)))
    assert 'middle of a record' in damaged(lambda b: b.extend(b'\0' * 4))
    assert 'at byte %d' % second in damaged(lambda b: b.__setitem__(slice(second + 8, second + 12), struct.pack('<I', 2 ** 31)))


@pytest.mark.parametrize('given, message', [
    (dict(data_shape=(2, 8, 8)), 'data_shape'), (dict(data_shape=(3, 8)), 'data_shape'), (dict(batch_size=0), 'batch_size=0'),
    (dict(label_width=2), 'label_width=2'), (dict(label_width=0), 'label_width'), (dict(preprocess_threads=0), 'preprocess_threads'),
    (dict(part_index=3, num_parts=3), 'part_index=3'), (dict(aug_seq='none'), 'aug_seq'), (dict(inter_method=7), 'inter_method=7'),
    (dict(inter_method=0, rotate=3), 'inter_method=0'), (dict(random_resized_crop=True, rand_crop=True), 'random_resized_crop'),
    (dict(min_crop_size=60, max_crop_size=60), 'max_crop_size=60'), (dict(min_crop_size=9), 'min_crop_size'),
    (dict(std_g=0), 'std_g=0'), (dict(dtype='float64'), 'dtype=float64'), (dict(min_random_scale=2), 'min_random_scale'),
    (dict(path_imgidx=__file__), 'line 1'), (dict(pad=-1), 'pad')])
def test_wrong_arguments(given, message, folder):
    with pytest.raises(ValueError, match=message):
        pixels(iterate(folder, 'png', **given))


def test_a_batch_that_memory_cannot_hold(folder):
    for labels in (1, 2**31 - 1):
        with pytest.raises(mx.MXNetError, match='out of memory'):
            next(iterate(folder, 'png', batch_size=2**31 - 1, label_width=labels))


def test_missing_files_and_channels(folder):
    with pytest.raises(FileNotFoundError, match='nowhere'):
        iterate(folder, 'nowhere')
    with pytest.raises(FileNotFoundError, match='nowhere'):
        iterate(folder, 'png', path_imgidx='nowhere')
    with pytest.raises(OSError, match='accepted: 4'):
        iterate(folder, 'png', data_shape=(4, 32, 36)).next()


def test_orientation_of_cameras(folder, tmp_path):
    payloads = records(folder + '/jpg.rec')[:1]
    straight = iterate(folder, 'jpg', data_shape=(3, 61, 83), batch_size=1).next().data[0].asnumpy()[0].transpose(1, 2, 0)
    turns = {2: straight[:, ::-1], 3: straight[::-1, ::-1], 4: straight[::-1], 5: straight.transpose(1, 0, 2),
             6: np.rot90(straight, -1), 7: np.rot90(straight.transpose(1, 0, 2), 2), 8: np.rot90(straight)}
    for order, pack in (('II*\0', '<'), ('MM\0*', '>')):
        for orientation, turned in turns.items():
            tag = struct.pack(pack + 'IHHHIHHI', 8, 1, 0x112, 3, 1, orientation, 0, 0)
            exif = b'Exif\0\0' + order.encode() + tag
            head, file = payloads[0][:24], payloads[0][24:]
            file = file[:2] + b'\xff\xe1' + struct.pack('>H', len(exif) + 2) + exif + file[2:]
            write(tmp_path / 'turned.rec', [head + file])
            shape = (3,) + turned.shape[:2]
            found = iterate(str(tmp_path), 'turned', data_shape=shape, batch_size=1).next().data[0].asnumpy()[0]
            np.testing.assert_array_equal(found, turned.transpose(2, 0, 1))


@pytest.fixture(scope='module')
def large(tmp_path_factory):
    """Smooth pictures as JPEG and as PNG files, of sides that no block divides."""
    path = tmp_path_factory.mktemp('large')
    y, x = np.mgrid[0:203, 0:269]
    for kind in ('jpg', 'png'):
        with mx.recordio.MXRecordIO(str(path / (kind + '.rec')), 'w') as out:
            for i in range(4):
                planes = [128 + 90 * np.sin(x / (29 + i) + c) * np.cos(y / (33 - i) - c) for c in range(3)]
                head = mx.recordio.IRHeader(0, float(i), i, 0)
                image = np.stack(planes, axis=2).astype('uint8')
                out.write(mx.recordio.pack_img(head, image, quality=95, img_fmt='.' + kind))
    return str(path)


def scaled(folder, file='jpg', **given):
    """The pixels of whole decoding, and those of scaled decoding."""
    given = dict(dict(data_shape=(3, 48, 48), batch_size=4), **given)
    made = [iterate(folder, file, scaled_decode=decode, **given).next().data[0].asnumpy() for decode in (False, True)]
    return made[0].astype('float32'), made[1].astype('float32')


@pytest.mark.parametrize('given', [
    dict(resize=100), dict(resize=50), dict(resize=25, data_shape=(3, 20, 20)), dict(resize=90, rand_crop=True, rand_mirror=True),
    dict(resize=60, inter_method=3), dict(resize=60, inter_method=2, kind='ImageRecordUInt8Iter'),
    dict(resize=80, max_rotate_angle=20, fill_value=0), dict(resize=70, pad=4), dict(resize=64, data_shape=(1, 48, 48)),
    dict(random_resized_crop=True, min_random_area=0.5, max_random_area=0.9, min_aspect_ratio=0.8, max_aspect_ratio=1.2),
    dict(max_crop_size=200, min_crop_size=150, rand_crop=True), dict(resize=90, brightness=0.2, contrast=0.2, seed_aug=7)])
def test_scaled_decoding_is_near_to_whole_decoding(given, large):
    whole, near = scaled(large, **given)
    assert 0 < np.abs(whole - near).mean() < 4 and np.abs(whole - near).max() < 16


def test_scaled_decoding_waits_for_half_the_size(large):
    for given in (dict(resize=102), dict(), dict(resize=400), dict(resize=50, file='png'),
                  dict(max_crop_size=95, min_crop_size=95)):
        whole, same = scaled(large, **given)
        np.testing.assert_array_equal(whole, same)


def test_a_part_of_a_scaled_image_is_as_in_the_whole(large):
    for method in range(5):
        for resize in (101, 51, 40, 25):
            given = dict(resize=resize, inter_method=method, scaled_decode=True, batch_size=4)
            width = resize * 269 // 203
            whole = iterate(large, 'jpg', data_shape=(3, resize, width), **given).next().data[0].asnumpy()
            part = iterate(large, 'jpg', data_shape=(3, 18, 20), **given).next().data[0].asnumpy()
            y, x = (resize - 18) // 2, (width - 20) // 2
            np.testing.assert_array_equal(part, whole[:, :, y:y + 18, x:x + 20])


def test_it_can_be_left_at_any_time(folder):
    script = ("import mxnet as mx, os\n"
              "a = mx.io.ImageRecordIter(path_imgrec=%r, data_shape=(3, 32, 36), batch_size=2, verbose=False)\n"
              "a.next()\n"
              "if os.fork() == 0:\n"
              "    try: a.next(), a.next()\n"
              "    except mx.MXNetError as e: print('child', 'belongs to the process' in str(e), flush=True)\n"
              "    os._exit(0)\n"
              "os.wait()\n"
              "print('parent', a.next().data[0].shape)\n") % (folder + '/png.rec')
    told = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True, timeout=60)
    assert told.returncode == 0 and 'child True' in told.stdout and 'parent (2, 3, 32, 36)' in told.stdout, told.stderr
