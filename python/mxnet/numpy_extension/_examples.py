"""Examples for docstrings of functions of mx.npx whose operators have none elsewhere."""

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "constraint_check": """
>>> mx.npx.constraint_check(mx.np.array([True, True], dtype="bool"), "all must hold")
array(True)
""",
    "index_add": """
>>> x = mx.np.zeros(4)
>>> places = mx.np.array([[1, 3, 1]], dtype="int64")
>>> mx.npx.index_add(x, places, mx.np.array([1, 2, 3]))
array([0., 4., 0., 2.])
""",
    "index_update": """
>>> x = mx.np.zeros(4)
>>> places = mx.np.array([[1, 3]], dtype="int64")
>>> mx.npx.index_update(x, places, mx.np.array([1, 2]))
array([0., 1., 0., 2.])
""",
    "nonzero": """
>>> mx.npx.nonzero(mx.np.array([[0, 1], [2, 0]])).tolist()
[[0, 1], [1, 0]]
""",
    "quantized_reshape": """
>>> x, low, high = mx.np.array([[1, 2], [3, 4]], dtype="int8"), mx.np.array([-1]), mx.np.array([1])
>>> y, least, greatest = mx.npx.quantized_reshape(x, low, high, newshape=(-1,))
>>> y
array([1, 2, 3, 4], dtype=int8)
""",
    "quantized_transpose": """
>>> x, low, high = mx.np.array([[1, 2], [3, 4]], dtype="int8"), mx.np.array([-1]), mx.np.array([1])
>>> y, least, greatest = mx.npx.quantized_transpose(x, low, high)
>>> y
array([[1, 3],
       [2, 4]], dtype=int8)
""",
    "relu": """
>>> mx.npx.relu(mx.np.array([-1, 0, 2]))
array([0., 0., 2.])
""",
    "reshape": """
>>> mx.npx.reshape(mx.np.ones((2, 3, 4)), (-2, -5)).shape
(2, 12)
""",
    "sigmoid": """
>>> mx.npx.sigmoid(mx.np.array([0]))
array([0.5])
""",
}
