// Running products and extremes along one axis.
#include <algorithm>
#include <string>
#include <type_traits>

#include "base/dtype.h"
#include "base/half.h"
#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/reduce/reduce.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace reduce {

struct RunningParam : public Parameter<RunningParam> {
  int axis;
  MXNET_DECLARE_PARAM(RunningParam) { MXNET_FIELD(axis).set_default(-1).describe("Axis to go along."); }
};
MXNET_REGISTER_PARAM(RunningParam);

namespace {

// Integers wrap around, which signed ones may not do in C++; 16-bit floats are rounded each time.
struct Times {
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (std::is_same<T, bool>::value)
      return a && b;
    else if constexpr (std::is_integral<T>::value)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else if constexpr (sizeof(T) == 2)
      return static_cast<T>(static_cast<float>(a) * static_cast<float>(b));
    else
      return a * b;
  }
};
// NaN wins, and stays.
template <bool kMax>
struct Extreme {
  template <typename T>
  static T Of(T a, T b) {
    if constexpr (sizeof(T) == 2 && !std::is_integral<T>::value) {
      const float x = static_cast<float>(a), y = static_cast<float>(b);
      return x != x || (kMax ? x >= y : x <= y) ? a : b;
    } else {
      return a != a || (kMax ? a >= b : a <= b) ? a : b;
    }
  }
};

// kLines neighbouring lines along memory, whose results do not wait for each other.
template <class Fold, int kLines, typename T>
void Lines(const T* x, int64_t length, T* y) {
  T last[kLines];
  for (int l = 0; l < kLines; ++l) last[l] = y[l * length] = x[l * length];
  for (int64_t i = 1; i < length; ++i)
    for (int l = 0; l < kLines; ++l) y[l * length + i] = last[l] = Fold::Of(last[l], x[l * length + i]);
}

// Columns [begin, end) of an array (length, inner).
template <class Fold, typename T>
void Columns(const T* x, int64_t length, int64_t inner, int64_t begin, int64_t end, T* y) {
  std::copy(x + begin, x + end, y + begin);
  for (int64_t i = 1; i < length; ++i) {
    const T *in = x + i * inner, *before = y + (i - 1) * inner;
    T* out = y + i * inner;
#pragma GCC ivdep
    for (int64_t j = begin; j < end; ++j) out[j] = Fold::Of(before[j], in[j]);
  }
}

template <class Fold, typename T>
void RunAlong(const T* x, int64_t outer, int64_t length, int64_t inner, T* y) {
  const int threads = OmpThreads(outer * length * inner);
  if (inner == 1) {
    constexpr int kTogether = 4;
    const int64_t groups = (outer + kTogether - 1) / kTogether;
    return ParallelForThreads(threads, groups, [&](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const int64_t first = g * kTogether, here = std::min<int64_t>(kTogether, outer - first);
        if (here == kTogether)
          Lines<Fold, kTogether>(x + first * length, length, y + first * length);
        else
          for (int64_t l = first; l < first + here; ++l) Lines<Fold, 1>(x + l * length, length, y + l * length);
      }
    });
  }
  constexpr int64_t kBlock = 512;  // columns whose last results stay in the cache
  const int64_t blocks = (inner + kBlock - 1) / kBlock;
  ParallelForThreads(threads, outer * blocks, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t o = k / blocks * length * inner, c = k % blocks * kBlock;
      Columns<Fold>(x + o, length, inner, c, std::min(inner, c + kBlock), y + o);
    }
  });
}

template <class Fold>
void Running(KernelArgs& a) {
  const TBlob &in = a.in[0], &out = a.out[0];
  if (a.req[0] == OpReq::kNull || in.Size() == 0) return;
  const Shape& s = in.shape;
  const int axis = NormalizeAxes(a.attrs->op->name, Shape{a.param<RunningParam>().axis}, s.ndim())[0];
  VisitDType(in.dtype, a.attrs->op->name.c_str(), [&](auto tag) {
    using T = decltype(tag);
    RunAlong<Fold>(in.data<T>(), s.Prod(0, axis), s[axis], s.Prod(axis + 1, s.ndim()), out.data<T>());
  });
}

template <class Fold>
void Register(const char* name, const std::string& what) {
  Op::Register(name)
      .describe("Running " + what + " along an axis, in the dtype of the data. On a GPU the host computes them. They have no gradient.")
      .set_param<RunningParam>()
      .set_inputs({"a"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
        const Shape& s = (*in)[0];
        if (s.ndim_known()) NormalizeAxes(attrs.op->name, Shape{attrs.get<RunningParam>().axis}, s.ndim());
        return ElemwiseShape(attrs, in, out);
      })
      .set_kernel([](KernelArgs& a) { OnHost(a, Running<Fold>); });
}

[[maybe_unused]] const bool registered = [] {
  Register<Times>("_npi_cumprod", "products");
  Register<Extreme<true>>("_npi_cummax", "maxima (NaN stays)");
  Register<Extreme<false>>("_npi_cummin", "minima (NaN stays)");
  return true;
}();

}  // namespace
}  // namespace reduce
}  // namespace mxnet
