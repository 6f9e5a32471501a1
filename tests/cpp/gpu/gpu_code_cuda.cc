#include "gpu_code_cuda.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "mxnet/error.h"

namespace mxnet {
namespace {

template <typename S>
S At(const std::string& bytes, size_t at) {
  MXNET_CHECK(at + sizeof(S) <= bytes.size()) << "[cubin] " << bytes.size() << " bytes end before " << at + sizeof(S);
  S out;
  std::memcpy(&out, bytes.data() + at, sizeof(S));
  return out;
}

// Entries of .nv.info: format, attribute, bytes that follow; here a function's symbol and a number.
constexpr unsigned char kFrameSize = 0x11, kRegisters = 0x2f, kHasValues = 4;

}  // namespace

CodeResources ResourcesOf(const std::string& cubin, const std::string& name) {
  const auto header = At<Elf64_Ehdr>(cubin, 0);
  auto section = [&](int i) { return At<Elf64_Shdr>(cubin, header.e_shoff + static_cast<size_t>(i) * header.e_shentsize); };
  const Elf64_Shdr names = section(header.e_shstrndx);
  CodeResources r;
  bool found = false;
  for (int i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr s = section(i);
    const std::string title = cubin.data() + names.sh_offset + s.sh_name;
    if (title == ".text." + name) {
      found = true;
      r.code_bytes = static_cast<int>(s.sh_size);
    } else if (title == ".nv.shared." + name) {
      r.shared_bytes = static_cast<int>(s.sh_size);
    } else if (title == ".nv.info") {  // of all functions: a text's one kernel and what it calls
      for (size_t at = s.sh_offset; at + 4 <= s.sh_offset + s.sh_size;) {
        const auto format = At<unsigned char>(cubin, at), attribute = At<unsigned char>(cubin, at + 1);
        const auto bytes = At<uint16_t>(cubin, at + 2);
        if (format == kHasValues && bytes == 8 && attribute == kFrameSize) r.local_bytes = std::max(r.local_bytes, At<int>(cubin, at + 8));
        if (format == kHasValues && bytes == 8 && attribute == kRegisters) r.registers = std::max(r.registers, At<int>(cubin, at + 8));
        at += 4 + (format == kHasValues ? bytes : 0);
      }
    }
  }
  MXNET_CHECK(found) << "[cubin] no kernel " << name;
  return r;
}

}  // namespace mxnet
