#include "operator/reduce/gpu_scan.h"

#include <algorithm>

#include "rtc/loop.h"

namespace mxnet {
namespace reduce {
namespace {

constexpr int kPerThread = 8;  // as ScanTile of gpu_scan.cuh
constexpr int64_t kTile = rtc::kRowThreads * kPerThread;

const char* const kFile = "operator/reduce/gpu_scan.cuh";

}  // namespace

void ScanOnDevice(KernelArgs& args, const DeviceScan& scan, const TBlob& in, const TBlob& out) {
  const int64_t lines = scan.outer * scan.inner;
  if (lines * scan.length == 0) return;
  const int64_t tiles = (scan.length + kTile - 1) / kTile;
  rtc::Arguments base;
  base.Add(in.dptr).Add(out.dptr).Add(scan.length).Add(scan.inner).Add(int64_t{scan.reverse}).Add(int64_t{scan.exclusive}).Add(tiles);
  // many lines side by side: a thread each, whole memory accesses along them
  if (scan.length <= 64 || (scan.inner >= 32 && lines >= 16384)) {
    rtc::Arguments a = base;
    a.Add(static_cast<const void*>(nullptr));
    return rtc::LaunchItems(args.run, {kFile, "scan_lines", {in.dtype, out.dtype}}, lines, &a);
  }
  // tiles: their sums first, then the sums before each tile, then each tile from there
  TBlob parts;
  parts.dtype = IsFloating(out.dtype) ? kFloat64 : kInt64;
  parts.shape = Shape{lines, tiles};
  parts.dptr = tiles > 1 ? args.workspace(parts.Bytes()) : nullptr;
  if (tiles > 1) {
    rtc::Arguments a = base;
    a.Add(parts.dptr);
    rtc::LaunchRows(args.run, {kFile, "scan_parts", {in.dtype, out.dtype}}, lines * tiles, &a);
    DeviceScan over;
    over.outer = lines;
    over.length = tiles;
    over.exclusive = true;
    ScanOnDevice(args, over, parts, parts);
  }
  rtc::Arguments a = base;
  a.Add(parts.dptr);
  rtc::LaunchRows(args.run, {kFile, "scan_tiles", {in.dtype, out.dtype}, {tiles > 1}}, lines * tiles, &a);
}

}  // namespace reduce
}  // namespace mxnet
