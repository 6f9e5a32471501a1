#include <algorithm>

#include "base/cpu_dispatch.h"
#include "base/dtype.h"
#include "base/omp.h"
#include "operator/gemm.h"
#include "operator/gpu_library/gemm.h"
#include "operator/linalg/matmul.h"
#include "operator/matrix/move.h"

namespace mxnet {
MXNET_CPU_DECLARE(void SmallProduct(bool wide, bool ta, bool tb, int64_t m, int64_t n, int64_t k, const void* a, const void* b, void* c);)

namespace {

// Multiplications, and numbers of b, up to which a library call costs more than the loops.
constexpr int64_t kTiny = 16 * 16 * 16, kTinyFactor = 4096;
constexpr int64_t kThinFactor = 256;  // numbers of b beside which a may have any number of rows

constexpr int64_t kWorthThread = 1 << 18;  // multiplications, some ten microseconds

template <typename T>
void Batch(bool ta, bool tb, const MatmulSize& s, const T* a, const T* b, T* c) {
  const int64_t work = s.m * s.n * s.k;
  const bool thin = s.k * s.n <= kThinFactor;
  if (thin && !ta && s.batch == 1)
    return ParallelFor(s.m, std::max<int64_t>(1, kWorthThread / (s.k * s.n)), [&](int64_t begin, int64_t end) {
      MXNET_CPU_CALL(SmallProduct)(sizeof(T) == 8, ta, tb, end - begin, s.n, s.k, a + begin * s.k, b, c + begin * s.n);
    });
  auto range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (thin || (work <= kTiny && s.k * s.n <= kTinyFactor))
        MXNET_CPU_CALL(SmallProduct)(sizeof(T) == 8, ta, tb, s.m, s.n, s.k, a + i * s.m * s.k, b + i * s.k * s.n, c + i * s.m * s.n);
      else
        Gemm(ta, tb, s.m, s.n, s.k, a + i * s.m * s.k, b + i * s.k * s.n, T(0), c + i * s.m * s.n);
    }
  };
  const int threads = OmpMaxThreads();
  if (s.batch == 1 || s.batch * work < 2 * kWorthThread || (s.batch < threads && work >= kWorthThread)) return range(0, s.batch);
  ParallelForThreads(std::min<int64_t>(threads, s.batch), s.batch, range);
}

}  // namespace

void Matmul(int dtype, bool ta, bool tb, const MatmulSize& s, const void* a, const void* b, void* c,
            const std::function<void*(size_t)>& workspace) {
  if (s.batch * s.m * s.n == 0) return;
  if (s.k == 0) return ZeroBytes(c, s.batch * s.m * s.n * static_cast<int64_t>(DTypeSize(dtype)));
  if (dtype == kFloat32) return Batch(ta, tb, s, static_cast<const float*>(a), static_cast<const float*>(b), static_cast<float*>(c));
  if (dtype == kFloat64) return Batch(ta, tb, s, static_cast<const double*>(a), static_cast<const double*>(b), static_cast<double*>(c));
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
  if (dtype != kFloat16 && dtype != kBfloat16) ThrowDType(dtype, "matmul", "float32, float64, float16, bfloat16");
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
