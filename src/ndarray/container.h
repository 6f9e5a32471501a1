/* Containers of arrays in the versions that programs with NumPy's shapes write. */
#ifndef MXNET_NDARRAY_CONTAINER_H_
#define MXNET_NDARRAY_CONTAINER_H_

#include <functional>
#include <string>
#include <vector>

#include "mxnet/ndarray.h"

namespace mxnet {

/* As those of ndarray.h. `numpy_shapes`: every array in version 3, the only one that 1.x and 2.0
 * read where NumPy's shapes are switched on. Without it arrays are of version 2, the only one that
 * 1.x reads else, but those that it cannot hold. */
void SaveNDArrays(const std::string& path, const std::vector<NDArray>& arrays, const std::vector<std::string>& names, bool numpy_shapes);
/* An array that is there already and holds these values; none: there is no such array. */
using KnownArray = std::function<NDArray(const TensorType& type, const char* values)>;
/* As LoadNDArrays; dense arrays that `known` finds are taken in place of new ones. */
void LoadNDArrays(const void* buffer, size_t size, std::vector<NDArray>* arrays, std::vector<std::string>* names, const KnownArray& known);
/* As LoadNDArrays; dense arrays are read from the file when somebody reads them
 * (ndarray/stored.h). */
void MapNDArrays(const std::string& path, std::vector<NDArray>* arrays, std::vector<std::string>* names);
std::string SaveNDArrayRaw(const NDArray& array, bool numpy_shapes);

}  // namespace mxnet
#endif  // MXNET_NDARRAY_CONTAINER_H_
