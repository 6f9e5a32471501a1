"""Results as Markdown and SVG, the machine's description, and their place in docs/."""
import json
import os
import re
import subprocess
import tempfile
import textwrap

COLORS = ("#d62728", "#8c8c8c", "#4d4d4d", "#f2a65a", "#b5651d", "#e3c57b", "#4c78a8", "#59a14f")


def tables(mode, rows, names):
    """The table of rates and ratios, and that of memory."""
    first = names[0]
    others = names[1:]
    rate = "images/s" if mode == "score" else "images/s, training"
    out = [f"| {rate} | batch | " + " | ".join(names) + f" | {first} GFLOP/s | best other | "
           f"{first} ÷ best |", "|---" * (5 + len(names)) + "|"]
    for r in rows:
        cells = [f"{r['rates'][n]:.2f}" if n in r["rates"] else "" for n in names]
        out.append(f"| {r['title']} | {r['batch']} | " + " | ".join(cells) + f" | {r['gflops']:.0f} | " +
                   (f"{r['best']} | {r['ratios'][r['best']]:.2f} |" if r["best"] else " | |"))
    if others:
        out += ["", f"{first} ÷ each:", "", "| | batch | " + " | ".join(others) + " |", "|---" * (2 + len(others)) + "|"]
        out += [f"| {r['title']} | {r['batch']} | "
                + " | ".join(f"{r['ratios'][n]:.2f}" if n in r["ratios"] else "" for n in others)
                + " |" for r in rows]
    return "\n".join(out + _memory(rows, names))


def _memory(rows, names):
    """Lines of the table of memory: the process's, or on a GPU the device's."""
    device = any(r.get("device") for r in rows)
    title = "Peak resident MiB over the resident size after import (in parentheses):"
    if device:
        title = "MiB of the device's memory that each process took:"
    out = ["", title, "", "| | batch | " + " | ".join(names) + " |", "|---" * (2 + len(names)) + "|"]
    for r in rows:
        if device:
            cells = [f"{r['device'][n]:.0f}" if n in r["device"] else "" for n in names]
        else:
            cells = [f"{peak - base:.0f} ({base:.0f})" if pair else ""
                     for pair in (r["memory"].get(n) for n in names)
                     for peak, base in [pair or (0, 0)]]
        out.append(f"| {r['title']} | {r['batch']} | " + " | ".join(cells) + " |")
    return out


def line(r):
    """One row in short, as it comes."""
    return f"{r['title']}, {r['batch']}: " + ", ".join(f"{n} {rate:.2f}" for n, rate in r["rates"].items()) + (
        f"; {r['ratios'][r['best']]:.2f} of {r['best']}" if r["best"] else "")


def processor():
    """Its name, and the instructions that it has."""
    with open("/proc/cpuinfo") as f:
        cpu = dict(re.findall(r"^(model name|flags)\s*: (.*)$", f.read(), re.M))
    return cpu.get("model name", os.uname().machine), cpu.get("flags", "").split()


def machine(root, versions, args):
    """Lines of text: processor, what it reaches, versions, how it was measured."""
    name, flags = processor()
    flags = [f for f in flags if re.fullmatch(r"avx|avx2|fma|f16c|avx512\w*|avx_vnni|amx_\w+|vaes", f)]
    lines = [f"Processor: {name}, {os.cpu_count()} cores; {' '.join(flags)}."]
    limits = measured_limits(root, args.threads)
    if limits:
        lines.append(f"Measured with {args.threads} thread{'s' * (args.threads > 1)}: float32 "
                     f"multiply-add peak {limits['fma_gflops']:.0f} GFLOP/s, "
                     f"copy {limits['copy_gbs']:.1f} GB/s, read {limits['read_gbs']:.1f} GB/s.")
        lines.append("GFLOP/s of a network count direct convolutions; Winograd multiplies less, and so exceeds the peak.")
    lines.append("Contestants: " + ", ".join(f"{n} ({v})" for n, v in versions.items()) + ".")
    lines.append(f"{args.threads} thread{'s' * (args.threads > 1)} each, {'processor time' if args.clock == 'cpu' else 'wall clock'}, "
                 f"{args.rounds} rounds of slices of about {args.slice:g} s; the waiting ones are stopped. {args.dtype}.")
    return lines


def gpu():
    """The first GPU: name, driver, memory."""
    try:
        done = subprocess.run(["nvidia-smi", "--id=0",
                               "--query-gpu=name,driver_version,memory.total",
                               "--format=csv,noheader"], capture_output=True, text=True)
    except OSError:
        return "unknown (no nvidia-smi)"
    return done.stdout.strip() if done.returncode == 0 else "unknown (nvidia-smi failed)"


def gpu_machine(versions, args):
    """Lines of text: the GPU, versions, how it was measured."""
    pace = "the device is waited for behind every call" if args.each_call else "the device is waited for behind each slice"
    return [f"GPU: {gpu()}; {os.cpu_count()} host cores.", "Contestants: " + ", ".join(f"{n} ({v})" for n, v in versions.items()) + ".",
            f"{args.rounds} rounds of slices of about {args.slice:g} s; {pace}; the waiting contestants are stopped. {args.dtype}."]


def handovers(rows):
    """A line about how far apart the processors were while the rows were measured; empty with one
    thread."""
    seen = {(r["title"], r["batch"]): r["handover"] for r in rows if r.get("handover")}
    if not seen:
        return []
    low, high = min(min(h) for h in seen.values()), max(max(h) for h in seen.values())
    text = f"A line of cache took {low:.0f} to {high:.0f} ns from one thread to another and back."
    far = [f"{title} at {batch}" for (title, batch), h in seen.items() if max(h) > 2 * low]
    return [text + (f" More than twice the least, because virtual processors had moved apart: {', '.join(far)}." if far else "")]


def measured_limits(root, threads, *options):
    """What benchmark/machine.cc measures: fma_gflops, copy_gbs, read_gbs, handover_ns; None where
    it cannot be built."""
    build = os.path.join(root, "build", "release")
    if subprocess.run(["cmake", "--build", build, "--target", "bench_machine"], capture_output=True).returncode:
        return None
    done = subprocess.run([os.path.join(build, "benchmark", "machine"), *options],
                          env=dict(os.environ, OMP_NUM_THREADS=str(threads)), capture_output=True,
                          text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def markdown(mode, rows, names, description, notes, seconds):
    title = {"score": "Inference", "train": "Training"}[mode]

    def items(texts):
        return [line for text in texts
                for line in textwrap.wrap(f"- {text}", 98, subsequent_indent="  ", break_on_hyphens=False)]

    return "\n".join([f"# {title}", "", *items(description), "", tables(mode, rows, names), "",
                      *items([f"Left out: {n}" for n in notes]), f"Total time: {seconds / 60:.1f} min.", ""])


def svg(mode, rows, names):
    """Bars: images per second of every contestant against the first one's, row by row."""
    bar, gap, left, width = 9, 12, 150, 760
    most = max(1.0, max(r["rates"][n] / r["rates"][names[0]] for r in rows for n in r["rates"]))
    unit = (width - left - 60) / most
    y, parts = 50, []
    for i, n in enumerate(names):
        x = left + i % 4 * 150
        parts.append(f'<rect x="{x}" y="{8 + i // 4 * 16}" width="10" height="10" fill="{COLORS[i]}"/>'
                     f'<text x="{x + 14}" y="{17 + i // 4 * 16}">{n}</text>')
    for r in rows:
        present = [n for n in names if n in r["rates"]]
        parts.append(f'<text x="{left - 8}" y="{y + bar * len(present) / 2 + 4:.1f}" text-anchor="end">{r["title"]}, {r["batch"]}</text>')
        for n in present:
            relative = r["rates"][n] / r["rates"][names[0]]
            parts.append(f'<rect x="{left}" y="{y}" width="{unit * relative:.1f}" height="{bar - 1}" fill="{COLORS[names.index(n)]}"/>'
                         f'<text x="{left + unit * relative + 4:.1f}" y="{y + bar - 1}" font-size="9">{r["rates"][n]:.1f}</text>')
            y += bar
        y += gap
    line = f'<line x1="{left + unit:.1f}" x2="{left + unit:.1f}" y1="44" y2="{y - gap + 4}" stroke="#000" stroke-dasharray="3 3"/>'
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" font-family="sans-serif" font-size="11">'
            f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}{line}</svg>\n')


def _replace(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(path), delete=False) as f:
        f.write(text)
    os.chmod(f.name, 0o644)
    os.rename(f.name, path)


def save(path, figures):
    """The figures as JSON."""
    _replace(os.path.abspath(path), json.dumps(figures, indent=1) + "\n")


def write_gpu(root, section, text):
    """`text` between the section's markers in docs/gpu/figures.md, which gets them at its end
    where it has none."""
    page = os.path.join(root, "docs", "gpu", "figures.md")
    begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
    with open(page) as f:
        before = f.read()
    after = "\n"
    if begin in before:
        before, _, after = re.split(f"{begin}|{end}", before)
    else:
        before = f"{before.rstrip()}\n\n## {section}\n\n"
    _replace(page, f"{before}{begin}\n{text.strip()}\n{end}{after}")


def write(root, mode, text, body, plot):
    """Page and picture of `mode` in docs/perf, and the tables of its markers in docs/perf.md."""
    _replace(os.path.join(root, "docs", "perf", mode + ".md"), text + f"\n![relative rates]({mode}.svg)\n")
    _replace(os.path.join(root, "docs", "perf", mode + ".svg"), plot)
    page = os.path.join(root, "docs", "perf.md")
    begin, end = f"<!-- {mode}: begin -->", f"<!-- {mode}: end -->"
    with open(page) as f:
        before, middle, after = re.split(f"{begin}|{end}", f.read())
    del middle
    _replace(page, f"{before}{begin}\n{body}\n\n![relative rates](perf/{mode}.svg)\n{end}{after}")
