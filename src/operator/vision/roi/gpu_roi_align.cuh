// Means of bilinear interpolations at points of upright and of rotated bins.
#include "operator/vision/roi/gpu_roi_common.cuh"

namespace kernels {

template <typename X>
struct AlignArgs {
  X* image;
  const X* rois;
  X* bins;
  Sizes size;
  double scale;
  long long samples, sensitive, aligned;
};

// Which points start + (k + 1/2) * step can lie in [low, high], as roi.h has it.
struct PointRange {
  long long first, last;
  __device__ __forceinline__ PointRange(double start, double step, double count, double low, double high) : first(0), last(0) {
    if (!(count > 0) || !Finite(start) || !Finite(step)) return;
    double from = 0, to = count;
    if (step != 0) {
      const double a = (low - start) / step - 0.5, b = (high - start) / step - 0.5, least = ::floor(a < b ? a : b) - 1,
                   most = ::ceil(a < b ? b : a) + 2;
      from = from < least ? least : from, to = to > most ? most : to;
    }
    if (!(from < to)) return;
    first = static_cast<long long>(from < 4e18 ? from : 4e18), last = static_cast<long long>(to < 4e18 ? to : 4e18);
  }
};

// Low pixel, high pixel and how much of the high one; false: outside.
template <typename A>
__device__ __forceinline__ bool Between(A at, long long size, long long* low, long long* high, A* part) {
  if (!(at >= A(-1) && at <= static_cast<A>(size)) || size == 0) return false;
  at = at < A(0) ? A(0) : at > static_cast<A>(size - 1) ? static_cast<A>(size - 1) : at;
  *low = static_cast<long long>(at);
  *high = *low + 1 < size ? *low + 1 : size - 1;
  *part = at - static_cast<A>(*low);
  return true;
}

// One axis of an upright region.
template <typename A>
struct AlignAxis {
  A begin, bin, points;
  bool finite;
  long long size;
  __device__ __forceinline__ AlignAxis(A low, A high, A scale, bool aligned, long long samples, long long bins, long long s) : size(s) {
    const A offset = aligned ? A(0.5) : A(0);
    begin = Product(low, scale) - offset;
    A length = Product(high, scale) - offset - begin;
    if (!aligned && !(length > A(1))) length = length == length ? A(1) : length;
    finite = Finite(low) && Finite(high) && Finite(length);
    bin = length / static_cast<A>(bins);
    const A own = ::ceil(bin);
    points = samples > 0 ? static_cast<A>(samples) : own > A(0) ? own : A(0);
  }
  __device__ __forceinline__ A Start(long long k) const { return begin + Product(static_cast<A>(k), bin); }
  __device__ __forceinline__ PointRange Points(long long k) const {
    return PointRange(Start(k), bin / points, points, -1, static_cast<double>(size));
  }
  __device__ __forceinline__ A At(long long k, long long u) const { return Start(k) + (static_cast<A>(u) + A(0.5)) * bin / points; }
  // What `pixel` counts in bin k.
  __device__ __forceinline__ A Weight(long long k, long long pixel) const {
    A sum = A(0), part;
    long long low, high;
    const PointRange range = Points(k);
    for (long long u = range.first; u < range.last; ++u)
      if (Between(At(k, u), size, &low, &high, &part)) {
        if (low == pixel) sum += A(1) - part;
        if (high == pixel) sum += part;
      }
    return sum;
  }
  // Bins that can touch `pixel`: [first, last).
  __device__ __forceinline__ void Touching(long long bins, long long pixel, long long* first, long long* last) const {
    const PointRange range(begin, bin, static_cast<double>(bins), static_cast<double>(pixel) - 1, static_cast<double>(pixel) + 1);
    *first = bin == A(0) || range.first < 1 ? 0 : range.first - 1;
    *last = bin == A(0) || range.last + 1 > bins ? bins : range.last + 1;
  }
};

template <typename A>
__device__ __forceinline__ A Count(A a, A b) {
  return a * b > A(1) ? a * b : A(1);
}

template <typename X>
struct AlignRegion {
  typedef typename mx::Real<X>::Type A;
  long long image;
  AlignAxis<A> rows, columns;
  template <typename Args>
  __device__ __forceinline__ AlignRegion(const Args& a, long long i)
      : image(ImageOf(mx::Load<A>(a.rois, i * 5), a.size.images)),
        rows(mx::Load<A>(a.rois, i * 5 + 2), mx::Load<A>(a.rois, i * 5 + 4), static_cast<A>(a.scale), a.aligned != 0, a.samples, a.size.ph,
             a.size.h),
        columns(mx::Load<A>(a.rois, i * 5 + 1), mx::Load<A>(a.rois, i * 5 + 3), static_cast<A>(a.scale), a.aligned != 0, a.samples,
                a.size.pw, a.size.w) {}
};

template <typename I, typename X>
struct roi_align {
  typedef typename mx::Real<X>::Type A;
  struct Args : AlignArgs<X> {
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const Place at(i, a.size.pw, a.size.ph, a.size.results);
    const AlignRegion<X> r(a, at.n);
    A sum = A(0);
    if (r.image >= 0 && !(r.rows.finite && r.columns.finite)) {
      sum = r.rows.begin * A(0) / A(0);
    } else if (r.image >= 0) {
      const long long c = a.sensitive ? (at.c * a.size.ph + at.y) * a.size.pw + at.x : at.c;
      const X* plane = a.image + (r.image * a.size.channels + c) * a.size.h * a.size.w;
      const PointRange us = r.rows.Points(at.y), vs = r.columns.Points(at.x);
      for (long long u = us.first; u < us.last; ++u) {
        long long y0, y1, x0, x1;
        A fy, fx;
        if (!Between(r.rows.At(at.y, u), a.size.h, &y0, &y1, &fy)) continue;
        for (long long v = vs.first; v < vs.last; ++v) {
          if (!Between(r.columns.At(at.x, v), a.size.w, &x0, &x1, &fx)) continue;
          const A upper = mx::Load<A>(plane, y0 * a.size.w + x0) * (A(1) - fx) + mx::Load<A>(plane, y0 * a.size.w + x1) * fx;
          const A lower = mx::Load<A>(plane, y1 * a.size.w + x0) * (A(1) - fx) + mx::Load<A>(plane, y1 * a.size.w + x1) * fx;
          sum += upper * (A(1) - fy) + lower * fy;
        }
      }
      sum /= Count(r.rows.points, r.columns.points);
    }
    mx::Store(a.bins, i, sum);
  }
};

// Each pixel gathers from the bins that touch it, region after region.
template <typename I, typename X>
struct roi_align_backward {
  typedef typename mx::Real<X>::Type A;
  struct Args : AlignArgs<X> {
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const Place at(i, a.size.w, a.size.h, a.size.channels);
    const long long bins = a.size.ph * a.size.pw;
    A sum = A(0);
    for (long long k = 0; k < a.size.regions; ++k) {
      if (ImageOf(mx::Load<A>(a.rois, k * 5), a.size.images) != at.n) continue;
      const AlignRegion<X> r(a, k);
      if (!(r.rows.finite && r.columns.finite)) continue;
      long long u0, u1, v0, v1;
      r.rows.Touching(a.size.ph, at.y, &u0, &u1);
      r.columns.Touching(a.size.pw, at.x, &v0, &v1);
      A own = A(0);
      for (long long u = u0; u < u1; ++u) {
        const A wy = r.rows.Weight(u, at.y);
        if (wy == A(0)) continue;
        for (long long v = v0; v < v1; ++v) {
          const long long c = a.sensitive ? at.c / bins : at.c;
          if (a.sensitive && at.c % bins != u * a.size.pw + v) continue;
          const A wx = r.columns.Weight(v, at.x);
          if (wx != A(0)) own += wy * wx * mx::Load<A>(a.bins, ((k * a.size.results + c) * a.size.ph + u) * a.size.pw + v);
        }
      }
      sum += own / Count(r.rows.points, r.columns.points);
    }
    mx::Store(a.image, i, sum);
  }
};

// Centre, size and angle, and what lies of the image within [low, high] along the region's axes.
template <typename X>
struct RotatedRegion {
  typedef typename mx::Real<X>::Type A;
  long long image;
  A cx, cy, width, height, cosine, sine, bin_h, bin_w, rows, columns;
  bool finite;
  template <typename Args>
  __device__ __forceinline__ RotatedRegion(const Args& a, long long i) : image(ImageOf(mx::Load<A>(a.rois, i * 6), a.size.images)) {
    const A scale = static_cast<A>(a.scale), degrees = mx::Load<A>(a.rois, i * 6 + 5);
    cx = mx::Load<A>(a.rois, i * 6 + 1) * scale, cy = mx::Load<A>(a.rois, i * 6 + 2) * scale;
    width = mx::Load<A>(a.rois, i * 6 + 3) * scale, height = mx::Load<A>(a.rois, i * 6 + 4) * scale;
    finite = Finite(cx) && Finite(cy) && Finite(width) && Finite(height) && Finite(degrees);
    if (!(width > A(1))) width = A(1);
    if (!(height > A(1))) height = A(1);
    const A angle = degrees * static_cast<A>(3.14159265358979323846 / 180);
    cosine = ::cos(angle), sine = ::sin(angle);
    bin_h = height / static_cast<A>(a.size.ph), bin_w = width / static_cast<A>(a.size.pw);
    rows = a.samples > 0 ? static_cast<A>(a.samples) : ::ceil(bin_h);
    columns = a.samples > 0 ? static_cast<A>(a.samples) : ::ceil(bin_w);
  }
  // Rows and columns of points of bin (i, j) that can lie in the box [y_low, y_high] x [x_low,
  // x_high] of the image.
  __device__ __forceinline__ void Points(long long i, long long j, const double* ys, const double* xs, PointRange* us,
                                         PointRange* vs) const {
    double low[2], high[2];
    for (int k = 0; k < 4; ++k) {
      const double y = ys[k / 2] - cy, x = xs[k % 2] - cx, own[2] = {y * cosine + x * sine, x * cosine - y * sine};
      for (int axis = 0; axis < 2; ++axis) {
        if (k == 0 || own[axis] < low[axis]) low[axis] = own[axis];
        if (k == 0 || own[axis] > high[axis]) high[axis] = own[axis];
      }
    }
    *us = PointRange(Top(i), bin_h / rows, rows, low[0], high[0]);
    *vs = PointRange(Left(j), bin_w / columns, columns, low[1], high[1]);
  }
  __device__ __forceinline__ A Top(long long i) const { return -height / A(2) + Product(static_cast<A>(i), bin_h); }
  __device__ __forceinline__ A Left(long long j) const { return -width / A(2) + Product(static_cast<A>(j), bin_w); }
  __device__ __forceinline__ void At(long long i, long long j, long long u, long long v, A* y, A* x) const {
    const A down = Top(i) + (static_cast<A>(u) + A(0.5)) * bin_h / rows, over = Left(j) + (static_cast<A>(v) + A(0.5)) * bin_w / columns;
    *y = Product(down, cosine) - Product(over, sine) + cy, *x = Product(over, cosine) + Product(down, sine) + cx;
  }
};

template <typename I, typename X>
struct rotated_roi_align {
  typedef typename mx::Real<X>::Type A;
  struct Args : AlignArgs<X> {
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const Place at(i, a.size.pw, a.size.ph, a.size.results);
    const RotatedRegion<X> r(a, at.n);
    A sum = A(0);
    if (r.image >= 0 && !r.finite) {
      sum = A(0) / (r.cx * A(0));
    } else if (r.image >= 0) {
      const X* plane = a.image + (r.image * a.size.channels + at.c) * a.size.h * a.size.w;
      const double ys[2] = {-1, static_cast<double>(a.size.h)}, xs[2] = {-1, static_cast<double>(a.size.w)};
      PointRange us(0, 0, 0, 0, 0), vs(0, 0, 0, 0, 0);
      r.Points(at.y, at.x, ys, xs, &us, &vs);
      for (long long u = us.first; u < us.last; ++u)
        for (long long v = vs.first; v < vs.last; ++v) {
          A y, x, fy, fx;
          long long y0, y1, x0, x1;
          r.At(at.y, at.x, u, v, &y, &x);
          if (!Between(y, a.size.h, &y0, &y1, &fy) || !Between(x, a.size.w, &x0, &x1, &fx)) continue;
          const A upper = mx::Load<A>(plane, y0 * a.size.w + x0) * (A(1) - fx) + mx::Load<A>(plane, y0 * a.size.w + x1) * fx;
          const A lower = mx::Load<A>(plane, y1 * a.size.w + x0) * (A(1) - fx) + mx::Load<A>(plane, y1 * a.size.w + x1) * fx;
          sum += upper * (A(1) - fy) + lower * fy;
        }
      sum /= r.rows * r.columns;
    }
    mx::Store(a.bins, i, sum);
  }
};

// Each pixel looks at the points around it, region after region.
template <typename I, typename X>
struct rotated_roi_align_backward {
  typedef typename mx::Real<X>::Type A;
  struct Args : AlignArgs<X> {
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const Place at(i, a.size.w, a.size.h, a.size.channels);
    const double ys[2] = {static_cast<double>(at.y) - 1, static_cast<double>(at.y) + 1},
                 xs[2] = {static_cast<double>(at.x) - 1, static_cast<double>(at.x) + 1};
    A sum = A(0);
    for (long long k = 0; k < a.size.regions; ++k) {
      if (ImageOf(mx::Load<A>(a.rois, k * 6), a.size.images) != at.n) continue;
      const RotatedRegion<X> r(a, k);
      if (!r.finite) continue;
      A own = A(0);
      for (long long p = 0; p < a.size.ph; ++p)
        for (long long q = 0; q < a.size.pw; ++q) {
          PointRange us(0, 0, 0, 0, 0), vs(0, 0, 0, 0, 0);
          r.Points(p, q, ys, xs, &us, &vs);
          if (us.first >= us.last || vs.first >= vs.last) continue;
          A weight = A(0);
          for (long long u = us.first; u < us.last; ++u)
            for (long long v = vs.first; v < vs.last; ++v) {
              A y, x, fy, fx;
              long long y0, y1, x0, x1;
              r.At(p, q, u, v, &y, &x);
              if (!Between(y, a.size.h, &y0, &y1, &fy) || !Between(x, a.size.w, &x0, &x1, &fx)) continue;
              const A wy = (y0 == at.y ? A(1) - fy : A(0)) + (y1 == at.y ? fy : A(0)),
                      wx = (x0 == at.x ? A(1) - fx : A(0)) + (x1 == at.x ? fx : A(0));
              weight += wy * wx;
            }
          own += weight * mx::Load<A>(a.bins, ((k * a.size.results + at.c) * a.size.ph + p) * a.size.pw + q);
        }
      sum += own / (r.rows * r.columns);
    }
    mx::Store(a.image, i, sum);
  }
};
}  // namespace kernels
