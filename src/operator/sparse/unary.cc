// Functions of one array with f(0) = 0, and their gradients: the dense kernel runs on what is
// stored.
#include <cstring>
#include <string>

#include "operator/pointwise/rows.h"
#include "operator/record/sparse_form.h"
#include "operator/sparse/gpu_cast.h"
#include "operator/sparse/gpu_merge.h"
#include "operator/sparse/row_union.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace {

/* What the parameters, or the function, make of 0 is not stored. */
bool TakesKeepingZero(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  return IsSparse(in[0]) && GiveStorage(&(*out)[0], in[0]) && sparse::KeepsZero(attrs);
}
bool TakesSparse(const Attrs&, const StorageTypes& in, StorageTypes* out) { return IsSparse(in[0]) && GiveStorage(&(*out)[0], in[0]); }
/* 0 becomes something else unless what is added is 0. */
bool TakesAddition(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  return IsSparse(in[0]) && GiveStorage(&(*out)[0], sparse::KeepsZero(attrs) ? in[0] : StorageType::kDense);
}
/* A dense gradient that comes in makes that of sparse data dense. */
bool TakesGradient(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  if (IsSparse(in[0])) return TakesSparse(attrs, in, out);
  return in.size() > 1 && IsSparse(in[1]) && GiveStorage(&(*out)[0], StorageType::kDense);
}

void Declare(const char* name, SparseForm::TakesFn takes, const Kernel& cpu = sparse::OnValuesOfFirst,
             const Kernel& gpu = sparse::OnValuesOfFirst) {
  DeclareSparse(name, std::move(takes)).set_in_place().set_kernel(DeviceType::kCPU, cpu).set_kernel(DeviceType::kGPU, gpu);
}

/*
 * Of row_sparse data the gradient has its rows too, which are 0 where the gradient that comes in
 * has none: as in 1.9.1, for a lazy update decays all rows that a gradient stores.
 */
void Gradient(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  if (!args.in[0].sparse) return sparse::IntoDense(args);
  const SparseParts &ograd = *args.in[0].sparse, *data = args.in.size() > 1 ? args.in[1].sparse : nullptr;
  if (ograd.storage != StorageType::kRowSparse || !data || data->storage != ograd.storage) return sparse::OnValuesOfFirst(args);
  const sparse::RowUnion rows({&ograd, data});
  if (rows.count() == ograd.stored()) return sparse::OnValuesOfFirst(args);
  TempParts wide(ograd);  // `out` may be one of the inputs
  wide->Resize(rows.count());
  int64_t* const numbers = wide->index[SparseParts::kRows].data<int64_t>();
  rows.CopyTo(numbers);
  sparse::GatherRows(args.in[0], numbers, rows.count(), wide->values.data<char>());
  TBlob in[2] = {args.in[0], args.in[1]};
  in[0].sparse = wide.get();
  TBlob out = args.out[0];
  out.sparse = wide.get();
  KernelArgs call = args;
  call.in = Span<const TBlob>(in, 2), call.out = Span<const TBlob>(&out, 1);
  sparse::OnValuesOfFirst(call);
  args.out[0].sparse->Swap(wide.get());
}

/* The same on a GPU: both at the rows that either has, by the dense kernel. */
void GradientOnDevice(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  if (!args.in[0].sparse) return sparse::IntoDense(args);
  const SparseParts &ograd = *args.in[0].sparse, *data = args.in.size() > 1 ? args.in[1].sparse : nullptr;
  if (ograd.storage != StorageType::kRowSparse || !data || data->storage != ograd.storage || sparse::SameIndex(args, ograd, *data))
    return sparse::OnValuesOfFirst(args);
  SparseParts* const result = args.out[0].sparse;
  TBlob in[2];
  sparse::StoreUnionOnDevice(args, ograd, *data, result, in);
  if (result->values.Size() == 0) return;
  sparse::RunKernel(args, *sparse::DenseKernel(args), Span<const TBlob>(in, 2), sparse::ValuesOf(*result));
}

/* Without rows that are 0 altogether, which 1.9.1 does not store. */
void ClipGradient(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  sparse::OnValuesOfFirst(args);
  SparseParts* const out = args.out[0].sparse;
  if (out->storage != StorageType::kRowSparse) return;
  if (args.run.ctx.is_gpu()) return sparse::DropZeroRowsOnDevice(args, out);
  const int64_t size = sparse::RowSize(*out);
  const size_t bytes = static_cast<size_t>(size) * DTypeSize(out->values.dtype);
  char* const values = out->values.data<char>();
  int64_t* const rows = out->index[SparseParts::kRows].data<int64_t>();
  int64_t kept = 0;
  for (int64_t n = 0; n < out->stored(); ++n) {
    const char* const row = values + static_cast<size_t>(n) * bytes;
    if (!sparse::AnyNonZero(row, size, out->values.dtype)) continue;
    rows[kept] = rows[n];
    if (kept != n) std::memcpy(values + static_cast<size_t>(kept) * bytes, row, bytes);
    ++kept;
  }
  out->Resize(kept);
}

void Add(KernelArgs& args) { args.out[0].sparse ? sparse::OnValuesOfFirst(args) : sparse::IntoDense(args); }

/* Of data / number: the data is not looked at, and need not be gathered. */
void DivideGradient(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  TBlob in[2] = {args.in[0], args.in[0]};
  KernelArgs call = args;
  call.in = Span<const TBlob>(in, 2);
  args.out[0].sparse ? sparse::OnValuesOfFirst(call) : (*sparse::DenseKernel(args))(call);
}

/* Records of the table that have a name for sparse arrays. Where the gradient that comes in is 0,
 * so is what goes out. */
const bool kRegistered = [] {
  for (int row = 0; row < pointwise::kNumUnary; ++row)
    for (const pointwise::RowRecord& record : pointwise::RecordsOf(row)) {
      bool named = false;
      for (const std::string& name : record.names) named = named || name.compare(0, 8, "_sparse_") == 0;
      if (!named) continue;
      Declare(record.names[0].c_str(), TakesKeepingZero);
      const char uses = pointwise::GetRow(row).uses[0];
      if (uses == 'X' || uses == 'Y' || uses == 'C')
        Declare(("_backward_" + std::string(pointwise::GetRow(row).name)).c_str(), TakesGradient, Gradient, GradientOnDevice);
    }
  Declare("_backward_div_scalar", TakesGradient, DivideGradient, DivideGradient);
  Declare("clip", TakesKeepingZero);
  Declare("_backward_clip", TakesSparse, ClipGradient, ClipGradient);
  for (const char* name : {"_plus_scalar", "_minus_scalar"}) Declare(name, TakesAddition, Add, Add);
  for (const char* name :
       {"_equal_scalar", "_not_equal_scalar", "_greater_scalar", "_greater_equal_scalar", "_lesser_scalar", "_lesser_equal_scalar"})
    Declare(name, TakesKeepingZero);
  // of what is stored alone, as in 1.9.1, also where 0 would become something else
  for (const char* name : {"_mul_scalar", "_div_scalar", "_scatter_plus_scalar", "_scatter_minus_scalar"}) Declare(name, TakesSparse);
  return true;
}();

bool TakesQuadratic(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  return in[0] == StorageType::kCSR && TakesKeepingZero(attrs, in, out);
}
[[maybe_unused]] const bool kQuadratic = (Declare("_contrib_quadratic", TakesQuadratic), true);

}  // namespace
}  // namespace mxnet
