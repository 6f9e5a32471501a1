"""Contestants that take turns: each is a process of its own that computes when asked and is stopped
otherwise, so that the machine's drift falls on all of them and nobody's waiting threads take the
cores."""
import contextlib
import ctypes
import fcntl
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time


# The contestant's side.

# Seconds of calls that are not timed, at the beginning of each turn: the kernel lets the threads of
# a process that was stopped share one processor for up to 100 ms.
SETTLE = 0.1


def answers():
    """A function that sends one JSON value to the parent; from here on what libraries print goes to
    standard error."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def send(value):
        out.write(json.dumps(value) + "\n")
        out.flush()
    return send


@contextlib.contextmanager
def turn(path):
    """Of the processes that name the same file, one at a time is inside."""
    if not path:
        yield
        return
    with open(path, "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def status_mib(field):
    """VmRSS (resident now) or VmHWM (its peak) of this process."""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(field + ":")) / 1024


def warm_memory(mib):
    """So much of the free memory is there at once for a second or two. The host of a virtual
    machine takes back what was free for a moment, and gives it again at a tenth of the speed. So
    whoever starts when another has ended would find faster memory than the other did."""
    touch = "m = mmap.mmap(-1, int(sys.argv[1]) << 20); ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(m)), 1, len(m))"
    subprocess.run([sys.executable, "-S", "-c", "import ctypes, mmap, sys; " + touch, str(mib)], env={}, check=False)


def settle(call):
    """Calls until this process runs as it did before it was stopped."""
    awake = time.perf_counter() + SETTLE
    while time.perf_counter() < awake:
        call()


def serve(send, workloads, info=None, numbers=None):
    """workloads: name -> function of a number of calls that computes so often and waits for the
    results. info goes to the parent first. numbers: name -> function of nothing, for `ask`."""
    send(info or {})
    numbers = {"peak": lambda: status_mib("VmHWM"), **(numbers or {})}
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request, str):
            send(numbers[request]())
            continue
        run, calls = workloads[request["workload"]], request["calls"]
        run(request["settle"])
        settle(lambda: run(1))  # noqa: B023
        begin = time.perf_counter(), time.process_time()
        run(calls)
        send([(time.perf_counter() - begin[0]) / calls, (time.process_time() - begin[1]) / calls])


def repeat(function):
    """Of a function of nothing: the function of a number of calls that `serve` wants."""
    def run(calls):
        for _ in range(calls):
            function()
    return run


# The parent's side.

def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)   # PR_SET_PDEATHSIG: a stopped process would not see the end of its input


class Failed(Exception):
    pass


class Contestant:
    """A process; `begin` starts it, `ready` waits until it can be timed and leaves it stopped."""

    def __init__(self, name, python, script, arguments, env):
        self.name = name
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([python, os.path.abspath(script), "--contestant", *arguments], env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True, preexec_fn=die_with_parent)

    def ready(self):
        """What the contestant says about itself."""
        self.info = self._answer()
        self.process.send_signal(signal.SIGSTOP)
        return self.info

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.log.seek(0)
            raise Failed(f"{self.name}: ended with status {self.process.returncode}\n{self.log.read()[-3000:]}")
        return json.loads(line)

    def _ask(self, request):
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            return self._answer()
        finally:
            self.process.send_signal(signal.SIGSTOP)

    def time(self, workload, calls, settle=0):
        """(wall, processor) seconds per call, after `settle` calls that are not timed"""
        return self._ask({"workload": workload, "calls": calls, "settle": settle})

    def peak_mib(self):
        return self._ask("peak")

    def ask(self, number):
        """One of the contestant's numbers."""
        return self._ask(number)

    def end(self):
        self.process.kill()
        self.process.wait()


def add_clock(parser):
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall",
                        help="cpu: one thread each, processor time; for a machine that others are busy on")


def add_ctx(parser):
    parser.add_argument("--ctx", choices=("cpu", "gpu"), default="cpu", help="gpu: this library and PyTorch on the first GPU")


def need_gpu(program):
    """Ends the program with one line where this library finds no GPU."""
    import mxnet as mx
    if mx.context.num_gpus() == 0:
        raise SystemExit(f"{program}: --ctx gpu needs a GPU and a CUDA build, and there is no GPU here; accepted: --ctx cpu")


def environments(clock, threads=None, awake=False):
    """(for this library, for other interpreters). awake: each contestant's threads spin between
    parallel loops. Turns of some milliseconds need it: a process that was stopped a moment ago sees
    in /proc/stat that others used its cores, and then lets its threads sleep."""
    threads = 1 if clock == "cpu" else threads
    ours = dict(os.environ, **({"OMP_NUM_THREADS": str(threads)} if threads else {}))
    if awake:
        ours.setdefault("OMP_WAIT_POLICY", "active")
    return ours, {k: v for k, v in ours.items() if k not in ("PYTHONPATH", "MXNET_LIBRARY_PATH")}


def alternate(contestants, calls, rounds, clock="wall", settle=0, step=lambda: None):
    """calls: workload -> contestant's name -> calls in a round; who is not named waits. Seconds per
    call by workload and contestant, one number for each round but the first, which warms up. `step`
    is called after every slice."""
    times = {w: {name: [] for name in takers} for w, takers in calls.items()}
    for r in range(rounds + 1):
        for w in calls:
            for c in contestants:
                if c.name not in calls[w]:
                    continue
                seconds = c.time(w, calls[w][c.name], settle)
                if r:
                    times[w][c.name].append(seconds[clock == "cpu"])
                step()
    return times


def ratio(times, other, first):
    """How many times faster `first` is: the median over rounds of the quotient of two contestants'
    times."""
    return statistics.median(o / t for o, t in zip(times[other], times[first]))


def beside_target(target, found, atleast=True):
    """A figure, what it should be, and whether it is."""
    met = found >= target if atleast else found <= target
    return f"{found:.2f} (target {'>=' if atleast else '<='} {target}: {'met' if met else 'missed'})"


# Tables of single workloads.

def race(runs, script, arguments, names, rounds, clock="wall", recover=lambda error: False, ended=lambda contestant: None):
    """Seconds of the workloads in `names` that the first contestant has, by workload and
    contestant; whoever else lacks one waits.

    recover(error): a contestant ended before it could be timed; true when another try is worth it.
    ended(contestant): all was timed; it may be asked for its numbers.
    Of calls of a tenth of a second there are three rounds at most.

    runs: name -> (interpreter, environment). arguments(name): what follows `--contestant`. What a
    contestant says about itself is the list of its workloads, or nothing if it has all.
    """
    def begun(name):
        python, env = runs[name]
        return Contestant(name, python, script, arguments(name), env)
    contestants = [begun(name) for name in runs]
    try:
        said = {}
        for i, c in enumerate(contestants):
            while c.name not in said:
                try:
                    said[c.name] = contestants[i].ready()
                except Failed as error:
                    if not recover(error):
                        raise
                    contestants[i] = begun(c.name)
        calls, times = {}, {}
        for w in names:
            takers = [c for c in contestants if not said[c.name] or w in said[c.name]]
            if not takers or takers[0] is not contestants[0]:
                continue
            own = {c.name: c.time(w, 1, 2)[0] for c in takers}
            each = {n: max(1, min(2000, int(0.02 / seconds))) for n, seconds in own.items()}
            once = max(own.values())
            if once < 0.005:
                calls[w] = each
            else:   # at once: later its arrays would have to be made again, and calls to settle cost as much
                times.update(alternate(contestants, {w: each}, rounds if once < 0.1 else min(rounds, 3), clock))
        times.update(alternate(contestants, calls, rounds, clock, settle=2))
        for c in contestants:
            ended(c)
        return times
    except Failed as error:
        raise SystemExit(f"{os.path.basename(script)}: {error}")
    finally:
        for c in contestants:
            c.end()


def printed(part, times, others, below):
    """Prints what `race` measured, slowest first beside the best other, without what is `below`
    times as fast or more; returns the figures."""
    figures = {}
    for w, t in times.items():
        figures[w] = {"us": {n: statistics.median(seconds) * 1e6 for n, seconds in t.items()},
                      "times_as_fast": {n: ratio(t, n, "ours") for n in others if n in t}}

    def least(w):
        return min(figures[w]["times_as_fast"].values(), default=float("inf"))
    heads = "".join(f"{n + ' us':>12}{'ratio':>8}" for n in others)
    print(f"{part:44}{'ours us':>12}{heads}")
    for w in sorted(figures, key=least):
        us, rates = figures[w]["us"], figures[w]["times_as_fast"]
        if not rates or least(w) < below:
            cells = [f"{us[n]:12.2f}{rates[n]:8.2f}" if n in rates else " " * 20 for n in others]
            print(f"{w:44}{us['ours']:12.2f}{''.join(cells)}")
    for n in others:
        rates = [f["times_as_fast"][n] for f in figures.values() if n in f["times_as_fast"]]
        if rates:
            print(f"{n}: median {statistics.median(rates):.2f}, {sum(r < 0.97 for r in rates)} of {len(rates)} slower")
    print()
    return figures
