/*
 * The two shapes that most generated kernels have: a loop over items, one thread each, and a loop
 * over rows, one block each. Callers write what happens to one item or row; this adds the rest of
 * the text and launches it.
 */
#ifndef MXNET_RTC_LOOP_H_
#define MXNET_RTC_LOOP_H_

#include <functional>
#include <initializer_list>
#include <string>

#include "rtc/source.h"

namespace mxnet {
namespace rtc {

/* D0, D1, ... are the storage types of the dtypes in the key. */
struct LoopText {
  std::string members;    // of struct Args, eight bytes each; behind them comes `long long count`
  std::string functions;  // stand in front of the kernel
  std::string body;       // statements for item i (of type I: unsigned where count < 2^31, else long long) or row (long long)
};
/* What tells one text from another. `dtypes` may hold -1 where there is no array: then D is int. */
struct LoopKey {
  const char* name;  // of the kernel
  std::initializer_list<int> dtypes;
  int64_t variant = 0;
};
using MakeLoopText = std::function<LoopText()>;

/*
 * Divisor d as three members D, Dm, Dh of a text: Over(i, a.D, a.Dm, a.Dh) is i / d, by a
 * multiplication where i is unsigned. `large`: i is long long; for LaunchItems this is when there
 * are kLargeCount items.
 */
void AddDivisor(int64_t d, bool large, Arguments* args);
constexpr int64_t kLargeCount = int64_t{1} << 31;

/*
 * The struct kernels::NAME of a source file (rtc/loop.cuh tells what it has): its template takes, for
 * items, the type I of positions (unsigned where there are fewer than kLargeCount, else long long),
 * then the storage types of `dtypes` (-1 where there is no array: int), `values` and `types`.
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

/* Nothing is launched for no items. `args` in the order of members. */
void LaunchItems(const RunContext& run, const LoopKey& key, int64_t items, Arguments* args, const MakeLoopText& make);

constexpr int kRowThreads = 256;
/*
 * Blocks of kRowThreads threads; all threads of a block see the same row. The text may use
 * mx::BlockSum, mx::BlockMax and mx::BlockScan (all with 256 elements of shared memory) and
 * __syncthreads() where all threads come by.
 */
void LaunchRows(const RunContext& run, const LoopKernel& kernel, int64_t rows, Arguments* args);
void LaunchRows(const RunContext& run, const LoopKey& key, int64_t rows, Arguments* args, const MakeLoopText& make);

/* Copies from the device when everything before on run.stream is done, and waits for it: for what
 * cannot be known otherwise. */
void ReadBack(const RunContext& run, const void* src, void* dst, size_t bytes);

}  // namespace rtc
}  // namespace mxnet
#endif  // MXNET_RTC_LOOP_H_
