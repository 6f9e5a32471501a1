/* Texts and arrays as users' libraries are given them. */
#ifndef MXNET_LIBRARY_TEXTS_H_
#define MXNET_LIBRARY_TEXTS_H_

#include <map>
#include <string>
#include <vector>

#include "mxnet/lib_api_abi.h"
#include "mxnet/ndarray.h"

namespace mxnet {
namespace library {

/* Points into the map, which must stay. */
class Texts {
 public:
  explicit Texts(const std::map<std::string, std::string>& map) {
    for (const auto& kv : map) keys_.push_back(kv.first.c_str()), values_.push_back(kv.second.c_str());
    texts_ = {keys_.size(), keys_.data(), values_.data()};
  }
  const MXExtTexts* get() const { return &texts_; }

 private:
  std::vector<const char*> keys_, values_;
  MXExtTexts texts_;
};

inline MXExtTensor TensorOf(const TBlob& blob, uint64_t version) {
  return {blob.dptr, blob.shape.dims(), blob.shape.ndim(), blob.dtype, version, blob.ctx.is_gpu() ? "gpu" : "cpu", blob.ctx.dev_id, 0};
}

/* Arrays by name, complete when this is made. Points into the map, which must stay. */
class NamedTensors {
 public:
  explicit NamedTensors(const std::map<std::string, NDArray>& map) {
    for (const auto& kv : map) {
      kv.second.WaitToRead();
      blobs_.push_back(kv.second.data());
    }
    for (const auto& kv : map) {
      names_.push_back(kv.first.c_str());
      tensors_.push_back(TensorOf(blobs_[tensors_.size()], kv.second.version()));
    }
    named_ = {names_.size(), names_.data(), tensors_.data()};
  }
  const MXExtNamedTensors* get() const { return &named_; }

 private:
  std::vector<TBlob> blobs_;
  std::vector<const char*> names_;
  std::vector<MXExtTensor> tensors_;
  MXExtNamedTensors named_;
};

/* Shapes as two lists. Points into the shapes, which must stay. */
struct ShapeLists {
  std::vector<int> ndims;
  std::vector<const int64_t*> dims;
  void Add(const Shape& shape) {
    ndims.push_back(shape.known() ? shape.ndim() : -1);
    dims.push_back(shape.dims());
  }
};

}  // namespace library
}  // namespace mxnet
#endif  // MXNET_LIBRARY_TEXTS_H_
