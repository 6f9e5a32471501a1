// Graphs made of graphs: parts, compact forms of samples, adjacency.
#include <algorithm>
#include <string>
#include <vector>

#include "operator/record/param.h"
#include "operator/record/tuple_field.h"
#include "operator/sparse/graph.h"

namespace mxnet {
namespace {

using sparse::Graph;

struct SubgraphParam : public Parameter<SubgraphParam> {
  int num_args;
  bool return_mapping;
  MXNET_DECLARE_PARAM(SubgraphParam) {
    MXNET_FIELD(num_args).set_lower_bound(2).describe("Number of arrays.");
    MXNET_FIELD(return_mapping).describe("Also give matrices with the edges' data.");
  }
};
struct CompactParam : public Parameter<CompactParam> {
  int num_args;
  bool return_mapping;
  Shape graph_sizes;
  MXNET_DECLARE_PARAM(CompactParam) {
    MXNET_FIELD(num_args).set_lower_bound(2).describe("Number of arrays: as many graphs as arrays of vertices.");
    MXNET_FIELD(return_mapping).describe("Also give matrices with the edges' data.");
    MXNET_FIELD(graph_sizes).describe("Number of vertices of each graph.");
  }
};
MXNET_REGISTER_PARAM(SubgraphParam);
MXNET_REGISTER_PARAM(CompactParam);

/* Edges that are kept, row by row; `edges` gets their numbers, `mapping` (may be null) their
 * data. */
class Kept {
 public:
  void Add(int64_t column, int64_t edge) {
    columns_.push_back(column);
    edges_.push_back(edge);
  }
  void EndRow() { indptr_.push_back(static_cast<int64_t>(columns_.size())); }
  void Write(SparseParts* edges, SparseParts* mapping) const {
    for (SparseParts* to : {edges, mapping}) {
      if (!to) continue;
      to->Resize(static_cast<int64_t>(columns_.size()));
      std::copy(indptr_.begin(), indptr_.end(), to->index[SparseParts::kIndptr].data<int64_t>());
      std::copy(columns_.begin(), columns_.end(), to->index[SparseParts::kColumns].data<int64_t>());
      int64_t* const values = to->values.data<int64_t>();
      for (size_t i = 0; i < edges_.size(); ++i) values[i] = to == edges ? static_cast<int64_t>(i) : edges_[i];
    }
  }

 private:
  std::vector<int64_t> indptr_{0}, columns_, edges_;
};

/* Position of `vertex` among the ascending ids, the last of equal ones; -1: it is not there. */
int64_t Position(const int64_t* ids, int64_t n, int64_t vertex) {
  const int64_t* at = std::upper_bound(ids, ids + n, vertex);
  return at == ids || at[-1] != vertex ? -1 : at - ids - 1;
}

bool GivesGraphs(const Attrs&, const StorageTypes&, StorageTypes* out) {
  return std::all_of(out->begin(), out->end(), [](StorageType& s) { return GiveStorage(&s, StorageType::kCSR); });
}

// ---- subgraph

int Subgraphs(const Attrs& a) { return std::max(0, a.get<SubgraphParam>().num_args - 1); }

Kept PartOf(const KernelArgs& args, const Graph& graph, const TBlob& vertices) {
  const int64_t* const ids = vertices.data<int64_t>();
  const int64_t n = vertices.Size();
  const char* const name = args.attrs->op->name.c_str();
  for (int64_t i = 0; i < n; ++i) {
    MXNET_CHECK_KIND(ids[i] >= 0 && ids[i] < graph.vertices, Index)
        << "[" << name << "] vertex " << ids[i] << " at position " << i << "; accepted: 0 to " << graph.vertices - 1;
    MXNET_CHECK_KIND(i == 0 || ids[i - 1] <= ids[i], Value)
        << "[" << name << "] vertex " << ids[i] << " at position " << i << " behind " << ids[i - 1] << "; accepted: ascending vertices";
  }
  Kept kept;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t e = graph.indptr[ids[i]]; e < graph.indptr[ids[i] + 1]; ++e) {
      const int64_t to = Position(ids, n, graph.column[e]);
      if (to >= 0) kept.Add(to, graph.edge[e]);
    }
    kept.EndRow();
  }
  return kept;
}

void SubgraphKernel(KernelArgs& args) {
  sparse::NeedStorages(args);
  SparseParts& parts = *args.in[0].sparse;
  parts.NeedAscending(args.attrs->op->name.c_str());
  const int n = Subgraphs(*args.attrs);
  const bool mapping = args.param<SubgraphParam>().return_mapping;
  for (int s = 0; s < n; ++s)
    PartOf(args, Graph(parts), args.in[1 + s]).Write(args.out[s].sparse, mapping ? args.out[n + s].sparse : nullptr);
}

bool SubgraphShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& graph = (*in)[0];
  MXNET_CHECK_KIND(!graph.ndim_known() || graph.ndim() == 2, Value)
      << "[" << attrs.op->name << "] graph has shape " << graph << "; accepted: 2 dimensions";
  bool known = graph.known();
  const size_t n = static_cast<size_t>(Subgraphs(attrs));
  for (size_t o = 0; o < out->size(); ++o) {
    const Shape& vertices = (*in)[1 + o % n];
    MXNET_CHECK_KIND(!vertices.ndim_known() || vertices.ndim() == 1, Value)
        << "[" << attrs.op->name << "] vertices of shape " << vertices << "; accepted: one dimension";
    known = known && vertices.known();
    if (vertices.known()) AssignShape(attrs, "output", &(*out)[o], Shape{vertices[0], vertices[0]});
  }
  return known;
}

MXNET_REGISTER_OP(_contrib_dgl_subgraph)
    .describe(
        "The part of a graph that has the given vertices (ascending) and the edges between them.\n\nResults: for each array of vertices a "
        "csr matrix whose data numbers the edges from 0; with return_mapping behind these one with the data of graph for each.")
    .set_param<SubgraphParam>()
    .set_variadic("data", nullptr)
    .set_inputs({"graph", "data"}, [](const Attrs& a) { return a.get<SubgraphParam>().num_args; })
    .set_list_inputs([](const Attrs& a) { return sparse::NamesWithList({"graph"}, "varray", Subgraphs(a)); })
    .set_num_outputs([](const Attrs& a) { return Subgraphs(a) * (1 + a.get<SubgraphParam>().return_mapping); })
    .set_dtypes({kInt64})
    .set_infer_shape(SubgraphShape)
    .set_infer_type(sparse::AllInt64)
    .set_zero_gradient()
    .set_kernel(sparse::RefuseDense);
MXNET_REGISTER_SPARSE(_contrib_dgl_subgraph, GivesGraphs).set_from_dense().set_kernel(DeviceType::kCPU, SubgraphKernel);

// ---- compact forms of samples

int Graphs(const Attrs& a) { return a.get<CompactParam>().num_args / 2; }

Kept CompactOf(const KernelArgs& args, const Graph& graph, const TBlob& vertices, int64_t size) {
  const char* const name = args.attrs->op->name.c_str();
  const int64_t* const ids = vertices.data<int64_t>();
  MXNET_CHECK_KIND(ids[vertices.Size() - 1] == size, Value)
      << "[" << name << "] a graph of " << ids[vertices.Size() - 1] << " vertices (the last element of its array) and graph_sizes of "
      << size << "; accepted: the same";
  MXNET_CHECK_KIND(std::is_sorted(ids, ids + size), Value) << "[" << name << "] the vertices are not ascending";
  Kept kept;
  for (int64_t r = 0; r < size; ++r) {
    for (int64_t e = graph.indptr[r]; e < graph.indptr[r + 1]; ++e) {
      const int64_t to = Position(ids, size, graph.column[e]);
      MXNET_CHECK_KIND(to >= 0, Value) << "[" << name << "] row " << r << " has an edge to vertex " << graph.column[e]
                                       << ", which is not among the graph's vertices; samples that were not cut off have none such";
      kept.Add(to, graph.edge[e]);
    }
    kept.EndRow();
  }
  return kept;
}

void CompactKernel(KernelArgs& args) {
  const int n = Graphs(*args.attrs);
  sparse::NeedStorages(args, n);
  const auto& p = args.param<CompactParam>();
  for (int g = 0; g < n; ++g) {
    SparseParts& parts = *args.in[g].sparse;
    parts.NeedAscending(args.attrs->op->name.c_str());
    CompactOf(args, Graph(parts), args.in[n + g], p.graph_sizes[g])
        .Write(args.out[g].sparse, p.return_mapping ? args.out[n + g].sparse : nullptr);
  }
}

bool CompactShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<CompactParam>();
  const int n = Graphs(attrs);
  MXNET_CHECK_KIND(p.num_args % 2 == 0 && p.graph_sizes.ndim() >= n, Value)
      << "[" << attrs.op->name << "] " << p.num_args << " arrays and " << p.graph_sizes.ndim()
      << " graph_sizes; accepted: as many graphs as arrays of vertices, and a size for each";
  bool known = true;
  for (int g = 0; g < n; ++g) {
    const Shape &graph = (*in)[static_cast<size_t>(g)], &vertices = (*in)[static_cast<size_t>(n + g)];
    const int64_t size = p.graph_sizes[g];
    known = known && graph.known() && vertices.known();
    MXNET_CHECK_KIND(!graph.known() || !vertices.known() ||
                         (graph.ndim() == 2 && vertices.ndim() == 1 && vertices[0] == graph[0] + 1 && size >= 0 && size <= graph[0]),
                     Value)
        << "[" << attrs.op->name << "] graph " << g << " has shape " << graph << ", its vertices " << vertices << " and its size is " << size
        << "; accepted: 2 dimensions, one vertex array with one element more than the graph has rows, and a size of at most these";
    for (size_t o = static_cast<size_t>(g); o < out->size(); o += static_cast<size_t>(n))
      AssignShape(attrs, "output", &(*out)[o], Shape{size, size});
  }
  return known;
}

MXNET_REGISTER_OP(_contrib_dgl_graph_compact)
    .describe(
        "Samples of graphs as graphs of their own: columns are positions among the sample's vertices, and empty rows behind the last vertex "
        "go.\n\nTakes the graphs, then the arrays of their vertices, whose last element is their number. Results: for each graph a csr "
        "matrix whose data numbers the edges from 0; with return_mapping behind these one with the data of the graph for each.")
    .set_param<CompactParam>()
    .set_variadic("graph_data", [](const Attrs& a) { return a.get<CompactParam>().num_args; })
    .set_list_inputs([](const Attrs& a) {
      return sparse::NamesWithList(sparse::NamesWithList({}, "graph", Graphs(a)), "varray", a.get<CompactParam>().num_args - Graphs(a));
    })
    .set_num_outputs([](const Attrs& a) { return Graphs(a) * (1 + a.get<CompactParam>().return_mapping); })
    .set_dtypes({kInt64})
    .set_infer_shape(CompactShape)
    .set_infer_type(sparse::AllInt64)
    .set_zero_gradient()
    .set_kernel(sparse::RefuseDense);
MXNET_REGISTER_SPARSE(_contrib_dgl_graph_compact, GivesGraphs).set_from_dense().set_kernel(DeviceType::kCPU, CompactKernel);

// ---- adjacency

void AdjacencyKernel(KernelArgs& args) {
  sparse::NeedStorages(args);
  if (args.req[0] == OpReq::kNull) return;
  const SparseParts& in = *args.in[0].sparse;
  SparseParts* const out = args.out[0].sparse;
  const int64_t n = in.stored();
  out->Resize(n);
  for (int i : {SparseParts::kIndptr, SparseParts::kColumns})
    std::copy_n(in.index[i].data<int64_t>(), in.index[i].Size(), out->index[i].data<int64_t>());
  std::fill_n(out->values.data<float>(), n, 1.0f);
}

MXNET_REGISTER_OP(_contrib_dgl_adjacency)
    .describe("The adjacency matrix of a graph: csr, float32, 1 for each edge.")
    .set_inputs({"data"})
    .set_dtypes({kInt64})
    .set_infer_shape(ElemwiseShape)
    .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
      AssignType(attrs, "data", &(*in)[0], kInt64);
      AssignType(attrs, "output", &(*out)[0], kFloat32);
      return true;
    })
    .set_zero_gradient()
    .set_kernel(sparse::RefuseDense);
MXNET_REGISTER_SPARSE(_contrib_dgl_adjacency, GivesGraphs).set_from_dense().set_kernel(DeviceType::kCPU, AdjacencyKernel);

}  // namespace
}  // namespace mxnet
