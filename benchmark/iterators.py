"""ImageRecordIter on JPEG files of ImageNet's size, in turn with mxnet 1.9.1 and with decoding and
resizing alone.

    ./dev bench iterators --oracle PYTHON [--images N] [--rounds N] [--clock wall|cpu]
        [--threads 1,2]

Images are synthetic: noise of all sizes and discs, 500 x 375, quality 90. The shorter side is
resized to 256; crops of 224 are at random places and mirrored at random. Ratios are those of images
a second, medians over rounds.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import threading

from alternate import Contestant, add_clock, alternate, answers, beside_target, environments, ratio, serve

BATCH = 50


def picture(seed, height, width):
    import cv2
    import numpy as np
    random = np.random.RandomState(seed)
    image = np.zeros((height, width, 3), np.float32)
    for k, size in enumerate((4, 8, 16, 32, 64, 128, 256)):
        noise = random.randn(size * height // 500 + 2, size * width // 500 + 2, 3).astype(np.float32)
        noise = 0.6 * noise + 0.8 * noise.mean(2, keepdims=True)
        image += 0.62 ** k * cv2.resize(noise, (width, height), interpolation=cv2.INTER_CUBIC)
    image += random.randn(height, width, 1) * 0.16
    for _ in range(12):
        centre = int(random.randint(width)), int(random.randint(height))
        cv2.circle(image, centre, int(random.randint(10, 90)), tuple(float(x) for x in random.randn(3)), -1)
    return np.clip(127 + image * 45, 0, 255).astype(np.uint8)


def make(path, count):
    """Writes the records; needs OpenCV, which the interpreter of 1.9.1 has."""
    import cv2
    from mxnet import recordio
    writer = recordio.MXRecordIO(path, "w")
    for i in range(count):
        file = cv2.imencode(".jpg", picture(i, *((375, 500) if i % 3 else (500, 375))), [cv2.IMWRITE_JPEG_QUALITY, 90])[1]
        writer.write(recordio.pack(recordio.IRHeader(0, float(i % 1000), i, 0), file.tobytes()))
    writer.close()


def epochs(mx, path, threads):
    batches = mx.io.ImageRecordIter(path_imgrec=path, data_shape=(3, 224, 224), batch_size=BATCH, resize=256, rand_crop=True,
                                    rand_mirror=True, mean_r=123, mean_g=117, mean_b=104, std_r=58, std_g=57, std_b=57,
                                    preprocess_threads=threads, verbose=False)

    def run(calls):
        for _ in range(calls):
            batches.reset()   # not after the epoch: batches would be made while nobody looks at the clock
            for batch in batches:
                batch.data[0].wait_to_read()
    return run


def alone(mx, path, threads):
    """Decoding and resizing by operators, each thread its share of the files."""
    reader, files = mx.recordio.MXRecordIO(path, "r"), []
    for record in iter(reader.read, None):
        files.append(mx.recordio.unpack(record)[1])

    def share(first):
        for file in files[first::threads]:
            mx.image.resize_short(mx.image.imdecode(file), 256, interp=1).wait_to_read()

    def run(calls):
        for _ in range(calls):
            others = [threading.Thread(target=share, args=(i,)) for i in range(1, threads)]
            for thread in others:
                thread.start()
            share(0)
            for thread in others:
                thread.join()
    return run


def contestant(path, counts):
    send = answers()
    import mxnet as mx
    workloads = {f"iterator {n}": epochs(mx, path, n) for n in counts}
    workloads.update({f"alone {n}": alone(mx, path, n) for n in counts})
    serve(send, workloads)


def compare(arguments, path, counts):
    ours, others = environments("wall")
    programs = {"this library": Contestant("this library", sys.executable, __file__, [path, *map(str, counts)], ours),
                "1.9.1": Contestant("1.9.1", arguments.oracle, __file__, [path, *map(str, counts)], others)}
    for program in programs.values():
        program.ready()
    calls = {f"{kind} {n}": {name: 1 for name in programs} for n in counts for kind in ("iterator", "alone")}
    times = alternate(list(programs.values()), calls, arguments.rounds, arguments.clock)
    for n in counts:
        found = times[f"iterator {n}"]
        for name in programs:
            print(f"{n} thread(s), {name:12}: {arguments.images / sorted(found[name])[len(found[name]) // 2]:7.1f} images/s")
        print(f"{n} thread(s), this library to 1.9.1: {beside_target(2, ratio(found, '1.9.1', 'this library'))}")
        both = {"iterator": found["this library"], "alone": times[f"alone {n}"]["this library"]}
        print(f"{n} thread(s), iterator to decoding and resizing alone: {beside_target(0.95, ratio(both, 'alone', 'iterator'))}")
    if len(counts) > 1 and arguments.clock == "wall":
        for name in programs:
            pair = {n: times[f"iterator {n}"][name] for n in (counts[0], counts[-1])}
            print(f"{counts[-1]} threads to {counts[0]}, {name}: {beside_target(1.9, ratio(pair, counts[0], counts[-1]))}")
    for name, program in programs.items():
        print(f"peak of {name}: {program.peak_mib():.0f} MiB")
        program.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", required=True, metavar="PYTHON", help="interpreter with mxnet 1.9.1 and OpenCV")
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1,2", help="numbers of threads, with commas between them")
    add_clock(parser)
    arguments = parser.parse_args()
    arguments.images = max(1, arguments.images // BATCH) * BATCH
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "images.rec")
        subprocess.run([arguments.oracle, os.path.abspath(__file__), "--make", path, str(arguments.images)], check=True,
                       env=environments("wall")[1])
        compare(arguments, path, [int(n) for n in arguments.threads.split(",")])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--contestant"]:
        contestant(sys.argv[2], [int(n) for n in sys.argv[3:]])
    elif sys.argv[1:2] == ["--make"]:
        make(sys.argv[2], int(sys.argv[3]))
    else:
        main()
