// Parameter updates. An item is four elements, in one access to each array where these are aligned
// for it. As UpdateRange: with a master copy, states and weight are float.
#include "operator/optimizer/update_numbers.cuh"
#include "rtc/loop.cuh"
#include "rtc/std_math.cuh"

#define MX_DEVICE __device__
#include "operator/optimizer/update_formulas.cuh"

namespace kernels {

// One array's pointers: weight and states of type W, gradient G, result O.
template <typename W, typename G, typename O>
struct UpdatePointers {
  const W* weight;
  const G* grad;
  W* state[3];
  W* master;
  O* out;
};

// n elements of the arrays in `from`, n being 1 or 4. Without a gradient that is 0.
template <int n, bool writes_master, typename C, typename From, typename Rule>
__device__ __forceinline__ void UpdateElements(const From& from, const Rule& rule, long long at, bool has_grad = true) {
  C weight[n], grad[n], s[3][n], v[n];
  mx::LoadPack<n>(from.weight, at, weight);
#pragma unroll
  for (int k = 0; k < n; ++k) grad[k] = C(0);
  if (has_grad) mx::LoadPack<n>(from.grad, at, grad);
#pragma unroll
  for (int j = 0; j < Rule::kStates; ++j) mx::LoadPack<n>(from.state[j], at, s[j]);
#pragma unroll
  for (int k = 0; k < n; ++k) {
    C own[3] = {C(0), C(0), C(0)};
#pragma unroll
    for (int j = 0; j < Rule::kStates; ++j) own[j] = s[j][k];
    v[k] = rule(weight[k], grad[k], own);
#pragma unroll
    for (int j = 0; j < Rule::kStates; ++j) s[j][k] = own[j];
  }
#pragma unroll
  for (int j = 0; j < Rule::kStates; ++j) mx::StorePack<n>(from.state[j], at, s[j]);
  if constexpr (writes_master) mx::StorePack<n>(from.master, at, v);
  mx::StorePack<n>(from.out, at, v);
}
// The elements of an item from `at` on, of an array with n.
template <bool writes_master, typename C, typename From, typename Rule>
__device__ __forceinline__ void UpdateItem(const From& from, const Rule& rule, long long at, long long n, bool wide, bool has_grad = true) {
  if (wide && at + 4 <= n) {
    UpdateElements<4, writes_master, C>(from, rule, at, has_grad);
  } else {
#pragma unroll 1
    for (long long k = at; k < at + 4 && k < n; ++k) UpdateElements<1, writes_master, C>(from, rule, k, has_grad);
  }
}

// Numbers that a rule takes from arrays; as DeviceNumbers::Kind.
enum GivenNumbers { kNoNumbers, kRescale, kNorms };

template <typename I, typename W, typename G, typename O, typename First, typename Second, bool writes_master, int given,
          template <typename> class Rule>
struct update {
  typedef typename mx::Real<W>::Type C;
  struct Args : UpdatePointers<W, G, O> {
    mxnet::UpdateNumbers numbers;
    const O* kept;
    const First* first;
    const Second* second;
    double lower, upper;
    long long n, wide;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long item) {
    const long long at = 4 * item;
    mxnet::UpdateNumbers numbers = a.numbers;
    if constexpr (given == kRescale) {
      numbers.rescale = mx::Load<double>(a.first, 0);
      if (!(numbers.rescale - numbers.rescale == 0) || numbers.rescale == 0) {  // gradients that are not finite change nothing
        for (long long k = at; k < at + 4 && k < a.n; ++k) a.out[k] = a.kept[k];
        return;
      }
    }
    if constexpr (given == kNorms) {
      double norm = mx::Load<double>(a.first, 0);
      const double direction = mx::Load<double>(a.second, 0);
      if (a.lower >= 0 && norm < a.lower) norm = a.lower;
      if (a.upper >= 0 && norm > a.upper) norm = a.upper;
      numbers.lr *= norm == 0 || direction == 0 ? 1 : norm / direction;
    }
    const Rule<C> rule(numbers);
    UpdateItem<writes_master, C>(a, rule, at, a.n, a.wide != 0);
  }
};

// Several arrays in one launch: their pointers are arguments.
template <typename I, typename W, typename G, typename O, typename Rate, typename Factor, bool writes_master, bool arrays, bool scaled,
          template <typename> class Rule>
struct multi_update {
  typedef typename mx::Real<W>::Type C;
  struct One : UpdatePointers<W, G, O> {
    long long end, n, wide;  // items up to here, elements
    double lr, wd, unbias1, unbias2;
    const O* kept;
  };
  struct Args {
    One one[16];
    mxnet::UpdateNumbers numbers;
    const Rate *lrs, *wds;  // where `arrays`: learning rates and weight decays
    const Factor* factor;   // where `scaled`: as kRescale
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long item) {
    int w = 0;
    while (item >= a.one[w].end) ++w;
    const One& one = a.one[w];
    const long long at = 4 * (item - (w > 0 ? a.one[w - 1].end : 0));
    mxnet::UpdateNumbers numbers = a.numbers;
    numbers.lr = arrays ? a.lrs[w] : one.lr;
    numbers.wd = arrays ? a.wds[w] : one.wd;
    numbers.unbias1 = one.unbias1;
    numbers.unbias2 = one.unbias2;
    if constexpr (scaled) {
      numbers.rescale = mx::Load<double>(a.factor, 0);
      if (!(numbers.rescale - numbers.rescale == 0) || numbers.rescale == 0) {
        for (long long k = at; k < at + 4 && k < one.n; ++k) one.out[k] = one.kept[k];
        return;
      }
    }
    const Rule<C> rule(numbers);
    UpdateItem<writes_master, C>(one, rule, at, one.n, one.wide != 0);
  }
};

// Rows of whole arrays by a gradient that has some of them, of `size` elements each. `all`: every
// row, `rows` has 1 + the row's place in the gradient, or 0; else `rows` has the numbers of the
// gradient's rows, each once.
template <typename I, typename T, bool all, template <typename> class Rule>
struct update_rows {
  typedef typename mx::Real<T>::Type C;
  struct Args {
    T* weight;
    const T* grad;
    T* state[3];
    const long long* rows;
    mxnet::UpdateNumbers numbers;
    long long size, wide;
    mx::Divisor packs;  // of four elements in a row
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I n = mx::Over(i, a.packs);
    const long long row = all ? static_cast<long long>(n) : a.rows[n], place = all ? a.rows[n] - 1 : static_cast<long long>(n);
    UpdatePointers<T, T, T> from;
    from.out = a.weight + row * a.size;
    from.weight = from.out;
    from.grad = a.grad + place * a.size;
#pragma unroll
    for (int j = 0; j < 3; ++j) from.state[j] = a.state[j] + row * a.size;
    from.master = nullptr;
    const Rule<C> rule(a.numbers);
    UpdateItem<false, C>(from, rule, 4 * static_cast<long long>(i - n * static_cast<I>(a.packs.d)), a.size, a.wide != 0,
                         !all || place >= 0);
  }
};

// A block for each row, of the whole arrays or of those that `rows` numbers.
template <typename T>
struct group_adagrad {
  typedef typename mx::Real<T>::Type C;
  struct Args {
    const T *weight, *grad;
    T *history, *out;
    long long n;
    double lr, rescale, clip, epsilon;
    const long long* rows;
    long long count;
  };
  static __device__ C Clipped(const Args& a, long long i) {
    return Bound(static_cast<C>(a.rescale) * mx::Load<C>(a.grad, i), static_cast<C>(a.clip));
  }
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ double shared[256];
    double sum = 0;
    for (long long i = threadIdx.x; i < a.n; i += 256) {
      const double g = Clipped(a, row * a.n + i);
      sum += g * g;
    }
    const long long to = a.rows ? a.rows[row] : row;
    const double total = mx::Load<double>(a.history, to) + mx::BlockSum(sum, shared) / static_cast<double>(a.n);
    const C step = static_cast<C>(a.lr / ::sqrt(total + a.epsilon));
    for (long long i = threadIdx.x; i < a.n; i += 256)
      mx::Store(a.out, to * a.n + i, mx::Load<C>(a.weight, to * a.n + i) - step * Clipped(a, row * a.n + i));
    __syncthreads();
    if (threadIdx.x == 0) mx::Store(a.history, to, total);
  }
};
// A block for each chunk: sum of the squares.
template <typename T>
struct squares {
  struct Args {
    const T* data;
    double* sums;
    long long n, chunk;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ double shared[256];
    const long long begin = row * a.chunk, end = begin + a.chunk < a.n ? begin + a.chunk : a.n;
    double sum = 0;
    for (long long i = begin + threadIdx.x; i < end; i += 256) {
      const double v = mx::Load<double>(a.data, i);
      sum += v * v;
    }
    sum = mx::BlockSum(sum, shared);
    if (threadIdx.x == 0) a.sums[row] = sum;
  }
};
// One array's numbers from its norms; `kind` as NormRates::Kind.
template <typename I, int kind>
struct rates_from_norms {
  struct Args {
    const double* sums;
    double *lr, *wd;
    long long chunks, stride;
    double given_lr, given_wd, rescale, beta1, lower, upper;
    long long count;
  };
  static __device__ double Norm(const Args& a, int which) {
    double sum = 0;
    for (long long i = 0; i < a.chunks; ++i) sum += a.sums[which * a.stride + i];
    return ::sqrt(sum);
  }
  static __device__ double Ratio(double weight, double direction) { return weight == 0 || direction == 0 ? 1 : weight / direction; }
  static __device__ __forceinline__ void Item(const Args& a, I, long long) {
    double norm = Norm(a, 0);
    if constexpr (kind == 0) {
      norm *= ::fabs(a.rescale);
      *a.lr = norm == 0 ? 0 : 1 / norm;
      *a.wd = a.given_wd;
    } else {
      if (a.lower >= 0 && norm < a.lower) norm = a.lower;
      if (a.upper >= 0 && norm > a.upper) norm = a.upper;
      const double share = kind == 1 ? 1 : a.beta1;
      *a.lr = a.given_lr * share * Ratio(norm, Norm(a, 1));
      *a.wd = kind == 1 ? 0 : a.given_lr * (1 - share) * Ratio(norm, Norm(a, 2));
    }
  }
};

// Whoever finds something writes the same.
template <typename I, typename In>
struct all_finite {
  typedef typename mx::Real<In>::Type C;
  struct Args {
    const In* in;
    float* out;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const C v = mx::Load<C>(a.in, i);
    if (!(v - v == 0)) *a.out = 0.0f;
  }
};

template <typename I, typename X>
struct multi_lars {
  struct Args {
    const X *lrs, *weights, *grads, *wds;
    X* out;
    double eta, eps, rescale;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const double lr = mx::Load<double>(a.lrs, i), weight = ::sqrt(mx::Load<double>(a.weights, i)),
                 grad = ::sqrt(mx::Load<double>(a.grads, i)), decay = mx::Load<double>(a.wds, i) * weight;
    mx::Store(a.out, i, weight > 0 && grad > 0 ? lr * a.eta * weight / (grad * a.rescale + decay + a.eps) : lr);
  }
};
}  // namespace kernels
