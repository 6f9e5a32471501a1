// Masks of attention for libraries: what they add to the scores, and rows of which no column
// counts.
#include "rtc/loop.cuh"

namespace kernels {

enum AttentionMaskKind { kNoMask, kCounts, kAdded };  // columns that count, or numbers that are added

// A row of a head: 0 (or the mask's number) where a column counts, else a number that leaves
// nothing of it; `some` tells whether any column counts.
template <typename Mask, typename Length, int kind, bool has_lengths>
struct attention_mask {
  struct Args {
    const Mask* mask;
    long long mask_head, mask_row, mask_column;
    const Length* lengths;
    long long length_head, length_row;
    float* out;
    int* some;
    long long rows, columns;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ int shared[256];
    const long long head = row / a.rows, r = row % a.rows;
    long long count = a.columns;
    if constexpr (has_lengths) count = mx::Load<long long>(a.lengths, head * a.length_head + r * a.length_row);
    int any = 0;
    for (long long j = threadIdx.x; j < a.columns; j += 256) {
      const long long at = head * a.mask_head + r * a.mask_row + j * a.mask_column;
      bool yes = j < count;
      if constexpr (kind == kCounts) yes = yes && a.mask[at].bits != 0;
      any = yes ? 1 : any;
      float added = 0.f;
      if constexpr (kind == kAdded) added = yes ? mx::Load<float>(a.mask, at) : 0.f;
      a.out[row * a.columns + j] = yes ? added : -1e30f;
    }
    any = mx::BlockMax(any, shared);
    if (threadIdx.x == 0) a.some[row] = any;
  }
};

// Rows of which no column counts are 0, and their weights backwards, too.
template <typename I, typename Out>
struct attention_empty_rows {
  struct Args {
    const int* some;
    long long some_head, some_row;
    Out* out;
    float* statistics;
    long long rows, heads, out_example, out_head, out_row, width;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long head = static_cast<long long>(i) / a.rows, r = static_cast<long long>(i) % a.rows;
    if (a.some[head * a.some_head + r * a.some_row] != 0) return;
    const long long at = head / a.heads * a.out_example + head % a.heads * a.out_head + r * a.out_row;
    for (long long j = 0; j < a.width; ++j) mx::Store(a.out, at + j, 0.f);
    if (a.statistics) a.statistics[i] = __int_as_float(0x7f800000);
  }
};
}  // namespace kernels
