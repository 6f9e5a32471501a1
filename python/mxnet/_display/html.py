"""What notebooks show of arrays, symbols, blocks and tables (their ``_repr_html_``)."""
import re
import struct
import zlib
from html import escape

__all__ = ["TableText", "array_html", "block_html", "explanation_html", "png", "symbol_html"]

_FEW = 1000           # elements up to which an array is copied whole
_EDGE = 4             # rows and columns shown at each end of a longer array
_CELLS = 10           # rows and columns of a table
_PIXELS = 512         # width and height up to which a picture is shown as it is
_SMALLEST = 8         # width and height from which an array of bytes is taken for a picture
_DRAWN = 60           # operators up to which a symbol is drawn at once, and the other number where
_DRAWN_FOLDED = 600   # the drawing is folded away
_DEAREST = 12         # operators of a plan
_ROWS = 300           # rows of a block's table


def png(pixels):
    """The bytes of a PNG file (W3C recommendation, 2003) of uint8 (height, width, 1, 3 or 4)."""
    height, width, channels = pixels.shape

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b"")


def _is_picture(array):
    return array.ndim == 3 and array.shape[2] in (1, 3, 4) and min(array.shape[:2]) >= _SMALLEST and _dtype(array) == "uint8"


def _dtype(array):
    import numpy as np
    return np.dtype(array.dtype).name if not isinstance(array.dtype, str) else array.dtype


def _picture(array):
    import base64
    height, width = array.shape[:2]
    step = max(-(-height // _PIXELS), -(-width // _PIXELS), 1)
    pixels = (array[::step, ::step] if step > 1 else array).asnumpy()
    scale = max(1, 128 // max(pixels.shape[:2]))
    data = base64.b64encode(png(pixels)).decode()
    note = f", every {step}th pixel" if step > 1 else ""
    return (f'<img src="data:image/png;base64,{data}" width="{pixels.shape[1] * scale}" height="{pixels.shape[0] * scale}" '
            f'style="image-rendering:pixelated"/>'), note


def _ends(array):
    """The values without what lies in the middle of long axes, and the axes that were cut."""
    cut = []
    if array.size > _FEW:
        array = array.detach()
        for axis, length in enumerate(array.shape):
            if length > 2 * _EDGE + 1:
                # one element more than is shown stands where the dots will be
                places = [*range(_EDGE + 1), *range(length - _EDGE, length)]
                array = array[(slice(None),) * axis + (places,)]
                cut.append(axis)
    return array.asnumpy(), cut


def _text(values, cut):
    import numpy as np
    return np.array2string(values, threshold=0 if cut else values.size + 1, edgeitems=_EDGE, separator=" ",
                           max_line_width=10**6 if values.ndim > 1 else None)


def _table(values, header=None):
    style = 'style="text-align:right;padding:1px 6px"'
    head = "<tr>" + "".join(f"<th {style}>{escape(str(cell))}</th>" for cell in header) + "</tr>" if header else ""
    rows = "".join("<tr>" + "".join(f"<td {style}>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in values)
    return f"<table>{head}{rows}</table>"


def _grid(values, cut):
    """Rows of cells of a matrix: of a longer axis those at its ends, with dots between."""
    def places(axis):
        length = values.shape[axis]
        if axis in cut:     # which has one element more, where the dots are
            return [*range(_EDGE), None, *range(length - _EDGE, length)]
        return range(length) if length <= _CELLS else [*range(_EDGE), None, *range(length - _EDGE, length)]

    return [["…" if row is None or column is None else _cell(values[row, column]) for column in places(1)] for row in places(0)]


def array_html(array):
    """An NDArray: a picture if it is one of bytes (height, width, channels), else its values, those
    at the ends if there are many."""
    if array.ndim < 0:
        return f"<code>{escape(repr(array))}</code>"
    about = f"{type(array).__name__} {'x'.join(map(str, array.shape))}, {_dtype(array)}, {array.context}"
    if _is_picture(array):
        shown, note = _picture(array)
        about += note
    else:
        values, cut = _ends(array)
        if values.ndim == 2 and values.size:
            shown = _table(_grid(values, cut))
        else:
            shown = f'<pre style="white-space:pre;overflow-x:auto">{escape(_text(values, cut))}</pre>'
    return f"<div>{shown}<small>{escape(about)}</small></div>"


def _cell(value):
    return f"{float(value):.5g}" if value.dtype.kind not in "iub" else str(value)


def symbol_html(symbol):
    """A symbol: its drawing, folded away if it is large."""
    about = escape(repr(symbol))
    count = sum(not node.is_variable for node in symbol._without_amp_cast().nodes())
    if count > _DRAWN_FOLDED:
        names = [escape(name) for name in symbol.list_outputs()[:20]]
        return f"<div><code>{about}</code> {count} operators, {len(symbol.list_arguments())} arguments; outputs: {', '.join(names)}</div>"
    from .drawing import Drawing
    from .plot import draw
    picture = draw(Drawing, symbol)._repr_svg_()
    opened = ' open="open"' if count <= _DRAWN else ""
    return f"<details{opened}><summary><code>{about}</code> {count} operators</summary>{picture}</details>"


def _count(block):
    """Numbers in the parameters of a block itself; None while a shape is not known."""
    import math
    shapes = [p.shape for p in block._reg_params.values()]
    if any(shape is None or any(d <= 0 for d in shape) for shape in shapes):
        return None
    return sum(math.prod(shape) for shape in shapes)


def _block_rows(block, name, depth):
    kind = repr(block).split("\n")[0].strip().rstrip("(") if block._children else repr(block).replace("\n", " ")
    count = _count(block)
    yield ("\u2003" * depth + name, kind, "" if not block._reg_params else "?" if count is None else f"{count:,}"), count, block._reg_params
    for key, child in block._children.items():
        yield from _block_rows(child, str(key), depth + 1)


def block_html(block):
    """A block: a table of it and the blocks in it with the numbers of their parameters."""
    rows = list(_block_rows(block, block.name or "block", 0))
    seen, total, open_shapes = set(), 0, False
    for _, count, parameters in rows:
        if parameters and not all(id(p) in seen for p in parameters.values()):
            seen.update(id(p) for p in parameters.values())
            total, open_shapes = total + (count or 0), open_shapes or count is None
    # What a block prints may be long: it is broken, so that the numbers beside it are seen.
    styles = [f'style="text-align:{side};padding:1px 6px;white-space:{space}"'
              for side, space in (("left", "pre"), ("left", "normal"), ("right", "pre"))]
    body = "".join("<tr>" + "".join(f"<td {style}>{escape(cell)}</td>" for style, cell in zip(styles, row)) + "</tr>"
                   for row, _, _ in rows[:_ROWS])
    more = f"<tr><td {styles[0]}>... {len(rows) - _ROWS} more</td></tr>" if len(rows) > _ROWS else ""
    head = "".join(f"<th {style}>{title}</th>" for style, title in zip(styles, ("Name", "Block", "Parameters")))
    note = ", without those whose shapes are not known yet" if open_shapes else ""
    return f"<div><table><tr>{head}</tr>{body}{more}</table><small>{total:,} parameters{note}</small></div>"


def explanation_html(explanation):
    """A compiled plan: its figures, the time by operator, and the whole page folded away."""
    from .explain_words import duration
    rows = explanation.time_by_operator()
    whole = sum(time for _, _, time in rows)
    shown = [(op, count, duration(time), f"{100 * time / whole:.1f} %") if whole else (op, count) for op, count, time in rows[:_DEAREST]]
    table = _table(shown, ("Operator", "Nodes", "Time", "Share") if whole else ("Operator", "Nodes"))
    more = f"<div>... {len(rows) - _DEAREST} more operators</div>" if len(rows) > _DEAREST else ""
    about = "<br/>".join(escape(line) for line in str(explanation).split("\n")[:2])
    page = (f'<details><summary>The whole plan</summary><iframe srcdoc="{escape(explanation.html())}" '
            'style="width:100%;height:640px;border:0"></iframe></details>')
    return f"<div><div>{about}</div>{table}{more}{page}</div>"


class TableText(str):
    """Text with tables, as the profiler writes it, which notebooks show as tables."""

    __slots__ = ()

    def _repr_html_(self):
        parts, lines, at = [], self.split("\n"), 0
        while at < len(lines):
            if at + 3 < len(lines) and lines[at + 1].strip("=") == "" and lines[at + 1] and not lines[at + 3].strip("- "):
                end = at + 4
                while end < len(lines) and lines[end].strip():
                    end += 1
                # A heading may have two spaces in it; dashes say where it begins and ends.
                header = [" ".join(lines[at + 2][found.start():found.end()].split()) for found in re.finditer("-+", lines[at + 3])]
                cells = [re.split(r"\s{2,}", line.strip()) for line in lines[at + 4:end]]
                parts.append(f"<b>{escape(lines[at])}</b>" + _table(cells, header))
                at = end
            else:
                if lines[at].strip():
                    parts.append(f"<div>{escape(lines[at])}</div>")
                at += 1
        return "<div>" + "".join(parts) + "</div>"
