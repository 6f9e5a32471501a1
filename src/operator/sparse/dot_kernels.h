/* Products of csr and dense matrices: what the CPU levels compute. */
#ifndef MXNET_OPERATOR_SPARSE_DOT_KERNELS_H_
#define MXNET_OPERATOR_SPARSE_DOT_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace sparse {

/* Rows `begin` to `end` of a csr matrix, and two row-major dense ones of which some columns are
 * computed; `step`: elements from row to row. `far`: what is read or written in any order does not
 * fit the caches next to a core. */
template <typename T>
struct DotCall {
  const int64_t *indptr, *index;
  const T* values;
  int64_t begin, end;
  const T* dense;
  int64_t dense_step;
  T* out;
  int64_t out_step;
  int64_t columns;
  bool far;
  const void* narrow = nullptr;  // for one column: `index` in so many bytes a number
  int narrow_bytes = 0;
  // Gathering into several columns: for each row of the csr matrix the first of its elements that
  // take part and the one behind the last, in place of all; products are added to `out`.
  const int64_t *first = nullptr, *last = nullptr;
  bool adds = false;
};

}  // namespace sparse

// Gather: rows of out = rows of csr times dense. Scatter: out += csr transposed times dense, of
// csr's rows alone, at the elements of csr whose column is within [low, high); `sorted`: columns
// are ascending in each row.
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
