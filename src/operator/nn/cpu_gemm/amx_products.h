/*
 * Products of matrices by the processor's matrix tiles (AMX, Intel's manual for software
 * developers, volume 1, chapter 18): an instruction multiplies 16 rows of 64 bytes with 16 columns
 * of as many.
 *
 * A row of A is some segments, each of adjacent bytes; rows lie `pitch` bytes apart and may
 * overlap. B is [segment][depth][columns][4]: four bytes of a column, or two of its bfloat16, lie
 * beside each other and are one unit of depth. Nothing beyond A and B is read.
 *
 * Only where HasAmx() says so. THREADS: any, each with an AmxScope of its own.
 */
#ifndef MXNET_OPERATOR_NN_CPU_GEMM_AMX_PRODUCTS_H_
#define MXNET_OPERATOR_NN_CPU_GEMM_AMX_PRODUCTS_H_

#include <algorithm>
#include <cstdint>

namespace mxnet {
namespace nn {

constexpr int64_t kAmxRows = 16;     // of a tile
constexpr int64_t kAmxColumns = 16;  // of a tile of sums
constexpr int64_t kAmxDepth = 16;    // units of 4 bytes of a tile
constexpr int64_t kAmxGroup = 2 * kAmxRows;

enum class AmxKind {
  kUnsigned,  // uint8 times int8, sums of int32, which wrap around
  kSigned,    // int8 times int8
  kBfloat     // sums of float32; subnormal numbers are zero
};

struct AmxOperands {
  const void* a = nullptr;
  int64_t pitch = 0;               // bytes between rows
  int64_t segments = 1, step = 0;  // step: bytes between segments of a row
  int64_t depth = 0;               // of a segment
  const void* b = nullptr;
  int64_t b_pitch = 0;          // bytes between units of depth
  const void* next = nullptr;   // what is fetched into the second-level cache meanwhile; null: nothing
  int64_t ahead = 0;            // bytes of it beside each tile of depth
  const void* start = nullptr;  // what the sums of each column begin with; null: zeros
  void* sums = nullptr;         // rows of them, sums_pitch apart
  int64_t sums_pitch = 0;       // elements
};

/* A thread's tiles while it multiplies blocks of `rows` rows, 16 of which at most are a tile's, and
 * of this depth. While it lives, oneDNN is not called. */
class AmxScope {
 public:
  AmxScope(int64_t rows, int64_t depth);
  ~AmxScope();
  AmxScope(const AmxScope&) = delete;
  AmxScope& operator=(const AmxScope&) = delete;
};

/*
 * Rows of a block that are multiplied together, kAmxGroup at most: [from, from + rows), of which
 * those from `fresh` on are of no group before. A tile is never part empty but in blocks of fewer
 * rows: the last ones overlap.
 */
struct AmxRows {
  int64_t from, rows, fresh;
  AmxRows(int64_t block, int64_t first) : from(first), rows(std::min(kAmxGroup, block - first)), fresh(first) {
    if (rows < kAmxRows && block >= kAmxRows) from = block - kAmxRows, rows = kAmxRows;
  }
};

/* `rows` of an AmxRows times `columns` columns, 16 or 32. */
void AmxProducts(AmxKind kind, const AmxOperands& operands, int64_t rows, int64_t columns);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CPU_GEMM_AMX_PRODUCTS_H_
