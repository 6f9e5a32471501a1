"""The page of :meth:`mxnet.explain.Explanation.html`: HTML with drawings in SVG, nothing else."""
# ruff: noqa: E501  (lines of HTML and CSS)
from html import escape

from .explain_words import achieved, bandwidth, duration, implementation, size, tensor
from .explain_words import passes as split_passes

STYLE = """
:root { --ink: #1c2430; --soft: #667080; --line: #dde2ea; --paper: #ffffff; --card: #f6f8fb; --bar: #3b76c4; --warn: #c2413b }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #98a3b3; --line: #333c49; --paper: #14181e; --card: #1d232c; --bar: #6ba3ee; --warn: #f0817a } }
body { font: 14px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto; max-width: 1180px; padding: 28px 24px 60px }
h1 { font-size: 24px; margin: 0 0 4px } h2 { font-size: 17px; margin: 36px 0 8px } p { color: var(--soft); margin: 0 0 12px; max-width: 80ch }
.cards { display: flex; flex-wrap: wrap; gap: 12px; margin: 18px 0 }
.card { background: var(--card); border-radius: 8px; padding: 10px 16px; min-width: 120px } .card b { display: block; font-size: 20px; font-weight: 600 } .card span { color: var(--soft) }
table { border-collapse: collapse; width: 100%; font-size: 13px } th { text-align: left; color: var(--soft); font-weight: 500; position: sticky; top: 0; background: var(--paper) }
th, td { padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
tr.bulk td { border-top: 2px solid var(--soft) } .soft { color: var(--soft) } .dot { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 6px }
code { font-size: 12px } svg { display: block; width: 100%; height: auto } svg text { font: 11px system-ui, sans-serif; fill: var(--soft) } .strong { fill: var(--ink) }
.scroll { overflow-x: auto } .legend span { display: inline-block; margin-right: 16px; white-space: nowrap }
"""


def palette(plan):
    """{operator: colour}: hues far from each other, the same for an operator and its backward
    one."""
    kinds = list(dict.fromkeys(kind(n["op"]) for n in plan["nodes"]))
    return {op: f"hsl({211 + 137.5 * i:.0f} {62 - 14 * (i // 9 % 2)}% {54 - 9 * (i // 5 % 3)}%)" for i, op in enumerate(kinds)}


def kind(op):
    """Backward operators take the colour of their forward ones."""
    return op[len("_backward_"):] if op.startswith("_backward_") else op


def cards(e):
    stats = e.plan["stats"]
    rows = [(stats["num_nodes"], "nodes"), (stats["num_bulks"], "engine bulks"), (size(stats["arena_bytes"]), "arena"), (size(stats["lower_bound_bytes"]), "largest live set"),
            (size(stats["unshared_bytes"]), "with separate buffers"), (stats["num_inplace"], "results in place")]
    if stats["constant_bytes"]:
        rows.append((size(stats["constant_bytes"]), "folded constants"))
    if e.timed:
        whole = sum(t for _, _, t in e.time_by_operator())
        rows.insert(0, (duration(whole), "one run, node by node"))
        flops = sum(n["flops"] or 0 for n in e.plan["nodes"] if not n["constant"])
        if whole and flops:
            rows.insert(1, (f"{flops / whole:.1f}", "GFLOP/s overall"))
        moved = sum(n["bytes"] for n in e.plan["nodes"] if not n["constant"])
        if whole and moved:
            rows.insert(2 if flops else 1, (f"{moved / whole:.1f}", "GB/s overall"))
    return '<div class="cards">' + "".join(f'<div class="card"><b>{value}</b><span>{label}</span></div>' for value, label in rows) + "</div>"


def passes(e):
    if not e.plan["passes"]:
        return ""
    done, unchanged = split_passes(e.plan)
    rows = "".join(f'<tr><td>{escape(p["name"])}</td><td class="n">{p["changed"]}</td><td class="n">{p["nodes_before"]} \u2192 {p["nodes_after"]}</td></tr>' for p in done)
    if unchanged:
        rows += f'<tr><td colspan="3" class="soft">without a change: {escape(", ".join(unchanged))}</td></tr>'
    return ("<h2>Passes</h2><p>What was done to the graph before it was laid out, in order.</p>"
            f'<table style="max-width:520px"><tr><th>pass</th><th class="n">changed</th><th class="n">nodes</th></tr>{rows}</table>')


def time_chart(e, colors):
    if not e.timed:
        return ""
    rows = e.time_by_operator()
    whole = sum(t for _, _, t in rows) or 1
    shown = rows[:18]
    rest = rows[18:]
    if rest:
        shown.append((f"{len(rest)} others", sum(c for _, c, _ in rest), sum(t for _, _, t in rest)))
    longest = max(t for _, _, t in shown) or 1
    height = 24 * len(shown) + 4
    out = [f'<svg viewBox="0 0 1120 {height}" role="img" aria-label="time by operator">']
    for i, (op, count, time) in enumerate(shown):
        y, width = 24 * i + 3, max(1.0, 560 * time / longest)
        out.append(f'<text class="strong" x="282" y="{y + 13}" text-anchor="end">{escape(op)}<tspan fill="var(--soft)"> \u00d7 {count}</tspan></text>'
                   f'<rect x="292" y="{y}" width="{width:.1f}" height="18" rx="3" fill="{colors.get(kind(op), "var(--soft)")}"><title>{escape(op)}: {duration(time)} in {count} nodes</title></rect>'
                   f'<text x="{300 + width:.1f}" y="{y + 13}">{duration(time)} \u00b7 {100 * time / whole:.1f} %</text>')
    out.append("</svg>")
    device = " By the device's clock, from before a node's first kernel to behind its last." if e.plan["clock"] == "device" else ""
    return f"<h2>Time by operator</h2><p>Sum of the medians of one run. Constant nodes were computed before and take none.{device}</p>" + "".join(out)


def memory(e, colors):
    drawing = arena(e, colors)
    if not drawing:
        return ""
    nodes, kinds = e.plan["nodes"], {}
    for b in e.plan["blocks"]:
        op = kind(nodes[b["first"]]["op"])
        kinds[op] = kinds.get(op, 0) + b["bytes"] * (b["last"] + 1 - b["first"])
    legend = "".join(f'<span><i class="dot" style="background:{colors[op]}"></i>{escape(op)}</span>' for op in sorted((k for k in kinds if kinds[k]), key=kinds.get, reverse=True)[:14])
    return ("<h2>The arena over time</h2><p>Every rectangle is a result: as wide as the steps that need it, as high as it is large, at its place in the arena. "
            "The line is what is in use; ticks below the picture are engine bulks. Point at a rectangle to see whose it is.</p>" + drawing + f'<p class="legend">{legend}</p>')


def arena(e, colors):
    plan = e.plan
    blocks, nodes, arena = plan["blocks"], plan["nodes"], plan["stats"]["arena_bytes"]
    blocks = [b for b in blocks if b["bytes"]]
    if not blocks:
        return ""
    left, top, width, height = 70, 8, 1040, 360
    sx, sy = width / len(nodes), height / max(arena, 1)
    out = [f'<svg viewBox="0 0 1120 {top + height + 34}" role="img" aria-label="memory over time">',
           f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="var(--card)"/>']
    for part in range(5):
        y = top + height - height * part / 4
        out.append(f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--line)"/><text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{size(arena * part / 4)}</text>')
    for b in blocks:
        node = nodes[b["first"]]
        x, w = left + b["first"] * sx, (b["last"] + 1 - b["first"]) * sx
        h = b["bytes"] * sy
        y = top + height - b["offset"] * sy - h
        until = "" if b["last"] == b["first"] else f' to {b["last"]} ({nodes[b["last"]]["name"]})'
        gap = min(1.0, w / 4)
        out.append(f'<rect class="block" x="{x:.2f}" y="{y:.2f}" width="{max(w - gap, 0.4):.2f}" height="{max(h, 0.4):.2f}" fill="{colors[kind(node["op"])]}" fill-opacity="0.85" '
                   f'stroke="var(--paper)" stroke-width="{0.6 if w > 4 and h > 4 else 0}"><title>{escape(node["op"])} {escape(node["name"])}\n{size(b["bytes"])} at {b["offset"]}\n'
                   f'steps {b["first"]}{escape(until)}</title></rect>')
    live = e.live_bytes()
    points = " ".join(f"{left + (t + side) * sx:.1f},{top + height - v * sy:.1f}" for t, v in enumerate(live) for side in (0, 1))
    out.append(f'<polyline points="{points}" fill="none" stroke="var(--ink)" stroke-width="1.2" stroke-opacity="0.75"><title>bytes in use</title></polyline>')
    y = top + height - plan["stats"]["lower_bound_bytes"] * sy
    out.append(f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--warn)" stroke-dasharray="6 4"/>'
               f'<text x="{left + width - 4}" y="{y + 14 if y < top + 16 else y - 5:.1f}" text-anchor="end" style="fill:var(--warn)">largest live set {size(plan["stats"]["lower_bound_bytes"])}</text>')
    backward = next((n["step"] for n in nodes if n["phase"] == "backward"), None)
    if backward is not None:
        x = left + backward * sx
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{top + height}" stroke="var(--soft)" stroke-dasharray="2 3"/>'
                   f'<text x="{x + 5:.1f}" y="{top + height + 26}">backward \u2192</text>')
    for b in plan["bulks"]:
        x = left + b["begin"] * sx
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top + height}" y2="{top + height + 6}" stroke="var(--soft)"/>')
    out.append(f'<text x="{left}" y="{top + height + 26}">step 0</text><text x="{left + width}" y="{top + height + 26}" text-anchor="end">step {len(nodes) - 1}</text></svg>')
    return "".join(out)


def nodes_table(e, colors):
    plan = e.plan
    longest = max((n["median_ns"] or 0 for n in plan["nodes"]), default=0) or 1
    starts = {b["begin"]: i for i, b in enumerate(plan["bulks"])}
    timed = e.timed
    head = '<tr><th class="n">step</th><th>operator</th><th>inputs</th><th>outputs</th>' + ('<th class="n">median</th><th class="n">least</th><th></th><th>implementation</th><th class="n">GFLOP/s</th><th class="n">of the peak</th><th class="n">bytes</th><th class="n">GB/s</th><th class="n">of the memory</th><th class="n">at least</th>' if timed else "") + "</tr>"
    rows, phase = [], None
    for n in plan["nodes"]:
        if n["phase"] != phase:
            phase = n["phase"]
            rows.append(f'<tr><td colspan="14"><b>{phase}</b></td></tr>')
        params = ", ".join(f"{k}={v}" for k, v in n["params"].items())
        bulk = starts.get(n["step"])
        rate, moved = achieved(n), bandwidth(n)
        cells = [f'<td class="n">{n["step"]}</td>',
                 f'<td><i class="dot" style="background:{colors[kind(n["op"])]}"></i>{escape(n["op"])}{" <span class=soft>(constant)</span>" if n["constant"] else ""}<br><code class="soft">{escape(n["name"])}</code>'
                 + (f'<br><code class="soft">{escape(params)}</code>' if params else "") + "</td>",
                 "<td>" + "<br>".join(f'<code>{escape(tensor(t))}</code>' for t in n["inputs"]) + "</td>",
                 "<td>" + "<br>".join(f'<code>{escape(tensor(t))}</code>' for t in n["outputs"]) + "</td>"]
        if timed:
            width = 80 * (n["median_ns"] or 0) / longest
            cells.append(f'<td class="n">{duration(n["median_ns"] or 0)}</td><td class="n">{duration(n["min_ns"] or 0)}</td>'
                         f'<td><svg viewBox="0 0 80 10" style="width:80px"><rect y="3" width="{max(width, 0.5):.1f}" height="8" rx="2" fill="var(--bar)"/></svg></td>'
                         f'<td>{escape(implementation(n))}</td><td class="n">{"" if rate is None else f"{rate:.1f}"}</td><td class="n">{percent(n["share_of_peak"])}</td><td class="n">{size(n["bytes"])}</td>'
                         f'<td class="n">{"" if moved is None else f"{moved:.1f}"}</td><td class="n">{percent(n["share_of_bandwidth"])}</td><td class="n">{"" if n["predicted_ns"] is None else duration(n["predicted_ns"])}</td>')
        rows.append(f'<tr{" class=bulk" if bulk is not None and bulk > 0 else ""}{f" title=&quot;bulk {bulk} begins&quot;".replace("&quot;", chr(34)) if bulk is not None else ""}>' + "".join(cells) + "</tr>")
    return ("<h2>Nodes</h2><p>In the order in which they run. @ is an offset in the arena; a heavy line begins an engine bulk.</p>"
            f'<div class="scroll"><table>{head}{"".join(rows)}</table></div>')


def percent(share):
    return "" if share is None else f"{100 * share:.0f} %"


def implementations(e):
    """A table of what ran, with its instructions and time, and what the machine can do."""
    rows = e.time_by_implementation()
    if not rows:
        return ""
    whole, machine = sum(row[3] for row in rows) or 1, e.plan.get("machine") or {}
    about = ""
    if "gflops" in machine:
        peaks = ", ".join(f"{name} {rate:.0f}" for name, rate in machine["gflops"].items())
        about = (f"Kernels of this library are compiled for {machine['level']} here. Measured peaks of {machine['threads']} threads: GFLOP/s of {peaks}; "
                 f"memory {machine['gigabytes']:.0f} GB/s. Winograd does fewer operations than are counted, and caches are faster than memory: shares above 100 % are real.")
    body = "".join(f'<tr><td>{escape(name)}</td><td>{escape(level or "")}</td><td class="n">{count}</td><td class="n">{duration(time)}</td><td class="n">{100 * time / whole:.1f} %</td></tr>'
                   for name, level, count, time in rows)
    return (f"<h2>What ran</h2><p>{escape(about)}</p>"
            f'<table style="max-width:760px"><tr><th>implementation</th><th>instructions</th><th class="n">nodes</th><th class="n">time</th><th class="n"></th></tr>{body}</table>')


def render(e):
    """The page of one Explanation."""
    mode = "training" if e.plan["training"] else "inference"
    colors = palette(e.plan)
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><meta name="viewport" content="width=device-width"/>'
            f"<title>Plan for {escape(e.plan['device'])}, {mode}</title><style>{STYLE}</style></head><body>"
            f"<h1>Compiled plan</h1><p>{escape(e.plan['device'])}, {mode}{', with backward pass' if e.plan['backward'] else ''}</p>"
            + cards(e) + time_chart(e, colors) + implementations(e) + memory(e, colors) + passes(e) + nodes_table(e, colors) + "</body></html>\n")


def picture(e):
    """The arena over time as an SVG file of its own."""
    drawing = arena(e, palette(e.plan)) or '<svg viewBox="0 0 1120 40"><text x="8" y="24">This plan has no results in an arena.</text></svg>'
    style = "\n".join(line for line in STYLE.splitlines() if line.startswith(":root") or "{ :root" in line) + "\ntext { font: 11px system-ui, sans-serif; fill: var(--soft) }"
    return drawing.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).replace(">", f"><style>{style}</style>", 1) + "\n"
