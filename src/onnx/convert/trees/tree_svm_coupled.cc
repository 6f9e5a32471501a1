// Support vector machines that give probabilities, on known data: plain loops, for a call takes
// less time than the operators that it would need.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/threads/omp.h"
#include "onnx/builder.h"
#include "onnx/convert/trees/svm_sums.h"
#include "onnx/convert/trees/tree_svm.h"

namespace mxnet {
namespace onnx {

class CoupledMachine {
 public:
  CoupledMachine(const Machine& m, int64_t features)
      : features_(features),
        count_(m.count()),
        classes_(static_cast<int64_t>(m.per_class.size())),
        kernel_(m.kernel),
        gamma_(m.gamma),
        coef0_(m.coef0),
        degree_(std::trunc(m.degree)),
        per_class_(m.per_class),
        vectors_(m.vectors.size()),
        coefficients_(m.coefficients.size()),
        rho_(m.rho),
        chance_a_(m.chance_a),
        chance_b_(m.chance_b) {
    for (int64_t v = 0; v < count_; ++v) {
      for (int64_t f = 0; f < features_; ++f) vectors_[Index(f * count_ + v)] = m.vectors[Index(v * features_ + f)];
      for (int64_t k = 0; k + 1 < classes_; ++k) coefficients_[Index(v * (classes_ - 1) + k)] = m.coefficients[Index(k * count_ + v)];
    }
  }
  int64_t features() const { return features_; }
  int64_t classes() const { return classes_; }

  /* `scratch`: kept from example to example. */
  template <typename T>
  int64_t Run(const T* x, T* chances, std::vector<double>* scratch, std::vector<T>* kernels) const;

 private:
  static size_t Index(int64_t i) { return static_cast<size_t>(i); }
  template <typename T>
  void Kernels(const T* x, T* to) const;
  const int64_t features_, count_, classes_;
  const std::string kernel_;
  const double gamma_, coef0_, degree_;
  const std::vector<int64_t> per_class_;
  std::vector<float> vectors_;       // (features, vectors), so that loops over vectors are side by side
  std::vector<float> coefficients_;  // (vectors, classes - 1)
  const std::vector<float> rho_, chance_a_, chance_b_;
};

namespace {

/* Wu, Lin and Weng (2004), "Probability estimates for multi-class classification by pairwise
 * coupling", second method. */
void Couple(int64_t k, const std::vector<double>& r, double* p) {
  const auto at = [&](int64_t i, int64_t j) { return static_cast<size_t>(i * k + j); };
  std::vector<double> q(static_cast<size_t>(k * k), 0), qp(static_cast<size_t>(k));
  for (int64_t t = 0; t < k; ++t) {
    p[t] = 1.0 / static_cast<double>(k);
    for (int64_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[at(t, t)] += r[at(j, t)] * r[at(j, t)];
      q[at(t, j)] = -r[at(j, t)] * r[at(t, j)];
    }
  }
  for (int64_t round = 0; round < std::max<int64_t>(100, k); ++round) {
    double all = 0, worst = 0;
    for (int64_t t = 0; t < k; ++t) {
      qp[static_cast<size_t>(t)] = 0;
      for (int64_t j = 0; j < k; ++j) qp[static_cast<size_t>(t)] += q[at(t, j)] * p[j];
      all += p[t] * qp[static_cast<size_t>(t)];
    }
    for (int64_t t = 0; t < k; ++t) worst = std::max(worst, std::fabs(qp[static_cast<size_t>(t)] - all));
    if (worst < 0.005 / static_cast<double>(k)) break;
    for (int64_t t = 0; t < k; ++t) {
      const double step = (all - qp[static_cast<size_t>(t)]) / q[at(t, t)];
      p[t] += step;
      all = (all + step * (step * q[at(t, t)] + 2 * qp[static_cast<size_t>(t)])) / ((1 + step) * (1 + step));
      for (int64_t j = 0; j < k; ++j) {
        qp[static_cast<size_t>(j)] = (qp[static_cast<size_t>(j)] + step * q[at(t, j)]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
}

const char* const kNames[] = {"kernel_type", "kernel_params", "coefficients", "support_vectors",
                              "rho",         "prob_a",        "prob_b",       "vectors_per_class"};

}  // namespace

template <typename T>
void CoupledMachine::Kernels(const T* x, T* to) const {
  const bool apart = kernel_ == "RBF";  // sums of squares of differences, exact where they are small
  if constexpr (std::is_same_v<T, float>)
    MXNET_CPU_CALL(SvmSums)(apart, x, vectors_.data(), features_, count_, to);
  else
    MXNET_CPU_CALL(SvmSumsDouble)(apart, x, vectors_.data(), features_, count_, to);
  if (kernel_ == "LINEAR") return;
  const T gamma = static_cast<T>(gamma_), coef0 = static_cast<T>(coef0_), degree = static_cast<T>(degree_);
  for (int64_t v = 0; v < count_; ++v) {
    const T scaled = gamma * to[v] + coef0;
    to[v] = apart ? std::exp(-gamma * to[v]) : kernel_ == "POLY" ? std::pow(scaled, degree) : std::tanh(scaled);
  }
}

template <typename T>
int64_t CoupledMachine::Run(const T* x, T* chances, std::vector<double>* scratch, std::vector<T>* kernels) const {
  const int64_t others = classes_ - 1;
  kernels->resize(Index(count_));
  Kernels(x, kernels->data());
  scratch->assign(Index(classes_ * others + 2 * classes_), 0);
  double *sums = scratch->data(), *votes = sums + classes_ * others, *p = votes + classes_;
  const T* kernel = kernels->data();
  const float* coefficients = coefficients_.data();
  for (int64_t i = 0; i < classes_; ++i)
    for (int64_t v = 0; v < per_class_[Index(i)]; ++v, ++kernel, coefficients += others)
      for (int64_t k = 0; k < others; ++k) sums[i * others + k] += static_cast<double>(*kernel) * static_cast<double>(coefficients[k]);
  std::vector<double> r(Index(classes_ * classes_), 0);
  int64_t pair = 0;
  for (int64_t i = 0; i < classes_; ++i)
    for (int64_t j = i + 1; j < classes_; ++j, ++pair) {
      const size_t at = Index(pair);
      const double score = sums[i * others + j - 1] + sums[j * others + i] + static_cast<double>(rho_[at]);
      votes[score > 0 ? i : j] += 1;
      const double z = score * static_cast<double>(chance_a_[at]) + static_cast<double>(chance_b_[at]);
      const double chance = std::min(std::max(1 / (1 + std::exp(z)), 1e-7), 1 - 1e-7);
      r[Index(i * classes_ + j)] = chance, r[Index(j * classes_ + i)] = 1 - chance;
    }
  Couple(classes_, r, p);
  for (int64_t i = 0; i < classes_; ++i) chances[i] = static_cast<T>(p[i]);
  return std::max_element(votes, votes + classes_) - votes;
}

std::shared_ptr<const CoupledMachine> CoupledOf(const Call& c, int64_t classes) {
  FoldedWeights* const shared = c.builder()->folded();
  if (const auto found = shared->OfNode(c.node)) {
    for (const char* name : kNames) c.Ignore(name);
    c.Known(0);
    return std::static_pointer_cast<const CoupledMachine>(found);
  }
  const Machine m = ReadMachine(c);
  const int64_t count = m.count(), pairs = classes * (classes - 1) / 2;
  if (count == 0 || m.chance_a.empty()) return nullptr;
  c.Known(0);
  CheckClasses(c, m, classes);
  if (static_cast<int64_t>(m.chance_a.size()) < pairs || static_cast<int64_t>(m.chance_b.size()) < pairs)
    c.Refuse("attributes prob_a or prob_b have too few numbers");
  const int64_t size = static_cast<int64_t>(m.vectors.size());
  if (size % count) c.Refuse("attribute support_vectors has " + Text(size) + " numbers for " + Text(count) + " vectors");
  const auto made = std::make_shared<const CoupledMachine>(m, size / count);
  shared->PutOfNode(c.node, made);
  return made;
}

namespace {

template <typename T>
CoupledResult RunAs(const Call& c, const CoupledMachine& machine, const Value& x) {
  constexpr int64_t kExamples = 16;  // that pay for a thread
  const int64_t examples = x.shape()[0], features = machine.features(), classes = machine.classes();
  const NDArray data = OnCPU(x.array);
  const T* const from = examples ? data.data().data<T>() : nullptr;
  std::vector<T> chances(static_cast<size_t>(examples * classes));
  std::vector<int64_t> places(static_cast<size_t>(examples));
  ParallelFor(examples, kExamples, [&](int64_t begin, int64_t end) {
    std::vector<double> scratch;
    std::vector<T> kernels;
    for (int64_t i = begin; i < end; ++i)
      places[static_cast<size_t>(i)] = machine.Run(from + i * features, chances.data() + i * classes, &scratch, &kernels);
  });
  return {c.Tensor(Shape{examples, classes}, x.dtype(), chances.data()), c.Tensor(Shape{examples}, kInt64, places.data())};
}

}  // namespace

CoupledResult RunCoupled(const Call& c, const CoupledMachine& machine, const Value& x) {
  if (x.shape()[1] != machine.features())
    c.Refuse("data has shape " + Text(x.shape()) + "; support vectors have " + Text(machine.features()) + " features");
  return x.dtype() == kFloat64 ? RunAs<double>(c, machine, x) : RunAs<float>(c, machine, x);
}

}  // namespace onnx
}  // namespace mxnet
