/* What the kernel says of this process's huge pages. */
#ifndef MXNET_TESTS_CPP_COMMON_HUGE_AT_H_
#define MXNET_TESTS_CPP_COMMON_HUGE_AT_H_

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "base/huge_pages.h"

namespace mxnet {

/* MiB of huge pages in the mapping of an address; -1: the kernel does not say. */
inline int64_t HugeAt(const void* address) {
  std::ifstream file("/proc/self/smaps");
  bool within = false;
  for (std::string line; std::getline(file, line);) {
    unsigned long long begin, end;
    long long kib;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2)
      within = begin <= reinterpret_cast<uintptr_t>(address) && reinterpret_cast<uintptr_t>(address) < end;
    else if (within && std::sscanf(line.c_str(), "AnonHugePages: %lld", &kib) == 1)
      return kib >> 10;
  }
  return -1;
}

/* Does this system make any? */
inline bool HugePagesExist() {
  char* const page = MapAligned(kHugePage);
  if (!page) return false;
  *page = 1;
  JoinToPage(page);
  const bool exist = HugeAt(page) > 0;
  munmap(page, kHugePage);
  return exist;
}

}  // namespace mxnet
#endif  // MXNET_TESTS_CPP_COMMON_HUGE_AT_H_
