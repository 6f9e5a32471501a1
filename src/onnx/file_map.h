/* A file's bytes in memory, read when they are touched. */
#ifndef MXNET_ONNX_FILE_MAP_H_
#define MXNET_ONNX_FILE_MAP_H_

#include <cstddef>
#include <memory>
#include <string>

namespace mxnet {
namespace onnx {

class FileMap {
 public:
  /* Throws Error(kIO): not there, not a file. */
  explicit FileMap(const std::string& path);
  ~FileMap();
  FileMap(const FileMap&) = delete;
  FileMap& operator=(const FileMap&) = delete;
  const char* data() const { return static_cast<const char*>(data_); }
  size_t size() const { return size_; }
  /* Gives the pages back; they are read again when somebody touches them. */
  void Forget() const;
  /* The file's bytes from data() + offset on, without touching the map. Throws Error(kIO) where
   * the file has become shorter. */
  void Read(size_t offset, void* to, size_t size) const;

 private:
  const std::string path_;
  int fd_ = -1;
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_FILE_MAP_H_
