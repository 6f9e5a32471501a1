"""The picture of README.md, drawn from the table in docs/perf/score.md: how many times as fast as
1.9.1 each contestant computes batches of 32."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BASE = "1.9.1 MKLDNN"
SHOWN = {"ours": "#c2410c", "onnxruntime": "#64748b", "openvino": "#94a3b8", "torch compile": "#cbd5e1"}
WIDTH, LEFT, BAR, GAP, HEAD = 720, 110, 13, 14, 64


def table(text):
    """[{column: text}] of the first table of a page."""
    lines = text[text.index("\n|") + 1:].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [dict(zip(rows[0], row)) for row in rows[2:]]


def picture():
    """The picture as SVG. Its colours stand on light and dark pages."""
    with open(os.path.join(ROOT, "docs", "perf", "score.md"), encoding="utf-8") as file:
        rows = [row for row in table(file.read()) if row.get("batch") == "32"]
    ratios = [(row["images/s"], {name: float(row[name]) / float(row[BASE]) for name in SHOWN}) for row in rows]
    scale = (WIDTH - LEFT - 60) / max(value for _, values in ratios for value in values.values())
    height = HEAD + len(ratios) * (len(SHOWN) * BAR + GAP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
           'font-family="sans-serif" font-size="12">', f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
           '<text x="14" y="22" font-size="14" font-weight="bold" fill="#111827">Samples a second, batches of 32, two CPU cores; '
           'MXNet 1.9.1 with MKLDNN is 1</text>']
    x = LEFT
    for name, colour in SHOWN.items():
        label = "this library" if name == "ours" else name
        out += [f'<rect x="{x}" y="36" width="11" height="11" fill="{colour}"/>',
                f'<text x="{x + 16}" y="46" fill="#374151">{label}</text>']
        x += 44 + 7 * len(label)
    one, y = LEFT + scale, HEAD
    line = f'<line x1="{one:.1f}" y1="{HEAD - 6}" x2="{one:.1f}" y2="{height - 8}" stroke="#111827" stroke-dasharray="3 3"/>'
    numbers = []        # above the line, with an edge that keeps it away from them
    for network, values in ratios:
        out.append(f'<text x="{LEFT - 10}" y="{y + len(SHOWN) * BAR / 2 + 4:g}" text-anchor="end" fill="#111827">{network}</text>')
        for name, colour in SHOWN.items():
            width = values[name] * scale
            out.append(f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR - 2}" fill="{colour}"/>')
            numbers.append(f'<text x="{LEFT + width + 5:.1f}" y="{y + 10}">{values[name]:.1f}</text>')
            y += BAR
        y += GAP
    edge = 'font-size="10" fill="#374151" stroke="#ffffff" stroke-width="4" stroke-linejoin="round" paint-order="stroke"'
    return "\n".join([*out, line, f"<g {edge}>", *numbers, "</g>", "</svg>"]) + "\n"
