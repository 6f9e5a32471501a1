#!/usr/bin/env python3
"""Repeats a short training under several exported variables: the loss curve must stay, the costs
change."""
import json
import os
import subprocess
import sys

from tqdm import tqdm

HERE = os.path.dirname(os.path.abspath(__file__))
VARIANTS = [("defaults", {}),
            ("NaiveEngine", {"MXNET_ENGINE_TYPE": "NaiveEngine"}),
            ("ThreadedEngine", {"MXNET_ENGINE_TYPE": "ThreadedEngine"}),
            ("no bulking", {"MXNET_EXEC_BULK_EXEC_TRAIN": "0", "MXNET_EXEC_BULK_EXEC_INFERENCE": "0"}),
            ("pool Round", {"MXNET_CPU_MEM_POOL_TYPE": "Round"}),
            ("pool Unpooled", {"MXNET_CPU_MEM_POOL_TYPE": "Unpooled"}),
            ("page 64 KiB", {"MXNET_CPU_MEM_POOL_PAGE_SIZE": "65536"})]


def run(variables):
    out = subprocess.run([sys.executable, os.path.join(HERE, "short_run.py")],
                         env={**os.environ, **variables}, capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(f"short_run.py failed with {variables}:\n{out.stderr[-2000:]}")
    return json.loads(out.stdout.strip().splitlines()[-1])


def main():
    results = [(name, run(variables)) for name, variables in tqdm(VARIANTS, desc="variants", unit="run")]
    reference = results[0][1]["curve"]
    print(f"{'variant':16} {'pool':10} {'last loss':>10} {'same curve':>10} {'peak MiB':>9} {'engine pushes':>14} {'seconds':>8}")
    different = []
    for name, r in results:
        same = max(abs(a - b) for a, b in zip(r["curve"], reference)) <= 1e-4
        if not same:
            different.append(name)
        print(f"{name:16} {r['pool']:10} {r['curve'][-1]:10.5f} {'yes' if same else 'NO':>10} "
              f"{r['peak'] / 2**20:9.2f} {r['pushed']:14d} {r['seconds']:8.2f}")
    if different:
        raise SystemExit(f"the loss curve differs under {', '.join(different)}")


if __name__ == "__main__":
    main()
