// HOST_GPU_CUDNN_GRAPHS=file: every operation graph that is finished, once each, as lines that
// judge/cudnn_judge.cc gives to the real cuDNN.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

#include "cudnn_descriptor.h"

namespace host_gpu {
namespace cudnn {
namespace {

// Descriptors before those that link to them: "<type> <attributes>", then each "<name> <type>
// <count>" with numbers of descriptors or bytes in hexadecimal digits.
size_t Write(const Content& d, std::map<const Descriptor*, size_t>* known, std::string* text) {
  const auto found = known->find(d.get());
  if (found != known->end()) return found->second;
  std::string own = std::to_string(d->type);
  size_t count = 0;
  std::string attributes;
  for (const auto& a : d->attributes) {
    if (a.second.type == CUDNN_TYPE_HANDLE) continue;  // the judge has no device
    ++count;
    attributes += " " + std::to_string(a.first) + " " + std::to_string(a.second.type);
    if (a.second.type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
      attributes += " " + std::to_string(a.second.links.size());
      for (const Content& link : a.second.links) attributes += " " + std::to_string(Write(link, known, text));
    } else {
      attributes += " " + std::to_string(a.second.bytes.size()) + " ";
      char digits[3];
      for (const char byte : a.second.bytes)
        std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(byte))), attributes += digits;
    }
  }
  *text += own + " " + std::to_string(count) + attributes + "\n";
  const size_t number = known->size();
  return known->emplace(d.get(), number).first->second;
}

}  // namespace

void Record(const Content& graph) {
  static const char* const path = std::getenv("HOST_GPU_CUDNN_GRAPHS");
  if (!path) return;
  std::map<const Descriptor*, size_t> known;
  std::string text;
  Write(graph, &known, &text);
  static std::mutex* const mutex = new std::mutex;
  static std::set<std::string>* const written = new std::set<std::string>;
  std::lock_guard<std::mutex> lock(*mutex);
  if (!written->insert(text).second) return;
  std::FILE* file = std::fopen(path, "a");
  if (!file) return;
  std::fprintf(file, "graph %zu\n%s", known.size(), text.c_str());
  std::fclose(file);
}

}  // namespace cudnn
}  // namespace host_gpu
