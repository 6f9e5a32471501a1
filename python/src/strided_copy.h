/*
 * Copies between elements that lie side by side and elements of another array that do not.
 */
#ifndef MXNET_PYTHON_STRIDED_COPY_H_
#define MXNET_PYTHON_STRIDED_COPY_H_

#include <cstddef>
#include <cstdint>

namespace mxnet {
namespace python {

/* Elements of `item` bytes (1, 2, 4 or 8) between an array that lies side by side and places
 * offset + sum(index[i] * step[i]) (in elements) of another. At most 64 dimensions. */
void GatherStrided(void* to, const void* from, int64_t offset, int ndim, const int64_t* count, const int64_t* step, size_t item);
void ScatterStrided(void* to, const void* from, int64_t offset, int ndim, const int64_t* count, const int64_t* step, size_t item);

}  // namespace python
}  // namespace mxnet

#endif  // MXNET_PYTHON_STRIDED_COPY_H_
