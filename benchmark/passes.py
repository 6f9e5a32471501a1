"""What each pass of the plan compiler gains: graphs made for it, with the pass and without it in
turn, in one process.

    ./dev bench passes [--repeats N] [--clock wall|cpu] [NAME...]
"""
import argparse
import statistics
import time

import numpy as np

import mxnet as mx

S = mx.sym
X = S.Variable("x")


def repeat(net, count, step):
    for i in range(count):
        net = step(net, i)
    return net


def attention():
    q, k, v = (S.reshape(S.transpose(S.reshape(S.FullyConnected(X, num_hidden=768, flatten=False),
                                               shape=(0, 0, 12, -1)), axes=(0, 2, 1, 3)),
                         shape=(-3, 0, 0))
               for _ in range(3))
    y = S.batch_dot(S.softmax(S.batch_dot(q * 0.125, k, transpose_b=True)), v)
    return S.reshape(S.transpose(S.reshape(y, shape=(-4, -1, 12, 0, 0)), axes=(0, 2, 1, 3)), shape=(0, 0, -3))


def conv_norm(net, i, end, size=1):
    return end(S.BatchNorm(S.Convolution(net, num_filter=64, kernel=(size, size),
                                         pad=(size // 2, size // 2), name=f"c{i}"),
                           fix_gamma=False))


# name: (pass, graph, shape of x, training)
CASES = {
    "dense + gelu, 128 x 768 x 3072": ("fuse_dense",
                                       lambda: S.LeakyReLU(S.FullyConnected(X, num_hidden=3072),
                                                           act_type="gelu"), (128, 768), False),
    "dense + sum, 128 x 768 x 768": ("fuse_dense", lambda: S.FullyConnected(X, num_hidden=768) + S.exp(X), (128, 768), False),
    "1x1 convolutions + relu6, 56 x 56 x 64": ("fuse_convolution",
                                               lambda: repeat(X, 4, lambda n, i: conv_norm(n, i, lambda y: S.clip(y, 0, 6))),
                                               (1, 64, 56, 56), False),
    "1x1 convolutions + BatchNorm": ("fold_scale_shift",
                                     lambda: repeat(X, 4, lambda n, i: conv_norm(n, i, S.relu)),
                                     (1, 64, 56, 56), False),
    "24 cheap operators, 512 x 2048": ("fuse_pointwise", lambda: repeat(X, 8, lambda n, i: S.relu(n * 1.1 + 0.1)), (512, 2048), False),
    "24 cheap operators, training": ("fuse_pointwise", lambda: repeat(X, 8, lambda n, i: S.relu(n * 1.1 + 0.1)), (512, 2048), True),
    "12 dear operators, 512 x 2048": ("fuse_pointwise", lambda: repeat(X, 4, lambda n, i: S.tanh(n * 1.1 + 0.1)), (512, 2048), False),
    "3x3 convolution, BatchNorm, relu, training": ("fuse_batch_norm_relu",
                                                   lambda: repeat(X, 4, lambda n, i: conv_norm(n, i, S.relu, 3)),
                                                   (2, 64, 56, 56), True),
    "gelu written out behind a dense layer": ("fuse_gelu",
                                              lambda: (lambda y: 0.5 * y
                                                       * (1 + S.erf(y / np.sqrt(2))))(
                                                           S.FullyConnected(X, num_hidden=3072)),
                                              (128, 768), False),
    "attention, 12 heads of 64, 128 rows": ("fuse_attention", attention, (1, 128, 768), False),
    "attention, 12 heads of 64, 512 rows": ("fuse_attention", attention, (1, 512, 768), False),
    "positions from arange": ("fold_constants",
                              lambda: S.broadcast_add(S.softmax(X),
                                                      S.sin(S.reshape(S.arange(1024),
                                                                      shape=(1, -1)) / 100)),
                              (64, 1024), False),
}


def runner(net, shape, train, off):
    mx.util.set_env("MXNET_PLAN_PASSES_OFF", off)
    executor = net.simple_bind(mx.cpu(), grad_req="write" if train else "null", x=shape)
    mx.util.set_env("MXNET_PLAN_PASSES_OFF", "")
    rng = np.random.RandomState(0)
    for array in list(executor.arg_dict.values()) + list(executor.aux_dict.values()):
        array[:] = rng.uniform(0.1, 1, array.shape)

    def run():
        outputs = executor.forward(is_train=train)
        if train:
            executor.backward(outputs)
        mx.nd.waitall()
    return run, executor


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of names of cases; all when none is given")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall",
                        help="cpu: time of all threads of the process, for a machine that others "
                        "use too")
    args = parser.parse_args()
    clock = time.perf_counter if args.clock == "wall" else time.process_time
    print("| case | pass | without, ms | with, ms | gain | nodes | arena, MiB |\n|---|---|---|---|---|---|---|")
    for name, (off, make, shape, train) in CASES.items():
        if args.names and not any(n in name or n == off for n in args.names):
            continue
        net = make()
        runs = [runner(net, shape, train, passes) for passes in (off, "")]
        times = [[], []]
        for i in range(args.repeats + 2):
            for (run, _), into in zip(runs, times):
                begin = clock()
                run()
                if i > 1:
                    into.append(clock() - begin)
        gain = statistics.median(a / b for a, b in zip(*times))
        stats = [e.plan_stats() for _, e in runs]
        print(f"| {name} | {off} | {1e3 * statistics.median(times[0]):.2f} | {1e3 * statistics.median(times[1]):.2f} | {gain:.2f} | "
              f"{stats[0]['num_nodes']} -> {stats[1]['num_nodes']} | "
              f"{stats[0]['arena_bytes'] / 2**20:.1f} -> {stats[1]['arena_bytes'] / 2**20:.1f} |",
              flush=True)


if __name__ == "__main__":
    main()
