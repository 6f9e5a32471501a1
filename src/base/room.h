/*
 * Looks whether memory can be had before a library is called that ends the process where it cannot:
 * OpenBLAS, oneDNN, libgomp and the C library do, each in another way. Another thread may take what
 * was there, so ask for more than is needed.
 */
#ifndef MXNET_BASE_ROOM_H_
#define MXNET_BASE_ROOM_H_

#include <cstddef>

namespace mxnet {

/* So many bytes of address space in one piece. */
bool HasRoom(size_t bytes);
/* Stacks of so many new threads, and what each takes when it first allocates. True at once where
 * nothing limits the address space (`ulimit -v`). */
bool HasRoomForThreads(int threads);
/* The same of `bytes`. */
bool HasRoomIfLimited(size_t bytes);

}  // namespace mxnet
#endif  // MXNET_BASE_ROOM_H_
