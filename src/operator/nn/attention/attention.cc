// _fused_attention: softmax(scale * query key^T + mask) value (Vaswani et al., arXiv 1706.03762)
// without the matrix of scores in memory: some rows of scores at a time, as many as the
// second-level cache holds (after Dao et al., arXiv 2205.14135). Dropout draws its decisions from
// counters, so that the backward pass knows them without an array of them.
#include "operator/nn/attention/attention.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <vector>

#include "base/ran.h"
#include "mxnet/env.h"
#include "operator/control/written_out.h"
#include "operator/nn/activation/dropout_kernels.h"
#include "operator/nn/attention/attention_scores.h"
#include "operator/nn/attention/attention_twice.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/softmax/softmax_kernels.h"
#include "operator/nodes/make_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/traits.h"
#include "operator/shared/gemm.h"

namespace mxnet {
namespace nn {
namespace {

constexpr char kName[] = "_fused_attention";
constexpr int64_t kScores =
    128
    << 10;  // elements of a block of scores; each block reads all keys and values of its head, and backwards adds to all their gradients

const char* const kLayoutNames[] = {"separate", "selfatt", "encdec"};

std::shared_ptr<const void> Parse(const AttrDict& dict) {
  auto p = std::make_shared<AttentionParam>();
  for (const auto& kv : dict) {
    if (kv.first.compare(0, 2, "__") == 0) continue;
    char* end = nullptr;
    const double v = std::strtod(kv.second.c_str(), &end);
    const bool number = !kv.second.empty() && !*end;
    const auto layout = std::find(std::begin(kLayoutNames), std::end(kLayoutNames), kv.second);
    if (kv.first == "scale" && number)
      p->scale = v;
    else if (kv.first == "heads" && number && v >= 1 && v <= 1e6)
      p->heads = static_cast<int64_t>(v);
    else if (kv.first == "shared" && number && v >= 1 && v <= 1e6)
      p->shared = static_cast<int64_t>(v);
    else if (kv.first == "layout" && layout != std::end(kLayoutNames))
      p->layout = static_cast<AttentionLayout>(layout - kLayoutNames);
    else if (kv.first == "with_mask" && number)
      p->mask = v != 0;
    else if (kv.first == "with_length" && number)
      p->length = v != 0;
    else if (kv.first == "dropout" && number && v >= 0 && v <= 1)
      p->dropout = static_cast<float>(v);
    else if (kv.first == "with_zeros" && number)
      p->zeros = v != 0;
    else if (kv.first == "with_statistics" && number)
      p->statistics = v != 0;
    else
      MXNET_THROW(Value) << "[_fused_attention] " << kv.first << "='" << kv.second
                         << "'; accepted: scale=NUMBER, heads and shared=1 or more, layout=separate, selfatt or encdec, "
                         << "with_mask, with_length, with_zeros and with_statistics=0 or 1, dropout=0 to 1";
  }
  return p;
}

bool Fits(const AttentionParam& p, const ShapeVector& in) {
  for (int i = 0; i < p.Arrays(); ++i)
    if (in[i].ndim() != 3) return false;
  const Shape& q = in[0];
  if (p.shared > 1 && (p.layout != AttentionLayout::kSeparate || p.heads > 1)) return false;
  if (p.layout == AttentionLayout::kSelf) return q[2] % (3 * p.heads) == 0;
  const Shape& k = in[1];
  if (p.layout == AttentionLayout::kCross) return q[1] == k[1] && q[2] % p.heads == 0 && k[2] == 2 * q[2];
  const Shape& v = in[2];
  return q[0] == k[0] * p.shared && k[0] == v[0] && q[2] == k[2] && k[1] == v[1] && q[2] % p.heads == 0 && v[2] % p.heads == 0;
}

const char* Accepted(AttentionLayout layout) {
  if (layout == AttentionLayout::kSelf) return "(steps, batch, heads x 3 x width)";
  if (layout == AttentionLayout::kCross) return "queries (rows, batch, heads x width), keys and values (columns, batch, heads x 2 x width)";
  return "query (batch, rows, width), key (batch, columns, width), value (batch, columns, width of values), widths being multiples of the "
         "heads";
}

bool InferAttentionShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<AttentionParam>();
  std::ostringstream given;
  for (int i = 0; i < p.Arrays(); ++i) {
    if (!(*in)[i].known()) return false;
    given << (i ? ", " : "") << (*in)[i];
  }
  MXNET_CHECK_KIND(Fits(p, *in), Value) << "[_fused_attention] arrays " << given.str() << " with " << p.heads
                                        << " heads; accepted: " << Accepted(p.layout);
  const AttentionDims d(p, in->data());
  const int64_t all = d.batch * d.heads;
  AssignShape(attrs, "output", &(*out)[0],
              p.layout == AttentionLayout::kSeparate ? Shape{d.batch, d.rows, d.heads * d.value_width}
                                                     : Shape{d.rows, d.batch, d.heads * d.value_width});
  if (p.statistics) AssignShape(attrs, "statistics", &(*out)[1], Shape{all, d.rows});
  if (p.mask) {
    const Shape &m = (*in)[p.Arrays()], scores{all, d.rows, d.columns};
    if (!m.known()) return false;
    bool fits = m.ndim() == 3;
    for (int i = 0; fits && i < 3; ++i) fits = m[i] == 1 || m[i] == scores[i];
    MXNET_CHECK_KIND(fits, Value) << "[_fused_attention] mask " << m << "; accepted: what broadcasts to " << scores;
  }
  if (p.length) {
    const Shape& l = (*in)[p.LengthAt()];
    if (!l.known()) return false;
    MXNET_CHECK_KIND(l.ndim() == 2 && l[0] == all && (l[1] == 1 || l[1] == d.rows), Value)
        << "[_fused_attention] length " << l << "; accepted: " << Shape{all, d.rows} << " or " << Shape{all, 1};
  }
  if (p.dropout > 0) AssignShape(attrs, "draws", &(*in)[p.DrawsAt()], Shape{4});
  return true;
}

bool InferAttentionType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const auto& p = attrs.get<AttentionParam>();
  int dtype = (*out)[0];
  for (int i = 0; i < p.Arrays() && dtype == kDTypeUnknown; ++i) dtype = (*in)[i];
  if (p.statistics) AssignType(attrs, "statistics", &(*out)[1], kFloat32);
  if (p.length && (*in)[p.LengthAt()] == kDTypeUnknown) (*in)[p.LengthAt()] = kInt32;
  if (p.dropout > 0) AssignType(attrs, "draws", &(*in)[p.DrawsAt()], kInt64);
  if (dtype == kDTypeUnknown) return false;
  for (int i = 0; i < p.Arrays(); ++i) AssignType(attrs, "array", &(*in)[i], dtype);
  AssignType(attrs, "output", &(*out)[0], dtype);
  if (p.mask && (*in)[p.Arrays()] == kDTypeUnknown) (*in)[p.Arrays()] = dtype;  // it may have another one
  return true;
}

std::vector<Shape> ShapesFrom(const KernelArgs& args, int first) {
  std::vector<Shape> shapes;
  for (int i = 0; i < args.param<AttentionParam>().Arrays(); ++i) shapes.push_back(args.in[first + i].shape);
  return shapes;
}

/* Of the arrays (inputs `first` and the next), mask and lengths: a block of rows of one head's
 * weights. */
class Heads {
 public:
  Heads(KernelArgs& args, int first)
      : d(args, first),
        scores(args, first, d),
        count(d.batch * d.heads),
        block(std::min(d.rows, std::max<int64_t>(16, kScores / std::max<int64_t>(1, d.columns)))),
        scale(static_cast<float>(args.param<AttentionParam>().scale)),
        keep_(args.param<AttentionParam>().dropout) {
    const auto& p = args.param<AttentionParam>();
    for (int i = 0; i < p.Arrays(); ++i) arrays_[i] = args.in[first + i].data<float>();
    if (p.dropout > 0) draws_ = args.in[first + p.DrawsAt()].data<uint64_t>();
  }

  const float* Query(int64_t head, int64_t row) const { return At(d.query, head, row); }
  const float* Key(int64_t head) const { return At(d.key, head, 0); }
  const float* Value(int64_t head) const { return At(d.value, head, 0); }
  int64_t Place(const HeadsIn& in, int64_t head, int64_t row) const { return in.At(head / d.heads, head % d.heads, row); }
  int64_t Columns(int64_t head) const { return scores.Columns(head); }

  /* softmax(scale * query key^T + mask) of n rows and the first `columns` columns, which are all
   * that count. */
  void Weights(int64_t head, int64_t first, int64_t n, int64_t columns, float* weights) const {
    Gemm(false, true, n, columns, d.width, scale, Query(head, first), d.query.row, Key(head), d.key.row, 0.f, weights, columns);
    scores.Softmax(head, first, n, columns, 1.f, weights);
  }
  /* y = weights, or their gradients, after dropout: as the operator Dropout with the same counters,
   * all columns being there. y may be x. */
  void Drop(int64_t head, int64_t first, int64_t n, int64_t columns, const float* x, float* y) const {
    const int64_t at = (head * d.rows + first) * d.columns, lines = columns == d.columns ? 1 : n,
                  length = columns == d.columns ? n * columns : columns;
    for (int64_t i = 0; i < lines; ++i) MXNET_CPU_CALL(DropoutApply)
    (draws_[0], draws_[1], keep_.threshold, static_cast<float>(keep_.scale), at + i * d.columns, x + i * columns, y + i * columns, length);
  }
  bool drops() const { return draws_ != nullptr; }
  /* Gradients of the weights become those of what is behind the softmax. */
  void Backward(const float* weights, float* grad, int64_t n, int64_t columns) const {
    MXNET_CPU_CALL(SoftmaxBackward)(scores.Call(columns), kFloat32, grad, weights, grad, 0, n);
  }

  const AttentionDims d;
  const AttentionScores scores;
  const int64_t count, block;  // of heads in all; rows of a block
  const float scale;

 private:
  const float* At(const HeadsIn& in, int64_t head, int64_t row) const { return arrays_[in.array] + Place(in, head, row); }

  const float* arrays_[3] = {};
  const uint64_t* draws_ = nullptr;  // seed, counter
  const Keep keep_;
};

void ForwardFloat(KernelArgs& args) {
  const TBlob& out = args.out[0];
  Ran("attention by blocks");
  const Heads h(args, 0);
  const AttentionDims& d = h.d;
  float* y = out.data<float>();
  if (d.columns == 0) {
    std::fill_n(y, out.Size(), 0.f);
    return;
  }
  const int64_t blocks = (d.rows + h.block - 1) / h.block;
  const int64_t grain = std::max<int64_t>(1, 100000 / std::max<int64_t>(1, h.block * d.columns * (d.width + d.value_width)));
  ParallelFor(h.count * blocks, grain, [&](int64_t begin, int64_t end) {
    static thread_local std::vector<float> memory;
    if (memory.size() < static_cast<size_t>(h.block * d.columns)) memory.resize(h.block * d.columns);
    float* weights = memory.data();
    for (int64_t item = begin; item < end; ++item) {
      const int64_t head = item / blocks, first = item % blocks * h.block, n = std::min(h.block, d.rows - first), columns = h.Columns(head);
      h.Weights(head, first, n, columns, weights);
      if (h.drops()) h.Drop(head, first, n, columns, weights, weights);
      Gemm(false, false, n, d.value_width, columns, 1.f, weights, columns, h.Value(head), d.value.row, 0.f,
           y + h.Place(d.output, head, first), d.output.row);
    }
  });
}

// ograd, arrays, [mask], [length], [draws] -> gradients of the arrays. The weights are computed
// again, block by block; each head belongs to one thread, which adds its blocks in order.
void BackwardFloat(KernelArgs& args) {
  Ran("attention by blocks");
  const Heads h(args, 1);
  const AttentionDims& d = h.d;
  const int arrays = args.param<AttentionParam>().Arrays();
  if (d.rows == 0 || d.columns == 0 || h.count == 0) {
    for (int i = 0; i < arrays; ++i)
      if (Wanted(args, i)) std::fill_n(args.out[i].data<float>(), args.out[i].Size(), 0.f);
    return;
  }
  const float* ograd = args.in[0].data<float>();
  auto grads_of = [&](const HeadsIn& in) { return Wanted(args, in.array) ? args.out[in.array].data<float>() : nullptr; };
  float *const query_grad = grads_of(d.query), *const key_grad = grads_of(d.key), *const value_grad = grads_of(d.value);
  ParallelFor(h.count, 1, [&](int64_t begin, int64_t end) {
    static thread_local std::vector<float> memory;
    const int64_t size = h.block * d.columns;
    if (memory.size() < static_cast<size_t>(2 * size)) memory.resize(2 * size);
    float *weights = memory.data(), *grad = weights + size;
    for (int64_t head = begin; head < end; ++head) {
      const int64_t columns = h.Columns(head);
      for (int64_t j = columns; j < d.columns; ++j) {
        if (key_grad) std::fill_n(key_grad + h.Place(d.key, head, j), d.width, 0.f);
        if (value_grad) std::fill_n(value_grad + h.Place(d.value, head, j), d.value_width, 0.f);
      }
      for (int64_t first = 0; first < d.rows; first += h.block) {
        const int64_t n = std::min(h.block, d.rows - first);
        const float before = first ? 1.f : 0.f, *og = ograd + h.Place(d.output, head, first);
        h.Weights(head, first, n, columns, weights);
        if (h.drops() && value_grad) h.Drop(head, first, n, columns, weights, grad);
        if (value_grad)
          Gemm(true, false, columns, d.value_width, n, 1.f, h.drops() ? grad : weights, columns, og, d.output.row, before,
               value_grad + h.Place(d.value, head, 0), d.value.row);
        if (!query_grad && !key_grad) continue;
        Gemm(false, true, n, columns, d.value_width, 1.f, og, d.output.row, h.Value(head), d.value.row, 0.f, grad, columns);
        if (h.drops()) h.Drop(head, first, n, columns, grad, grad);
        h.Backward(weights, grad, n, columns);
        if (query_grad)
          Gemm(false, false, n, d.width, columns, h.scale, grad, columns, h.Key(head), d.key.row, 0.f,
               query_grad + h.Place(d.query, head, first), d.query.row);
        if (key_grad)
          Gemm(true, false, columns, d.width, n, h.scale, grad, columns, h.Query(head, first), d.query.row, before,
               key_grad + h.Place(d.key, head, 0), d.key.row);
      }
    }
  });
}

void CheckTypes(const KernelArgs& args, int first) {
  const auto& p = args.param<AttentionParam>();
  for (int i = 0; i < args.in.size(); ++i) {
    if ((p.length && i == first + p.LengthAt()) || (p.dropout > 0 && i == first + p.DrawsAt())) continue;
    const bool mask = p.mask && i == first + p.Arrays();
    MXNET_CHECK_KIND(args.in[i].dtype == kFloat32 || IsHalf(args.in[i].dtype) || (mask && args.in[i].dtype == kBool), Type)
        << Named(*args.attrs) << "dtype " << DTypeName(args.in[i].dtype) << "; accepted: float32, float16, bfloat16"
        << (mask ? ", bool" : "");
  }
}

// The statistics are written on GPUs alone: here the weights are computed again.
void Forward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  CheckTypes(args, 0);
  if (args.run.ctx.is_gpu()) return AttentionOnDevice(args);
  if (BfloatAttention(args)) return;
  RunReal(args, [](KernelArgs& a, auto) { ForwardFloat(a); });
}
void Backward(KernelArgs& args) {
  CheckTypes(args, 1);
  if (args.run.ctx.is_gpu()) return AttentionBackwardOnDevice(args);
  RunReal(args, [](KernelArgs& a, auto) { BackwardFloat(a); });
}

std::vector<NodeEntry> Gradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& p = node->attrs->get<AttentionParam>();
  std::vector<NodeEntry> inputs = {ograds[0]};
  inputs.insert(inputs.end(), node->inputs.begin(), node->inputs.end());
  if (p.statistics) inputs.insert(inputs.end(), {NodeEntry{node, 0, 0}, NodeEntry{node, 1, 0}});
  NodePtr back = MakeNodeLike("_backward_fused_attention", *node, std::move(inputs));
  std::vector<NodeEntry> grads;
  for (int i = 0; i < p.Arrays(); ++i) grads.push_back(NodeEntry{back, static_cast<uint32_t>(i), 0});
  grads.resize(node->inputs.size());  // none of mask, lengths and draws: the pass sees to that
  return grads;
}

std::vector<std::string> InputNames(const Attrs& a) {
  const auto& p = a.get<AttentionParam>();
  std::vector<std::string> names = p.layout == AttentionLayout::kSelf    ? std::vector<std::string>{"queries_keys_values"}
                                   : p.layout == AttentionLayout::kCross ? std::vector<std::string>{"queries", "keys_values"}
                                                                         : std::vector<std::string>{"query", "key", "value"};
  if (p.mask) names.push_back("mask");
  if (p.length) names.push_back("length");
  if (p.dropout > 0) names.push_back("draws");
  return names;
}
std::vector<std::string> BackwardInputNames(const Attrs& a) {
  std::vector<std::string> names = InputNames(a);
  names.insert(names.begin(), "ograd");
  if (a.get<AttentionParam>().statistics) names.insert(names.end(), {"output", "statistics"});
  return names;
}
std::vector<std::string> GradientNames(const Attrs& a) {
  std::vector<std::string> names = InputNames(a);
  names.resize(a.get<AttentionParam>().Arrays());
  for (std::string& name : names) name += "_grad";
  return names;
}

/* Products of a forward pass and, with `again`, their gradients, as though all columns counted. */
double Flops(const Attrs& a, Span<const TBlob> in, int first, bool again) {
  KernelArgs args;
  args.attrs = &a;
  args.in = in;
  const AttentionDims d(args, first);
  return 2.0 * static_cast<double>(d.batch * d.heads * d.rows) * static_cast<double>(d.columns) *
         static_cast<double>((again ? 3 : 1) * d.width + (again ? 2 : 1) * d.value_width);
}

Op& WithParser(Op& op) {
  op.parse = Parse;
  return op;
}

[[maybe_unused]] Op& record =
    WithParser(Op::Register(kName))
        .describe(
            "dropout(softmax(scale * query key^T + mask)) value for every head; made by the plan compiler.\n\n"
            "layout separate: query (batch, rows, heads x width), key (batch, columns, heads x width), value (batch, columns, heads x "
            "value width);\n"
            "the output has shape (batch, rows, heads x value width). selfatt: one array (steps, batch, heads x 3 x width), per head "
            "query, key and value.\n"
            "encdec: queries (rows, batch, heads x width), and (columns, batch, heads x 2 x width), per head key and value; both have "
            "outputs\n"
            "(rows, batch, heads x width). mask is broadcast to (batch x heads, rows, columns); where a boolean one is false, the weight "
            "is 0. With shared=n key and value have a batch n times smaller. length,\n"
            "(batch x heads, rows) or (batch x heads, 1), says how many columns count. With dropout=p weights are 0 with probability p "
            "and\n"
            "others divided by 1 - p, by random numbers from the counters that draws, of _draw_counters, tells. With with_zeros a row of "
            "weights that are NaN is zeros. With with_statistics a GPU "
            "keeps a number for each row for the backward pass.")
        .set_inputs({"query", "key", "value", "mask", "length", "draws"}, [](const Attrs& a) { return a.get<AttentionParam>().Inputs(); })
        .set_list_inputs(InputNames)
        .set_outputs(
            {"output", "statistics"}, [](const Attrs& a) { return a.get<AttentionParam>().statistics ? 2 : 1; },
            [](const Attrs&) { return 1; })
        .set_infer_shape(InferAttentionShape)
        .set_infer_type(InferAttentionType)
        .set_dtypes(dtypes::kFloatsUpTo32)
        .set_expensive_to_recompute()
        .set_trait(Role::kAttention)
        .set_flops([](const Attrs& a, Span<const TBlob> in, Span<const TBlob>) { return Flops(a, in, 0, false); })
        .set_gradient(Gradient)
        .set_kernel(Forward);

[[maybe_unused]] Op& backward =
    WithParser(Op::Register("_backward_fused_attention"))
        .describe("Gradients of _fused_attention with respect to its arrays.")
        .set_inputs({"ograd", "query", "key", "value", "mask", "length", "draws", "output", "statistics"},
                    [](const Attrs& a) { return 1 + a.get<AttentionParam>().Inputs() + 2 * a.get<AttentionParam>().statistics; })
        .set_list_inputs(BackwardInputNames)
        .set_dtypes(dtypes::kAll)
        .set_outputs({"query_grad", "key_grad", "value_grad"}, [](const Attrs& a) { return a.get<AttentionParam>().Arrays(); })
        .set_list_outputs(GradientNames)
        .set_infer_shape(LikeInputsShape(1))
        .set_infer_type(LikeInputsType(1))
        .set_flops([](const Attrs& a, Span<const TBlob> in, Span<const TBlob>) { return Flops(a, in, 1, true); })
        .set_gradient(GradientOfWrittenOut(
            [](const Node& back, const std::vector<NodeEntry>& inputs) {
              return std::vector<NodeEntry>{WriteOutAttention(back.attrs->get<AttentionParam>(), inputs)};
            },
            [](const Attrs&) { return 1; }, [](const Attrs& a) { return a.get<AttentionParam>().Inputs(); }))
        .set_kernel(Backward);

}  // namespace

NodePtr MakeAttention(const AttentionParam& param, std::vector<NodeEntry> inputs, const std::string& name) {
  return MakeNode(kName, std::move(inputs),
                  {{"dropout", ExactText(static_cast<double>(param.dropout))},
                   {"scale", ExactText(param.scale)},
                   {"heads", std::to_string(param.heads)},
                   {"shared", std::to_string(param.shared)},
                   {"layout", kLayoutNames[static_cast<int>(param.layout)]},
                   {"with_mask", param.mask ? "1" : "0"},
                   {"with_length", param.length ? "1" : "0"},
                   {"with_zeros", param.zeros ? "1" : "0"},
                   {"with_statistics", param.statistics ? "1" : "0"}},
                  name);
}

AttentionDims::AttentionDims(const AttentionParam& p, const Shape* arrays) : heads(p.heads) {
  const Shape& q = arrays[0];
  if (p.layout == AttentionLayout::kSeparate) {
    const Shape &k = arrays[1], &v = arrays[2];
    batch = q[0], rows = q[1], columns = k[1], width = q[2] / heads, value_width = v[2] / heads;
    auto lie = [this](int array, int64_t length, int64_t size) { return HeadsIn{array, 0, length * heads * size, size, heads * size}; };
    query = lie(0, rows, width), key = lie(1, columns, width), value = lie(2, columns, value_width), output = lie(0, rows, value_width);
    key.shared = value.shared = p.shared;
    return;
  }
  const bool self = p.layout == AttentionLayout::kSelf;
  const int parts = self ? 3 : 2, other = self ? 0 : 1;
  batch = q[1], rows = q[0], columns = arrays[other][0], width = value_width = arrays[other][2] / (heads * parts);
  auto lie = [this](int array, int64_t count, int64_t part) {
    return HeadsIn{array, part * width, heads * count * width, count * width, batch * heads * count * width};
  };
  query = lie(0, self ? 3 : 1, 0), key = lie(other, parts, parts - 2), value = lie(other, parts, parts - 1), output = lie(0, 1, 0);
}

AttentionDims::AttentionDims(const KernelArgs& args, int first)
    : AttentionDims(args.param<AttentionParam>(), ShapesFrom(args, first).data()) {}

}  // namespace nn
}  // namespace mxnet
