/* Working on half-precision arrays piece by piece, through small buffers of float that stay in the
 * cache. Widened (nn_common.h) copies whole arrays. */
#ifndef MXNET_OPERATOR_NN_COMMON_HALF_PIECES_H_
#define MXNET_OPERATOR_NN_COMMON_HALF_PIECES_H_

#include <algorithm>
#include <array>

#include "operator/nn/common/nn_common.h"

namespace mxnet {
namespace nn {

/* n elements of float16, bfloat16 or float32 as float, and back. On the calling thread. */
void ReadFloats(int dtype, const void* from, float* to, int64_t n);
void WriteFloats(const float* from, int dtype, void* to, int64_t n);
/* Elements [at, at + n) of an array. */
inline void ReadFloats(const TBlob& from, int64_t at, float* to, int64_t n) {
  ReadFloats(from.dtype, from.data<char>() + at * static_cast<int64_t>(DTypeSize(from.dtype)), to, n);
}
inline void WriteFloats(const float* from, const TBlob& to, int64_t at, int64_t n) {
  WriteFloats(from, to.dtype, to.data<char>() + at * static_cast<int64_t>(DTypeSize(to.dtype)), n);
}

/* Whole arrays, on several threads. */
void ReadFloats(const TBlob& from, float* to);
void WriteFloats(const float* from, const TBlob& to);

/* to[j], or what it holds with `add`, becomes the sum over the rows of m x n numbers of a half
 * type. On several threads. */
void SumHalfRows(const TBlob& from, int64_t m, int64_t n, bool add, const TBlob& to);

constexpr int64_t kPiece = 2048;

/*
 * f(values, at, n) for pieces [at, at + n) of at most kPiece that cover `size` elements, on several
 * threads; `at` is a multiple of 4. values[0 .. kIn) hold the elements of `in`; f fills the others,
 * which are written to `out`. Blobs without memory are left out of both. `out` may be `in`.
 */
template <int kIn, int kOut, typename F>
void ForPieces(const std::array<TBlob, kIn>& in, const std::array<TBlob, kOut>& out, int64_t size, F&& f) {
  ParallelFor((size + kPiece - 1) / kPiece, 8, [&](int64_t begin, int64_t end) {
    alignas(64) float room[kIn + kOut][kPiece];
    float* values[kIn + kOut];
    for (int k = 0; k < kIn + kOut; ++k) values[k] = room[k];
    for (int64_t at = begin * kPiece; at < std::min(end * kPiece, size); at += kPiece) {
      const int64_t n = std::min(kPiece, size - at);
      for (int k = 0; k < kIn; ++k)
        if (in[k].dptr) ReadFloats(in[k], at, values[k], n);
      f(values, at, n);
      for (int k = 0; k < kOut; ++k)
        if (out[k].dptr) WriteFloats(values[kIn + k], out[k], at, n);
    }
  });
}

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_HALF_PIECES_H_
