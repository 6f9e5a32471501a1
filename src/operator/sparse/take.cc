// take along dimension 0: rows of row_sparse and of csr arrays, and gradients of the taken rows.
#include "operator/indexing/take.h"

#include <algorithm>
#include <cstring>

#include "base/threads/omp.h"
#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "operator/indexing/move_units.h"
#include "operator/matrix/move.h"
#include "operator/record/sparse_form.h"
#include "operator/sparse/gpu_parts.h"
#include "operator/sparse/row_sums.h"
#include "operator/sparse/sparse_values.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

IndexMode ModeOf(const KernelArgs& args) { return static_cast<IndexMode>(args.param<TakeParam>().mode); }

/* Of csr rows mode='raise' makes dense ones, which alone may have more axes, as in 1.9.1. */
bool TakesTake(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  const auto& p = attrs.get<TakeParam>();
  if (p.axis != 0 || in[1] != StorageType::kDense) return false;
  const bool csr = in[0] == StorageType::kCSR && static_cast<IndexMode>(p.mode) != IndexMode::kRaise;
  return GiveStorage(&(*out)[0], csr ? StorageType::kCSR : StorageType::kDense);
}

void TakeRowSparse(const SparseParts& from, const int64_t* number, int64_t n, const TBlob& out) {
  const size_t bytes = n == 0 ? 0 : out.Bytes() / static_cast<size_t>(n);
  if (bytes == 0) return;
  const bool whole = sparse::IsWhole(from);
  ParallelFor(n, sparse::Grain(static_cast<int64_t>(bytes), 4 * sparse::kRowGrain), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      const int64_t at = sparse::FindRow(from, number[i], whole);
      char* const to = out.data<char>() + static_cast<size_t>(i) * bytes;
      if (at < 0)
        std::memset(to, 0, bytes);
      else
        std::memcpy(to, from.values.data<char>() + static_cast<size_t>(at) * bytes, bytes);
    }
  });
}

void TakeCSR(const SparseParts& from, const int64_t* number, int64_t n, SparseParts* out) {
  const int64_t *indptr = from.index[SparseParts::kIndptr].data<int64_t>(), *column = from.index[SparseParts::kColumns].data<int64_t>();
  int64_t total = 0;
  for (int64_t i = 0; i < n; ++i) total += indptr[number[i] + 1] - indptr[number[i]];
  out->Resize(total);
  int64_t *to_indptr = out->index[SparseParts::kIndptr].data<int64_t>(), *to_column = out->index[SparseParts::kColumns].data<int64_t>();
  const size_t item = DTypeSize(from.values.dtype);
  to_indptr[0] = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t begin = indptr[number[i]], count = indptr[number[i] + 1] - begin, at = to_indptr[i];
    to_indptr[i + 1] = at + count;
    if (count == 0) continue;
    std::memcpy(to_column + at, column + begin, static_cast<size_t>(count) * sizeof(int64_t));
    std::memcpy(out->values.data<char>() + static_cast<size_t>(at) * item, from.values.data<char>() + static_cast<size_t>(begin) * item,
                static_cast<size_t>(count) * item);
  }
}

void TakeCSRToDense(const SparseParts& from, const int64_t* number, int64_t n, const TBlob& out) {
  if (out.Size() == 0) return;
  const int64_t *indptr = from.index[SparseParts::kIndptr].data<int64_t>(), *column = from.index[SparseParts::kColumns].data<int64_t>();
  const size_t item = DTypeSize(from.values.dtype), bytes = static_cast<size_t>(from.shape[1]) * item;
  const char* const values = from.values.data<char>();
  ParallelFor(n, sparse::Grain(static_cast<int64_t>(bytes), sparse::kRowGrain), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      char* const to = out.data<char>() + static_cast<size_t>(i) * bytes;
      std::memset(to, 0, bytes);
      for (int64_t k = indptr[number[i]]; k < indptr[number[i] + 1]; ++k)
        std::memcpy(to + static_cast<size_t>(column[k]) * item, values + static_cast<size_t>(k) * item, item);
    }
  });
}

void TakeCSROnDevice(KernelArgs& args, const SparseParts& from, const int64_t* number, int64_t n, SparseParts* out) {
  const int64_t *const indptr = from.index[SparseParts::kIndptr].data<int64_t>(), *const column =
                                                                                      from.index[SparseParts::kColumns].data<int64_t>();
  const TBlob ends = sparse::NumbersBlob(sparse::NumbersOnDevice(args, n + 1), n + 1);
  rtc::Arguments lengths;
  lengths.Add(indptr).Add(number).Add(ends.dptr);
  rtc::LaunchItems(args.run, {"operator/sparse/gpu_take.cuh", "lengths_of_rows"}, n + 1, &lengths);
  const int64_t total = sparse::SumBeforeOnDevice(args, ends);
  ResizeOnStream(out, total, args.run);
  CopyBytes(args.run, ends.dptr, out->index[SparseParts::kIndptr].memory.dptr, static_cast<int64_t>(ends.Bytes()));
  if (total == 0) return;
  rtc::Arguments a;
  a.Add(sparse::RowsOfElementsOnDevice(args, *out)).Add(ends.dptr).Add(indptr).Add(number).Add(column).Add(from.values.memory.dptr);
  a.Add(out->index[SparseParts::kColumns].memory.dptr).Add(out->values.memory.dptr);
  rtc::LaunchItems(args.run, {"operator/sparse/gpu_take.cuh", "take_csr_rows", {UnitDType(DTypeSize(from.values.dtype))}}, total, &a);
}

void TakeSparse(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  SparseParts& from = *args.in[0].sparse;
  const bool to_dense = from.storage == StorageType::kCSR && !args.out[0].sparse;
  if (to_dense && args.run.ctx.is_gpu()) return ComputeOnHost(args);
  const int64_t n = args.in[1].Size();
  const int64_t* number = ReadIndicesInRange(args, args.in[1], from.shape[0], ModeOf(args));
  const bool gpu = args.run.ctx.is_gpu();
  if (from.storage == StorageType::kRowSparse)
    return gpu ? sparse::GatherRows(args, args.in[0], number, n, args.out[0].data<char>()) : TakeRowSparse(from, number, n, args.out[0]);
  from.NeedAscending("take");  // what this library makes is in order
  if (to_dense) return TakeCSRToDense(from, number, n, args.out[0]);
  if (gpu) return TakeCSROnDevice(args, from, number, n, args.out[0].sparse);
  TakeCSR(from, number, n, args.out[0].sparse);
}
MXNET_REGISTER_SPARSE(take, TakesTake).set_kernel(DeviceType::kCPU, TakeSparse).set_kernel(DeviceType::kGPU, TakeSparse);

/* Row_sparse where the caller's array is; of `a` only the shape is looked at. */
bool TakesTakeGradient(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  if (attrs.get<TakeParam>().axis != 0 || in[0] != StorageType::kDense || in[1] != StorageType::kDense) return false;
  return (*out)[0] == StorageType::kRowSparse || GiveStorage(&(*out)[0], StorageType::kDense);
}

void TakeGradientSparse(KernelArgs& args) {  // ograd, indices, a -> gradient of a
  if (args.req[0] == OpReq::kNull) return;
  const TBlob& out = args.out[0];
  const int64_t rows = out.shape[0], n = args.in[1].Size();
  const int64_t* number = ReadIndicesInRange(args, args.in[1], rows, ModeOf(args));
  if (out.sparse) return sparse::SumRows(args, number, n, args.in[0].dptr, out.sparse);
  AddRows(args, args.in[0].dptr, 1, rows, out.shape.Prod(1, out.shape.ndim()), number, n, out);
}
MXNET_REGISTER_SPARSE(_backward_take, TakesTakeGradient)
    .set_kernel(DeviceType::kCPU, TakeGradientSparse)
    .set_kernel(DeviceType::kGPU, TakeGradientSparse);

}  // namespace
}  // namespace mxnet
