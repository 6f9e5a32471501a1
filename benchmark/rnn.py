#!/usr/bin/env python3
"""Recurrent layers, forward and as a training step: this library, PyTorch and the 1.9.1 wheel in
turn, in one run.

    ./dev bench rnn [--torch PYTHON] [--oracle PYTHON] [--own] [--rounds N] [--clock wall|cpu]
    [--only TEXT] [--ctx cpu|gpu]

PYTHON are interpreters with torch or mxnet==1.9.1 installed; what is not given is left out. --own
adds this library with MXNET_USE_ONEDNN_RNN=0. With --ctx gpu this library and PyTorch (cuDNN's
layers) compute on the first GPU; the wheel is left out. A step is forward, sum and the gradients of
input and parameters. Printed: median milliseconds, and the median over rounds of the ratio to ours.
"""
import argparse
import statistics
import sys

from alternate import Contestant, add_clock, add_ctx, alternate, answers, environments, need_gpu, ratio, repeat, serve

# name -> (kind, steps, batch, features, hidden, layers, bidirectional, calls per round)
SHAPES = {
    "lstm 35x32x650": ("lstm", 35, 32, 650, 650, 1, False, 4),
    "gru 35x32x650": ("gru", 35, 32, 650, 650, 1, False, 4),
    "tanh 35x32x650": ("tanh", 35, 32, 650, 650, 1, False, 8),
    "lstm 50x1x256": ("lstm", 50, 1, 256, 256, 1, False, 30),
    "gru 50x1x256": ("gru", 50, 1, 256, 256, 1, False, 30),
    "lstm 2 layers, both ways, 20x16x200": ("lstm", 20, 16, 200, 200, 2, True, 4),
}


def make_torch(kind, steps, batch, features, hidden, layers, both, threads, gpu):
    import torch
    torch.set_num_threads(threads)
    make = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "tanh": torch.nn.RNN}[kind]
    net = make(features, hidden, layers, bidirectional=both)
    if gpu and not torch.cuda.is_available():
        raise SystemExit("rnn: this torch has no CUDA; accepted with --ctx gpu: an interpreter whose torch.cuda.is_available()")
    device = "cuda" if gpu else "cpu"
    net, wait = net.to(device), torch.cuda.synchronize if gpu else lambda: None
    x = torch.randn(steps, batch, features, device=device)
    grown = x.clone().requires_grad_()

    def forward():
        with torch.no_grad():
            net(x)
        wait()

    def step():
        net.zero_grad(set_to_none=True)
        grown.grad = None
        net(grown)[0].sum().backward()
        wait()
    return forward, step


def make_mxnet(kind, steps, batch, features, hidden, layers, both, gpu):
    import mxnet as mx
    ctx = mx.gpu(0) if gpu else mx.cpu()
    rnn = mx.gluon.rnn
    net = {"lstm": rnn.LSTM, "gru": rnn.GRU, "tanh": lambda *a,
           **k: rnn.RNN(*a, activation="tanh", **k)}[kind](hidden, layers, bidirectional=both)
    net.initialize(ctx=ctx)
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.random.normal(shape=(steps, batch, features), ctx=ctx)
    x.attach_grad()

    def forward():
        net(x).wait_to_read()

    def step():
        with mx.autograd.record():
            loss = net(x).sum()
        loss.backward()
        x.grad.wait_to_read()
        net.l0_i2h_weight.grad().wait_to_read()
    return forward, step


def contestant(kind, threads, gpu):
    send, workloads = answers(), {}
    for name, (*shape, _) in SHAPES.items():
        forward, step = make_torch(*shape, threads, gpu) if kind == "torch" else make_mxnet(*shape, gpu)
        workloads[name + ", forward"], workloads[name + ", step"] = repeat(forward), repeat(step)
    serve(send, workloads)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--contestant", nargs=3)
    parser.add_argument("--torch")
    parser.add_argument("--oracle")
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="")
    add_ctx(parser)
    add_clock(parser)
    args = parser.parse_args()
    if args.contestant:
        return contestant(args.contestant[0], int(args.contestant[1]), args.contestant[2] == "gpu")
    if args.ctx == "gpu":
        if args.clock == "cpu" or args.oracle or args.own:
            parser.error("--ctx gpu goes with --clock wall and --torch alone")
        need_gpu("rnn")
    threads = "1" if args.clock == "cpu" else "2"
    ours, others = environments(args.clock, int(threads))
    people = [Contestant("ours", sys.executable, __file__, ["ours", threads, args.ctx], ours)]
    if args.own:
        people.append(Contestant("own kernels", sys.executable, __file__,
                                 ["ours", threads, args.ctx], dict(ours, MXNET_USE_ONEDNN_RNN="0")))
    if args.torch:
        people.append(Contestant("torch", args.torch, __file__, ["torch", threads, args.ctx], others))
    if args.oracle:
        people.append(Contestant("1.9.1", args.oracle, __file__, ["oracle", threads, args.ctx], others))
    names = [p.name for p in people]
    try:
        for person in people:
            person.ready()
        calls = {f"{name}, {what}": dict.fromkeys(names, shape[-1]) for name, shape in SHAPES.items() for what in ("forward", "step")
                 if args.only in f"{name}, {what}"}
        times = alternate(people, calls, args.rounds, args.clock, settle=1)
    finally:
        for person in people:
            person.end()
    print("| ms | " + " | ".join(names) + " | " + " | ".join(f"{n} ÷ ours" for n in names[1:]) + " |\n" + "|---" * (2 * len(names)) + "|")
    for workload, by_name in times.items():
        cells = [f"{1e3 * statistics.median(by_name[n]):.2f}" for n in names]
        print(f"| {workload} | " + " | ".join(cells + [f"{ratio(by_name, n, 'ours'):.2f}" for n in names[1:]]) + " |")


if __name__ == "__main__":
    main()
