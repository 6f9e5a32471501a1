#include "ndarray/stored_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "mxnet/error.h"

namespace mxnet {

FileMap::FileMap(const std::string& path, const char* who) : path_(path), who_(who) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  MXNET_CHECK_KIND(fd >= 0, IO) << "[" << who_ << "] cannot open " << path << ": " << std::strerror(errno);
  struct stat about;
  const bool regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
  void* data = nullptr;
  if (regular && about.st_size > 0) data = mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  const int error = errno;
  if (!regular || data == MAP_FAILED) close(fd);
  MXNET_CHECK_KIND(regular, IO) << "[" << who_ << "] " << path << " is not a file";
  MXNET_CHECK_KIND(data != MAP_FAILED, IO) << "[" << who_ << "] cannot map " << path << ": " << std::strerror(error);
  changed_ = about.st_mtim;
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
  struct stat about;
  const bool same = fstat(fd_, &about) == 0 && about.st_mtim.tv_sec == changed_.tv_sec && about.st_mtim.tv_nsec == changed_.tv_nsec;
  MXNET_CHECK_KIND(same, IO) << "[" << who_ << "] " << path_ << " has changed since it was opened; accepted: a file that stays as it is "
                             << "while its arrays are used, or is replaced by another of its name";
  for (size_t done = 0; done < size;) {
    const ssize_t got = pread(fd_, static_cast<char*>(to) + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    MXNET_CHECK_KIND(got > 0, IO) << "[" << who_ << "] cannot read " << size << " bytes at " << offset << " of " << path_ << ": "
                                  << (got < 0 ? std::strerror(errno) : "the file is shorter now");
    done += static_cast<size_t>(got);
  }
}

namespace {

class FileContents final : public StoredContents {
 public:
  FileContents(const void* bytes, size_t size, std::shared_ptr<const void> owner, const FileMap* map)
      : bytes_(bytes), size_(size), owner_(std::move(owner)), map_(map) {}
  void Read(void* to) const override { ReadPart(0, to, size_); }
  bool HasParts() const override { return true; }
  void ReadPart(size_t offset, void* to, size_t size) const override {
    const char* const from = static_cast<const char*>(bytes_) + offset;
    if (map_)
      map_->Read(static_cast<size_t>(from - map_->data()), to, size);
    else
      std::memcpy(to, from, size);
  }

 private:
  const void* const bytes_;
  const size_t size_;
  const std::shared_ptr<const void> owner_;
  const FileMap* const map_;  // which `owner_` keeps
};

}  // namespace

std::shared_ptr<StoredContents> StoredBytes(const void* bytes, size_t size, std::shared_ptr<const void> owner, const FileMap* map) {
  return std::make_shared<FileContents>(bytes, size, std::move(owner), map);
}

}  // namespace mxnet
