#include "operator/linalg/contract_few.h"

#include <algorithm>
#include <type_traits>

#include "base/dtype.h"

namespace mxnet {
namespace linalg {
namespace {

constexpr int64_t kMostProducts = 1024;  // of more, matrix products are faster
constexpr int kMostLabels = 8, kMostOperands = 4;

// The labels of the result, then those that are summed, with the strides of each array.
struct Walk {
  int outer = 0, labels = 0, operands = 0;
  int ids[kMostLabels];
  int64_t sizes[kMostLabels];
  int64_t strides[kMostOperands][kMostLabels] = {};
  int64_t out[kMostLabels] = {};
  int64_t products = 1;

  // The place of a label, which becomes the last one if it is new; -1: there are too many.
  int Place(int id, const std::vector<int64_t>& all) {
    for (int i = 0; i < labels; ++i)
      if (ids[i] == id) return i;
    const int64_t size = all[static_cast<size_t>(id)];
    if (labels == kMostLabels || size > kMostProducts / products) return -1;
    products *= size;
    ids[labels] = id, sizes[labels] = size;
    return labels++;
  }
};

bool Plan(const std::vector<int64_t>& sizes, const std::vector<Labelled>& in, const Labelled& out, Walk* w) {
  if (in.size() > kMostOperands) return false;
  w->operands = static_cast<int>(in.size());
  for (size_t i = 0; i < out.labels.size(); ++i) {
    const int at = w->Place(out.labels[i], sizes);
    if (at < 0) return false;
    w->out[at] += out.strides[i];
  }
  w->outer = w->labels;
  for (int n = 0; n < w->operands; ++n) {
    const Labelled& v = in[static_cast<size_t>(n)];
    for (size_t i = 0; i < v.labels.size(); ++i) {
      const int at = w->Place(v.labels[i], sizes);
      if (at < 0) return false;
      w->strides[n][at] += v.strides[i];
    }
  }
  return true;
}

template <typename T, typename Sum>
class Walker {
 public:
  Walker(const Walk& walk, const std::vector<Labelled>& in, const Labelled& out) : w_(walk) {
    for (int n = 0; n < w_.operands; ++n) data_[n] = static_cast<const T*>(in[static_cast<size_t>(n)].data);
    out_ = static_cast<T*>(out.data);
  }
  void Run() { Results(0, {}, 0); }

 private:
  struct At {
    int64_t place[kMostOperands] = {};
  };
  At Moved(At at, int label, int64_t by) const {
    for (int n = 0; n < w_.operands; ++n) at.place[n] += by * w_.strides[n][label];
    return at;
  }
  void Results(int label, const At& at, int64_t to) {
    if (label == w_.outer) {
      out_[to] = static_cast<T>(Total(label, at));
      return;
    }
    for (int64_t i = 0; i < w_.sizes[label]; ++i) Results(label + 1, Moved(at, label, i), to + i * w_.out[label]);
  }
  Sum Total(int label, const At& at) {
    Sum sum = 0;
    if (label == w_.labels) return Product(at);
    if (label + 1 < w_.labels) {
      for (int64_t i = 0; i < w_.sizes[label]; ++i) sum += Total(label + 1, Moved(at, label, i));
      return sum;
    }
    if (w_.operands <= 2) {
      const T *x = data_[0] + at.place[0], *y = w_.operands == 2 ? data_[1] + at.place[1] : nullptr;
      const int64_t step = w_.strides[0][label], other = w_.strides[1][label];
      for (int64_t i = 0; i < w_.sizes[label]; ++i)
        sum += y ? static_cast<Sum>(x[i * step]) * static_cast<Sum>(y[i * other]) : static_cast<Sum>(x[i * step]);
      return sum;
    }
    for (int64_t i = 0; i < w_.sizes[label]; ++i) sum += Product(Moved(at, label, i));
    return sum;
  }
  Sum Product(const At& at) const {
    Sum product = static_cast<Sum>(data_[0][at.place[0]]);
    for (int n = 1; n < w_.operands; ++n) product *= static_cast<Sum>(data_[n][at.place[n]]);
    return product;
  }

  const Walk& w_;
  const T* data_[kMostOperands];
  T* out_;
};

}  // namespace

bool ContractFew(int dtype, const std::vector<int64_t>& sizes, const std::vector<Labelled>& in, const Labelled& out) {
  if (dtype == kBool) return false;
  Walk walk;
  if (!Plan(sizes, in, out, &walk)) return false;
  VisitDType(dtype, "contraction", [&](auto tag) {
    using T = decltype(tag);
    constexpr bool kHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
    // unsigned, so that sums wrap around
    using Sum = std::conditional_t<kHalf, float, std::conditional_t<std::is_integral_v<T>, uint64_t, double>>;
    if constexpr (!std::is_same_v<T, bool>) Walker<T, Sum>(walk, in, out).Run();
  });
  return true;
}

}  // namespace linalg
}  // namespace mxnet
