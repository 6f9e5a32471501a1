#include "ndarray/stored_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "mxnet/error.h"

namespace mxnet {

StoredFile::StoredFile(const std::string& path, const char* who) : path_(path), who_(who) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  MXNET_CHECK_KIND(fd >= 0, IO) << "[" << who_ << "] cannot open " << path << ": " << std::strerror(errno);
  struct stat about;
  const bool regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
  if (!regular) close(fd);
  MXNET_CHECK_KIND(regular, IO) << "[" << who_ << "] " << path << " is not a file";
  changed_ = about.st_mtim;
  fd_ = fd;
  size_ = static_cast<size_t>(about.st_size);
}

StoredFile::~StoredFile() { close(fd_); }

void StoredFile::Read(size_t offset, void* to, size_t size) const {
  size_t done = 0;
  ssize_t got = 1;
  int error = 0;
  while (done < size && got > 0) {
    got = pread(fd_, static_cast<char*>(to) + done, size - done, static_cast<off_t>(offset + done));
    if (got > 0) done += static_cast<size_t>(got);
    if (got >= 0) continue;
    error = errno;
    if (error == EINTR) got = 1;
  }
  // After reading, for somebody may have written meanwhile.
  struct stat about;
  const bool same = fstat(fd_, &about) == 0 && about.st_mtim.tv_sec == changed_.tv_sec && about.st_mtim.tv_nsec == changed_.tv_nsec &&
                    static_cast<size_t>(about.st_size) == size_;
  MXNET_CHECK_KIND(same, IO) << "[" << who_ << "] " << path_ << " has changed since it was opened (" << size << " bytes at " << offset
                             << " were wanted); accepted: a file that stays as it is while its arrays are used, or is replaced by "
                             << "another of its name";
  MXNET_CHECK_KIND(done == size, IO) << "[" << who_ << "] cannot read " << size << " bytes at " << offset << " of " << path_ << ": "
                                     << (got < 0 ? std::strerror(error) : "the file is shorter now");
}

namespace {

class FileContents final : public StoredContents {
 public:
  FileContents(std::shared_ptr<const StoredFile> file, size_t begin, size_t size) : file_(std::move(file)), begin_(begin), size_(size) {}
  void Read(void* to) const override { file_->Read(begin_, to, size_); }
  bool HasParts() const override { return true; }
  void ReadPart(size_t offset, void* to, size_t size) const override { file_->Read(begin_ + offset, to, size); }

 private:
  const std::shared_ptr<const StoredFile> file_;
  const size_t begin_, size_;
};

class MemoryContents final : public StoredContents {
 public:
  MemoryContents(const char* bytes, size_t size, std::shared_ptr<const void> owner)
      : bytes_(bytes), size_(size), owner_(std::move(owner)) {}
  void Read(void* to) const override { std::memcpy(to, bytes_, size_); }
  bool HasParts() const override { return true; }
  void ReadPart(size_t offset, void* to, size_t size) const override { std::memcpy(to, bytes_ + offset, size); }

 private:
  const char* const bytes_;
  const size_t size_;
  const std::shared_ptr<const void> owner_;
};

}  // namespace

std::shared_ptr<StoredContents> StoredBytes::Contents(size_t begin, size_t n) const {
  if (file_) return std::make_shared<FileContents>(file_, begin, n);
  return owner_ ? std::make_shared<MemoryContents>(data_ + begin, n, owner_) : nullptr;
}

}  // namespace mxnet
