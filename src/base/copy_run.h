/* Copies of rows that lie anywhere, where std::memcpy would fall into a slow path. */
#ifndef MXNET_BASE_COPY_RUN_H_
#define MXNET_BASE_COPY_RUN_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace mxnet {

namespace detail {

/* Pieces of kPiece bytes, the last of which may lie over the one before. REQUIRES: bytes >=
 * kPiece. Never a function of its own: each level of the CPU may have it in its loops. */
template <size_t kPiece>
inline __attribute__((always_inline)) void CopyPieces(char* to, const char* from, size_t bytes) {
  for (size_t i = 0; i + kPiece < bytes; i += kPiece) std::memcpy(to + i, from + i, kPiece);
  std::memcpy(to + bytes - kPiece, from + bytes - kPiece, kPiece);
}

}  // namespace detail

/*
 * memcpy. Rows of some bytes are copied here, since the call costs more than they. Where the
 * destination's place in its page is a few bytes behind the source's, the string instruction that
 * glibc takes from about two KiB on copies 3 GB/s on AMD's Zen 3, a tenth of what loads and stores
 * do there: such runs are copied in pieces, which glibc copies with vectors.
 * REQUIRES: no overlap.
 */
inline void CopyRun(void* dst, const void* src, size_t bytes) {
  constexpr uintptr_t kPage = 4096, kNear = 64;
  constexpr size_t kFew = 128, kPiece = 256, kShort = 2048, kLong = 1 << 20;  // long runs bypass that instruction too
  const uintptr_t ahead = (reinterpret_cast<uintptr_t>(dst) - reinterpret_cast<uintptr_t>(src)) % kPage;
  char* to = static_cast<char*>(dst);
  const char* from = static_cast<const char*>(src);
  if (bytes <= kFew) {
    if (bytes >= 16) return detail::CopyPieces<16>(to, from, bytes);
    if (bytes >= 4) return detail::CopyPieces<4>(to, from, bytes);
    for (size_t i = 0; i < bytes; ++i) to[i] = from[i];
    return;
  }
  if (bytes > kShort && bytes < kLong && ahead != 0 && ahead < kNear) {
    for (; bytes > kPiece; bytes -= kPiece, to += kPiece, from += kPiece) std::memcpy(to, from, kPiece);
  }
  std::memcpy(to, from, bytes);
}

/* f(length) with a number of bytes: a constant for the compiler where it is short, else int64_t. */
template <typename F>
void OfLength(int64_t bytes, const F& f) {
  switch (bytes) {
    case 1: return f(std::integral_constant<int64_t, 1>());
    case 2: return f(std::integral_constant<int64_t, 2>());
    case 4: return f(std::integral_constant<int64_t, 4>());
    case 8: return f(std::integral_constant<int64_t, 8>());
    case 12: return f(std::integral_constant<int64_t, 12>());
    case 16: return f(std::integral_constant<int64_t, 16>());
    case 32: return f(std::integral_constant<int64_t, 32>());
    case 64: return f(std::integral_constant<int64_t, 64>());
    default: return f(bytes);
  }
}

/* CopyRun of a length from OfLength: one that the compiler knows is one move. */
template <typename Length>
inline void CopyEntry(void* to, const void* from, Length bytes) {
  if constexpr (std::is_integral_v<Length>)
    CopyRun(to, from, static_cast<size_t>(bytes));
  else
    std::memcpy(to, from, static_cast<size_t>(bytes));
}

}  // namespace mxnet
#endif  // MXNET_BASE_COPY_RUN_H_
