/* Register-resident rows: how many threads hold a row of an array in their registers while they
 * compute on it. The kernels use gpu_rows.cuh. */
#ifndef MXNET_OPERATOR_NN_COMMON_GPU_ROWS_H_
#define MXNET_OPERATOR_NN_COMMON_GPU_ROWS_H_

#include <initializer_list>
#include <utility>

#include "rtc/source.h"

namespace mxnet {
namespace nn {

/* threads / lanes rows in a block. */
struct RegisterRows {
  int lanes = 0, packs = 0, width = 1;                  // threads of a row; accesses of each; elements of an access
  int threads() const;                                  // of a block
  explicit operator bool() const { return lanes > 0; }  // else rows are too long
  void AddTo(rtc::TemplateArguments* arguments) const;  // lanes, packs, width
};
/*
 * `most`: elements that a thread may hold of each array, a power of two up to 32. `arrays`:
 * addresses and dtypes of arrays that have rows of `length` elements, or one such row; an access is
 * 16 bytes of the first one, or less.
 */
RegisterRows RegisterRowsFor(int64_t length, int most, std::initializer_list<std::pair<const void*, int>> arrays);
rtc::LaunchShape RegisterRowsGrid(int64_t rows, const RegisterRows& held);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_GPU_ROWS_H_
