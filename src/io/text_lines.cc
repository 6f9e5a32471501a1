#include "io/text_lines.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/new_file.h"
#include "mxnet/error.h"

namespace mxnet {
namespace {

constexpr size_t kBufferBytes = 1 << 18;

/* What is left of `text` behind blanks and a plus sign. */
const char* NumberBegin(const char* text, const char* end) {
  while (text != end && IsBlank(*text)) ++text;
  if (end - text > 1 && *text == '+' && text[1] != '-') ++text;
  return text;
}

template <typename T>
bool ReadInteger(const char** text, const char* end, T* value) {
  const char* begin = NumberBegin(*text, end);
  const std::from_chars_result result = std::from_chars(begin, end, *value);
  if (result.ec != std::errc()) return false;
  *text = result.ptr;
  if (*text == end || (**text != '.' && **text != 'e' && **text != 'E')) return true;
  // "1.7", "1e3": the whole part
  double real;
  const std::from_chars_result all = std::from_chars(begin, end, real);
  if (all.ec != std::errc() || !(real > -9.2e18 && real < 9.2e18) ||
      static_cast<T>(static_cast<int64_t>(real)) != static_cast<int64_t>(real))
    return false;
  *value = static_cast<T>(real);
  *text = all.ptr;
  return true;
}

}  // namespace

bool ReadNumber(const char** text, const char* end, int32_t* value) { return ReadInteger(text, end, value); }
bool ReadNumber(const char** text, const char* end, int64_t* value) { return ReadInteger(text, end, value); }

bool ReadNumber(const char** text, const char* end, float* value) {
  const char* begin = NumberBegin(*text, end);
  const std::from_chars_result result = std::from_chars(begin, end, *value);
  if (result.ec == std::errc::invalid_argument) return false;
  if (result.ec == std::errc::result_out_of_range) {
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
    *value = strtof_l(std::string(begin, result.ptr).c_str(), nullptr, plain);
  }
  *text = result.ptr;
  return true;
}

std::vector<std::pair<std::string, std::string>> TakeUriOptions(std::string* path) {
  std::vector<std::pair<std::string, std::string>> options;
  struct stat info;
  if (stat(LocalPath(*path).c_str(), &info) == 0) return options;
  path->resize(std::min(path->find('#'), path->size()));
  const size_t mark = path->find('?');
  if (mark == std::string::npos) return options;
  for (size_t at = mark + 1; at < path->size();) {
    const size_t next = std::min(path->find('&', at), path->size());
    const size_t equal = std::min(path->find('=', at), next);
    options.emplace_back(path->substr(at, equal - at), equal < next ? path->substr(equal + 1, next - equal - 1) : "");
    at = next + 1;
  }
  path->resize(mark);
  return options;
}

std::string Shown(const char* begin, const char* end) {
  constexpr int64_t kLongest = 40;
  std::string text(begin, std::min<int64_t>(end - begin, kLongest));
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return end - begin > kLongest ? text + "..." : text;
}

TextLines::TextLines(std::string function, const std::string& uri, int part, int parts)
    : function_(std::move(function)), uri_(uri), buffer_(kBufferBytes) {
  MXNET_CHECK_KIND(parts >= 1 && part >= 0 && part < parts, Value)
      << "[" << function_ << "] part_index=" << part << ", num_parts=" << parts << "; accepted: 0 <= part_index < num_parts";
  for (size_t at = 0; at <= uri.size();) {
    const size_t next = std::min(uri.find(';', at), uri.size());
    if (next > at) AddFiles(LocalPath(uri.substr(at, next - at)));
    at = next + 1;
  }
  MXNET_CHECK_KIND(!files_.empty(), IO) << "[" << function_ << "] '" << uri
                                        << "' names no file; accepted: paths with semicolons between them";
  const int64_t total = files_.back().offset + files_.back().size;
  const int64_t step = total / parts + (total % parts != 0);
  begin_ = std::min(total, step * part);
  end_ = std::min(total, begin_ + step);
  Restart();
}

TextLines::~TextLines() {
  if (file_) std::fclose(file_);
}

void TextLines::AddFiles(const std::string& path) {
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return AddFile(path);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(folder))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  closedir(folder);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    struct stat info;
    const std::string inside = path + "/" + name;
    if (stat(inside.c_str(), &info) == 0 && S_ISREG(info.st_mode)) AddFile(inside);
  }
}

void TextLines::AddFile(const std::string& path) {
  struct stat info;
  MXNET_CHECK_KIND(stat(path.c_str(), &info) == 0, IO) << "[" << function_ << "] cannot open " << path << ": " << std::strerror(errno);
  MXNET_CHECK_KIND(S_ISREG(info.st_mode), IO) << "[" << function_ << "] " << path << " is no regular file";
  const int64_t offset = files_.empty() ? 0 : files_.back().offset + files_.back().size;
  files_.push_back({path, offset, info.st_size});
}

void TextLines::Open(size_t index, int64_t position) {
  if (file_) std::fclose(file_);
  const std::string& path = files_[index].path;
  file_ = std::fopen(path.c_str(), "rb");
  MXNET_CHECK_KIND(file_ != nullptr && fseeko(file_, position, SEEK_SET) == 0, IO)
      << "[" << function_ << "] cannot open " << path << ": " << std::strerror(errno);
  index_ = index;
  position_ = position;
  number_ = 0;
  whole_ = position == 0;
  at_ = filled_ = 0;
}

void TextLines::Restart() {
  size_t index = 0;
  while (index + 1 < files_.size() && begin_ >= files_[index].offset + files_[index].size) ++index;
  Open(index, begin_ - files_[index].offset);
  if (position_ > 0) ReadLine();  // the rest of a line that began before, or at this very byte
}

bool TextLines::Fill() {
  filled_ = std::fread(buffer_.data(), 1, buffer_.size(), file_);
  at_ = 0;
  MXNET_CHECK_KIND(!std::ferror(file_), IO) << "[" << function_ << "] cannot read " << files_[index_].path << ": " << std::strerror(errno);
  return filled_ > 0;
}

void TextLines::Skip(size_t bytes) {
  at_ += bytes;
  position_ += static_cast<int64_t>(bytes);
}

bool TextLines::ReadLine() {
  line_.clear();
  for (bool some = false;; some = true) {
    if (at_ == filled_ && !Fill()) {
      if (!some) return false;
      break;
    }
    const char* const begin = buffer_.data() + at_;
    const void* const feed = std::memchr(begin, '\n', filled_ - at_);
    size_t size = feed ? static_cast<size_t>(static_cast<const char*>(feed) - begin) : filled_ - at_;
    const void* const carriage = std::memchr(begin, '\r', size);
    if (carriage) size = static_cast<size_t>(static_cast<const char*>(carriage) - begin);
    line_.append(begin, size);
    Skip(size);
    if (!feed && !carriage) continue;
    Skip(1);
    if (carriage && (at_ < filled_ || Fill()) && buffer_[at_] == '\n') Skip(1);
    break;
  }
  ++number_;
  if (whole_ && number_ == 1 && line_.compare(0, 3, "\xef\xbb\xbf") == 0) line_.erase(0, 3);
  return true;
}

const std::string* TextLines::Next() {
  while (true) {
    const int64_t place = files_[index_].offset + position_;
    if (place > end_ || (place == end_ && end_ == begin_)) return nullptr;
    const bool last_begins_here = place == end_;
    if (last_begins_here && position_ == 0) return nullptr;  // of another file
    if (!ReadLine()) {
      if (index_ + 1 == files_.size()) return nullptr;
      Open(index_ + 1, 0);
      continue;
    }
    if (!std::all_of(line_.begin(), line_.end(), IsBlank)) return &line_;
  }
}

std::string TextLines::Place() const {
  const std::string& path = files_[index_].path;
  if (whole_) return path + ", line " + std::to_string(number_);
  return path + ", the line before byte " + std::to_string(position_);
}

}  // namespace mxnet
