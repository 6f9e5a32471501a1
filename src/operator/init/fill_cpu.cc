#include "operator/init/fill_cpu.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "base/truncate.h"

namespace mxnet {
namespace {

template <typename T>
T FromDouble(double v) {
  if constexpr (std::is_same<T, bool>::value) {
    return v != 0;
  } else if constexpr (std::is_integral<T>::value) {
    return Truncate<T>(v);
  } else {
    return T(v);
  }
}

// out[i] = value(i).
template <typename F>
void FillEach(const TBlob& out, const char* op, F value) {
  VisitDType(out.dtype, op, [&](auto tag) {
    using T = decltype(tag);
    T* p = out.data<T>();
    ParallelFor(out.Size(), 0, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) p[i] = FromDouble<T>(value(i));
    });
  });
}

}  // namespace

void FillPowers(const TBlob& out, double start, double step, double base) {
  FillEach(out, "_npi_logspace", [=](int64_t i) { return std::pow(base, start + static_cast<double>(i) * step); });
}

void FillCycle(const TBlob& out, int64_t size, int64_t repeat) {
  VisitDType(out.dtype, "_npi_indices", [&](auto tag) {
    using T = decltype(tag);
    T* p = out.data<T>();
    ParallelFor(out.Size(), 0, [&](int64_t begin, int64_t end) {
      int64_t index = begin / repeat % size, left = repeat - begin % repeat;
      for (int64_t i = begin; i < end; i += left, left = repeat, index = index + 1 == size ? 0 : index + 1)
        std::fill_n(p + i, std::min(left, end - i), FromDouble<T>(static_cast<double>(index)));
    });
  });
}

void FillTriangle(const TBlob& out, int64_t k) {
  const int64_t columns = out.shape[1], rows = columns > 0 ? out.shape[0] : 0;  // any number of rows holds nothing
  constexpr int64_t kGrain = 65536;                                             // elements that a thread is worth
  VisitDType(out.dtype, "_npi_tri", [&](auto tag) {
    using T = decltype(tag);
    ParallelFor(rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(columns, 1)), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        T* row = out.data<T>() + r * columns;
        const int64_t ones = k < -r ? 0 : std::min(columns, k < columns ? r + k + 1 : columns);
        std::fill_n(row, ones, FromDouble<T>(1));
        std::fill_n(row + ones, columns - ones, FromDouble<T>(0));
      }
    });
  });
}

void FillWindow(const TBlob& out, double a, double b, double c) {
  if (out.Size() == 1) return FillValue(out, 1);
  const double step = 2 * M_PI / static_cast<double>(out.Size() - 1);
  FillEach(out, "window", [=](int64_t i) {
    const double x = static_cast<double>(i) * step;
    return a - b * std::cos(x) + c * std::cos(2 * x);
  });
}

void FillValue(const TBlob& out, double value) {
  const int64_t n = out.Size();
  if (value == 0 && !std::signbit(value)) {
    const int64_t size = static_cast<int64_t>(DTypeSize(out.dtype));
    char* p = out.data<char>();
    ParallelFor(n, 0, [&](int64_t begin, int64_t end) { std::memset(p + begin * size, 0, (end - begin) * size); });
    return;
  }
  VisitDType(out.dtype, "_full", [&](auto tag) {
    using T = decltype(tag);
    T* p = out.data<T>();
    const T v = FromDouble<T>(value);
    ParallelFor(n, 0, [&](int64_t begin, int64_t end) { std::fill(p + begin, p + end, v); });
  });
}

void FillRange(const TBlob& out, double start, double step, int64_t repeat) {
  VisitDType(out.dtype, "_arange", [&](auto tag) {
    using T = decltype(tag);
    T* p = out.data<T>();
    ParallelFor(out.Size(), 0, [&](int64_t begin, int64_t end) {
      if (repeat == 1) {
        for (int64_t i = begin; i < end; ++i) p[i] = FromDouble<T>(start + static_cast<double>(i) * step);
      } else {
        for (int64_t i = begin; i < end; ++i) p[i] = FromDouble<T>(start + static_cast<double>(i / repeat) * step);
      }
    });
  });
}

void FillEye(const TBlob& out, int64_t k) {
  FillValue(out, 0);
  const int64_t rows = out.shape[0], cols = out.shape[1];
  const int64_t first = k < 0 ? (k < -rows ? rows : -k) : 0;
  VisitDType(out.dtype, "_eye", [&](auto tag) {
    using T = decltype(tag);
    T* p = out.data<T>();
    for (int64_t i = first; i < rows && k < cols - i; ++i) p[i * cols + i + k] = T(1);
  });
}

}  // namespace mxnet
