#include "operator/linalg/contract.h"

#include <algorithm>
#include <limits>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "operator/linalg/contract_few.h"
#include "operator/linalg/matmul.h"
#include "operator/matrix/move.h"
#include "operator/pointwise/execute.h"
#include "operator/reduce/reduce.h"
#include "rtc/loop.h"

namespace mxnet {
namespace linalg {
namespace {

using Labels = std::vector<int>;

bool Has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

Labels operator+(Labels a, const Labels& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The labels of `a` that `keep` says yes to, in order.
template <typename F>
Labels Filtered(const Labels& a, F&& keep) {
  Labels out;
  for (int l : a)
    if (keep(l)) out.push_back(l);
  return out;
}

// The same operand, its labels from the largest stride to the smallest.
Labelled ByStride(const Labelled& v) {
  std::vector<int> order(v.labels.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return v.strides[a] > v.strides[b]; });
  Labelled out{v.data, {}, {}};
  for (int i : order) {
    out.labels.push_back(v.labels[i]);
    out.strides.push_back(v.strides[i]);
  }
  return out;
}

template <typename T>
T Wrapped(T a, T b, T sum) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(a) * static_cast<uint64_t>(b)));
}

// c[i] = a[i] b[i] for row-major matrices of integers.
template <typename T>
void IntegerMatmul(const MatmulSize& s, const T* a, const T* b, T* c) {
  ParallelFor(s.batch * s.m, std::max<int64_t>(1, 16384 / (s.n * s.k + 1)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const T *x = a + row * s.k, *y = b + row / s.m * s.k * s.n;
      T* to = c + row * s.n;
      std::fill(to, to + s.n, T(0));
      for (int64_t k = 0; k < s.k; ++k)
        for (int64_t j = 0; j < s.n; ++j) to[j] = Wrapped(x[k], y[k * s.n + j], to[j]);
    }
  });
}

class Contractor {
 public:
  Contractor(KernelArgs& args, int dtype, const std::vector<int64_t>& sizes) : args_(args), dtype_(dtype), sizes_(sizes) {}

  void Run(std::vector<Labelled> in, const Labelled& out) {
    while (in.size() > 1) {
      const auto [best_i, best_j] = NextPair(in, out);
      const auto kept = Kept(in, best_i, best_j, out);
      const Labelled product = Pair(in[best_i], in[best_j], kept, in.size() == 2 ? &out : nullptr);
      in[best_i] = product;
      in.erase(in.begin() + static_cast<int64_t>(best_j));
    }
    Deliver(Summed(in[0], out.labels, &out), out);
  }

  int64_t Count(const Labels& labels) const {
    int64_t n = 1;
    for (int l : labels)
      MXNET_CHECK_KIND(!__builtin_mul_overflow(n, sizes_[l], &n), Value)
          << "[" << args_.attrs->op->name << "] an intermediate result has too many elements";
    return n;
  }
  // v in row-major order of `order`, which has the same labels.
  Labelled Dense(const Labelled& v, const Labels& order) {
    Labelled out{v.data, order, Strides(order)};
    std::vector<int64_t> from(order.size()), shape(order.size());
    bool same = true;
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t at = static_cast<size_t>(std::find(v.labels.begin(), v.labels.end(), order[i]) - v.labels.begin());
      from[i] = v.strides[at], shape[i] = sizes_[order[i]];
      same &= from[i] == out.strides[i];
    }
    if (same) return out;
    out.data = Memory(order, dtype_);
    CopyStrided(args_.run, v.data, from.data(), out.data, out.strides.data(), shape.data(), static_cast<int>(shape.size()),
                DTypeSize(dtype_));
    return out;
  }
  TBlob Blob(const Labelled& v, int dtype) const {
    Shape shape(static_cast<int>(v.labels.size()), 1);
    for (size_t i = 0; i < v.labels.size(); ++i) shape[static_cast<int>(i)] = sizes_[v.labels[i]];
    return TBlob{v.data, shape, dtype, args_.run.ctx};
  }
  void* Memory(const Labels& labels, int dtype) {
    return args_.workspace(std::max<size_t>(static_cast<size_t>(Count(labels)) * DTypeSize(dtype), 8));
  }
  std::vector<int64_t> Strides(const Labels& labels) const {
    std::vector<int64_t> strides(labels.size());
    int64_t step = 1;
    for (size_t i = labels.size(); i-- > 0; step *= sizes_[labels[i]]) strides[i] = step;
    return strides;
  }
  // Copies into a view of the result; labels that v lacks repeat it.
  void Deliver(const Labelled& v, const Labelled& out) {
    if (v.data == out.data) return;
    std::vector<int64_t> from, shape;
    for (int l : out.labels) {
      const auto at = std::find(v.labels.begin(), v.labels.end(), l);
      from.push_back(at == v.labels.end() ? 0 : v.strides[static_cast<size_t>(at - v.labels.begin())]);
      shape.push_back(sizes_[l]);
    }
    CopyStrided(args_.run, v.data, from.data(), out.data, out.strides.data(), shape.data(), static_cast<int>(shape.size()),
                DTypeSize(dtype_));
  }

 private:
  // The two operands to multiply next. Of up to four, those with which the multiplications of all
  // steps are fewest; of more, those whose product is smallest beside them.
  std::pair<size_t, size_t> NextPair(const std::vector<Labelled>& in, const Labelled& out) const {
    constexpr size_t kFew = 4;
    if (in.size() == 2) return {0, 1};
    if (in.size() <= kFew) return Fewest(in, out).second;
    std::pair<size_t, size_t> best = {0, 1};
    double smallest = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < in.size(); ++i)
      for (size_t j = i + 1; j < in.size(); ++j) {
        const double cost = Size(Union(Kept(in, i, j, out))) - Size(in[i].labels) - Size(in[j].labels);
        if (cost < smallest) smallest = cost, best = {i, j};
      }
    return best;
  }
  // The multiplications of all steps in the best order, and its first pair.
  std::pair<double, std::pair<size_t, size_t>> Fewest(const std::vector<Labelled>& in, const Labelled& out) const {
    std::pair<double, std::pair<size_t, size_t>> best = {std::numeric_limits<double>::infinity(), {0, 1}};
    for (size_t i = 0; i < in.size(); ++i)
      for (size_t j = i + 1; j < in.size(); ++j) {
        double cost = Size(Union({in[i].labels, in[j].labels}));
        if (in.size() > 2) {
          std::vector<Labelled> rest = in;
          rest[i].labels = Union(Kept(in, i, j, out));
          rest.erase(rest.begin() + static_cast<int64_t>(j));
          cost += Fewest(rest, out).first;
        }
        if (cost < best.first) best = {cost, {i, j}};
      }
    return best;
  }
  double Size(const Labels& labels) const {
    double n = 1;
    for (int l : labels) n *= static_cast<double>(sizes_[l]);
    return n;
  }
  static Labels Union(const std::pair<Labels, Labels>& both) {
    return both.first + Filtered(both.second, [&](int l) { return !Has(both.first, l); });
  }
  // The labels of operands i and j that the result or another operand has.
  static std::pair<Labels, Labels> Kept(const std::vector<Labelled>& in, size_t i, size_t j, const Labelled& out) {
    auto needed = [&](int l) {
      for (size_t k = 0; k < in.size(); ++k)
        if (k != i && k != j && Has(in[k].labels, l)) return true;
      return Has(out.labels, l);
    };
    return {Filtered(in[i].labels, needed), Filtered(in[j].labels, needed)};
  }
  bool IsDense(const Labelled& v, const Labels& order) const {
    return ByStride(v).labels == order && ByStride(v).strides == Strides(order);
  }
  // v summed over the labels that are not in `keep`; into `out` if it can be.
  Labelled Summed(const Labelled& v, const Labels& keep, const Labelled* out) {
    const Labelled sorted = ByStride(v);
    const Labels kept = Filtered(sorted.labels, [&](int l) { return Has(keep, l); });
    if (kept.size() == v.labels.size()) return v;
    const Labelled dense = Dense(sorted, sorted.labels);
    Labelled sum{nullptr, kept, Strides(kept)};
    sum.data = out && out->labels == kept && out->strides == sum.strides ? out->data : Memory(kept, dtype_);
    std::vector<char> reduced;
    for (int l : dense.labels) reduced.push_back(!Has(kept, l));
    reduce::Reduce(args_, reduce::kSum, Blob(dense, dtype_), reduced, reduce::Finish{}, false, Blob(sum, dtype_), OpReq::kWrite);
    return sum;
  }
  // The product of two operands, summed over what neither the rest nor the result needs. `out`:
  // where it may be written to, if in the right order.
  Labelled Pair(Labelled x, Labelled y, const std::pair<Labels, Labels>& kept, const Labelled* out) {
    x = Summed(x, kept.first + y.labels, nullptr);
    y = Summed(y, kept.second + x.labels, nullptr);
    const Labels k = Filtered(ByStride(x).labels, [&](int l) { return Has(y.labels, l) && !Has(kept.first, l); });
    return k.empty() ? Product(x, y, out) : MatrixProduct(x, y, kept.first, k, out);
  }
  Labelled Product(const Labelled& x, const Labelled& y, const Labelled* out) {
    const Labels sx = ByStride(x).labels, all = Union({sx, ByStride(y).labels});
    Labelled to{nullptr, all, {}};
    if (out && out->labels.size() == all.size()) to.labels = out->labels;
    to.strides = Strides(to.labels);
    to.data = out && to.labels == out->labels && to.strides == out->strides ? out->data : Memory(all, dtype_);
    TBlob blobs[2];
    for (int i = 0; i < 2; ++i) {
      const Labelled& v = i ? y : x;
      const Labelled dense = Dense(v, Filtered(to.labels, [&](int l) { return Has(v.labels, l); }));
      blobs[i] = Blob(to, dtype_);
      blobs[i].dptr = dense.data;
      for (size_t d = 0; d < to.labels.size(); ++d)
        if (!Has(v.labels, to.labels[d])) blobs[i].shape[static_cast<int>(d)] = 1;
    }
    const pointwise::Operand operands[2] = {blobs[0], blobs[1]};
    pointwise::Execute(args_.run, pointwise::Forward(pointwise::k_mul), pointwise::ComputeFor(dtype_, true), operands, 2,
                       pointwise::kBinaryMasks, nullptr, Blob(to, dtype_), OpReq::kWrite);
    return to;
  }
  Labelled MatrixProduct(const Labelled& x, const Labelled& y, const Labels& kept, Labels k, const Labelled* out) {
    const Labels sx = ByStride(x).labels, sy = ByStride(y).labels;
    auto both = [&](int l) { return Has(kept, l) && Has(y.labels, l); };
    Labels batch = Filtered(sx, both);
    Labels m = Filtered(sx, [&](int l) { return !Has(y.labels, l); }), n = Filtered(sy, [&](int l) { return !Has(x.labels, l); });
    if (!IsDense(x, batch + m + k) && !IsDense(x, batch + k + m)) {  // x is copied in any case: the other one need not be
      batch = Filtered(sy, both);
      k = Filtered(sy, [&](int l) { return Has(k, l); });
    }
    if (out && out->labels == batch + n + m && out->labels != batch + m + n) return Multiply(y, x, batch, n, m, k, out);
    return Multiply(x, y, batch, m, n, k, out);
  }
  Labelled Multiply(const Labelled& x, const Labelled& y, const Labels& batch, const Labels& m, const Labels& n, const Labels& k,
                    const Labelled* out) {
    const bool floating = IsFloating(dtype_);
    const bool ta = floating && IsDense(x, batch + k + m) && !IsDense(x, batch + m + k);
    const bool tb = floating && IsDense(y, batch + n + k) && !IsDense(y, batch + k + n);
    const void *a = Dense(x, ta ? batch + k + m : batch + m + k).data, *b = Dense(y, tb ? batch + n + k : batch + k + n).data;
    Labelled to{nullptr, batch + m + n, Strides(batch + m + n)};
    to.data = out && out->labels == to.labels && out->strides == to.strides ? out->data : Memory(to.labels, dtype_);
    const MatmulSize size{Count(batch), Count(m), Count(n), Count(k)};
    if (floating)
      Matmul(args_.run, dtype_, ta, tb, size, a, b, to.data, args_.workspace);
    else
      MultiplyIntegers(size, a, b, to.data);
    return to;
  }
  void MultiplyIntegers(const MatmulSize& s, const void* a, const void* b, void* c) {
    if (args_.run.ctx.is_gpu()) {
      rtc::Arguments given;
      given.Add(a).Add(b).Add(c).Add(s.m).Add(s.n).Add(s.k);
      return rtc::LaunchItems(args_.run, {"operator/linalg/gpu_products.cuh", "integer_matmul", {dtype_}}, s.batch * s.m * s.n, &given);
    }
    VisitInteger(dtype_, args_.attrs->op->name.c_str(), [&](auto tag) {
      using T = decltype(tag);
      IntegerMatmul(s, static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(c));
    });
  }

  KernelArgs& args_;
  const int dtype_;
  const std::vector<int64_t>& sizes_;
};

// Through float32: a sum of numbers that are not negative is 0 only if all of them are.
void ContractBools(KernelArgs& args, const std::vector<int64_t>& sizes, std::vector<Labelled> in, const Labelled& out) {
  Contractor of_bools(args, kBool, sizes), of_numbers(args, kFloat32, sizes);
  for (Labelled& v : in) {
    const Labelled dense = of_bools.Dense(v, ByStride(v).labels);
    v = {of_numbers.Memory(dense.labels, kFloat32), dense.labels, dense.strides};
    pointwise::ExecuteCast(args.run, of_bools.Blob(dense, kBool), of_bools.Blob(v, kFloat32), OpReq::kWrite);
  }
  Labels labels;  // of the result; what it only repeats is left to the last copy
  for (int l : out.labels)
    for (const Labelled& v : in)
      if (Has(v.labels, l) && !Has(labels, l)) labels.push_back(l);
  const Labelled sum{of_numbers.Memory(labels, kFloat32), labels, of_numbers.Strides(labels)};
  of_numbers.Run(std::move(in), sum);
  const Labelled truth{of_bools.Memory(labels, kBool), labels, sum.strides};
  pointwise::ExecuteCast(args.run, of_bools.Blob(sum, kFloat32), of_bools.Blob(truth, kBool), OpReq::kWrite);
  of_bools.Deliver(truth, out);
}

}  // namespace

Labelled Label(const TBlob& blob, const std::vector<int>& labels) {
  Labelled v{blob.dptr, {}, {}};
  int64_t step = 1;
  for (int i = blob.shape.ndim() - 1; i >= 0; step *= blob.shape[i], --i) {
    if (blob.shape[i] == 1) continue;
    const auto at = std::find(v.labels.begin(), v.labels.end(), labels[i]);
    if (at == v.labels.end()) {
      v.labels.insert(v.labels.begin(), labels[i]);
      v.strides.insert(v.strides.begin(), step);
    } else {
      v.strides[static_cast<size_t>(at - v.labels.begin())] += step;
    }
  }
  return v;
}

void Contract(KernelArgs& args, const std::vector<int64_t>& sizes, std::vector<Labelled> in, const Labelled& out, const TBlob& whole) {
  if (whole.Size() == 0) return;
  Contractor contractor(args, whole.dtype, sizes);
  bool nothing = false;
  for (const Labelled& v : in) nothing |= contractor.Count(v.labels) == 0;
  if (nothing || contractor.Count(out.labels) != whole.Size()) ZeroBytes(args.run, whole.dptr, static_cast<int64_t>(whole.Bytes()));
  if (nothing) return;
  if (!args.run.ctx.is_gpu() && ContractFew(whole.dtype, sizes, in, out)) return;
  if (whole.dtype == kBool) return ContractBools(args, sizes, std::move(in), out);
  contractor.Run(std::move(in), out);
}

}  // namespace linalg
}  // namespace mxnet
