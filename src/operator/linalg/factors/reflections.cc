// A block of reflections is 1 - v^T t v with an upper triangular t, from the first to the last of
// them; in the other order, as q has them, t is transposed.
#include "operator/linalg/factors/reflections.h"

#include <algorithm>

#include "operator/shared/blas_threads.h"
#include "operator/shared/gemm.h"
#include "operator/shared/host_scratch.h"

namespace mxnet {
namespace linalg {
namespace {

template <typename T>
struct Block {
  int64_t count, length, pitch;
  T* v;  // with the ones, and zeros left of them
  T* t;  // rows of kReflections numbers
};

// Reflections `first` to the last of the block, on the columns from `first` on.
template <typename T>
Block<T> Part(const Block<T>& b, int64_t first, int64_t count) {
  return {count, b.length - first, b.pitch, b.v + first * b.pitch + first, b.t + first * kReflections + first};
}

template <typename T>
void Copy(const T* rows, int64_t pitch, const Block<T>& b) {
  for (int64_t i = 0; i < b.count; ++i) {
    T* to = b.v + i * b.pitch;
    std::fill(to, to + i, T(0));
    to[i] = T(1);
    std::copy(rows + i * pitch + i + 1, rows + i * pitch + b.length, to + i + 1);
  }
}

// t for two parts whose own are known: the corner between them is -t1 (v1 v2^T) t2.
template <typename T>
void Join(const Block<T>& b, int64_t top) {
  T products[kReflections * kReflections], half[kReflections * kReflections];
  const Block<T> second = Part(b, top, b.count - top);
  Gemm(false, true, top, second.count, second.length, T(1), b.v + top, b.pitch, second.v, b.pitch, T(0), products, kReflections);
  Gemm(false, false, top, second.count, top, T(-1), b.t, kReflections, products, kReflections, T(0), half, kReflections);
  Gemm(false, false, top, second.count, second.count, T(1), half, kReflections, second.t, kReflections, T(0), b.t + top, kReflections);
}

// v is there already.
template <typename T>
void FindTriangle(const Block<T>& b, const T* scale) {
  for (int64_t i = 0; i < b.count; ++i) std::fill_n(b.t + i * kReflections, b.count, T(0));
  if (b.count > kFewRows) {
    const int64_t top = LargerHalf(b.count, kFewRows);
    FindTriangle(Block<T>{top, b.length, b.pitch, b.v, b.t}, scale);
    FindTriangle(Part(b, top, b.count - top), scale + top);
    return Join(b, top);
  }
  T products[kFewRows * kFewRows];
  Gemm(false, true, b.count, b.count, b.length, T(1), b.v, b.pitch, b.v, b.pitch, T(0), products, kFewRows);
  for (int64_t i = 0; i < b.count; ++i) {
    for (int64_t r = 0; r < i; ++r) {
      T sum = 0;
      for (int64_t k = r; k < i; ++k) sum += b.t[r * kReflections + k] * products[k * kFewRows + i];
      b.t[r * kReflections + i] = -scale[i] * sum;
    }
    b.t[i * kReflections + i] = scale[i];
  }
}

// c (1 - v^T t v), or with t^T.
template <typename T>
void Apply(const Block<T>& b, bool transposed, int64_t rows, T* c, int64_t pitch) {
  if (rows == 0) return;
  const HostScratch<T> products(2 * rows * b.count);
  ShareLines(rows, 4 * static_cast<double>(rows * b.count * b.length), [&](int64_t begin, int64_t end) {
    const int64_t n = end - begin;
    T *along = products.get() + 2 * begin * b.count, *turned = along + n * b.count, *mine = c + begin * pitch;
    Gemm(false, true, n, b.count, b.length, T(1), mine, pitch, b.v, b.pitch, T(0), along, b.count);
    Gemm(false, transposed, n, b.count, b.count, T(1), along, b.count, b.t, kReflections, T(0), turned, b.count);
    Gemm(false, false, n, b.length, b.count, T(-1), turned, b.count, b.v, b.pitch, T(1), mine, pitch);
  });
}

// At most kReflections rows; fills b.
template <typename T>
void FactorBlock(const Block<T>& b, T* a, int64_t pitch, T* scale) {
  if (b.count <= kFewRows) {
    MXNET_CPU_CALL(ReflectRows)(sizeof(T) == 8, b.count, b.length, a, pitch, scale);
    Copy(a, pitch, b);
    return FindTriangle(b, scale);
  }
  const int64_t top = LargerHalf(b.count, kFewRows), rest = b.count - top;
  const Block<T> first{top, b.length, b.pitch, b.v, b.t};
  FactorBlock(first, a, pitch, scale);
  Apply(first, false, rest, a + top * pitch, pitch);
  FactorBlock(Part(b, top, rest), a + top * pitch + top, pitch, scale + top);
  for (int64_t i = top; i < b.count; ++i) {
    std::fill_n(b.v + i * b.pitch, top, T(0));
    std::fill_n(b.t + i * kReflections, top, T(0));
  }
  Join(b, top);
}

// c q for the first `rows` rows of c. `identity`: c is one, whose rows no reflection of a later row
// changes.
template <typename T>
void ApplyAll(const Reflections<T>& r, bool identity, int64_t rows, T* c, int64_t pitch) {
  const HostScratch<T> v(kReflections * r.length), t(kReflections * kReflections);
  for (int64_t first = (r.count - 1) / kReflections * kReflections; first >= 0; first -= kReflections) {
    const int64_t count = std::min(kReflections, r.count - first), length = r.length - first, row = identity ? first : 0;
    const Block<T> b{count, length, length, v.get(), t.get()};
    Copy(r.rows + first * r.pitch + first, r.pitch, b);
    FindTriangle(b, r.scale + first);
    Apply(b, true, rows - row, c + row * pitch + first, pitch);
  }
}

}  // namespace

template <typename T>
void FactorRows(int64_t m, int64_t n, T* a, T* scale) {
  const HostScratch<T> v(kReflections * n), t(kReflections * kReflections);
  for (int64_t first = 0; first < m; first += kReflections) {
    const int64_t count = std::min(kReflections, m - first), length = n - first;
    const Block<T> b{count, length, length, v.get(), t.get()};
    T* corner = a + first * n + first;
    FactorBlock(b, corner, n, scale + first);
    Apply(b, false, m - first - count, corner + count * n, n);
  }
}

template <typename T>
void RowsOfFactor(int64_t m, int64_t n, T* a, const T* scale) {
  const HostScratch<T> rows(m * n);
  std::copy(a, a + m * n, rows.get());
  std::fill(a, a + m * n, T(0));
  for (int64_t i = 0; i < m; ++i) a[i * n + i] = T(1);
  ApplyAll(Reflections<T>{m, n, n, rows.get(), scale}, true, m, a, n);
}

template <typename T>
void TimesFactor(const Reflections<T>& r, int64_t rows, T* c, int64_t pitch) {
  ApplyAll(r, false, rows, c, pitch);
}

#define MXNET_REFLECTIONS(T)                                  \
  template void FactorRows(int64_t, int64_t, T*, T*);         \
  template void RowsOfFactor(int64_t, int64_t, T*, const T*); \
  template void TimesFactor(const Reflections<T>&, int64_t, T*, int64_t);
MXNET_REFLECTIONS(float)
MXNET_REFLECTIONS(double)

}  // namespace linalg
}  // namespace mxnet
