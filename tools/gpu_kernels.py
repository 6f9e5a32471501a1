#!/usr/bin/env python3
"""What can be said of the GPU kernels' machine code without a GPU: registers, occupancy, memory
accesses, instructions for each byte.

  KERNELS_OUT=folder build/cuda/tests/gpu_code_cuda_test     compiles the kernels of a list of operators for sm_90
  tools/gpu_kernels.py folder [--only WORD] [--sass NUMBER]      prints a table, or one kernel's main loop

Needs nvdisasm: on the PATH, beside nvcc, or from a Triton package (`--nvdisasm`).

The main loop is the one that moves most bytes of global memory outside of loops within it, or the
whole text where none does. Columns: reg (of a thread), local and shared (bytes of a thread, of a
block), occ (per cent of 2048 threads that registers, shared memory and the block's size leave room
for), load and store (bits of the widest access in the loop), fly (KiB of loads that a
multiprocessor has issued before the first of them is used), ins (instructions of the loop), once
(those outside of it), B (bytes that a thread moves in the loop), issue, f64, xu (time of all
instructions, of 64-bit arithmetic, of conversions to and from 64 bits and special functions, in per
cent of the time that memory needs for the problem's bytes: above some 70 the kernel computes, it
does not wait for memory), notes (what is rarely meant: local memory, divisions, calls, atomics,
barriers in the loop).
"""
import argparse
import csv
import pathlib
import re
import shutil
import subprocess
import sys

PROCESSORS, CLOCK, BANDWIDTH = 132, 1.755e9, 4.8e12   # an H200
BYTES_PER_CYCLE = BANDWIDTH / CLOCK / PROCESSORS      # of a multiprocessor
REGISTERS, SHARED, RESERVED_SHARED = 65536, 228 * 1024, 1024

LINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z][\w.]*)\s*([^;]*);")
LABEL = re.compile(r"^(\.L_x_\d+):")


def find_nvdisasm(given):
    if given:
        return given
    places = [shutil.which("nvdisasm"), "/usr/local/cuda/bin/nvdisasm"]
    places += sorted(str(p) for p in pathlib.Path("/opt").glob("*/lib/python3*/site-packages/triton/backends/nvidia/bin/nvdisasm"))
    for place in places:
        if place and pathlib.Path(place).exists():
            return place
    sys.exit("gpu_kernels: no nvdisasm; name one with --nvdisasm")


def read_code(nvdisasm, cubin):
    """[(address, opcode, operands, predicate)], {label: address}"""
    text = subprocess.run([nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout
    code, labels, pending = [], {}, []
    for line in text.splitlines():
        if m := LABEL.match(line):
            pending.append(m.group(1))
        elif m := LINE.search(line):
            address = int(m.group(1), 16)
            for label in pending:
                labels[label] = address
            pending = []
            code.append((address, m.group(3), m.group(4), m.group(2)))
    return [c for c in code if c[1] != "NOP"], labels


def bits_of(opcode):
    for part in opcode.split(".")[1:]:
        if part in ("128", "64"):
            return int(part)
        if part in ("U8", "S8"):
            return 8
        if part in ("U16", "S16"):
            return 16
    return 32


def is_load(op):
    return op.startswith("LDG")


def is_store(op):
    return op.startswith(("STG", "RED", "ATOMG"))


def moved(code):
    return sum(bits_of(c[1]) // 8 for c in code if is_load(c[1]) or is_store(c[1]))


def main_loop(code, labels):
    loops = []
    for address, op, operands, _ in code:
        if op.startswith("BRA") and (m := re.search(r"\.L_x_\d+", operands)):
            to = labels.get(m.group(0))
            if to is not None and to < address:
                loops.append((to, address))
    bodies = []
    for begin, end in loops:
        within = [(b, e) for b, e in loops if b >= begin and e <= end and (b, e) != (begin, end)]
        bodies.append([c for c in code if begin <= c[0] <= end and not any(b <= c[0] <= e for b, e in within)])
    bodies = [b for b in bodies if moved(b)]
    return max(bodies, key=moved) if bodies else code


def around(code, loop):
    """What is executed once: before the loop, and behind it up to where most threads end."""
    end, inside = loop[-1][0], {c[0] for c in loop}
    out = []
    for c in code:
        if c[0] in inside:
            continue
        out.append(c)
        if c[1] == "EXIT" and c[0] > end:
            break
    return out if loop is not code else []


def in_flight(loop):
    """Bytes that a thread has loaded before it first uses one of them."""
    most = now = 0
    waiting = set()
    for _, op, operands, _ in loop:
        registers = set()
        parts = operands.split(",")
        for i, part in enumerate(parts):
            for m in re.finditer(r"\bR(\d+)(\.64)?", part):
                if i == 0 and not is_store(op) and not op.startswith("ST"):
                    continue   # written
                registers.add(int(m.group(1)))
        if registers & waiting:
            now, waiting = 0, set()
        if is_load(op):
            first, count = re.search(r"\bR(\d+)", parts[0]), max(1, bits_of(op) // 32)
            if first:
                waiting |= set(range(int(first.group(1)), int(first.group(1)) + count))
            now += bits_of(op) // 8
            most = max(most, now)
    return most


def cycles(code):
    """Of a multiprocessor, for one warp: all, 64-bit arithmetic, conversions and special
    functions."""
    wide = sum(op.split(".")[0] in ("DADD", "DMUL", "DFMA", "DSETP", "DMNMX") for _, op, _, _ in code)
    slow = sum(op.startswith("MUFU") or (op.startswith(("F2F", "I2F", "F2I", "FRND")) and ("64" in op)) for _, op, _, _ in code)
    return len(code) / 4, wide / 2, slow * 2


def report(row, code, labels):
    loop = main_loop(code, labels)
    rest = around(code, loop)
    block, registers, shared = int(row["block"]), int(row["registers"]), int(row["shared"])
    warps = (block + 31) // 32
    per_warp = (max(registers, 1) * 32 + 255) // 256 * 256
    blocks = min(32, 2048 // (warps * 32), REGISTERS // per_warp // warps, SHARED // (shared + RESERVED_SHARED))
    grid = [int(n) for n in row["grid"].split("x")]
    threads = block * grid[0] * grid[1] * grid[2]
    each, total = moved(loop), int(row["bytes"])
    trips = max(1.0, total / (threads * each)) if each and loop is not code else 1.0
    memory = total / BYTES_PER_CYCLE / PROCESSORS
    shares = [(a * trips + b) * threads / 32 / PROCESSORS / memory for a, b in zip(cycles(loop), cycles(rest))]
    used = [op.split(".")[0] for _, op, _, _ in loop]
    notes = []
    if int(row["local"]):
        notes.append(f"local {row['local']}")
    for names, word in ((("LDL", "STL"), "local access"), (("CALL",), "call"),
                        (("BAR",), "barrier"), (("ATOMG",), "atomic"), (("RED",), "red"),
                        (("ATOMS",), "shared atomic"), (("LDC",), "indexed constants")):
        count = sum(u in names for u in used)
        if count:
            notes.append(f"{count} {word}")
    if any(op.startswith("MUFU.RCP64H") for _, op, _, _ in loop):
        notes.append("64-bit quotient")
    elif sum(op.startswith("I2F") for _, op, _, _ in loop) and sum(op == "MUFU.RCP" for _, op, _, _ in loop):
        notes.append("integer quotient")
    load = max((bits_of(op) for _, op, _, _ in loop if is_load(op)), default=0)
    store = max((bits_of(op) for _, op, _, _ in loop if is_store(op)), default=0)
    return [registers, row["local"], shared, f"{100 * blocks * warps * 32 // 2048}", f"{load}",
            f"{store}", f"{in_flight(loop) * blocks * warps * 32 / 1024:.0f}", len(loop), len(rest),
            each,
            f"{100 * shares[0]:.0f}", f"{100 * shares[1]:.0f}", f"{100 * shares[2]:.0f}", row["code"], ", ".join(notes)], loop


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", help="kernels or problems with this word")
    parser.add_argument("--sass", help="the number of a kernel whose main loop is printed")
    parser.add_argument("--nvdisasm")
    options = parser.parse_args()
    nvdisasm = find_nvdisasm(options.nvdisasm)
    head = ["kernel", "reg", "local", "shared", "occ", "load", "store", "fly", "ins", "once", "B", "issue", "f64", "xu", "code", "notes"]
    print("\t".join(["problem"] + head))
    with open(options.folder / "kernels.tsv", encoding="utf-8") as f:
        for row in csv.DictReader(f, delimiter="\t"):
            number = row["file"].split("-")[0]
            if (options.sass and options.sass != number) or (options.only and options.only not in row["problem"] + row["kernel"]):
                continue
            code, labels = read_code(nvdisasm, options.folder / (row["file"] + ".cubin"))
            values, loop = report(row, code, labels)
            print("\t".join([row["problem"], f"{number} {row['kernel']}"] + [str(v) for v in values]))
            if options.sass:
                for address, op, operands, predicate in loop:
                    print(f"  {address:05x} {'@' + predicate if predicate else '':5} {op:24} {operands}")


if __name__ == "__main__":
    main()
