// Root-mean-square normalization on GPUs: a block for each row, and for gamma for each column.
#include "rtc/loop.cuh"

namespace kernels {

template <typename T>
struct rms_norm {
  typedef typename mx::Real<T>::Type A;
  struct Args {
    const T* data;
    const T* gamma;
    T* output;
    long long length;
    double eps;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ A shared[256];
    const long long first = row * a.length;
    A squares = A(0);
    for (long long i = threadIdx.x; i < a.length; i += 256) {
      const A x = mx::Load<A>(a.data, first + i);
      squares += x * x;
    }
    const A scale = A(1) / ::sqrt(mx::BlockSum(squares, shared) / static_cast<A>(a.length) + static_cast<A>(a.eps));
    for (long long i = threadIdx.x; i < a.length; i += 256)
      mx::Store(a.output, first + i, mx::Load<A>(a.data, first + i) * scale * mx::Load<A>(a.gamma, i));
  }
};

// The gradient of data, unless `gradient` is null, and the scale of each row.
template <typename T>
struct rms_norm_backward {
  typedef typename mx::Real<T>::Type A;
  struct Args {
    const T* ograd;
    const T* data;
    const T* gamma;
    T* gradient;
    double* scales;
    long long length;
    double eps;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ A shared[256];
    const long long first = row * a.length;
    A squares = A(0), product = A(0);
    for (long long i = threadIdx.x; i < a.length; i += 256) {
      const A x = mx::Load<A>(a.data, first + i);
      squares += x * x;
      product += mx::Load<A>(a.ograd, first + i) * mx::Load<A>(a.gamma, i) * x;
    }
    const A length = static_cast<A>(a.length);
    const A scale = A(1) / ::sqrt(mx::BlockSum(squares, shared) / length + static_cast<A>(a.eps));
    product = mx::BlockSum(product, shared) * scale * scale / length;
    if (threadIdx.x == 0) a.scales[row] = scale;
    for (long long i = threadIdx.x; a.gradient && i < a.length; i += 256) {
      const A g = mx::Load<A>(a.ograd, first + i) * mx::Load<A>(a.gamma, i);
      mx::Store(a.gradient, first + i, scale * (g - product * mx::Load<A>(a.data, first + i)));
    }
  }
};

// The gradient of gamma, a block for each of its elements.
template <typename T>
struct rms_norm_gamma {
  typedef typename mx::Real<T>::Type A;
  struct Args {
    const T* ograd;
    const T* data;
    const double* scales;
    T* gradient;
    long long rows, length;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long column) {
    __shared__ A shared[256];
    A sum = A(0);
    for (long long r = threadIdx.x; r < a.rows; r += 256) {
      const long long at = r * a.length + column;
      sum += mx::Load<A>(a.ograd, at) * mx::Load<A>(a.data, at) * static_cast<A>(a.scales[r]);
    }
    sum = mx::BlockSum(sum, shared);
    if (threadIdx.x == 0) mx::Store(a.gradient, column, sum);
  }
};

}  // namespace kernels
