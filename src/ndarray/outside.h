/*
 * Arrays that others may write unseen.
 *
 * Plans keep what kernels make of weights while the array's version stays. The engine counts
 * writes; it knows nothing of a NumPy view, of PyTorch, of a program that holds an address, or of
 * another process. For such arrays the contents themselves say whether they are others.
 */
#ifndef MXNET_NDARRAY_OUTSIDE_H_
#define MXNET_NDARRAY_OUTSIDE_H_

#include <cstdint>

#include "mxnet/ndarray.h"

namespace mxnet {

/* Somebody got the array's memory, until EndOutside. */
void BeginOutside(const NDArray& array);
/* They gave it back: who asks next finds another version. */
void EndOutside(const NDArray& array);
/* Somebody got its address, and does not say until when. */
void GiveAddress(const NDArray& array);
/* May others write it unseen? */
bool WrittenOutside(const Chunk& chunk);
/*
 * Another number than before where the contents are others: the version, or, where others may write
 * the array, one that is made of its contents. On a GPU such arrays have a new number each time.
 * REQUIRES: a dense array, nobody of the library writes it; `at` is where its contents lie.
 */
uint64_t ContentsVersion(const NDArray& array, const void* at);

}  // namespace mxnet
#endif  // MXNET_NDARRAY_OUTSIDE_H_
