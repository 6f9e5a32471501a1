/* Sums of rows: what the CPU levels compute. */
#ifndef MXNET_OPERATOR_SPARSE_ROW_KERNELS_H_
#define MXNET_OPERATOR_SPARSE_ROW_KERNELS_H_

#include <cstdint>
#include <type_traits>

#include "base/cpu_dispatch.h"

namespace mxnet {
namespace sparse {

/* Two lists of rows with ascending numbers, of `size` elements each; their sum or difference. */
template <typename T>
struct MergeCall {
  const int64_t *a_rows, *a_end, *b_rows, *b_end;
  const T *a, *b;
  int64_t size;
  bool minus;
  int64_t* rows;
  T* out;
};

}  // namespace sparse

// Merge: all rows of either list; returns the end of their numbers. AddInto: to += or -= from.
MXNET_CPU_DECLARE(int64_t* MergeFloat(const sparse::MergeCall<float>& call);
                  int64_t* MergeDouble(const sparse::MergeCall<double>& call);
                  void AddFloats(float* to, const float* from, int64_t count, bool minus);
                  void AddDoubles(double* to, const double* from, int64_t count, bool minus);)

namespace sparse {
inline int64_t* Merge(const MergeCall<float>& call) { return MXNET_CPU_CALL(MergeFloat)(call); }
inline int64_t* Merge(const MergeCall<double>& call) { return MXNET_CPU_CALL(MergeDouble)(call); }

/* Some elements are added here, more by the level's loop. */
template <typename S, typename T>
inline void AddInto(S* to, const T* from, int64_t count, bool minus) {
  if (count > 8) {
    if constexpr (std::is_same<T, float>::value) return MXNET_CPU_CALL(AddFloats)(to, from, count, minus);
    if constexpr (std::is_same<T, double>::value) return MXNET_CPU_CALL(AddDoubles)(to, from, count, minus);
  }
  for (int64_t i = 0; i < count; ++i) {
    const S value = static_cast<S>(from[i]);
    to[i] = static_cast<S>(minus ? to[i] - value : to[i] + value);
  }
}
}  // namespace sparse

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_ROW_KERNELS_H_
