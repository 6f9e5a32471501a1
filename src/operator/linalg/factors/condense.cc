// In a block of rows what the reflections change of the rest of the matrix is kept as sums of
// products of vectors, u^T w + ..., and subtracted by one matrix product at the block's end. Loops
// begin at a multiple of kRowStep: vectors of reflections are 0 left of where they start, and
// what gets into the others there is not read.
#include "operator/linalg/factors/condense.h"

#include <algorithm>

#include "base/threads/omp.h"
#include "operator/linalg/factors/row_kernels.h"
#include "operator/shared/blas_threads.h"
#include "operator/shared/gemm.h"
#include "operator/shared/host_scratch.h"

namespace mxnet {
namespace linalg {
namespace {

constexpr int64_t kBlock = 32;

int64_t Down(int64_t j) { return j / kRowStep * kRowStep; }

template <typename T>
constexpr bool kWide = sizeof(T) == 8;

// Rows of `pitch` numbers, two for each reflection of a block.
template <typename T>
class Vectors {
 public:
  // As many reflections as a block has, of `all`.
  Vectors(int64_t all, int64_t n) : block_(std::min(kBlock, all)), pitch_(RowPitch(n)), memory_(2 * block_ * pitch_) {}
  T* first(int64_t k) const { return memory_.get() + k * pitch_; }
  T* second(int64_t k) const { return memory_.get() + (block_ + k) * pitch_; }
  int64_t pitch() const { return pitch_; }

 private:
  const int64_t block_, pitch_;
  const HostScratch<T> memory_;
};

// x -= sum over k < count of factors[k * step] * row k
template <typename T>
void Subtract(int64_t count, int64_t n, const T* rows, int64_t pitch, const T* factors, int64_t step, T* x) {
  if (count > 0) MXNET_CPU_CALL(AddRows)(kWide<T>, -1.0, count, n, rows, pitch, factors, step, x);
}

// x -= sum of (along k times v) * to k
template <typename T>
void Project(int64_t count, int64_t along_length, const T* along, const T* v, int64_t along_pitch, int64_t n, const T* to, int64_t pitch,
             T* x) {
  if (count == 0) return;
  T factors[kBlock];
  MXNET_CPU_CALL(RowsTimes)(kWide<T>, count, along_length, along, along_pitch, v, factors);
  Subtract(count, n, to, pitch, factors, 1, x);
}

template <typename T>
T Dot(int64_t n, const T* x, const T* y) {
  T out;
  MXNET_CPU_CALL(RowsTimes)(kWide<T>, 1, n, x, n, y, &out);
  return out;
}

template <typename T>
void Multiply(T factor, int64_t n, T* x) {
  for (int64_t i = 0; i < n; ++i) x[i] *= factor;
}

// Threads for one pass over so many numbers, which the memory limits.
int64_t PassThreads(int64_t numbers) { return numbers < (int64_t{1} << 20) ? 1 : OmpThreadsForFlops(2 * static_cast<double>(numbers)); }

// y = a x
template <typename T>
void TimesSymmetric(int64_t n, const T* a, int64_t pitch, const T* x, T* y) {
  std::fill(y, y + n, T(0));
  const int64_t threads = PassThreads(n * n / 2);
  if (threads == 1) return MXNET_CPU_CALL(SymmetricTimes)(kWide<T>, 0, n, n, a, pitch, x, y);
  const int64_t strips = 4 * threads, rows = RowPitch((n + strips - 1) / strips);
  const HostScratch<T> sums(threads * n);
  std::fill_n(sums.get(), threads * n, T(0));
  InTurns(threads, strips, [&](int64_t s, int64_t t) {
    MXNET_CPU_CALL(SymmetricTimes)(kWide<T>, std::min(n, s * rows), std::min(n, (s + 1) * rows), n, a, pitch, x, sums.get() + t * n);
  });
  const T one = 1;
  MXNET_CPU_CALL(AddRows)(kWide<T>, 1.0, threads, n, sums.get(), n, &one, 0, y);
}

// y = a x for the rows of a, or x a, which is as long as the rows.
template <typename T>
void TimesVector(bool rows_times, int64_t count, int64_t n, const T* a, int64_t pitch, const T* x, T* y) {
  if (!rows_times) std::fill(y, y + n, T(0));
  ParallelForThreads(static_cast<int>(PassThreads(count * n)), rows_times ? count : n, [&](int64_t begin, int64_t end) {
    if (rows_times)
      MXNET_CPU_CALL(RowsTimes)(kWide<T>, end - begin, n, a + begin * pitch, pitch, x, y + begin);
    else
      MXNET_CPU_CALL(AddRows)(kWide<T>, 1.0, count, end - begin, a + begin, pitch, x, 1, y + begin);
  });
}

}  // namespace

template <typename T>
void Tridiagonal(int64_t n, T* a, T* diagonal, T* beside, T* scale) {
  const Vectors<T> vw(n, n), wv(n, n);  // a -= v^T w + w^T v
  const int64_t pitch = vw.pitch();
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t j = start + i, rest = n - j - 1, here = Down(j), from = Down(j + 1), length = n - from;
      T *row = a + j * pitch, *v = vw.first(i), *w = vw.second(i);
      Subtract(i, n - here, vw.second(0) + here, pitch, vw.first(0) + j, pitch, row + here);
      Subtract(i, n - here, vw.first(0) + here, pitch, vw.second(0) + j, pitch, row + here);
      diagonal[j] = row[j];
      std::fill(v, v + n, T(0));
      std::fill(w, w + n, T(0));
      if (rest == 0) break;
      beside[j] = static_cast<T>(MXNET_CPU_CALL(ReflectionOf)(kWide<T>, rest, row + j + 1, scale + j));
      v[j + 1] = T(1);
      std::copy(row + j + 2, row + n, v + j + 2);
      v += from, w += from;
      TimesSymmetric(length, a + from * (pitch + 1), pitch, v, w);
      Project(i, length, vw.second(0) + from, v, pitch, length, vw.first(0) + from, pitch, w);
      Project(i, length, vw.first(0) + from, v, pitch, length, vw.second(0) + from, pitch, w);
      Multiply(scale[j], length, w);
      const T turn = scale[j] * Dot(length, w, v) / 2;
      Subtract(1, length, v, pitch, &turn, 1, w);
    }
    const int64_t next = start + count, left = n - next;
    if (left == 0) break;
    for (int64_t i = 0; i < count; ++i) {
      std::copy(vw.second(i) + next, vw.second(i) + n, wv.first(i) + next);
      std::copy(vw.first(i) + next, vw.first(i) + n, wv.second(i) + next);
    }
    // What a strip of rows has left of the diagonal keeps the squares there whole.
    constexpr int64_t strip = 4 * kRowStep;
    ShareStrips((left + strip - 1) / strip, 2.0 * static_cast<double>(left * left * count), [&](int64_t s) {
      const int64_t r = next + s * strip;
      Gemm(true, false, std::min(strip, n - r), n - r, 2 * kBlock, T(-1), vw.first(0) + r, pitch, wv.first(0) + r, pitch, T(1),
           a + r * pitch + r, pitch);
    });
  }
}

template <typename T>
void Bidiagonal(int64_t m, int64_t n, T* a, T* diagonal, T* beside, T* scale, T* right, T* scale_right) {
  const Vectors<T> yu(m, m), vx(m, n);  // a -= y^T v + u^T x
  const HostScratch<T> column(m);
  T* z = column.get();
  const int64_t pitch = vx.pitch(), short_pitch = yu.pitch();
  for (int64_t start = 0; start < m; start += kBlock) {
    const int64_t count = std::min(kBlock, m - start);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t j = start + i, below = m - j - 1, here = Down(j), from = Down(j + 1), length = n - from, tall = m - from;
      T *row = a + j * pitch, *v = vx.first(i), *x = vx.second(i), *y = yu.first(i), *u = yu.second(i);
      Subtract(i, n - here, vx.first(0) + here, pitch, yu.first(0) + j, short_pitch, row + here);
      Subtract(i, n - here, vx.second(0) + here, pitch, yu.second(0) + j, short_pitch, row + here);
      diagonal[j] = static_cast<T>(MXNET_CPU_CALL(ReflectionOf)(kWide<T>, n - j, row + j, scale + j));
      std::fill(v, v + j, T(0)), std::fill(x, x + n, T(0)), std::fill(y, y + m, T(0)), std::fill(u, u + m, T(0));
      v[j] = T(1);
      std::copy(row + j + 1, row + n, v + j + 1);
      if (below == 0) break;
      const T* rest = row + pitch;
      TimesVector(true, below, n - here, rest + here, pitch, v + here, y + j + 1);
      Project(i, n - here, vx.first(0) + here, v + here, pitch, tall, yu.first(0) + from, short_pitch, y + from);
      Project(i, n - here, vx.second(0) + here, v + here, pitch, tall, yu.second(0) + from, short_pitch, y + from);
      Multiply(scale[j], tall, y + from);
      std::fill(z + from, z + j + 1, T(0));
      for (int64_t r = j + 1; r < m; ++r) z[r] = a[r * pitch + j];
      Subtract(i + 1, tall, yu.first(0) + from, short_pitch, vx.first(0) + j, pitch, z + from);
      Subtract(i, tall, yu.second(0) + from, short_pitch, vx.second(0) + j, pitch, z + from);
      beside[j] = static_cast<T>(MXNET_CPU_CALL(ReflectionOf)(kWide<T>, below, z + j + 1, scale_right + j));
      u[j + 1] = T(1);
      std::copy(z + j + 2, z + m, u + j + 2);
      std::copy(u + j + 1, u + m, right + j * m + j + 1);
      TimesVector(false, below, length, rest + from, pitch, u + j + 1, x + from);
      Project(i + 1, tall, yu.first(0) + from, u + from, short_pitch, length, vx.first(0) + from, pitch, x + from);
      Project(i, tall, yu.second(0) + from, u + from, short_pitch, length, vx.second(0) + from, pitch, x + from);
      Multiply(scale_right[j], length, x + from);
    }
    const int64_t next = start + count, left = m - next;
    if (left == 0) break;
    ShareLines(left, 4.0 * static_cast<double>(left * (n - next) * count), [&](int64_t begin, int64_t end) {
      Gemm(true, false, end - begin, n - next, 2 * kBlock, T(-1), yu.first(0) + next + begin, short_pitch, vx.first(0) + next, pitch, T(1),
           a + (next + begin) * pitch + next, pitch);
    });
  }
}

#define MXNET_CONDENSE(T)                             \
  template void Tridiagonal(int64_t, T*, T*, T*, T*); \
  template void Bidiagonal(int64_t, int64_t, T*, T*, T*, T*, T*, T*);
MXNET_CONDENSE(float)
MXNET_CONDENSE(double)

}  // namespace linalg
}  // namespace mxnet
