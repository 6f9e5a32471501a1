#include "operator/reduce/gpu_scan.h"

#include <algorithm>

#include "rtc/loop.h"

namespace mxnet {
namespace reduce {
namespace {

constexpr int kPerThread = 8;
constexpr int64_t kTile = rtc::kRowThreads * kPerThread;

std::string N(int64_t i) { return std::to_string(i); }

// Where element `s` in the order of summing lies, s < a.length.
const char* const kWhere = "(o * a.length + (a.reverse != 0 ? a.length - 1 - s : s)) * a.inner + q";

}  // namespace

void ScanOnDevice(KernelArgs& args, const DeviceScan& scan, const TBlob& in, const TBlob& out) {
  const int64_t lines = scan.outer * scan.inner;
  if (lines * scan.length == 0) return;
  const bool integer = !IsFloating(out.dtype);
  const std::string sum = integer ? "long long" : "double", function = "typedef " + sum + " A;\n";
  const char* const members = "const D0* in; D1* out; long long length, inner, reverse, exclusive, tiles; A* parts;";
  const int64_t tiles = (scan.length + kTile - 1) / kTile;
  rtc::Arguments base;
  base.Add(in.dptr).Add(out.dptr).Add(scan.length).Add(scan.inner).Add(int64_t{scan.reverse}).Add(int64_t{scan.exclusive}).Add(tiles);
  // many lines side by side: a thread each, whole memory accesses along them
  if (scan.length <= 64 || (scan.inner >= 32 && lines >= 16384)) {
    rtc::Arguments a = base;
    a.Add(static_cast<const void*>(nullptr));
    return rtc::LaunchItems(args.run, {"scan_lines", {in.dtype, out.dtype}}, lines, &a, [&] {
      return rtc::LoopText{members, function,
                           "    const long long o = i / static_cast<I>(a.inner), q = i % static_cast<I>(a.inner);\n    A sum = A(0);\n"
                           "    for (long long s = 0; s < a.length; ++s) {\n      const long long at = " +
                               std::string(kWhere) +
                               ";\n      const A v = mx::Load<A>(a.in, at), before = sum;\n      sum += v;\n      mx::Store(a.out, at, "
                               "a.exclusive != 0 ? before : sum);\n    }\n"};
    });
  }
  // tiles: their sums first, then the sums before each tile, then each tile from there
  TBlob parts;
  parts.dtype = integer ? kInt64 : kFloat64;
  parts.shape = Shape{lines, tiles};
  parts.dptr = tiles > 1 ? args.workspace(parts.Bytes()) : nullptr;
  const std::string head =
      "    __shared__ A shared[256];\n    const long long line = row / a.tiles, tile = row % a.tiles, o = line / a.inner, q = line % "
      "a.inner;\n"
      "    const long long first = tile * " +
      N(kTile) + " + threadIdx.x * " + N(kPerThread) + ";\n    A v[" + N(kPerThread) +
      "], mine = A(0);\n"
      "    for (int j = 0; j < " +
      N(kPerThread) +
      "; ++j) {\n      const long long s = first + j;\n      v[j] = A(0);\n      if (s < a.length) v[j] = mx::Load<A>(a.in, " + kWhere +
      ");\n      mine += v[j];\n    }\n";
  if (tiles > 1) {
    rtc::Arguments a = base;
    a.Add(parts.dptr);
    rtc::LaunchRows(args.run, {"scan_parts", {in.dtype, out.dtype}}, lines * tiles, &a, [&] {
      return rtc::LoopText{members, function,
                           head + "    const A total = mx::BlockSum(mine, shared);\n    if (threadIdx.x == 0) a.parts[row] = total;\n"};
    });
    DeviceScan over;
    over.outer = lines;
    over.length = tiles;
    over.exclusive = true;
    ScanOnDevice(args, over, parts, parts);
  }
  rtc::Arguments a = base;
  a.Add(parts.dptr);
  rtc::LaunchRows(args.run, {"scan_tiles", {in.dtype, out.dtype}, tiles > 1}, lines * tiles, &a, [&] {
    return rtc::LoopText{members, function,
                         head + "    A total;\n    A sum = mx::BlockScan(mine, shared, &total);\n" +
                             (tiles > 1 ? "    sum += a.parts[row];\n" : "") + "    for (int j = 0; j < " + N(kPerThread) +
                             "; ++j) {\n      const long long s = first + j;\n      const A before = sum;\n      sum += v[j];\n      if (s "
                             "< a.length) mx::Store(a.out, " +
                             kWhere + ", a.exclusive != 0 ? before : sum);\n    }\n"};
  });
}

}  // namespace reduce
}  // namespace mxnet
