// Rows of elements copied along a broadcast, with the widest vectors.
#include "base/copy_run.h"
#include "operator/pointwise/loops/gather.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using pointwise::kMaxDims;
using pointwise::Steps;

int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }

// Each of `rows` elements, `step` apart, `m` times. Vectors of `bytes` are written as a whole: what
// lies beyond a row is written over by the next. `room`: elements that may be written.
template <typename T, int bytes>
void FillRows(const T* from, int64_t step, int64_t rows, int64_t m, T* to, int64_t room) {
  typedef T Vector __attribute__((vector_size(bytes)));
  constexpr int64_t kWidth = bytes / sizeof(T);
  const int64_t written = (m + kWidth - 1) / kWidth * kWidth;
  const int64_t whole = room < written ? 0 : Least(rows, (room - written) / m + 1);
  for (int64_t r = 0; r < whole; ++r, to += m) {
    const Vector v = Vector{} + from[r * step];
    for (int64_t i = 0; i < m; i += kWidth) __builtin_memcpy(to + i, &v, bytes);
  }
  for (int64_t r = whole; r < rows; ++r, to += m) {
    const T v = from[r * step];
    for (int64_t i = 0; i < m; ++i) to[i] = v;
  }
}

template <typename T>
void FillEach(const T* from, int64_t step, int64_t rows, int64_t m, T* to, int64_t room) {
  const int64_t bytes = m * static_cast<int64_t>(sizeof(T));
  if (bytes <= 16) return FillRows<T, 16>(from, step, rows, m, to, room);
  if (bytes <= 32) return FillRows<T, 32>(from, step, rows, m, to, room);
  FillRows<T, 64>(from, step, rows, m, to, room);
}

// A run of at most kFew bytes, for which a call costs more than copying.
constexpr int64_t kFew = 64;
inline void CopyFew(const void* source, int64_t bytes, void* target) {
  const char* const from = static_cast<const char*>(source);
  char* const to = static_cast<char*>(target);
  const size_t n = static_cast<size_t>(bytes);
  if (n >= 16) return detail::CopyPieces<16>(to, from, n);
  if (n >= 8) return detail::CopyPieces<8>(to, from, n);
  if (n >= 4) return detail::CopyPieces<4>(to, from, n);
  detail::CopyPieces<1>(to, from, n);
}

template <typename T>
void Copy(const T* from, int64_t step, int64_t m, T* to) {
  const int64_t bytes = m * static_cast<int64_t>(sizeof(T));
  if (step == 1 && bytes <= kFew)
    CopyFew(from, bytes, to);
  else if (step == 1)
    __builtin_memcpy(to, from, static_cast<size_t>(m) * sizeof(T));
  else
    for (int64_t i = 0; i < m; ++i) to[i] = from[i * step];
}

// What is there doubles until it is all.
template <typename T>
void Repeat(T* to, int64_t there, int64_t all) {
  for (int64_t more; there < all; there += more) {
    more = Least(there, all - there);
    Copy(to, 1, more, to + there);
  }
}

template <typename T>
void GatherAs(const Steps& s, const void* base, int64_t begin, int64_t n, void* out) {
  const int inner = s.ndim - 1;
  const int64_t m = s.dim[inner], step = s.stride[inner];
  const int64_t turns = inner ? s.dim[inner - 1] : 1, next = inner ? s.stride[inner - 1] : 0;
  int64_t index[kMaxDims], row = begin / m, column = begin % m;
  const T* from = static_cast<const T*>(base);
  T* to = static_cast<T*>(out);
  for (int d = inner - 1; d >= 0; --d) {
    index[d] = row % s.dim[d];
    row /= s.dim[d];
    from += index[d] * s.stride[d];
  }
  for (int64_t done; n > 0; n -= done, to += done, column = 0) {
    int64_t rows = 1;
    done = Least(n, m - column);
    if (done == m && inner) {
      rows = Least(turns - index[inner - 1], n / m);
      done = rows * m;
    }
    if (step == 0) {
      FillEach(from, next, rows, Least(done, m), to, n);
    } else if (next == 0 || rows == 1) {
      Copy(from + column * step, step, Least(done, m), to);
      Repeat(to, m, done);
    } else {
      for (int64_t r = 0; r < rows; ++r) Copy(from + r * next, step, m, to + r * m);
    }
    from += rows * next;
    if (inner == 0 || (index[inner - 1] += rows) < turns) continue;
    from -= turns * next;
    index[inner - 1] = 0;
    for (int d = inner - 2; d >= 0; --d) {
      from += s.stride[d];
      if (++index[d] < s.dim[d]) break;
      from -= s.stride[d] * s.dim[d];
      index[d] = 0;
    }
  }
}

}  // namespace

void GatherElements(const Steps& steps, const void* base, size_t size, int64_t begin, int64_t n, void* out) {
  switch (size) {
    case 1: return GatherAs<uint8_t>(steps, base, begin, n, out);
    case 2: return GatherAs<uint16_t>(steps, base, begin, n, out);
    case 4: return GatherAs<uint32_t>(steps, base, begin, n, out);
    default: return GatherAs<uint64_t>(steps, base, begin, n, out);
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
