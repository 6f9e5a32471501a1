"""Makes calls, one after another, and says in a file which one it is at.

    worker.py STATE --seed S --from N --count C [--mutations M]      cases N to N + C - 1
    worker.py STATE --lines FILE                     the lines of a file
"""
import argparse
import ctypes
import os
import resource
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
PR_SET_PDEATHSIG = 1   # of <sys/prctl.h>
ROOM = 2200 << 20   # of address space: 2**31 elements of any dtype are a MemoryError, not minutes of work


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("state")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--mutations", type=float, default=0.0)
    parser.add_argument("--lines")
    args = parser.parse_args()
    # A call that hangs must not outlive the test that watches it, however that ends.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # guard_malloc.c has reserved a terabyte, the address sanitizer twenty.
    with open("/proc/self/statm", encoding="ascii") as f:
        reserved = int(f.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (ROOM + reserved, resource.RLIM_INFINITY))
    import calls
    scope = {name: value for name, value in vars(calls).items() if not name.startswith("_")}
    if args.lines:
        with open(args.lines, encoding="utf-8") as f:
            lines = list(enumerate(line for line in f.read().splitlines() if line and not line.startswith("#")))
    else:
        from cases import Cases
        cases = Cases(args.seed, args.mutations)
        lines = ((n, cases.line(n)) for n in range(args.first, args.first + args.count))
    state = os.open(args.state, os.O_RDWR | os.O_CREAT, 0o600)

    def tell(n, text):
        os.ftruncate(state, 0)
        os.pwrite(state, f"{n}\n{text}".encode(), 0)
    for n, line in lines:
        tell(n, line)
        try:
            exec(line, dict(scope))   # pylint: disable=exec-used
        except calls.Wrong as wrong:
            print(f"WRONG\t{n}\t{line}\t{wrong}".replace("\n", " "), flush=True)
        except Exception as error:    # pylint: disable=broad-except
            print(f"WRONG\t{n}\t{line}\t{type(error).__name__}: {error}".replace("\n", " ")[:2000], flush=True)
    tell(-1, "done")
    sys.stdout.flush()
    os._exit(0)


main()
