"""Hostile calls for some minutes: every operator through several entry points, damaged files, the
predict API, the environment.

    ./dev fuzz [--minutes M] [--calls N] [--seed S] [--mutations R] [--workers W] [--replay FILE]
               [--guard | --preset P]

Workers make the calls; this process notices crashes, hangs, wrong errors, memory that was not
written and memory beyond need, looks for the one call (or the shortest row of calls) that does it,
and prints a line of Python for each. Case `n` of a seed is always the same. Exit status 1:
something was found. Put its line into found.txt once it is mended.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CHUNK = 400          # cases of a worker's life
LONGEST = 30.0       # seconds for one call; the slowest of the accepted ones takes two
ASLEEP = 5.0         # seconds between two looks at a worker after which this process was stopped, or elsewhere
# What the address sanitizer does instead of throwing std::bad_alloc, which the library answers.
NO_MEMORY = re.compile("SUMMARY: AddressSanitizer: (out-of-memory|allocation-size-too-big)|ERROR: Failed to mmap")


class Life:
    """One worker process and what it says."""

    def __init__(self, folder, name, arguments, longest=LONGEST):
        self.state, self.longest = os.path.join(folder, name + ".state"), longest
        self.said, self.seen, self.since = os.path.join(folder, name + ".out"), None, time.monotonic()
        self.looked = self.since
        open(self.state, "w").close()
        with open(self.said, "wb") as out:
            self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "worker.py"),
                                             self.state] + arguments, stdout=out,
                                            stderr=subprocess.STDOUT,
                                            stdin=subprocess.DEVNULL, start_new_session=True)

    def at(self):
        """Returns the number and the line of the call that it is making, or (None, '') before the
        first."""
        with open(self.state, encoding="utf-8", errors="replace") as f:
            number, _, line = f.read().partition("\n")
        return (int(number), line) if number else (None, "")

    def poll(self):
        """Returns None while it runs, else how it ended: 'done', 'hang' or 'crash STATUS'."""
        status, now = self.process.poll(), self.at()
        last, self.looked = self.looked, time.monotonic()
        if self.looked - last > ASLEEP:     # whoever stops this process, or the machine, stops workers as well
            self.since += self.looked - last
        if status is not None:
            return "done" if status == 0 and now[0] == -1 else f"crash {status}"
        if now != self.seen:
            self.seen, self.since = now, time.monotonic()
        if time.monotonic() - self.since < self.longest + (60 if now[0] is None else 0):
            return None
        self.end()
        return "hang"

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def wait(self):
        while True:
            end = self.poll()
            if end:
                return end
            time.sleep(0.05)

    def output(self):
        with open(self.said, encoding="utf-8", errors="replace") as f:
            return f.read()

    def wrong(self):
        return [line.split("\t")[1:4] for line in self.output().splitlines() if line.startswith("WRONG\t") and line.count("\t") >= 3]


def run_lines(folder, lines):
    path = os.path.join(folder, "lines.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    life = Life(folder, "single", ["--lines", path])
    return life.wait(), life


def shortest(folder, line_of, first, last):
    """Returns the shortest tail of the cases first..last that ends badly again, or None."""
    length = 1
    while True:
        begin = max(first, last - length + 1)
        lines = [line_of(n) for n in range(begin, last + 1)]
        if run_lines(folder, lines)[0] != "done":
            return lines
        if begin == first:
            return None
        length *= 8


def alike(line, why):
    """What two findings of one fault have in common: the call without its arrays and numbers, the
    error without its values."""
    return re.sub(r"-?\d[\d.e]*", "#", line.split("[")[0]) + re.sub(r"'[^']*'|\(.*?\)|-?\d[\d.e+]*|0x\w+", "#", why)[:50]


def show(kind, lines, why=""):
    print(f"---- {kind}{': ' + why if why else ''}\nfrom calls import *" + "".join("\n" + line for line in lines), flush=True)


def fuzz(options):
    sys.path.insert(0, HERE)
    from cases import Cases
    cases = Cases(options.seed, options.mutations)

    def line_of(n):
        return cases.line(n)
    found, told, made, first = 0, set(), 0, 0
    ends = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory() as folder:
        lives = {}

        def begin_life(begin, count):
            arguments = ["--seed", str(options.seed), "--from", str(begin), "--count", str(count), "--mutations", str(options.mutations)]
            lives[Life(folder, f"w{begin}", arguments)] = (begin, count)
        while True:
            while len(lives) < options.workers and time.monotonic() < ends and first < options.calls:
                begin_life(first, min(CHUNK, options.calls - first))
                first += CHUNK
            if not lives:
                break
            for life, (begin, count) in list(lives.items()):
                late = time.monotonic() > ends
                end = life.poll()
                if end is None and late:
                    life.end()
                    end = "late"
                if end is None:
                    continue
                del lives[life]
                number, line = life.at()
                for _, wrong_line, why in life.wrong():
                    key = alike(wrong_line, why)
                    if key not in told:
                        told.add(key)
                        found += 1
                        show("wrong", [wrong_line], why)
                made += count if end == "done" else max(0, (number or begin) - begin)
                if end in ("done", "late"):
                    continue
                if number is not None and NO_MEMORY.search(life.output()):
                    if begin + count > number + 1:
                        begin_life(number + 1, begin + count - number - 1)
                    continue
                if number is None or number < 0:
                    found += 1
                    show(end, [], life.output()[-1500:])
                    continue
                key = alike(line, end)
                if key not in told:
                    told.add(key)
                    found += 1
                    lines = shortest(folder, line_of, begin, number)
                    show(end, lines or [f"# once, behind cases {begin} to {number} of seed "
                                        f"{options.seed}", line], life.output()[-300:].strip())
                if begin + count > number + 1:
                    begin_life(number + 1, begin + count - number - 1)
            time.sleep(0.1)
    print(f"fuzz: {made} calls of seed {options.seed}, {found} found", flush=True)
    return 1 if found else 0


def replay(path):
    """Makes the calls of a file, each bad one found by leaving it out of the next life."""
    with open(path, encoding="utf-8") as f:
        lines = [line for line in f.read().splitlines() if line and not line.startswith("#")]
    found, at, count = 0, 0, len(lines)
    with tempfile.TemporaryDirectory() as folder:
        while lines[at:]:
            end, life = run_lines(folder, lines[at:])
            for _, line, why in life.wrong():
                found += 1
                show("wrong", [line], why)
            if end == "done":
                break
            number, line = life.at()
            found += 1
            show(end, [line], life.output()[-1500:].strip())
            at += (number or 0) + 1
    print(f"fuzz: {count} calls of {os.path.basename(path)}, {found} found", flush=True)
    return 1 if found else 0


def on_guarded_memory():
    """The same command without --guard, in the environment that it stands for."""
    from guard_library import environment
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, *(a for a in sys.argv if a != "--guard")]
        return subprocess.run(command, env={**os.environ, **environment(folder)}, check=False).returncode


def begin(parser):
    """The options of a program that may run on guarded memory; with --guard it ends in here."""
    parser.add_argument("--guard", action="store_true", help="all arrays and vectors end at pages without access (guard_malloc.c)")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if options.guard:
        sys.exit(on_guarded_memory())
    return options


def main():
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10, help="how long (10)")
    parser.add_argument("--calls", type=int, default=sys.maxsize, help="end after so many calls, if they take less time (no limit)")
    parser.add_argument("--seed", type=int, default=1, help="another number, other calls (1)")
    parser.add_argument("--mutations", type=float, default=0.0,
                        help="share of calls that are right but for a few things: op_cases with something changed (0)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes that make calls")
    parser.add_argument("--replay", metavar="FILE", help="make the calls of a file, such as tests/fuzz/found.txt, instead")
    options = begin(parser)
    return replay(options.replay) if options.replay else fuzz(options)


if __name__ == "__main__":
    sys.exit(main())
