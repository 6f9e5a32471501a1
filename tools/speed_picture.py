"""The picture of README.md, drawn from the table in docs/perf/score.md: how many times as fast as
1.9.1 each contestant computes batches of 32."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BASE = "1.9.1 MKLDNN"
SHOWN = {"ours": "#c2410c", "onnxruntime": "#64748b", "openvino": "#94a3b8", "torch compile": "#cbd5e1"}
WIDTH, LEFT, BAR, GAP = 720, 110, 13, 14


def table(text):
    """[{column: text}] of the first table of a page."""
    lines = text[text.index("\n|") + 1:].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [dict(zip(rows[0], row)) for row in rows[2:]]


def _heading(width, narrow):
    """(lines of SVG, their height): what the picture shows, and whose bar is whose."""
    title = ["Samples a second, batches of 32,", "two CPU cores; MXNet 1.9.1", "with MKLDNN is 1"]
    size, lines, y = (13, title, 20) if narrow else (14, [" ".join(title)], 22)
    out = [f'<text x="14" y="{y + 16 * i}" font-size="{size}" font-weight="bold" fill="#111827">{line}</text>'
           for i, line in enumerate(lines)]
    left = 14 if narrow else LEFT
    x, y = left, y + 16 * len(lines) - 2
    for name, colour in SHOWN.items():
        label = "this library" if name == "ours" else name
        if x + 16 + 7 * len(label) > width:
            x, y = left, y + 18
        out += [f'<rect x="{x}" y="{y}" width="11" height="11" fill="{colour}"/>',
                f'<text x="{x + 16}" y="{y + 10}" fill="#374151">{label}</text>']
        x += 44 + 7 * len(label)
    return out, y + 28


def picture(narrow=False):
    """The picture as SVG. Its colours stand on light and dark pages. `narrow`: for phones, whose
    width it fills with letters that can be read."""
    with open(os.path.join(ROOT, "docs", "perf", "score.md"), encoding="utf-8") as file:
        rows = [row for row in table(file.read()) if row.get("batch") == "32"]
    ratios = [(row["images/s"], {name: float(row[name]) / float(row[BASE]) for name in SHOWN}) for row in rows]
    width, left = (340, 92) if narrow else (WIDTH, LEFT)
    head_lines, head = _heading(width, narrow)
    scale = (width - left - (36 if narrow else 60)) / max(value for _, values in ratios for value in values.values())
    height = head + len(ratios) * (len(SHOWN) * BAR + GAP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           f'font-family="sans-serif" font-size="{11 if narrow else 12}">',
           f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>', *head_lines]
    one, y = left + scale, head
    line = f'<line x1="{one:.1f}" y1="{head - 6}" x2="{one:.1f}" y2="{height - 8}" stroke="#111827" stroke-dasharray="3 3"/>'
    numbers = []        # above the line, with an edge that keeps it away from them
    for network, values in ratios:
        out.append(f'<text x="{left - 10}" y="{y + len(SHOWN) * BAR / 2 + 4:g}" text-anchor="end" fill="#111827">{network}</text>')
        for name, colour in SHOWN.items():
            length = values[name] * scale
            out.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{BAR - 2}" fill="{colour}"/>')
            numbers.append(f'<text x="{left + length + 5:.1f}" y="{y + 10}">{values[name]:.1f}</text>')
            y += BAR
        y += GAP
    edge = 'font-size="10" fill="#374151" stroke="#ffffff" stroke-width="4" stroke-linejoin="round" paint-order="stroke"'
    return "\n".join([*out, line, f"<g {edge}>", *numbers, "</g>", "</svg>"]) + "\n"
