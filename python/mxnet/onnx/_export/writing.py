"""What writes ONNX nodes: common nodes in short forms."""
from ... import _dtypes
from .package import tensor_type

__all__ = ["Writer"]


class Writer:
    """Nodes that are often written. Whoever inherits has ``op``, ``ints`` and ``opset``."""

    def cast(self, name, dtype):
        """`name` in the dtype `dtype`."""
        return self.op("Cast", name, to=int(tensor_type(dtype)))

    def cast_from(self, name, have, want):
        """`name`, which has the dtype `have`, in the dtype `want`."""
        return name if _dtypes.number(have) == _dtypes.number(want) else self.cast(name, want)

    def unsqueeze(self, name, *axes):
        """`name` with axes of size 1."""
        return self.op("Unsqueeze", name, self.ints(*axes))

    def squeeze(self, name, *axes):
        """`name` without axes of size 1."""
        return self.op("Squeeze", name, self.ints(*axes))

    def transpose(self, name, axes):
        """`name` with its axes in another order."""
        axes = list(axes)
        return name if axes == sorted(axes) else self.op("Transpose", name, perm=axes)

    def slice(self, name, axis, begin, end, step=1):
        """Part of `name` along one axis; `begin` and `end` are numbers."""
        return self.op("Slice", name, self.ints(begin), self.ints(end), self.ints(axis),
                       self.ints(step))

    def reduce(self, kind, name, axes, keepdims=True):
        """A reduction such as "Mean"; from opset 18 on axes are an input."""
        axes = list(axes)
        if not axes:   # to ONNX that says all axes
            return self.op("Abs" if kind in ("L1", "L2") else "Identity", name)
        keep = int(bool(keepdims))
        if kind == "Sum" or self.opset >= 18:
            return self.op("Reduce" + kind, name, self.ints(*axes), keepdims=keep)
        return self.op("Reduce" + kind, name, axes=axes, keepdims=keep)
