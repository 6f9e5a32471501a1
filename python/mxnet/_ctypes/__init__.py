"""The binding in plain ctypes: slower than mxnet._cy3, with the same classes and functions."""
