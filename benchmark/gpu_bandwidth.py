"""Bytes per second of GPU operators that should be bound by memory, next to what a device copy reaches in the same run.

python benchmark/gpu_bandwidth.py [--json FILE] [--mib 512]
"""
import argparse
import json
import time

import mxnet as mx

CASES = [  # name, function of (x, y), arrays' worth of bytes that it must move
    ("add", lambda x, y: x + y, 3),
    ("add a number", lambda x, y: x + 2, 2),
    ("tanh", lambda x, y: mx.nd.tanh(x), 2),
    ("broadcast row", lambda x, y: mx.nd.broadcast_add(x, y[0:1]), 2),
    ("broadcast column", lambda x, y: mx.nd.broadcast_mul(x, y[:, 0:1].copy()), 2),
    ("sum rows", lambda x, y: x.sum(axis=1), 1),
    ("sum columns", lambda x, y: x.sum(axis=0), 1),
    ("sum all", lambda x, y: x.sum(), 1),
    ("softmax", lambda x, y: mx.nd.softmax(x), 2),
    ("transpose", lambda x, y: mx.nd.transpose(x), 2),
    ("concat", lambda x, y: mx.nd.concat(x, y, dim=1), 4),
]


def seconds(call, least=0.3):
    call()
    mx.nd.waitall()
    n, best = 1, float("inf")
    spent = 0.0
    while spent < least:
        begin = time.perf_counter()
        for _ in range(n):
            call()
        mx.nd.waitall()
        took = time.perf_counter() - begin
        best = min(best, took / n)
        spent += took
        n = min(2 * n, 64)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json")
    parser.add_argument("--mib", type=int, default=512, help="size of one array")
    args = parser.parse_args()
    if mx.context.num_gpus() == 0:
        print("no GPU here; nothing was measured")
        return
    ctx, rows, results = mx.gpu(0), [], {}
    for dtype, size in (("float32", 4), ("float16", 2)):
        columns = 4096
        shape = (args.mib * 2**20 // size // columns, columns)
        x, y = (mx.nd.ones(shape, ctx=ctx, dtype=dtype) for _ in range(2))
        other = mx.nd.zeros(shape, ctx=ctx, dtype=dtype)
        size_bytes = args.mib * 2**20
        copy = 2 * size_bytes / seconds(lambda: x.copyto(other))
        rows.append((dtype, "device copy", copy, 1.0))
        for name, function, arrays in CASES:
            try:
                rate = arrays * size_bytes / seconds(lambda: function(x, y))
            except mx.base.MXNetError as e:
                print(f"{dtype:8} {name:18} {str(e).splitlines()[0]}")
                continue
            rows.append((dtype, name, rate, rate / copy))
    for dtype, name, rate, share in rows:
        print(f"{dtype:8} {name:18} {rate / 1e9:8.0f} GB/s  {100 * share:5.1f} % of a copy")
        results[f"{dtype} {name}"] = {"bytes_per_second": rate, "of_copy": share}
    if args.json:
        with open(args.json, "w") as f:
            json.dump(results, f, indent=1)


if __name__ == "__main__":
    main()
