"""The compiled binding. Modules of this package are built from python/src; MXNET_ENABLE_CYTHON=0
does without them."""
