// Images to tensors, and normalization.
#include "rtc/loop.cuh"

namespace kernels {

// From (pixels, channels) to (channels, pixels), divided by 255.
template <typename I, typename T, typename R>
struct to_tensor {
  typedef typename mx::Real<T>::Type A;
  struct Args {
    const T* data;
    R* output;
    long long pixels, channels;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long size = a.pixels * a.channels, image = i / size, rest = i % size;
    const long long c = rest / a.pixels, pixel = rest % a.pixels;
    const A x = mx::Load<A>(a.data, image * size + pixel * a.channels + c);
    mx::Store(a.output, static_cast<long long>(i), static_cast<float>(x / A(255)));
  }
};

template <typename I, typename R, typename T>
struct to_tensor_backward {
  struct Args {
    const R* ograd;
    T* output;
    long long pixels, channels;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long size = a.pixels * a.channels, image = i / size, rest = i % size;
    const long long pixel = rest / a.channels, c = rest % a.channels;
    const float g = mx::Load<float>(a.ograd, image * size + c * a.pixels + pixel) / 255.0f;
    mx::Store(a.output, static_cast<long long>(i), static_cast<typename mx::Real<T>::Type>(g));
  }
};

template <typename I, typename T>
struct normalize {
  typedef typename mx::Real<T>::Type A;
  struct Args {
    const T* data;
    T* output;
    long long plane, channels;
    double mean0, mean1, mean2, std0, std1, std2;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long c = static_cast<long long>(i) / a.plane % a.channels;
    const double mean = c == 0 ? a.mean0 : c == 1 ? a.mean1 : a.mean2, std = c == 0 ? a.std0 : c == 1 ? a.std1 : a.std2;
    mx::Store(a.output, static_cast<long long>(i), (mx::Load<A>(a.data, i) - static_cast<A>(mean)) / static_cast<A>(std));
  }
};

}  // namespace kernels
