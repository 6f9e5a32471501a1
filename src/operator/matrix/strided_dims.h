/* Dimensions of copies and sums between strided arrays. */
#ifndef MXNET_OPERATOR_MATRIX_STRIDED_DIMS_H_
#define MXNET_OPERATOR_MATRIX_STRIDED_DIMS_H_

#include <cstdint>
#include <vector>

namespace mxnet {

/* Elements along a dimension, and how far apart they lie on either side. */
struct StridedDim {
  int64_t size, src, dst;
};

/*
 * The dimensions that matter: those of size 1 are left out, adjacent ones that are one stretch on
 * both sides are merged. With `summed`, those that the destination does not move along go there.
 * False: there are no elements.
 */
inline bool MergedDims(const int64_t* src_stride, const int64_t* dst_stride, const int64_t* shape, int ndim, std::vector<StridedDim>* dims,
                       std::vector<StridedDim>* summed = nullptr) {
  for (int i = 0; i < ndim; ++i) {
    if (shape[i] == 0) return false;
    if (shape[i] == 1) continue;
    std::vector<StridedDim>& list = summed && dst_stride[i] == 0 ? *summed : *dims;
    const StridedDim d{shape[i], src_stride[i], dst_stride[i]};
    if (!list.empty() && list.back().src == d.src * d.size && list.back().dst == d.dst * d.size)
      list.back() = {list.back().size * d.size, d.src, d.dst};
    else
      list.push_back(d);
  }
  return true;
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_MATRIX_STRIDED_DIMS_H_
