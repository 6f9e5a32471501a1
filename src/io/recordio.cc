#include "io/recordio.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/new_file.h"
#include "base/round_up.h"
#include "mxnet/error.h"

namespace mxnet {
namespace {

constexpr uint32_t kLengthBits = 29;
constexpr uint32_t kMaxLength = (1u << kLengthBits) - 1;
enum Flag : uint32_t { kWhole = 0, kBegin = 1, kMiddle = 2, kEnd = 3 };

std::FILE* Open(const std::string& path) {
  std::FILE* f = std::fopen(path.c_str(), "rb");
  MXNET_CHECK_KIND(f != nullptr, IO) << "[RecordIO] cannot open " << path << ": " << std::strerror(errno);
  struct stat info;
  if (fstat(fileno(f), &info) != 0 || !S_ISREG(info.st_mode)) {
    std::fclose(f);
    MXNET_THROW(IO) << "[RecordIO] " << path << " is no regular file";
  }
  return f;
}

}  // namespace

RecordWriter::RecordWriter(const std::string& path) : file_(std::make_unique<NewFile>("RecordIO", path)) {}

RecordWriter::~RecordWriter() {
  if (std::uncaught_exceptions() != exceptions_) return;
  try {
    Close();
  } catch (const Error&) {
    // NewFile has left the old file in its place
  }
}

void RecordWriter::Close() {
  const std::unique_ptr<NewFile> file = std::move(file_);
  if (file) file->Commit();
}

void RecordWriter::Put(const void* data, size_t size) {
  MXNET_CHECK_KIND(file_, IO) << "[RecordIO] the writer is closed; accepted: an open one";
  file_->Write(data, size);
  position_ += size;
}

void RecordWriter::PutPart(uint32_t flag, const char* data, size_t size) {
  const uint32_t head[2] = {kRecordMagic, flag << kLengthBits | static_cast<uint32_t>(size)};
  Put(head, sizeof(head));
  Put(data, size);
  const char zeros[4] = {0, 0, 0, 0};
  Put(zeros, (4 - size % 4) % 4);
}

void RecordWriter::Write(const void* data, size_t size) {
  MXNET_CHECK_KIND(size <= kMaxLength, Value) << "[RecordIO] a record of " << size << " bytes; accepted: at most " << kMaxLength;
  // An aligned magic number in the payload would look like the head of a record: the payload is cut
  // there and the number left out.
  const char* p = static_cast<const char*>(data);
  size_t from = 0;
  for (size_t at = 0; at + 4 <= size; at += 4) {
    if (std::memcmp(p + at, &kRecordMagic, 4) != 0) continue;
    PutPart(from == 0 ? kBegin : kMiddle, p + from, at - from);
    from = at + 4;
  }
  PutPart(from == 0 ? kWhole : kEnd, p + from, size - from);
}

RecordReader::RecordReader(const std::string& path) : path_(LocalPath(path)), file_(Open(path_)) {}

RecordReader::~RecordReader() {
  if (file_) std::fclose(file_);
}

void RecordReader::Seek(uint64_t position) {
  struct stat info;
  MXNET_CHECK_KIND(fstat(fileno(file_), &info) == 0 && position <= static_cast<uint64_t>(info.st_size), IO)
      << "[RecordIO] " << path_ << " has " << info.st_size << " bytes; position " << position << " is beyond its end";
  MXNET_CHECK_KIND(fseeko(file_, static_cast<off_t>(position), SEEK_SET) == 0, IO)
      << "[RecordIO] cannot go to byte " << position << " of " << path_ << ": " << std::strerror(errno);
  position_ = position;
}

bool RecordReader::Read(std::string* record) {
  record->clear();
  const uint64_t start = position_;
  struct stat info;
  MXNET_CHECK_KIND(fstat(fileno(file_), &info) == 0, IO) << "[RecordIO] cannot tell the size of " << path_ << ": " << std::strerror(errno);
  const uint64_t file_size = static_cast<uint64_t>(info.st_size);
  if (start >= file_size) {
    std::clearerr(file_);  // the file may grow
    return false;
  }
  uint64_t at = start;
  auto fail = [&](const std::string& what) {
    fseeko(file_, static_cast<off_t>(start), SEEK_SET);
    record->clear();
    MXNET_THROW(IO) << "[RecordIO] " << path_ << ", byte " << at << ": " << what;
  };
  for (bool first = true;; first = false) {
    uint32_t head[2];
    if (file_size - at < sizeof(head))
      fail("the file ends inside the head of a record; 8 bytes are needed, " + std::to_string(file_size - at) + " are left");
    if (std::fread(head, 1, sizeof(head), file_) != sizeof(head)) fail("cannot be read");
    if (head[0] != kRecordMagic) {
      char text[16];
      std::snprintf(text, sizeof(text), "0x%08x", head[0]);
      fail(std::string("found ") + text + " where a record must begin with 0xced7230a");
    }
    const uint32_t flag = head[1] >> kLengthBits, length = head[1] & kMaxLength;
    if (first ? flag != kWhole && flag != kBegin : flag != kMiddle && flag != kEnd)
      fail("continuation flag " + std::to_string(flag) +
           (first ? "; a record begins with 0 or 1" : "; a record that has begun goes on with 2 or 3"));
    at += sizeof(head);
    const uint64_t padded = RoundUp(uint64_t{length}, 4);
    if (file_size - at < padded)
      fail("a part of " + std::to_string(length) + " bytes, padded to 4, does not fit into the " + std::to_string(file_size - at) +
           " bytes that are left");
    const size_t before = record->size();
    record->resize(before + padded);
    if (std::fread(&(*record)[before], 1, padded, file_) != padded) fail("cannot be read");
    record->resize(before + length);
    at += padded;
    if (flag == kWhole || flag == kEnd) break;
    record->append(reinterpret_cast<const char*>(&kRecordMagic), 4);  // what the writer left out
  }
  position_ = at;
  return true;
}

}  // namespace mxnet
