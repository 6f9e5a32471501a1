/* Files and memory whose parts are contents of arrays (ndarray/stored.h). */
#ifndef MXNET_NDARRAY_STORED_FILE_H_
#define MXNET_NDARRAY_STORED_FILE_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "ndarray/stored.h"

namespace mxnet {

/* A file that is read by parts. It is not mapped: a map ends the process where another has
 * shortened the file. */
class StoredFile {
 public:
  /* Throws Error(kIO): not there, not a file. `who` reads it: "onnx". */
  StoredFile(const std::string& path, const char* who);
  ~StoredFile();
  StoredFile(const StoredFile&) = delete;
  StoredFile& operator=(const StoredFile&) = delete;
  size_t size() const { return size_; }
  /* Throws Error(kIO) where the file has changed, also while it was read. */
  void Read(size_t offset, void* to, size_t size) const;

 private:
  const std::string path_;
  const char* const who_;
  int fd_ = -1;
  timespec changed_ = {};
  size_t size_ = 0;
};

/*
 * The bytes of a file, or some in memory. Of a file, those around the place that was read last are
 * kept. Reading throws Error(kIO) where the file has changed. REQUIRES: what is read lies inside.
 */
class StoredBytes {
 public:
  /* `owner` keeps them. Null: they are there as long as this is. */
  StoredBytes(const void* data, size_t size, std::shared_ptr<const void> owner)
      : data_(static_cast<const char*>(data)), size_(size), owner_(std::move(owner)) {}
  explicit StoredBytes(std::shared_ptr<const StoredFile> file) : size_(file->size()), file_(std::move(file)) {}
  size_t size() const { return size_; }
  const char* data() const { return data_; }  // null: of a file
  void CopyTo(void* to, size_t begin, size_t n) {
    if (n == 0) return;
    if (!data_ && n >= kWindow)
      file_->Read(begin, to, n);
    else
      std::memcpy(to, Few(begin, n), n);
  }
  /* Up to kWindow bytes, until others are read. */
  const char* Few(size_t begin, size_t n) {
    last_ = begin;
    if (data_) return data_ + begin;
    if (begin < window_at_ || begin + n > window_at_ + window_.size()) {
      window_.resize(std::min(kWindow, size_ - begin));
      file_->Read(begin, window_.data(), window_.size());
      window_at_ = begin;
    }
    return window_.data() + (begin - window_at_);
  }
  /* Where Few was last asked to read. */
  size_t last() const { return last_; }
  /* `n` of them as those of an array; null: nobody keeps them. */
  std::shared_ptr<StoredContents> Contents(size_t begin, size_t n) const;

  static constexpr size_t kWindow = 1 << 14;

 private:
  const char* data_ = nullptr;
  size_t size_ = 0, window_at_ = 0, last_ = 0;
  std::vector<char> window_;  // bytes of the file from window_at_ on
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const StoredFile> file_;
};

}  // namespace mxnet
#endif  // MXNET_NDARRAY_STORED_FILE_H_
