"""Docstrings of the functions that NumPy computes for mx.np: what they give, and an example."""

__all__ = ["text_of"]

# Function: a sentence or two, the call of its example, and what that shows.
_TEXTS = {
    "apply_along_axis": (
        "A function of vectors, `func1d`, on every vector along a dimension; its results take the "
        "place of that dimension.",
        "apply_along_axis(lambda v: v.max() - v.min(), 1, mx.np.array([[1, 4], [7, 2]]))",
        "array([3., 5.])",
    ),
    "apply_over_axes": (
        "A function of an array and a dimension, `func`, for one dimension after the other; those "
        "that it removes stay with size 1.",
        "apply_over_axes(numpy.sum, mx.np.ones((2, 3)), [0, 1])",
        "array([[6.]])",
    ),
    "argpartition": (
        "Indices that put the element of place `kth` where it would stand in order, with none "
        "larger before it and none smaller behind it.",
        "argpartition(mx.np.array([3, 1, 2]), 0)[0].item()",
        "1",
    ),
    "bitwise_count": (
        "How many bits of the magnitude of each integer are 1.",
        "bitwise_count(mx.np.array([0, 5, 7], dtype='int32')).tolist()",
        "[0, 2, 3]",
    ),
    "frexp": (
        "Each number as a fraction of magnitude 0.5 to 1 and a power of 2, an int32.",
        "frexp(mx.np.array([1.5, 8]))",
        "(array([0.75, 0.5 ]), array([1, 4], dtype=int32))",
    ),
    "histogram2d": (
        "How many points fall into each cell of a grid, and the edges of the grid in both "
        "dimensions.",
        "histogram2d(mx.np.array([0, 1]), mx.np.array([0, 1]), bins=2)[0].tolist()",
        "[[1.0, 0.0], [0.0, 1.0]]",
    ),
    "histogram_bin_edges": (
        "The edges of the bins that `histogram` would use.",
        "histogram_bin_edges(mx.np.array([0, 4]), bins=2).tolist()",
        "[0.0, 2.0, 4.0]",
    ),
    "histogramdd": (
        "How many points, the rows of a matrix, fall into each cell of a grid, and the edges of "
        "the grid in each dimension.",
        "histogramdd(mx.np.array([[0, 0], [1, 1]]), bins=2)[0].tolist()",
        "[[1.0, 0.0], [0.0, 1.0]]",
    ),
    "i0": (
        "The modified Bessel function of the first kind and order 0.",
        "i0(mx.np.array([0.0])).round(4)",
        "array([1.])",
    ),
    "intersect1d": (
        "The different elements that two arrays share, in order; with `return_indices` where they "
        "first stand in each, too.",
        "intersect1d(mx.np.array([3, 1, 2]), mx.np.array([2, 3, 4]))",
        "array([2., 3.])",
    ),
    "ix_": (
        "Vectors as keys that choose rows, columns and so on: one array for each, along its own "
        "dimension.",
        "ix_(mx.np.array([0, 1], dtype='int64'), [2])[0].shape",
        "(2, 1)",
    ),
    "lexsort": (
        "Indices that order by several keys, of which the last counts most.",
        "lexsort((mx.np.array([2, 1]), mx.np.array([5, 5]))).tolist()",
        "[1, 0]",
    ),
    "logaddexp2": (
        "The logarithm to base 2 of the sum of powers of 2, also where these are too large.",
        "logaddexp2(mx.np.array([1.0]), mx.np.array([1.0]))",
        "array([2.])",
    ),
    "min_scalar_type": (
        "The smallest dtype that holds a number; an array's own dtype. It reads no elements.",
        "min_scalar_type(300).name",
        "'uint16'",
    ),
    "nextafter": (
        "The next number of the dtype after `x1` on the way to `x2`.",
        "nextafter(mx.np.array([1.0]), mx.np.array([2.0])) - 1",
        "array([1.1920929e-07])",
    ),
    "packbits": (
        "Bits, elements that are 0 or not, eight at a time in a uint8.",
        "packbits(mx.np.array([1, 0, 0, 0, 0, 0, 1, 1], dtype='uint8')).tolist()",
        "[131]",
    ),
    "partition": (
        "The elements with that of place `kth` where it would stand in order, none larger before "
        "it and none smaller behind it.",
        "partition(mx.np.array([3, 1, 2]), 0)[0].item()",
        "1.0",
    ),
    "piecewise": (
        "Element by element the function, or the number, that belongs to the first condition that "
        "holds last; a further one is for the rest.",
        "piecewise(mx.np.array([-1, 2]), [numpy.array([True, False])], [0, lambda v: v * 10])",
        "array([ 0., 20.])",
    ),
    "poly": (
        "The coefficients, highest power first, of the polynomial with these roots.",
        "poly(mx.np.array([1, 2])).tolist()",
        "[1.0, -3.0, 2.0]",
    ),
    "polyadd": (
        "The sum of two polynomials, vectors of coefficients with the highest power first.",
        "polyadd(mx.np.array([1, 2]), mx.np.array([3, 0, 1]))",
        "array([3., 1., 3.])",
    ),
    "polyder": (
        "The derivative of a polynomial, coefficients with the highest power first.",
        "polyder(mx.np.array([1, 2, 3])).tolist()",
        "[2.0, 2.0]",
    ),
    "polydiv": (
        "Quotient and remainder of two polynomials, coefficients with the highest power first.",
        "polydiv(mx.np.array([1, 3, 2]), mx.np.array([1, 1]))[0].tolist()",
        "[1.0, 2.0]",
    ),
    "polyfit": (
        "The polynomial of degree `deg` with the smallest sum of squares to points, coefficients "
        "with the highest power first.",
        "polyfit(mx.np.array([0, 1, 2]), mx.np.array([1, 3, 5]), 1).round(4).tolist()",
        "[2.0, 1.0]",
    ),
    "polyint": (
        "An integral of a polynomial, coefficients with the highest power first; `k` are the "
        "constants.",
        "polyint(mx.np.array([2, 2])).tolist()",
        "[1.0, 2.0, 0.0]",
    ),
    "polymul": (
        "The product of two polynomials, coefficients with the highest power first.",
        "polymul(mx.np.array([1, 1]), mx.np.array([1, 2]))",
        "array([1., 3., 2.])",
    ),
    "polysub": (
        "The difference of two polynomials, coefficients with the highest power first.",
        "polysub(mx.np.array([1, 2]), mx.np.array([1, 1]))",
        "array([0., 1.])",
    ),
    "promote_types": (
        "The dtype that NumPy makes of two, which is wider than mx.np's (:func:`result_type`) for "
        "an integer and a float.",
        "promote_types('int8', 'uint8').name",
        "'int16'",
    ),
    "roots": (
        "The roots of a polynomial, coefficients with the highest power first; complex ones are a "
        "complex array of NumPy.",
        "roots(mx.np.array([1, -3, 2])).tolist()",
        "[2.0, 1.0]",
    ),
    "setdiff1d": (
        "The different elements of one array that another lacks, in order.",
        "setdiff1d(mx.np.array([3, 1, 2]), mx.np.array([2]))",
        "array([1., 3.])",
    ),
    "setxor1d": (
        "The different elements that exactly one of two arrays has, in order.",
        "setxor1d(mx.np.array([1, 2]), mx.np.array([2, 3]))",
        "array([1., 3.])",
    ),
    "spacing": (
        "The distance of each number to the next one of the dtype that is farther from 0.",
        "spacing(mx.np.array([1.0]))",
        "array([1.1920929e-07])",
    ),
    "union1d": (
        "The different elements of two arrays, in order.",
        "union1d(mx.np.array([3, 1]), mx.np.array([2, 3]))",
        "array([1., 2., 3.])",
    ),
    "unpackbits": (
        "The bits of each uint8 as eight elements, 0 or 1.",
        "unpackbits(mx.np.array([131], dtype='uint8')).tolist()",
        "[1, 0, 0, 0, 0, 0, 1, 1]",
    ),
    "unwrap": (
        "Angles with whole turns added, so that neighbours differ by half a turn at most.",
        "unwrap(mx.np.array([0.0, 6.0])).round(2)",
        "array([ 0.  , -0.28])",
    ),
}
_TEXT = """{summary}
{how}
Examples
--------
>>> mx.np.{call}
{result}
"""
_HOW = """
Arguments are those of NumPy's function; results are arrays of mx.np. NumPy computes it on the host,
which is warned of once. While autograd records, or a block is traced, it is a ValueError.
"""


def text_of(name, silent=False):
    """The docstring of a function that NumPy computes; `silent` ones read no elements."""
    known = _TEXTS.get(name)
    if known is None:  # of a NumPy that has more
        return f"NumPy's {name}.\n{_HOW}"
    how = "" if silent else _HOW
    return _TEXT.format(summary=known[0], how=how, call=known[1], result=known[2])
