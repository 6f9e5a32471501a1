#!/usr/bin/env python
"""Draws a plan's arena: bytes upwards, steps to the right, one box for each block from its first
write to its last use.

    ./dev python tools/plot_memory.py [--network resnet50_v1] [--batch 16] [--output
    docs/images/memory-resnet50.svg]

One picture holds the training plan as it is, with MXNET_BACKWARD_DO_MIRROR=1 and with
MXNET_MEMORY_OPT=1, on one scale. Forward blocks that the backward pass reads are dark, others of
the forward pass light, those of the backward pass orange, recomputed ones green.
"""
import argparse
import os
import re
import subprocess
import sys

BYTES = {"float32": 4, "float64": 8, "float16": 2, "bfloat16": 2, "uint8": 1, "int8": 1, "bool": 1,
         "int32": 4, "int64": 8, "int16": 2, "uint16": 2, "uint32": 4, "uint64": 8}
PANELS = (("everything kept",
           {"MXNET_PLAN_PASSES_OFF": "fuse_batch_norm_relu,fuse_batch_norm_add_relu"}),
          ("MXNET_BACKWARD_DO_MIRROR=1", {"MXNET_BACKWARD_DO_MIRROR": "1"}),
          ("MXNET_MEMORY_OPT=1", {"MXNET_MEMORY_OPT": "1"}))
COLOURS = {"kept": "#1f5a9c", "forward": "#a9c6e8", "backward": "#e8a24a", "again": "#5aa35a"}


def plan_text(network, batch):
    """The text of the training plan of a network of the model zoo, with the variables of this
    process."""
    import mxnet as mx
    from mxnet.gluon.model_zoo import vision
    net = vision.get_model(network)
    net.initialize()
    data = mx.nd.zeros((batch, 3, 224, 224))
    net._finish_deferred(data)
    _, symbol = net._get_graph(data)
    executor = symbol.simple_bind(mx.cpu(), grad_req={p.name: p.grad_req for p in net.collect_params().values()}, data=data.shape)
    return executor.debug_str()


def blocks(text):
    """(boxes, steps, first backward step, arena bytes); a box is (first step, last step, offset,
    bytes, kind)."""
    boxes, live, step, backward = [], {}, 0, None
    for line in text[text.index("Plan for"):].splitlines():
        if line.startswith("---- backward"):
            backward = step
            continue
        node = re.match(r'(\d+) (\S+) "(.*?)" \((.*)\) -> \((.*)\)$', line)
        if not node:
            continue
        step = int(node.group(1)) + 1
        again = node.group(3).endswith("_mirror") or node.group(2).endswith("_again")
        for writes, side in ((False, node.group(4)), (True, node.group(5))):
            for shape, dtype, offset in re.findall(r"\(([\d,]*)\):(\w+)(?: channels-last)? @(\d+)", side):
                size = BYTES[dtype]
                for d in shape.split(","):
                    size *= int(d) if d else 1
                key = (int(offset), size)
                if not writes:
                    if key in live:
                        live[key][1] = step - 1
                elif key in live and live[key][1] == step - 1:
                    pass                                   # in place
                else:
                    box = [step - 1, step - 1, key[0], size, "again" if again else "forward" if backward is None else "backward"]
                    live[key] = box
                    boxes.append(box)
    for box in boxes:
        if box[4] == "forward" and backward is not None and box[1] >= backward:
            box[4] = "kept"
    return boxes, step, backward, int(re.search(r"Arena (\d+) bytes", text).group(1))


def svg(panels, title):
    """One panel beside the other, on one scale of bytes."""
    width, height, margin, top = 330, 360, 62, 58
    most = max(p[4] for p in panels)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 '
           f'{margin + len(panels) * (width + 20)} {top + height + 62}" font-family="sans-serif" '
           f'font-size="12">',
           '<rect width="100%" height="100%" fill="#fff"/>', f'<text x="{margin}" y="20" font-size="15">{title}</text>']
    for mib in range(0, most // 2**20 + 1, 200):
        y = top + height - mib * 2**20 / most * height
        out.append(f'<line x1="{margin - 4}" y1="{y:.1f}" x2="{margin + len(panels) * (width + 20) - 20}" y2="{y:.1f}" stroke="#ddd"/>'
                   f'<text x="{margin - 8}" y="{y + 4:.1f}" text-anchor="end">{mib}</text>')
    out.append(f'<text x="14" y="{top + height / 2}" transform="rotate(-90 14 {top + height / 2})" '
               f'text-anchor="middle">MiB of the arena</text>')
    for i, (name, boxes, steps, backward, arena) in enumerate(panels):
        left = margin + i * (width + 20)
        out.append(f'<text x="{left}" y="{top - 14}">{name}: {arena / 2**20:.0f} MiB</text>')
        for first, last, offset, size, kind in boxes:
            h = size / most * height
            if h < 0.2:
                continue
            y = top + height - (offset + size) / most * height
            out.append(f'<rect x="{left + first / steps * width:.1f}" y="{y:.1f}" '
                       f'width="{max((last - first + 1) / steps * width, 0.6):.1f}" '
                       f'height="{h:.1f}" '
                       f'fill="{COLOURS[kind]}" stroke="#fff" stroke-width="0.2"/>')
        x = left + backward / steps * width
        out.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{top + height}" stroke="#444" stroke-dasharray="3 3"/>'
                   f'<text x="{left}" y="{top + height + 18}">forward</text><text x="{x + 4:.1f}" y="{top + height + 18}">backward</text>')
    x = margin
    for kind, text in (("kept", "kept for the backward pass"), ("forward", "forward only"),
                       ("again", "recomputed"), ("backward", "gradients")):
        out.append(f'<rect x="{x}" y="{top + height + 34}" width="12" height="12" '
                   f'fill="{COLOURS[kind]}"/><text x="{x + 18}" '
                   f'y="{top + height + 44}">{text}</text>')
        x += 46 + 7 * len(text)
    return "\n".join(out + ["</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", default="resnet50_v1")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--output", default="docs/images/memory-resnet50.svg")
    parser.add_argument("--text", action="store_true", help="print the plan of this process and stop")
    args = parser.parse_args()
    if args.text:
        print(plan_text(args.network, args.batch))
        return
    panels = []
    for name, variables in PANELS:
        text = subprocess.run([sys.executable, __file__, "--text", "--network", args.network,
                               "--batch", str(args.batch)], env={**os.environ, **variables},
                              capture_output=True, text=True, check=True).stdout
        panels.append((name, *blocks(text)))
    os.makedirs(os.path.dirname(args.output) or ".", exist_ok=True)
    with open(args.output, "w", encoding="utf-8") as f:
        f.write(svg(panels, f"Training {args.network}, batch {args.batch}: the plan's arena over time"))
    print(args.output, *(f"{p[0]}: {p[4] / 2**20:.0f} MiB" for p in panels), sep="\n")


if __name__ == "__main__":
    main()
