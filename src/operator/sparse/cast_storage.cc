// cast_storage: the same elements, stored in another way; and what else only moves stored elements.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/ndarray.h"
#include "ndarray/sparse_copy.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/sparse_form.h"
#include "operator/sparse/gpu_cast.h"
#include "operator/sparse/gpu_parts.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace {

struct CastStorageParam : public Parameter<CastStorageParam> {
  int stype;
  MXNET_DECLARE_PARAM(CastStorageParam) {
    MXNET_FIELD(stype)
        .add_enum("default", static_cast<int>(StorageType::kDense))
        .add_enum("row_sparse", static_cast<int>(StorageType::kRowSparse))
        .add_enum("csr", static_cast<int>(StorageType::kCSR))
        .describe("Storage type of the result.");
  }
};
MXNET_REGISTER_PARAM(CastStorageParam);

bool TakesCast(const Attrs& attrs, const StorageTypes&, StorageTypes* out) {
  return GiveStorage(&(*out)[0], static_cast<StorageType>(attrs.get<CastStorageParam>().stype));
}

using sparse::AnyNonZero;
using sparse::Grain;

void DenseToRows(const TBlob& in, SparseParts* out) {
  const int64_t rows = in.shape[0], size = rows == 0 ? 0 : in.Size() / rows;
  const size_t item = DTypeSize(in.dtype), bytes = static_cast<size_t>(size) * item;
  std::vector<char> used(static_cast<size_t>(rows));
  const char* data = in.data<char>();
  ParallelFor(rows, Grain(size), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) used[static_cast<size_t>(r)] = AnyNonZero(data + static_cast<size_t>(r) * bytes, size, in.dtype);
  });
  out->Resize(std::count(used.begin(), used.end(), 1));
  int64_t* index = out->index[SparseParts::kRows].data<int64_t>();
  for (int64_t r = 0, n = 0; r < rows; ++r)
    if (used[static_cast<size_t>(r)]) index[n++] = r;
  char* values = out->values.data<char>();
  ParallelFor(out->stored(), Grain(size), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n)
      std::memcpy(values + static_cast<size_t>(n) * bytes, data + static_cast<size_t>(index[n]) * bytes, bytes);
  });
}

void DenseToCSR(const TBlob& in, SparseParts* out) {
  const int64_t rows = in.shape[0], columns = in.shape[1], grain = Grain(columns);
  const size_t item = DTypeSize(in.dtype);
  const char* data = in.data<char>();
  std::vector<int64_t> counts(static_cast<size_t>(rows));
  sparse::VisitNonZero(in.dtype, [&](auto is_nonzero) {
    ParallelFor(rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        int64_t n = 0;
        for (int64_t c = 0; c < columns; ++c) n += is_nonzero(data, r * columns + c);
        counts[static_cast<size_t>(r)] = n;
      }
    });
    int64_t total = 0;
    for (int64_t n : counts) total += n;
    out->Resize(total);
    int64_t* const indptr = out->index[SparseParts::kIndptr].data<int64_t>();
    indptr[0] = 0;
    for (int64_t r = 0; r < rows; ++r) indptr[r + 1] = indptr[r] + counts[static_cast<size_t>(r)];
    int64_t* const index = out->index[SparseParts::kColumns].data<int64_t>();
    char* const values = out->values.data<char>();
    ParallelFor(rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t c = 0, n = indptr[r]; c < columns; ++c) {
          if (!is_nonzero(data, r * columns + c)) continue;
          index[n] = c;
          std::memcpy(values + static_cast<size_t>(n++) * item, data + static_cast<size_t>(r * columns + c) * item, item);
        }
    });
  });
}

void RowsToDense(const SparseParts& in, const TBlob& out) {
  const int64_t rows = in.shape[0];
  if (out.Size() == 0) return;
  const size_t bytes = out.Bytes() / static_cast<size_t>(rows);
  const int64_t* index = in.index[SparseParts::kRows].data<int64_t>();
  std::memset(out.dptr, 0, out.Bytes());
  for (int64_t n = 0; n < in.stored(); ++n)
    std::memcpy(out.data<char>() + static_cast<size_t>(index[n]) * bytes, in.values.data<char>() + static_cast<size_t>(n) * bytes, bytes);
}

/* Elements that a row has twice are added up, as SciPy does. */
void CSRToDense(const SparseParts& in, const TBlob& out) {
  const int64_t rows = in.shape[0], columns = in.shape[1];
  if (out.Size() == 0) return;
  std::memset(out.dptr, 0, out.Bytes());
  const int64_t *indptr = in.index[SparseParts::kIndptr].data<int64_t>(), *index = in.index[SparseParts::kColumns].data<int64_t>();
  VisitDType(out.dtype, "cast_storage", [&](auto zero) {
    using T = decltype(zero);
    const T* const values = in.values.data<T>();
    T* const to = out.data<T>();
    ParallelFor(rows, Grain(columns), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t n = indptr[r]; n < indptr[r + 1]; ++n) {
          T& element = to[r * columns + index[n]];
          element = static_cast<T>(element + values[n]);
        }
    });
  });
}

void CastStorageSparse(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const TBlob &in = args.in[0], &out = args.out[0];
  if (in.sparse && out.sparse && in.sparse->storage == out.sparse->storage)
    return args.run.ctx.is_gpu() ? sparse::CopyOnDevice(args, *in.sparse, out.sparse) : CopyParts(*in.sparse, out.sparse, nullptr);
  if (!out.sparse) return sparse::ToDense(args, in, out);
  sparse::FromDense(args, sparse::AsDense(args, in), out.sparse);
}

}  // namespace

namespace sparse {

void ToDense(KernelArgs& args, const TBlob& in, const TBlob& out) {
  if (!in.sparse) {
    if (in.Size() > 0) CopyBytes(args.run, in.dptr, out.dptr, static_cast<int64_t>(in.Bytes()));
  } else if (args.run.ctx.is_gpu()) {
    ToDenseOnDevice(args, *in.sparse, out);
  } else if (in.sparse->storage == StorageType::kCSR) {
    CSRToDense(*in.sparse, out);
  } else {
    RowsToDense(*in.sparse, out);
  }
}

void FromDense(KernelArgs& args, const TBlob& in, SparseParts* out) {
  if (args.run.ctx.is_gpu()) return FromDenseOnDevice(args, in, out);
  out->storage == StorageType::kCSR ? DenseToCSR(in, out) : DenseToRows(in, out);
}

TBlob AsDense(KernelArgs& args, const TBlob& in) {
  if (!in.sparse) return in;
  TBlob dense = in;
  dense.sparse = nullptr;
  dense.dptr = args.workspace(in.Bytes());
  ToDense(args, in, dense);
  return dense;
}

}  // namespace sparse

namespace {

MXNET_REGISTER_OP(cast_storage)
    .describe(
        "The same array in another storage type: 'default', 'row_sparse' (rows with an element that is not 0) or 'csr' (elements that are "
        "not 0, of 2-D arrays).")
    .alias("_sparse_cast_storage")
    .set_param<CastStorageParam>()
    .set_inputs({"data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(ElemwiseShape)
    .set_infer_type(SameType)
    .set_gradient([](const NodePtr&, const std::vector<NodeEntry>& ograds) { return std::vector<NodeEntry>{MakeOp("_copy", {ograds[0]})}; })
    .set_kernel(CopyThrough);
MXNET_REGISTER_SPARSE(cast_storage, TakesCast)
    .set_from_dense()
    .set_kernel(DeviceType::kCPU, CastStorageSparse)
    .set_kernel(DeviceType::kGPU, CastStorageSparse);

/* Zeros of the storage that is wished for. */
bool TakesZeros(const Attrs&, const StorageTypes&, StorageTypes* out) {
  return GiveStorage(&(*out)[0], StorageType::kDense) || IsSparse((*out)[0]);
}
void ZerosSparse(KernelArgs& args) {
  if (args.req[0] != OpReq::kNull) sparse::StoreNothing(args, args.out[0].sparse);
}
MXNET_REGISTER_SPARSE(_zeros, TakesZeros).set_kernel(DeviceType::kCPU, ZerosSparse).set_kernel(DeviceType::kGPU, ZerosSparse);
MXNET_REGISTER_SPARSE(_zeros_without_dtype, TakesZeros)  // gradients of what has none
    .set_kernel(DeviceType::kCPU, ZerosSparse)
    .set_kernel(DeviceType::kGPU, ZerosSparse);

}  // namespace
}  // namespace mxnet
