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

#include <atomic>
#include <cstdint>
#include <functional>
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
  /* Can bytes [offset, offset + size) be read alone? */
  virtual bool HasParts() const { return false; }
  virtual void ReadPart(size_t /*offset*/, void* /*to*/, size_t /*size*/) const {}
  /* Of a matrix: those, with parts, of the one whose rows are its columns; null: there are none. */
  virtual const StoredContents* Transposed() const { return nullptr; }
  /* No other contents have it. */
  uint64_t id() const { return id_; }
  /* Kernels have made forms of them (HasForms). */
  virtual void SetHasForms() const { has_forms_.store(true, std::memory_order_relaxed); }
  bool has_forms() const { return has_forms_.load(std::memory_order_relaxed); }

 private:
  const uint64_t id_;
  uint64_t version_ = 0;  // of the array, while nobody has written it
  int holders_ = 0;
  bool filled_ = false;
  mutable std::atomic<bool> has_forms_{false};
  friend NDArray StoredArray(const Shape& shape, int dtype, std::shared_ptr<StoredContents> contents);
  friend uint64_t StoredIn(const NDArray& array);
  friend bool IsFilled(const NDArray& array);
  friend void FillStored(Chunk* chunk);
  friend bool HoldStored(Chunk* chunk);
  friend void ReleaseStored(Chunk* chunk);
  friend std::function<void(size_t, void*, size_t)> PartsOfStored(const NDArray& array, bool transposed);
};

/* Small ones are filled at once. REQUIRES: some elements. */
NDArray StoredArray(const Shape& shape, int dtype, std::shared_ptr<StoredContents> contents);
/* An array of the CPU that nobody is meant to write, with a copy of `bytes`. Those of up to
 * kSmallConstant bytes lie side by side, where the pool would give each a page. */
constexpr size_t kSmallConstant = 1 << 10;
NDArray ConstantArray(const Shape& shape, int dtype, const void* bytes);
/* The number of the contents that all of the array's memory has, filled or not; 0: it has none, or
 * somebody has written it. */
uint64_t StoredIn(const NDArray& array);
/* The number of what a dense array of the CPU holds now: arrays of equal numbers hold the same, and
 * so does this one until it is written. 0: not known, for its memory is somebody else's, who may
 * write it unseen. REQUIRES: nobody is writing it. */
uint64_t ContentsNumber(const NDArray& array);
/* A kernel wants a form of its own of the array's contents, or has found one that is there. */
void SetHasForms(const NDArray& array);
/* Has one wanted a form of them, or of what was computed of them? Another one that wants the same
 * most likely finds it while plans of the model are there. */
bool HasForms(const NDArray& array);
/* Are its contents in memory, and somebody holds them? */
bool IsFilled(const NDArray& array);
/* For those that may keep it: the contents are there from now on. */
void FillStored(Chunk* chunk);
/* How to read a part of contents that are not in memory, or of their transposition; empty: they
 * are, or have no such parts. */
std::function<void(size_t offset, void* to, size_t size)> PartsOfStored(const NDArray& array, bool transposed = false);
/* The contents are there until ReleaseStored. False: they stay anyway. */
bool HoldStored(Chunk* chunk);
/* REQUIRES: HoldStored gave true. */
void ReleaseStored(Chunk* chunk);

}  // namespace mxnet
#endif  // MXNET_NDARRAY_STORED_H_
