/* For files *_variants.cc: 64 bytes of numbers, which a compiler splits where registers are
 * shorter. */
#ifndef MXNET_BASE_ROW_VECTORS_H_
#define MXNET_BASE_ROW_VECTORS_H_

#include <cstdint>

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

// Numbers of one vector instruction of the widest kind.
template <typename T>
struct Wide {
  typedef T type __attribute__((vector_size(64), aligned(alignof(T)), may_alias));
  static constexpr int64_t kCount = 64 / sizeof(T);
};
template <typename T>
inline typename Wide<T>::type& At(T* p) {
  return *reinterpret_cast<typename Wide<T>::type*>(p);
}
template <typename T>
inline const typename Wide<T>::type& At(const T* p) {
  return *reinterpret_cast<const typename Wide<T>::type*>(p);
}

template <typename T>
inline T Total(const typename Wide<T>::type& v) {
  typedef T Half __attribute__((vector_size(32)));
  typedef T Quarter __attribute__((vector_size(16)));
  union {
    typename Wide<T>::type whole;
    Half halves[2];
  } a;
  union {
    Half half;
    Quarter quarters[2];
  } b;
  a.whole = v;
  b.half = a.halves[0] + a.halves[1];
  const Quarter q = b.quarters[0] + b.quarters[1];
  if constexpr (sizeof(T) == 8)
    return q[0] + q[1];
  else
    return (q[0] + q[1]) + (q[2] + q[3]);
}

}  // namespace
}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
#endif  // MXNET_BASE_ROW_VECTORS_H_
