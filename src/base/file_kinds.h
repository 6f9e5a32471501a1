/* What a file is, told by its first bytes, and what opens it. Readers ask here when a file is not
 * theirs, so that a `.pt` given to one of ONNX models is an error that names both. */
#ifndef MXNET_BASE_FILE_KINDS_H_
#define MXNET_BASE_FILE_KINDS_H_

#include <cstddef>
#include <string>

namespace mxnet {

struct FileKind {
  const char* name;       // "torch"
  const char* what;       // it in words: "a PyTorch file (.pt, .pth or .bin)"
  const char* in_python;  // what a Python program does with it
  const char* in_c;       // what a program in C or C++ does; null: as `in_python` says
};

/* The kind of these bytes, a whole file or its first 512 bytes, or null for what has no sign. A zip
 * archive is looked into if its list is there, and is "zip" else. */
const FileKind* KindOfBytes(const void* bytes, size_t size);
/* The kind of a file or a folder; null for what has no sign, is not there, or is neither. An
 * archive that is damaged is what its name says. */
const FileKind* KindOfFile(const std::string& path);
/* The kind of a name; null: there is none. */
const FileKind* KindOfName(const std::string& name);

/* Throws Error(kIO) if `kind` is known and its name is none of those in `own`, which stand between
 * spaces: " onnx ". `who` reads files that `accepted` names; `file` is what to call this one. */
void RefuseKind(const FileKind* kind, const char* own, const char* who, const std::string& file, const char* accepted);

}  // namespace mxnet
#endif  // MXNET_BASE_FILE_KINDS_H_
