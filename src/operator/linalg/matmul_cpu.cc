#include <algorithm>
#include <vector>

#include "base/cpu_dispatch.h"
#include "base/dtype.h"
#include "base/ran.h"
#include "base/threads/determinism.h"
#include "base/threads/omp.h"
#include "operator/gpu_library/gemm.h"
#include "operator/linalg/matmul.h"
#include "operator/matrix/move_cpu.h"
#include "operator/shared/gemm.h"
#include "operator/shared/half_product.h"

namespace mxnet {
MXNET_CPU_DECLARE(void SmallProduct(bool wide, bool ta, bool tb, int64_t m, int64_t n, int64_t k, const void* a, const void* b,
                                    const void* start, void* c);
                  void ScaledVector(bool wide, int64_t n, double factor, const void* x, void* c);
                  void InnerProducts(bool wide, int64_t rows, int64_t k, const void* a, const void* x, void* y);
                  double InnerProduct(bool wide, int64_t k, const void* a, const void* b);)

namespace {

// Multiplications, and numbers of b, up to which a library call costs more than the loops.
constexpr int64_t kTiny = 16 * 16 * 16, kTinyFactor = 4096;
constexpr int64_t kThinFactor = 256;  // numbers of b beside which a may have any number of rows

// Numbers of a vector from which inner products pay, and of the rows for one thread.
constexpr int64_t kLeastInner = 16, kInnerPart = 1 << 15;

constexpr int64_t kScaledPart = 1 << 16;  // numbers that one thread multiplies with a factor

constexpr int64_t kWorthThread = 1 << 18;  // multiplications, some ten microseconds

// A product with one vector, whose other side has its rows of k numbers one behind the other.
struct RowsTimesVector {
  int64_t rows = 0;   // 0: it is none
  bool of_b = false;  // the rows are those of b
  RowsTimesVector(bool ta, bool tb, const MatmulSize& s) {
    if (s.k < kLeastInner) return;
    if (s.n == 1 && (!ta || s.m == 1)) {
      rows = s.m;
    } else if (s.m == 1 && tb) {
      rows = s.n, of_b = true;
    }
  }
};

template <typename T>
void InnerRows(const RowsTimesVector& v, int64_t k, const T* a, const T* b, T* c) {
  const T *rows = v.of_b ? b : a, *x = v.of_b ? a : b;
  Ran("inner products");
  constexpr bool kWide = sizeof(T) == 8;
  const int64_t parts = v.rows == 1 ? FixedParts(k / kInnerPart) : 1;
  if (parts > 1) {
    std::vector<double> sums(parts);
    ParallelFor(parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = k * i / parts, last = k * (i + 1) / parts;
        sums[i] = MXNET_CPU_CALL(InnerProduct)(kWide, last - first, rows + first, x + first);
      }
    });
    double sum = 0;
    for (double part : sums) sum += part;
    c[0] = static_cast<T>(sum);
    return;
  }
  ParallelFor(v.rows, std::max<int64_t>(1, kInnerPart / k), [&](int64_t begin, int64_t end) {
    MXNET_CPU_CALL(InnerProducts)(kWide, end - begin, k, rows + begin * k, x, c + begin);
  });
}

template <typename T>
void ThinRows(bool tb, const MatmulSize& s, const T* a, const T* b, const T* start, T* c) {
  Ran("product with a thin matrix");
  ParallelFor(s.m, std::max<int64_t>(1, kWorthThread / (s.k * s.n)), [&](int64_t begin, int64_t end) {
    MXNET_CPU_CALL(SmallProduct)(sizeof(T) == 8, false, tb, end - begin, s.n, s.k, a + begin * s.k, b, start, c + begin * s.n);
  });
}

template <typename T>
void Batch(bool ta, bool tb, const MatmulSize& s, const T* a, const T* b, T* c) {
  const int64_t work = s.m * s.n * s.k;
  const RowsTimesVector vector(ta, tb, s);
  if (vector.rows && s.batch == 1) return InnerRows(vector, s.k, a, b, c);
  if (s.batch == 1 && s.k == 1 && (s.m == 1 || s.n == 1)) {
    const T *x = s.m == 1 ? b : a, factor = s.m == 1 ? a[0] : b[0];
    Ran("scaled vector");
    return ParallelFor(s.m * s.n, kScaledPart, [&](int64_t begin, int64_t end) {
      MXNET_CPU_CALL(ScaledVector)(sizeof(T) == 8, end - begin, static_cast<double>(factor), x + begin, c + begin);
    });
  }
  const bool thin = s.k * s.n <= kThinFactor;
  if (thin && !ta && s.batch == 1) return ThinRows(tb, s, a, b, static_cast<const T*>(nullptr), c);
  if (vector.rows)
    Ran("inner products");
  else if (thin || (work <= kTiny && s.k * s.n <= kTinyFactor))
    Ran("small products");
  auto range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (vector.rows) MXNET_CPU_CALL(InnerProducts)
      (sizeof(T) == 8, vector.rows, s.k, vector.of_b ? b + i * s.k * s.n : a + i * s.m * s.k, vector.of_b ? a + i * s.k : b + i * s.k,
       c + i * vector.rows);
      else if (thin || (work <= kTiny && s.k * s.n <= kTinyFactor)) MXNET_CPU_CALL(SmallProduct)(
          sizeof(T) == 8, ta, tb, s.m, s.n, s.k, a + i * s.m * s.k, b + i * s.k * s.n, nullptr, c + i * s.m * s.n);
      else Gemm(ta, tb, s.m, s.n, s.k, a + i * s.m * s.k, b + i * s.k * s.n, T(0), c + i * s.m * s.n);
    }
  };
  const int threads = OmpMaxThreads();
  if (s.batch == 1 || s.batch * work < 2 * kWorthThread || (s.batch < threads && work >= kWorthThread)) return range(0, s.batch);
  ParallelForThreads(std::min<int64_t>(threads, s.batch), s.batch, range);
}

}  // namespace

bool ThinProduct(int dtype, bool tb, const MatmulSize& s, const void* a, const void* b, const void* start, void* c) {
  if (s.batch != 1 || s.k == 0 || s.k * s.n > kThinFactor) return false;
  if (dtype == kFloat32)
    ThinRows(tb, s, static_cast<const float*>(a), static_cast<const float*>(b), static_cast<const float*>(start), static_cast<float*>(c));
  else if (dtype == kFloat64)
    ThinRows(tb, s, static_cast<const double*>(a), static_cast<const double*>(b), static_cast<const double*>(start),
             static_cast<double*>(c));
  else
    return false;
  return true;
}

void Matmul(int dtype, bool ta, bool tb, const MatmulSize& s, const void* a, const void* b, void* c,
            const std::function<void*(size_t)>& workspace) {
  if (s.batch * s.m * s.n == 0) return;
  if (s.k == 0) return ZeroBytes(c, s.batch * s.m * s.n * static_cast<int64_t>(DTypeSize(dtype)));
  if (dtype == kFloat32) return Batch(ta, tb, s, static_cast<const float*>(a), static_cast<const float*>(b), static_cast<float*>(c));
  if (dtype == kFloat64) return Batch(ta, tb, s, static_cast<const double*>(a), static_cast<const double*>(b), static_cast<double*>(c));
  if (dtype != kFloat16 && dtype != kBfloat16) ThrowDType(dtype, "matmul", "float32, float64, float16, bfloat16");
  HalfProduct half;
  half.dtype = dtype, half.trans_a = ta, half.trans_b = tb, half.batch = s.batch, half.m = s.m, half.n = s.n, half.k = s.k;
  half.a = a, half.b = b, half.c = c;
  if (MultiplyHalf(half, workspace)) return;
  const int64_t na = s.batch * s.m * s.k, nb = s.batch * s.k * s.n, nc = s.batch * s.m * s.n;
  float* wide = static_cast<float*>(workspace(static_cast<size_t>(na + nb + nc) * sizeof(float)));
  auto widen = [&](const void* from, float* to, int64_t n) {
    ParallelFor(n, 0, [&](int64_t begin, int64_t end) {
      if (dtype == kFloat16)
        HalfToFloat(static_cast<const float16*>(from) + begin, to + begin, end - begin);
      else
        BfloatToFloat(static_cast<const bfloat16*>(from) + begin, to + begin, end - begin);
    });
  };
  widen(a, wide, na);
  widen(b, wide + na, nb);
  float* result = wide + na + nb;
  Batch(ta, tb, s, wide, wide + na, result);
  ParallelFor(nc, 0, [&](int64_t begin, int64_t end) {
    if (dtype == kFloat16)
      FloatToHalf(result + begin, static_cast<float16*>(c) + begin, end - begin);
    else
      FloatToBfloat(result + begin, static_cast<bfloat16*>(c) + begin, end - begin);
  });
}

void Matmul(const RunContext& run, int dtype, bool ta, bool tb, const MatmulSize& s, const void* a, const void* b, void* c,
            const std::function<void*(size_t)>& workspace) {
  if (!run.ctx.is_gpu()) return Matmul(dtype, ta, tb, s, a, b, c, workspace);
  gpu_library::Gemm p;
  p.dtype = dtype, p.trans_a = ta, p.trans_b = tb, p.batch = s.batch, p.m = s.m, p.n = s.n, p.k = s.k;
  gpu_library::Multiply(run, workspace, p, a, b, c);
}

}  // namespace mxnet
