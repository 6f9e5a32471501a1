/* For programs that include this header of dmlc-core, which MXNet 1.9.1 brought along: what the
 * compiler can do, in the words of that header. */
#ifndef DMLC_BASE_H_
#define DMLC_BASE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#define DMLC_USE_CXX11 1
#define DMLC_CXX11_THREAD_LOCAL 1
#define DMLC_MODERN_THREAD_LOCAL 1
#define DMLC_ATTRIBUTE_UNUSED __attribute__((unused))
#define DMLC_ALWAYS_INLINE inline __attribute__((__always_inline__))
#define DMLC_NO_INLINE __attribute__((noinline))
#define DMLC_THROW_EXCEPTION noexcept(false)
#define DMLC_NO_EXCEPTION noexcept(true)
#define DMLC_DISALLOW_COPY_AND_ASSIGN(T) \
  T(T const&) = delete;                  \
  T(T&&) = delete;                       \
  T& operator=(T const&) = delete;       \
  T& operator=(T&&) = delete
#define DMLC_STR_CONCAT_(x, y) x##y
#define DMLC_STR_CONCAT(x, y) DMLC_STR_CONCAT_(x, y)

namespace dmlc {

typedef float real_t;
typedef unsigned index_t;

/* Pointers to the elements of a vector or string; null for an empty one. */
template <typename T>
inline T* BeginPtr(std::vector<T>& values) {  // NOLINT: as programs call it
  return values.empty() ? nullptr : values.data();
}
template <typename T>
inline const T* BeginPtr(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}
inline char* BeginPtr(std::string& text) {  // NOLINT
  return text.empty() ? nullptr : &text[0];
}
inline const char* BeginPtr(const std::string& text) { return text.empty() ? nullptr : text.data(); }

}  // namespace dmlc

#endif
