#include "operator/nn/trees/tree_tops.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using trees::kLanes;
using trees::kTopNodes;
using trees::Top;

using Ints = int32_t __attribute__((vector_size(kLanes * 4)));
using Nodes = uint32_t __attribute__((vector_size(kLanes * 4)));
template <typename T>
struct VectorOf;
template <>
struct VectorOf<float> {
  using Type = float __attribute__((vector_size(kLanes * 4)));
};
template <>
struct VectorOf<double> {
  using Type = double __attribute__((vector_size(kLanes * 8)));
};

/* -1 in lanes whose example goes to the second child of node n. It gives no vector back: functions
 * that do are called otherwise at each level. */
template <int Q, bool kMissing, typename T>
inline void Second(const Top<T>& top, const T* columns, int n, Ints* second) {
  using Vector = typename VectorOf<T>::Type;
  Vector x;
  __builtin_memcpy(&x, columns + static_cast<int64_t>(top.asks[n] >> 4) * kLanes, sizeof(x));
  const Vector value = Vector{} + top.value[n];
  auto goes = Q == trees::kAbove ? x > value : Q == trees::kNotBelow ? x >= value : Q == trees::kBelow ? x < value : x <= value;
  if (kMissing) goes |= (x != x) & (decltype(goes){} - (top.asks[n] >> 3 & 1));  // which nodes do is no pattern to branch by
  *second = __builtin_convertvector(goes, Ints);
}

template <int Q, bool kMissing, typename T>
void Tops(const Top<T>* tops, int64_t count, const T* columns, int64_t features, int64_t groups, uint32_t* at) {
  for (int64_t tree = 0; tree < count; ++tree)
    for (int64_t g = 0; g < groups; ++g, at += kLanes) {
      const Top<T>& top = tops[tree];
      const T* const x = columns + g * features * kLanes;
      Nodes chosen[kTopNodes];  // by each node of those below
#pragma GCC unroll 16
      for (int n = kTopNodes - 1; n >= 0; --n) {
        const bool lowest = n >= kTopNodes / 2;
        const int below = 2 * n + 1;
        const Nodes first = lowest ? Nodes{} + top.below[below - kTopNodes] : chosen[lowest ? 0 : below];
        const Nodes second = lowest ? Nodes{} + top.below[below + 1 - kTopNodes] : chosen[lowest ? 0 : below + 1];
        Ints goes;
        Second<Q, kMissing>(top, x, n, &goes);
        chosen[n] = goes ? second : first;
      }
      __builtin_memcpy(at, &chosen[0], sizeof(Nodes));
    }
}

template <typename T>
void Run(int question, bool missing, const Top<T>* tops, int64_t count, const T* columns, int64_t features, int64_t groups, uint32_t* at) {
  switch (question) {
    case trees::kAbove:
      return (missing ? Tops<trees::kAbove, true, T> : Tops<trees::kAbove, false, T>)(tops, count, columns, features, groups, at);
    case trees::kNotBelow:
      return (missing ? Tops<trees::kNotBelow, true, T> : Tops<trees::kNotBelow, false, T>)(tops, count, columns, features, groups, at);
    case trees::kBelow: return Tops<trees::kBelow, false>(tops, count, columns, features, groups, at);
    default: return Tops<trees::kNotAbove, false>(tops, count, columns, features, groups, at);
  }
}

}  // namespace

void TreeTops(int question, bool missing, const Top<float>* tops, int64_t count, const float* columns, int64_t features, int64_t groups,
              uint32_t* at) {
  Run(question, missing, tops, count, columns, features, groups, at);
}

void TreeTopsDouble(int question, bool missing, const Top<double>* tops, int64_t count, const double* columns, int64_t features,
                    int64_t groups, uint32_t* at) {
  Run(question, missing, tops, count, columns, features, groups, at);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
