/*
 * RecordIO files: a sequence of byte strings. Whatever a reader is given, it
 * allocates no more than the file is long, and says at which byte a file is malformed.
 *
 * THREADS   One object is for one thread at a time.
 */
#ifndef MXNET_IO_RECORDIO_H_
#define MXNET_IO_RECORDIO_H_

#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "base/new_file.h"

namespace mxnet {

constexpr uint32_t kRecordMagic = 0xCED7230A;

class RecordWriter {
 public:
  /* The file takes its name when it is closed (base/new_file.h). Throws Error(kIO). `path` may
   * begin with file://. */
  explicit RecordWriter(const std::string& path);
  /* Closes it, unless an exception is on its way: then the file is given up. Errors go unseen here:
   * Close tells them. */
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;
  /* Throws Error(kValue) for 2^29 bytes or more, Error(kIO) when the file cannot take it. */
  void Write(const void* data, size_t size);
  /* Where the next record begins. */
  uint64_t Tell() const { return position_; }
  void Close();  // nothing happens the second time

 private:
  void Put(const void* data, size_t size);
  void PutPart(uint32_t flag, const char* data, size_t size);
  std::unique_ptr<NewFile> file_;
  const int exceptions_ = std::uncaught_exceptions();
  uint64_t position_ = 0;
};

class RecordReader {
 public:
  explicit RecordReader(const std::string& path);
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;
  /* False at the end. Throws Error(kIO) with the byte offset; the reader then stands where it did
   * before. */
  bool Read(std::string* record);
  /* To the beginning of a record, as Tell gave it. Throws Error(kIO) beyond the end. */
  void Seek(uint64_t position);
  uint64_t Tell() const { return position_; }

 private:
  std::string path_;
  std::FILE* file_;
  uint64_t position_ = 0;
};

}  // namespace mxnet
#endif  // MXNET_IO_RECORDIO_H_
