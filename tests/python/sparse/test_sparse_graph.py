"""Graphs as csr matrices: samples, parts, compact forms; single elements and counts."""
import collections

import numpy as np
import pytest

import mxnet as mx

pytestmark = pytest.mark.on_gpu

# What 1.9.1 gives for this graph: x[u, v] is the number of the edge from u to v.
DENSE = np.array([[1, 0, 2, 0], [0, 3, 0, 0], [4, 0, 5, 0], [0, 0, 0, 6]])


def _csr(a, dtype="int64"):
    return mx.nd.cast_storage(mx.nd.array(a, dtype=dtype), stype="csr")


def _dense(a):
    return mx.nd.cast_storage(a, stype="default").asnumpy()


def _ids(*v):
    return mx.nd.array(v, dtype="int64")


def _complete(n):
    """The complete graph of n vertices without loops, edges numbered from 1."""
    a = np.zeros((n, n), "int64")
    a[~np.eye(n, dtype=bool)] = np.arange(1, n * n - n + 1)
    return a


# ---- samples

def _check_sample(graph, vertices, edges, layers, seeds, hops, neighbors, most):
    ids, count = vertices.asnumpy()[:-1], int(vertices.asnumpy()[-1])
    assert vertices.shape == (most + 1,) and layers.shape == (most,) and edges.shape == (most, graph.shape[1])
    assert edges.stype == "csr" and vertices.stype == layers.stype == "default"
    assert all(a.dtype == np.int64 for a in (vertices, edges, layers))
    assert np.all(np.diff(ids[:count]) > 0) and not ids[count:].any() and not layers.asnumpy()[count:].any()
    sampled, layer = _dense(edges), dict(zip(ids[:count].tolist(), layers.asnumpy()[:count].tolist()))
    assert not sampled[count:].any()
    for row, v in enumerate(ids[:count]):
        drawn = np.flatnonzero(sampled[row])
        assert np.array_equal(sampled[row][drawn], graph[v][drawn])          # the graph's own data
        degree = np.count_nonzero(graph[v])
        assert len(drawn) == (min(degree, neighbors) if layer[v] < hops else 0)
        assert all(layer[u] <= layer[v] + 1 for u in drawn.tolist())
    assert {v for v, hop in layer.items() if hop == 0} == set(seeds)
    for v, hop in layer.items():
        if hop:
            assert any(layer[u] == hop - 1 and sampled[row][v] for row, u in enumerate(ids[:count]))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("hops, neighbors, seeds", [
    (1, 2, [0]), (1, 100, [3, 1]), (2, 3, [5, 5, 2]), (3, 1, [7]), (0, 2, [4]), (1, 0, [4])])
def test_samples_are_made_of_the_graph(weighted, hops, neighbors, seeds):
    rng = np.random.RandomState(0)
    graph = np.where(rng.rand(40, 40) < .2, np.arange(1, 1601).reshape(40, 40), 0)
    options = {"num_hops": hops, "num_neighbor": neighbors, "max_num_vertices": 60}
    chances = rng.rand(40).astype("float32")
    other = [1, 8]
    for _ in range(5):
        if weighted:
            out = mx.nd.contrib.dgl_csr_neighbor_non_uniform_sample(
                _csr(graph), mx.nd.array(chances), _ids(*seeds), _ids(*other), num_args=4, **options)
            probabilities = out[4:6]
            out = out[:4] + out[6:]
            for p, v in zip(probabilities, out):
                count = int(v.asnumpy()[-1])
                assert np.array_equal(p.asnumpy()[:count], chances[v.asnumpy()[:count]]) and not p.asnumpy()[count:].any()
        else:
            out = mx.nd.contrib.dgl_csr_neighbor_uniform_sample(_csr(graph), _ids(*seeds), _ids(*other), num_args=3, **options)
        assert len(out) == 6
        for i, s in enumerate((seeds, other)):
            _check_sample(graph, out[i], out[2 + i], out[4 + i], s, hops, neighbors, 60)


def test_every_neighbor_is_as_likely():
    graph, found = _csr(_complete(6)), collections.Counter()
    mx.random.seed(1)
    for _ in range(1500):
        _, edges, _ = mx.nd.contrib.dgl_csr_neighbor_uniform_sample(graph, _ids(0), num_args=2, num_neighbor=2, max_num_vertices=6)
        found[tuple(np.flatnonzero(_dense(edges)[0]))] += 1
    assert len(found) == 10                                                  # pairs of five neighbors
    assert all(90 < n < 215 for n in found.values()), found


def test_neighbors_are_drawn_by_their_weights():
    graph, found = _csr(_complete(4)), collections.Counter()
    weights = np.array([9, 1, 2, 5], "float32")
    mx.random.seed(2)
    for _ in range(2000):
        _, edges, _, _ = mx.nd.contrib.dgl_csr_neighbor_non_uniform_sample(
            graph, mx.nd.array(weights), _ids(0), num_args=3, num_neighbor=1, max_num_vertices=6)
        found[int(np.flatnonzero(_dense(edges)[0])[0])] += 1
    for v, chance in zip((1, 2, 3), weights[1:] / weights[1:].sum()):
        assert abs(found[v] / 2000 - chance) < .04, found
    weights = mx.nd.array([0, 0, 0, 1])                                      # what has no chance comes last
    for _ in range(20):
        _, edges, _, _ = mx.nd.contrib.dgl_csr_neighbor_non_uniform_sample(
            graph, weights, _ids(0), num_args=3, num_neighbor=2, max_num_vertices=6)
        drawn = np.flatnonzero(_dense(edges)[0])
        assert len(drawn) == 2 and 3 in drawn


def test_seeds_give_the_same_samples():
    graph = _csr(_complete(30))

    def draw():
        mx.random.seed(7)
        return [_dense(a) for a in mx.nd.contrib.dgl_csr_neighbor_uniform_sample(
            graph, _ids(3, 4), num_args=2, num_hops=2, num_neighbor=3, max_num_vertices=20)]

    assert all(np.array_equal(a, b) for a, b in zip(draw(), draw()))


def test_samples_end_at_the_most_vertices():
    graph = _csr(_complete(5))
    vertices, edges, layers = mx.nd.contrib.dgl_csr_neighbor_uniform_sample(
        graph, _ids(2), num_args=2, num_hops=2, num_neighbor=4, max_num_vertices=2)
    assert vertices.asnumpy().tolist() == [0, 2, 2]                          # these four are 1.9.1's
    assert _dense(edges).tolist() == [[0] * 5, [9, 10, 0, 11, 12]]
    assert layers.asnumpy().tolist() == [1, 0]
    vertices, edges, _ = mx.nd.contrib.dgl_csr_neighbor_uniform_sample(
        graph, _ids(0, 1, 2, 3, 4), num_args=2, num_neighbor=2, max_num_vertices=5)
    assert vertices.asnumpy().tolist() == [0, 1, 2, 3, 4, 5] and not _dense(edges).any()


def test_samples_refuse_what_is_no_graph_or_seed():
    sample = mx.nd.contrib.dgl_csr_neighbor_uniform_sample
    graph = _csr(_complete(5))
    with pytest.raises(IndexError, match="seed 5 at position 1"):
        sample(graph, _ids(0, 5), num_args=2)[0].wait_to_read()
    with pytest.raises(IndexError, match="seed -1"):
        sample(graph, _ids(-1), num_args=2)[0].wait_to_read()
    with pytest.raises(TypeError):
        sample(graph, mx.nd.array([0]), num_args=2)
    with pytest.raises(TypeError):
        sample(_csr(_complete(5), "float32"), _ids(0), num_args=2)
    with pytest.raises(ValueError, match="max_num_vertices"):
        sample(graph, _ids(0, 1, 2), num_args=2, max_num_vertices=2)
    with pytest.raises(ValueError, match="accepted: csr"):
        sample(mx.nd.array(_complete(5), dtype="int64"), _ids(0), num_args=2)[0].wait_to_read()
    with pytest.raises(ValueError, match="probability"):
        mx.nd.contrib.dgl_csr_neighbor_non_uniform_sample(graph, mx.nd.ones(4), _ids(0), num_args=3)
    with pytest.raises(ValueError, match="probability"):
        mx.nd.contrib.dgl_csr_neighbor_non_uniform_sample(graph, -mx.nd.ones(5), _ids(0), num_args=3)[0].wait_to_read()


# ---- parts

def test_subgraphs():
    part, data = mx.nd.contrib.dgl_subgraph(_csr(DENSE), _ids(0, 2), num_args=2, return_mapping=True)
    assert part.stype == data.stype == "csr"
    assert part.data.asnumpy().tolist() == [0, 1, 2, 3] and part.indices.asnumpy().tolist() == [0, 1, 0, 1]
    assert part.indptr.asnumpy().tolist() == [0, 2, 4]
    assert _dense(data).tolist() == [[1, 2], [4, 5]]
    parts = mx.nd.contrib.dgl_subgraph(_csr(DENSE), _ids(0, 2, 3), _ids(1), num_args=3, return_mapping=True)
    assert [p.shape for p in parts] == [(3, 3), (1, 1)] * 2
    assert _dense(parts[2]).tolist() == [[1, 2, 0], [4, 5, 0], [0, 0, 6]] and _dense(parts[3]).tolist() == [[3]]
    alone = mx.nd.contrib.dgl_subgraph(_csr(DENSE), _ids(2, 2), num_args=2, return_mapping=False)
    assert alone.indices.asnumpy().tolist() == [1, 1] and alone.data.asnumpy().tolist() == [0, 1]
    nothing = mx.nd.contrib.dgl_subgraph(_csr(DENSE), mx.nd.array(np.zeros(0), dtype="int64"), num_args=2, return_mapping=False)
    assert nothing.shape == (0, 0)


def test_subgraphs_refuse_vertices():
    for vertices, error in (((2, 0), ValueError), ((0, 4), IndexError), ((-1, 2), IndexError)):
        with pytest.raises(error, match=r"\[_contrib_dgl_subgraph\] vertex"):
            mx.nd.contrib.dgl_subgraph(_csr(DENSE), _ids(*vertices), num_args=2, return_mapping=False).wait_to_read()


def test_compact_graphs():
    edges = np.zeros((6, 5), "int64")
    edges[0, [2, 4]], edges[1, 4] = (2, 4), 11
    more = np.zeros((6, 5), "int64")
    more[0, 3] = 7
    vertices = _ids(0, 2, 4, 0, 0, 0, 3), _ids(1, 3, 0, 0, 0, 0, 2)
    out = mx.nd.contrib.dgl_graph_compact(_csr(edges), _csr(more), *vertices, num_args=4, return_mapping=True, graph_sizes=(3, 2))
    assert [a.shape for a in out] == [(3, 3), (2, 2)] * 2
    assert out[0].data.asnumpy().tolist() == [0, 1, 2] and out[0].indices.asnumpy().tolist() == [1, 2, 2]
    assert out[0].indptr.asnumpy().tolist() == [0, 2, 3, 3]
    assert _dense(out[2]).tolist() == [[0, 2, 4], [0, 0, 11], [0, 0, 0]] and _dense(out[3]).tolist() == [[0, 7], [0, 0]]
    one = mx.nd.contrib.dgl_graph_compact(_csr(edges), vertices[0], num_args=2, return_mapping=False, graph_sizes=3)
    assert one.shape == (3, 3)


def test_compact_graphs_refuse_other_vertices():
    edges = np.zeros((3, 5), "int64")
    edges[0, [2, 3]] = 1
    compact = mx.nd.contrib.dgl_graph_compact
    with pytest.raises(ValueError, match="vertex 3"):
        compact(_csr(edges), _ids(0, 2, 4, 3), num_args=2, return_mapping=False, graph_sizes=(3,)).wait_to_read()
    with pytest.raises(ValueError, match="graph_sizes"):
        compact(_csr(edges), _ids(0, 2, 4, 2), num_args=2, return_mapping=False, graph_sizes=(3,)).wait_to_read()
    for sizes, vertices in (((4,), _ids(0, 2, 4, 3)), ((3,), _ids(0, 2, 3)), ((), _ids(0, 2, 4, 3))):
        with pytest.raises(ValueError):
            compact(_csr(edges), vertices, num_args=2, return_mapping=False, graph_sizes=sizes)


def test_samples_compact():
    """The way of programs: sample, make compact, multiply."""
    rng = np.random.RandomState(3)
    graph = np.where(rng.rand(30, 30) < .3, np.arange(1, 901).reshape(30, 30), 0)
    vertices, edges, _ = mx.nd.contrib.dgl_csr_neighbor_uniform_sample(
        _csr(graph), _ids(4, 9), num_args=2, num_hops=2, num_neighbor=3, max_num_vertices=40)
    count = int(vertices.asnumpy()[-1])
    _, data = mx.nd.contrib.dgl_graph_compact(edges, vertices, num_args=2, return_mapping=True, graph_sizes=count)
    ids = vertices.asnumpy()[:count]
    assert np.array_equal(_dense(data), _dense(edges)[:count][:, ids])
    adjacency = mx.nd.contrib.dgl_adjacency(data)
    assert adjacency.stype == "csr" and adjacency.dtype == np.float32
    assert np.array_equal(_dense(adjacency), _dense(data) != 0)


# ---- elements and counts

def test_adjacency():
    a = mx.nd.contrib.dgl_adjacency(_csr(DENSE))
    assert a.stype == "csr" and a.dtype == np.float32 and np.array_equal(_dense(a), DENSE != 0)
    with pytest.raises(TypeError):
        mx.nd.contrib.dgl_adjacency(_csr(DENSE, "float32"))
    with pytest.raises(ValueError, match="accepted: csr"):
        mx.nd.contrib.dgl_adjacency(mx.nd.array(DENSE, dtype="int64")).wait_to_read()


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "int32"])
def test_edge_ids(dtype):
    u, v = [0, 0, 1, 1, 2, 2, 9, -1, 3], [0, 1, 1, 2, 0, 2, 0, 0, 44]
    out = mx.nd.contrib.edge_id(_csr(DENSE, dtype), mx.nd.array(u), mx.nd.array(v))
    assert out.dtype == np.dtype(dtype) and out.asnumpy().tolist() == [1, -1, 3, -1, 4, 5, -1, -1, -1]
    with pytest.raises(ValueError):
        mx.nd.contrib.edge_id(_csr(DENSE, dtype), mx.nd.array(u), mx.nd.array(v[1:]))
    with pytest.raises(ValueError, match="accepted: csr"):
        mx.nd.contrib.edge_id(mx.nd.array(DENSE), mx.nd.array(u), mx.nd.array(v)).wait_to_read()


def test_counts_of_stored_elements():
    a = _csr(np.array([[1, 0, 2, 0], [0, 3, 0, 0], [4, 0, 5, 0]]), "float32")
    assert [mx.nd.contrib.getnnz(a).asnumpy().tolist(), mx.nd.contrib.getnnz(a, axis=1).asnumpy().tolist()] == [[5], [2, 1, 2]]
    assert mx.nd.contrib.getnnz(a, axis=0).asnumpy().tolist() == [2, 1, 2, 0]
    assert mx.nd.contrib.getnnz(a).dtype == np.int64
    with pytest.raises(ValueError, match="accepted: 0, 1, None"):
        mx.nd.contrib.getnnz(a, axis=2)
    zeros = _csr(np.array([[1, 2], [0, 3]]), "float32") * 0                  # stored all the same
    assert mx.nd.contrib.getnnz(zeros, axis=1).asnumpy().tolist() == [2, 1]


def test_symbols():
    graph, seeds = mx.sym.Variable("graph", stype="csr"), mx.sym.Variable("seeds")
    s = mx.sym.contrib.dgl_csr_neighbor_uniform_sample(graph, seeds, num_args=2, max_num_vertices=5, name="n")
    assert s.list_outputs() == ["n_output0", "n_output1", "n_output2"]
    assert s.infer_shape(graph=(4, 4), seeds=(2,))[1] == [(6,), (5, 4), (5,)]
    outputs = s.bind(mx.cpu(), {"graph": _csr(DENSE), "seeds": _ids(0, 1)}).forward()
    assert [o.stype for o in outputs] == ["default", "csr", "default"]
    assert outputs[0].asnumpy().tolist() == [0, 1, 2, 0, 0, 3]
    part = mx.sym.contrib.dgl_subgraph(num_args=3, return_mapping=True, name="n")
    assert part.list_arguments() == ["n_graph", "n_varray0", "n_varray1"]
    assert mx.sym.contrib.edge_id(name="n").list_arguments() == ["n_data", "n_u", "n_v"]


@pytest.mark.parametrize("operator, arguments", [
    ("_contrib_dgl_adjacency", ["data"]),
    ("_contrib_dgl_csr_neighbor_non_uniform_sample",
     ["csr_matrix", "probability", "seed_arrays", "num_args", "num_hops", "num_neighbor", "max_num_vertices"]),
    ("_contrib_dgl_csr_neighbor_uniform_sample",
     ["csr_matrix", "seed_arrays", "num_args", "num_hops", "num_neighbor", "max_num_vertices"]),
    ("_contrib_dgl_graph_compact", ["graph_data", "num_args", "return_mapping", "graph_sizes"]),
    ("_contrib_dgl_subgraph", ["graph", "data", "num_args", "return_mapping"]),
    ("_contrib_edge_id", ["data", "u", "v"]),
])
def test_arguments_are_those_of_1_9_1(operator, arguments):
    assert mx.operator.get_operator_arguments(operator).names == arguments
