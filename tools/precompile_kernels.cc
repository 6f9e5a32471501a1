/*
 * Machine code for a Hopper GPU of kernels that a program used on a GPU made of the host, into a
 * cache that a machine with a GPU reads as its own: compiling there costs a tenth of a second for
 * each.
 *
 *   precompile_kernels FROM TO    FROM: MXNET_HOME/rtc of runs with tests/host_gpu; TO: a folder
 *                                 for files of the same kind
 *
 * Made for the NVRTC version at hand; another version on that machine compiles its own.
 */
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "mxnet/error.h"
#include "rtc/compile.h"

namespace {

// The request in a cached file (rtc/cache.cc): what it was compiled with, line by line, then the
// source. False for other files.
bool Parse(const std::string& path, mxnet::rtc::CompileRequest* r) {
  std::ifstream in(path, std::ios::binary);
  char magic[8];
  uint64_t numbers[3];
  if (!in.read(magic, sizeof magic) || std::memcmp(magic, "MXRTC", 5) != 0 || !in.read(reinterpret_cast<char*>(numbers), sizeof numbers) ||
      numbers[0] > (1u << 24))
    return false;
  std::string text(numbers[0], '\0'), line;
  if (!in.read(&text[0], static_cast<std::streamsize>(text.size()))) return false;
  std::istringstream lines(text);
  if (!std::getline(lines, line) || !std::getline(lines, r->architecture)) return false;
  for (auto at = lines.tellg(); std::getline(lines, line); at = lines.tellg()) {
    if (line.compare(0, 7, "option ") == 0) {
      r->options.push_back(line.substr(7));
    } else if (line.compare(0, 5, "name ") == 0) {
      r->names.push_back(line.substr(5));
    } else {
      r->source = text.substr(static_cast<size_t>(at));
      break;
    }
  }
  r->name = std::filesystem::path(path).stem().string() + ".cu";
  return !r->source.empty();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "precompile_kernels FROM TO: got %d arguments; accepted: a folder of cached kernels and one to write to\n",
                 argc - 1);
    return 2;
  }
  int made = 0, others = 0;
  try {
    for (const auto& file : std::filesystem::directory_iterator(argv[1])) {
      mxnet::rtc::CompileRequest r;
      if (!Parse(file.path().string(), &r)) {
        ++others;
        continue;
      }
      mxnet::rtc::CompileCached(r, argv[2]);
      if (++made % 100 == 0) std::fprintf(stderr, "\r%d kernels", made);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "\nprecompile_kernels: %s\n", e.what());
    return 1;
  }
  std::fprintf(stderr, "\r%d kernels in %s, %d other files in %s\n", made, argv[2], others, argv[1]);
  return made > 0 ? 0 : 1;
}
