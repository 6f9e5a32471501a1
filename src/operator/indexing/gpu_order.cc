#include "operator/indexing/gpu_order.h"

#include <algorithm>
#include <string>

#include "operator/reduce/gpu_scan.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

const char* const kFile = "operator/indexing/gpu_order.cuh";

constexpr int64_t kShort = 1024;  // entries of a line that one block sorts in shared memory
constexpr int kDigit = 4, kPerThread = 8;
constexpr int64_t kTile = rtc::kRowThreads * kPerThread;

// Bits of the numbers that SortKey of gpu_order.cuh makes of a dtype's values.
int KeyBits(int dtype) { return 8 * static_cast<int>(DTypeSize(dtype)); }

int BitsOf(int64_t bound) {  // of numbers below it
  int bits = 0;
  while (bits < 63 && (int64_t{1} << bits) < bound) ++bits;
  return bits;
}

struct Problem {
  int64_t outer, size, inner, k;
  bool ascending;
};

// The whole line in shared memory, sorted by (key, position) in a bitonic network: every pair
// differs, so the result is stable.
void OrderShort(KernelArgs& a, const TBlob& data, const Problem& p, void* values, int64_t* positions) {
  rtc::Arguments args;
  int64_t padded = 2;
  while (padded < p.size) padded *= 2;
  args.Add(data.dptr).Add(values).Add(positions).Add(p.size).Add(p.inner).Add(p.k);
  rtc::LaunchRows(a.run, {kFile, "order_line", {data.dtype}, {padded, p.ascending, values != nullptr, positions != nullptr}},
                  p.outer * p.inner, &args);
}

// One pass of a stable radix sort of (key, element number) pairs by four bits, or by four bits of
// the line's number.
struct Pairs {
  void* key;
  int64_t* element;
};
void Pass(KernelArgs& a, int key_dtype, const Pairs& from, const Pairs& to, int64_t n, int shift, int64_t line_size, int64_t* counts) {
  const int64_t blocks = (n + kTile - 1) / kTile;
  const bool by_line = line_size > 0;
  auto arguments = [&] {
    rtc::Arguments args;
    args.Add(from.key).Add(from.element).Add(to.key).Add(to.element).Add(counts).Add(n).Add(int64_t{shift}).Add(line_size);
    return args;
  };
  rtc::Arguments count = arguments();
  rtc::LaunchRows(a.run, {kFile, "radix_count", {key_dtype}, {by_line}}, blocks, &count);
  TBlob table;
  table.dptr = counts;
  table.dtype = kInt64;
  table.shape = Shape{16 * blocks};
  reduce::DeviceScan scan;
  scan.length = 16 * blocks;
  scan.exclusive = true;
  reduce::ScanOnDevice(a, scan, table, table);
  rtc::Arguments scatter = arguments();
  rtc::LaunchRows(a.run, {kFile, "radix_scatter", {key_dtype}, {by_line}}, blocks, &scatter);
}

}  // namespace

void OrderEntriesOnDevice(KernelArgs& a, const TBlob& data, int64_t outer, int64_t size, int64_t inner, int64_t k, bool ascending,
                          void* values, int64_t* positions, int64_t bound) {
  const int64_t lines = outer * inner, n = lines * size;
  if (n == 0 || k == 0) return;
  const int key_bits = KeyBits(data.dtype);
  const Problem p{outer, size, inner, k, ascending};
  if (size <= kShort) return OrderShort(a, data, p, values, positions);
  const int key_dtype = key_bits == 64 ? kUint64 : kUint32;
  Pairs pairs[2];
  for (Pairs& s : pairs) {
    s.key = a.workspace(static_cast<size_t>(n) * DTypeSize(key_dtype));
    s.element = static_cast<int64_t*>(a.workspace(static_cast<size_t>(n) * sizeof(int64_t)));
  }
  int64_t* counts = static_cast<int64_t*>(a.workspace(static_cast<size_t>(16 * ((n + kTile - 1) / kTile)) * sizeof(int64_t)));
  rtc::Arguments args;
  args.Add(data.dptr).Add(pairs[0].key).Add(pairs[0].element).Add(size).Add(inner);
  rtc::LaunchItems(a.run, {kFile, "order_keys", {data.dtype, key_dtype}, {ascending}}, n, &args);
  int now = 0;
  const int bits = bound > 0 ? BitsOf(bound) : key_bits;  // those above are alike
  for (int shift = 0; shift < bits; shift += kDigit, now ^= 1) Pass(a, key_dtype, pairs[now], pairs[now ^ 1], n, shift, 0, counts);
  const int line_bits = BitsOf(lines);
  for (int shift = 0; shift < line_bits; shift += kDigit, now ^= 1) Pass(a, key_dtype, pairs[now], pairs[now ^ 1], n, shift, size, counts);
  rtc::Arguments out;
  out.Add(data.dptr).Add(pairs[now].element).Add(values).Add(positions).Add(size).Add(inner).Add(k);
  rtc::LaunchItems(a.run, {kFile, "order_results", {data.dtype}, {values != nullptr, positions != nullptr}}, lines * k, &out);
}

void OrderEntries(KernelArgs& a, const TBlob& data, int64_t outer, int64_t size, int64_t inner, int64_t k, bool ascending, void* values,
                  int64_t* positions) {
  if (!a.run.ctx.is_gpu()) return OrderEntries(data, outer, size, inner, k, ascending, values, positions);
  OrderEntriesOnDevice(a, data, outer, size, inner, k, ascending, values, positions);
}

}  // namespace mxnet
