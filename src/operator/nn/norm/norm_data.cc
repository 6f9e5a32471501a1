#include "operator/nn/norm/norm_data.h"

#include <algorithm>

#include "operator/nn/common/half_pieces.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int64_t kPiece = 4096;  // elements; a multiple of 8, for a byte has the bits of eight

/* Pieces of `rows` rows of n elements: f(row, rows, column, columns) for some whole rows, or for a
 * part of one. */
template <typename F>
void Pieces(int64_t rows, int64_t n, F&& f) {
  if (n <= kPiece) {
    const int64_t together = kPiece / std::max<int64_t>(1, n);
    for (int64_t r = 0; r < rows; r += together) f(r, std::min(together, rows - r), int64_t{0}, n);
    return;
  }
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < n; c += kPiece) f(r, int64_t{1}, c, std::min(kPiece, n - c));
}

/* A piece as floats. */
struct Floats {
  alignas(64) float room[kPiece];
  const float* Read(NormData from, int64_t n) {
    ReadFloats(from.dtype, from.at, room, n);
    return room;
  }
  void Write(NormData to, int64_t n) const { WriteFloats(room, to.dtype, to.at, n); }
};

/* Of numbers per column, those from `column` on. */
const void* From(const void* numbers, int64_t column) { return static_cast<const float*>(numbers) + column; }

NormMaskColumns From(const NormMaskColumns* mask, int64_t column) {
  return mask ? NormMaskColumns{From(mask->scale, column), From(mask->shift, column)} : NormMaskColumns{};
}

}  // namespace

double NormData::operator[](int64_t i) const {
  if (dtype == kFloat64) return reinterpret_cast<const double*>(at)[i];
  float number;
  ReadFloats(dtype, (*this + i).at, &number, 1);
  return static_cast<double>(number);
}

void Moments(NormData x, int64_t n, double shift, double* sum, double* squares) {
  if (!IsHalf(x.dtype)) return MXNET_CPU_CALL(NormMoments)(x.dtype, x.at, n, shift, sum, squares);
  Floats a;
  Pieces(1, n, [&](int64_t, int64_t, int64_t c, int64_t m) {
    MXNET_CPU_CALL(NormMoments)(kFloat32, a.Read(x + c, m), m, shift, sum, squares);
  });
}

void MomentsColumns(NormData x, int64_t rows, int64_t n, const double* shift, double* sum, double* squares) {
  if (!IsHalf(x.dtype)) return MXNET_CPU_CALL(NormMomentsColumns)(x.dtype, x.at, rows, n, shift, sum, squares);
  Floats a;
  Pieces(rows, n, [&](int64_t r, int64_t count, int64_t c, int64_t m) {
    MXNET_CPU_CALL(NormMomentsColumns)(kFloat32, a.Read(x + (r * n + c), count * m), count, m, shift + c, sum + c, squares + c);
  });
}

void GradientSums(NormData g, NormData x, int64_t n, double mean, double* sum, double* product, const NormMask* mask) {
  if (!IsHalf(x.dtype) && !IsHalf(g.dtype)) return MXNET_CPU_CALL(NormGradientSums)(x.dtype, g.at, x.at, n, mean, sum, product, mask);
  Floats a, b;
  Pieces(1, n, [&](int64_t, int64_t, int64_t c, int64_t m) {
    MXNET_CPU_CALL(NormGradientSums)(kFloat32, a.Read(g + c, m), b.Read(x + c, m), m, mean, sum, product, mask);
  });
}

void GradientSumsColumns(NormData g, NormData x, int64_t rows, int64_t n, const double* mean, double* sum, double* product,
                         const NormMaskColumns* mask) {
  if (!IsHalf(x.dtype) && !IsHalf(g.dtype))
    return MXNET_CPU_CALL(NormGradientSumsColumns)(x.dtype, g.at, x.at, rows, n, mean, sum, product, mask);
  Floats a, b;
  Pieces(rows, n, [&](int64_t r, int64_t count, int64_t c, int64_t m) {
    const int64_t at = r * n + c;
    const NormMaskColumns own = From(mask, c);
    MXNET_CPU_CALL(NormGradientSumsColumns)
    (kFloat32, a.Read(g + at, count * m), b.Read(x + at, count * m), count, m, mean + c, sum + c, product + c, mask ? &own : nullptr);
  });
}

void ScaleLine(NormData x, NormData y, int64_t n, double scale, double shift, bool relu) {
  if (!IsHalf(x.dtype)) return MXNET_CPU_CALL(NormScale)(x.dtype, x.at, y.at, n, scale, shift, relu);
  Floats a;
  Pieces(1, n, [&](int64_t, int64_t, int64_t c, int64_t m) {
    MXNET_CPU_CALL(NormScale)(kFloat32, a.Read(x + c, m), a.room, m, scale, shift, relu);
    a.Write(y + c, m);
  });
}

void ScaleColumns(NormData x, NormData y, int64_t rows, int64_t n, const void* scale, const void* shift, bool relu) {
  if (!IsHalf(x.dtype)) return MXNET_CPU_CALL(NormScaleColumns)(x.dtype, x.at, y.at, rows, n, scale, shift, relu);
  Floats a;
  Pieces(rows, n, [&](int64_t r, int64_t count, int64_t c, int64_t m) {
    const int64_t at = r * n + c;
    MXNET_CPU_CALL(NormScaleColumns)(kFloat32, a.Read(x + at, count * m), a.room, count, m, From(scale, c), From(shift, c), relu);
    a.Write(y + at, count * m);
  });
}

void ScaleAddLine(NormData x, NormData addend, NormData y, int64_t n, double scale, double shift, uint8_t* bits) {
  if (!IsHalf(x.dtype) && !IsHalf(addend.dtype)) return MXNET_CPU_CALL(NormScaleAdd)(x.dtype, x.at, addend.at, y.at, n, scale, shift, bits);
  Floats a, b;
  Pieces(1, n, [&](int64_t, int64_t, int64_t c, int64_t m) {
    MXNET_CPU_CALL(NormScaleAdd)
    (kFloat32, a.Read(x + c, m), b.Read(addend + c, m), a.room, m, scale, shift, bits ? bits + c / 8 : nullptr);
    a.Write(y + c, m);
  });
}

void ScaleAddColumns(NormData x, NormData addend, NormData y, int64_t rows, int64_t n, const void* scale, const void* shift,
                     uint8_t* bits) {
  if (!IsHalf(x.dtype) && !IsHalf(addend.dtype))
    return MXNET_CPU_CALL(NormScaleAddColumns)(x.dtype, x.at, addend.at, y.at, rows, n, scale, shift, bits);
  Floats a, b;
  Pieces(rows, n, [&](int64_t r, int64_t count, int64_t c, int64_t m) {
    const int64_t at = r * n + c;
    MXNET_CPU_CALL(NormScaleAddColumns)
    (kFloat32, a.Read(x + at, count * m), b.Read(addend + at, count * m), a.room, count, m, From(scale, c), From(shift, c),
     bits ? bits + r * ((n + 7) / 8) + c / 8 : nullptr);
    a.Write(y + at, count * m);
  });
}

void KeepMarked(NormData g, const uint8_t* bits, NormData h, int64_t rows, int64_t n) {
  if (!IsHalf(g.dtype)) return MXNET_CPU_CALL(NormKeepMarked)(g.dtype, g.at, bits, h.at, rows, n);
  Floats a;
  Pieces(rows, n, [&](int64_t r, int64_t count, int64_t c, int64_t m) {
    const int64_t at = r * n + c;
    MXNET_CPU_CALL(NormKeepMarked)(kFloat32, a.Read(g + at, count * m), bits + r * ((n + 7) / 8) + c / 8, a.room, count, m);
    a.Write(h + at, count * m);
  });
}

void GradientLine(NormData g, NormData x, NormData dx, int64_t n, double a, double b, double c, const NormMask* mask) {
  if (!IsHalf(x.dtype) && !IsHalf(g.dtype)) return MXNET_CPU_CALL(NormGradient)(x.dtype, g.at, x.at, dx.at, n, a, b, c, mask);
  Floats heads, data;
  Pieces(1, n, [&](int64_t, int64_t, int64_t at, int64_t m) {
    MXNET_CPU_CALL(NormGradient)(kFloat32, heads.Read(g + at, m), data.Read(x + at, m), data.room, m, a, b, c, mask);
    data.Write(dx + at, m);
  });
}

void GradientColumns(NormData g, NormData x, NormData dx, int64_t rows, int64_t n, const void* a, const void* b, const void* c,
                     const NormMaskColumns* mask) {
  if (!IsHalf(x.dtype) && !IsHalf(g.dtype)) return MXNET_CPU_CALL(NormGradientColumns)(x.dtype, g.at, x.at, dx.at, rows, n, a, b, c, mask);
  Floats heads, data;
  Pieces(rows, n, [&](int64_t r, int64_t count, int64_t column, int64_t m) {
    const int64_t at = r * n + column;
    const NormMaskColumns own = From(mask, column);
    MXNET_CPU_CALL(NormGradientColumns)
    (kFloat32, heads.Read(g + at, count * m), data.Read(x + at, count * m), data.room, count, m, From(a, column), From(b, column),
     From(c, column), mask ? &own : nullptr);
    data.Write(dx + at, count * m);
  });
}

}  // namespace nn
}  // namespace mxnet
