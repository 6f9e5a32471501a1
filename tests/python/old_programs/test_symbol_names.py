"""Names of arguments, outputs, states, inner results and attributes of every operator's node, as
MXNet 1.9.1 gives them (recorded by symbol_names.py)."""
import json

import pytest

import symbol_names as cases

with open(cases.FILE) as _file:
    RECORDED = json.load(_file)


def _operators(namespace):
    return [row for row in RECORDED['operators'] if row[0][0] == namespace]


@pytest.mark.parametrize('namespace', ['', '_internal', 'contrib', 'linalg', 'image', 'sparse'])
def test_nodes_of_operators(namespace):
    # 1.9.1 calls all arrays of one weight weight_0, so none of them could be bound by its name. The
    # array of the others is called src, buf or mean in signatures, but data in graphs.
    apart = {f'_multi_{precision}{rule}_update' for precision in ('', 'mp_') for rule in ('adamw', 'lamb')}
    apart |= {'_cvcopyMakeBorder', '_cvimdecode', '_cvimresize', '_imdecode'}
    wrong, compared = [], 0
    for case, results in _operators(namespace):
        for mode, recorded in enumerate(results):
            if recorded is None:
                continue
            try:
                symbol = cases.build(case, mode)
            except AttributeError:
                continue   # this operator is still to come
            compared += 1
            given = cases.describe(symbol)
            if given != recorded and case[1] not in apart:
                wrong.append((case[1], mode, [(a, b) for a, b in zip(given, recorded) if a != b]))
    assert not wrong, wrong[:5]
    assert compared >= {'': 600, '_internal': 250, 'contrib': 40}.get(namespace, 0), compared


def test_expressions():
    wrong = []
    for text in cases.EXPRESSIONS:
        given, recorded = cases.describe(cases.evaluate(text)), RECORDED['expressions'][text]
        if 'gluon.loss' in text:   # computed another way; what goes in and comes out has the same names
            given, recorded = [*given[:3], [], {}], [*recorded[:3], [], {}]
        # attributes that say a default, or write it another way, are no names
        if given[:4] != recorded[:4] or sorted(given[4]) != sorted(recorded[4]):
            wrong.append((text, [(a, b) for a, b in zip(given, recorded) if a != b]))
    assert not wrong, wrong[:5]
