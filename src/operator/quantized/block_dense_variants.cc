// Numbers of few bits become floats in registers: their bytes are all that is read of a weight.
#include "operator/quantized/block_dense.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr int kLanes = 16;

/* sums[lane] of one block; `bytes` is a multiple of kLanes. */
template <int kBits>
inline void AddBlock(const uint8_t* packed, const float* split, int64_t bytes, float* sums) {
  constexpr int kPlaces = 8 / kBits, kMask = (1 << kBits) - 1;
  for (int64_t at = 0; at < bytes; at += kLanes) {
    for (int place = 0; place < kPlaces; ++place) {
      const float* x = split + place * bytes + at;
#pragma omp simd
      for (int j = 0; j < kLanes; ++j) sums[j] += static_cast<float>((packed[at + j] >> (place * kBits)) & kMask) * x[j];
    }
  }
}

template <int kBits>
float Dot(const BlockRow& row, const float* split, const float* block_sums) {
  constexpr int kPlaces = 8 / kBits, kMask = (1 << kBits) - 1;
  float all[kLanes] = {}, rest = 0;
  for (int64_t b = 0; b < row.blocks; ++b) {
    const uint8_t* packed = row.packed + b * row.bytes;
    const float* x = split + b * row.bytes * kPlaces;
    rest -= row.shift[b] * block_sums[b];
    if (row.bytes % kLanes == 0) {
      float sums[kLanes] = {};
      AddBlock<kBits>(packed, x, row.bytes, sums);
#pragma omp simd
      for (int j = 0; j < kLanes; ++j) all[j] += row.scale[b] * sums[j];
    } else {
      float sum = 0;
      for (int place = 0; place < kPlaces; ++place)
        for (int64_t j = 0; j < row.bytes; ++j)
          sum += static_cast<float>((packed[j] >> (place * kBits)) & kMask) * x[place * row.bytes + j];
      rest += row.scale[b] * sum;
    }
  }
  for (const float v : all) rest += v;
  return rest;
}

template <int kBits>
void Unpack(const BlockRow& row, float* out) {
  constexpr int kPlaces = 8 / kBits, kMask = (1 << kBits) - 1;
  for (int64_t b = 0; b < row.blocks; ++b) {
    const float scale = row.scale[b], shift = row.shift[b];
    const uint8_t* packed = row.packed + b * row.bytes;
    float* to = out + b * row.bytes * kPlaces;
    for (int64_t j = 0; j < row.bytes; ++j)
      for (int place = 0; place < kPlaces; ++place)
        to[j * kPlaces + place] = static_cast<float>((packed[j] >> (place * kBits)) & kMask) * scale - shift;
  }
}

}  // namespace

void SplitBlocks(const float* x, int64_t blocks, int64_t bytes, int bits, float* out, float* sums) {
  const int places = 8 / bits;
  for (int64_t b = 0; b < blocks; ++b) {
    const float* from = x + b * bytes * places;
    float* to = out + b * bytes * places;
    float sum = 0;
    for (int place = 0; place < places; ++place)
      for (int64_t j = 0; j < bytes; ++j) {
        to[place * bytes + j] = from[j * places + place];
        sum += from[j * places + place];
      }
    sums[b] = sum;
  }
}

float DotBlocks(const BlockRow& row, const float* split, const float* sums) {
  if (row.bits == 4) return Dot<4>(row, split, sums);
  return row.bits == 8 ? Dot<8>(row, split, sums) : Dot<2>(row, split, sums);
}

void UnpackBlocks(const BlockRow& row, float* out) {
  if (row.bits == 4) return Unpack<4>(row, out);
  row.bits == 8 ? Unpack<8>(row, out) : Unpack<2>(row, out);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
