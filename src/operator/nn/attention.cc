// _fused_attention: softmax(scale * query key^T + mask) value (Vaswani et al., arXiv 1706.03762) without the matrix of scores in memory:
// some rows of scores at a time, as many as the second-level cache holds (after Dao et al., arXiv 2205.14135).
#include "operator/nn/attention.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "mxnet/env.h"
#include "operator/gemm.h"
#include "operator/nn/nn_common.h"
#include "operator/nn/softmax_kernels.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int64_t kScores = 48 << 10, kScoresBackward = 128 << 10;   // elements of a block of scores; backward each adds to all of two gradients

std::shared_ptr<const void> Parse(const AttrDict& dict) {
  auto p = std::make_shared<AttentionParam>();
  for (const auto& kv : dict) {
    if (kv.first.compare(0, 2, "__") == 0) continue;
    char* end = nullptr;
    const double v = std::strtod(kv.second.c_str(), &end);
    const bool number = !kv.second.empty() && !*end;
    if (kv.first == "scale" && number) p->scale = v;
    else if (kv.first == "heads" && number && v >= 1 && v <= 1e6) p->heads = static_cast<int64_t>(v);
    else if (kv.first == "with_mask" && number) p->mask = v != 0;
    else if (kv.first == "with_statistics" && number) p->statistics = v != 0;
    else MXNET_THROW(Value) << "[_fused_attention] " << kv.first << "='" << kv.second << "'; accepted: scale=NUMBER, heads=1 or more, with_mask=0 or 1, with_statistics=0 or 1";
  }
  return p;
}

bool InferAttentionShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<AttentionParam>();
  const Shape &q = (*in)[0], &k = (*in)[1], &v = (*in)[2];
  if (!q.known() || !k.known() || !v.known()) return false;
  MXNET_CHECK_KIND(q.ndim() == 3 && k.ndim() == 3 && v.ndim() == 3 && q[0] == k[0] && q[0] == v[0] && q[2] == k[2] && k[1] == v[1] && q[2] % p.heads == 0 && v[2] % p.heads == 0, Value)
      << "[_fused_attention] query " << q << ", key " << k << ", value " << v << " with " << p.heads
      << " heads; accepted: (batch, rows, width), (batch, columns, width), (batch, columns, width of values), widths being multiples of the heads";
  AssignShape(attrs, "output", &(*out)[0], Shape{q[0], q[1], v[2]});
  if (p.statistics) AssignShape(attrs, "statistics", &(*out)[1], Shape{q[0] * p.heads, q[1]});
  if (!p.mask) return true;
  const Shape &m = (*in)[3], scores{q[0] * p.heads, q[1], k[1]};
  if (!m.known()) return false;
  bool fits = m.ndim() == 3;
  for (int i = 0; fits && i < 3; ++i) fits = m[i] == 1 || m[i] == scores[i];
  MXNET_CHECK_KIND(fits, Value) << "[_fused_attention] mask " << m << "; accepted: what broadcasts to " << scores;
  return true;
}

bool InferAttentionType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const auto& p = attrs.get<AttentionParam>();
  int dtype = (*out)[0];
  for (int i = 0; i < 3 && dtype == kDTypeUnknown; ++i) dtype = (*in)[i];
  if (p.statistics) AssignType(attrs, "statistics", &(*out)[1], kFloat32);
  if (dtype == kDTypeUnknown) return false;
  for (int i = 0; i < 3; ++i) AssignType(attrs, attrs.op->input_names[i].c_str(), &(*in)[i], dtype);
  AssignType(attrs, "output", &(*out)[0], dtype);
  if (p.mask && (*in)[3] == kDTypeUnknown) (*in)[3] = dtype;   // it may have another one
  return true;
}

/* Where the heads lie in query, key, value, mask (inputs `first` and the next) and in what has their shapes; a block of rows of one head's weights. */
class Heads {
 public:
  Heads(const KernelArgs& args, int first, int64_t scores)
      : p_(args.param<AttentionParam>()), query_(args.in[first].data<float>()), key_(args.in[first + 1].data<float>()), value_(args.in[first + 2].data<float>()),
        q_row(args.in[first].shape[2]), k_row(args.in[first + 1].shape[2]), v_row(args.in[first + 2].shape[2]), rows(args.in[first].shape[1]),
        columns(args.in[first + 1].shape[1]), width(q_row / p_.heads), value_width(v_row / p_.heads), count(args.in[first].shape[0] * p_.heads),
        block(std::min(rows, std::max<int64_t>(16, scores / std::max<int64_t>(1, columns)))), scale(static_cast<float>(p_.scale)) {
    softmax_.length = columns;
    softmax_.safe = Env::Get().safe_accumulation;
    if (!p_.mask) return;
    mask_ = args.in[first + 3].data<float>();
    const Shape& m = args.in[first + 3].shape;
    step_[0] = m[0] == 1 ? 0 : m[1] * m[2], step_[1] = m[1] == 1 ? 0 : m[2], step_[2] = m[2] == 1 ? 0 : 1;
  }

  int64_t OfQuery(int64_t head, int64_t row) const { return (head / p_.heads * rows + row) * q_row + head % p_.heads * width; }
  int64_t OfKey(int64_t head) const { return head / p_.heads * columns * k_row + head % p_.heads * width; }
  int64_t OfValue(int64_t head) const { return head / p_.heads * columns * v_row + head % p_.heads * value_width; }
  int64_t OfOutput(int64_t head, int64_t row) const { return (head / p_.heads * rows + row) * v_row + head % p_.heads * value_width; }
  const float* Query(int64_t head, int64_t row) const { return query_ + OfQuery(head, row); }
  const float* Key(int64_t head) const { return key_ + OfKey(head); }
  const float* Value(int64_t head) const { return value_ + OfValue(head); }

  /* softmax(scale * query key^T + mask) of n rows. */
  void Weights(int64_t head, int64_t first, int64_t n, float* weights) const {
    Gemm(false, true, n, columns, width, scale, Query(head, first), q_row, Key(head), k_row, 0.f, weights, columns);
    for (int64_t i = 0; mask_ && i < n; ++i) {
      const float* m = mask_ + head * step_[0] + (first + i) * step_[1];
      float* s = weights + i * columns;
      if (step_[2]) for (int64_t j = 0; j < columns; ++j) s[j] += m[j];
      else for (int64_t j = 0; j < columns; ++j) s[j] += *m;
    }
    MXNET_CPU_CALL(SoftmaxForward)(softmax_, kFloat32, weights, weights, 0, n);
  }
  /* Gradients of the weights become those of what is behind the softmax. */
  void Backward(const float* weights, float* grad, int64_t n) const { MXNET_CPU_CALL(SoftmaxBackward)(softmax_, kFloat32, grad, weights, grad, 0, n); }

 private:
  const AttentionParam& p_;
  const float *query_, *key_, *value_, *mask_ = nullptr;
  int64_t step_[3] = {0, 0, 0};
  SoftmaxCall softmax_;

 public:
  const int64_t q_row, k_row, v_row, rows, columns, width, value_width;
  const int64_t count, block;   // of heads in all; rows of a block
  const float scale;
};

void ForwardFloat(KernelArgs& args) {
  const TBlob& out = args.out[0];
  const Heads h(args, 0, kScores);
  float* y = out.data<float>();
  if (h.columns == 0) {
    std::fill_n(y, out.Size(), 0.f);
    return;
  }
  const int64_t blocks = (h.rows + h.block - 1) / h.block;
  const int64_t grain = std::max<int64_t>(1, 100000 / std::max<int64_t>(1, h.block * h.columns * (h.width + h.value_width)));
  ParallelFor(h.count * blocks, grain, [&](int64_t begin, int64_t end) {
    static thread_local std::vector<float> memory;
    if (memory.size() < static_cast<size_t>(h.block * h.columns)) memory.resize(h.block * h.columns);
    float* weights = memory.data();
    for (int64_t item = begin; item < end; ++item) {
      const int64_t head = item / blocks, first = item % blocks * h.block, n = std::min(h.block, h.rows - first);
      h.Weights(head, first, n, weights);
      Gemm(false, false, n, h.value_width, h.columns, 1.f, weights, h.columns, h.Value(head), h.v_row, 0.f, y + h.OfOutput(head, first), h.v_row);
    }
  });
}

// ograd, query, key, value, [mask] -> query_grad, key_grad, value_grad. The weights are computed again, block by block; each head belongs to one thread, which
// adds its blocks in order.
void BackwardFloat(KernelArgs& args) {
  const Heads h(args, 1, kScoresBackward);
  if (h.rows == 0 || h.columns == 0 || h.count == 0) {
    for (int i = 0; i < 3; ++i)
      if (Wanted(args, i)) std::fill_n(args.out[i].data<float>(), args.out[i].Size(), 0.f);
    return;
  }
  const float* ograd = args.in[0].data<float>();
  float* grads[3];
  for (int i = 0; i < 3; ++i) grads[i] = Wanted(args, i) ? args.out[i].data<float>() : nullptr;
  ParallelFor(h.count, 1, [&](int64_t begin, int64_t end) {
    static thread_local std::vector<float> memory;
    const int64_t size = h.block * h.columns;
    if (memory.size() < static_cast<size_t>(2 * size)) memory.resize(2 * size);
    float *weights = memory.data(), *grad = weights + size;
    for (int64_t head = begin; head < end; ++head)
      for (int64_t first = 0; first < h.rows; first += h.block) {
        const int64_t n = std::min(h.block, h.rows - first);
        const float before = first ? 1.f : 0.f, *og = ograd + h.OfOutput(head, first);
        h.Weights(head, first, n, weights);
        if (grads[2]) Gemm(true, false, h.columns, h.value_width, n, 1.f, weights, h.columns, og, h.v_row, before, grads[2] + h.OfValue(head), h.v_row);
        if (!grads[0] && !grads[1]) continue;
        Gemm(false, true, n, h.columns, h.value_width, 1.f, og, h.v_row, h.Value(head), h.v_row, 0.f, grad, h.columns);
        h.Backward(weights, grad, n);
        if (grads[0]) Gemm(false, false, n, h.width, h.columns, h.scale, grad, h.columns, h.Key(head), h.k_row, 0.f, grads[0] + h.OfQuery(head, first), h.q_row);
        if (grads[1]) Gemm(true, false, h.columns, h.width, n, h.scale, grad, h.columns, h.Query(head, first), h.q_row, before, grads[1] + h.OfKey(head), h.k_row);
      }
  });
}

void CheckTypes(const KernelArgs& args) {
  for (int i = 0; i < args.in.size(); ++i)
    MXNET_CHECK_KIND(args.in[i].dtype == kFloat32 || IsHalf(args.in[i].dtype), Type) << Named(*args.attrs) << "dtype " << DTypeName(args.in[i].dtype) << "; accepted: float32, float16, bfloat16";
}

// The statistics are written on GPUs alone: here the weights are computed again.
void Forward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  CheckTypes(args);
  if (args.run.ctx.is_gpu()) return AttentionOnDevice(args);
  RunReal(args, [](KernelArgs& a, auto) { ForwardFloat(a); });
}
void Backward(KernelArgs& args) {
  CheckTypes(args);
  if (args.run.ctx.is_gpu()) return AttentionBackwardOnDevice(args);
  RunReal(args, [](KernelArgs& a, auto) { BackwardFloat(a); });
}

std::vector<NodeEntry> Gradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  std::vector<NodeEntry> inputs = {ograds[0]};
  inputs.insert(inputs.end(), node->inputs.begin(), node->inputs.end());
  if (node->attrs->get<AttentionParam>().statistics) inputs.insert(inputs.end(), {NodeEntry{node, 0, 0}, NodeEntry{node, 1, 0}});
  NodePtr back = MakeNodeLike("_backward_fused_attention", *node, std::move(inputs));
  std::vector<NodeEntry> grads = {NodeEntry{back, 0, 0}, NodeEntry{back, 1, 0}, NodeEntry{back, 2, 0}};
  grads.resize(node->inputs.size());   // none of the mask: the pass sees to that
  return grads;
}

Op& WithParser(Op& op) {
  op.parse = Parse;
  return op;
}

[[maybe_unused]] Op& record = WithParser(Op::Register("_fused_attention"))
    .describe("softmax(scale * query key^T + mask) value for every head; made by the plan compiler.\n\n"
              "query (batch, rows, heads x width), key (batch, columns, heads x width), value (batch, columns, heads x value width), mask broadcast to\n"
              "(batch x heads, rows, columns); the output has shape (batch, rows, heads x value width).\n"
              "With with_statistics a GPU keeps a number for each row for the backward pass.")
    .set_inputs({"query", "key", "value", "mask"}, [](const Attrs& a) { return a.get<AttentionParam>().mask ? 4 : 3; })
    .set_outputs({"output", "statistics"}, [](const Attrs& a) { return a.get<AttentionParam>().statistics ? 2 : 1; }, [](const Attrs&) { return 1; })
    .set_infer_shape(InferAttentionShape).set_infer_type(InferAttentionType)
    .set_dtypes({kFloat32, kFloat16, kBfloat16})
    .set_dear()
    .set_flops([](const Attrs& a, Span<const TBlob> in, Span<const TBlob> out) {
      return 2.0 * in[1].shape[1] * (static_cast<double>(in[0].Size()) + static_cast<double>(out[0].Size()));
    })
    .set_gradient(Gradient)
    .set_kernel(Forward);

[[maybe_unused]] Op& backward = WithParser(Op::Register("_backward_fused_attention"))
    .describe("Gradients of _fused_attention with respect to query, key and value.")
    .set_inputs({"ograd", "query", "key", "value", "mask", "output", "statistics"}, [](const Attrs& a) { return 4 + a.get<AttentionParam>().mask + 2 * a.get<AttentionParam>().statistics; })
    .set_outputs({"query_grad", "key_grad", "value_grad"})
    .set_infer_shape(LikeInputsShape(1)).set_infer_type(LikeInputsType(1))
    .set_flops([](const Attrs& a, Span<const TBlob> in, Span<const TBlob> out) {
      return 2.0 * in[2].shape[1] * (3 * static_cast<double>(in[1].Size()) + 2 * static_cast<double>(in[0].Size()));
    })
    .set_kernel(Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
