"""Prints the smallest graphs that fail: python -m random_graphs FIRST [COUNT]."""

import sys

import numpy as np

from .compare import judge
from .generate import generate
from .shrink import show, shrink

np.seterr(all="ignore")
first, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
for seed in range(first, first + count):
    case = generate(seed)
    found = judge(case) if case else []
    if found:
        print(f"==== {seed}: {found[0]}\n{show(shrink(case, found))}", flush=True)
