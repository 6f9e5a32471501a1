#include "operator/indexing/gpu_order.h"

#include <algorithm>
#include <string>

#include "operator/reduce/gpu_scan.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

using rtc::LoopText;

constexpr int64_t kShort = 1024;  // entries of a line that one block sorts in shared memory
constexpr int kDigit = 4, kPerThread = 8;
constexpr int64_t kTile = rtc::kRowThreads * kPerThread;

// Unsigned numbers in the order of the values, as in order_cpu.cc, with as few bits as the dtype
// has.
struct KeyText {
  int bits;
  std::string function;  // K SortKey(D0)
};
KeyText KeyOf(int dtype) {
  const std::string head = "__device__ __forceinline__ K SortKey(D0 v) ";
  switch (dtype) {
    case kFloat64:
      return {64, head +
                      "{\n  if (v != v) return ~0ull;\n  v += 0.0;\n  const K u = static_cast<K>(__double_as_longlong(v));\n  return u >> "
                      "63 ? ~u : u | 1ull << 63;\n}\n"};
    case kFloat32:
      return {32, head +
                      "{\n  if (v != v) return 0xffffffffu;\n  v += 0.0f;\n  const K u = __float_as_uint(v);\n  return u >> 31 ? ~u : u | "
                      "0x80000000u;\n}\n"};
    case kFloat16:
    case kBfloat16: {
      const std::string top = dtype == kFloat16 ? "0x7c00u" : "0x7f80u";  // beyond it are NaNs
      return {16, head + "{\n  const K u = v.bits, size = u & 0x7fffu;\n  if (size > " + top +
                      ") return 0xffffu;\n  if (size == 0) return 0x8000u;\n"
                      "  return u >> 15 ? 0xffffu & ~u : u | 0x8000u;\n}\n"};
    }
    case kBool: return {8, head + "{ return v.bits != 0; }\n"};
    case kUint8: return {8, head + "{ return v; }\n"};
    case kInt8: return {8, head + "{ return (static_cast<K>(v) ^ 0x80u) & 0xffu; }\n"};
    case kUint16: return {16, head + "{ return v; }\n"};
    case kInt16: return {16, head + "{ return (static_cast<K>(v) ^ 0x8000u) & 0xffffu; }\n"};
    case kUint32: return {32, head + "{ return v; }\n"};
    case kInt32: return {32, head + "{ return static_cast<K>(v) ^ 0x80000000u; }\n"};
    case kUint64: return {64, head + "{ return v; }\n"};
    default: return {64, head + "{ return static_cast<K>(v) ^ 1ull << 63; }\n"};
  }
}

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
void OrderShort(KernelArgs& a, const TBlob& data, const Problem& p, const KeyText& key, void* values, int64_t* positions) {
  rtc::Arguments args;
  int64_t padded = 2;
  while (padded < p.size) padded *= 2;
  args.Add(data.dptr).Add(values).Add(positions).Add(p.size).Add(p.inner).Add(p.k);
  const int64_t variant = padded * 8 + (p.ascending ? 4 : 0) + (values ? 2 : 0) + (positions ? 1 : 0);
  rtc::LaunchRows(a.run, {"order_line", {data.dtype}, variant}, p.outer * p.inner, &args, [&] {
    const std::string n = std::to_string(padded), all = key.bits == 64 ? "~0ull" : std::to_string((uint64_t{1} << key.bits) - 1) + "u";
    std::string body =
        "    __shared__ K keys[" + n + "];\n    __shared__ int at[" + n +
        "];\n    const long long o = row / a.inner, q = row % a.inner;\n"
        "    for (int s = threadIdx.x; s < " +
        n +
        "; s += 256) {\n"
        // what is not there stands behind everything: the largest key with a
        // position that is larger still
        "      keys[s] = s < a.size ? static_cast<K>(SortKey(a.data[(o * a.size + s) * a.inner + q])" +
        (p.ascending ? std::string() : " ^ " + all) + ") : static_cast<K>(" + all +
        ");\n"
        "      at[s] = s;\n    }\n    __syncthreads();\n"
        "    for (int width = 2; width <= " +
        n +
        "; width *= 2)\n      for (int step = width / 2; step > 0; step /= 2) {\n"
        "        for (int s = threadIdx.x; s < " +
        n +
        "; s += 256) {\n          const int other = s ^ step;\n          if (other > s) {\n"
        "            const bool up = (s & width) == 0, above = keys[s] > keys[other] || (keys[s] == keys[other] && at[s] > at[other]);\n"
        "            if (above == up) {\n              const K kept = keys[s];\n              keys[s] = keys[other];\n              "
        "keys[other] = kept;\n"
        "              const int place = at[s];\n              at[s] = at[other];\n              at[other] = place;\n            }\n       "
        "   }\n        }\n        __syncthreads();\n      }\n"
        "    for (int s = threadIdx.x; s < a.k; s += 256) {\n      const long long to = (o * a.k + s) * a.inner + q;\n";
    if (values) body += "      a.values[to] = a.data[(o * a.size + at[s]) * a.inner + q];\n";
    if (positions) body += "      a.positions[to] = at[s];\n";
    return LoopText{"const D0* data; D0* values; long long* positions; long long size, inner, k;",
                    std::string("typedef ") + (key.bits == 64 ? "unsigned long long" : "unsigned") + " K;\n" + key.function,
                    body + "    }\n"};
  });
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
  const std::string digit = by_line ? "const unsigned d = static_cast<unsigned>(a.element[e] / a.line >> a.shift) & 15u;\n"
                                    : "const unsigned d = static_cast<unsigned>(a.key[e] >> a.shift) & 15u;\n";
  const char* const members =
      "const D0* key; const long long* element; D0* key_to; long long* element_to; long long* counts; long long n, shift, line;";
  auto arguments = [&] {
    rtc::Arguments args;
    args.Add(from.key).Add(from.element).Add(to.key).Add(to.element).Add(counts).Add(n).Add(int64_t{shift}).Add(line_size);
    return args;
  };
  rtc::Arguments count = arguments();
  rtc::LaunchRows(a.run, {"radix_count", {key_dtype}, by_line}, blocks, &count, [&] {
    return LoopText{
        members, "",
        "    __shared__ unsigned number[16];\n    if (threadIdx.x < 16) number[threadIdx.x] = 0;\n    __syncthreads();\n"
        "    for (int j = 0; j < 8; ++j) {\n      const long long e = row * 2048 + j * 256 + threadIdx.x;\n      if (e < a.n) {\n        " +
            digit +
            "        atomicAdd(&number[d], 1u);\n      }\n    }\n    __syncthreads();\n    if (threadIdx.x < 16) a.counts[threadIdx.x * "
            "a.count + row] = number[threadIdx.x];\n"};
  });
  TBlob table;
  table.dptr = counts;
  table.dtype = kInt64;
  table.shape = Shape{16 * blocks};
  reduce::DeviceScan scan;
  scan.length = 16 * blocks;
  scan.exclusive = true;
  reduce::ScanOnDevice(a, scan, table, table);
  rtc::Arguments scatter = arguments();
  rtc::LaunchRows(a.run, {"radix_scatter", {key_dtype}, by_line}, blocks, &scatter, [&] {
    // a thread has eight neighbours; number[d][t]: how many of digit d threads before t have,
    // behind those of smaller digits
    return LoopText{
        members, "",
        "    __shared__ unsigned short number[16 * 256];\n    __shared__ unsigned shared[256];\n"
        "    for (int d = 0; d < 16; ++d) number[d * 256 + threadIdx.x] = 0;\n    __syncthreads();\n"
        "    const long long first = row * 2048 + threadIdx.x * 8;\n"
        "    for (long long e = first; e < first + 8 && e < a.n; ++e) {\n      " +
            digit +
            "      ++number[d * 256 + threadIdx.x];\n    }\n    __syncthreads();\n"
            "    unsigned mine = 0, total;\n    for (int j = 0; j < 16; ++j) mine += number[threadIdx.x * 16 + j];\n"
            "    unsigned before = mx::BlockScan(mine, shared, &total);\n"
            "    for (int j = 0; j < 16; ++j) {\n      const unsigned here = number[threadIdx.x * 16 + j];\n      number[threadIdx.x * 16 "
            "+ j] = static_cast<unsigned short>(before);\n      before += here;\n    }\n"
            "    __syncthreads();\n    if (threadIdx.x < 16) shared[threadIdx.x] = number[threadIdx.x * 256];\n    __syncthreads();\n"
            "    for (long long e = first; e < first + 8 && e < a.n; ++e) {\n      " +
            digit +
            "      const unsigned place = number[d * 256 + threadIdx.x]++;\n      const long long to = a.counts[d * a.count + row] + "
            "(place - shared[d]);\n"
            "      a.key_to[to] = a.key[e];\n      a.element_to[to] = a.element[e];\n    }\n"};
  });
}

}  // namespace

void OrderEntriesOnDevice(KernelArgs& a, const TBlob& data, int64_t outer, int64_t size, int64_t inner, int64_t k, bool ascending,
                          void* values, int64_t* positions, int64_t bound) {
  const int64_t lines = outer * inner, n = lines * size;
  if (n == 0 || k == 0) return;
  const KeyText key = KeyOf(data.dtype);
  const Problem p{outer, size, inner, k, ascending};
  if (size <= kShort) return OrderShort(a, data, p, key, values, positions);
  const int key_dtype = key.bits == 64 ? kUint64 : kUint32;
  Pairs pairs[2];
  for (Pairs& s : pairs) {
    s.key = a.workspace(static_cast<size_t>(n) * DTypeSize(key_dtype));
    s.element = static_cast<int64_t*>(a.workspace(static_cast<size_t>(n) * sizeof(int64_t)));
  }
  int64_t* counts = static_cast<int64_t*>(a.workspace(static_cast<size_t>(16 * ((n + kTile - 1) / kTile)) * sizeof(int64_t)));
  rtc::Arguments args;
  args.Add(data.dptr).Add(pairs[0].key).Add(pairs[0].element).Add(size).Add(inner);
  rtc::LaunchItems(a.run, {"order_keys", {data.dtype, key_dtype}, ascending}, n, &args, [&] {
    const std::string all = key.bits == 64 ? "~0ull" : std::to_string((uint64_t{1} << key.bits) - 1) + "u";
    return LoopText{
        "const D0* data; D1* key; long long* element; long long size, inner;", "typedef D1 K;\n" + key.function,
        "    const I line = i / static_cast<I>(a.size), s = i - line * static_cast<I>(a.size), o = line / static_cast<I>(a.inner);\n"
        "    a.key[i] = SortKey(a.data[(o * a.size + s) * a.inner + (line - o * static_cast<I>(a.inner))])" +
            (ascending ? std::string() : " ^ " + all) + ";\n    a.element[i] = i;\n"};
  });
  int now = 0;
  const int bits = bound > 0 ? BitsOf(bound) : key.bits;  // those above are alike
  for (int shift = 0; shift < bits; shift += kDigit, now ^= 1) Pass(a, key_dtype, pairs[now], pairs[now ^ 1], n, shift, 0, counts);
  const int line_bits = BitsOf(lines);
  for (int shift = 0; shift < line_bits; shift += kDigit, now ^= 1) Pass(a, key_dtype, pairs[now], pairs[now ^ 1], n, shift, size, counts);
  rtc::Arguments out;
  out.Add(data.dptr).Add(pairs[now].element).Add(values).Add(positions).Add(size).Add(inner).Add(k);
  rtc::LaunchItems(a.run, {"order_results", {data.dtype}, (values ? 2 : 0) + (positions ? 1 : 0)}, lines * k, &out, [&] {
    std::string body =
        "    const I line = i / static_cast<I>(a.k), s = i - line * static_cast<I>(a.k), o = line / static_cast<I>(a.inner), q = line - o "
        "* static_cast<I>(a.inner);\n"
        "    const long long at = a.element[line * a.size + s] - line * a.size, to = (o * a.k + s) * a.inner + q;\n";
    if (values) body += "    a.values[to] = a.data[(o * a.size + at) * a.inner + q];\n";
    if (positions) body += "    a.positions[to] = at;\n";
    return LoopText{"const D0* data; const long long* element; D0* values; long long* positions; long long size, inner, k;", "", body};
  });
}

void OrderEntries(KernelArgs& a, const TBlob& data, int64_t outer, int64_t size, int64_t inner, int64_t k, bool ascending, void* values,
                  int64_t* positions) {
  if (!a.run.ctx.is_gpu()) return OrderEntries(data, outer, size, inner, k, ascending, values, positions);
  OrderEntriesOnDevice(a, data, outer, size, inner, k, ascending, values, positions);
}

}  // namespace mxnet
