/*
 * The two shapes that most kernels have: a loop over items, one thread each, and a loop over rows,
 * one block each. Kernel sources say what happens to one item or row; loop.cuh has the loops.
 */
#ifndef MXNET_RTC_LOOP_H_
#define MXNET_RTC_LOOP_H_

#include <initializer_list>
#include <string>

#include "rtc/source.h"

namespace mxnet {
namespace rtc {

/*
 * The members of mx::Divisor: Over(i, d) is i / d, by a multiplication where i is unsigned.
 * `large`: i is long long; for LaunchItems this is when there are kLargeCount items.
 */
void AddDivisor(int64_t d, bool large, Arguments* args);
constexpr int64_t kLargeCount = int64_t{1} << 31;

/*
 * The struct kernels::NAME of a source file (rtc/loop.cuh tells what it has): its template takes,
 * for items, the type I of positions (unsigned where there are fewer than kLargeCount, else long
 * long), then the storage types of `dtypes` (-1 where there is no array: int), `values` and
 * `types`.
 */
struct LoopKernel {
  const char* file;
  const char* name;
  std::initializer_list<int> dtypes = {};
  std::initializer_list<int64_t> values = {};
  std::initializer_list<std::string> types = {};
  const char* entry = nullptr;  // the name of the entry point, where it is not that of the struct
};
/* Nothing is launched for no items. `args` in the order of the struct's Args, less the count. */
void LaunchItems(const RunContext& run, const LoopKernel& kernel, int64_t items, Arguments* args);

constexpr int kRowThreads = 256;
/* So many items and those that fill up the last block, whose threads meet in shuffles. */
inline int64_t WholeBlocks(int64_t items) { return (items + kRowThreads - 1) / kRowThreads * kRowThreads; }
/*
 * Blocks of kRowThreads threads; all threads of a block see the same row. The struct may use
 * mx::BlockSum, mx::BlockMax and mx::BlockScan (all with 256 elements of shared memory) and
 * __syncthreads() where all threads come by.
 */
void LaunchRows(const RunContext& run, const LoopKernel& kernel, int64_t rows, Arguments* args);

/* Copies from the device when everything before on run.stream is done, and waits for it: for what
 * cannot be known otherwise. */
void ReadBack(const RunContext& run, const void* src, void* dst, size_t bytes);

}  // namespace rtc
}  // namespace mxnet
#endif  // MXNET_RTC_LOOP_H_
