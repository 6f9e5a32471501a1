// _fused_attention: softmax(scale * query key^T + mask) value (Vaswani et al., arXiv 1706.03762) without the matrix of scores in memory:
// some rows of scores at a time, as many as the second-level cache holds (after Dao et al., arXiv 2205.14135).
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

constexpr int64_t kScores = 48 << 10;   // elements of a block of scores

struct AttentionParam {
  double scale = 1;
  int64_t heads = 1;
  bool mask = false;
};

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
    else MXNET_THROW(Value) << "[_fused_attention] " << kv.first << "='" << kv.second << "'; accepted: scale=NUMBER, heads=1 or more, with_mask=0 or 1";
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
  if (!p.mask) return true;
  const Shape &m = (*in)[3], scores{q[0] * p.heads, q[1], k[1]};
  if (!m.known()) return false;
  bool fits = m.ndim() == 3;
  for (int i = 0; fits && i < 3; ++i) fits = m[i] == 1 || m[i] == scores[i];
  MXNET_CHECK_KIND(fits, Value) << "[_fused_attention] mask " << m << "; accepted: what broadcasts to " << scores;
  return true;
}

void Forward(KernelArgs& args) {
  const TBlob& out = args.out[0];
  if (args.req[0] == OpReq::kNull || out.Size() == 0) return;
  MXNET_CHECK_KIND(out.dtype == kFloat32, Type) << Named(*args.attrs) << "dtype " << DTypeName(out.dtype) << "; accepted: float32";
  const auto& p = args.param<AttentionParam>();
  const Shape &qs = args.in[0].shape, &ks = args.in[1].shape, &vs = args.in[2].shape;
  const int64_t heads = p.heads, rows = qs[1], columns = ks[1], width = qs[2] / heads, value_width = vs[2] / heads;
  const float *query = args.in[0].data<float>(), *key = args.in[1].data<float>(), *value = args.in[2].data<float>();
  const float* mask = p.mask ? args.in[3].data<float>() : nullptr;
  int64_t mask_step[3] = {0, 0, 0};
  if (mask) {
    const Shape& m = args.in[3].shape;
    mask_step[0] = m[0] == 1 ? 0 : m[1] * m[2], mask_step[1] = m[1] == 1 ? 0 : m[2], mask_step[2] = m[2] == 1 ? 0 : 1;
  }
  float* y = out.data<float>();
  if (columns == 0) {
    std::fill_n(y, out.Size(), 0.f);
    return;
  }
  const int64_t block = std::min(rows, std::max<int64_t>(16, kScores / columns)), blocks = (rows + block - 1) / block, items = qs[0] * heads * blocks;
  const int64_t grain = std::max<int64_t>(1, 100000 / std::max<int64_t>(1, block * columns * (width + value_width)));
  ParallelFor(items, grain, [&](int64_t begin, int64_t end) {
    static thread_local std::vector<float> memory;
    if (memory.size() < static_cast<size_t>(block * columns)) memory.resize(block * columns);
    float* scores = memory.data();
    SoftmaxCall softmax;
    softmax.length = columns;
    softmax.safe = Env::Get().safe_accumulation;
    for (int64_t item = begin; item < end; ++item) {
      const int64_t head = item / blocks, first = item % blocks * block, n = std::min(block, rows - first), b = head / heads, h = head % heads;
      const float *q = query + (b * rows + first) * qs[2] + h * width, *k = key + b * columns * ks[2] + h * width, *v = value + b * columns * vs[2] + h * value_width;
      Gemm(false, true, n, columns, width, static_cast<float>(p.scale), q, qs[2], k, ks[2], 0.f, scores, columns);
      if (mask)
        for (int64_t i = 0; i < n; ++i) {
          const float* m = mask + head * mask_step[0] + (first + i) * mask_step[1];
          float* s = scores + i * columns;
          if (mask_step[2]) for (int64_t j = 0; j < columns; ++j) s[j] += m[j];
          else for (int64_t j = 0; j < columns; ++j) s[j] += *m;
        }
      MXNET_CPU_CALL(SoftmaxForward)(softmax, kFloat32, scores, scores, 0, n);
      Gemm(false, false, n, value_width, columns, 1.f, scores, columns, v, vs[2], 0.f, y + (b * rows + first) * vs[2] + h * value_width, vs[2]);
    }
  });
}

Op& WithParser(Op& op) {
  op.parse = Parse;
  return op;
}

[[maybe_unused]] Op& record = WithParser(Op::Register("_fused_attention"))
    .describe("softmax(scale * query key^T + mask) value for every head; made by the plan compiler.\n\n"
              "query (batch, rows, heads x width), key (batch, columns, heads x width), value (batch, columns, heads x value width), mask broadcast to\n"
              "(batch x heads, rows, columns); the output has shape (batch, rows, heads x value width).")
    .set_inputs({"query", "key", "value", "mask"}, [](const Attrs& a) { return a.get<AttentionParam>().mask ? 4 : 3; })
    .set_infer_shape(InferAttentionShape)
    .set_dtypes({kFloat32})
    .set_dear()
    .set_flops([](const Attrs& a, Span<const TBlob> in, Span<const TBlob> out) {
      return 2.0 * in[1].shape[1] * (static_cast<double>(in[0].Size()) + static_cast<double>(out[0].Size()));
    })
    .set_kernel(DeviceType::kCPU, Forward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
