// The vocabulary of the pointwise table on GPUs for int and long long.
#include "rtc/prelude.cuh"

namespace mx {
#define MXNET_FN __device__ __forceinline__
template <typename T>
struct UnsignedOf {
  typedef uint64 Type;
};
#include "operator/pointwise/functions/integer_functions.cuh"
#undef MXNET_FN
}  // namespace mx
