// Images (planes, height, width) resized to (planes, rows, columns).
#include "rtc/loop.cuh"

namespace kernels {

// Where pixel i of a line comes from.
struct Source {
  long long first, second;
  double part;
  __device__ __forceinline__ Source(long long i, double start, double step, long long size) {
    const double at = start + static_cast<double>(i) * step, inside = at > 0 ? at : 0;
    const long long whole = static_cast<long long>(inside);
    first = whole < size - 1 ? whole : size - 1;
    second = first + 1 < size ? first + 1 : size - 1;
    const double rest = inside - static_cast<double>(first);
    part = rest < 1 ? rest : 1;
  }
  __device__ __forceinline__ double Weight(long long place) const { return (first == place ? 1 - part : 0) + (second == place ? part : 0); }
};

template <typename X>
struct ResizeArgs {
  X *image, *resized;
  long long height, width, rows, columns;
  double first_row, row_step, first_column, column_step;
  long long count;
};

template <typename I, typename X>
struct bilinear_resize {
  typedef typename mx::Real<X>::Type A;
  typedef ResizeArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I r = i / static_cast<I>(a.columns), plane = r / static_cast<I>(a.rows);
    const Source y(r - plane * static_cast<I>(a.rows), a.first_row, a.row_step, a.height);
    const Source x(i - r * static_cast<I>(a.columns), a.first_column, a.column_step, a.width);
    const X* image = a.image + static_cast<long long>(plane) * a.height * a.width;
    const A right = static_cast<A>(x.part), low = static_cast<A>(y.part);
    const long long upper = y.first * a.width, lower = y.second * a.width;
    const A above = mx::Load<A>(image, upper + x.first) * (A(1) - right) + mx::Load<A>(image, upper + x.second) * right;
    const A below = mx::Load<A>(image, lower + x.first) * (A(1) - right) + mx::Load<A>(image, lower + x.second) * right;
    mx::Store(a.resized, i, above * (A(1) - low) + below * low);
  }
};

// Pixels [*begin, *end) of a resized line of n may come from near `place`.
__device__ __forceinline__ void Readers(long long place, double start, double step, long long size, long long n, long long* begin,
                                        long long* end) {
  *begin = 0;
  *end = n;
  if (!(step > 0)) return;
  const double from = (static_cast<double>(place) - 1 - start) / step - 1, to = (static_cast<double>(place) + 1 - start) / step + 2;
  if (place > 0 && from > 0) *begin = from < static_cast<double>(n) ? static_cast<long long>(from) : n;
  if (place < size - 1 && to < static_cast<double>(n)) *end = to > 0 ? static_cast<long long>(to) : 0;
}

template <typename I, typename X>
struct bilinear_resize_back {
  typedef typename mx::Real<X>::Type A;
  typedef ResizeArgs<X> Args;
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I r = i / static_cast<I>(a.width), plane = r / static_cast<I>(a.height);
    const long long row = r - plane * static_cast<I>(a.height), column = i - r * static_cast<I>(a.width);
    const X* og = a.resized + static_cast<long long>(plane) * a.rows * a.columns;
    long long y0, y1, x0, x1;
    Readers(row, a.first_row, a.row_step, a.height, a.rows, &y0, &y1);
    Readers(column, a.first_column, a.column_step, a.width, a.columns, &x0, &x1);
    A sum = A(0);
    for (long long y = y0; y < y1; ++y) {
      const A by_row = static_cast<A>(Source(y, a.first_row, a.row_step, a.height).Weight(row));
      if (by_row == A(0)) continue;
      for (long long x = x0; x < x1; ++x) {
        const A weight = static_cast<A>(Source(x, a.first_column, a.column_step, a.width).Weight(column));
        if (weight != A(0)) sum += mx::Load<A>(og, y * a.columns + x) * weight * by_row;
      }
    }
    mx::Store(a.image, i, sum);
  }
};
}  // namespace kernels
