// Overlaps of all pairs of boxes, and greedy matching by a matrix of scores.
#include <algorithm>

#include "mxnet/op.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/vision/boxes/boxes.h"
#include "operator/vision/boxes/gpu_boxes.h"

namespace mxnet {
namespace boxes {

struct BoxIouParam : public Parameter<BoxIouParam> {
  int format;
  MXNET_DECLARE_PARAM(BoxIouParam) {
    MXNET_FIELD(format)
        .add_enum("corner", static_cast<int>(kCorner))
        .add_enum("center", static_cast<int>(kCenter))
        .set_default(static_cast<int>(kCorner))
        .describe("corner: boxes are (left, top, right, bottom); center: (x, y, width, height).");
  }
};
MXNET_REGISTER_PARAM(BoxIouParam);

struct BipartiteMatchingParam : public Parameter<BipartiteMatchingParam> {
  bool is_ascend;
  float threshold;
  int topk;
  MXNET_DECLARE_PARAM(BipartiteMatchingParam) {
    MXNET_FIELD(is_ascend).set_default(false).describe("Smallest scores first.");
    MXNET_FIELD(threshold).describe("A pair matches only if its score is above this; with is_ascend, below.");
    MXNET_FIELD(topk).set_default(-1).describe("topk + 1 pairs are matched at most, as in 1.x; 0 or less: no limit.");
  }
};
MXNET_REGISTER_PARAM(BipartiteMatchingParam);

namespace {

template <typename T>
BoxArrays<T> Boxes(const TBlob& data, int format) {
  BoxArrays<T> list(data.Size() / 4, false);
  for (int64_t i = 0; i < list.size(); ++i) list.Put(i, data.data<T>() + 4 * i, format);
  return list;
}

template <typename T>
void IouOnCpu(KernelArgs& a) {
  const int format = a.param<BoxIouParam>().format;
  const BoxArrays<T> left = Boxes<T>(a.in[0], format), right = Boxes<T>(a.in[1], format);
  T* out = a.out[0].data<T>();
  ParallelFor(left.size(), std::max<int64_t>(1, (1 << 15) / right.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      MXNET_CPU_CALL(OverlapRow)(sizeof(T) == sizeof(double), right.list(), right.size(), left.list(), i, out + i * right.size());
  });
}

void Iou(KernelArgs& args) {
  if (!nn::Wanted(args, 0) || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return IouOnDevice(args, args.param<BoxIouParam>().format);
  nn::RunReal(args, [](KernelArgs& a, auto number) { IouOnCpu<decltype(number)>(a); });
}

bool IouShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  std::vector<int64_t> dims;
  for (int i = 0; i < 2; ++i) {
    const Shape& s = (*in)[i];
    if (!s.ndim_known()) return false;
    MXNET_CHECK_KIND(s.ndim() >= 2, Value) << nn::Named(attrs) << (i ? "rhs" : "lhs") << " has shape " << s << "; (..., 4) is needed";
    CheckBoxShape(attrs, i ? "rhs" : "lhs", s);
    for (int d = 0; d + 1 < s.ndim(); ++d) dims.push_back(s[d]);
  }
  AssignShape(attrs, "output", &(*out)[0], Shape(dims));
  return (*in)[0].known() && (*in)[1].known();
}

// Pairs of one matrix (rows, columns), best scores first.
template <typename T>
void Match(const BipartiteMatchingParam& p, const T* scores, int64_t rows, int64_t columns, T* row, T* column) {
  std::vector<int64_t> at;
  std::vector<T> good;
  const T threshold = static_cast<T>(p.threshold);
  for (int64_t i = 0; i < rows * columns; ++i)
    if (p.is_ascend ? scores[i] < threshold : scores[i] > threshold) {
      at.push_back(i);
      good.push_back(scores[i]);
    }
  const int64_t n = static_cast<int64_t>(at.size());
  std::vector<int64_t> order(n);
  OrderScores(good.data(), n, n, p.is_ascend, order.data());
  std::fill(row, row + rows, T(-1));
  std::fill(column, column + columns, T(-1));
  std::vector<uint8_t> row_taken(rows, 0), column_taken(columns, 0);
  int64_t left = std::min(rows, columns);
  if (p.topk > 0) left = std::min(left, int64_t{p.topk} + 1);
  for (int64_t i = 0; i < n && left > 0; ++i) {
    const int64_t r = at[order[i]] / columns, c = at[order[i]] % columns;
    if (row_taken[r] || column_taken[c]) continue;
    row_taken[r] = column_taken[c] = 1;
    row[r] = static_cast<T>(c), column[c] = static_cast<T>(r);
    --left;
  }
}

void BipartiteMatching(KernelArgs& args) {
  const Shape& s = args.in[0].shape;
  const int n = s.ndim();
  const int64_t rows = s[n - 2], columns = s[n - 1], batch = s.Prod(0, n - 2);
  const auto& p = args.param<BipartiteMatchingParam>();
  if (args.out[0].Size() + args.out[1].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return MatchOnDevice(args, {batch, rows, columns, p.threshold, p.topk, p.is_ascend});
  nn::RunReal(args, [&](KernelArgs& a, auto number) {
    using T = decltype(number);
    ParallelFor(batch, std::max<int64_t>(1, 4096 / (rows * columns + 1)), [&](int64_t begin, int64_t end) {
      std::vector<T> unread(std::max(rows, columns));
      for (int64_t b = begin; b < end; ++b)
        Match(p, a.in[0].data<T>() + b * rows * columns, rows, columns, nn::Wanted(a, 0) ? a.out[0].data<T>() + b * rows : unread.data(),
              nn::Wanted(a, 1) ? a.out[1].data<T>() + b * columns : unread.data());
    });
  });
}

bool MatchShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& s = (*in)[0];
  if (!s.ndim_known()) return false;
  const int n = s.ndim();
  MXNET_CHECK_KIND(n >= 2, Value) << nn::Named(attrs) << "data has shape " << s << "; (..., rows, columns) is needed";
  std::vector<int64_t> rows, columns;
  for (int d = 0; d + 2 < n; ++d) rows.push_back(s[d]);
  columns = rows;
  rows.push_back(s[n - 2]), columns.push_back(s[n - 1]);
  AssignShape(attrs, "the columns of rows", &(*out)[0], Shape(rows));
  AssignShape(attrs, "the rows of columns", &(*out)[1], Shape(columns));
  return s.known();
}

MXNET_REGISTER_OP(_contrib_box_iou)
    .describe(
        "Overlaps of all pairs of a box of lhs and a box of rhs: the area of the intersection over that of the union.\n\n"
        "lhs has shape (..., 4) and rhs (..., 4); the result has the shape of lhs without the last dimension, followed by that of rhs "
        "without it. Boxes that do not meet, or have no area, overlap by 0; with NaN among the numbers of a box its overlaps are NaN. "
        "There is no gradient. float16, bfloat16, float32 and float64.")
    .alias("_npx_box_iou")
    .set_param<BoxIouParam>()
    .set_inputs({"lhs", "rhs"})
    .set_infer_shape(IouShape)
    .set_dtypes(dtypes::kFloats)
    .set_zero_gradient()
    .set_kernel(Iou);

MXNET_REGISTER_OP(_contrib_bipartite_matching)
    .describe(
        "Matches rows with columns of a matrix of scores, the pair of the best score first, each row and each column at most once.\n\n"
        "data has shape (..., rows, columns). The first result (..., rows) tells each row its column, the second (..., columns) each "
        "column "
        "its row; -1: none. Of equal scores the one that stands first counts as better. NaN never matches. There is no gradient. float16, "
        "bfloat16, float32 and float64.")
    .alias("_npx_bipartite_matching")
    .set_param<BipartiteMatchingParam>()
    .set_inputs({"data"})
    .set_outputs({"output0", "output1"})
    .set_infer_shape(MatchShape)
    .set_dtypes(dtypes::kFloats)
    .set_zero_gradient()
    .set_kernel(BipartiteMatching);

}  // namespace
}  // namespace boxes
}  // namespace mxnet
