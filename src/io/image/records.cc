// Records of RecordIO files: one after the other, or by an index.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/new_file.h"
#include "base/round_up.h"
#include "io/image/pipeline.h"
#include "io/recordio.h"
#include "mxnet/error.h"

namespace mxnet {
namespace image {
namespace {

constexpr uint64_t kBlock = 2 << 20;          // bytes that are read at once
constexpr uint64_t kShuffleBlock = 32 << 20;  // within which records are shuffled without an index
constexpr uint64_t kHead = 8;
constexpr uint64_t kAlign = 4;  // records begin at multiples of it
constexpr uint32_t kLengthMask = (1u << 29) - 1;
enum Flag : uint32_t { kWhole, kBegin, kMiddle, kEnd };

struct File {
  std::string path;
  int descriptor = -1;
  uint64_t begin = 0, size = 0;  // place in the sequence of all files
  ~File() {
    if (descriptor >= 0) close(descriptor);
  }
};

// The files as one sequence of bytes.
class Files {
 public:
  Files(const std::string& function, const std::string& paths) : function_(function) {
    std::istringstream all(paths);
    for (std::string path; std::getline(all, path, ';');) {
      if (!path.empty()) Open(LocalPath(path));
    }
    MXNET_CHECK_KIND(!files_.empty(), Value) << "[" << function_ << "] path_imgrec='" << paths << "'; accepted: a RecordIO file";
  }
  uint64_t size() const { return size_; }
  const File& At(uint64_t place) const {
    size_t i = 0;
    while (i + 1 < files_.size() && place >= files_[i + 1]->begin) ++i;
    return *files_[i];
  }
  const File& only() const { return *files_[0]; }
  size_t count() const { return files_.size(); }
  const std::string& function() const { return function_; }

  // Reads `n` bytes that lie in one file.
  void Read(const File& file, uint64_t offset, char* to, uint64_t n) const {
    for (uint64_t got = 0; got < n;) {
      const ssize_t r = pread(file.descriptor, to + got, n - got, static_cast<off_t>(offset + got));
      if (r < 0 && errno == EINTR) continue;
      MXNET_CHECK_KIND(r >= 0, IO) << "[" << function_ << "] cannot read " << Place(file, offset + got) << ": "
                                   << std::generic_category().message(errno);
      MXNET_CHECK_KIND(r > 0, IO) << "[" << function_ << "] " << Place(file, offset + got) << ": the file has become shorter";
      got += static_cast<uint64_t>(r);
    }
  }
  static std::string Place(const File& file, uint64_t offset) { return "'" + file.path + "' at byte " + std::to_string(offset); }

 private:
  void Open(const std::string& path) {
    auto file = std::make_unique<File>();
    file->path = path;
    file->descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    MXNET_CHECK_KIND(file->descriptor >= 0, IO)
        << "[" << function_ << "] cannot open '" << path << "': " << std::generic_category().message(errno);
    struct stat info;
    MXNET_CHECK_KIND(fstat(file->descriptor, &info) == 0 && S_ISREG(info.st_mode), IO)
        << "[" << function_ << "] '" << path << "' is no regular file";
    file->begin = size_, file->size = static_cast<uint64_t>(info.st_size);
    size_ += file->size;
    files_.push_back(std::move(file));
  }

  const std::string function_;
  std::vector<std::unique_ptr<File>> files_;
  uint64_t size_ = 0;
};

struct Head {
  uint32_t flag, length;
};

/* Throws Error unless the 8 bytes are the head of a part of a record that fits into the file. */
Head ReadHead(const Files& files, const File& file, uint64_t offset, const char* bytes) {
  uint32_t words[2];
  std::memcpy(words, bytes, sizeof(words));
  const Head head{words[1] >> 29, words[1] & kLengthMask};
  MXNET_CHECK_KIND(words[0] == kRecordMagic && head.flag <= kEnd, IO)
      << "[" << files.function() << "] " << Files::Place(file, offset) << ": no RecordIO record begins here";
  MXNET_CHECK_KIND(offset + kHead + head.length <= file.size, IO)
      << "[" << files.function() << "] " << Files::Place(file, offset) << ": a record of " << head.length
      << " bytes, but the file ends after " << file.size - std::min(file.size, offset + kHead);
  return head;
}

// Bytes of a file that were read at once. A window slides over them.
struct Block {
  std::shared_ptr<char> bytes;
  uint64_t offset = 0, size = 0;  // in the file
};

// Records that begin in [begin, end) of the sequence of all files.
class Range {
 public:
  explicit Range(const Files& files) : files_(files) {}
  void Start(uint64_t begin, uint64_t end) {
    end_ = end;
    place_ = FirstRecord(begin);
  }
  bool Read(Record* record) {
    while (place_ < end_) {
      const File& file = files_.At(place_);
      const uint64_t offset = place_ - file.begin;
      if (offset >= file.size) return false;
      try {
        ReadAt(file, offset, record);
      } catch (...) {
        place_ = end_;  // where the next one begins is not known
        throw;
      }
      return true;
    }
    return false;
  }

 private:
  // At least n bytes from `offset` of the file, or all that there are.
  const char* Bytes(const File& file, uint64_t offset, uint64_t n) {
    n = std::min(n, file.size - offset);
    if (block_file_ != &file || offset < block_.offset || offset + n > block_.offset + block_.size) {
      const uint64_t size = std::min(file.size - offset, std::max(kBlock, n));
      Block next{std::shared_ptr<char>(new char[size], std::default_delete<char[]>()), offset, size};
      files_.Read(file, offset, next.bytes.get(), size);
      block_ = std::move(next);
      block_file_ = &file;
    }
    return block_.bytes.get() + (offset - block_.offset);
  }

  void ReadAt(const File& file, uint64_t offset, Record* record) {
    std::shared_ptr<std::string> joined;  // of a record in several parts
    record->file = &file.path, record->offset = offset;
    for (bool first = true;; first = false) {
      MXNET_CHECK_KIND(offset + kHead <= file.size, IO)
          << "[" << files_.function() << "] " << Files::Place(file, offset) << ": the file ends in the middle of a record";
      const Head head = ReadHead(files_, file, offset, Bytes(file, offset, kHead));
      MXNET_CHECK_KIND((head.flag == kWhole || head.flag == kBegin) == first, IO)
          << "[" << files_.function() << "] " << Files::Place(file, offset) << ": parts of a record are missing";
      const char* data = Bytes(file, offset, kHead + head.length) + kHead;
      offset += kHead + RoundUp(head.length, kAlign);
      if (head.flag == kWhole) {
        record->data = data, record->size = head.length, record->hold = block_.bytes;
        break;
      }
      if (first) {
        joined = std::make_shared<std::string>();
      } else {
        joined->append(reinterpret_cast<const char*>(&kRecordMagic), 4);  // it was cut out here
      }
      joined->append(data, head.length);
      if (head.flag != kEnd) continue;
      record->data = joined->data(), record->size = joined->size(), record->hold = joined;
      break;
    }
    place_ = file.begin + std::min(offset, file.size);
  }

  // Where the first record begins that does not begin before `place`.
  uint64_t FirstRecord(uint64_t place) {
    if (place >= files_.size()) return files_.size();
    const File& file = files_.At(place);
    uint64_t offset = RoundUp(place - file.begin, kAlign);
    if (offset == 0) return place;
    for (; offset + kHead <= file.size; offset += 4) {
      const char* bytes = Bytes(file, offset, kHead);
      uint32_t words[2];
      std::memcpy(words, bytes, sizeof(words));
      if (words[0] == kRecordMagic && words[1] >> 29 <= kBegin) return file.begin + offset;
    }
    return file.begin + file.size;
  }

  const Files& files_;
  Block block_;
  const File* block_file_ = nullptr;
  uint64_t place_ = 0, end_ = 0;
};

template <typename T>
void Shuffle(T* all, Draws* draws) {
  for (size_t i = all->size(); i > 1; --i)
    std::swap((*all)[i - 1], (*all)[static_cast<size_t>(draws->Integer(0, static_cast<int64_t>(i) - 1))]);
}

// Records in the order of the files; pieces and what lies in a block in a random one, if wanted.
class Sequence : public RecordSource {
 public:
  explicit Sequence(const RecordOptions& options) : options_(options), files_(options.function, options.path_imgrec), range_(files_) {
    MXNET_CHECK_KIND(files_.size() > 0, IO) << "[" << options.function << "] '" << files_.only().path
                                            << "' is empty; accepted: a file with records";
    const uint64_t parts = static_cast<uint64_t>(options.num_parts), part = static_cast<uint64_t>(options.part_index);
    const uint64_t step = RoundUp((files_.size() + parts - 1) / parts, kAlign);
    begin_ = std::min(files_.size(), step * part), end_ = std::min(files_.size(), step * (part + 1));
    StartEpoch(0);
  }

  void StartEpoch(uint64_t epoch) override {
    epoch_ = epoch, position_ = 0;
    shuffled_.clear();
    pieces_.clear();
    const uint64_t most = std::min<uint64_t>(options_.shuffle_chunk_size, uint64_t{1} << 40) << 20;
    const uint64_t count = most == 0 ? 1 : std::max<uint64_t>(1, (end_ - begin_ + most - 1) / most);
    for (uint64_t i = 0; i < count; ++i) pieces_.push_back(i);
    Draws draws(static_cast<uint64_t>(options_.shuffle_chunk_seed), kDrawChunks, epoch, 0);
    if (count > 1) Shuffle(&pieces_, &draws);
    piece_size_ = RoundUp((end_ - begin_ + count - 1) / count, kAlign);
    next_piece_ = 0;
    range_.Start(end_, end_);
  }

  bool Read(Record* record) override {
    if (options_.shuffle) {
      if (shuffled_.empty() && !FillShuffled()) return false;
      *record = std::move(shuffled_.front());
      shuffled_.pop_front();
    } else if (!ReadNext(record)) {
      return false;
    }
    record->epoch = epoch_, record->position = position_++;
    return true;
  }

 private:
  bool ReadNext(Record* record) {
    while (!range_.Read(record)) {
      if (next_piece_ == pieces_.size()) return false;
      const uint64_t from = std::min(end_, begin_ + piece_size_ * pieces_[next_piece_++]);
      range_.Start(from, std::min(end_, from + piece_size_));
    }
    return true;
  }

  bool FillShuffled() {
    Record record;
    for (uint64_t bytes = 0; bytes < kShuffleBlock && ReadNext(&record); bytes += record.size) shuffled_.push_back(record);
    Draws draws(static_cast<uint64_t>(options_.seed), kDrawOrder, epoch_, position_);
    Shuffle(&shuffled_, &draws);
    return !shuffled_.empty();
  }

  const RecordOptions options_;
  const Files files_;
  Range range_;
  uint64_t begin_, end_, piece_size_ = 0;
  std::vector<uint64_t> pieces_;
  size_t next_piece_ = 0;
  std::deque<Record> shuffled_;
  uint64_t epoch_ = 0, position_ = 0;
};

// Records whose places are in an index.
class Indexed : public RecordSource {
 public:
  explicit Indexed(const RecordOptions& options) : options_(options), files_(options.function, options.path_imgrec), range_(files_) {
    MXNET_CHECK_KIND(files_.count() == 1, Value)
        << "[" << options.function << "] path_imgrec names " << files_.count() << " files; accepted with path_imgidx: one";
    std::vector<uint64_t> all = ReadIndex();
    const size_t parts = static_cast<size_t>(options.num_parts), step = (all.size() + parts - 1) / parts;
    const size_t begin = std::min(all.size(), step * static_cast<size_t>(options.part_index)), end = std::min(all.size(), begin + step);
    places_.assign(all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end));
    StartEpoch(0);
  }

  void StartEpoch(uint64_t epoch) override {
    epoch_ = epoch, position_ = 0;
    order_ = places_;
    Draws draws(static_cast<uint64_t>(options_.seed), kDrawOrder, epoch, 0);
    if (options_.shuffle) Shuffle(&order_, &draws);
  }

  bool Read(Record* record) override {
    if (position_ == order_.size()) return false;
    const uint64_t place = order_[position_];
    record->epoch = epoch_, record->position = position_++;
    if (options_.shuffle) {
      ReadOne(place, record);
      return true;
    }
    range_.Start(place, files_.size());
    MXNET_CHECK_KIND(range_.Read(record) && record->offset == place, IO)
        << "[" << options_.function << "] " << Files::Place(files_.only(), place) << ": no RecordIO record begins here, though '"
        << options_.path_imgidx << "' says so";
    return true;
  }

  int64_t Count() const override { return static_cast<int64_t>(places_.size()); }

 private:
  std::vector<uint64_t> ReadIndex() const {
    std::ifstream file(LocalPath(options_.path_imgidx));
    MXNET_CHECK_KIND(file.good(), IO) << "[" << options_.function << "] cannot open '" << options_.path_imgidx
                                      << "': " << std::generic_category().message(errno);
    std::vector<uint64_t> all;
    std::string line;
    for (size_t number = 1; std::getline(file, line); ++number) {
      std::istringstream fields(line);
      std::string key, place;
      if (!(fields >> key)) continue;
      char* stop = nullptr;
      const bool read = static_cast<bool>(fields >> place);
      const uint64_t offset = std::strtoull(place.c_str(), &stop, 10);
      MXNET_CHECK_KIND(read && *stop == '\0' && offset % 4 == 0 && offset + kHead <= files_.size(), Value)
          << "[" << options_.function << "] '" << options_.path_imgidx << "' line " << number << ": '" << line
          << "'; accepted: a key and the offset of a record in a file of " << files_.size() << " bytes";
      all.push_back(offset);
    }
    MXNET_CHECK_KIND(!all.empty(), Value) << "[" << options_.function << "] '" << options_.path_imgidx << "' names no records";
    std::sort(all.begin(), all.end());
    return all;
  }

  // One record alone: the bytes around it are not wanted soon.
  void ReadOne(uint64_t place, Record* record) {
    const File& file = files_.only();
    char bytes[kHead];
    files_.Read(file, place, bytes, kHead);
    const Head head = ReadHead(files_, file, place, bytes);
    if (head.flag != kWhole) {
      Range range(files_);
      range.Start(place, files_.size());
      MXNET_CHECK_KIND(range.Read(record), IO) << "[" << options_.function << "] " << Files::Place(file, place) << ": no record";
      return;
    }
    const std::shared_ptr<char> data(new char[std::max<uint32_t>(head.length, 1)], std::default_delete<char[]>());
    files_.Read(file, place + kHead, data.get(), head.length);
    record->data = data.get(), record->size = head.length, record->hold = data;
    record->file = &file.path, record->offset = place;
  }

  const RecordOptions options_;
  const Files files_;
  Range range_;
  std::vector<uint64_t> places_, order_;
  uint64_t epoch_ = 0;
  size_t position_ = 0;
};

}  // namespace

std::string Record::Place() const { return "'" + *file + "' at byte " + std::to_string(offset); }

std::unique_ptr<RecordSource> OpenRecords(const RecordOptions& options) {
  MXNET_CHECK_KIND(options.num_parts > 0 && options.part_index >= 0 && options.part_index < options.num_parts, Value)
      << "[" << options.function << "] part_index=" << options.part_index << " and num_parts=" << options.num_parts
      << "; accepted: an index of 0 to num_parts - 1";
  if (!options.path_imgidx.empty()) return std::make_unique<Indexed>(options);
  return std::make_unique<Sequence>(options);
}

}  // namespace image
}  // namespace mxnet
