// tril and triu: one triangle of matrices; fill_diagonal: other values on a diagonal.
#include <algorithm>
#include <cstring>

#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "operator/init/fill.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/tuple_field.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

struct TriangleParam : public Parameter<TriangleParam> {
  int k;
  MXNET_DECLARE_PARAM(TriangleParam) {
    MXNET_FIELD(k).set_default(0).describe("The diagonal where the triangle ends: above the main one when positive.");
  }
};

struct FillDiagonalParam : public Parameter<FillDiagonalParam> {
  Tuple<double> val;
  bool wrap;
  MXNET_DECLARE_PARAM(FillDiagonalParam) {
    MXNET_FIELD(val).describe("The values along the diagonal, from the first again when they run out.");
    MXNET_FIELD(wrap).set_default(false).describe("Let the diagonal of a tall matrix begin again behind an empty row.");
  }
};

MXNET_REGISTER_PARAM(TriangleParam);
MXNET_REGISTER_PARAM(FillDiagonalParam);

// ---- tril, triu

// A vector stands for a matrix that has it in every row.
bool TriangleShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(data.ndim() > 0, Value) << "[" << attrs.op->name << "] data has shape (); it needs at least 1 dimension";
  AssignShape(attrs, "the result", &(*out)[0], data.ndim() == 1 ? Shape({data[0], data[0]}) : data);
  return data.known();
}

template <bool kLower>
void Triangle(KernelArgs& a) {
  const TBlob& out = a.out[0];
  if (a.req[0] == OpReq::kNull || out.Size() == 0) return;
  const int64_t k = a.param<TriangleParam>().k;
  const int n = out.shape.ndim();
  const int64_t rows = out.shape[n - 2], columns = out.shape[n - 1], bytes = static_cast<int64_t>(DTypeSize(out.dtype));
  const int64_t pitch = a.in[0].shape.ndim() == 1 ? 0 : columns;
  if (a.run.ctx.is_gpu()) {
    rtc::Arguments args;
    args.Add(a.in[0].dptr).Add(out.dptr).Add(rows).Add(columns).Add(pitch).Add(k);
    return rtc::LaunchItems(a.run, {"operator/matrix/gpu_triangle.cuh", "triangle", {out.dtype}, {kLower}}, out.Size(), &args);
  }
  const int64_t grain = std::max<int64_t>(1, Env::Get().cpu_parallel_size / columns);
  ParallelFor(out.Size() / columns, grain, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      // The entries [0, cut) of the row are at or left of the diagonal (tril), or left of it
      // (triu).
      const int64_t cut = std::min(columns, std::max<int64_t>(0, line % rows + k + (kLower ? 1 : 0)));
      char* to = out.data<char>() + line * columns * bytes;
      const char* from = a.in[0].data<char>() + line * pitch * bytes;
      const int64_t keep = kLower ? 0 : cut, kept = kLower ? cut : columns - cut;
      if (to != from) std::memcpy(to + keep * bytes, from + keep * bytes, static_cast<size_t>(kept * bytes));
      std::memset(to + (kLower ? cut : 0) * bytes, 0, static_cast<size_t>((columns - kept) * bytes));
    }
  });
}

template <bool kLower>
void TriangleRecord(const char* name, const char* text) {
  const std::string forward = name;
  Op::Register(name)
      .describe(text)
      .set_param<TriangleParam>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(TriangleShape)
      .set_gradient([forward](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        // Of a vector, whose rows are all the same, it is the sum of those of the rows.
        const NodeEntry whole{MakeNodeLike(forward, *node, {ograds[0]}), 0, 0};
        return std::vector<NodeEntry>{MakeOp("_sum_like", {whole, node->inputs[0]})};
      })
      .set_kernel(Triangle<kLower>);
}

// ---- fill_diagonal

bool FillDiagonalShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const bool known = ElemwiseShape(attrs, in, out);
  MXNET_CHECK_KIND(attrs.get<FillDiagonalParam>().val.size() > 0, Value) << "[" << attrs.op->name << "] val is empty; accepted: numbers";
  const Shape& s = (*in)[0];
  if (!s.ndim_known()) return known;
  MXNET_CHECK_KIND(s.ndim() >= 2, Value) << "[" << attrs.op->name << "] a has shape " << s << "; it needs at least 2 dimensions";
  for (int i = 1; i < s.ndim() && s.ndim() > 2; ++i)
    MXNET_CHECK_KIND(s[i] == s[0] || s[i] < 0 || s[0] < 0, Value)
        << "[" << attrs.op->name << "] a has shape " << s << "; all sizes of more than 2 dimensions must be equal";
  return known;
}

void FillDiagonal(KernelArgs& a) {
  const TBlob& out = a.out[0];
  if (a.req[0] == OpReq::kNull || out.Size() == 0) return;
  CopyThrough(a);
  const auto& p = a.param<FillDiagonalParam>();
  const Shape& s = out.shape;
  int64_t step = 1, end = out.Size();
  if (s.ndim() == 2) {
    step = s[1] + 1;
    if (!p.wrap) end = std::min(s[0], s[1]) * s[1];
  } else {
    for (int i = 1; i < s.ndim(); ++i) step += s.Prod(i, s.ndim());
  }
  const int64_t places = (end + step - 1) / step, count = std::min<int64_t>(p.val.size(), places);
  const size_t bytes = DTypeSize(out.dtype);
  TBlob values = out;
  values.shape = Shape({count});
  values.dptr = a.workspace(static_cast<size_t>(count) * bytes);
  for (int64_t i = 0; i < count; ++i) {
    TBlob one = values;
    one.shape = Shape({1});
    one.dptr = values.data<char>() + i * static_cast<int64_t>(bytes);
    FillValue(a.run, one, p.val[static_cast<int>(i)]);
  }
  // Whole rounds of the values, and what is left.
  const int64_t rounds = places / count, from[2] = {0, 1}, to[2] = {count * step, step};
  const int64_t whole[2] = {rounds, count}, rest[2] = {1, places - rounds * count};
  CopyStrided(a.run, values.dptr, from, out.dptr, to, whole, 2, bytes);
  if (rest[1] > 0)
    CopyStrided(a.run, values.dptr, from, out.data<char>() + rounds * count * step * static_cast<int64_t>(bytes), to, rest, 2, bytes);
}

[[maybe_unused]] const bool registered = [] {
  TriangleRecord<true>("_npi_tril", "The elements on and below one diagonal of matrices, zeros elsewhere.");
  TriangleRecord<false>("_npi_triu", "The elements on and above one diagonal of matrices, zeros elsewhere.");
  Op::Register("_npi_fill_diagonal")
      .describe("a with its main diagonal replaced by numbers.")
      .set_param<FillDiagonalParam>()
      .set_inputs({"a"})
      .set_dtypes(dtypes::kAll)
      .set_inplace({{0, 0}})
      .set_infer_shape(FillDiagonalShape)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        const char* wrap = node->attrs->get<FillDiagonalParam>().wrap ? "True" : "False";
        return std::vector<NodeEntry>{MakeOp("_npi_fill_diagonal", {ograds[0]}, {{"val", "(0,)"}, {"wrap", wrap}})};
      })
      .set_kernel(FillDiagonal);
  return true;
}();

}  // namespace
}  // namespace mxnet
