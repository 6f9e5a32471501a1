/* A matrix library that computes on host memory with the problem as it is told, and keeps what it was asked. */
#ifndef MXNET_TESTS_CPP_FAKE_PRODUCT_LIBRARY_H_
#define MXNET_TESTS_CPP_FAKE_PRODUCT_LIBRARY_H_

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/half.h"
#include "operator/library/product.h"

namespace mxnet {

class FakeProductLibrary {
 public:
  static std::vector<library::ProductProblem>& chosen() {
    static std::vector<library::ProductProblem> list;
    return list;
  }
  static std::vector<void*>& streams() {   // of `multiply`
    static std::vector<void*> list;
    return list;
  }
  /* What to refuse; null: nothing. */
  static bool (*&refuse())(const library::ProductProblem&) {
    static bool (*rule)(const library::ProductProblem&) = nullptr;
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

  FakeProductLibrary() : before_(library::GetProductLibrary()) {
    chosen().clear();
    refuse() = nullptr;
    multiplied() = prepared() = 0;
    streams().clear();
    library::ForgetProducts();
    library::SetProductLibrary(&kLibrary);
  }
  ~FakeProductLibrary() {
    library::SetProductLibrary(before_);
    library::ForgetProducts();
  }

 private:
  static library::ProductAlgorithm Choose(const library::ProductProblem& problem, size_t limit, const RunContext&) {
    chosen().push_back(problem);
    EXPECT_EQ(limit, library::kProductWorkspace);
    library::ProductAlgorithm a;
    a.data[0] = static_cast<uint64_t>(problem.product.m), a.data[7] = static_cast<uint64_t>(problem.product.n);
    a.workspace = 128;
    a.refused = refuse() && refuse()(problem);
    return a;
  }
  template <typename T, typename R = T>
  static void Compute(const library::ProductProblem& problem, const library::ProductOperands& o) {
    const library::Product& p = problem.product;
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
            sum += static_cast<double>(a[i * p.step_a + (p.trans_a ? t * p.lda + r : r * p.lda + t)]) * static_cast<double>(b[i * p.step_b + (p.trans_b ? s * p.ldb + t : t * p.ldb + s)]);
          const int64_t at = i * p.step_c + r * p.ldc + s;
          sum *= p.alpha;
          if (problem.addend) sum += static_cast<double>(addend[at]);
          if (problem.bias) sum += static_cast<double>(bias[s]);
          c[at] = R(problem.relu && sum < 0 ? 0.0 : sum);
        }
  }
  static void Multiply(const library::ProductProblem& problem, const library::ProductAlgorithm& algorithm, const library::ProductOperands& o, void* workspace, const RunContext& run) {
    ++multiplied();
    streams().push_back(run.stream);
    EXPECT_EQ(algorithm.data[0], static_cast<uint64_t>(problem.product.m));
    EXPECT_EQ(algorithm.data[7], static_cast<uint64_t>(problem.product.n));
    EXPECT_NE(workspace, nullptr);
    if (algorithm.prepared) {   // not where another library calls this one
      EXPECT_EQ(*static_cast<Prepared*>(algorithm.prepared.get()), Prepared(problem.CacheKey(), std::this_thread::get_id()));
    }
    EXPECT_TRUE(!problem.addend || o.addend);
    EXPECT_TRUE(!problem.bias || o.bias);
    EXPECT_TRUE(!problem.sums || (o.sums && !problem.bias && !problem.relu && problem.product.batch == 1));
    if (problem.product.result_dtype() != problem.product.dtype) {
      EXPECT_EQ(problem.product.result_dtype(), int{kFloat32});
      EXPECT_FALSE(problem.bias || problem.relu || problem.sums);
      EXPECT_TRUE(problem.arithmetic == library::Arithmetic::kFloat || problem.arithmetic == library::Arithmetic::kFloatPedantic);
      return problem.product.dtype == kFloat16 ? Compute<float16, float>(problem, o) : Compute<bfloat16, float>(problem, o);
    }
    switch (problem.product.dtype) {
      case kFloat32: return Compute<float>(problem, o);
      case kFloat64: return Compute<double>(problem, o);
      case kFloat16: return Compute<float16>(problem, o);
      default: return Compute<bfloat16>(problem, o);
    }
  }

  using Prepared = std::pair<std::string, std::thread::id>;
  static std::shared_ptr<void> Prepare(const library::ProductProblem& problem, const library::ProductAlgorithm& algorithm) {
    EXPECT_FALSE(algorithm.refused);
    ++prepared();
    return std::make_shared<Prepared>(problem.CacheKey(), std::this_thread::get_id());
  }

  static constexpr library::ProductLibrary kLibrary = {Choose, Multiply, Prepare};
  const library::ProductLibrary* before_;
};

}  // namespace mxnet
#endif  // MXNET_TESTS_CPP_FAKE_PRODUCT_LIBRARY_H_
