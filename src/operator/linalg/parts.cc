// Parts of matrices that gradients are made of; not for users. shapes.h says what they are.
#include <algorithm>

#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "operator/linalg/dense.h"
#include "operator/linalg/shapes.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {
namespace linalg {
namespace {

const char* const kFile = "operator/linalg/gpu_parts.cuh";

struct PartParam : public Parameter<PartParam> {
  int part;
  MXNET_DECLARE_PARAM(PartParam) {
    MXNET_FIELD(part)
        .add_enum("lower", static_cast<int>(Part::kLower))
        .add_enum("upper", static_cast<int>(Part::kUpper))
        .add_enum("mirror", static_cast<int>(Part::kMirror))
        .add_enum("fold", static_cast<int>(Part::kFold))
        .add_enum("symmetric", static_cast<int>(Part::kSymmetric))
        .describe("Which part.");
  }
};
MXNET_REGISTER_PARAM(PartParam);

template <typename T>
T Element(Part part, const T* x, int64_t n, int64_t r, int64_t c) {
  switch (part) {
    case Part::kLower: return c <= r ? x[r * n + c] : T(0);
    case Part::kUpper: return c >= r ? x[r * n + c] : T(0);
    case Part::kMirror: return c <= r ? x[r * n + c] : x[c * n + r];
    case Part::kFold: return c < r ? x[r * n + c] + x[c * n + r] : c == r ? x[r * n + c] : T(0);
    default: return (x[r * n + c] + x[c * n + r]) * T(0.5);
  }
}

// In tiles, whose transposes stay in the cache.
template <typename T>
void PartOnCpu(Part part, const Matrices& s, const T* x, T* out) {
  constexpr int64_t kTile = 32;
  const int64_t n = s.rows, bands = (n + kTile - 1) / kTile;
  ParallelFor(s.count * bands, std::max<int64_t>(1, 16384 / (std::min(n, kTile) * n + 1)), [&](int64_t begin, int64_t end) {
    for (int64_t band = begin; band < end; ++band) {
      const int64_t first = band % bands * kTile, last = std::min(n, first + kTile);
      const T* from = x + band / bands * n * n;
      T* to = out + band / bands * n * n;
      for (int64_t left = 0; left < n; left += kTile)
        for (int64_t r = first; r < last; ++r)
          for (int64_t c = left; c < std::min(n, left + kTile); ++c) to[r * n + c] = Element(part, from, n, r, c);
    }
  });
}

void PartKernel(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  const int part = a.param<PartParam>().part;
  const Matrices s(a.in[0].shape);
  if (a.run.ctx.is_gpu()) {
    rtc::Arguments args;
    args.Add(a.in[0].dptr).Add(a.out[0].dptr).Add(s.rows);
    return rtc::LaunchItems(a.run, {kFile, "linalg_part", {a.out[0].dtype}, {part}}, a.out[0].Size(), &args);
  }
  if (a.in[0].dtype == kFloat64)
    PartOnCpu(static_cast<Part>(part), s, a.in[0].data<double>(), a.out[0].data<double>());
  else
    PartOnCpu(static_cast<Part>(part), s, a.in[0].data<float>(), a.out[0].data<float>());
}

// kMirror and kFold are each other's adjoints; the others are their own.
std::vector<NodeEntry> PartGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const Part part = static_cast<Part>(node->attrs->get<PartParam>().part);
  return {PartOf(ograds[0], part == Part::kMirror ? Part::kFold : part == Part::kFold ? Part::kMirror : part)};
}

// ---- numbers times matrices

// One number for each matrix.
int64_t EachSize(const TBlob& matrices, const TBlob& numbers) { return numbers.Size() ? matrices.Size() / numbers.Size() : 0; }

void Scale(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  const int64_t each = EachSize(a.out[0], a.in[0]);
  if (a.run.ctx.is_gpu()) {
    rtc::Arguments args;
    args.Add(a.in[0].dptr).Add(a.in[1].dptr).Add(a.out[0].dptr).Add(each);
    return rtc::LaunchItems(a.run, {kFile, "linalg_scale", {a.out[0].dtype}}, a.out[0].Size(), &args);
  }
  auto run = [&](auto number) {
    using T = decltype(number);
    const T *by = a.in[0].data<T>(), *from = a.in[1].data<T>();
    T* to = a.out[0].data<T>();
    ParallelFor(a.in[0].Size(), std::max<int64_t>(1, 32768 / each), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        for (int64_t k = i * each; k < (i + 1) * each; ++k) to[k] = by[i] * from[k];
    });
  };
  a.out[0].dtype == kFloat64 ? run(double{}) : run(float{});
}

void Inner(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  const int64_t each = EachSize(a.in[0], a.out[0]);
  if (a.run.ctx.is_gpu()) {
    rtc::Arguments args;
    args.Add(a.in[0].dptr).Add(a.in[1].dptr).Add(a.out[0].dptr).Add(each);
    return rtc::LaunchRows(a.run, {kFile, "linalg_inner", {a.out[0].dtype}}, a.out[0].Size(), &args);
  }
  auto run = [&](auto number) {
    using T = decltype(number);
    const T *x = a.in[0].data<T>(), *y = a.in[1].data<T>();
    T* to = a.out[0].data<T>();
    ParallelFor(a.out[0].Size(), std::max<int64_t>(1, 32768 / (each + 1)), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        double sum = 0;
        for (int64_t k = i * each; k < (i + 1) * each; ++k) sum += static_cast<double>(x[k]) * static_cast<double>(y[k]);
        to[i] = static_cast<T>(sum);
      }
    });
  };
  a.out[0].dtype == kFloat64 ? run(double{}) : run(float{});
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("_backward_linalg_part")
      .describe("A part of square matrices, for gradients.")
      .set_param<PartParam>()
      .set_inputs({"A"})
      .set_dtypes(dtypes::kReals)
      .set_infer_shape(SquareShape)
      .set_gradient(PartGradient)
      .set_kernel(PartKernel);
  Op::Register("_backward_linalg_scale")
      .describe("Each matrix times its number, for gradients.")
      .set_inputs({"numbers", "A"})
      .set_dtypes(dtypes::kReals)
      .set_infer_shape(LikeLastShape)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        const NodeEntry &numbers = node->inputs[0], &a = node->inputs[1];
        return std::vector<NodeEntry>{InnerProducts(numbers, ograds[0], a), Scaled(numbers, ograds[0])};
      })
      .set_kernel(Scale);
  Op::Register("_backward_linalg_inner")
      .describe("Sums of products of two matrices, element by element, for gradients.")
      .set_inputs({"A", "B", "numbers"})
      .set_shape_only_from(2)
      .set_dtypes(dtypes::kReals)
      .set_infer_shape(LikeLastShape)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{Scaled(ograds[0], node->inputs[1]), Scaled(ograds[0], node->inputs[0]), NodeEntry{}};
      })
      .set_kernel(Inner);
  return true;
}();

}  // namespace
}  // namespace linalg
}  // namespace mxnet
