/*
 * Iterators over data sets, in batches:
 *
 *   MXDataIter train("MNISTIter");
 *   train.SetParam("image", "images").SetParam("label", "labels").SetParam("batch_size", 64);
 *   train.CreateDataIter();
 *   for (train.Reset(); train.Next();) Use(train.GetDataBatch());
 */
#ifndef MXNET_CPP_IO_H_
#define MXNET_CPP_IO_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mxnet-cpp/ndarray.h"
#include "mxnet/c_api_data.h"

namespace mxnet {
namespace cpp {

/* pad_num: how many rows at the end only fill the batch up. index: which record each row is. */
class DataBatch {
 public:
  NDArray data;
  NDArray label;
  int pad_num = 0;
  std::vector<int> index;
};

class DataIter {
 public:
  virtual ~DataIter() {}
  /* To the first batch. Next moves on; before the first call of Next there is no batch. */
  virtual void BeforeFirst() = 0;
  virtual bool Next() = 0;
  virtual NDArray GetData() = 0;
  virtual NDArray GetLabel() = 0;
  virtual int GetPadNum() = 0;
  virtual std::vector<int> GetIndex() = 0;
  DataBatch GetDataBatch() {
    DataBatch batch;
    batch.data = GetData();
    batch.label = GetLabel();
    batch.pad_num = GetPadNum();
    batch.index = GetIndex();
    return batch;
  }
  void Reset() { BeforeFirst(); }
};

/* The native iterators by name. */
class MXDataIterMap {
 public:
  MXDataIterMap() {
    mx_uint count = 0;
    DataIterCreator* creators = nullptr;
    front_end::Check(MXListDataIters(&count, &creators));
    for (mx_uint i = 0; i < count; ++i) {
      const char *name = nullptr, *description = nullptr;
      const char **names = nullptr, **types = nullptr, **descriptions = nullptr;
      mx_uint num_args = 0;
      front_end::Check(MXDataIterGetIterInfo(creators[i], &name, &description, &num_args, &names, &types, &descriptions));
      creators_[name] = creators[i];
    }
  }
  /* Throws Error, which lists all names. */
  DataIterCreator GetMXDataIterCreator(const std::string& name) const {
    const auto found = creators_.find(name);
    std::string names;
    for (const auto& entry : creators_) names += (names.empty() ? "" : ", ") + entry.first;
    MXNET_CPP_NEED(found != creators_.end()) << "[MXDataIter] got '" << name << "'; accepted: " << names;
    return found->second;
  }

 private:
  std::map<std::string, DataIterCreator> creators_;
};

/* Owns a handle. */
struct MXDataIterBlob {
  MXDataIterBlob() : handle_(nullptr) {}
  explicit MXDataIterBlob(DataIterHandle handle) : handle_(handle) {}
  MXDataIterBlob(const MXDataIterBlob&) = delete;
  MXDataIterBlob& operator=(const MXDataIterBlob&) = delete;
  ~MXDataIterBlob() {
    if (handle_ != nullptr) MXDataIterFree(handle_);
  }
  DataIterHandle handle_;
};

/* A native iterator. Copies are the same iterator. */
class MXDataIter : public DataIter {
 public:
  explicit MXDataIter(const std::string& mxdataiter_type)
      : creator_(Iterators().GetMXDataIterCreator(mxdataiter_type)), blob_(std::make_shared<MXDataIterBlob>()) {}
  template <typename T>
  MXDataIter& SetParam(const std::string& name, const T& value) {
    params_[name] = front_end::ParamText(value);
    return *this;
  }
  /* Opens the files. Call it once the parameters are set. */
  MXDataIter CreateDataIter() {
    std::vector<const char*> keys, values;
    for (const auto& param : params_) {
      keys.push_back(param.first.c_str());
      values.push_back(param.second.c_str());
    }
    DataIterHandle handle = nullptr;
    front_end::Check(MXDataIterCreateIter(creator_, static_cast<mx_uint>(keys.size()), keys.data(), values.data(), &handle));
    if (!blob_) blob_ = std::make_shared<MXDataIterBlob>();  // moved away
    if (blob_->handle_ != nullptr) MXDataIterFree(blob_->handle_);
    blob_->handle_ = handle;
    return *this;
  }
  void BeforeFirst() override { front_end::Check(MXDataIterBeforeFirst(Handle())); }
  bool Next() override {
    int more = 0;
    front_end::Check(MXDataIterNext(Handle(), &more));
    return more != 0;
  }
  NDArray GetData() override {
    NDArrayHandle array = nullptr;
    front_end::Check(MXDataIterGetData(Handle(), &array));
    return NDArray(array);
  }
  NDArray GetLabel() override {
    NDArrayHandle array = nullptr;
    front_end::Check(MXDataIterGetLabel(Handle(), &array));
    return NDArray(array);
  }
  int GetPadNum() override {
    int pad = 0;
    front_end::Check(MXDataIterGetPadNum(Handle(), &pad));
    return pad;
  }
  std::vector<int> GetIndex() override {
    uint64_t* index = nullptr;
    uint64_t size = 0;
    front_end::Check(MXDataIterGetIndex(Handle(), &index, &size));
    return std::vector<int>(index, index + size);
  }

 private:
  static const MXDataIterMap& Iterators() {
    static const MXDataIterMap map;
    return map;
  }
  DataIterHandle Handle() const {
    MXNET_CPP_NEED(blob_ && blob_->handle_ != nullptr) << "[MXDataIter] there is no data yet: call CreateDataIter first";
    return blob_->handle_;
  }

  DataIterCreator creator_;
  std::map<std::string, std::string> params_;
  std::shared_ptr<MXDataIterBlob> blob_;
};

}  // namespace cpp
}  // namespace mxnet
#endif  // MXNET_CPP_IO_H_
