/*
 * Arrays of the CPU whose contents lie somewhere else, in a file for example: their memory is
 * filled when somebody first reads it. Kernels that need weights until they have them in a form of
 * their own (PlanWeights) hold them meanwhile, and the pages go when nobody does. Anybody else
 * who reads or writes such an array makes it one like others, for good.
 *
 * THREADS  everything may be called from any thread.
 */
#ifndef MXNET_NDARRAY_STORED_H_
#define MXNET_NDARRAY_STORED_H_

#include <cstdint>
#include <memory>

#include "mxnet/ndarray.h"

namespace mxnet {

class StoredContents {
 public:
  StoredContents();
  virtual ~StoredContents() = default;
  StoredContents(const StoredContents&) = delete;
  StoredContents& operator=(const StoredContents&) = delete;
  /* Writes all bytes. They are the same each time. */
  virtual void Read(void* to) const = 0;
  /* No other contents have it. */
  uint64_t id() const { return id_; }

 private:
  const uint64_t id_;
  int holders_ = 0;
  bool filled_ = false;
  friend void FillStored(Chunk* chunk);
  friend bool HoldStored(Chunk* chunk);
  friend void ReleaseStored(Chunk* chunk);
};

NDArray StoredArray(const Shape& shape, int dtype, std::shared_ptr<StoredContents> contents);
/* For those that may keep it: the contents are there from now on. */
void FillStored(Chunk* chunk);
/* The contents are there until ReleaseStored. False: they stay anyway. */
bool HoldStored(Chunk* chunk);
/* REQUIRES: HoldStored gave true. */
void ReleaseStored(Chunk* chunk);

}  // namespace mxnet
#endif  // MXNET_NDARRAY_STORED_H_
