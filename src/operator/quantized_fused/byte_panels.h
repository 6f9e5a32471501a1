/* Products of rows of 8-bit integers with matrices of such that stay, in panels of columns. */
#ifndef MXNET_OPERATOR_QUANTIZED_FUSED_BYTE_PANELS_H_
#define MXNET_OPERATOR_QUANTIZED_FUSED_BYTE_PANELS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"
#include "base/round_up.h"

namespace mxnet {
namespace quantized {

/*
 * A matrix (k, n) in panels of kPanelColumns columns: [panel][k / kPanelRows][column][row]. Rows
 * and columns that it has not are zeros.
 */
constexpr int64_t kPanelColumns = 16, kPanelRows = 4;
constexpr int64_t kPanelsTogether = 4;  // whole multiples of these are the fastest
inline int64_t PanelDepth(int64_t k) { return RoundUp(k, kPanelRows); }
inline int64_t PanelBytes(int64_t n, int64_t k) { return RoundUp(n, kPanelColumns) * PanelDepth(k); }

}  // namespace quantized

/*
 * BytePanels: sums[i * pitch + j] = sum over k of a[i * a_pitch + k] * B(k, j) for all columns j of
 * `panels` panels, exact for k up to 2^15; rows of a have PanelDepth(k) elements, of which those
 * that B has not count nothing.
 *
 * AddByteSums: to[j] += (sums[j] - a_zero * columns[j] - row * zeros[j]) * scale * scales[j], where
 * columns are the sums of B's columns less k times their zero points, zeros these points, and row
 * the sum of the row of a.
 */
MXNET_CPU_DECLARE(void BytePanels(int64_t m, int64_t panels, int64_t k, const uint8_t* a, int64_t a_pitch, const int8_t* packed,
                                  int32_t* sums, int64_t pitch);
                  void AddByteSums(int64_t n, const int32_t* sums, int32_t a_zero, int32_t row, float scale, const int32_t* columns,
                                   const int32_t* zeros, const float* scales, float* to);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_FUSED_BYTE_PANELS_H_
