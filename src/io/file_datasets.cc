// Datasets of records and of image files.
#include <sys/types.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "io/recordio.h"
#include "io/register_iter.h"
#include "io/text_lines.h"
#include "mxnet/imperative.h"

namespace mxnet {
namespace {

NDArray ArrayOf(const void* bytes, int64_t count, int dtype) {
  NDArray array(Shape({count}), Context::CPU(), dtype);
  array.CopyBytesFrom(bytes, static_cast<size_t>(count) * DTypeSize(dtype));
  return array;
}

/* An operator's only result, without a tape. */
NDArray RunOp(const char* name, const std::vector<std::pair<const char*, std::string>>& params, std::vector<NDArray*> inputs) {
  std::vector<const char*> keys, values;
  for (const auto& param : params) {
    keys.push_back(param.first);
    values.push_back(param.second.c_str());
  }
  const auto computing = ImperativeScope::Computing();
  NDArray result;
  Imperative::Invoke(Imperative::GetAttrs(Op::Get(name), static_cast<int>(keys.size()), keys.data(), values.data()), inputs, {&result});
  return result;
}

constexpr const char* kDecode = "_cvimdecode";   // operator-name: programs decode with it
constexpr const char* kReadImage = "_cvimread";  // operator-name: programs read with it

/* flag 0: gray, else red, green and blue. */
NDArray Decode(const void* bytes, size_t size, int flag) {
  NDArray buffer = ArrayOf(bytes, static_cast<int64_t>(size), kUint8);
  return RunOp(kDecode, {{"flag", std::to_string(flag)}, {"to_rgb", "1"}}, {&buffer});
}

struct RecordFileParam : public Parameter<RecordFileParam> {
  std::string rec_file, idx_file;
  MXNET_DECLARE_PARAM(RecordFileParam) {
    MXNET_FIELD(rec_file).describe("The RecordIO file.");
    MXNET_FIELD(idx_file).describe("Its index: in each line a record's number, a tab, and the byte at which it begins.");
  }
};
MXNET_REGISTER_PARAM(RecordFileParam);

struct ImageFlagParam : public Parameter<ImageFlagParam> {
  int flag;
  MXNET_DECLARE_PARAM(ImageFlagParam) {
    MXNET_FIELD(flag).set_default(1).describe("1: images of three channels, red first; 0: of one channel.");
  }
};
MXNET_REGISTER_PARAM(ImageFlagParam);

class RecordFileDataset : public Dataset {
 public:
  RecordFileDataset(const std::string& function, const RecordFileParam& param) : file_(param.rec_file), process_(getpid()) {
    TextLines index(function, param.idx_file);
    while (const std::string* line = index.Next()) {
      const char* at = line->data();
      const char* const end = at + line->size();
      int64_t number, begin;
      const bool good = ReadNumber(&at, end, &number) && ReadNumber(&at, end, &begin) && begin >= 0;
      MXNET_CHECK_KIND(good, Value) << "[" << function << "] " << index.Place() << ": '" << Shown(line->data(), end)
                                    << "'; accepted: a record's number, a tab, and the byte at which it begins";
      begins_.push_back(static_cast<uint64_t>(begin));
    }
    reader_ = std::make_unique<RecordReader>(file_);
  }
  uint64_t Size() const override { return begins_.size(); }
  std::vector<NDArray> Item(uint64_t index) const override {
    const std::string record = Record(index);
    return {ArrayOf(record.data(), static_cast<int64_t>(record.size()), kInt8)};
  }

 protected:
  std::string Record(uint64_t index) const {
    std::string record;
    bool some;
    if (getpid() != process_) {  // the parent's file position, and its lock, are not ours
      RecordReader reader(file_);
      reader.Seek(begins_[index]);
      some = reader.Read(&record);
    } else {
      std::lock_guard<std::mutex> hold(mutex_);
      reader_->Seek(begins_[index]);
      some = reader_->Read(&record);
    }
    MXNET_CHECK_KIND(some, IO) << "[RecordFileDataset] " << file_ << " has no record at byte " << begins_[index];
    return record;
  }
  std::string Place(uint64_t index) const {
    return file_ + ", record " + std::to_string(index) + " at byte " + std::to_string(begins_[index]);
  }
  const std::string file_;

 private:
  const pid_t process_;
  std::vector<uint64_t> begins_;
  mutable std::mutex mutex_;  // guards the reader
  std::unique_ptr<RecordReader> reader_;
};

MXNET_REGISTER_DATASET(RecordFileDataset)
    .describe("The records of a RecordIO file as arrays of bytes.")
    .set_param<RecordFileParam>()
    .set_make([](const IterArguments& given) -> std::shared_ptr<Dataset> {
      RecordFileParam param;
      ReadParams("RecordFileDataset", given, &param);
      return std::make_shared<RecordFileDataset>("RecordFileDataset", param);
    });

class ImageRecordFileDataset : public RecordFileDataset {
 public:
  ImageRecordFileDataset(const RecordFileParam& param, int flag) : RecordFileDataset("ImageRecordFileDataset", param), flag_(flag) {}

  std::vector<NDArray> Item(uint64_t index) const override {
    struct Head {  // of a packed record; `count` labels follow it, or none: `label` is the only one
      uint32_t count;
      float label;
      uint64_t id[2];
    } head;
    const std::string record = Record(index);
    const char* at = record.data();
    const bool whole = record.size() >= sizeof(head);
    if (whole) std::memcpy(&head, at, sizeof(head));
    MXNET_CHECK_KIND(whole && head.count <= (record.size() - sizeof(head)) / sizeof(float), Value)
        << "[ImageRecordFileDataset] " << Place(index) << ": " << record.size() << " bytes hold no packed image";
    at += sizeof(head);
    NDArray label;
    if (head.count == 0) {
      label = ArrayOf(&head.label, 1, kFloat32).Reshape(Shape(std::vector<int64_t>()));
    } else {
      label = ArrayOf(at, head.count, kFloat32);
      at += head.count * sizeof(float);
    }
    try {
      NDArray image = Decode(at, static_cast<size_t>(record.data() + record.size() - at), flag_);
      image.WaitToRead();  // an error of decoding comes here
      return {image, label};
    } catch (const Error& error) {
      throw Error(error.kind(), "[ImageRecordFileDataset] " + Place(index) + ": " + error.what());
    }
  }

 private:
  const int flag_;
};

MXNET_REGISTER_DATASET(ImageRecordFileDataset)
    .describe("The images of a RecordIO file, of shape (height, width, channels), with their labels.")
    .set_param<RecordFileParam, ImageFlagParam>()
    .set_make([](const IterArguments& given) -> std::shared_ptr<Dataset> {
      RecordFileParam param;
      ImageFlagParam image;
      ReadParams("ImageRecordFileDataset", given, &param, &image);
      return std::make_shared<ImageRecordFileDataset>(param, image.flag);
    });

struct ImageSequenceParam : public Parameter<ImageSequenceParam> {
  std::string img_list;
  char path_sep;
  int flag;
  MXNET_DECLARE_PARAM(ImageSequenceParam) {
    MXNET_FIELD(img_list).describe("Paths of image files.");
    MXNET_FIELD(path_sep).set_default('|').describe("What stands between the paths.");
    MXNET_FIELD(flag).set_default(1).describe("1: images of three channels, red first; 0: of one channel.");
  }
};
MXNET_REGISTER_PARAM(ImageSequenceParam);

class ImageSequenceDataset : public Dataset {
 public:
  explicit ImageSequenceDataset(const ImageSequenceParam& param) : flag_(param.flag) {
    for (size_t at = 0; at < param.img_list.size();) {
      const size_t next = std::min(param.img_list.find(param.path_sep, at), param.img_list.size());
      paths_.push_back(param.img_list.substr(at, next - at));
      at = next + 1;
    }
  }
  uint64_t Size() const override { return paths_.size(); }
  std::vector<NDArray> Item(uint64_t index) const override {
    return {RunOp(kReadImage, {{"filename", paths_[index]}, {"flag", std::to_string(flag_)}, {"to_rgb", "1"}}, {})};
  }

 private:
  std::vector<std::string> paths_;
  const int flag_;
};

MXNET_REGISTER_DATASET(ImageSequenceDataset)
    .describe("Image files as arrays of shape (height, width, channels).")
    .set_param<ImageSequenceParam>()
    .set_make([](const IterArguments& given) -> std::shared_ptr<Dataset> {
      ImageSequenceParam param;
      ReadParams("ImageSequenceDataset", given, &param);
      return std::make_shared<ImageSequenceDataset>(param);
    });

}  // namespace
}  // namespace mxnet
