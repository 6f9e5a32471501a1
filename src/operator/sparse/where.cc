// where with a csr condition: what it does not store is false.
#include <cstring>

#include "base/threads/omp.h"
#include "operator/record/sparse_form.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace {

constexpr StorageType kD = StorageType::kDense;

bool TakesWhere(const Attrs&, const StorageTypes& in, StorageTypes* out) {
  return in[0] == StorageType::kCSR && in[1] == kD && in[2] == kD && GiveStorage(&(*out)[0], kD);
}

void Where(KernelArgs& args) {
  const TBlob& out = args.out[0];
  if (args.req[0] == OpReq::kNull || out.Size() == 0) return;
  if (args.run.ctx.is_gpu()) return sparse::RunDense(args, 0);
  const SparseParts& condition = *args.in[0].sparse;
  const size_t item = DTypeSize(out.dtype);
  const int64_t *const indptr = condition.index[SparseParts::kIndptr].data<int64_t>(), *const columns =
                                                                                           condition.index[SparseParts::kColumns]
                                                                                               .data<int64_t>();
  const int64_t rows = condition.shape[0], row_size = condition.shape[1];
  const size_t row_bytes = static_cast<size_t>(row_size) * item;
  sparse::VisitNonZero(condition.values.dtype, [&](auto is_nonzero) {
    ParallelFor(rows, sparse::Grain(row_size), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const size_t row = static_cast<size_t>(r) * row_bytes;
        std::memcpy(out.data<char>() + row, args.in[2].data<char>() + row, row_bytes);
        for (int64_t n = indptr[r]; n < indptr[r + 1]; ++n) {
          if (!is_nonzero(condition.values.memory.dptr, n)) continue;
          const size_t at = row + static_cast<size_t>(columns[n]) * item;
          std::memcpy(out.data<char>() + at, args.in[1].data<char>() + at, item);
        }
      }
    });
  });
}

MXNET_REGISTER_SPARSE(where, TakesWhere).set_kernel(DeviceType::kCPU, Where).set_kernel(DeviceType::kGPU, Where);

}  // namespace
}  // namespace mxnet
