/* A matrix library that computes on host memory with the problem as it is told, and keeps what it
 * was asked. */
#ifndef MXNET_TESTS_CPP_FAKE_PRODUCT_LIBRARY_H_
#define MXNET_TESTS_CPP_FAKE_PRODUCT_LIBRARY_H_

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/device/device_interface.h"
#include "base/half.h"
#include "operator/gpu_library/gemm.h"

namespace mxnet {

class FakeGemmLibrary {
 public:
  static std::vector<gpu_library::GemmProblem>& chosen() {
    static std::vector<gpu_library::GemmProblem> list;
    return list;
  }
  static std::vector<void*>& streams() {  // of `multiply`
    static std::vector<void*> list;
    return list;
  }
  /* What to refuse; null: nothing. */
  static bool (*&refuse())(const gpu_library::GemmProblem&) {
    static bool (*rule)(const gpu_library::GemmProblem&) = nullptr;
    return rule;
  }
  static int& multiplied() {
    static int count = 0;
    return count;
  }
  static std::atomic<int>& prepared() {
    static std::atomic<int> count{0};
    return count;
  }

  FakeGemmLibrary() {
    chosen().clear();
    refuse() = nullptr;
    multiplied() = prepared() = 0;
    streams().clear();
    before_ = GpuInterface().gemm.Set(&kLibrary);
    gpu_library::ForgetGemms();
  }
  ~FakeGemmLibrary() {
    GpuInterface().gemm.Set(before_);
    gpu_library::ForgetGemms();
  }

 private:
  static gpu_library::GemmAlgorithm Choose(const gpu_library::GemmProblem& problem, size_t limit, const RunContext&) {
    chosen().push_back(problem);
    EXPECT_EQ(limit, gpu_library::kGemmWorkspace);
    gpu_library::GemmAlgorithm a;
    a.data[0] = static_cast<uint64_t>(problem.gemm.m), a.data[7] = static_cast<uint64_t>(problem.gemm.n);
    a.workspace = 128;
    a.refused = refuse() && refuse()(problem);
    return a;
  }
  template <typename T, typename R = T>
  static void Compute(const gpu_library::GemmProblem& problem, const gpu_library::GemmOperands& o) {
    const gpu_library::Gemm& p = problem.gemm;
    const T *a = static_cast<const T*>(o.a), *b = static_cast<const T*>(o.b), *bias = static_cast<const T*>(o.bias);
    const R* addend = static_cast<const R*>(o.addend);
    R* c = static_cast<R*>(o.c);
    T* sums = static_cast<T*>(o.sums);
    for (int64_t r = 0; problem.sums && r < p.m; ++r) {
      double sum = 0;
      for (int64_t t = 0; t < p.k; ++t) sum += static_cast<double>(a[p.trans_a ? t * p.lda + r : r * p.lda + t]);
      sums[r] = T(sum);
    }
    for (int64_t i = 0; i < p.batch; ++i)
      for (int64_t r = 0; r < p.m; ++r)
        for (int64_t s = 0; s < p.n; ++s) {
          double sum = 0;
          for (int64_t t = 0; t < p.k; ++t)
            sum += static_cast<double>(a[i * p.step_a + (p.trans_a ? t * p.lda + r : r * p.lda + t)]) *
                   static_cast<double>(b[i * p.step_b + (p.trans_b ? s * p.ldb + t : t * p.ldb + s)]);
          const int64_t at = i * p.step_c + r * p.ldc + s;
          sum *= p.alpha;
          if (problem.addend) sum += static_cast<double>(addend[at]);
          if (problem.bias) sum += static_cast<double>(bias[s]);
          c[at] = R(problem.relu && sum < 0 ? 0.0 : sum);
        }
  }
  static void Multiply(const gpu_library::GemmProblem& problem, const gpu_library::GemmAlgorithm& algorithm,
                       const gpu_library::GemmOperands& o, void* workspace, const RunContext& run) {
    ++multiplied();
    streams().push_back(run.stream);
    EXPECT_EQ(algorithm.data[0], static_cast<uint64_t>(problem.gemm.m));
    EXPECT_EQ(algorithm.data[7], static_cast<uint64_t>(problem.gemm.n));
    EXPECT_NE(workspace, nullptr);
    if (algorithm.prepared) {  // not where another library calls this one
      EXPECT_EQ(*static_cast<Prepared*>(algorithm.prepared.get()), Prepared(problem.CacheKey(), std::this_thread::get_id()));
    }
    EXPECT_TRUE(!problem.addend || o.addend);
    EXPECT_TRUE(!problem.bias || o.bias);
    EXPECT_TRUE(!problem.sums || (o.sums && !problem.bias && !problem.relu && problem.gemm.batch == 1));
    if (problem.gemm.result_dtype() != problem.gemm.dtype) {
      EXPECT_EQ(problem.gemm.result_dtype(), int{kFloat32});
      EXPECT_FALSE(problem.bias || problem.relu || problem.sums);
      EXPECT_TRUE(problem.arithmetic == gpu_library::Arithmetic::kFloat || problem.arithmetic == gpu_library::Arithmetic::kFloatPedantic);
      return problem.gemm.dtype == kFloat16 ? Compute<float16, float>(problem, o) : Compute<bfloat16, float>(problem, o);
    }
    switch (problem.gemm.dtype) {
      case kFloat32: return Compute<float>(problem, o);
      case kFloat64: return Compute<double>(problem, o);
      case kFloat16: return Compute<float16>(problem, o);
      default: return Compute<bfloat16>(problem, o);
    }
  }

  using Prepared = std::pair<std::string, std::thread::id>;
  static std::shared_ptr<void> Prepare(const gpu_library::GemmProblem& problem, const gpu_library::GemmAlgorithm& algorithm) {
    EXPECT_FALSE(algorithm.refused);
    ++prepared();
    return std::make_shared<Prepared>(problem.CacheKey(), std::this_thread::get_id());
  }

  static constexpr gpu_library::GemmLibrary kLibrary = {Choose, Multiply, Prepare};
  const gpu_library::GemmLibrary* before_;
};

}  // namespace mxnet
#endif  // MXNET_TESTS_CPP_FAKE_PRODUCT_LIBRARY_H_
