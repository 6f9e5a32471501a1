// sum, mean and norm of csr arrays, of all of a row_sparse one, and sums of squares of row_sparse
// matrices.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "operator/record/dtypes.h"
#include "operator/record/sparse_form.h"
#include "operator/reduce/records.h"
#include "operator/sparse/gpu_fold.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace {

using reduce::NormParam;
using reduce::ReduceParam;

enum class What { kSum, kMean, kNorm };

template <typename P>
bool OfAll(const Attrs& attrs) {
  const auto& axis = attrs.get<P>().axis;
  return !axis.has_value() || axis->ndim() <= 0;
}

template <typename P>
bool TakesReduction(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  return (in[0] == StorageType::kCSR || (in[0] == StorageType::kRowSparse && OfAll<P>(attrs))) &&
         GiveStorage(&(*out)[0], StorageType::kDense);
}

/* sums[k] of what f(element) makes of the elements of column k, with `over_rows`, or of row k. */
template <typename T, typename S, typename F>
void Fold(const SparseParts& in, bool over_rows, std::vector<S>* sums, F&& f) {
  const T* const values = in.values.data<T>();
  const int64_t *const indptr = in.index[SparseParts::kIndptr].data<int64_t>(), *const index =
                                                                                    in.index[SparseParts::kColumns].data<int64_t>();
  if (over_rows) {
    for (int64_t n = 0; n < in.stored(); ++n) (*sums)[static_cast<size_t>(index[n])] += f(values[n]);
    return;
  }
  const int64_t rows = in.shape[0], grain = sparse::Grain(in.stored() / std::max<int64_t>(1, rows));
  ParallelFor(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      S sum = 0;
      for (int64_t n = indptr[r]; n < indptr[r + 1]; ++n) sum = static_cast<S>(sum + f(values[n]));
      (*sums)[static_cast<size_t>(r)] = sum;
    }
  });
}

template <typename S>
void Give(const std::vector<S>& sums, const TBlob& out) {
  ConvertElements(sums.data(), DTypeOf<S>::value, out.dptr, out.dtype, out.Size());
}

/* All that is stored, as a dense array is reduced. */
template <What what>
void ReduceAll(KernelArgs& args, int ord) {
  const SparseParts& in = *args.in[0].sparse;
  TBlob values = sparse::ValuesOf(in);
  values.shape = Shape{values.Size()};
  reduce::Finish finish;
  finish.divisor = what == What::kMean ? static_cast<double>(in.shape.Size()) : 1, finish.sqrt = what == What::kNorm && ord == 2;
  const auto kind = what != What::kNorm ? reduce::kSum : finish.sqrt ? reduce::kSumSquare : reduce::kSumAbs;
  reduce::Reduce(args, kind, values, {1}, finish, what != What::kSum, args.out[0], OpReq::kWrite);
}

/* On a GPU. */
template <What what>
void ReduceOnDevice(KernelArgs& args, bool rows, int ord) {
  const SparseParts& in = *args.in[0].sparse;
  const TBlob& out = args.out[0];
  if (out.Size() == 0) return;
  const double divisor = what != What::kMean ? 1 : static_cast<double>(rows ? in.shape[0] : in.shape[1]);
  const bool root = what == What::kNorm && ord == 2;
  const auto kind = what != What::kNorm ? sparse::FoldKind::kSum : root ? sparse::FoldKind::kSquare : sparse::FoldKind::kAbs;
  sparse::FoldOnDevice(args, in, {kind, rows, what == What::kSum && !IsFloating(in.values.dtype), divisor, root}, out);
}

/* Sums of integers stay integers; all else is added up in double. */
template <What what>
void Reduce(KernelArgs& args, const std::vector<char>& reduced, int ord) {
  const SparseParts& in = *args.in[0].sparse;
  const TBlob& out = args.out[0];
  if (what == What::kNorm && in.storage == StorageType::kCSR) in.NeedAscending(args.attrs->op->name.c_str());
  const bool rows = reduced[0], columns = in.shape.ndim() < 2 || reduced[1];
  if (!rows && !columns) {
    TBlob dense = args.in[0];
    return sparse::RunDense(args, 0);
  }
  if (rows && columns && out.Size() > 0) return ReduceAll<what>(args, ord);
  if (args.run.ctx.is_gpu()) return ReduceOnDevice<what>(args, rows, ord);
  VisitDType(out.Size() == 0 ? int{kFloat32} : args.in[0].dtype, "sum", [&](auto zero) {
    using T = decltype(zero);
    if (out.Size() == 0) return;
    if constexpr (what == What::kSum && !std::is_same<typename DTypeOf<T>::Acc, float>::value &&
                  std::is_integral<typename DTypeOf<T>::Acc>::value) {
      using S = typename DTypeOf<T>::Acc;
      std::vector<S> sums(static_cast<size_t>(out.Size()), S(0));
      Fold<T, S>(in, rows, &sums, [](T v) { return static_cast<S>(v); });
      return Give(sums, out);
    } else {
      std::vector<double> sums(static_cast<size_t>(out.Size()), 0.0);
      Fold<T, double>(in, rows, &sums, [&](T v) {
        const double x = static_cast<double>(v);
        return what != What::kNorm ? x : ord == 1 ? std::abs(x) : x * x;
      });
      if (what == What::kMean)
        for (double& s : sums) s /= static_cast<double>(rows ? in.shape[0] : in.shape[1]);
      if (what == What::kNorm && ord == 2)
        for (double& s : sums) s = std::sqrt(s);
      Give(sums, out);
    }
  });
}

template <What what>
void ReduceSparse(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const int ndim = args.in[0].shape.ndim();
  const std::string& name = args.attrs->op->name;
  if constexpr (what == What::kNorm) {
    const auto& p = args.param<NormParam>();
    Reduce<what>(args, reduce::ReducedDims(name, p.axis, false, true, ndim), p.ord);
  } else {
    const auto& p = args.param<ReduceParam>();
    Reduce<what>(args, reduce::ReducedDims(name, p.axis, p.exclude, true, ndim), 0);
  }
}

MXNET_REGISTER_SPARSE(sum, TakesReduction<ReduceParam>)
    .set_kernel(DeviceType::kCPU, ReduceSparse<What::kSum>)
    .set_kernel(DeviceType::kGPU, ReduceSparse<What::kSum>);
MXNET_REGISTER_SPARSE(mean, TakesReduction<ReduceParam>)
    .set_kernel(DeviceType::kCPU, ReduceSparse<What::kMean>)
    .set_kernel(DeviceType::kGPU, ReduceSparse<What::kMean>);
MXNET_REGISTER_SPARSE(norm, TakesReduction<NormParam>)
    .set_kernel(DeviceType::kCPU, ReduceSparse<What::kNorm>)
    .set_kernel(DeviceType::kGPU, ReduceSparse<What::kNorm>);

}  // namespace
}  // namespace mxnet
