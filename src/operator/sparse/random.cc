// Draws and constants into row_sparse arrays, all of whose rows are stored then.
#include <numeric>

#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "operator/record/sparse_form.h"

namespace mxnet {
namespace {

/* Row_sparse where that is wished for. */
bool TakesRows(const Attrs&, const StorageTypes&, StorageTypes* out) {
  return (*out)[0] == StorageType::kRowSparse || GiveStorage(&(*out)[0], StorageType::kDense);
}

/* The dense kernel, on the values. */
Kernel RowsBy(const char* name) {
  return [op = &Op::Register(name)](KernelArgs& args) {
    if (args.req[0] == OpReq::kNull) return;
    SparseParts* const out = args.out[0].sparse;
    const int64_t rows = out->shape[0];
    out->Resize(rows);
    int64_t* const index = out->index[SparseParts::kRows].data<int64_t>();
    std::iota(index, index + rows, 0);
    TBlob values = args.out[0];
    values.sparse = nullptr;
    values.dptr = out->values.memory.dptr;
    KernelArgs dense = args;
    dense.out = Span<const TBlob>(&values, 1);
    (*op->KernelFor(DeviceType::kCPU))(dense);
  };
}

[[maybe_unused]] const bool registered = [] {
  for (const char* name : {"_random_uniform", "_random_normal", "_random_gamma", "_random_exponential", "_random_poisson",
                           "_random_negative_binomial", "_random_generalized_negative_binomial", "_full", "_ones", "_set_value"})
    DeclareSparse(name, TakesRows).set_kernel(DeviceType::kCPU, RowsBy(name));
  return true;
}();

}  // namespace
}  // namespace mxnet
