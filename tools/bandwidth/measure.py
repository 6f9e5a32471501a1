#!/usr/bin/env python3
"""Measures what key-value stores cost for each batch of a network: push and pull of every gradient.

One type of store, in this process:

    ./dev python tools/bandwidth/measure.py --network resnet50_v1 --kv-store device --cpus 2

One type between processes, each of which runs this script:

    ./dev python tools/launch.py -n 2 -s 2 python tools/bandwidth/measure.py --kv-store dist_sync

Several types in turn, each in processes of its own, as a table and a picture:

    ./dev python tools/bandwidth/measure.py --compare local,device,dist_sync:2x2,dist_p3:2x2
        --plot bandwidth.svg

`2x2` are workers and servers; `dist_sync:4x0` has no servers and reduces between the workers.
"""
import argparse
import html
import json
import math
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RESULT = "measure.py: "


def parse(arguments):
    """The options. Names of 1.x's script mean what they meant there."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--network", default="resnet50_v1",
                        help="a name of the model zoo; or sizes in elements, as in 1000,2000000")
    parser.add_argument("--image-shape", default="3,224,224", help="of one picture")
    parser.add_argument("--num-classes", type=int, default=1000, help="outputs of the network")
    parser.add_argument("--gpus", default="", help="numbers of the GPUs, as in 0,1")
    parser.add_argument("--cpus", type=int, default=1, help="CPU contexts, where no GPUs are given")
    parser.add_argument("--kv-store", default="device", help="the type of store")
    parser.add_argument("--num-batches", type=int, default=5)
    parser.add_argument("--disp-batches", type=int, default=1, help="print each so many batches")
    parser.add_argument("--test-results", type=int, default=1, help="0: do not check the sums")
    parser.add_argument("--optimizer", default="None", help="that the store runs; None: sums only")
    parser.add_argument("--gc-type", default="none", help="gradient compression: none, 1bit, 2bit")
    parser.add_argument("--compare", help="several types: type[:workersxservers],...")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each type that is compared")
    parser.add_argument("--plot", help="write the comparison into this SVG file")
    return parser.parse_args(arguments)


def shapes_of(options):
    """Shapes of the parameters that have gradients."""
    if options.network.replace(",", "").isdigit():
        return [(int(n),) for n in options.network.split(",") if n]
    image = tuple(map(int, options.image_shape.split(",")))
    return network_shapes(options.network, image, options.num_classes)


def network_shapes(network, image=(3, 224, 224), classes=1000):
    """Shapes of the parameters of a network of the model zoo that have gradients."""
    import mxnet as mx
    net = mx.gluon.model_zoo.vision.get_model(network, classes=classes)
    net.initialize()
    net.infer_shape(mx.nd.zeros((1, *image)))
    return [p.shape for p in net.collect_params().values() if p.grad_req != "null"]


class Exchange:
    """The arrays of one worker, and a batch's exchange of them through a store."""

    def __init__(self, options):
        import mxnet as mx
        self.mx, self.options = mx, options
        self.contexts = ([mx.gpu(int(n)) for n in options.gpus.split(",")] if options.gpus
                         else [mx.cpu(i) for i in range(options.cpus)])
        self.store = mx.kv.create(options.kv_store)
        if options.gc_type != "none":
            self.store.set_gradient_compression({"type": options.gc_type})
        if options.optimizer != "None":
            self.store.set_optimizer(mx.optimizer.create(options.optimizer))
        self.shapes = shapes_of(options)
        self.bytes = 4 * sum(math.prod(shape) for shape in self.shapes)
        self.gradients, self.weights = [], []
        for key, shape in enumerate(self.shapes):
            self.store.init(key, mx.nd.zeros(shape, ctx=self.contexts[0]))
            scale = self.store.rank + 1
            self.gradients.append([mx.nd.full(shape, scale, ctx=c) for c in self.contexts])
            self.weights.append([mx.nd.empty(shape, ctx=c) for c in self.contexts])
        mx.nd.waitall()

    def batch(self):
        """Seconds of one exchange; gradients come in the order of a backward pass."""
        begin = time.perf_counter()
        for key in reversed(range(len(self.shapes))):
            self.store.push(key, self.gradients[key], priority=-key)
        for key in range(len(self.shapes)):
            self.store.pull(key, out=self.weights[key], priority=-key)
        self.mx.nd.waitall()
        return time.perf_counter() - begin

    def error(self):
        """The largest difference from the sums that are right; nan where an optimizer or
        compression makes others."""
        if self.options.optimizer != "None" or self.options.gc_type != "none":
            return float("nan")
        workers = self.store.num_workers
        right = len(self.contexts) * workers * (workers + 1) / 2
        return max(float(self.mx.nd.max(self.mx.nd.abs(w - right)).asscalar())
                   for outs in self.weights for w in outs)

    def gigabytes(self, seconds):
        """GB in a second that one device sends or receives: what an all-reduce over all devices
        needs, 2 (n - 1) / n of the bytes."""
        n = len(self.contexts) * self.store.num_workers
        return 2 * (n - 1) / n * self.bytes / seconds / 1e9


def measure(options):
    """Measure one type of store in this process, and print what `compare` reads."""
    exchange = Exchange(options)
    name = f"{options.kv_store} worker {exchange.store.rank}"
    print(f"{name}: {len(exchange.shapes)} arrays, {exchange.bytes / 1e6:.1f} MB, "
          f"{len(exchange.contexts)} devices, {exchange.store.num_workers} workers", flush=True)
    exchange.batch()                 # the first one makes buffers
    seconds, error = [], 0.0
    for number in range(options.num_batches):
        seconds.append(exchange.batch())
        if options.test_results:
            error = max(error, exchange.error())
        if (number + 1) % options.disp_batches == 0:
            shown = seconds[-options.disp_batches:]
            mean = sum(shown) / len(shown)
            print(f"{name}: batch {number}, {mean:.6f} s, {exchange.gigabytes(mean):.3f} GB/s "
                  f"per device, error {error:g}", flush=True)
    if exchange.store.rank == 0:
        median = statistics.median(seconds)
        print(RESULT + json.dumps({"seconds": median, "gigabytes": exchange.gigabytes(median),
                                   "megabytes": exchange.bytes / 1e6, "error": error}), flush=True)
    return 0 if not error > 0 else 1


def command(spec, options):
    """The command that measures one type of --compare."""
    kind, _, counts = spec.partition(":")
    own = [sys.executable, os.path.abspath(__file__), "--kv-store", kind,
           "--network", options.network, "--image-shape", options.image_shape,
           "--num-classes", str(options.num_classes), "--gpus", options.gpus,
           "--cpus", str(options.cpus), "--num-batches", str(options.num_batches),
           "--test-results", str(options.test_results), "--optimizer", options.optimizer,
           "--gc-type", options.gc_type]
    if not counts:
        return own
    workers, _, servers = counts.partition("x")
    return [sys.executable, os.path.join(HERE, "..", "launch.py"), "-n", workers,
            "-s", servers or workers, "--launcher", "local", *own]


def run_one(spec, options):
    """What the first worker of one type found."""
    done = subprocess.run(command(spec, options), capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        if RESULT in line:
            # another process may have written behind it, on the same line
            return json.JSONDecoder().raw_decode(line, line.index(RESULT) + len(RESULT))[0]
    raise SystemExit(f"[measure] {spec} ended with status {done.returncode}:\n"
                     f"{done.stdout}{done.stderr}")


def compare(options):
    """Types in turn, so that a machine's drift falls on all of them."""
    from tqdm import tqdm
    specs = options.compare.split(",")
    found = {spec: [] for spec in specs}
    with tqdm(total=options.rounds * len(specs), disable=None) as bar:
        for _ in range(options.rounds):
            for spec in specs:
                bar.set_postfix_str(spec)
                found[spec].append(run_one(spec, options))
                bar.update()
    rows = [(spec, statistics.median(r["seconds"] for r in results),
             statistics.median(r["gigabytes"] for r in results),
             max(r["error"] for r in results)) for spec, results in found.items()]
    megabytes = found[specs[0]][0]["megabytes"]
    print(f"{options.network}, {megabytes:.1f} MB for each batch, median of {options.rounds}")
    print(f"{'type':<24}{'ms a batch':>12}{'GB/s a device':>15}{'error':>8}")
    for spec, seconds, gigabytes, error in rows:
        print(f"{spec:<24}{seconds * 1e3:>12.1f}{gigabytes:>15.3f}{error:>8g}")
    if options.plot:
        from mxnet._files.whole_files import write_file
        write_file(options.plot, picture(rows, f"{options.network}, {megabytes:.1f} MB a batch").encode())
    return 0


def picture(rows, title):
    """The milliseconds of each type as bars, in SVG."""
    most = max(seconds for _, seconds, _, _ in rows)
    parts = [f'<text x="10" y="20" font-size="14">Push and pull: {html.escape(title)}</text>']
    for i, (spec, seconds, gigabytes, _) in enumerate(rows):
        y, length = 36 + 26 * i, 420 * seconds / most
        parts.append(f'<text x="150" y="{y + 14}" text-anchor="end">{html.escape(spec)}</text>'
                     f'<rect x="158" y="{y}" width="{length:.1f}" height="18" fill="#1f5a9c"/>'
                     f'<text x="{164 + length:.1f}" y="{y + 14}">{seconds * 1e3:.1f} ms, '
                     f'{gigabytes:.2f} GB/s</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{44 + 26 * len(rows)}" '
            'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" '
            f'fill="#fff"/>{"".join(parts)}</svg>\n')


def main(arguments=None):
    """Measure or compare."""
    options = parse(arguments)
    return compare(options) if options.compare else measure(options)


if __name__ == "__main__":
    sys.exit(main())
