// Samples of graphs around some vertices (Zheng et al., "DistDGL", 2020, describes what they are
// for).
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/logging.h"
#include "operator/record/param.h"
#include "operator/shared/random_philox.h"
#include "operator/sparse/graph.h"

namespace mxnet {
namespace {

using sparse::Graph;

struct NeighborSampleParam : public Parameter<NeighborSampleParam> {
  int num_args;
  int64_t num_hops, num_neighbor, max_num_vertices;
  MXNET_DECLARE_PARAM(NeighborSampleParam) {
    MXNET_FIELD(num_args).set_lower_bound(1).describe("Number of arrays.");
    MXNET_FIELD(num_hops).set_default(1).describe("How many edges a vertex of the sample is away from a seed at most.");
    MXNET_FIELD(num_neighbor).set_default(2).describe("How many edges of a vertex are drawn; all where it has no more.");
    MXNET_FIELD(max_num_vertices).set_default(100).describe("Most vertices of a sample, seeds included.");
  }
};
MXNET_REGISTER_PARAM(NeighborSampleParam);

/* Inputs before the seeds: the graph, and the vertices' weights. */
template <bool kWeighted>
int Seeds(const Attrs& a) {
  return std::max(0, a.get<NeighborSampleParam>().num_args - 1 - kWeighted);
}
template <bool kWeighted>
constexpr int kOutputsEach = 3 + kWeighted;

/* Numbers of one vertex: they depend on the seed and on which draw of the operator it is. */
class Draws {
 public:
  Draws(uint64_t seed, uint64_t counter) : seed_(seed), counter_(counter) {}
  double Unit() {
    const Philox p(seed_, counter_, ++at_);
    return Philox::ToDouble(p.word[0], p.word[1]);
  }
  int64_t Below(int64_t n) { return std::min<int64_t>(n - 1, static_cast<int64_t>(Unit() * static_cast<double>(n))); }

 private:
  uint64_t seed_, counter_, at_ = 0;
};

/* `k` of [0, n), all subsets equally likely (Floyd's algorithm: Bentley and Floyd, 1987). */
void ChooseUniformly(int64_t n, int64_t k, Draws* draws, std::vector<int64_t>* chosen) {
  for (int64_t j = n - k; j < n; ++j) {
    const int64_t t = draws->Below(j + 1);
    const auto at = std::lower_bound(chosen->begin(), chosen->end(), t);
    if (at != chosen->end() && *at == t)
      chosen->push_back(j);  // larger than all before
    else
      chosen->insert(at, t);
  }
}

/* `k` of [0, n), drawn one after the other in proportion to the weights of those that are left
 * (Efraimidis and Spirakis, 2006). Those of weight 0 come last. */
template <typename Weight>
void ChooseByWeight(int64_t n, int64_t k, Weight&& weight, Draws* draws, std::vector<int64_t>* chosen) {
  std::vector<std::pair<double, int64_t>> keys;
  for (int64_t i = 0; i < n; ++i) {
    const double w = weight(i), wait = -std::log(1 - draws->Unit());
    keys.emplace_back(w > 0 ? wait / w : std::numeric_limits<double>::infinity(), i);
  }
  std::nth_element(keys.begin(), keys.begin() + (k - 1), keys.end());
  for (int64_t i = 0; i < k; ++i) chosen->push_back(keys[static_cast<size_t>(i)].second);
  std::sort(chosen->begin(), chosen->end());
}

struct Sample {
  std::vector<int64_t> vertices;                            // in the order in which they were met
  std::unordered_map<int64_t, int64_t> layer;               // hops from a seed
  std::unordered_map<int64_t, std::vector<int64_t>> edges;  // positions in the graph's arrays
  bool truncated = false;

  void Meet(int64_t vertex, int64_t hops) {
    if (layer.emplace(vertex, hops).second) vertices.push_back(vertex);
  }
};

void CheckSeeds(const KernelArgs& args, const Graph& graph, const TBlob& seeds) {
  const int64_t* v = seeds.data<int64_t>();
  for (int64_t i = 0; i < seeds.Size(); ++i)
    MXNET_CHECK_KIND(v[i] >= 0 && v[i] < graph.vertices, Index)
        << "[" << args.attrs->op->name << "] seed " << v[i] << " at position " << i << "; accepted: 0 to " << graph.vertices - 1;
}

Sample SampleAround(KernelArgs& args, const Graph& graph, const float* weights, const TBlob& seeds) {
  const auto& p = args.param<NeighborSampleParam>();
  CheckSeeds(args, graph, seeds);
  Sample sample;
  for (int64_t i = 0; i < seeds.Size(); ++i) sample.Meet(seeds.data<int64_t>()[i], 0);
  const auto full = [&] { return static_cast<int64_t>(sample.vertices.size()) >= p.max_num_vertices; };
  for (size_t i = 0; i < sample.vertices.size() && !full(); ++i) {
    const int64_t vertex = sample.vertices[i], hops = sample.layer[vertex];
    if (hops >= p.num_hops) break;  // those behind are no nearer
    MXNET_CHECK_KIND(vertex < graph.vertices, Value)
        << "[" << args.attrs->op->name << "] an edge leads to vertex " << vertex << " of a graph of " << graph.vertices << " vertices";
    const int64_t begin = graph.indptr[vertex], degree = graph.indptr[vertex + 1] - begin;
    std::vector<int64_t>& edges = sample.edges[vertex];
    if (degree <= p.num_neighbor) {
      for (int64_t k = 0; k < degree; ++k) edges.push_back(k);
    } else if (p.num_neighbor > 0) {
      Draws draws(args.random->seed(), args.random->Take(1));
      if (weights)
        ChooseByWeight(degree, p.num_neighbor, [&](int64_t k) { return weights[graph.column[begin + k]]; }, &draws, &edges);
      else
        ChooseUniformly(degree, p.num_neighbor, &draws, &edges);
    }
    for (int64_t& e : edges) {
      e += begin;
      if (!full()) sample.Meet(graph.column[e], hops + 1);
      sample.truncated = sample.truncated || full();
    }
  }
  return sample;
}

/* Outputs of one sample: vertices and, behind them, their number; the drawn edges, a row for each
 * vertex; weights of the vertices; hops. What is behind the last vertex is 0. */
void WriteSample(const KernelArgs& args, const Graph& graph, const float* weights, Sample* sample, int which, int samples) {
  std::vector<int64_t>& vertices = sample->vertices;
  std::sort(vertices.begin(), vertices.end());
  const auto n = static_cast<int64_t>(vertices.size()), most = args.param<NeighborSampleParam>().max_num_vertices;
  int64_t* const ids = args.out[which].data<int64_t>();
  std::fill(std::copy(vertices.begin(), vertices.end(), ids), ids + most, 0);
  ids[most] = n;
  SparseParts* const drawn = args.out[samples + which].sparse;
  int64_t total = 0;
  for (const auto& e : sample->edges) total += static_cast<int64_t>(e.second.size());
  drawn->Resize(total);
  int64_t* const indptr = drawn->index[SparseParts::kIndptr].data<int64_t>();
  int64_t* const column = drawn->index[SparseParts::kColumns].data<int64_t>();
  int64_t* const edge = drawn->values.data<int64_t>();
  int64_t at = 0;
  indptr[0] = 0;
  for (int64_t r = 0; r < most; ++r) {
    if (r < n)
      for (int64_t e : sample->edges[vertices[static_cast<size_t>(r)]]) {
        column[at] = graph.column[e];
        edge[at++] = graph.edge[e];
      }
    indptr[r + 1] = at;
  }
  if (weights) {
    float* const to = args.out[2 * samples + which].data<float>();
    for (int64_t r = 0; r < most; ++r) to[r] = r < n ? weights[vertices[static_cast<size_t>(r)]] : 0;
  }
  int64_t* const hops = args.out[(weights ? 3 : 2) * samples + which].data<int64_t>();
  for (int64_t r = 0; r < most; ++r) hops[r] = r < n ? sample->layer[vertices[static_cast<size_t>(r)]] : 0;
}

template <bool kWeighted>
void SampleKernel(KernelArgs& args) {
  sparse::NeedStorages(args);
  SparseParts& parts = *args.in[0].sparse;
  parts.NeedAscending(args.attrs->op->name.c_str());
  const Graph graph(parts);
  const float* const weights = kWeighted ? args.in[1].data<float>() : nullptr;
  if (kWeighted)
    for (int64_t i = 0; i < args.in[1].Size(); ++i)
      MXNET_CHECK_KIND(weights[i] >= 0, Value) << "[" << args.attrs->op->name << "] probability[" << i << "] is " << weights[i]
                                               << "; accepted: numbers of at least 0";
  const int samples = Seeds<kWeighted>(*args.attrs);
  bool truncated = false;
  for (int s = 0; s < samples; ++s) {
    Sample sample = SampleAround(args, graph, weights, args.in[1 + kWeighted + s]);
    truncated = truncated || sample.truncated;
    WriteSample(args, graph, weights, &sample, s, samples);
  }
  if (truncated)
    LogWarning("[" + args.attrs->op->name + "] a sample ends at max_num_vertices; accepted for more: a larger one, fewer seeds or neighbors");
}

template <bool kWeighted>
bool SampleShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<NeighborSampleParam>();
  MXNET_CHECK_KIND(p.num_hops >= 0 && p.num_neighbor >= 0 && p.max_num_vertices >= 0, Value)
      << "[" << attrs.op->name << "] num_hops=" << p.num_hops << ", num_neighbor=" << p.num_neighbor
      << ", max_num_vertices=" << p.max_num_vertices << "; accepted: numbers of at least 0";
  const int samples = Seeds<kWeighted>(attrs);
  MXNET_CHECK_KIND(samples > 0, Value) << "[" << attrs.op->name << "] num_args=" << p.num_args << "; accepted: at least "
                                       << 2 + kWeighted << ", for one array of seeds";
  const Shape& graph = (*in)[0];
  bool known = graph.known();
  MXNET_CHECK_KIND(!graph.ndim_known() || graph.ndim() == 2, Value)
      << "[" << attrs.op->name << "] csr_matrix has shape " << graph << "; accepted: 2 dimensions";
  if (kWeighted && known) AssignShape(attrs, "probability", &(*in)[1], Shape{graph[1]});
  for (int s = 0; s < samples; ++s) {
    const Shape& seeds = (*in)[static_cast<size_t>(1 + kWeighted + s)];
    known = known && seeds.known();
    MXNET_CHECK_KIND(!seeds.known() || (seeds.ndim() == 1 && seeds[0] <= p.max_num_vertices), Value)
        << "[" << attrs.op->name << "] seeds of shape " << seeds << "; accepted: one dimension of at most max_num_vertices="
        << p.max_num_vertices;
    const auto output = [&](int kind) -> Shape& { return (*out)[static_cast<size_t>(kind * samples + s)]; };
    AssignShape(attrs, "vertices", &output(0), Shape{p.max_num_vertices + 1});
    if (graph.known()) AssignShape(attrs, "edges", &output(1), Shape{p.max_num_vertices, graph[1]});
    for (int kind = 2; kind < kOutputsEach<kWeighted>; ++kind) AssignShape(attrs, "output", &output(kind), Shape{p.max_num_vertices});
  }
  return known;
}

template <bool kWeighted>
bool SampleType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const int samples = Seeds<kWeighted>(attrs);
  int weights = kFloat32;
  if (kWeighted) AssignType(attrs, "probability", &(*in)[1], kFloat32), std::swap(weights, (*in)[1]), (*in)[1] = kInt64;
  std::vector<int> rest;
  for (int o = 0; o < static_cast<int>(out->size()); ++o)
    if (!kWeighted || o / samples != 2) rest.push_back((*out)[static_cast<size_t>(o)]);
  sparse::AllInt64(attrs, in, &rest);
  size_t at = 0;
  for (int o = 0; o < static_cast<int>(out->size()); ++o) {
    if (!kWeighted || o / samples != 2)
      (*out)[static_cast<size_t>(o)] = rest[at++];
    else
      AssignType(attrs, "weights", &(*out)[static_cast<size_t>(o)], kFloat32);
  }
  if (kWeighted) (*in)[1] = kFloat32;
  return true;
}

template <bool kWeighted>
bool TakesSample(const Attrs&, const StorageTypes&, StorageTypes* out) {
  const size_t samples = out->size() / kOutputsEach<kWeighted>;
  for (size_t o = 0; o < out->size(); ++o)
    if (!GiveStorage(&(*out)[o], o / samples == 1 ? StorageType::kCSR : StorageType::kDense)) return false;
  return true;
}

template <bool kWeighted>
bool RegisterSample(const char* name, const char* text) {
  std::vector<std::string> inputs{"csr_matrix"};
  if (kWeighted) inputs.push_back("probability");
  const std::vector<std::string> fixed = inputs;
  inputs.push_back("seed_arrays");
  Op::Register(name)
      .describe(text)
      .set_param<NeighborSampleParam>()
      .set_variadic("seed_arrays", nullptr)
      .set_inputs(inputs, [](const Attrs& a) { return a.get<NeighborSampleParam>().num_args; })
      .set_list_inputs([fixed](const Attrs& a) { return sparse::NamesWithList(fixed, "seed_arrays", Seeds<kWeighted>(a)); })
      .set_num_outputs([](const Attrs& a) { return kOutputsEach<kWeighted> * Seeds<kWeighted>(a); })
      .set_dtypes({kInt64})
      .set_uses_random()
      .set_infer_shape(SampleShape<kWeighted>)
      .set_infer_type(SampleType<kWeighted>)
      .set_zero_gradient()
      .set_kernel(sparse::RefuseDense);
  DeclareSparse(name, TakesSample<kWeighted>).set_from_dense().set_kernel(DeviceType::kCPU, SampleKernel<kWeighted>);
  return true;
}

[[maybe_unused]] const bool registered[] = {
    RegisterSample<false>("_contrib_dgl_csr_neighbor_uniform_sample",
                          "Vertices around each array of seeds: of every vertex that is fewer than num_hops edges away, num_neighbor edges "
                          "drawn without replacement.\n\nResults: for each array of seeds its vertices, ascending, with their number as the "
                          "last element; then the drawn edges (csr, a row for each vertex, columns are vertices of csr_matrix, data is its "
                          "data); then how many edges each vertex is away from a seed."),
    RegisterSample<true>("_contrib_dgl_csr_neighbor_non_uniform_sample",
                         "As _contrib_dgl_csr_neighbor_uniform_sample, with edges drawn in proportion to the probability (float32, a number "
                         "for each vertex) of the vertex that they lead to.\n\nBehind the drawn edges there is one more result for each "
                         "array of seeds: the probabilities of the vertices.")};

}  // namespace
}  // namespace mxnet
