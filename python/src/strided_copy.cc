#include "strided_copy.h"

#include "mxnet/base.h"

namespace mxnet {
// src/operator/matrix/move_cpu.h, which no header that is installed can show
void CopyStrided(const void* src, const int64_t* src_stride, void* dst, const int64_t* dst_stride, const int64_t* shape, int ndim,
                 size_t elem_bytes);

namespace python {
namespace {

constexpr int kMostDims = 64;

/* The dimensions that are not of size 1, with the steps of an array that lies side by side. */
struct Dims {
  Dims(int given, const int64_t* counts, const int64_t* steps) {
    MXNET_CHECK_KIND(given <= kMostDims, Value) << "[strided copy] got " << given << " dimensions; accepted: at most " << kMostDims;
    for (int i = 0; i < given; ++i)
      if (counts[i] != 1) count[ndim] = counts[i], step[ndim++] = steps[i];
    int64_t next = 1;
    for (int i = ndim; i-- > 0; next *= count[i]) dense[i] = next;
  }
  int ndim = 0;
  int64_t count[kMostDims], step[kMostDims], dense[kMostDims];
};

}  // namespace

void GatherStrided(void* to, const void* from, int64_t offset, int ndim, const int64_t* count, const int64_t* step, size_t item) {
  const Dims d(ndim, count, step);
  CopyStrided(static_cast<const char*>(from) + offset * static_cast<int64_t>(item), d.step, to, d.dense, d.count, d.ndim, item);
}

void ScatterStrided(void* to, const void* from, int64_t offset, int ndim, const int64_t* count, const int64_t* step, size_t item) {
  const Dims d(ndim, count, step);
  CopyStrided(from, d.dense, static_cast<char*>(to) + offset * static_cast<int64_t>(item), d.step, d.count, d.ndim, item);
}

}  // namespace python
}  // namespace mxnet
