/* Attention by cuDNN's graph interface: the operations that its attention engines recognise. */
#include "base/device/device_interface.h"
#include "mxnet/error.h"
#include "operator/gpu_library/attention.h"
#include "operator/gpu_library/cudnn_graph.h"
#include "operator/matrix/move.h"

namespace mxnet {
namespace gpu_library {
namespace {

enum Uid : int64_t {
  kQuery = 1,
  kKey,
  kValue,
  kMask,
  kScale,
  kOutput,
  kStatistics,
  kOgrad,
  kQueryGrad,
  kKeyGrad,
  kValueGrad,
  kSums,
  kQuerySums,
  kKept,
  kSeed,
  kOffset,
  kDropoutScale,
  kFirstVirtual = 100
};

// What is put together: tensors of four dimensions (batch, heads, ., .), operations, the graph.
class Builder {
 public:
  explicit Builder(const AttentionProblem& p) : p_(p), graph_(std::make_shared<CudnnGraph>()) {}

  using Tensor = cudnnBackendDescriptor_t;
  struct Strides {
    int64_t s[4];
  };
  // Arrays as they lie, seen as (batch, heads, length, width) or with the last two exchanged. uid
  // 0: not in memory
  Tensor Array(int64_t uid, int64_t length, int64_t width, const AttentionStrides& s, bool exchanged = false) {
    return exchanged ? Make(uid, {p_.batch, p_.heads, width, length}, {{s.example, s.head, 1, s.row}}, Io())
                     : Make(uid, {p_.batch, p_.heads, length, width}, {{s.example, s.head, s.row, 1}}, Io());
  }
  Tensor Query(int64_t uid) { return Array(uid, p_.rows, p_.width, p_.query); }
  Tensor Key(int64_t uid, bool exchanged = false) { return Array(uid, p_.columns, p_.width, p_.key, exchanged); }
  Tensor Value(int64_t uid, bool exchanged = false) { return Array(uid, p_.columns, p_.value_width, p_.value, exchanged); }
  Tensor Output(int64_t uid) { return Array(uid, p_.rows, p_.value_width, p_.output); }
  Tensor Rows(int64_t uid) {
    return Make(uid, {p_.batch, p_.heads, p_.rows, 1}, {{p_.heads * p_.rows, p_.rows, 1, 1}}, CUDNN_DATA_FLOAT);
  }  // a number for each row; uid 0: not in memory
  Tensor Scores(cudnnDataType_t type = CUDNN_DATA_FLOAT) {
    return Make(0, {p_.batch, p_.heads, p_.rows, p_.columns}, {{p_.heads * p_.rows * p_.columns, p_.rows * p_.columns, p_.columns, 1}},
                type);
  }
  Tensor ScoresExchanged() {
    return Make(0, {p_.batch, p_.heads, p_.columns, p_.rows}, {{p_.heads * p_.rows * p_.columns, p_.rows * p_.columns, 1, p_.columns}},
                Io());
  }
  Tensor Number(int64_t uid) { return Make(uid, {1, 1, 1, 1}, {{1, 1, 1, 1}}, CUDNN_DATA_FLOAT, true); }
  Tensor Mask() {
    const int64_t* m = p_.mask_dims;
    return Make(kMask, {m[0], m[1], m[2], m[3]}, {{m[1] * m[2] * m[3], m[2] * m[3], m[3], 1}}, CudnnType(p_.mask_dtype, p_));
  }
  /* 1 where a weight stays, else 0. */
  Tensor Stays() {
    const cudnnRngDistribution_t bernoulli = CUDNN_RNG_DISTRIBUTION_BERNOULLI;
    const double keep = 1 - static_cast<double>(p_.dropout);
    Descriptor how(CUDNN_BACKEND_RNG_DESCRIPTOR, p_);
    how.Set(CUDNN_ATTR_RNG_DISTRIBUTION, CUDNN_TYPE_RNG_DISTRIBUTION, 1, &bernoulli);
    how.Set(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, CUDNN_TYPE_DOUBLE, 1, &keep);
    const Tensor y = Scores();
    return Operation(CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR, CUDNN_ATTR_OPERATION_RNG_DESC, std::move(how),
                     {{CUDNN_ATTR_OPERATION_RNG_YDESC, y},
                      {CUDNN_ATTR_OPERATION_RNG_SEED, Counter(kSeed)},
                      {CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC, Counter(kOffset)}},
                     y);
  }
  Tensor Counter(int64_t uid) { return Make(uid, {1, 1, 1, 1}, {{1, 1, 1, 1}}, CUDNN_DATA_INT64); }
  Tensor Make(int64_t uid, std::vector<int64_t> dims, const Strides& strides, cudnnDataType_t type, bool by_value = false) {
    Descriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR, p_);
    const bool yes = true;
    d.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    d.Set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dims.data());
    d.Set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides.s);
    d.Number(CUDNN_ATTR_TENSOR_UNIQUE_ID, uid ? uid : next_++);
    d.Number(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CudnnAlignment(p_.alignment, type));
    if (!uid) d.Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &yes);
    if (by_value) d.Set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &yes);
    d.Finalize();
    return graph_->Keep(std::move(d)).get();
  }
  cudnnDataType_t Io() const { return CudnnType(p_.dtype, p_); }

  // Each returns the result.
  Tensor Product(Tensor a, Tensor b, Tensor c) {
    return Operation(
        CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, CUDNN_ATTR_OPERATION_MATMUL_DESC,
        InFloat(CUDNN_BACKEND_MATMUL_DESCRIPTOR, CUDNN_ATTR_MATMUL_COMP_TYPE),
        {{CUDNN_ATTR_OPERATION_MATMUL_ADESC, a}, {CUDNN_ATTR_OPERATION_MATMUL_BDESC, b}, {CUDNN_ATTR_OPERATION_MATMUL_CDESC, c}}, c);
  }
  Tensor Pointwise(cudnnPointwiseMode_t mode, Tensor x, Tensor b, Tensor y) {
    Descriptor how = InFloat(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_POINTWISE_MATH_PREC);
    how.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    return Operation(
        CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, std::move(how),
        {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x}, {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y}, {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b}},
        y);
  }
  Tensor Reduce(cudnnReduceTensorOp_t op, Tensor x, Tensor y) {
    Descriptor how = InFloat(CUDNN_BACKEND_REDUCTION_DESCRIPTOR, CUDNN_ATTR_REDUCTION_COMP_TYPE);
    how.Set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &op);
    return Operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, CUDNN_ATTR_OPERATION_REDUCTION_DESC, std::move(how),
                     {{CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x}, {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y}}, y);
  }
  Tensor Reshape(Tensor x, Tensor y) {
    return Operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, Descriptor(),
                     {{CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x}, {CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y}}, y);
  }
  std::shared_ptr<CudnnGraph> Finish(cudnnHandle_t handle) {
    graph_->Finish(handle, p_);
    return graph_;
  }

 private:
  /* What says that an operation computes in float32, and soon how. */
  Descriptor InFloat(cudnnBackendDescriptorType_t type, cudnnBackendAttributeName_t compute) const {
    const cudnnDataType_t number = CUDNN_DATA_FLOAT;
    Descriptor how(type, p_);
    how.Set(compute, CUDNN_TYPE_DATA_TYPE, 1, &number);
    return how;
  }
  Tensor Operation(cudnnBackendDescriptorType_t type, cudnnBackendAttributeName_t name, Descriptor how,
                   std::initializer_list<std::pair<cudnnBackendAttributeName_t, Tensor>> tensors, Tensor result) {
    Descriptor d(type, p_);
    if (how.get()) {
      how.Finalize();
      d.Link(name, how);
    }
    for (const auto& t : tensors)
      if (t.second) d.Set(t.first, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &t.second);
    d.Finalize();
    if (how.get()) graph_->Keep(std::move(how));
    graph_->operations.push_back(std::move(d));
    return result;
  }

  const AttentionProblem& p_;
  std::shared_ptr<CudnnGraph> graph_;
  int64_t next_ = kFirstVirtual;
};

std::shared_ptr<CudnnGraph> Build(const AttentionProblem& p, cudnnHandle_t handle) {
  using Tensor = Builder::Tensor;
  Builder b(p);
  const bool drops = p.dropout > 0;
  const Tensor query = b.Query(kQuery), key = b.Key(kKey, true), output = b.Output(kOutput), scale = b.Number(kScale);
  auto scaled = [&] {
    const Tensor s = b.Pointwise(CUDNN_POINTWISE_MUL, b.Product(query, key, b.Scores()), scale, b.Scores());
    return p.mask ? b.Pointwise(CUDNN_POINTWISE_ADD, s, b.Mask(), b.Scores()) : s;
  };
  if (!p.backward) {
    const Tensor value = b.Value(kValue), s = scaled();
    const Tensor largest = b.Reduce(CUDNN_REDUCE_TENSOR_MAX, s, b.Rows(0));
    const Tensor e = b.Pointwise(CUDNN_POINTWISE_EXP, b.Pointwise(CUDNN_POINTWISE_SUB, s, largest, b.Scores()), nullptr, b.Scores());
    const Tensor sum = b.Reduce(CUDNN_REDUCE_TENSOR_ADD, e, b.Rows(0));
    // the engines want the statistics in the graph even where nobody reads them
    b.Pointwise(CUDNN_POINTWISE_ADD, largest, b.Pointwise(CUDNN_POINTWISE_LOG, sum, nullptr, b.Rows(0)),
                b.Rows(p.statistics ? int64_t{kStatistics} : 0));
    Tensor weights = b.Pointwise(CUDNN_POINTWISE_DIV, e, sum, b.Scores(drops ? CUDNN_DATA_FLOAT : b.Io()));
    if (drops)
      weights = b.Pointwise(CUDNN_POINTWISE_MUL, b.Pointwise(CUDNN_POINTWISE_MUL, weights, b.Stays(), b.Scores()), b.Number(kDropoutScale),
                            b.Scores(b.Io()));
    b.Product(weights, value, output);
    return b.Finish(handle);
  }
  const Tensor stays = drops ? b.Stays() : nullptr, dropout_scale = drops ? b.Number(kDropoutScale) : nullptr;
  const Tensor value = b.Value(kValue, true), ograd = b.Output(kOgrad);
  // sums over a row of ograd * output, times the share that stays: the scores' gradient is scaled
  // as a whole
  const Tensor both =
      b.Pointwise(CUDNN_POINTWISE_MUL, ograd, output,
                  b.Make(0, {p.batch, p.heads, p.rows, p.value_width},
                         {{p.heads * p.rows * p.value_width, p.rows * p.value_width, p.heads * p.value_width, 1}}, CUDNN_DATA_FLOAT));
  const Tensor sums = b.Pointwise(CUDNN_POINTWISE_MUL, b.Reduce(CUDNN_REDUCE_TENSOR_ADD, both, b.Rows(0)), b.Number(kKept), b.Rows(kSums));
  // the weights again, and the gradient of the values
  const Tensor weights =
      b.Pointwise(CUDNN_POINTWISE_EXP, b.Pointwise(CUDNN_POINTWISE_SUB, scaled(), b.Rows(kStatistics), b.Scores()), nullptr, b.Scores());
  const Tensor used =
      drops ? b.Pointwise(CUDNN_POINTWISE_MUL, b.Pointwise(CUDNN_POINTWISE_MUL, weights, stays, b.Scores()), dropout_scale, b.Scores())
            : weights;
  b.Product(b.Reshape(used, b.ScoresExchanged()), ograd, b.Value(kValueGrad));
  // the gradient of the scores, of keys and of queries
  Tensor up = b.Product(ograd, value, b.Scores());
  if (drops) up = b.Pointwise(CUDNN_POINTWISE_MUL, up, stays, b.Scores());
  up = b.Pointwise(CUDNN_POINTWISE_MUL, b.Pointwise(CUDNN_POINTWISE_SUB, up, sums, b.Scores()), weights, b.Scores());
  if (drops) up = b.Pointwise(CUDNN_POINTWISE_MUL, up, dropout_scale, b.Scores());
  const Tensor scores = b.Pointwise(CUDNN_POINTWISE_MUL, up, scale, b.Scores(b.Io()));
  b.Product(b.Reshape(scores, b.ScoresExchanged()), query, b.Key(kKeyGrad));
  const Tensor plain = b.Reshape(key, b.Key(0));
  const Tensor query_sums = b.Make(kQuerySums, {p.batch, p.heads, p.rows, p.width},
                                   {{p.heads * p.rows * p.width, p.rows * p.width, p.width, 1}}, CUDNN_DATA_FLOAT);
  b.Pointwise(CUDNN_POINTWISE_IDENTITY, b.Product(scores, plain, query_sums), nullptr, b.Query(kQueryGrad));
  return b.Finish(handle);
}

std::vector<EngineConfig> Candidates(const AttentionProblem& p, int heuristic_mode, const RunContext& run) {
  const cudnnHandle_t handle = CudnnHandleOf(run, p);
  std::shared_ptr<CudnnGraph> graph;
  try {
    graph = Build(p, handle);
  } catch (const Error&) {
    return {};  // such a graph is not supported
  }
  return CudnnCandidates(graph, heuristic_mode, p);
}

bool Prepare(const AttentionProblem& p, EngineConfig* config, const RunContext& run) {
  return CudnnPrepare(config, CudnnHandleOf(run, p), p);
}

void Run(const AttentionProblem& p, const EngineConfig& config, const AttentionOperands& o, void* workspace, const RunContext& run) {
  CudnnOperands all;
  auto add = [&all](int64_t uid, const void* pointer) { all.Add(uid, pointer); };
  const float kept = 1 - p.dropout;
  add(kQuery, o.query), add(kKey, o.key), add(kValue, o.value), add(kOutput, o.output);
  all.AddNumber(kScale, o.scale);
  if (p.mask) add(kMask, o.mask);
  if (p.statistics || p.backward) add(kStatistics, o.statistics);
  if (p.dropout > 0) {
    add(kSeed, o.seed), add(kOffset, o.offset);
    all.AddNumber(kDropoutScale, 1 / kept);
  }
  if (p.backward) {
    add(kOgrad, o.ograd), add(kQueryGrad, o.query_grad), add(kKeyGrad, o.key_grad), add(kValueGrad, o.value_grad);
    add(kSums, o.sums), add(kQuerySums, o.query_sums);
    all.AddNumber(kKept, kept);
    // before 9.6 the sums had to be cleared by the caller
    if (cudnnGetVersion() < 90600) ZeroBytes(run, o.query_sums, p.batch * p.heads * p.rows * p.width * static_cast<int64_t>(sizeof(float)));
  }
  CheckCudnn(CudnnExecute(config, all, workspace, CudnnHandleOf(run, p), p), "running", p);
}

}  // namespace

std::vector<EngineConfig> HopperEngines(const AttentionProblem& problem) {
  const std::shared_ptr<CudnnGraph> graph = Build(problem, nullptr);
  const Descriptor device = CudnnHopper(problem);
  return CudnnCandidates(graph, 0, problem, &device);
}

namespace {

const AttentionLibrary kCudnn = {Candidates, Prepare, Run};
[[maybe_unused]] const bool registered = GpuInterface().attention.Register(&kCudnn);

}  // namespace
}  // namespace gpu_library
}  // namespace mxnet
