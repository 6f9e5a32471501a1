"""Random ONNX graphs, which onnxruntime judges.

    PYTHONPATH=python:tests/python/onnx python -m random_graphs FIRST [COUNT]

prints the smallest graphs that fail among those numbers."""
