// _npi_convolve: sums of products of two vectors that slide along each other.
#include <algorithm>
#include <string>
#include <vector>

#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "operator/linalg/contract.h"
#include "operator/linalg/convolve_loops.h"
#include "operator/matrix/move.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/loops/convert.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"

namespace mxnet {
namespace linalg {
namespace {

struct ConvolveParam : public Parameter<ConvolveParam> {
  int before, after;
  bool full, turned, reversed;
  MXNET_DECLARE_PARAM(ConvolveParam) {
    MXNET_FIELD(before).set_default(0).describe("Zeros before a; of a negative number, elements that are left out.");
    MXNET_FIELD(after).set_default(0).describe("Zeros behind a, likewise.");
    MXNET_FIELD(full).set_default(false).describe("Whether there are zeros on both sides besides, as many as v has elements, less one.");
    MXNET_FIELD(turned).set_default(true).describe("Whether v is read from its end, as in a convolution.");
    MXNET_FIELD(reversed).set_default(false).describe("Whether the result begins with its last element.");
  }
};
MXNET_REGISTER_PARAM(ConvolveParam);

int64_t Length(const Attrs& attrs, const Shape& a, const Shape& v) {
  const auto& p = attrs.get<ConvolveParam>();
  const bool vectors = a.ndim() == 1 && v.ndim() == 1;
  const int64_t length = vectors ? a[0] + p.before + p.after + (v[0] - 1) * (p.full ? 1 : -1) : -1;
  MXNET_CHECK_KIND(length >= 0, Value) << "[" << attrs.op->name << "] a has shape " << a << " and v shape " << v
                                       << ", with before=" << p.before << " and after=" << p.after
                                       << "; accepted: vectors, v at most one longer than a with its zeros";
  return length;
}

bool ConvolveShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (!(*in)[0].known() || !(*in)[1].known()) return false;
  AssignShape(attrs, "the result", &(*out)[0], Shape({Length(attrs, (*in)[0], (*in)[1])}));
  return true;
}

// n elements of that size, from the end.
void Reverse(const void* from, void* to, int64_t n, int64_t size) {
  auto turn = [&](auto tag) {
    using T = decltype(tag);
    std::reverse_copy(static_cast<const T*>(from), static_cast<const T*>(from) + n, static_cast<T*>(to));
  };
  size == 4 ? turn(uint32_t{}) : turn(uint64_t{});
}

// As a contraction of the windows of the vector, which overlap, with the filter.
void ConvolveOnDevice(KernelArgs& args) {
  const auto& p = args.param<ConvolveParam>();
  const TBlob &a = args.in[0], &v = args.in[1], &out = args.out[0];
  const int64_t length = out.Size(), taps = v.Size(), size = a.Size(), bytes = static_cast<int64_t>(DTypeSize(a.dtype));
  const int64_t before = p.before + (p.full ? taps - 1 : 0), whole = length + taps - 1;
  char* vector = static_cast<char*>(args.workspace(static_cast<size_t>(std::max<int64_t>(whole, 1) * bytes)));
  ZeroBytes(args.run, vector, whole * bytes);
  const int64_t first = std::max<int64_t>(0, -before), last = std::min(size, whole - before);
  if (first < last) CopyBytes(args.run, a.data<char>() + first * bytes, vector + (first + before) * bytes, (last - first) * bytes);
  auto line = [&](const TBlob& blob, int64_t n, int label, bool turned) {
    return Labelled{blob.data<char>() + (turned ? (n - 1) * bytes : 0), {label}, {turned ? -1 : 1}};
  };
  Contract(args, {length, taps}, {Labelled{vector, {0, 1}, {1, 1}}, line(v, taps, 1, p.turned)}, line(out, length, 0, p.reversed), out);
}

void ConvolveKernel(KernelArgs& args) {
  const auto& p = args.param<ConvolveParam>();
  const TBlob &a = args.in[0], &v = args.in[1], &out = args.out[0];
  const int64_t length = out.Size(), taps = v.Size();
  if (args.req[0] == OpReq::kNull || length == 0) return;
  if (args.run.ctx.is_gpu()) return ConvolveOnDevice(args);
  const int compute = pointwise::ComputeFor(a.dtype, true);
  const bool own = a.dtype == pointwise::ComputeDType(compute);
  const int64_t bytes = pointwise::ComputeSize(compute);
  auto memory = [&](int64_t n) { return args.workspace(static_cast<size_t>(std::max<int64_t>(n, 1) * bytes)); };
  auto loaded = [&](const TBlob& x) -> const void* {
    if (own) return x.dptr;
    void* to = memory(x.Size());
    pointwise::LoadFn(x.dtype, compute)(x.dptr, to, x.Size());
    return to;
  };
  const SlidingVector vector{loaded(a), a.Size(), p.before + (p.full ? taps - 1 : 0)};
  const void* filter = loaded(v);
  if (p.turned) {
    void* turned = memory(taps);
    Reverse(filter, turned, taps, bytes);
    filter = turned;
  }
  const bool direct = own && !p.reversed;
  void* sums = direct ? out.dptr : memory(length);
  constexpr int64_t kUnit = 64;  // of results, so that threads share no block
  const int64_t units = (length + kUnit - 1) / kUnit, work = length * std::min(taps, a.Size()) / 8;
  ParallelForThreads(OmpThreads(work), units, [&](int64_t begin, int64_t end) {
    MXNET_CPU_CALL(Slide)(compute, vector, filter, taps, begin * kUnit, std::min(end * kUnit, length), sums);
  });
  if (direct) return;
  if (p.reversed) {
    void* reversed = memory(length);
    Reverse(sums, reversed, length, bytes);
    sums = reversed;
  }
  pointwise::ExecuteCast(args.run, TBlob{sums, out.shape, pointwise::ComputeDType(compute), args.run.ctx}, out, args.req[0]);
}

// Both gradients are sums of products of such vectors again. Turning both vectors turns the result
// and changes the sides of the zeros. Where they are `full` on one side of the gradient, they are
// none on the other.
std::vector<NodeEntry> ConvolveGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& p = node->attrs->get<ConvolveParam>();
  const NodeEntry &g = ograds[0], &a = node->inputs[0], &v = node->inputs[1];
  auto slide = [](const NodeEntry& x, const NodeEntry& y, int64_t before, int64_t after, bool full, bool turned, bool reversed) {
    auto text = [](bool b) { return std::string(b ? "True" : "False"); };
    return MakeOp("_npi_convolve", {x, y},
                  {{"before", std::to_string(before)},
                   {"after", std::to_string(after)},
                   {"full", text(full)},
                   {"turned", text(turned)},
                   {"reversed", text(reversed)}});
  };
  const int64_t less = -int64_t{p.before}, less_after = -int64_t{p.after};
  const int64_t first = p.reversed ? less_after : less, last = p.reversed ? less : less_after;
  const NodeEntry to_a = slide(g, v, first, last, !p.full, p.turned == p.reversed, p.reversed);
  const NodeEntry to_v = p.full ? slide(g, a, first, last, false, p.reversed, p.turned == p.reversed)
                                : slide(a, g, p.before, p.after, false, p.reversed, p.turned);
  return {to_a, to_v};
}

MXNET_REGISTER_OP(_npi_convolve)
    .describe(
        "Sums of products of the elements of v and as many of a, which is a vector between zeros: one for each place where v lies within "
        "it.\n\nWith turned=True and full=True it is the convolution. Dtypes are equal; integers wrap around.")
    .set_param<ConvolveParam>()
    .set_inputs({"a", "v"})
    .set_dtypes(dtypes::kNumbers)
    .set_infer_shape(ConvolveShape)
    .set_gradient(ConvolveGradient)
    .set_kernel(ConvolveKernel);

}  // namespace
}  // namespace linalg
}  // namespace mxnet
