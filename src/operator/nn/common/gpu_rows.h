/* Rows that their threads hold in registers while they compute on them: the loop over rows, sums
 * and maxima of a row, loads by packs. For generated kernels. */
#ifndef MXNET_OPERATOR_NN_COMMON_GPU_ROWS_H_
#define MXNET_OPERATOR_NN_COMMON_GPU_ROWS_H_

#include <initializer_list>
#include <string>
#include <utility>

#include "rtc/kernel.h"

namespace mxnet {
namespace nn {

/* threads / lanes rows in a block. */
struct RegisterRows {
  int lanes = 0, packs = 0, width = 1;                  // threads of a row; accesses of each; elements of an access
  int threads() const;                                  // of a block
  explicit operator bool() const { return lanes > 0; }  // else rows are too long
  std::string Key() const;                              // what a text with them depends on
};
/*
 * `most`: elements that a thread may hold of each array, a power of two up to 32. `arrays`:
 * addresses and dtypes of arrays that have rows of `length` elements, or one such row; an access is
 * 16 bytes of the first one, or less.
 */
RegisterRows RegisterRowsFor(int64_t length, int most, std::initializer_list<std::pair<const void*, int>> arrays);
/*
 * The text up to the loop's body, which two closing braces end; T and struct Args with members
 * `outer` (rows) and `length` stand before it. In the body: row `slice`, its first element `base`,
 * OfRow(v, Added(), shared) and OfRow(v, Larger(), shared) for all threads.
 */
std::string RegisterRowsHead(const char* name, const RegisterRows& rows);
/* Headers of loops in the body: over accesses r, which are pack k of the row and begin at `at` (a
 * brace is open), and over held elements e. */
extern const char *const kEachRegisterPack, *const kEachRegisterElement;
rtc::LaunchShape RegisterRowsGrid(int64_t rows, const RegisterRows& held);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_GPU_ROWS_H_
