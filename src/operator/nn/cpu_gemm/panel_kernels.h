/*
 * Matrix products in float32 from operands that were copied into panels first (Goto and van de
 * Geijn, "Anatomy of high-performance matrix multiplication", 2008).
 *
 *   panels   [columns / panel][depth][panel]   right operand; rows beyond the last column are zero
 *   strips   [rows / rows of a tile][depth][rows of a tile]   left operand, transposed
 *
 * The distance between panels is odd in cache lines: all of them would fall into the same sets
 * otherwise.
 */
#ifndef MXNET_OPERATOR_NN_CPU_GEMM_PANEL_KERNELS_H_
#define MXNET_OPERATOR_NN_CPU_GEMM_PANEL_KERNELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"
#include "base/round_up.h"

namespace mxnet {

struct PanelGeometry {
  int rows, panel;  // of a tile of the result that is summed in registers
  int64_t Panels(int64_t columns) const { return (columns + panel - 1) / panel; }
  int64_t PanelStride(int64_t depth) const { return depth * panel + 16; }  // floats
  int64_t Strips(int64_t n) const { return (n + rows - 1) / rows; }
  int64_t StripStride(int64_t depth) const { return RoundUp(depth * rows, 16) + 16; }
};

/* One row that is copied into panels: elements [lo, hi) of a segment lie at x[at + lo] ..., the
 * others are zero. */
struct PanelRow {
  int64_t at;
  int32_t lo, hi;
};

/* What is wanted next: two ranges of floats, of which [begin, end), counted through both, is
 * fetched evenly beside sums. */
struct PanelAhead {
  const float *first = nullptr, *second = nullptr;
  int64_t first_size = 0, second_size = 0, begin = 0, end = 0;
  /* The share of this that goes beside items [from, to) of n. */
  PanelAhead Share(int64_t from, int64_t to, int64_t n) const {
    PanelAhead part = *this;
    part.begin = begin + (end - begin) * from / n, part.end = begin + (end - begin) * to / n;
    return part;
  }
  const float* Begin() const { return begin < first_size ? first + begin : second + (begin - first_size); }
};

MXNET_CPU_DECLARE(PanelGeometry PanelShape();
                  /* `depth` rows of `width` elements of x(size), into columns first ... of the
                   * panels. Up to the
   * end of the last vector anything is written. */
                  void PanelColumns(const float* x, int64_t size, const PanelRow* rows, int64_t depth, int64_t first, int64_t width,
                                    float* panels, int64_t panel_stride);
                  /* Zeros in columns [first, end of the last panel). */
                  void PanelZero(int64_t depth, int64_t first, float* panels, int64_t panel_stride);
                  /* `depth` rows of `width` elements, `stride` apart. Behind the last strip there
                   * must be room for
   * one more vector. */
                  void PanelStrips(const float* y, int64_t stride, int64_t depth, int64_t width, float* strips, int64_t strip_stride);
                  /* out(width, columns) = or += strips^T panels; rows of `out` have room up to the
                   * end of the last
   * panel. */
                  void PanelSums(const float* strips, int64_t strip_stride, int64_t width, const float* panels, int64_t panel_stride,
                                 int64_t columns, int64_t depth, bool add, float* out, int64_t out_stride, const PanelAhead& ahead);
                  /* out[r][0 .. columns) = or += row r of a(rows, depth) times panels; as above. */
                  void PanelGemms(const float* a, int64_t a_stride, int64_t rows, const float* panels, int64_t panel_stride,
                                  int64_t columns, int64_t depth, bool add, float* const* out, const PanelAhead& ahead);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CPU_GEMM_PANEL_KERNELS_H_
