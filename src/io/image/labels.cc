// Labels of records and of lists.
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <unordered_map>

#include "base/new_file.h"
#include "io/image/pipeline.h"
#include "mxnet/error.h"

namespace mxnet {
namespace image {

ImageRecord ParseImageRecord(const std::string& function, const Record& record) {
  constexpr size_t kHead = 24;  // flag, label, id, second id
  ImageRecord parsed;
  MXNET_CHECK_KIND(record.size >= kHead, IO) << "[" << function << "] " << record.Place() << ": a record of " << record.size
                                             << " bytes; accepted: an image record, whose head has " << kHead;
  uint32_t flag;
  std::memcpy(&flag, record.data, sizeof(flag));
  std::memcpy(&parsed.id, record.data + 8, sizeof(parsed.id));
  MXNET_CHECK_KIND(record.size - kHead >= uint64_t{flag} * 4, IO)
      << "[" << function << "] " << record.Place() << ": " << flag << " labels in a record of " << record.size << " bytes";
  parsed.label_count = flag == 0 ? 1 : flag;
  parsed.labels = flag == 0 ? record.data + 4 : record.data + kHead;
  const size_t head = kHead + size_t{flag} * 4;
  parsed.file = reinterpret_cast<const uint8_t*>(record.data) + head;
  parsed.file_size = record.size - head;
  return parsed;
}

struct LabelList::Lines {
  std::unordered_map<uint64_t, std::vector<float>> of;
};

namespace {

// Fields with tabs between them, or blanks where a line has no tab.
std::vector<std::string> Fields(const std::string& line) {
  const bool tabs = line.find('\t') != std::string::npos;
  std::vector<std::string> fields;
  std::string field;
  for (char c : line) {
    if (tabs ? c != '\t' : std::isspace(static_cast<unsigned char>(c)) == 0) {
      field += c;
    } else if (!field.empty()) {
      fields.push_back(std::move(field));
      field.clear();
    }
  }
  if (!field.empty() && field != "\r") fields.push_back(field);
  return fields;
}

}  // namespace

LabelList::LabelList(const std::string& function, const std::string& path, int width)
    : function_(function), path_(path), lines_(std::make_unique<Lines>()) {
  std::ifstream file(LocalPath(path));
  MXNET_CHECK_KIND(file.good(), IO) << "[" << function << "] cannot open '" << path << "': " << std::generic_category().message(errno);
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    const std::vector<std::string> fields = Fields(line);
    if (fields.empty()) continue;
    auto bad = [&] {
      MXNET_THROW(Value) << "[" << function << "] '" << path << "' line " << number << ": '" << line
                         << "'; accepted: id, labels and path with tabs between them";
    };
    char* stop = nullptr;
    const double id = std::strtod(fields[0].c_str(), &stop);  // pandas writes integers as 3.0
    if (*stop != '\0' || !(id >= 0) || id > 1e18 || fields.size() < 2) bad();
    std::vector<float> labels;
    for (size_t i = 1; i + 1 < fields.size(); ++i) {
      labels.push_back(std::strtof(fields[i].c_str(), &stop));
      if (*stop != '\0') bad();
    }
    if (width >= 0) labels.resize(static_cast<size_t>(width));
    width_ = std::max(width_, labels.size());
    lines_->of[static_cast<uint64_t>(id)] = std::move(labels);
  }
}

LabelList::~LabelList() = default;

size_t LabelList::size() const { return lines_->of.size(); }

const std::vector<float>& LabelList::Find(uint64_t id) const {
  const auto found = lines_->of.find(id);
  MXNET_CHECK_KIND(found != lines_->of.end(), Value)
      << "[" << function_ << "] '" << path_ << "' has no labels for the image with id " << id;
  return found->second;
}

}  // namespace image
}  // namespace mxnet
