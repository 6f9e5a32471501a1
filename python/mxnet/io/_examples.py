"""Examples of native iterators, which their docstrings end with; tests run them as doctests."""

__all__ = ["EXAMPLES"]

_RECORDS = """
>>> import numpy
>>> records = mx.recordio.MXIndexedRecordIO('a.idx', 'a.rec', 'w')
>>> for n in range(4):
...     header = mx.recordio.IRHeader(0, {label}, n, 0)
...     picture = numpy.full((40, 40, 3), 50 * n, dtype='uint8')
...     records.write_idx(n, mx.recordio.pack_img(header, picture))
>>> records.close()
>>> batches = mx.io.{name}(path_imgrec='a.rec', data_shape=(3, 32, 32), batch_size=2)
>>> batch = batches.next()
>>> batch.data[0].shape, batch.data[0].dtype.__name__, batch.label[0].{reading}
((2, 3, 32, 32), '{dtype}', {result})
"""
_DATASETS = """
>>> import numpy
>>> data = mx.gluon.data.ArrayDataset(numpy.arange(6).reshape(3, 2), numpy.arange(3))
>>> loader = mx.gluon.data.DataLoader(data, batch_size=2, try_nopython=True)
>>> [batch[0].shape for batch in loader]
[(2, 2), (1, 2)]
"""

EXAMPLES = {
    "CSVIter": """
>>> with open('a.csv', 'w') as file:
...     _ = file.write('1,2\\n3,4\\n5,6\\n')
>>> batches = mx.io.CSVIter(data_csv='a.csv', data_shape=(2,), batch_size=2)
>>> for batch in batches:
...     print(batch.data[0].asnumpy().tolist(), batch.pad)
[[1.0, 2.0], [3.0, 4.0]] 0
[[5.0, 6.0], [1.0, 2.0]] 1
""",
    "LibSVMIter": """
>>> with open('a.libsvm', 'w') as file:
...     _ = file.write('1 0:0.5 2:1.5\\n0 1:2\\n')
>>> batches = mx.io.LibSVMIter(data_libsvm='a.libsvm', data_shape=(3,), batch_size=2)
>>> batch = batches.next()
>>> batch.data[0].asnumpy().tolist(), batch.label[0].asnumpy().tolist()
([[0.5, 0.0, 1.5], [0.0, 2.0, 0.0]], [1.0, 0.0])
""",
    "MNISTIter": """
>>> import struct
>>> with open('images', 'wb') as file:
...     _ = file.write(struct.pack('>iiii', 2051, 2, 28, 28) + bytes(range(196)) * 8)
>>> with open('labels', 'wb') as file:
...     _ = file.write(struct.pack('>ii', 2049, 2) + bytes([7, 3]))
>>> batches = mx.io.MNISTIter(image='images', label='labels', batch_size=2, shuffle=False)
>>> batch = batches.next()
>>> batch.data[0].shape, batch.label[0].asnumpy()
((2, 1, 28, 28), array([7., 3.], dtype=float32))
""",
    **{name: _RECORDS.format(name=name, label="float(n % 2)", reading="asnumpy()", dtype=dtype,
                             result="array([0., 1.], dtype=float32)")
       for name, dtype in (("ImageRecordIter", "float32"), ("ImageRecordIter_v1", "float32"),
                           ("ImageRecordUInt8Iter", "uint8"), ("ImageRecordUInt8Iter_v1", "uint8"),
                           ("ImageRecordInt8Iter", "int8"))},
    "ImageDetRecordIter": _RECORDS.format(name="ImageDetRecordIter", label="[2, 5, n, .1, .1, .5, .5]",
                                          reading="shape", dtype="float32", result="(2, 11)"),
    **dict.fromkeys(("RandomSampler", "SequentialSampler", "ThreadedDataLoader"), _DATASETS),
}
