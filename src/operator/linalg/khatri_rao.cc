// khatri_rao: the Kronecker product column by column (Khatri and Rao, Sankhya A 30, 1968).
#include <algorithm>

#include "base/dtype.h"
#include "mxnet/op.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

struct KhatriRaoParam : public Parameter<KhatriRaoParam> {
  int num_args;
  MXNET_DECLARE_PARAM(KhatriRaoParam) { MXNET_FIELD(num_args).set_lower_bound(1).describe("Number of inputs."); }
};
MXNET_REGISTER_PARAM(KhatriRaoParam);

bool KhatriRaoShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  int64_t rows = 1, columns = Shape::kUnknownDim;
  for (const Shape& s : *in) {
    if (!s.known()) return false;
    MXNET_CHECK_KIND(s.ndim() == 2 && (columns < 0 || s[1] == columns), Value)
        << "[" << attrs.op->name << "] an input has shape " << s << "; all must be matrices with the same number of columns";
    columns = s[1];
    MXNET_CHECK_KIND(!__builtin_mul_overflow(rows, s[0], &rows), Value) << "[" << attrs.op->name << "] the result has too many rows";
  }
  AssignShape(attrs, "the result", &(*out)[0], Shape({rows, columns}));
  return true;
}

// Row r of the result is the elementwise product of one row of each input; the row of the last
// input changes fastest.
void KhatriRao(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const int64_t rows = a.out[0].shape[0], columns = a.out[0].shape[1];
  if (a.run.ctx.is_gpu()) {
    rtc::Arguments args;
    args.Add(a.out[0].dptr).Add(columns);
    for (const TBlob& b : a.in) args.Add(b.dptr).Add(b.shape[0]);
    return rtc::LaunchItems(a.run, {"operator/linalg/gpu_khatri_rao.cuh", "khatri_rao", {a.out[0].dtype}, {a.in.size()}}, rows * columns,
                            &args);
  }
  VisitDType(a.out[0].dtype, "khatri_rao", [&](auto tag) {
    using T = decltype(tag);
    T* out = a.out[0].data<T>();
    for (int64_t r = 0; r < rows; ++r) {
      T* to = out + r * columns;
      std::fill(to, to + columns, T(1));
      int64_t rest = r;
      for (int i = a.in.size() - 1; i >= 0; --i) {
        const int64_t size = a.in[i].shape[0];
        const T* from = a.in[i].data<T>() + rest % size * columns;
        rest /= size;
        for (int64_t c = 0; c < columns; ++c) to[c] = T(to[c] * from[c]);
      }
    }
  });
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("khatri_rao")
      .describe("The Kronecker product of matrices, column by column.")
      .set_param<KhatriRaoParam>()
      .set_variadic("args", [](const Attrs& a) { return a.get<KhatriRaoParam>().num_args; })
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(KhatriRaoShape)
      .set_kernel(KhatriRao);
  return true;
}();

}  // namespace
}  // namespace mxnet
