/* For files *_variants.cc: numbers of rows, each for every element of its row. */
#ifndef MXNET_BASE_SPREAD_H_
#define MXNET_BASE_SPREAD_H_

#include <cstdint>
#include <type_traits>

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

/*
 * The numbers of kCount rows are in a vector. As many vectors of elements as a row has elements
 * belong to those rows: the k-th has the elements from k * kCount on.
 */
template <typename V>
class Spread {
 public:
#if defined(__AVX512F__)
  static constexpr int64_t kBytes = 64;
#elif defined(__AVX2__)
  static constexpr int64_t kBytes = 32;
#else
  static constexpr int64_t kBytes = 16;
#endif
  static constexpr int64_t kCount = kBytes / static_cast<int64_t>(sizeof(V));
  typedef V Vector __attribute__((vector_size(kBytes), may_alias, aligned(sizeof(V))));

  /* REQUIRES: each <= kCount. */
  explicit Spread(int64_t each) {
    for (int64_t i = 0; i < each * kCount; ++i) of_[i / kCount][i % kCount] = static_cast<Index>(i / each);
  }
  static Vector& At(V* p) { return *reinterpret_cast<Vector*>(p); }
  static const Vector& At(const V* p) { return *reinterpret_cast<const Vector*>(p); }
  Vector Of(const Vector& rows, int64_t k) const { return __builtin_shuffle(rows, of_[k]); }

 private:
  using Index = std::conditional_t<sizeof(V) == 4, int32_t, int64_t>;
  typedef Index Indices __attribute__((vector_size(kBytes)));
  Indices of_[kCount];
};

}  // namespace
}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
#endif  // MXNET_BASE_SPREAD_H_
