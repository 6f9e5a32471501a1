"""Drawings of graphs without Graphviz: its language as text, and SVG made here.

The layout has the steps of Sugiyama, Tagawa and Toda ("Methods for visual understanding of
hierarchical system structures", 1981): layers by longest paths, long edges cut by invisible nodes,
an order in each layer by the means of the neighbours, and positions as near to those means as the
distances allow.
"""
import os
import re
import warnings
from html import escape

from .._files.whole_files import write_file

__all__ = ["Drawing"]

_PLAIN = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*$|-?(\.[0-9]+|[0-9]+(\.[0-9]*)?)$")
_KEYWORDS = ("node", "edge", "graph", "digraph", "subgraph", "strict")
_INCH = 72            # points
_GAP_X, _GAP_Y, _LANE = 24, 40, 14    # points between boxes, between layers, and for an edge that passes by


def _quoted(text):
    text = str(text)
    if _PLAIN.match(text) and text.lower() not in _KEYWORDS:
        return text
    return '"' + text.replace('"', '\\"') + '"'


def _attributes(label, attributes):
    pairs = ([("label", label)] if label is not None else []) + sorted(attributes.items())
    return " [" + " ".join(f"{_quoted(key)}={_quoted(value)}" for key, value in pairs) + "]" if pairs else ""


class Drawing:
    """A directed graph with the methods of ``graphviz.Digraph`` that drawing a network needs.

    Parameters
    ----------
    name : str
        Title, and the file's name before its ending.
    format : str
        Of :meth:`render`; only 'svg' can be made here.
    filename, directory : str, optional
        Where the text is saved; by default ``NAME.gv`` in the current folder.

    >>> drawing = mx.viz.plot_network(mx.sym.exp(mx.sym.var('x'), name='y'))
    >>> print(drawing.source.splitlines()[0])
    digraph plot {
    """

    def __init__(self, name=None, comment=None, filename=None, directory=None, format="pdf", **_):
        self.name, self.comment, self.format = name, comment, format
        self.filename = filename or f"{name or 'Digraph'}.gv"
        self.directory = directory or ""
        self.graph_attr, self.node_attr, self.edge_attr = {}, {}, {}
        self._nodes, self._edges, self._statements = {}, [], []

    def node(self, name, label=None, _attributes=None, **attrs):
        """Add a node, or give one other attributes."""
        attrs.update(_attributes or {})
        self._nodes[name] = (name if label is None else label, attrs)
        self._statements.append(("node", name, label, attrs))

    def edge(self, tail_name, head_name, label=None, _attributes=None, **attrs):
        """Add an edge; its tail is drawn above its head."""
        attrs.update(_attributes or {})
        for name in (tail_name, head_name):
            self._nodes.setdefault(name, (name, {}))
        self._edges.append((tail_name, head_name, label, attrs))
        self._statements.append(("edge", tail_name, head_name, label, attrs))

    def attr(self, kw=None, **attrs):
        """Set attributes of all nodes (`kw` 'node'), edges ('edge'), or of the graph."""
        {"node": self.node_attr, "edge": self.edge_attr}.get(kw, self.graph_attr).update(attrs)

    @property
    def source(self):
        """The graph in the language of Graphviz."""
        lines = [f"digraph {_quoted(self.name)} {{" if self.name else "digraph {"]
        for kind, values in (("graph", self.graph_attr), ("node", self.node_attr), ("edge", self.edge_attr)):
            if values:
                lines.append(f"\t{kind}{_attributes(None, values)}")
        for kind, *rest in self._statements:
            if kind == "node":
                name, label, attrs = rest
                lines.append(f"\t{_quoted(name)}{_attributes(label, attrs)}")
            else:
                tail, head, label, attrs = rest
                lines.append(f"\t{_quoted(tail)} -> {_quoted(head)}{_attributes(label, attrs)}")
        return "\n".join(lines + ["}"])

    def __str__(self):
        return self.source

    @property
    def filepath(self):
        """Where :meth:`save` puts the text."""
        return os.path.join(self.directory, self.filename)

    def save(self, filename=None, directory=None):
        """Write :attr:`source` to a file, and return its path."""
        self.filename, self.directory = filename or self.filename, self.directory if directory is None else directory
        if self.directory:
            os.makedirs(self.directory, exist_ok=True)
        write_file(self.filepath, self.source + "\n")
        return self.filepath

    def pipe(self, format=None):
        """The picture as bytes of an SVG file."""
        self._check(format)
        return self._repr_svg_().encode()

    def _check(self, format):
        wanted = format or self.format
        if wanted != "svg":
            warnings.warn(f"[plot_network] {wanted!r} needs the package graphviz and its program dot; the drawing is made as 'svg'",
                          stacklevel=3)

    def render(self, filename=None, directory=None, view=False, cleanup=False, format=None):
        """Write the text and, as SVG, the picture; returns the path of the picture."""
        self._check(format)
        saved = self.save(filename, directory)
        picture = saved + ".svg"
        write_file(picture, self._repr_svg_())
        if cleanup:
            os.remove(saved)
        if view:
            import webbrowser
            webbrowser.open("file://" + os.path.abspath(picture))
        return picture

    def view(self, filename=None, directory=None, cleanup=False):
        """Write the picture and open it in a browser."""
        return self.render(filename, directory, True, cleanup)

    def _repr_svg_(self):
        return _Picture(self._nodes, self._edges, self.node_attr).svg(self.name)

    def _repr_mimebundle_(self, include=None, exclude=None, **_):
        return {"image/svg+xml": self._repr_svg_()}


def _number(text, default):
    try:
        return float(text)
    except (TypeError, ValueError):
        return default


def _spread(wanted, distances, weights):
    """The positions x, ordered and with x[i + 1] - x[i] >= distances[i], for which the sum of
    weights * (x - wanted)^2 is smallest, by pooling adjacent violators (Ayer et al., 1955)."""
    offset, blocks = 0.0, []
    offsets = []
    for i, target in enumerate(wanted):
        offset += distances[i - 1] if i else 0.0
        offsets.append(offset)
        total, weight, count = (target - offset) * weights[i], weights[i], 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / weight:
            other = blocks.pop()
            total, weight, count = total + other[0], weight + other[1], count + other[2]
        blocks.append((total, weight, count))
    result = []
    for total, weight, count in blocks:
        result += [total / weight] * count
    return [x + offset for x, offset in zip(result, offsets)]


class _Picture:
    """The layout of a graph, and its SVG. Vertices are numbers; those from `real` on are the
    invisible ones that cut long edges."""

    def __init__(self, nodes, edges, node_attr):
        self.names = list(nodes)
        number = {name: i for i, name in enumerate(self.names)}
        self.looks = [(label, {**node_attr, **attrs}) for label, attrs in nodes.values()]
        self.real = len(self.names)
        self.size = [(_number(a.get("width"), 0.75) * _INCH, _number(a.get("height"), 0.5) * _INCH) for _, a in self.looks]
        self.edges = [(number[tail], number[head], label or "") for tail, head, label, _ in edges if tail != head]
        self._rank()
        self._cut_long_edges()
        self._order()
        self._place()

    def _rank(self):
        """Layer 0 is at the bottom: what no edge leaves."""
        below = [[] for _ in range(self.real)]
        waiting = [0] * self.real
        above = [[] for _ in range(self.real)]
        for tail, head, _ in self.edges:
            below[tail].append(head)
            above[head].append(tail)
            waiting[tail] += 1
        self.rank = [0] * self.real
        ready = [v for v in range(self.real) if not waiting[v]]
        for v in ready:                             # grows; what a circle holds stays in layer 0
            for u in above[v]:
                self.rank[u] = max(self.rank[u], self.rank[v] + 1)
                waiting[u] -= 1
                if not waiting[u]:
                    ready.append(u)
        for v in reversed(ready):                   # what nothing enters moves up to what reads it
            if above[v] and not below[v]:
                self.rank[v] = min(self.rank[u] for u in above[v]) - 1

    def _cut_long_edges(self):
        self.paths = []
        self.neighbours = [([], []) for _ in range(self.real)]       # above, below
        for tail, head, _ in self.edges:
            path = [tail]
            for rank in range(self.rank[tail] - 1, self.rank[head], -1):
                self.rank.append(rank)
                self.size.append((_LANE, 0.0))
                self.neighbours.append(([], []))
                path.append(len(self.rank) - 1)
            path.append(head)
            for upper, lower in zip(path, path[1:]):
                self.neighbours[upper][1].append(lower)
                self.neighbours[lower][0].append(upper)
            self.paths.append(path)
        self.layers = [[] for _ in range(max(self.rank, default=-1) + 1)]
        for v, rank in enumerate(self.rank):
            self.layers[rank].append(v)

    def _order(self):
        self.x = [0.0] * len(self.rank)
        for layer in self.layers:
            for i, v in enumerate(layer):
                self.x[v] = i
        for sweep in range(8):
            side = sweep % 2                        # 0: layers take the order of what is above them
            for layer in self.layers[::-1] if side == 0 else self.layers:
                layer.sort(key=lambda v: self._mean(v, side))
                for i, v in enumerate(layer):
                    self.x[v] = i

    def _mean(self, v, side):
        near = self.neighbours[v][side]
        return sum(self.x[u] for u in near) / len(near) if near else self.x[v]

    def _place(self):
        for layer in self.layers:
            at = 0.0
            for v in layer:
                self.x[v] = at
                at += self.size[v][0] + _GAP_X
        for sweep in range(12):
            side = sweep % 2
            for layer in self.layers[::-1] if side == 0 else self.layers:
                distances = [(self.size[v][0] + self.size[u][0]) / 2 + (_GAP_X if v < self.real and u < self.real else _LANE)
                             for v, u in zip(layer, layer[1:])]
                weights = [1.0 if v < self.real else 4.0 for v in layer]
                for v, x in zip(layer, _spread([self._mean(v, side) for v in layer], distances, weights)):
                    self.x[v] = x
        left = min((self.x[v] - self.size[v][0] / 2 for v in range(len(self.rank))), default=0)
        self.x = [x - left + 8 for x in self.x]
        heights = [max((self.size[v][1] for v in layer), default=0) for layer in self.layers]
        self.height = sum(heights) + _GAP_Y * max(len(heights) - 1, 0) + 16
        self.width = max((self.x[v] + self.size[v][0] / 2 for v in range(len(self.rank))), default=0) + 8
        at, self.y = self.height - 8, [0.0] * len(self.rank)
        for layer, height in zip(self.layers, heights):
            for v in layer:
                self.y[v] = at - height / 2
            at -= height + _GAP_Y

    def svg(self, title):
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:.0f}pt" height="{self.height:.0f}pt" '
                 f'viewBox="0 0 {self.width:.1f} {self.height:.1f}" font-family="Times,serif" font-size="14" text-anchor="middle">',
                 f"<title>{escape(str(title or ''))}</title>",
                 '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" orient="auto">'
                 '<path d="M0,1 L9,5 L0,9" fill="none" stroke="black"/></marker></defs>']
        parts += [self._edge_svg(path, label) for path, (_, _, label) in zip(self.paths, self.edges)]
        parts += [self._node_svg(v) for v in range(self.real)]
        return "\n".join(parts + ["</svg>\n"])

    def _edge_svg(self, path, label):
        """From the lower node, where data comes from, up to the one that reads it."""
        points = [(self.x[v], self.y[v]) for v in reversed(path)]
        points[0] = points[0][0], points[0][1] - self.size[path[-1]][1] / 2
        points[-1] = points[-1][0], points[-1][1] + self.size[path[0]][1] / 2
        d = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
        for (x, y), (to_x, to_y) in zip(points, points[1:]):
            middle = (y + to_y) / 2
            d += f" C{x:.1f},{middle:.1f} {to_x:.1f},{middle:.1f} {to_x:.1f},{to_y:.1f}"
        text = ""
        if label:
            (x, y), (to_x, to_y) = points[:2]
            text = f'<text x="{(x + to_x) / 2 + 4:.1f}" y="{(y + to_y) / 2 + 4:.1f}" text-anchor="start">{escape(str(label))}</text>'
        return f'<path d="{d}" fill="none" stroke="black" marker-end="url(#tip)"/>{text}'

    def _node_svg(self, v):
        label, look = self.looks[v]
        (width, height), x, y = self.size[v], self.x[v], self.y[v]
        fill = look.get("fillcolor", "lightgrey") if "filled" in str(look.get("style", "")) else "none"
        style = f'fill="{escape(str(fill))}" stroke="{escape(str(look.get("color", "black")))}"'
        if look.get("shape") in (None, "oval", "ellipse", "circle"):
            shape = f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{width / 2:.1f}" ry="{height / 2:.1f}" {style}/>'
        else:
            shape = f'<rect x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" height="{height:.1f}" {style}/>'
        lines = str(label).split("\n")
        size = max(4.0, min([14.0] + [(width - 6) / (0.5 * len(line)) for line in lines if line] + [(height - 4) / (1.2 * len(lines))]))
        start = y - (len(lines) - 1) * size * 0.6 + size * 0.35
        texts = "".join(f'<text x="{x:.1f}" y="{start + i * size * 1.2:.1f}" font-size="{size:.1f}">{escape(line)}</text>'
                        for i, line in enumerate(lines))
        return f"<g><title>{escape(str(self.names[v]))}</title>{shape}{texts}</g>"
