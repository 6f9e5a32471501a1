// Reductions, and positions of the largest or smallest elements. See gpu_reduce.h.
#include "operator/reduce/folds.cuh"
#include "rtc/prelude.cuh"

namespace kernels {

enum ReduceWhat { kReduce, kArgMax, kArgMin };  // as DeviceReduction::What
// reduce::Kind: the rows of folds.cuh.
enum ReduceKind {
#define MXNET_FOLD_ID(name, ...) k##name,
  MXNET_REDUCTION_FOLDS(MXNET_FOLD_ID)
#undef MXNET_FOLD_ID
};

// Least and largest number of an accumulator.
template <typename A>
__device__ __forceinline__ A LeastNumber() {
  if constexpr (mx::IsFloat<A>::value) return -static_cast<A>(__int_as_float(0x7f800000));
  return sizeof(A) == 4 ? static_cast<A>(-2147483647 - 1) : static_cast<A>(-9223372036854775807ll - 1);
}
template <typename A>
__device__ __forceinline__ A LargestNumber() {
  if constexpr (mx::IsFloat<A>::value) return static_cast<A>(__int_as_float(0x7f800000));
  return sizeof(A) == 4 ? static_cast<A>(2147483647) : static_cast<A>(9223372036854775807ll);
}

// ---- accumulators: what a reduction starts from, how two are merged, what an element adds

// What the texts of folds.cuh know; a kind that is not in the list does not compile.
template <typename V>
__device__ __forceinline__ V Larger(V a, V b) {
  return a > b || a != a ? a : b;
}
template <typename V>
__device__ __forceinline__ V Smaller(V a, V b) {
  return a < b || a != a ? a : b;
}
template <int kind>
struct Fold;
#define MXNET_FOLD_STRUCT(name, neutral, map, merge, range)                               \
  template <>                                                                             \
  struct Fold<k##name> {                                                                  \
    template <typename A>                                                                 \
    static __device__ __forceinline__ A Start() {                                         \
      const A zero = 0, one = 1, lowest = LeastNumber<A>(), highest = LargestNumber<A>(); \
      (void)zero, (void)one, (void)lowest, (void)highest;                                 \
      return neutral;                                                                     \
    }                                                                                     \
    template <typename X>                                                                 \
    static __device__ __forceinline__ X Map(X x) {                                        \
      const X zero = 0, one = 1;                                                          \
      (void)zero, (void)one;                                                              \
      return map;                                                                         \
    }                                                                                     \
    template <typename A>                                                                 \
    static __device__ __forceinline__ A Merge(A a, A b) {                                 \
      const A zero = 0, one = 1;                                                          \
      (void)zero, (void)one;                                                              \
      return merge;                                                                       \
    }                                                                                     \
  };
MXNET_REDUCTION_FOLDS(MXNET_FOLD_STRUCT)
#undef MXNET_FOLD_STRUCT

template <int kind, typename A>
struct Sums {
  static constexpr bool kPositions = false;
  typedef A Acc;
  static __device__ __forceinline__ Acc Start() { return Fold<kind>::template Start<A>(); }
  static __device__ __forceinline__ Acc Merge(Acc a, Acc b) { return Fold<kind>::Merge(a, b); }
  // What element x contributes, in the type that it is mapped in.
  template <typename X>
  static __device__ __forceinline__ X Map(X x) {
    return Fold<kind>::Map(x);
  }
  static __device__ __forceinline__ Acc Shuffled(Acc c, int lane) { return __shfl_xor_sync(0xffffffffu, c, lane); }
  // A result with the number that the reduction is given to start from.
  static __device__ __forceinline__ double WithInitial(double v, double initial) { return Fold<kind>::Merge(v, initial); }
};

// A value and its position; no position: nothing that is better than the worst value there is. Then
// every element has it, and the first one is the result.
template <bool largest, typename A>
struct Positions {
  static constexpr bool kPositions = true;
  struct Acc {
    A v;
    long long i;
  };
  static __device__ __forceinline__ Acc Start() {
    Acc c;
    c.v = largest ? LeastNumber<A>() : LargestNumber<A>();
    c.i = -1;
    return c;
  }
  static __device__ __forceinline__ Acc Merge(Acc p, Acc q) {
    if (q.i < 0) return p;
    if (p.i < 0) return q;
    const bool pn = p.v != p.v, qn = q.v != q.v;
    if (pn || qn) {
      if (pn && qn) return p.i < q.i ? p : q;
      return pn ? p : q;
    }
    if (p.v == q.v) return p.i < q.i ? p : q;
    return (largest ? p.v > q.v : p.v < q.v) ? p : q;
  }
  // x, whose position is behind that of *best: the first NaN is better than everything.
  static __device__ __forceinline__ void Follow(A x, int position, A* best, int* place) {
    const bool better = !(largest ? x <= *best : x >= *best) && *best == *best;
    *best = better ? x : *best;
    *place = better ? position : *place;
  }
  static __device__ __forceinline__ Acc Shuffled(Acc c, int lane) {
    c.v = __shfl_xor_sync(0xffffffffu, c.v, lane);
    c.i = __shfl_xor_sync(0xffffffffu, c.i, lane);
    return c;
  }
};

template <int what, int kind, typename A>
struct ReductionOf {
  typedef Sums<kind, A> Type;
};
template <int kind, typename A>
struct ReductionOf<kArgMax, kind, A> {
  typedef Positions<true, A> Type;
};
template <int kind, typename A>
struct ReductionOf<kArgMin, kind, A> {
  typedef Positions<false, A> Type;
};

// ---- the kernel

struct NoPart {};  // elements are merged one by one
template <typename Part>
struct HasPart {
  static constexpr bool value = true;
};
template <>
struct HasPart<NoPart> {
  static constexpr bool value = false;
};

struct ReduceDim {
  long long d, m, h, stride;  // size, its divisor (see mx::Divide), elements between neighbours
};

/*
 * A: accumulators. Part: the type that what a thread has in flight is first summed in, or NoPart.
 * integer: results are long long, else double. partial: raw accumulators of parts are stored,
 * again: they are read. add, sqrt, has_initial: see Finish. kept, reduced: dimensions of each kind.
 * lanes: neighbouring threads that share a result; columns: neighbouring threads have neighbouring
 * results instead, `width` of them each. width: elements of a load. large: 2^31 results or more.
 */
template <int what, int kind, typename In, typename Out, typename A, typename Part, bool integer, bool partial, bool again, bool add,
          bool sqrt, bool has_initial, int kept, int reduced, int lanes, bool columns, int width, bool large>
struct reduce {
  typedef typename ReductionOf<what, kind, A>::Type Reduction;
  typedef typename Reduction::Acc Acc;
  typedef typename mx::Choose<again, Acc, In>::Type Storage;
  typedef typename mx::Choose<partial, Acc, Out>::Type Result;
  typedef mx::Pack<Storage, width> Pack;
  static constexpr int kUnroll = 4;                  // loads that a thread has in flight
  static constexpr int kEach = columns ? width : 1;  // results of a thread
  static constexpr int kRows = 256 / lanes, kResults = kRows * kEach;
  struct Args {
    const Storage* in;
    Result* out;
    long long results, count, chunk;
    double divisor, initial;
    ReduceDim kept_dims[kept], reduced_dims[reduced];
  };

  static __device__ __forceinline__ void Finish(const Args& a, long long result, Acc c) {
    if constexpr (partial) {
      a.out[result * gridDim.y + blockIdx.y] = c;
    } else if constexpr (Reduction::kPositions) {
      long long v = c.i < 0 ? 0 : c.i;
      if constexpr (add) v += mx::Load<long long>(a.out, result);
      mx::Store(a.out, result, v);
    } else {
      typedef typename mx::Choose<integer, long long, double>::Type V;
      V v = c;
      if constexpr (has_initial) v = static_cast<V>(Reduction::WithInitial(static_cast<double>(v), a.initial));
      if constexpr (!integer) v = v / a.divisor;
      if constexpr (sqrt) v = static_cast<V>(::sqrt(static_cast<double>(v)));
      if constexpr (add) v = mx::Load<V>(a.out, result) + v;
      mx::Store(a.out, result, v);
    }
  }

  // Where the elements of a result begin.
  static __device__ __forceinline__ long long BaseOf(const Args& a, long long result) {
    typedef typename mx::Choose<large, long long, unsigned>::Type J;
    J rest = static_cast<J>(result);
    long long base = 0;
#pragma unroll
    for (int d = kept - 1; d >= 0; --d) {
      const ReduceDim& dim = a.kept_dims[d];
      if (d == 0) {
        base += rest * dim.stride;
      } else if constexpr (large) {
        base += rest % dim.d * dim.stride;
        rest /= dim.d;
      } else {
        const unsigned most = mx::Divide(rest, dim.m, dim.h);
        base += (rest - most * static_cast<unsigned>(dim.d)) * dim.stride;
        rest = most;
      }
    }
    return base;
  }
  // Where load q of a result lies.
  static __device__ __forceinline__ long long AddressOf(const Args& a, long long base, long long q) {
    if constexpr (reduced == 1) {
      return base + q * (columns ? a.reduced_dims[0].stride : width);
    } else {
      long long at = base;
      unsigned left = static_cast<unsigned>(q);
#pragma unroll
      for (int d = reduced - 1; d >= 0; --d) {
        const ReduceDim& dim = a.reduced_dims[d];
        if (d == 0) {
          at += left * dim.stride;
        } else {
          const unsigned quotient = mx::Divide(left, dim.m, dim.h);
          at += (left - quotient * static_cast<unsigned>(dim.d)) * dim.stride;
          left = quotient;
        }
      }
      return at;
    }
  }

  template <typename C>
  static __device__ __forceinline__ C Element(const Pack& x, int j) {
    return mx::Convert<C, Storage>::Load(x.v[j]);
  }
  // f(u, j) for the elements of the loads from q0 on that are there; `one` alone where it is a
  // thread's result.
  template <typename F>
  static __device__ __forceinline__ void EachElement(long long q0, long long end, int one, F f) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (q0 + u * lanes < end) {
        if constexpr (columns) {
          f(u, one);
        } else {
#pragma unroll
          for (int j = 0; j < width; ++j) f(u, j);
        }
      }
    }
  }

  // What a thread has in flight, into the accumulators.
  static __device__ __forceinline__ void Take(const Pack (&x)[kUnroll], long long q0, long long end, Acc (&acc)[kEach]) {
    if constexpr (again) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        if (q0 + u * lanes >= end) continue;
#pragma unroll
        for (int j = 0; j < width; ++j) acc[columns ? j : 0] = Reduction::Merge(acc[columns ? j : 0], x[u].v[j]);
      }
    } else if constexpr (Reduction::kPositions) {
      // places within what is in flight are known to the compiler
#pragma unroll
      for (int r = 0; r < kEach; ++r) {
        int place = -1;
        EachElement(q0, end, r, [&](int u, int j) {
          Reduction::Follow(Element<A>(x[u], j), columns ? u * lanes : u * lanes * width + j, &acc[r].v, &place);
        });
        if (place >= 0) acc[r].i = q0 * (columns ? 1 : width) + place;
      }
    } else if constexpr (!HasPart<Part>::value) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        if (q0 + u * lanes >= end) continue;
#pragma unroll
        for (int j = 0; j < width; ++j) acc[columns ? j : 0] = Reduction::Merge(acc[columns ? j : 0], Reduction::Map(Element<A>(x[u], j)));
      }
    } else {
#pragma unroll
      for (int r = 0; r < kEach; ++r) {
        Part part = Part(0);
        EachElement(q0, end, r, [&](int u, int j) { part += Reduction::Map(Element<Part>(x[u], j)); });
        acc[r] += static_cast<A>(part);
      }
    }
  }

  static __device__ __forceinline__ void MergeThreads(const Args& a, long long block, long long result, unsigned lane, unsigned row,
                                                      Acc (&acc)[kEach], Acc* shared) {
    if constexpr (columns) {
#pragma unroll
      for (int j = 0; j < kEach; ++j) shared[lane * kResults + row * kEach + j] = acc[j];
      __syncthreads();
      for (int k = threadIdx.x; k < kResults; k += 256) {
        Acc c = shared[k];
#pragma unroll
        for (int l = 1; l < lanes; ++l) c = Reduction::Merge(c, shared[l * kResults + k]);
        if (block * kResults + k < a.results) Finish(a, block * kResults + k, c);
      }
      __syncthreads();
    } else {
#pragma unroll
      for (int half = (lanes < 32 ? lanes : 32) / 2; half > 0; half /= 2)
        acc[0] = Reduction::Merge(acc[0], Reduction::Shuffled(acc[0], half));
      if constexpr (lanes > 32) {
        if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = acc[0];
        __syncthreads();
        if (lane == 0)
          for (int w = 1; w < lanes / 32; ++w) acc[0] = Reduction::Merge(acc[0], shared[threadIdx.x / 32 + w]);
      }
      if (lane == 0 && result < a.results) Finish(a, result, acc[0]);
      if constexpr (lanes > 32) __syncthreads();
    }
  }

  static __device__ __forceinline__ void Run(const Args& a) {
    __shared__ Acc shared[columns ? 256 * width : 8];
    const unsigned row = columns ? threadIdx.x % kRows : threadIdx.x / lanes, lane = columns ? threadIdx.x / kRows : threadIdx.x % lanes;
    const long long blocks = (a.results + kResults - 1) / kResults;
#pragma unroll 1
    for (long long block = blockIdx.x; block < blocks; block += gridDim.x) {
      const long long result = block * kResults + row * kEach;
      Acc acc[kEach];
#pragma unroll
      for (int j = 0; j < kEach; ++j) acc[j] = Reduction::Start();
      if (result < a.results) {
        const long long base = BaseOf(a, result), begin = a.chunk * blockIdx.y, end = begin + a.chunk < a.count ? begin + a.chunk : a.count;
#pragma unroll 1
        for (long long q0 = begin + lane; q0 < end; q0 += kUnroll * lanes) {
          Pack x[kUnroll];
#pragma unroll
          for (int u = 0; u < kUnroll; ++u) {  // several loads are in flight before the first is used
            const long long q = q0 + u * lanes;
            if (q < end) x[u] = *reinterpret_cast<const Pack*>(a.in + AddressOf(a, base, q));
          }
          Take(x, q0, end, acc);
        }
      }
      MergeThreads(a, block, result, lane, row, acc, shared);
    }
  }
};
}  // namespace kernels
