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

FileMap::FileMap(const std::string& path) : path_(path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  MXNET_CHECK_KIND(fd >= 0, IO) << "[onnx] cannot open " << path << ": " << std::strerror(errno);
  struct stat about;
  const bool regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
  void* data = nullptr;
  if (regular && about.st_size > 0) data = mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  const int error = errno;
  if (!regular || data == MAP_FAILED) close(fd);
  MXNET_CHECK_KIND(regular, IO) << "[onnx] " << path << " is not a file";
  MXNET_CHECK_KIND(data != MAP_FAILED, IO) << "[onnx] cannot map " << path << ": " << std::strerror(error);
  fd_ = fd;
  data_ = data;
  size_ = static_cast<size_t>(about.st_size);
}

FileMap::~FileMap() {
  if (data_) munmap(data_, size_);
  close(fd_);
}

void FileMap::Forget() const {
  if (data_) madvise(data_, size_, MADV_DONTNEED);
}

void FileMap::Read(size_t offset, void* to, size_t size) const {
  for (size_t done = 0; done < size;) {
    const ssize_t got = pread(fd_, static_cast<char*>(to) + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    MXNET_CHECK_KIND(got > 0, IO) << "[onnx] cannot read " << size << " bytes at " << offset << " of " << path_ << ": "
                                  << (got < 0 ? std::strerror(errno) : "the file is shorter now");
    done += static_cast<size_t>(got);
  }
}

}  // namespace onnx
}  // namespace mxnet
