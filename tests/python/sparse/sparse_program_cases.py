"""Six programs on sparse arrays in float64, for mxnet 1.9.1 and for this library alike: what their
weights are after 50 steps.

``/work/w/oracle/bin/python sparse_program_cases.py`` writes those of 1.9.1 to
``../data/sparse_programs_1.9.1.json``.
"""
import functools
import json
import os

import numpy as np

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "sparse_programs_1.9.1.json")
STEPS, BATCH, FEATURES, ROWS = 50, 8, 30, 40


def drawn(seed, *shape):
    return np.random.RandomState(seed).uniform(-.5, .5, shape)


def matrix(mx, seed, rows=BATCH, columns=FEATURES, density=.2):
    rng = np.random.RandomState(seed)
    dense = rng.uniform(.1, 1, (rows, columns)) * (rng.uniform(size=(rows, columns)) < density)
    return mx.nd.array(dense, dtype="float64").tostype("csr")


def labels(mx, seed):
    return mx.nd.array(np.random.RandomState(seed).randint(0, 2, (BATCH, 1)), dtype="float64")


def weight(mx, seed, *shape, **sparse):
    """A weight, of row_sparse storage or with a row_sparse gradient."""
    w = mx.nd.array(drawn(seed, *shape), dtype="float64")
    if sparse.get("stored"):
        w = w.tostype("row_sparse")
    storage = "row_sparse" if sparse else "default"
    # 1.9.1's attach_grad(stype) makes float32
    mx.autograd.mark_variables([w], [mx.nd.sparse.zeros(storage, shape, dtype="float64")])
    return w


def logistic(mx, score, label):
    return (mx.nd.relu(score) - score * label + mx.nd.log1p(mx.nd.exp(-mx.nd.abs(score)))).sum()


def with_states(mx, count, update):
    """An updater by an operator, update(weight, gradient, *states): states that 1.9.1's optimizers
    make for rows are float32."""
    states = {}

    def step(i, gradient, w):
        if i not in states:
            states[i] = [mx.nd.sparse.zeros(w.stype, w.shape, dtype="float64") for _ in range(count)]
        update(w, gradient, *states[i], out=w)
    return step


def trained(mx, optimizer, weights, loss):
    """The weights after some steps; loss(step) is recorded."""
    update = mx.optimizer.get_updater(optimizer) if isinstance(optimizer, mx.optimizer.Optimizer) else optimizer
    for step in range(STEPS):
        with mx.autograd.record():
            value = loss(step)
        value.backward()
        for i, w in enumerate(weights):
            update(i, w.grad, w)
    return [w.asnumpy() for w in weights]


def linear(mx):
    w, b = weight(mx, 0, FEATURES, 1, stored=True), weight(mx, 1, 1)
    return trained(mx, mx.optimizer.SGD(learning_rate=.1, momentum=.9, wd=.01), [w, b], lambda i: logistic(
        mx, mx.nd.broadcast_add(mx.nd.sparse.dot(matrix(mx, i), w), b), labels(mx, i)))


def factorization_machine(mx):
    w, v = weight(mx, 0, FEATURES, 1, stored=True), weight(mx, 1, FEATURES, 4, stored=True)

    def loss(i):
        x = matrix(mx, i)
        both = mx.nd.square(mx.nd.sparse.dot(x, v)).sum(axis=1, keepdims=True)
        own = mx.nd.sparse.dot(mx.nd.sparse.square(x), mx.nd._internal._square_sum(v, axis=1, keepdims=True))
        return logistic(mx, mx.nd.sparse.dot(x, w) + (both - own) / 2, labels(mx, i))
    ftrl = functools.partial(mx.nd.ftrl_update, lr=.1, lamda1=.01, beta=1, wd=.01)
    return trained(mx, with_states(mx, 2, ftrl), [w, v], loss)


def lookup(mx, table, ids):
    return mx.nd.Embedding(mx.nd.array(ids, dtype="float64"), table, input_dim=table.shape[0], output_dim=table.shape[1],
                           dtype="float64", sparse_grad=True)


def matrix_factorization(mx):
    users, items = weight(mx, 0, ROWS, 5, gradient=True), weight(mx, 1, ROWS, 5, gradient=True)

    def loss(i):
        pairs = np.random.RandomState(i).randint(0, ROWS, (2, BATCH))
        score = (lookup(mx, users, pairs[0]) * lookup(mx, items, pairs[1])).sum(axis=1, keepdims=True)
        return mx.nd.square(score - labels(mx, i)).sum()
    return trained(mx, mx.optimizer.Adam(learning_rate=.02, lazy_update=True), [users, items], loss)


def word_embeddings(mx):
    """Skip-gram with negative samples."""
    words, contexts = weight(mx, 0, ROWS, 6, gradient=True), weight(mx, 1, ROWS, 6, gradient=True)
    wanted = mx.nd.array([[[1, 0, 0, 0]]] * BATCH, dtype="float64")

    def loss(i):
        rng = np.random.RandomState(i)
        center, others = rng.randint(0, ROWS, (BATCH, 1)), rng.randint(0, ROWS, (BATCH, 4))
        score = mx.nd.batch_dot(lookup(mx, words, center), lookup(mx, contexts, others), transpose_b=True)
        return logistic(mx, score, wanted)
    return trained(mx, with_states(mx, 1, functools.partial(mx.nd.sparse.adagrad_update, lr=.1)), [words, contexts], loss)


def wide_and_deep(mx):
    wide, table = weight(mx, 0, FEATURES, 1, stored=True), weight(mx, 1, ROWS, 4, gradient=True)
    layers = [weight(mx, seed, *shape) for seed, shape in ((2, (6, 12)), (3, (6,)), (4, (1, 6)), (5, (1,)))]

    def loss(i):
        ids = np.random.RandomState(i).randint(0, ROWS, (BATCH, 3))
        deep = mx.nd.relu(mx.nd.FullyConnected(lookup(mx, table, ids).reshape((BATCH, 12)), *layers[:2], num_hidden=6))
        score = mx.nd.sparse.dot(matrix(mx, i), wide) + mx.nd.FullyConnected(deep, *layers[2:], num_hidden=1)
        return logistic(mx, score, labels(mx, i))
    return trained(mx, mx.optimizer.SGD(learning_rate=.1), [wide, table, *layers], loss)


def graph_convolution(mx):
    """Two layers on the subgraph of some vertices of a graph, of which dgl_subgraph gives the
    edges."""
    rng = np.random.RandomState(0)
    dense = rng.uniform(size=(ROWS, ROWS)) < .3
    edges = mx.nd.sparse.csr_matrix((np.arange(1, dense.sum() + 1), dense.nonzero()[1], np.concatenate([[0], dense.sum(1).cumsum()])),
                                    shape=(ROWS, ROWS), dtype="int64")
    features, target = mx.nd.array(drawn(1, ROWS, 5), dtype="float64"), mx.nd.array(drawn(2, ROWS, 2), dtype="float64")
    layers = [weight(mx, 3, 5, 7), weight(mx, 4, 7, 2)]

    def loss(i):
        vertices = np.sort(np.random.RandomState(i).choice(ROWS, 12, replace=False))
        part = mx.nd.contrib.dgl_subgraph(edges, mx.nd.array(vertices, dtype="int64"), return_mapping=False)
        part = part[0] if isinstance(part, list) else part
        adjacent = mx.nd.array((part.asnumpy() != 0) / 4., dtype="float64").tostype("csr")
        rows = mx.nd.array(vertices, dtype="int64")
        hidden = mx.nd.relu(mx.nd.dot(mx.nd.sparse.dot(adjacent, mx.nd.take(features, rows)), layers[0]))
        out = mx.nd.sparse.dot(adjacent, mx.nd.dot(hidden, layers[1]))
        return mx.nd.square(out - mx.nd.take(target, rows)).sum()
    return trained(mx, mx.optimizer.Adam(learning_rate=.01), layers, loss)


PROGRAMS = {f.__name__: f for f in (linear, factorization_machine, matrix_factorization, word_embeddings, wide_and_deep,
                                    graph_convolution)}


def main():
    import mxnet as mx
    found = {name: [w.tolist() for w in program(mx)] for name, program in PROGRAMS.items()}
    with open(DATA, "w") as file:
        file.write("{\n" + ",\n".join("%s: %s" % (json.dumps(name), json.dumps(ws)) for name, ws in found.items()) + "\n}\n")


if __name__ == "__main__":
    main()
