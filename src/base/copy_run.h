/* Copies of rows that lie anywhere, where std::memcpy would fall into a slow path. */
#ifndef MXNET_BASE_COPY_RUN_H_
#define MXNET_BASE_COPY_RUN_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mxnet {

/*
 * memcpy. Where the destination's place in its page is a few bytes behind the source's, the string
 * instruction that glibc takes from about two KiB on copies 3 GB/s on AMD's Zen 3, a tenth of what
 * loads and stores do there: such runs are copied in pieces, which glibc copies with vectors.
 * REQUIRES: no overlap.
 */
inline void CopyRun(void* dst, const void* src, size_t bytes) {
  constexpr uintptr_t kPage = 4096, kNear = 64;
  constexpr size_t kPiece = 256, kShort = 2048, kLong = 1 << 20;  // long runs bypass that instruction too
  const uintptr_t ahead = (reinterpret_cast<uintptr_t>(dst) - reinterpret_cast<uintptr_t>(src)) % kPage;
  char* to = static_cast<char*>(dst);
  const char* from = static_cast<const char*>(src);
  if (bytes > kShort && bytes < kLong && ahead != 0 && ahead < kNear) {
    for (; bytes > kPiece; bytes -= kPiece, to += kPiece, from += kPiece) std::memcpy(to, from, kPiece);
  }
  std::memcpy(to, from, bytes);
}

}  // namespace mxnet
#endif  // MXNET_BASE_COPY_RUN_H_
