"""Records batches of MXNet 1.9.1's native iterators, of small files that are written here.

    python record_batches.py FILE     under MXNet 1.9.1
"""
import json
import os
import struct
import sys
import tempfile

import mxnet as mx

CSV = {'data_csv': 'd.csv', 'data_shape': (4,)}
SVM = {'data_libsvm': 'a.svm', 'data_shape': (4,)}
MNIST = {'image': 'images', 'label': 'labels', 'silent': True}
CASES = [('CSVIter', {**CSV, 'batch_size': 3}), ('CSVIter', {**CSV, 'batch_size': 3, 'round_batch': False}),
         ('CSVIter', {**CSV, 'batch_size': 4, 'label_csv': 'l.csv', 'data_shape': (2, 2)}),
         ('CSVIter', {**CSV, 'batch_size': 2, 'label_csv': 'd.csv', 'label_shape': (2, 2), 'dtype': 'int32'}),
         ('CSVIter', {**CSV, 'batch_size': 2, 'label_csv': 'l.csv', 'dtype': 'int64', 'round_batch': 0}),
         ('CSVIter', {**CSV, 'batch_size': 7, 'data_shape': 4, 'data_name': 'x', 'label_name': 'y'}),
         ('CSVIter', {**CSV, 'batch_size': 5, 'data_csv': 'd.csv;d.csv'}),
         ('LibSVMIter', {**SVM, 'batch_size': 2}), ('LibSVMIter', {**SVM, 'batch_size': 3, 'label_libsvm': 'b.svm', 'label_shape': (3,)}),
         *(('LibSVMIter', {**SVM, 'batch_size': 1, 'num_parts': 3, 'part_index': i, 'data_libsvm': 'big.svm'}) for i in range(3)),
         *(('LibSVMIter', {**SVM, 'batch_size': 1, 'num_parts': 7, 'part_index': i, 'data_libsvm': 'big.svm'}) for i in range(7)),
         *(('MNISTIter', {**MNIST, 'batch_size': 10, 'seed': seed}) for seed in (0, 1, -1, 12345)),
         ('MNISTIter', {**MNIST, 'batch_size': 4, 'shuffle': False, 'flat': True}),
         *(('MNISTIter', {**MNIST, 'batch_size': 3, 'num_parts': 4, 'part_index': i, 'flat': True}) for i in range(4))]


def write_files():
    """The files, in the current folder."""
    def write(name, text):
        with open(name, 'w') as out:
            out.write(text)
    write('d.csv', ''.join(','.join(str(4 * i + j) for j in range(4)) + '\n' for i in range(7)))
    write('l.csv', ''.join(f'{i}\n' for i in range(7)))
    write('a.svm', '1 0:1 2:3.5\n0 1:2\n2\n3 0:-1 1:.5 2:1e2 3:7\n1 3:4\n')
    write('b.svm', '0 0:1 1:5\n0 1:2\n0 0:7\n0 0:3 1:4\n0\n')
    write('big.svm', ''.join(f'{i} {i % 4}:{i + 1}\n' for i in range(23)))
    with open('images', 'wb') as out:
        out.write(struct.pack('>4I', 0x803, 25, 2, 3) + bytes((i * 7) % 256 for i in range(150)))
    with open('labels', 'wb') as out:
        out.write(struct.pack('>2I', 0x801, 25) + bytes(i % 10 for i in range(25)))


def values(array):
    return array.tostype('default').asnumpy().tolist()


def batches(name, arguments):
    """Descriptions, and two epochs of the iterator. It is read to the end: what a pass of 1.9.1's
    leaves unread changes the next one."""
    iterator = getattr(mx.io, name)(**arguments)
    described = [[d.name, list(d.shape), str(d.dtype.__name__)] for d in iterator.provide_data + iterator.provide_label]
    epochs = []
    for _ in range(2):
        epochs.append([[values(b.data[0]), values(b.label[0]), b.pad] + ([b.index.tolist()] if name != 'MNISTIter' else [])
                       for b in iterator])
        iterator.reset()
    return [name, {k: list(v) if isinstance(v, tuple) else v for k, v in arguments.items()}, described, epochs]


def recorded():
    write_files()
    return [batches(name, arguments) for name, arguments in CASES]


if __name__ == '__main__':
    path = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        found = recorded()
        os.chdir('/')
    with open(path, 'w') as out:
        out.write('[\n' + ',\n'.join(json.dumps(case) for case in found) + '\n]\n')
        out.flush()
    os._exit(0)     # without the threads of 1.9.1's iterators, which crash
