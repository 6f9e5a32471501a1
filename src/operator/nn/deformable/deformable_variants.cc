// Bilinear samples: a table of pixels and weights first, then a loop without branches for each
// channel.
#include <cstdint>

#include "operator/nn/deformable/deformable_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using nn::Beyond;
using nn::SamplePlaces;
using nn::Samples;

template <typename T>
inline __attribute__((always_inline)) T Floor(T v) {
  const T whole = static_cast<T>(static_cast<int32_t>(v));  // of numbers that are pixels
  return whole > v ? whole - T(1) : whole;
}

template <typename T, bool derivatives>
void Places(const SamplePlaces<T>& p, const Samples<T>& s) {
  const T h = static_cast<T>(p.h), w = static_cast<T>(p.w), least = p.beyond == Beyond::kNearest ? T(0) : T(-1);
  const bool nearest = p.beyond == Beyond::kNearest;
  const int32_t last_y = static_cast<int32_t>(p.h) - 1, last_x = static_cast<int32_t>(p.w) - 1, width = static_cast<int32_t>(p.w);
#pragma GCC ivdep
  for (int64_t i = 0; i < s.n; ++i) {
    const T y = p.y[i] + p.offset_y[i], x = p.x[i] + p.offset_x[i];
    // zeros reach up to the border: at -1 itself there is nothing left
    const bool in = (nearest ? y >= least && x >= least : y > least && x > least) && y < h && x < w;
    const T ys = in ? y : T(0), xs = in ? x : T(0);
    const T fy = ys - Floor(ys), fx = xs - Floor(xs);
    const int32_t y0 = static_cast<int32_t>(Floor(ys)), x0 = static_cast<int32_t>(Floor(xs));
    const bool upper = in && y0 >= 0, lower = in && y0 < last_y, left = in && x0 >= 0, right = in && x0 < last_x;
    const int32_t y_up = y0 < 0 ? 0 : y0, y_down = y0 < last_y ? y0 + 1 : last_y, x_left = x0 < 0 ? 0 : x0,
                  x_right = x0 < last_x ? x0 + 1 : last_x;
    s.pixel[0][i] = in ? y_up * width + x_left : -1;
    s.pixel[1][i] = y_up * width + x_right;
    s.pixel[2][i] = y_down * width + x_left;
    s.pixel[3][i] = y_down * width + x_right;
    // rows and columns that go on: all of the weight is on the last
    const T down = nearest && !lower ? T(0) : fy, over = nearest && !right ? T(0) : fx;
    const T a = upper ? T(1) - down : T(0), b = lower ? down : T(0), c = left ? T(1) - over : T(0), d = right ? over : T(0);
    s.weight[0][i] = a * c, s.weight[1][i] = a * d, s.weight[2][i] = b * c, s.weight[3][i] = b * d;
    if (derivatives) {
      const bool level = nearest && !lower, still = nearest && !right;
      const T da = upper && !level ? T(-1) : T(0), db = lower ? T(1) : T(0), dc = left && !still ? T(-1) : T(0), dd = right ? T(1) : T(0);
      s.down[0][i] = da * c, s.down[1][i] = da * d, s.down[2][i] = db * c, s.down[3][i] = db * d;
      s.right[0][i] = a * dc, s.right[1][i] = a * dd, s.right[2][i] = b * dc, s.right[3][i] = b * dd;
    }
  }
  if (p.mask)
    for (int64_t i = 0; i < s.n; ++i) s.factor[i] = p.mask[i];
}

template <typename T, bool masked>
void Column(const Samples<T>& s, const T* plane, T* column) {
  const int32_t *i0 = s.pixel[0], *i1 = s.pixel[1], *i2 = s.pixel[2], *i3 = s.pixel[3];
  const T *w0 = s.weight[0], *w1 = s.weight[1], *w2 = s.weight[2], *w3 = s.weight[3], *factor = s.factor;
#pragma GCC ivdep
  for (int64_t i = 0; i < s.n; ++i) {
    const int32_t first = i0[i] < 0 ? 0 : i0[i];
    T v = (w0[i] * plane[first] + w1[i] * plane[i1[i]]) + (w2[i] * plane[i2[i]] + w3[i] * plane[i3[i]]);
    if (masked) v *= factor[i];
    column[i] = i0[i] < 0 ? T(0) : v;
  }
}

template <typename T, bool masked, bool keep>
void Gradients(const Samples<T>& s, const T* plane, const T* grad, T* column, T* down, T* right, T* factor) {
#pragma GCC ivdep
  for (int64_t i = 0; i < s.n; ++i) {
    const bool in = s.pixel[0][i] >= 0;
    const T a = plane[in ? s.pixel[0][i] : 0], b = plane[s.pixel[1][i]], c = plane[s.pixel[2][i]], d = plane[s.pixel[3][i]];
    const T v = (s.weight[0][i] * a + s.weight[1][i] * b) + (s.weight[2][i] * c + s.weight[3][i] * d);
    const T dy = (s.down[0][i] * a + s.down[1][i] * b) + (s.down[2][i] * c + s.down[3][i] * d);
    const T dx = (s.right[0][i] * a + s.right[1][i] * b) + (s.right[2][i] * c + s.right[3][i] * d);
    const T f = masked ? s.factor[i] : T(1), g = grad[i];
    if (keep) column[i] = in ? v * f : T(0);
    down[i] += in ? dy * f * g : T(0);
    right[i] += in ? dx * f * g : T(0);
    if (masked) factor[i] += in ? v * g : T(0);
  }
}

template <typename T>
void Scatter(const Samples<T>& s, const T* grad, T* plane) {
  for (int64_t i = 0; i < s.n; ++i) {
    if (s.pixel[0][i] < 0) continue;
    const T g = s.factor ? grad[i] * s.factor[i] : grad[i];
    for (int k = 0; k < 4; ++k) plane[s.pixel[k][i]] += s.weight[k][i] * g;
  }
}

template <typename T>
void GradientsOf(const Samples<T>& s, const void* plane, const void* grad, void* column, void* down, void* right, void* factor) {
  const T *x = static_cast<const T*>(plane), *g = static_cast<const T*>(grad);
  T *c = static_cast<T*>(column), *dy = static_cast<T*>(down), *dx = static_cast<T*>(right), *df = static_cast<T*>(factor);
  if (df && c) return Gradients<T, true, true>(s, x, g, c, dy, dx, df);
  if (df) return Gradients<T, true, false>(s, x, g, c, dy, dx, df);
  if (c) return Gradients<T, false, true>(s, x, g, c, dy, dx, df);
  Gradients<T, false, false>(s, x, g, c, dy, dx, df);
}

template <typename T>
void PlacesOf(const void* places, const void* samples) {
  const auto& s = *static_cast<const Samples<T>*>(samples);
  const auto& p = *static_cast<const SamplePlaces<T>*>(places);
  if (s.down[0])
    Places<T, true>(p, s);
  else
    Places<T, false>(p, s);
}

template <typename T>
void ColumnOf(const void* samples, const void* plane, void* column) {
  const auto& s = *static_cast<const Samples<T>*>(samples);
  if (s.factor)
    Column<T, true>(s, static_cast<const T*>(plane), static_cast<T*>(column));
  else
    Column<T, false>(s, static_cast<const T*>(plane), static_cast<T*>(column));
}

}  // namespace

void DeformPlaces(bool wide, const void* places, const void* samples) {
  if (wide)
    PlacesOf<double>(places, samples);
  else
    PlacesOf<float>(places, samples);
}
void DeformColumn(bool wide, const void* samples, const void* plane, void* column) {
  if (wide)
    ColumnOf<double>(samples, plane, column);
  else
    ColumnOf<float>(samples, plane, column);
}
void DeformGradients(bool wide, const void* samples, const void* plane, const void* column_grad, void* column, void* down, void* right,
                     void* factor) {
  if (wide)
    GradientsOf(*static_cast<const Samples<double>*>(samples), plane, column_grad, column, down, right, factor);
  else
    GradientsOf(*static_cast<const Samples<float>*>(samples), plane, column_grad, column, down, right, factor);
}
void DeformScatter(bool wide, const void* samples, const void* column_grad, void* plane_grad) {
  if (wide)
    Scatter(*static_cast<const Samples<double>*>(samples), static_cast<const double*>(column_grad), static_cast<double*>(plane_grad));
  else
    Scatter(*static_cast<const Samples<float>*>(samples), static_cast<const float*>(column_grad), static_cast<float*>(plane_grad));
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
