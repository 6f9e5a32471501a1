/* Rows of an array, one at a time, as a kernel of norm_kernels.h wants them: those in memory, or
 * else a copy, gathered from data whose axis is not the last, or of a half type as float. */
#ifndef MXNET_OPERATOR_NN_NORM_STORED_ROWS_H_
#define MXNET_OPERATOR_NN_NORM_STORED_ROWS_H_

#include "operator/nn/common/half_pieces.h"
#include "operator/nn/common/nn_common.h"
#include "operator/shared/host_scratch.h"

namespace mxnet {
namespace nn {

/* Rows of n numbers, which lie `inner` apart. T: double, or float for all other types. Of one
 * thread. */
template <typename T>
class StoredRows {
 public:
  StoredRows(const TBlob& b, int64_t n, int64_t inner = 1)
      : b_(b), n_(n), inner_(inner), copied_(inner > 1 || IsHalf(b.dtype)), copy_(copied_ ? n : 0) {}
  const T* Read(int64_t row) {
    if (!copied_) return Place(row);
    if (inner_ == 1)
      ReadRow(row);
    else
      for (int64_t i = 0; i < n_; ++i) copy_[i] = Number(i, row);
    return copy_.get();
  }
  /* Where a result goes, for Write. */
  T* Room(int64_t row) { return copied_ ? copy_.get() : Place(row); }
  void Write(int64_t row) {
    if (!copied_) return;
    if (inner_ == 1) return WriteRow(row);
    for (int64_t i = 0; i < n_; ++i) PutNumber(b_, At(i, row), copy_[i]);
  }
  static void PutNumber(const TBlob& b, int64_t at, T number) {
    if (!IsHalf(b.dtype)) {
      b.data<T>()[at] = number;
      return;
    }
    const float narrow = static_cast<float>(number);
    WriteFloats(&narrow, b, at, 1);
  }

 private:
  T* Place(int64_t row) const { return b_.data<T>() + row * n_; }
  int64_t At(int64_t i, int64_t row) const { return (row / inner_ * n_ + i) * inner_ + row % inner_; }
  T Number(int64_t i, int64_t row) const {
    if (!IsHalf(b_.dtype)) return b_.data<T>()[At(i, row)];
    float number;
    ReadFloats(b_, At(i, row), &number, 1);
    return static_cast<T>(number);
  }
  void ReadRow(int64_t row) {
    if constexpr (sizeof(T) == sizeof(float)) ReadFloats(b_, row * n_, copy_.get(), n_);
  }
  void WriteRow(int64_t row) {
    if constexpr (sizeof(T) == sizeof(float)) WriteFloats(copy_.get(), b_, row * n_, n_);
  }

  const TBlob b_;
  const int64_t n_, inner_;
  const bool copied_;
  const HostScratch<T> copy_;
};

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_NORM_STORED_ROWS_H_
