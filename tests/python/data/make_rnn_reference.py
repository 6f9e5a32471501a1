"""Records into rnn.npz, rnn_layer.params and rnn_net-* what mxnet 1.9.1 computes for the cases of
rnn_cases.py and rnn_symbol_cases.py, and files that it writes.

Run with the Python that has the old wheel: PYTHON tests/python/data/make_rnn_reference.py, PYTHON
an interpreter with mxnet==1.9.1
"""
import json
import os
import pathlib

os.environ['MXNET_STORAGE_FALLBACK_LOG_VERBOSE'] = '0'

import mxnet as mx  # noqa: E402
import numpy as np  # noqa: E402

import rnn_cases  # noqa: E402
import rnn_symbol_cases  # noqa: E402

here = pathlib.Path(__file__).resolve().parent
stored, names = {}, {}
for number, case in enumerate(rnn_cases.CASES):
    block, found = rnn_cases.run(mx, number)
    stored[str(number)] = np.concatenate([array.asnumpy().ravel() for array in found.values()])
    arrays = {key: array.shape for key, array in found.items()}
    names[case[0]] = {'arrays': arrays, 'repr': repr(block),
                      'collected': list(block.collect_params()),
                      'paths': list(block._collect_params_with_prefix())}
    if case[0] == 'lstm2bi':
        block.save_parameters(str(here / 'rnn_layer.params'))
    if case[0] == 'net':
        block.hybridize()
        block(mx.nd.zeros(case[2]))
        block.export(str(here / 'rnn_net'))
for name in rnn_symbol_cases.CASES:
    cell, outputs, by_gate = rnn_symbol_cases.run(mx, name)
    stored[name] = np.concatenate([o.asnumpy().ravel() for o in outputs])
    # one number per part: which elements it has
    names['symbol_' + name] = {'shapes': [o.shape for o in outputs], 'arguments': rnn_symbol_cases.graph(mx, name)[1].list_arguments(),
                               'by_gate': {k: [list(v.shape), float(v.sum().asscalar())] for k, v in by_gate.items()}}
stored['names'] = np.frombuffer(json.dumps(names).encode(), 'uint8')
np.savez_compressed(here / 'rnn.npz', **stored)
print(len(rnn_cases.CASES), 'cases')
