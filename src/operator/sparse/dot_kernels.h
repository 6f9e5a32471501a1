/* Products of csr and dense matrices: what the CPU levels compute. */
#ifndef MXNET_OPERATOR_SPARSE_DOT_KERNELS_H_
#define MXNET_OPERATOR_SPARSE_DOT_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace sparse {

/* A csr matrix, its rows `begin` to `end`, and two row-major dense ones with `columns` columns. */
template <typename T>
struct DotCall {
  const int64_t *indptr, *index;
  const T* values;
  const T* dense;
  T* out;
  int64_t columns;
  int64_t begin, end;
  int64_t first_column, last_column;  // of the dense ones: what this call computes
};

}  // namespace sparse

// Gather: rows of out = rows of csr times dense. Scatter: out += csr transposed times dense, of csr's
// rows alone, at the elements of csr whose column is within [low, high); `sorted`: columns are
// ascending in each row.
MXNET_CPU_DECLARE(void GatherFloat(const sparse::DotCall<float>& call); void GatherDouble(const sparse::DotCall<double>& call);
                  void ScatterFloat(const sparse::DotCall<float>& call, int64_t low, int64_t high, bool sorted);
                  void ScatterDouble(const sparse::DotCall<double>& call, int64_t low, int64_t high, bool sorted);)

namespace sparse {
inline void GatherProduct(const DotCall<float>& call) { MXNET_CPU_CALL(GatherFloat)(call); }
inline void GatherProduct(const DotCall<double>& call) { MXNET_CPU_CALL(GatherDouble)(call); }
inline void ScatterProduct(const DotCall<float>& call, int64_t low, int64_t high, bool sorted) {
  MXNET_CPU_CALL(ScatterFloat)(call, low, high, sorted);
}
inline void ScatterProduct(const DotCall<double>& call, int64_t low, int64_t high, bool sorted) {
  MXNET_CPU_CALL(ScatterDouble)(call, low, high, sorted);
}
}  // namespace sparse

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_DOT_KERNELS_H_
