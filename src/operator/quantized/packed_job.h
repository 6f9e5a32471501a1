/* A layer on 8-bit integers as the packed methods see it (packed_layer.h). */
#ifndef MXNET_OPERATOR_QUANTIZED_PACKED_JOB_H_
#define MXNET_OPERATOR_QUANTIZED_PACKED_JOB_H_

#include <cstdint>

#include "operator/quantized/packed_layer.h"

namespace mxnet {
namespace quantized {

constexpr int64_t kTogether = 4;  // panels whose sums are finished together
constexpr int64_t kColumns = kTogether * kWideColumns;

/* Its images and its result have their channels beside each other. */
struct PackedJob {
  const nn::ConvDims& d;
  const char* src = nullptr;
  bool is_unsigned = false, depthwise = false, weights_last = false;
  bool planes = false;  // channels of src are apart; AmxLayer alone takes that
  int src_zero = 0;
  int64_t groups = 1, per_group = 0, filters = 0, deep = 0;  // filters and channels of a group, numbers of a sum
  int64_t pairs = 0, panels = 0, pitch = 0;                  // of a group; pitch: of widened rows
  explicit PackedJob(const nn::ConvDims& dims) : d(dims) {}
  const int8_t* packed = nullptr;
  SumsFinish finish;
  const int32_t* zeros = nullptr;  // of the filters; null: 0
  const char* addend = nullptr;
  char* dst = nullptr;
  int64_t size = 1;  // of an element of the result
  int64_t GroupBytes() const { return panels * WidePanelBytes(deep); }

  /* Columns [filter, filter + n) of `count` rows from `row` on: what becomes of their sums. */
  void Finish(const int32_t* sums, int64_t sums_pitch, int64_t row, int64_t count, int64_t filter, int64_t n) const {
    const int64_t at = (row * d.filters + filter) * size;
    MXNET_CPU_CALL(FinishSums)(finish, count, sums, sums_pitch, filter, n, addend ? addend + at : nullptr, dst + at, d.filters);
  }
};

}  // namespace quantized
}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_PACKED_JOB_H_
