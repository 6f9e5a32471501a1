/*
 * Files that are written as a whole: what the library saves goes through here.
 *
 * A reader of the name sees the old contents or the new ones, never a part: a new file is written
 * beside the old one and renamed when it is complete. It has the mode and the owner of the file
 * that it replaces.
 *
 * What must stay the same file is written in place:
 *   - what is not a regular file (a device, a pipe, a socket);
 *   - an existing file of no bytes, since somebody may hold it open (tempfile.NamedTemporaryFile);
 *   - a file beside which nothing can be made, or whose owner could not be kept.
 * A symbolic link stays: the file that it leads to is written.
 */
#ifndef MXNET_BASE_NEW_FILE_H_
#define MXNET_BASE_NEW_FILE_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdio>
#include <string>

namespace mxnet {

/* The path that `uri` names: file:///a/b is /a/b. Whoever opens what a user named asks here. */
std::string LocalPath(const std::string& uri);

class NewFile {
 public:
  /* `module` begins the messages. Throws Error(kIO). */
  NewFile(const std::string& module, const std::string& path);
  /* A file without Commit is given up: the old one stays. A forked child's copy touches nothing. */
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /* Buffered. Throws Error(kIO); the file is given up then. */
  void Write(const void* data, size_t size);
  void Write(const std::string& bytes) { Write(bytes.data(), bytes.size()); }
  /* Puts the file in its place. Throws Error(kIO); the old file is still there then. */
  void Commit();
  const std::string& path() const { return path_; }

 private:
  void Open();
  bool OpenSideStream(const struct stat* old);
  void OpenInPlace(int flags);
  void Discard();
  [[noreturn]] void Fail(int error);

  const std::string module_, path_;
  std::string target_, temporary_;  // what `path_` leads to; empty: written in place
  std::FILE* file_ = nullptr;
  bool was_empty_ = false;
  const pid_t owner_;
};

}  // namespace mxnet
#endif  // MXNET_BASE_NEW_FILE_H_
