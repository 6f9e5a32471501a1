#!/usr/bin/env python3
"""Estimates a training step of many workers from the costs of one message and of one byte.

    ./dev python tools/bandwidth/simulate.py --network resnet50_v1 --workers 8,64,1024
        --per-message 20e-6 --bandwidth 1.2e9 --forward 0.1 --backward 0.2

Workers are alike and start together, so one worker stands for all of them, and a server's link
carries as many messages of each array as there are workers. Links, servers' additions and the
worker's own computation are queues that serve one piece at a time; a higher priority goes first.
docs/distributed.md says which numbers were measured and how far estimates were off.
"""
import argparse
import dataclasses
import heapq
import itertools
import math
import sys


@dataclasses.dataclass(frozen=True)
class Layer:
    """One parameter: its elements, and the seconds that its layer computes."""

    elements: int
    forward: float
    backward: float


@dataclasses.dataclass(frozen=True)
class Costs:
    """What one process spends, in seconds."""

    per_message: float = 23e-6      # to send one, and to receive one
    per_byte: float = 1 / 1.2e9     # of a link, in each direction
    per_added_byte: float = 1 / 5e9  # of a server that adds what arrived and updates
    latency: float = 50e-6          # from one machine to another


@dataclasses.dataclass(frozen=True)
class Job:
    """Who takes part, and how arrays travel.

    `kind` is 'dist_sync', 'dist_p3', or 'all_reduce', which has no servers. Servers share the
    machines and links of as many workers when `together` is set; each has a machine of its own
    otherwise.
    """

    kind: str = "dist_sync"
    workers: int = 8
    servers: int = 8
    together: bool = False
    bigarray_bound: int = 1_000_000
    slice_threshold: int = 40_000
    part_bytes: int = 1 << 20        # long payloads are cut into these
    shared_out_bytes: int = 32 << 10  # of an all-reduce: smaller arrays are one worker's to add
    element_bytes: int = 4


class Queue:
    """A resource that serves one piece at a time: the highest priority first, then in order."""

    def __init__(self, clock):
        self.clock, self.waiting, self.busy = clock, [], False

    def serve(self, seconds, priority, then):
        """Occupy the resource for `seconds`, then call ``then()``."""
        heapq.heappush(self.waiting, (-priority, next(self.clock.numbers), seconds, then))
        self._next()

    def _next(self):
        if self.busy or not self.waiting:
            return
        _, _, seconds, then = heapq.heappop(self.waiting)
        self.busy = True

        def done():
            self.busy = False
            then()
            self._next()
        self.clock.after(seconds, done)


class Clock:
    """Simulated time: events run in their order."""

    def __init__(self):
        self.now, self.events, self.numbers = 0.0, [], itertools.count()

    def after(self, seconds, call):
        """Call ``call()`` in `seconds` from now."""
        heapq.heappush(self.events, (self.now + seconds, next(self.numbers), call))

    def run(self):
        """Go on until nothing is left to do."""
        while self.events:
            self.now, _, call = heapq.heappop(self.events)
            call()


def pieces(layer_number, layer, job):
    """[(server, bytes)] that one array travels in."""
    size = layer.elements * job.element_bytes
    # A fixed mixing of the number: the same server for all workers (Knuth, TAOCP 3, 6.4).
    mixed = layer_number * 2654435761 >> 7
    if job.kind == "all_reduce":
        if size < job.shared_out_bytes:
            return [(mixed % job.workers, size)]
        return [(server, size / job.workers) for server in range(job.workers)]
    if job.kind == "dist_p3":
        count = -(-layer.elements // job.slice_threshold)
        return [((layer_number + i) % job.servers, size / count) for i in range(count)]
    if layer.elements >= job.bigarray_bound:
        return [(server, size / job.servers) for server in range(job.servers)]
    return [(mixed % job.servers, size)]


class Step:
    """Steps of one worker, and the servers that it meets."""

    def __init__(self, layers, job, costs):
        self.layers, self.job, self.costs = layers, job, costs
        self.clock = Clock()
        servers = job.workers if job.kind == "all_reduce" else job.servers
        if job.workers < 1 or servers < 1:
            raise ValueError(f"[simulate] {job.workers} workers and {servers} servers; "
                             "accepted: at least one of each")
        self.out, self.into = Queue(self.clock), Queue(self.clock)
        shared = job.together or job.kind == "all_reduce"
        # Servers are alike when they share machines: the worker's own machine stands for theirs.
        self.server_in = [self.into if shared else Queue(self.clock) for _ in range(servers)]
        self.server_out = [self.out if shared else Queue(self.clock) for _ in range(servers)]
        self.adding = [Queue(self.clock) for _ in range(servers)]
        # On shared machines each link carries its own server's share only, 1 of `servers`.
        self.share = 1 / servers if shared else 1
        self.pieces = [pieces(i, layer, job) for i, layer in enumerate(layers)]
        self.missing = [0] * len(layers)
        self.forward_waits = None
        self.ends = []

    def run(self, steps):
        """Times at which the forward passes of the steps ended."""
        self.steps = steps
        self._forward(0)
        self.clock.run()
        return self.ends

    def _forward(self, number):
        if number == len(self.layers):
            self.ends.append(self.clock.now)
            if len(self.ends) < self.steps:
                self._backward(len(self.layers) - 1)
            return
        if self.missing[number]:
            self.forward_waits = number
            return
        self.clock.after(self.layers[number].forward, lambda: self._forward(number + 1))

    def _backward(self, number):
        if number < 0:
            self._forward(0)
            return

        def done():
            self._push(number)
            self._backward(number - 1)
        self.clock.after(self.layers[number].backward, done)

    def _push(self, number):
        priority = -number if self.job.kind == "dist_p3" else 0
        self.missing[number] = len(self.pieces[number])
        for server, size in self.pieces[number]:
            self._travel(number, server, size, priority)

    def _travel(self, number, server, size, priority):
        """One piece to its server, and back when all workers' pieces are there."""
        costs, workers = self.costs, self.job.workers
        parts = max(1, -(-int(size) // self.job.part_bytes))
        one = costs.per_message / parts + size / parts * costs.per_byte
        left = {"push": parts, "pull": parts}

        def arrived():
            left["push"] -= 1
            if not left["push"]:
                seconds = workers * size * costs.per_added_byte * self.share
                self.adding[server].serve(seconds, priority, reply)

        def reply():
            for _ in range(parts):
                self.server_out[server].serve(workers * one * self.share, priority, lambda:
                                              self.clock.after(costs.latency, receive))

        def receive():
            self.into.serve(one, priority, received)

        def received():
            left["pull"] -= 1
            if not left["pull"]:
                self._pulled(number)

        def send():
            self.clock.after(costs.latency, lambda: self.server_in[server].serve(
                workers * one * self.share, priority, arrived))
        for _ in range(parts):
            self.out.serve(one, priority, send)

    def _pulled(self, number):
        self.missing[number] -= 1
        if not self.missing[number] and self.forward_waits == number:
            self.forward_waits = None
            self._forward(number)


def step_seconds(layers, job, costs, steps=4):
    """Seconds of one training step once steps follow each other.

    Parameters
    ----------
    layers : list of Layer
        In the order of the forward pass.
    job : Job
    costs : Costs
    steps : int
        Simulated steps; the last one counts.

    >>> alone = [Layer(1000, 0.1, 0.2)]
    >>> free = Costs(per_message=0, per_byte=0, per_added_byte=0, latency=0)
    >>> round(step_seconds(alone, Job(workers=2, servers=1), free), 6)
    0.3
    """
    ends = Step(layers, job, costs).run(steps + 1)
    return ends[-1] - ends[-2]


def layers_of(network, forward, backward):
    """The parameters of a network of the model zoo; the seconds of a pass are spread over them by
    their elements' square roots, a compromise between convolutions and dense layers."""
    from measure import network_shapes     # beside this script
    sizes = [math.prod(shape) for shape in network_shapes(network)]
    total = sum(size ** 0.5 for size in sizes)
    return [Layer(size, forward * size ** 0.5 / total, backward * size ** 0.5 / total)
            for size in sizes]


def table(layers, jobs, costs):
    """Rows of (kind, workers, servers, seconds per step, efficiency)."""
    alone = sum(layer.forward + layer.backward for layer in layers)
    for job in jobs:
        seconds = step_seconds(layers, job, costs)
        yield job.kind, job.workers, job.servers, seconds, alone / seconds


def main(arguments=None):
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--network", default="resnet50_v1", help="a name of the model zoo")
    parser.add_argument("--workers", default="8,16,64,256,1024")
    parser.add_argument("--servers-per-worker", type=float, default=1)
    parser.add_argument("--together", action="store_true", help="servers on the workers' machines")
    parser.add_argument("--kinds", default="dist_sync,dist_p3,all_reduce")
    parser.add_argument("--per-message", type=float, default=Costs.per_message, help="seconds")
    parser.add_argument("--bandwidth", type=float, default=1 / Costs.per_byte,
                        help="bytes in a second over a link")
    parser.add_argument("--added-bytes", type=float, default=1 / Costs.per_added_byte,
                        help="bytes in a second that a server adds and updates")
    parser.add_argument("--latency", type=float, default=Costs.latency, help="seconds")
    parser.add_argument("--forward", type=float, default=0.1, help="seconds of a forward pass")
    parser.add_argument("--backward", type=float, default=0.2, help="seconds of a backward pass")
    options = parser.parse_args(arguments)
    costs = Costs(options.per_message, 1 / options.bandwidth, 1 / options.added_bytes,
                  options.latency)
    layers = layers_of(options.network, options.forward, options.backward)
    jobs = [Job(kind=kind, workers=workers, together=options.together,
                servers=max(1, round(workers * options.servers_per_worker)))
            for kind in options.kinds.split(",") for workers in map(int, options.workers.split(","))]
    print(f"{'kind':<12}{'workers':>8}{'servers':>8}{'s per step':>12}{'efficiency':>12}")
    from tqdm import tqdm
    rows = list(tqdm(table(layers, jobs, costs), total=len(jobs), disable=None, leave=False))
    for kind, workers, servers, seconds, efficiency in rows:
        servers = "-" if kind == "all_reduce" else servers
        print(f"{kind:<12}{workers:>8}{servers:>8}{seconds:>12.3f}{efficiency:>12.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
