// Pointwise programs: what surrounds the functions of a program, which gpu_program.cc writes for
// each use. See gpu_program.h.
#include "rtc/prelude.cuh"

namespace mx {

// Access of gpu_program.h.
constexpr char kAlong = 'c', kSingle = 's', kRows = 'v', kRepeated = 'b', kAny = 'g';

// An input: its storage type, and how it lies along the result's elements.
template <typename Storage, char access>
struct Operand {
  typedef Storage S;
  static constexpr char kAccess = access;
  static constexpr bool kStrided = access == kRows || access == kRepeated || access == kAny;
};
template <typename... Operands>
constexpr int kStridedOperands = (0 + ... + int(Operands::kStrided));

// Parts of a program's arguments; parts of which there are none take no place.
template <int n>
struct ProgramInputs {
  const void* in[n];
};
template <>
struct ProgramInputs<0> {};
template <typename Out>
struct ProgramResult {
  Out* out;
  int64 n;
};
template <typename Number, int n>
struct ProgramNumbers {
  Number numbers[n];
};
template <typename Number>
struct ProgramNumbers<Number, 0> {};
struct ProgramDim {
  int64 d, m, h;  // size, and its divisor (see Divide)
};
template <int n>
struct ProgramDims {
  ProgramDim dims[n];  // but for the outermost one
};
template <>
struct ProgramDims<0> {};
template <int operands, int ndim>
struct ProgramSteps {
  int64 steps[operands][ndim];  // of the strided operands
};
template <int ndim>
struct ProgramSteps<0, ndim> {};
template <typename P, typename... Operands>
struct ProgramArgs : ProgramInputs<sizeof...(Operands)>,
                     ProgramResult<typename P::Out>,
                     ProgramNumbers<typename P::Number, P::kNumbers>,
                     ProgramDims<(P::kDims > 1 ? P::kDims - 1 : 0)>,
                     ProgramSteps<kStridedOperands<Operands...>, P::kDims> {};

// The operands from number k on, of which `strided` strided ones come before: what a thread has of
// them in flight. It is held as it was stored, and converted when it is used.
template <typename P, int k, int strided, typename... Operands>
struct OperandLoads {
  template <typename Args>
  __device__ __forceinline__ void LoadSingles(const Args&) {}
  template <typename Args>
  __device__ __forceinline__ void Load(const Args&, int, int64, const int64*) {}
  template <typename Args, typename I>
  static __device__ __forceinline__ void AddSteps(const Args&, int, I, int64*) {}
  template <typename T>
  __device__ __forceinline__ void Get(int, int, T*) const {}
  template <typename Args, typename T>
  __device__ __forceinline__ void GetAt(const Args&, int64, T*) const {}
};
template <typename P, int k, int strided, typename First, typename... Rest>
struct OperandLoads<P, k, strided, First, Rest...> {
  typedef typename First::S S;
  typedef typename P::T T;
  static constexpr char kAccess = First::kAccess;
  typedef typename Choose<kAccess == kRepeated, S, Pack<S, P::kWidth>>::Type Access;
  Access x[kAccess == kSingle ? 1 : P::kUnroll];
  T single;
  OperandLoads<P, k + 1, strided + First::kStrided, Rest...> rest;

  template <typename Args>
  static __device__ __forceinline__ const S* Data(const Args& a) {
    return static_cast<const S*>(a.in[k]);
  }
  template <typename Args>
  __device__ __forceinline__ void LoadSingles(const Args& a) {
    if constexpr (kAccess == kSingle) single = mx::Load<T>(Data(a), 0);
    rest.LoadSingles(a);
  }
  // Access u, for the result's elements from i on; `offsets` of the strided operands.
  template <typename Args>
  __device__ __forceinline__ void Load(const Args& a, int u, int64 i, const int64* offsets) {
    if constexpr (kAccess == kRepeated)
      x[u] = Data(a)[offsets[strided]];
    else if constexpr (kAccess != kSingle)
      x[u] = *reinterpret_cast<const Access*>(Data(a) + (kAccess == kAlong ? i : offsets[First::kStrided ? strided : 0]));
    rest.Load(a, u, i, offsets);
  }
  // Goes `at` places along dimension d.
  template <typename Args, typename I>
  static __device__ __forceinline__ void AddSteps(const Args& a, int d, I at, int64* offsets) {
    if constexpr (First::kStrided) {
      const bool innermost = d == P::kDims - 1;
      if (!(innermost && kAccess == kRepeated)) offsets[strided] += innermost && kAccess == kRows ? at : at * a.steps[strided][d];
    }
    OperandLoads<P, k + 1, strided + First::kStrided, Rest...>::AddSteps(a, d, at, offsets);
  }
  // Element j of access u.
  __device__ __forceinline__ void Get(int u, int j, T* to) const {
    if constexpr (kAccess == kSingle)
      to[k] = single;
    else if constexpr (kAccess == kRepeated)
      to[k] = Convert<T, S>::Load(x[u]);
    else
      to[k] = Convert<T, S>::Load(x[u].v[j]);
    rest.Get(u, j, to);
  }
  // Element i of operands that are not strided.
  template <typename Args>
  __device__ __forceinline__ void GetAt(const Args& a, int64 i, T* to) const {
    if constexpr (kAccess == kSingle)
      to[k] = single;
    else
      to[k] = mx::Load<T>(Data(a), i);
    rest.GetAt(a, i, to);
  }
};
}  // namespace mx

namespace kernels {

/*
 * Program P: T, Out (the result's storage type), Number (of its numbers: double or long long), how
 * many numbers and dimensions, the elements of an access, the accesses that a thread has in flight,
 * whether the result is added (kAdd), whether positions need 64 bits (kLarge), and Element(args, x)
 * of the operands' elements x.
 */
template <typename P, typename... Operands>
struct pointwise_program {
  typedef typename P::T T;
  typedef typename P::Out Out;
  typedef mx::ProgramArgs<P, Operands...> Args;
  typedef mx::OperandLoads<P, 0, 0, Operands...> Loads;
  typedef mx::Pack<Out, P::kWidth> Result;
  static constexpr int kWidth = P::kWidth, kUnroll = P::kUnroll, kInputs = sizeof...(Operands) > 0 ? sizeof...(Operands) : 1,
                       kStrided = mx::kStridedOperands<Operands...> > 0 ? mx::kStridedOperands<Operands...> : 1;
  static constexpr bool kTail = kWidth > 1 && P::kDims == 0;  // the last elements may be fewer than an access has

  // Offsets of the strided operands for the elements from i on.
  static __device__ __forceinline__ void AddOffsets(const Args& a, long long i, long long* offsets) {
    typedef typename mx::Choose<P::kLarge, long long, unsigned>::Type I;
    I rest = static_cast<I>(i);
#pragma unroll
    for (int d = P::kDims - 1; d >= 0; --d) {
      I at = rest;
      if constexpr (P::kDims > 1) {
        if (d > 0) {
          I q;
          if constexpr (P::kLarge)
            q = rest / a.dims[d - 1].d;
          else
            q = mx::Divide(rest, a.dims[d - 1].m, a.dims[d - 1].h);
          at = rest - q * static_cast<I>(a.dims[d - 1].d);
          rest = q;
        }
      }
      Loads::AddSteps(a, d, at, offsets);
    }
  }
  static __device__ __forceinline__ bool IsThere(const Args& a, long long i) { return kTail ? i + kWidth <= a.n : i < a.n; }

  static __device__ __forceinline__ void Run(const Args& a) {
    Loads loads;
    loads.LoadSingles(a);
    // a block has neighbouring elements, its threads neighbouring accesses; all loads come before
    // the first store
    constexpr int kTile = 256 * kUnroll * kWidth;
#pragma unroll 1
    for (long long base = static_cast<long long>(blockIdx.x) * kTile; base < a.n; base += static_cast<long long>(gridDim.x) * kTile) {
      Result z[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const long long i = base + (u * 256 + static_cast<int>(threadIdx.x)) * kWidth;
        if (!IsThere(a, i)) continue;
        long long offsets[kStrided] = {};
        if constexpr (P::kDims > 0) AddOffsets(a, i, offsets);
        loads.Load(a, u, i, offsets);
        if constexpr (P::kAdd) z[u] = *reinterpret_cast<const Result*>(a.out + i);
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const long long i = base + (u * 256 + static_cast<int>(threadIdx.x)) * kWidth;
        if (!IsThere(a, i)) continue;
        T y[kWidth];
#pragma unroll
        for (int j = 0; j < kWidth; ++j) {
          T x[kInputs];
          loads.Get(u, j, x);
          y[j] = P::Element(a, x);
          if constexpr (P::kAdd) y[j] = mx::Convert<T, Out>::Load(z[u].v[j]) + y[j];
        }
        mx::StorePack<kWidth>(a.out, i, y);
      }
    }
    if constexpr (kTail) {
      const long long rest = a.n - a.n % kWidth + threadIdx.x;
      if (blockIdx.x == 0 && rest < a.n) {
        T x[kInputs];
        loads.GetAt(a, rest, x);
        T y = P::Element(a, x);
        if constexpr (P::kAdd) y = mx::Load<T>(a.out, rest) + y;
        mx::Store(a.out, rest, y);
      }
    }
  }
};
}  // namespace kernels
