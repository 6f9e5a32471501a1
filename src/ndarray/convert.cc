// Conversion of whole arrays between any two dtypes.
#include <cstring>

#include "base/convert_floats.h"
#include "base/dtype.h"
#include "base/threads/omp.h"
#include "base/truncate.h"
#include "mxnet/ndarray.h"

namespace mxnet {
namespace {

template <typename From, typename To>
To ConvertOne(From v) {
  if constexpr (std::is_same<From, float16>::value || std::is_same<From, bfloat16>::value) {
    return ConvertOne<float, To>(static_cast<float>(v));
  } else if constexpr (std::is_same<To, bool>::value) {
    return v != From(0);
  } else if constexpr (std::is_floating_point<From>::value && std::is_integral<To>::value) {
    return Truncate<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

}  // namespace

MXNET_DLL void ConvertElements(const void* src, int src_dtype, void* dst, int dst_dtype, int64_t count) {
  if (src_dtype == dst_dtype) {
    if (count > 0) std::memmove(dst, src, static_cast<size_t>(count) * DTypeSize(src_dtype));
    return;
  }
  VisitDType(src_dtype, "convert", [&](auto from) {
    using From = decltype(from);
    VisitDType(dst_dtype, "convert", [&](auto to) {
      using To = decltype(to);
      const From* s = static_cast<const From*>(src);
      To* d = static_cast<To*>(dst);
      ParallelForThreads(OmpThreads(count), count, [s, d](int64_t begin, int64_t end) {
        if constexpr (std::is_same<From, float16>::value && std::is_same<To, float>::value) {
          HalfToFloat(s + begin, d + begin, end - begin);
        } else if constexpr (std::is_same<From, float>::value && std::is_same<To, float16>::value) {
          FloatToHalf(s + begin, d + begin, end - begin);
        } else if constexpr (std::is_same<From, bfloat16>::value && std::is_same<To, float>::value) {
          BfloatToFloat(s + begin, d + begin, end - begin);
        } else if constexpr (std::is_same<From, float>::value && std::is_same<To, bfloat16>::value) {
          FloatToBfloat(s + begin, d + begin, end - begin);
        } else if constexpr (std::is_same<From, float>::value && std::is_same<To, double>::value) {
          MXNET_CPU_CALL(WidenFloats)(s + begin, d + begin, end - begin);
        } else if constexpr (std::is_same<From, double>::value && std::is_same<To, float>::value) {
          MXNET_CPU_CALL(NarrowToFloats)(s + begin, d + begin, end - begin);
        } else {
          for (int64_t i = begin; i < end; ++i) d[i] = ConvertOne<From, To>(s[i]);
        }
      });
    });
  });
}

}  // namespace mxnet
