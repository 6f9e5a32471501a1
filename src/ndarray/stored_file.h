/* Files whose parts are contents of arrays (ndarray/stored.h). */
#ifndef MXNET_NDARRAY_STORED_FILE_H_
#define MXNET_NDARRAY_STORED_FILE_H_

#include <cstddef>
#include <ctime>
#include <memory>
#include <string>

#include "ndarray/stored.h"

namespace mxnet {

/* A file's bytes in memory, read when they are touched. */
class FileMap {
 public:
  /* Throws Error(kIO): not there, not a file. `who` reads it: "onnx". */
  FileMap(const std::string& path, const char* who);
  ~FileMap();
  FileMap(const FileMap&) = delete;
  FileMap& operator=(const FileMap&) = delete;
  const char* data() const { return static_cast<const char*>(data_); }
  size_t size() const { return size_; }
  /* Gives the pages back; they are read again when somebody touches them. */
  void Forget() const;
  /* The file's bytes from data() + offset on, without touching the map. Throws Error(kIO) where
   * the file has changed. */
  void Read(size_t offset, void* to, size_t size) const;

 private:
  const std::string path_;
  const char* const who_;
  int fd_ = -1;
  timespec changed_ = {};
  void* data_ = nullptr;
  size_t size_ = 0;
};

/* `size` bytes from `bytes` on, which lie in the map, or in memory that `owner` keeps (then the map
 * is null). */
std::shared_ptr<StoredContents> StoredBytes(const void* bytes, size_t size, std::shared_ptr<const void> owner, const FileMap* map);

}  // namespace mxnet
#endif  // MXNET_NDARRAY_STORED_FILE_H_
