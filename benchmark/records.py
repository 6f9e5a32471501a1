"""What surrounds ImageRecordIter: packing, training, memory and the first batch.

    ./dev bench records --oracle PYTHON [--images N] [--rounds N] [--only packing training ...]
        [--folder FOLDER]

`packing` runs im2rec in turn with that of 1.9.1: resize 256, quality 95, two processes. `training`
trains ResNet-18 on batches of 16 images from a .rec file, in turn with batches in memory. `memory`
is by how much the peak of a process grows when an iterator is made and read, in parts of its
prefetch buffers. `first` is the time from the start of a process to its first batch. Images are
those of `./dev bench iterators`; a folder keeps them for the next run. Ratios are medians over
rounds. `--only training first` takes two minutes.
"""
import argparse
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time

from alternate import Contestant, alternate, answers, beside_target, environments, ratio, repeat, serve, status_mib
from iterators import make, picture

PARTS = ["packing", "training", "memory", "first"]
STEPS = 4            # of training in a turn
TRAIN_BATCH = 16


def write_files(folder, count):
    """JPEG files; needs OpenCV, which the interpreter of 1.9.1 has."""
    import cv2
    for i in range(count):
        pixels = picture(i, *((375, 500) if i % 3 else (500, 375)))
        cv2.imwrite(os.path.join(folder, f"{i:05d}.jpg"), pixels, [cv2.IMWRITE_JPEG_QUALITY, 90])


def images(mx, path, size, **options):
    return mx.io.ImageRecordIter(path_imgrec=path, data_shape=(3, 224, 224), batch_size=size, resize=256, rand_crop=True,
                                 rand_mirror=True, preprocess_threads=2, verbose=False, **options)


def seconds(command, env):
    begin = time.perf_counter()
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"records: {command[:3]} ended with status {done.returncode}\n{done.stderr[-2000:]}")
    return time.perf_counter() - begin


def say(what):
    print(what, file=sys.stderr, flush=True)


# packing

def packing(arguments, folder):
    ours, others = environments("wall")
    pictures = os.path.join(folder, f"pictures-{arguments.images}")
    if not os.path.isdir(pictures):
        say(f"drawing {arguments.images} files")
        os.mkdir(pictures + ".part")
        subprocess.run([arguments.oracle, os.path.abspath(__file__), "--files", pictures + ".part", str(arguments.images)],
                       check=True, env=others)
        os.rename(pictures + ".part", pictures)
    home = subprocess.run([arguments.oracle, "-c", "import mxnet; print(mxnet.__path__[0])"], check=True, env=others,
                          capture_output=True, text=True).stdout.split()[-1]
    tool = os.path.join(home, "tools", "im2rec.py")
    programs = {"ours": ([sys.executable, "-m", "mxnet.tools.im2rec"], ours), "1.9.1": ([arguments.oracle, tool], others)}
    times = {name: [] for name in programs}
    for name, (command, env) in programs.items():
        seconds([*command, "--list", os.path.join(folder, name), pictures], env)
    for turn in range(arguments.rounds + 1):
        for name, (command, env) in programs.items():
            options = ["--resize", "256", "--quality", "95", "--num-thread", "2", os.path.join(folder, name), pictures]
            spent = seconds([*command, *options], env)
            say(f"packing, {name}, round {turn}: {spent:.1f} s")
            if turn:
                times[name].append(spent)
    for name, spent in times.items():
        print(f"packing, {name}: {arguments.images / statistics.median(spent):.1f} images/s")
    print("packing, this library to 1.9.1:", beside_target(2, ratio(times, "1.9.1", "ours")))


# training

def trainer(path):
    send = answers()
    import mxnet as mx
    from mxnet import autograd, gluon
    net = gluon.model_zoo.vision.resnet18_v1(classes=1000)
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    loss, steps = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    source = images(mx, path, TRAIN_BATCH)
    kept = [batch for _, batch in zip(range(STEPS), source)]

    def step(batch):
        with autograd.record():
            value = loss(net(batch.data[0]), batch.label[0])
        value.backward()
        steps.step(TRAIN_BATCH)
        value.wait_to_read()

    def endless():
        while True:
            yield from source
            source.reset()
    batches = endless()

    def from_records():   # goes on where the last call ended: buffers are as full before as after
        for _, batch in zip(range(STEPS), batches):
            step(batch)

    def from_memory():
        for batch in kept:
            step(batch)
    serve(send, {"records": repeat(from_records), "memory": repeat(from_memory)})


def training(arguments, path):
    program = Contestant("ours", sys.executable, __file__, ["trainer", path], environments("wall")[0])
    program.ready()
    turns = itertools.count(1)
    times = alternate([program], {"records": {"ours": 1}, "memory": {"ours": 1}}, arguments.rounds,
                      step=lambda: say(f"training: {next(turns)} of {2 * arguments.rounds + 2} turns"))
    program.end()
    both = {name: found["ours"] for name, found in times.items()}
    for name, spent in both.items():
        print(f"training from {name}: {STEPS * TRAIN_BATCH / statistics.median(spent):.1f} images/s")
    print("training, time from records to time from memory:", beside_target(1.03, 1 / ratio(both, "memory", "records"), atleast=False))


# memory

def peak(path, batch, buffers):
    """Prints by how many MiB the peak grows."""
    import mxnet as mx
    for _ in images(mx, path, 2, prefetch_buffer=2):     # libraries, threads and decoders
        break
    mx.nd.waitall()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")     # the peak becomes what is resident
    before = status_mib("VmHWM")
    batches = images(mx, path, batch, prefetch_buffer=buffers)
    for _ in range(3):
        batches.reset()
        for one in batches:
            one.data[0].wait_to_read()
            one = None
    print(status_mib("VmHWM") - before)


def memory(arguments, path):
    found = []
    for batch, buffers in (50, 4), (50, 8), (25, 8):
        room = buffers * batch * 3 * 224 * 224 * 4 / 2**20
        grown = float(subprocess.run([sys.executable, os.path.abspath(__file__), "--peak", path, str(batch), str(buffers)], check=True,
                                     env=environments("wall")[0], capture_output=True, text=True).stdout.split()[-1])
        print(f"memory, {buffers} buffers of {batch} images: peak grows by {grown:.0f} MiB of {room:.0f} MiB")
        found.append(grown / room)
    print("memory, peak to prefetch buffers:", beside_target(1.2, max(found), atleast=False))


# the first batch

FIRST = """
import sys
import mxnet as mx
sys.path.insert(0, sys.argv[2])
from records import images
batch = images(mx, sys.argv[1], 50).next()
batch.data[0].asnumpy()
"""


def first(arguments, path):
    ours, others = environments("wall")
    programs = {"ours": (sys.executable, ours), "1.9.1": (arguments.oracle, others)}
    times = {name: [] for name in programs}
    for turn in range(arguments.rounds + 1):
        for name, (python, env) in programs.items():
            spent = seconds([python, "-c", FIRST, path, os.path.dirname(os.path.abspath(__file__))], env)
            if turn:
                times[name].append(spent)
    for name, spent in times.items():
        print(f"first batch, {name}: {statistics.median(spent):.2f} s")
    print("first batch, seconds:", beside_target(2, statistics.median(times["ours"]), atleast=False))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", required=True, metavar="PYTHON", help="interpreter with mxnet 1.9.1 and OpenCV")
    parser.add_argument("--images", type=int, default=800, help="no fewer than 400 fill all prefetch buffers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--folder", help="where images are kept for the next run; without it they are removed")
    arguments = parser.parse_args()
    if arguments.folder:
        os.makedirs(arguments.folder, exist_ok=True)
        measure(arguments, arguments.folder)
    else:
        with tempfile.TemporaryDirectory() as folder:
            measure(arguments, folder)


def measure(arguments, folder):
    path = os.path.join(folder, f"images-{arguments.images}.rec")
    if not os.path.exists(path):
        say(f"packing {arguments.images} images")
        subprocess.run([arguments.oracle, os.path.abspath(__file__), "--make", path + ".part", str(arguments.images)], check=True,
                       env=environments("wall")[1])
        os.rename(path + ".part", path)
    for part in arguments.only:
        if part == "packing":
            packing(arguments, folder)
        else:
            {"training": training, "memory": memory, "first": first}[part](arguments, path)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--contestant"]:
        trainer(sys.argv[3])
    elif sys.argv[1:2] == ["--make"]:
        make(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1:2] == ["--files"]:
        write_files(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1:2] == ["--peak"]:
        peak(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
