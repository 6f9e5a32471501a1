// Diagonals and triangles of square matrices as vectors, and back.
#include <algorithm>
#include <cmath>

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

constexpr const char* kOffsetText = "Which diagonal: above the main one when positive, below it when negative.";

struct DiagonalParam : public Parameter<DiagonalParam> {
  int offset;
  MXNET_DECLARE_PARAM(DiagonalParam) { MXNET_FIELD(offset).set_default(0).describe(kOffsetText); }
};
struct TriangleParam : public Parameter<TriangleParam> {
  int offset;
  bool lower;
  MXNET_DECLARE_PARAM(TriangleParam) {
    MXNET_FIELD(offset).set_default(0).describe(
        "The diagonal that bounds the triangle. When positive the triangle lies above it, when negative below it.");
    MXNET_FIELD(lower).set_default(true).describe("With offset 0: the lower triangle, else the upper one.");
  }
};
MXNET_REGISTER_PARAM(DiagonalParam);
MXNET_REGISTER_PARAM(TriangleParam);

// A part of a square matrix: a diagonal or triangle that begins at row `down` and column `right`.
enum Kind : int { kDiagonal, kLowerTriangle, kUpperTriangle };
struct Place {
  Kind kind;
  int64_t down, right;
  int64_t offset() const { return down + right; }
  /* Numbers in a part of a square of order m. */
  int64_t Count(int64_t m) const { return kind == kDiagonal ? m : m * (m + 1) / 2; }
};

template <typename P>
Place PlaceOf(const Attrs& a);
template <>
Place PlaceOf<DiagonalParam>(const Attrs& a) {
  const int64_t k = a.get<DiagonalParam>().offset;
  return {kDiagonal, std::max<int64_t>(-k, 0), std::max<int64_t>(k, 0)};
}
template <>
Place PlaceOf<TriangleParam>(const Attrs& a) {
  const auto& p = a.get<TriangleParam>();
  const int64_t k = p.offset;
  return {k < 0 || (k == 0 && p.lower) ? kLowerTriangle : kUpperTriangle, std::max<int64_t>(-k, 0), std::max<int64_t>(k, 0)};
}

// The order of the square whose part has so many numbers.
int64_t OrderOf(const Attrs& attrs, const Place& p, const char* what, int64_t count) {
  if (p.kind == kDiagonal) return count;
  int64_t m = static_cast<int64_t>((std::sqrt(8.0 * static_cast<double>(count) + 1) - 1) / 2);
  while (m * (m + 1) / 2 < count) ++m;
  while (m > 0 && m * (m + 1) / 2 > count) --m;
  MXNET_CHECK_KIND(m * (m + 1) / 2 == count, Value)
      << "[" << attrs.op->name << "] the last dimension of " << what << " is " << count
      << "; accepted are numbers of elements of a triangle, n * (n + 1) / 2: 1, 3, 6, 10 and so on";
  return m;
}

// `whole` (square matrices) and `part` (vectors) from one another.
template <typename P>
bool Shapes(const Attrs& attrs, const char* whole_name, Shape* whole, const char* part_name, Shape* part) {
  const Place p = PlaceOf<P>(attrs);
  NeedSquare(attrs, whole_name, *whole);
  MXNET_CHECK_KIND(!part->ndim_known() || part->ndim() >= 1, Value)
      << "[" << attrs.op->name << "] " << part_name << " has shape (); at least 1 dimension is needed";
  if (whole->ndim_known()) {
    const int64_t given = std::max((*whole)[whole->ndim() - 1], (*whole)[whole->ndim() - 2]);
    int64_t count = Shape::kUnknownDim;
    if (given >= 0) {
      // A part without elements, too: it is the gradient of a matrix that was made of one.
      MXNET_CHECK_KIND(given >= p.offset(), Value)
          << "[" << attrs.op->name << "] offset is " << p.right - p.down << " and the matrices are " << given << " x " << given
          << "; accepted are offsets of up to " << given << " either way";
      count = p.Count(given - p.offset());
    }
    AssignShape(attrs, part_name, part, Leading(*whole, 2, {count}));
  }
  if (part->ndim_known()) {
    const int64_t count = (*part)[part->ndim() - 1];
    int64_t n = Shape::kUnknownDim;
    if (count >= 0) {
      n = OrderOf(attrs, p, part_name, count) + p.offset();
      MXNET_CHECK_KIND(n <= 1073741823, Value) << "[" << attrs.op->name << "] matrices of order " << n
                                               << "; at most 1073741823 is accepted";
    }
    AssignShape(attrs, whole_name, whole, Leading(*part, 1, {n, n}));
  }
  return whole->known() && part->known();
}

template <typename P>
bool ExtractShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  return Shapes<P>(attrs, "A", &(*in)[0], "the result", &(*out)[0]);
}
template <typename P>
bool MakeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  return Shapes<P>(attrs, "the result", &(*out)[0], "A", &(*in)[0]);
}

// f(the part's position, the matrix's position, how many follow one another in both)
template <typename F>
void Runs(const Place& p, int64_t n, int64_t m, F&& f) {
  const int64_t first = p.down * n + p.right;
  for (int64_t r = 0; r < m; ++r) {
    if (p.kind == kDiagonal)
      f(r, first + r * (n + 1), 1);
    else if (p.kind == kLowerTriangle)
      f(r * (r + 1) / 2, first + r * n, r + 1);
    else
      for (int64_t c = r; c < m; ++c) f(c * (c + 1) / 2 + r, first + r * n + c, 1);
  }
}

template <typename T>
void MoveOnCpu(const Place& p, const Matrices& s, const TBlob& whole, const TBlob& part, bool into) {
  const int64_t n = s.rows, m = std::max<int64_t>(n - p.offset(), 0), count = p.Count(m);
  ParallelFor(s.count, std::max<int64_t>(1, 16384 / (n * n + 1)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T *matrix = whole.data<T>() + i * n * n, *numbers = part.data<T>() + i * count;
      if (into) std::fill(matrix, matrix + n * n, T(0));
      Runs(p, n, m, [&](int64_t at, int64_t place, int64_t length) {
        for (int64_t k = 0; k < length; ++k)
          if (into)
            matrix[place + k] = numbers[at + k];
          else
            numbers[at + k] = matrix[place + k];
      });
    }
  });
}

void Move(const RunContext& run, const Place& p, const TBlob& whole, const TBlob& part, bool into) {
  const Matrices s(whole.shape);
  if (run.ctx.is_gpu()) {
    const int64_t n = s.rows, m = std::max<int64_t>(n - p.offset(), 0);
    rtc::Arguments args;
    args.Add(into ? part.dptr : whole.dptr).Add(into ? whole.dptr : part.dptr).Add(n).Add(m).Add(p.down).Add(p.right).Add(p.Count(m));
    const int64_t items = into ? whole.Size() : s.count * (p.kind == kDiagonal ? m : m * m);
    return rtc::LaunchItems(run, {"operator/linalg/gpu_parts.cuh", into ? "linalg_place" : "linalg_pick", {whole.dtype}, {p.kind}}, items,
                            &args);
  }
  if (whole.dtype == kFloat64)
    MoveOnCpu<double>(p, s, whole, part, into);
  else
    MoveOnCpu<float>(p, s, whole, part, into);
}

template <typename P>
void Extract(KernelArgs& a) {
  if (a.req[0] != OpReq::kNull) Move(a.run, PlaceOf<P>(*a.attrs), a.in[0], a.out[0], false);
}
template <typename P>
void Make(KernelArgs& a) {
  if (a.req[0] != OpReq::kNull) Move(a.run, PlaceOf<P>(*a.attrs), a.out[0], a.in[0], true);
}

// `name` moves numbers one way; its gradient moves them back as `other` does.
template <typename P>
Op& Record(const char* name, const char* other, InferShapeFn shapes, Kernel kernel) {
  const std::string back = std::string("_") + other;
  return Op::Register(std::string("_") + name)
      .alias(name)
      .set_param<P>()
      .set_inputs({"A"})
      .set_dtypes(dtypes::kReals)
      .set_precision(Precision::kFull)
      .set_infer_shape(std::move(shapes))
      .set_gradient([back](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{Output(MakeNodeLike(back, *node, {ograds[0]}), 0)};
      })
      .set_kernel(std::move(kernel));
}

[[maybe_unused]] const bool registered = [] {
  Record<DiagonalParam>("linalg_extractdiag", "linalg_makediag", ExtractShape<DiagonalParam>, Extract<DiagonalParam>)
      .describe(
          "Diagonals of square matrices.\n\n"
          "A has shape (..., n, n), the result (..., n - |offset|). float32 and float64.");
  Record<DiagonalParam>("linalg_makediag", "linalg_extractdiag", MakeShape<DiagonalParam>, Make<DiagonalParam>)
      .describe(
          "Square matrices with given diagonals and zeros elsewhere.\n\n"
          "A has shape (..., m), the result (..., n, n) with n = m + |offset|. float32 and float64.");
  Record<TriangleParam>("linalg_extracttrian", "linalg_maketrian", ExtractShape<TriangleParam>, Extract<TriangleParam>)
      .describe(
          "Triangles of square matrices as vectors.\n\n"
          "A has shape (..., n, n), the result (..., m * (m + 1) / 2) with m = n - |offset|. Lower triangles are read row by row, upper "
          "ones "
          "column by column. float32 and float64.");
  Record<TriangleParam>("linalg_maketrian", "linalg_extracttrian", MakeShape<TriangleParam>, Make<TriangleParam>)
      .describe(
          "Square matrices with given triangles and zeros elsewhere, the reverse of linalg_extracttrian.\n\n"
          "A has shape (..., m * (m + 1) / 2), the result (..., n, n) with n = m + |offset|. float32 and float64.");
  return true;
}();

}  // namespace
}  // namespace linalg
}  // namespace mxnet
