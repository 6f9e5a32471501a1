"""Lists of the pictures in a folder, and record files made from such lists.

Two steps make a data set::

    python -m mxnet.tools.im2rec --list --recursive data/train pictures/
    python -m mxnet.tools.im2rec --resize 256 data/train pictures/

The first writes `data/train.lst`, a line ``number TAB label TAB path`` for each picture. The
second reads it and writes `data/train.rec` and `data/train.idx`. Lists and records have the bytes
that the tool of MXNet 1.9.1 writes with OpenCV: the same shuffle, decoding, resizing and encoding.
"""
import argparse
import collections
import os
import random
import sys
import time

# Absolute imports, since the file is also run itself: programs of 1.9.1 run what get_im2rec_path()
# gives.
from mxnet import recordio
from mxnet._files import exif as _exif
from mxnet._files.whole_files import NewFile

__all__ = ["main", "make_lists", "pack_list", "read_list"]

_SEED = 100          # of the shuffle, so that a folder always gives the same list
_CHUNK = 8           # pictures that a worker process makes at a time
_LONG = 7 * 86400    # seconds that one chunk may take
_PERIOD = 1000       # pictures between two lines of progress where there is no terminal


def _warn(text):
    print(f"[im2rec] {text}", file=sys.stderr)


# ---- lists ----

def _walk(root, ancestors=()):
    """(folder, names of its files), sorted, through links to folders, but not round in circles."""
    status = os.stat(root)
    key = status.st_dev, status.st_ino
    if key in ancestors:
        _warn(f"{root} leads back into itself and is left out")
        return
    entries = sorted(os.listdir(root))
    folders = [e for e in entries if os.path.isdir(os.path.join(root, e))]
    yield root, [e for e in entries if e not in set(folders)]
    for folder in folders:
        yield from _walk(os.path.join(root, folder), ancestors + (key,))


def _pictures(root, recursive, exts):
    """(number, path below root, label) of each picture. Each folder that has some is a label."""
    exts = tuple(exts)
    number = label = 0
    for folder, names in _walk(root):
        found = 0
        for name in names:
            path = os.path.join(folder, name)
            if os.path.splitext(name)[1].lower() not in exts or not os.path.isfile(path):
                continue
            below = os.path.relpath(path, root)
            if "\t" in below or "\n" in below:
                _warn(f"{below!r} has a tab or a line break in its name, which a list cannot hold, and is left out")
                continue
            yield number, below, label
            number, found = number + 1, found + 1
        if not recursive:
            return
        if found:
            print(os.path.relpath(folder, root), label)
            label += 1


def _write_list(path, pictures):
    with NewFile(path) as out:
        out.write("".join(f"{number}\t{label:f}\t{below}\n" for number, below, label in pictures).encode("utf-8", "surrogateescape"))


def make_lists(prefix, root, recursive=False, exts=(".jpeg", ".jpg", ".png"), shuffle=True, chunks=1, train_ratio=1.0, test_ratio=0.0):
    """Write lists of the pictures in a folder.

    Parameters
    ----------
    prefix : str
        Beginning of the paths of the lists. To it come ``_0``, ``_1``, ... if there are several
        chunks; ``_train``, ``_val`` and ``_test`` if `train_ratio` is not 1; and ``.lst``.
    root : str
        The folder.
    recursive : bool
        Folders below it as well; each has a label of its own. Otherwise all labels are 0.
    exts : sequence of str
        Endings of the pictures' names, in small letters.
    shuffle : bool
        Mix the lines, always in the same way.
    chunks : int
        Number of parts, each with lists of its own.
    train_ratio, test_ratio : float
        Shares of the pictures in ``_train`` and in ``_test``; the rest is in ``_val``.

    Returns
    -------
    list of str
        Paths of the lists.

    >>> make_lists("data/train", "pictures", recursive=True)
    ['data/train.lst']
    """
    if chunks < 1:
        raise ValueError(f"[im2rec] chunks={chunks}; 1 and more are accepted")
    pictures = list(_pictures(root, recursive, exts))
    if shuffle:
        random.Random(_SEED).shuffle(pictures)
    size = -(-len(pictures) // chunks)
    written = []
    for i in range(chunks):
        chunk = pictures[i * size:(i + 1) * size]
        name = f"{prefix}_{i}" if chunks > 1 else prefix
        if train_ratio == 1.0:
            parts = [("", chunk)]
        else:
            test, train = int(size * test_ratio), int(size * train_ratio)
            parts = [("_test", chunk[:test])] if test_ratio else []
            parts.append(("_train", chunk[test:test + train]))
            if train_ratio + test_ratio < 1.0:
                parts.append(("_val", chunk[test + train:]))
        for ending, part in parts:
            written.append(f"{name}{ending}.lst")
            _write_list(written[-1], part)
    return written


def read_list(path):
    """The lines of a list as (number, path, labels); lines that are none are named on stderr.

    >>> next(read_list("data/train.lst"))
    (13, 'dog/0.jpg', [3.0])
    """
    with open(path, encoding="utf-8", errors="surrogateescape") as lines:
        for count, line in enumerate(lines, 1):
            fields = [field.strip() for field in line.split("\t")]
            if fields == [""]:
                continue
            try:
                if len(fields) < 3:
                    raise ValueError(f"{len(fields)} fields")
                number = int(fields[0])
                if not 0 <= number < 1 << 64:
                    raise ValueError(f"number {number}")
                yield number, fields[-1], [float(field) for field in fields[1:-1]]
            except ValueError as error:
                _warn(f"{path}, line {count}: {error}; accepted are a number, labels and a path, with tabs between, "
                      "and the line is left out")


# ---- pictures ----

class _Records:
    """The records of a list: `records[i]` is (record, None), or (None, what is wrong)."""

    def __init__(self, items, root, options):
        self._items, self._root, self._options = items, root, options

    def __len__(self):
        return len(self._items)

    def __getitem__(self, i):
        number, path, labels = self._items[i]
        path = os.path.join(self._root, path)
        label = labels if self._options.pack_label and len(labels) > 1 else labels[0]
        try:
            with open(path, "rb") as file:
                data = file.read()
            if not data:
                raise ValueError("the file is empty")
            if not self._options.pass_through:
                data = self._encode(data)
        except Exception as error:    # pylint: disable=broad-except  (one picture must not end a day's work)
            return None, f"{path}: {str(error).strip() or type(error).__name__}"
        return recordio.pack(recordio.IRHeader(0, label, number, 0), data), None

    def _encode(self, data):
        from mxnet import image
        from mxnet.ndarray import _internal, array
        options = self._options
        deep = data[:4] == b"\x89PNG" and data[24:25] == b"\x10"     # 16 bits, of which a record gets 8
        flag = 1 if deep and options.color < 0 else options.color
        pixels = image.imdecode(data, flag=flag if flag < 0 else flag + _exif.AS_IT_LIES, to_rgb=False)
        orientation = _exif.orientation(data) if options.color >= 0 else 1
        if orientation != 1:
            pixels = array(_exif.upright(pixels.asnumpy(), orientation), dtype="uint8")
        height, width = pixels.shape[:2]
        if options.center_crop and height != width:
            side, top, left = min(height, width), max(height - width, 0) // 2, max(width - height, 0) // 2
            pixels = pixels[top:top + side, left:left + side]
            height = width = side
        if options.resize:
            to_width = options.resize if height > width else options.resize * width // height
            to_height = options.resize * height // width if height > width else options.resize
            pixels = image.imresize(pixels, max(to_width, 1), max(to_height, 1))
        return _internal._cvimencode(pixels, encoding=options.encoding[1:], quality=options.quality, to_rgb=False).asnumpy().tobytes()


def _in_order(records, processes):
    """The elements of `records` one after the other, made by so many processes."""
    if processes <= 1 or len(records) <= _CHUNK:
        for i in range(len(records)):
            yield records[i]
        return
    from mxnet.gluon.data._workers import ProcessWorkers
    workers = ProcessWorkers(processes, records, list)
    try:
        tasks = collections.deque()
        starts = iter(range(0, len(records), _CHUNK))
        while True:
            while len(tasks) < 4 * processes and (start := next(starts, None)) is not None:
                tasks.append(workers.submit(range(start, min(start + _CHUNK, len(records)))))
            if not tasks:
                return
            yield from workers.fetch(tasks.popleft(), _LONG)
    finally:
        workers.close()


class _Progress:
    """A bar on a terminal, else a line from time to time."""

    def __init__(self, total):
        self._bar, self._count, self._start = None, 0, time.time()
        if sys.stderr.isatty():
            try:
                from tqdm import tqdm
                self._bar = tqdm(total=total, unit=" pictures")
            except ImportError:
                pass

    def step(self):
        if self._bar is not None:
            self._bar.update()
        elif self._count % _PERIOD == 0:
            print("time:", time.time() - self._start, " count:", self._count, flush=True)
            self._start = time.time()
        self._count += 1

    def close(self):
        if self._bar is not None:
            self._bar.close()


def pack_list(path, root, options):
    """Write the record file and the index of a list beside it.

    Parameters
    ----------
    path : str
        The list.
    root : str
        Folder below which its pictures are.
    options : argparse.Namespace
        What the command line says: pass_through, resize, center_crop, quality, num_thread, color,
        encoding, pack_label.

    Returns
    -------
    packed, skipped : int
        Numbers of pictures. What cannot be read or decoded is named on stderr and skipped.
    """
    print("Creating .rec file from", os.path.abspath(path), "in", os.path.dirname(os.path.abspath(path)), flush=True)
    items = list(read_list(path))
    stem = os.path.splitext(path)[0]
    packed = skipped = 0
    progress = _Progress(len(items))
    try:
        with recordio.MXIndexedRecordIO(stem + ".idx", stem + ".rec", "w") as out:
            for (number, *_), (record, wrong) in zip(items, _in_order(_Records(items, root, options), options.num_thread)):
                progress.step()
                if record is None:
                    _warn(f"skipped {wrong}")
                    skipped += 1
                else:
                    out.write_idx(number, record)
                    packed += 1
    finally:
        progress.close()
    return packed, skipped


# ---- the command ----

def _positive(text):
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{value}; 0 and more are accepted")
    return value


def _parser():
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter, prog="im2rec.py",
                                     description="Lists the pictures in a folder, or packs those of a list into a record file.")
    parser.add_argument("prefix", help="beginning of the paths of lists and record files")
    parser.add_argument("root", help="folder of the pictures")
    lists = parser.add_argument_group("Lists")
    lists.add_argument("--list", action="store_true", help="write PREFIX.lst instead of packing it")
    lists.add_argument("--exts", nargs="+", default=[".jpeg", ".jpg", ".png"], help="endings of the pictures' names")
    lists.add_argument("--chunks", type=int, default=1, help="number of parts")
    lists.add_argument("--train-ratio", type=float, default=1.0, help="share of the pictures for training")
    lists.add_argument("--test-ratio", type=float, default=0, help="share of the pictures for testing; the rest is for validation")
    lists.add_argument("--recursive", action="store_true", help="folders below ROOT as well, each with a label of its own")
    lists.add_argument("--no-shuffle", dest="shuffle", action="store_false", help="keep the pictures sorted by their paths")
    packing = parser.add_argument_group("Record files")
    packing.add_argument("--pass-through", action="store_true", help="store the files as they are")
    packing.add_argument("--resize", type=_positive, default=0, help="length of the shorter edge; 0: as it is")
    packing.add_argument("--center-crop", action="store_true", help="cut the square in the middle out, before resizing")
    packing.add_argument("--quality", type=int, default=95, help="of JPEG, 1 to 100; of PNG the level of compression, 1 to 9")
    packing.add_argument("--num-thread", type=int, default=len(os.sched_getaffinity(0)),
                         help="number of processes; the order of the list is kept")
    packing.add_argument("--color", type=int, default=1, choices=[-1, 0, 1], help="1: colour, 0: gray, -1: as the file has it")
    packing.add_argument("--encoding", default=".jpg", choices=[".jpg", ".png"], help="format of the stored pictures")
    packing.add_argument("--pack-label", action="store_true", help="store all labels of a line instead of the first")
    return parser


def _lists_of(prefix):
    """Paths of the lists whose names begin with `prefix`, which may be a folder."""
    if os.path.isdir(prefix) and prefix.endswith(os.sep):
        folder, start = prefix, ""
    else:
        folder, start = os.path.split(os.path.abspath(prefix))
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    paths = [os.path.join(folder, name) for name in names if name.startswith(start) and name.endswith(".lst")]
    return [path for path in paths if os.path.isfile(path)]


def main(arguments=None):
    """The command; returns its exit status."""
    options = _parser().parse_args(arguments)
    if options.list:
        try:
            make_lists(options.prefix, options.root, options.recursive, options.exts, options.shuffle, options.chunks,
                       options.train_ratio, options.test_ratio)
        except (OSError, ValueError) as error:
            _warn(str(error))
            return 1
        return 0
    lists = _lists_of(options.prefix)
    if not lists:
        print("Did not find any list file with prefix", os.path.abspath(options.prefix))
        return 1
    if not os.path.isdir(options.root):
        _warn(f"{options.root} is no folder")
        return 1
    packed = skipped = 0
    for path in lists:
        done = pack_list(path, options.root, options)
        packed, skipped = packed + done[0], skipped + done[1]
    if skipped:
        _warn(f"{packed} pictures packed, {skipped} skipped")
    return 1 if skipped and not packed else 0


if __name__ == "__main__":
    sys.exit(main())
