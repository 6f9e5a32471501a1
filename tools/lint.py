#!/usr/bin/env python3
"""Everything that is wrong with the tree and can be told without building it, as ``file:line:
what``.

    tools/lint.py [CHECK...]     all checks without arguments: format, python, stubs, includes, links, prose
"""
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from check_prose import CODE, ROOT, tracked_files

BIN = Path(sys.executable).parent
FILES_AT_ONCE = 40      # of clang-format


def run(command):
    """(exit status, output) of a command of the Python environment."""
    if not Path(command[0]).exists():
        return 1, f"{Path(command[0]).name} is not in the environment of {sys.executable}; ./dev setup installs it\n"
    done = subprocess.run([str(part) for part in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def check_format(pool):
    """C++ that is not as clang-format writes it."""
    files = [path.relative_to(ROOT) for path in tracked_files() if path.suffix in CODE - {".inc"}]
    parts = [files[at:at + FILES_AT_ONCE] for at in range(0, len(files), FILES_AT_ONCE)]
    results = list(pool.map(lambda part: run([BIN / "clang-format", "--dry-run", "-Werror", *part]), parts))
    output = "".join(line + "\n" for _, text in results for line in text.split("\n") if "error" in line or "not in the" in line)
    return max((status for status, _ in results), default=0), output


def check_python(_pool):
    """Python: unused and undefined names, style (pyproject.toml chooses)."""
    return run([BIN / "ruff", "check", "--quiet", "--output-format=concise", "."])


def check_stubs(_pool):
    """Types of the stubs of operators (pyproject.toml names them)."""
    return run([BIN / "mypy", "--no-error-summary"])


def script(name):
    """A check that is a script of this folder; nothing where the tree has none of that name."""
    path = ROOT / "tools" / name
    return (lambda _pool: run([sys.executable, path])) if path.exists() else None


CHECKS = {
    "format": check_format,
    "python": check_python,
    "stubs": check_stubs,
    "includes": script("check_includes.py"),
    "links": script("check_links.py"),
    "prose": script("check_prose.py"),
}


def main(arguments):
    """The command; returns its exit status."""
    unknown = [name for name in arguments if name not in CHECKS]
    if unknown:
        print(f"lint: {', '.join(unknown)}; accepted: {', '.join(CHECKS)}", file=sys.stderr)
        return 2
    chosen = {name: check for name, check in CHECKS.items() if check and (not arguments or name in arguments)}
    start, failed = time.monotonic(), []
    workers = os.cpu_count() or 1
    # Two pools: a check waits for the parts that it gives to the other one.
    with ThreadPoolExecutor(workers) as parts, ThreadPoolExecutor(workers) as checks:
        running = {name: checks.submit(check, parts) for name, check in chosen.items()}
        for name, future in running.items():
            status, output = future.result()
            if status:
                failed.append(name)
                print(f"---- {name}\n{output}", end="")
    seconds = time.monotonic() - start
    outcome = f"{', '.join(failed)} found what is shown above" if failed else f"{', '.join(chosen)}: nothing found"
    print(f"lint: {outcome} ({seconds:.0f} s)")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
