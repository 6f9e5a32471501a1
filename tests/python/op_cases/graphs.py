"""Operators that have no dense form."""
COVERED_ELSEWHERE = {op: "test_sparse_graph.py" for op in (
    "_contrib_dgl_adjacency", "_contrib_dgl_csr_neighbor_non_uniform_sample",
    "_contrib_dgl_csr_neighbor_uniform_sample", "_contrib_dgl_graph_compact",
    "_contrib_dgl_subgraph", "_contrib_edge_id")}
COVERED_ELSEWHERE["cast_storage"] = "test_sparse_graphs.py"
CASES = []
