#include "onnx/file_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "mxnet/error.h"

namespace mxnet {
namespace onnx {

FileMap::FileMap(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  MXNET_CHECK_KIND(fd >= 0, IO) << "[onnx] cannot open " << path << ": " << std::strerror(errno);
  struct stat about;
  const bool regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
  void* data = nullptr;
  if (regular && about.st_size > 0) data = mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  const int error = errno;
  close(fd);
  MXNET_CHECK_KIND(regular, IO) << "[onnx] " << path << " is not a file";
  MXNET_CHECK_KIND(data != MAP_FAILED, IO) << "[onnx] cannot map " << path << ": " << std::strerror(error);
  data_ = data;
  size_ = static_cast<size_t>(about.st_size);
}

FileMap::~FileMap() {
  if (data_) munmap(data_, size_);
}

void FileMap::Forget(const void* from, size_t size) const {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)),
                  begin = (reinterpret_cast<uintptr_t>(from) + page - 1) / page * page,
                  end = (reinterpret_cast<uintptr_t>(from) + size) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace onnx
}  // namespace mxnet
