"""Networks of the benchmarks that the model zoo lacks; they build with this library and with mxnet
1.9.1."""
