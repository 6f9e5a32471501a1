#include "base/new_file.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "mxnet/error.h"

namespace mxnet {
namespace {

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

// Follows symbolic links, also those that lead to a file which does not exist yet.
std::string Follow(std::string path) {
  for (int i = 0; i < 40; ++i) {
    char to[PATH_MAX];
    const ssize_t size = readlink(path.c_str(), to, sizeof(to));
    if (size <= 0 || size == static_cast<ssize_t>(sizeof(to))) break;
    const std::string next(to, static_cast<size_t>(size));
    path = next[0] == '/' ? next : FolderOf(path) + next;
  }
  return path;
}

bool KeepOwnerAndMode(int fd, const struct stat& old) {
  struct stat made;
  if (fstat(fd, &made) != 0) return false;
  const bool same = made.st_uid == old.st_uid && made.st_gid == old.st_gid;
  return (same || fchown(fd, old.st_uid, old.st_gid) == 0) && fchmod(fd, old.st_mode & 07777) == 0;
}

}  // namespace

std::string LocalPath(const std::string& uri) { return uri.compare(0, 7, "file://") == 0 ? uri.substr(7) : uri; }

NewFile::NewFile(const std::string& module, const std::string& path)
    : module_(module), path_(LocalPath(path)), target_(Follow(path_)), owner_(getpid()) {
  Open();
}

NewFile::~NewFile() {
  if (file_) Discard();
}

void NewFile::Fail(int error) {
  MXNET_THROW(IO) << "[" << module_ << "] cannot write '" << path_ << "': " << std::strerror(error)
                  << "; accepted: the name of a file that can be written";
}

void NewFile::Open() {
  struct stat old;
  const bool exists = stat(target_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) return OpenInPlace(O_WRONLY);
  was_empty_ = exists && old.st_size == 0;
  if (was_empty_) return OpenInPlace(O_WRONLY);
  // A file that the caller may not write is not replaced either.
  if (exists && access(target_.c_str(), W_OK) != 0) Fail(errno);
  if (!OpenSideStream(exists ? &old : nullptr)) OpenInPlace(O_WRONLY | O_CREAT | O_TRUNC);
}

bool NewFile::OpenSideStream(const struct stat* old) {
  static std::atomic<unsigned> serial{0};
  int fd = -1;
  do {
    // Not made of the target's name, which may be as long as names can be.
    temporary_ = FolderOf(target_) + ".mxnet-" + std::to_string(owner_) + "-" + std::to_string(serial++) + ".part";
    fd = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EEXIST);
  const bool kept = fd >= 0 && (!old || KeepOwnerAndMode(fd, *old));
  file_ = kept ? fdopen(fd, "wb") : nullptr;
  if (file_) return true;
  if (fd >= 0) {
    close(fd);
    unlink(temporary_.c_str());
  }
  temporary_.clear();
  return false;
}

void NewFile::OpenInPlace(int flags) {
  const int fd = open(target_.c_str(), flags | O_CLOEXEC, 0666);
  if (fd < 0) Fail(errno);
  file_ = fdopen(fd, "wb");
  if (file_) return;
  const int error = errno;
  close(fd);
  Fail(error);
}

void NewFile::Discard() {
  std::FILE* file = file_;
  file_ = nullptr;
  if (owner_ != getpid()) return;  // not even closed: that would write what is buffered
  std::fclose(file);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  // Where truncating fails, there is nothing more to do.
  if (was_empty_ && truncate(target_.c_str(), 0) != 0) return;
}

void NewFile::Write(const void* data, size_t size) {
  MXNET_CHECK_KIND(file_, IO) << "[" << module_ << "] '" << path_
                              << "' was given up after an error, or is closed; accepted: a file that is being written";
  if (size == 0 || std::fwrite(data, 1, size, file_) == size) return;
  const int error = errno;
  Discard();
  Fail(error);
}

void NewFile::Commit() {
  if (!file_) Fail(EBADF);
  if (std::fflush(file_) != 0) {
    const int error = errno;
    Discard();
    Fail(error);
  }
  std::FILE* file = file_;
  file_ = nullptr;
  const bool closed = std::fclose(file) == 0;
  if (closed && (temporary_.empty() || std::rename(temporary_.c_str(), target_.c_str()) == 0)) return;
  const int error = errno;
  if (!temporary_.empty()) unlink(temporary_.c_str());
  Fail(error);
}

}  // namespace mxnet
