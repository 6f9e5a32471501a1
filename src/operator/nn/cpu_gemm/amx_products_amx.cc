// The loops of amx_products.h.
#include <immintrin.h>

#include "operator/nn/cpu_gemm/amx_products.h"

namespace mxnet {
namespace nn {

namespace {

/* What ldtilecfg reads. Tiles 0 to 3 are sums. Where the depth is one of whole tiles, 4 and 5 are
 * two of A, 6 and 7 two of B; else 4 is one of A, 5 one of B, and 6 and 7 are what is left of
 * them. */
struct alignas(64) Config {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes[16] = {};  // of a row
  uint8_t rows[16] = {};
  void Set(int tile, int64_t height, int64_t width) {
    rows[tile] = static_cast<uint8_t>(height), bytes[tile] = static_cast<uint16_t>(width);
  }
};
static_assert(sizeof(Config) == 64, "as the instruction reads it");

constexpr int64_t kTileBytes = 4 * kAmxDepth;

inline void Fetch(const char* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(from + i, 0, 2);
}

// The intrinsics want tiles' numbers as they are written, so a template cannot be given them.
#define MXNET_AMX_MULTIPLY(sum, a, b)   \
  do {                                  \
    if (kKind == AmxKind::kUnsigned)    \
      _tile_dpbusd(sum, a, b);          \
    else if (kKind == AmxKind::kSigned) \
      _tile_dpbssd(sum, a, b);          \
    else                                \
      _tile_dpbf16ps(sum, a, b);        \
  } while (false)

// Units from `at` on times both tiles of rows and of columns, with two tiles to load into.
#define MXNET_AMX_STEP(tile_a, tile_b)                                 \
  do {                                                                 \
    _tile_loadd(tile_a, a + at * 4, o.pitch);                          \
    _tile_loadd(tile_b, b + at * o.b_pitch, o.b_pitch);                \
    MXNET_AMX_MULTIPLY(0, tile_a, tile_b);                             \
    if (kTwoColumns) {                                                 \
      _tile_loadd(tile_b, b + at * o.b_pitch + kTileBytes, o.b_pitch); \
      MXNET_AMX_MULTIPLY(1, tile_a, tile_b);                           \
    }                                                                  \
    if (kTwoRows) {                                                    \
      _tile_loadd(tile_a, second + at * 4, o.pitch);                   \
      if (kTwoColumns) {                                               \
        MXNET_AMX_MULTIPLY(3, tile_a, tile_b);                         \
        _tile_loadd(tile_b, b + at * o.b_pitch, o.b_pitch);            \
      }                                                                \
      MXNET_AMX_MULTIPLY(2, tile_a, tile_b);                           \
    }                                                                  \
  } while (false)

template <AmxKind kKind, bool kTwoRows, bool kTwoColumns>
void Multiply(const AmxOperands& o, int64_t rows) {
  const char *a = static_cast<const char*>(o.a), *b = static_cast<const char*>(o.b);
  const int64_t apart = rows - kAmxRows;  // between both tiles of rows
  const char* second = a + apart * o.pitch;
  const char* next = static_cast<const char*>(o.next);
  const int64_t ahead = next ? o.ahead : 0;
  if (o.start) {
    const char* const start = static_cast<const char*>(o.start);
    _tile_loadd(0, start, 0);
    if (kTwoColumns) _tile_loadd(1, start + kTileBytes, 0);
    if (kTwoRows) _tile_loadd(2, start, 0);
    if (kTwoRows && kTwoColumns) _tile_loadd(3, start + kTileBytes, 0);
  } else {
    _tile_zero(0);
    if (kTwoColumns) _tile_zero(1);
    if (kTwoRows) _tile_zero(2);
    if (kTwoRows && kTwoColumns) _tile_zero(3);
  }
  const int64_t whole = o.depth / kAmxDepth * kAmxDepth;
  for (int64_t segment = 0; segment < o.segments; ++segment, a += o.step, second += o.step, b += o.depth * o.b_pitch) {
    if (kTwoRows && kTwoColumns && whole == o.depth) {
      for (int64_t at = 0; at < whole; at += kAmxDepth, next += ahead) {
        Fetch(next, ahead);
        _tile_loadd(4, a + at * 4, o.pitch);
        _tile_loadd(6, b + at * o.b_pitch, o.b_pitch);
        MXNET_AMX_MULTIPLY(0, 4, 6);
        _tile_loadd(7, b + at * o.b_pitch + kTileBytes, o.b_pitch);
        MXNET_AMX_MULTIPLY(1, 4, 7);
        _tile_loadd(5, second + at * 4, o.pitch);
        MXNET_AMX_MULTIPLY(2, 5, 6);
        MXNET_AMX_MULTIPLY(3, 5, 7);
      }
    } else {
      int64_t at = 0;
      for (; at < whole; at += kAmxDepth, next += ahead) {
        Fetch(next, ahead);
        MXNET_AMX_STEP(4, 5);
      }
      if (at < o.depth) MXNET_AMX_STEP(6, 7);
    }
  }
  char* const sums = static_cast<char*>(o.sums);
  const int64_t pitch = o.sums_pitch * 4;
  _tile_stored(0, sums, pitch);
  if (kTwoColumns) _tile_stored(1, sums + kTileBytes, pitch);
  if (kTwoRows) _tile_stored(2, sums + apart * pitch, pitch);
  if (kTwoRows && kTwoColumns) _tile_stored(3, sums + apart * pitch + kTileBytes, pitch);
}

template <AmxKind kKind>
void Choose(const AmxOperands& o, int64_t rows, int64_t columns) {
  const bool two_columns = columns > kAmxColumns;
  const auto run = rows > kAmxRows ? (two_columns ? Multiply<kKind, true, true> : Multiply<kKind, true, false>)
                                   : (two_columns ? Multiply<kKind, false, true> : Multiply<kKind, false, false>);
  run(o, rows);
}

}  // namespace

AmxScope::AmxScope(int64_t rows, int64_t depth) {
  Config c;
  const int64_t height = std::min(kAmxRows, rows), left = depth % kAmxDepth;
  for (int tile = 0; tile < 4; ++tile) c.Set(tile, height, kTileBytes);
  c.Set(4, height, kTileBytes);
  c.Set(5, kAmxDepth, kTileBytes);
  if (left) {
    c.Set(6, height, 4 * left);
    c.Set(7, left, kTileBytes);
  } else {
    c.Set(6, kAmxDepth, kTileBytes);
    c.Set(7, kAmxDepth, kTileBytes);
  }
  asm volatile("" ::: "memory");  // the intrinsic does not say that it reads all of it
  _tile_loadconfig(&c);
}

AmxScope::~AmxScope() { _tile_release(); }

void AmxProducts(AmxKind kind, const AmxOperands& operands, int64_t rows, int64_t columns) {
  asm volatile("" ::: "memory");
  (kind == AmxKind::kUnsigned ? Choose<AmxKind::kUnsigned>
   : kind == AmxKind::kSigned ? Choose<AmxKind::kSigned>
                              : Choose<AmxKind::kBfloat>)(operands, rows, columns);
}

}  // namespace nn
}  // namespace mxnet
