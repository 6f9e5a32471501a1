/* Numbers of the libraries' types, and the matrix product that both libraries stand on. */
#ifndef MXNET_TESTS_HOST_GPU_LIBRARY_NUMBERS_H_
#define MXNET_TESTS_HOST_GPU_LIBRARY_NUMBERS_H_

#include <cstddef>
#include <cstdint>

namespace host_gpu {

enum class Number { kFloat, kDouble, kHalf, kBfloat16, kInt8, kUint8, kInt32, kInt64, kBoolean };
size_t SizeOf(Number type);

/* Element `index` of an array; T is float or double. */
template <typename T>
T Load(Number type, const void* array, int64_t index);
template <typename T>
void Store(Number type, void* array, int64_t index, T value);
/* What is left of a value that was stored in the type. */
template <typename T>
T Rounded(Number type, T value);

/* float32 as tensor cores see it: ten bits behind the leading one, to nearest. */
float ToTensorFloat(float value);

/* c += a * b, all row-major: a is m x k, b k x n. */
template <typename T>
void MultiplyAdd(int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc);

}  // namespace host_gpu
#endif  // MXNET_TESTS_HOST_GPU_LIBRARY_NUMBERS_H_
