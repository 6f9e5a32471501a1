// Where the kernels of factorizations write down a matrix that they cannot factor.
#include "rtc/loop.cuh"

namespace kernels {

typedef unsigned long long Finding;
// The first matrix with a trouble, as the largest number; `row` counts from 1.
__device__ __forceinline__ void Find(Finding* finding, long long matrices, long long matrix, long long row) {
  atomicMax(finding, (static_cast<Finding>(matrices - matrix) << 32) | static_cast<Finding>(row));
}

}  // namespace kernels
