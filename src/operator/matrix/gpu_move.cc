#include <algorithm>
#include <vector>

#include "operator/matrix/move.h"
#include "operator/matrix/strided_dims.h"
#include "rtc/loop.h"
#include "rtc/prelude.h"

namespace mxnet {
namespace {

constexpr int kMaxDims = 8;
constexpr int64_t kLarge = int64_t{1} << 31;

const char* const kFile = "operator/matrix/gpu_move.cuh";

// 16-byte elements are vectors of two: the widest access there is.
const char* UnitName(size_t bytes) {
  switch (bytes) {
    case 1: return "unsigned char";
    case 2: return "unsigned short";
    case 4: return "unsigned";
    case 8: return "unsigned long long";
    default: return "kernels::Wide";
  }
}

using Dim = StridedDim;

constexpr int kUnroll = 4;  // elements that a thread of copy_strided has in flight

void AddDims(const std::vector<Dim>& dims, bool large, rtc::Arguments* args) {
  for (const Dim& d : dims) {
    const rtc::FastDivisor divisor(large ? 1 : d.size);
    args->Add(d.size).Add(divisor.multiplier).Add(divisor.shift).Add(d.src).Add(d.dst);
  }
}

// Elements of `unit` bytes along merged dimensions; the caller keeps them in range.
void Launch(const RunContext& run, const void* src, void* dst, const std::vector<Dim>& dims, size_t unit) {
  int64_t total = 1;
  for (const Dim& d : dims) total *= d.size;
  if (total == 0) return;
  MXNET_CHECK_KIND(static_cast<int>(dims.size()) <= kMaxDims, Value)
      << "[copy] " << dims.size() << " separate dimensions on a GPU; at most " << kMaxDims;
  const bool large = total >= kLarge;
  rtc::TemplateArguments t;
  t.Type(UnitName(unit)).Value(static_cast<int64_t>(dims.size())).Value(large);
  const rtc::Kernel& kernel = rtc::FindKernel(kFile, "copy_strided", t);
  rtc::Arguments args;
  args.Add(src).Add(dst).Add(total);
  AddDims(dims, large, &args);
  rtc::Launch(kernel, rtc::Cover((total + kUnroll - 1) / kUnroll), &args, run);
}

bool Divisible(const void* p, size_t bytes) { return reinterpret_cast<uintptr_t>(p) % bytes == 0; }

/*
 * A transpose: the source lies without gaps along one dimension, the destination along another.
 * Square tiles go through shared memory, so that both sides are accessed in whole stretches; a row
 * of a tile is one element longer than it is used, or two, so that its columns lie in different
 * banks. Elements of up to 4 bytes go in pairs. False: it is not one, or too small along one of the
 * two.
 */
bool LaunchTiles(const RunContext& run, const void* src, void* dst, std::vector<Dim> dims, size_t bytes) {
  if (dims.size() < 2 || bytes > 8 || dims.back().dst != 1 || dims.back().src == 1) return false;
  const Dim y = dims.back();
  dims.pop_back();
  const auto along = std::find_if(dims.begin(), dims.end(), [](const Dim& d) { return d.src == 1; });
  if (along == dims.end()) return false;
  const Dim x = *along;
  dims.erase(along);
  if (x.size < 8 || y.size < 8 || static_cast<int>(dims.size()) > kMaxDims) return false;
  bool pairs = bytes <= 4 && x.size % 2 == 0 && y.size % 2 == 0 && x.dst % 2 == 0 && y.src % 2 == 0 && Divisible(src, 2 * bytes) &&
               Divisible(dst, 2 * bytes);
  for (const Dim& d : dims) pairs = pairs && d.src % 2 == 0 && d.dst % 2 == 0;
  const int64_t side = pairs ? 64 : 32, across = (x.size + side - 1) / side, down = (y.size + side - 1) / side;
  int64_t tiles = across * down;
  for (const Dim& d : dims) tiles *= d.size;
  if (tiles >= kLarge) return false;
  if (dims.empty()) dims.push_back({1, 0, 0});
  rtc::TemplateArguments t;
  t.Type(UnitName(bytes)).Type(UnitName(pairs ? 2 * bytes : bytes)).Value(pairs ? 2 : 1).Value(static_cast<int64_t>(dims.size()));
  const rtc::Kernel& kernel = rtc::FindKernel(kFile, "copy_tiles", t);
  rtc::Arguments args;
  args.Add(src).Add(dst).Add(tiles).Add(x.size).Add(y.size).Add(y.src).Add(x.dst);
  for (int64_t count : {across, down}) {
    const rtc::FastDivisor divisor(count);
    args.Add(count).Add(divisor.multiplier).Add(divisor.shift);
  }
  AddDims(dims, false, &args);
  rtc::LaunchShape shape;
  shape.block[0] = 256;
  shape.grid[0] = static_cast<uint32_t>(std::min<int64_t>(tiles, int64_t{1} << 20));
  rtc::Launch(kernel, shape, &args, run);
  return true;
}

}  // namespace

void CopyStrided(const RunContext& run, const void* src, const int64_t* src_stride, void* dst, const int64_t* dst_stride,
                 const int64_t* shape, int ndim, size_t elem_bytes) {
  if (!run.ctx.is_gpu()) return CopyStrided(src, src_stride, dst, dst_stride, shape, ndim, elem_bytes);
  std::vector<Dim> dims;
  if (!MergedDims(src_stride, dst_stride, shape, ndim, &dims)) return;
  if (dims.empty()) dims.push_back({1, 1, 1});
  if (LaunchTiles(run, src, dst, dims, elem_bytes)) return;
  // several elements at a time where both sides are dense and aligned
  size_t unit = elem_bytes;
  Dim& inner = dims.back();
  if (inner.src == 1 && inner.dst == 1) {
    while (unit < 16) {
      bool fits = inner.size % 2 == 0 && Divisible(src, unit * 2) && Divisible(dst, unit * 2);
      for (size_t d = 0; fits && d + 1 < dims.size(); ++d) fits = dims[d].src % 2 == 0 && dims[d].dst % 2 == 0;
      if (!fits) break;
      unit *= 2;
      inner.size /= 2;
      for (size_t d = 0; d + 1 < dims.size(); ++d) dims[d].src /= 2, dims[d].dst /= 2;
    }
  }
  Launch(run, src, dst, dims, unit);
}

void AddStrided(const RunContext& run, const void* src, const int64_t* src_stride, void* dst, const int64_t* dst_stride,
                const int64_t* shape, int ndim, int dtype) {
  if (!run.ctx.is_gpu()) return AddStrided(src, src_stride, dst, dst_stride, shape, ndim, dtype);
  std::vector<Dim> dims, summed;  // dimensions of the destination, and those that are summed into one element of it
  if (!MergedDims(src_stride, dst_stride, shape, ndim, &dims, &summed)) return;
  int64_t results = 1, terms = 1;
  for (const Dim& d : dims) results *= d.size;
  for (const Dim& d : summed) terms *= d.size;
  const bool rows = terms >= 256;  // a block for each result
  rtc::Arguments args;
  args.Add(src).Add(dst).Add(terms);
  for (const auto* list : {&dims, &summed})
    for (const Dim& d : *list) args.Add(d.size).Add(d.src).Add(d.dst);
  const std::initializer_list<int64_t> counts = {static_cast<int64_t>(dims.size()), static_cast<int64_t>(summed.size())};
  if (rows)
    rtc::LaunchRows(run, {kFile, "add_strided_rows", {dtype}, counts}, results, &args);
  else
    rtc::LaunchItems(run, {kFile, "add_strided", {dtype}, counts}, results, &args);
}

void CopyBytes(const RunContext& run, const void* src, void* dst, int64_t bytes) {
  if (!run.ctx.is_gpu()) return CopyBytes(src, dst, bytes);
  if (src == dst || bytes == 0) return;
  const int64_t one = 1;
  CopyStrided(run, src, &one, dst, &one, &bytes, 1, 1);
}

void Permute(const RunContext& run, const void* src, const Shape& src_shape, const int* axes, void* dst, size_t elem_bytes) {
  if (!run.ctx.is_gpu()) return Permute(src, src_shape, axes, dst, elem_bytes);
  const int n = src_shape.ndim();
  std::vector<int64_t> from(n), stride(n), dense(n);
  RowMajorStrides(src_shape, from.data());
  Shape shape(n, 1);
  for (int i = 0; i < n; ++i) {
    shape[i] = src_shape[axes[i]];
    stride[i] = from[axes[i]];
  }
  RowMajorStrides(shape, dense.data());
  CopyStrided(run, src, stride.data(), dst, dense.data(), shape.dims(), n, elem_bytes);
}

void ConvertLayoutOnDevice(const RunContext& run, const TBlob& from, const TBlob& to) {
  if (from.layout == to.layout || from.shape.ndim() < 3) return CopyBytes(run, from.dptr, to.dptr, static_cast<int64_t>(to.Bytes()));
  const int64_t channels = from.shape[1], places = from.shape.Prod(2, from.shape.ndim());
  const bool plain = from.layout == Layout::kPlain;
  const int axes[3] = {0, 2, 1};
  Permute(run, from.dptr, Shape{from.shape[0], plain ? channels : places, plain ? places : channels}, axes, to.dptr, DTypeSize(from.dtype));
}

void CopyRows(const RunContext& run, const void* src, int64_t src_pitch, void* dst, int64_t dst_pitch, int64_t row_bytes, int64_t rows) {
  if (!run.ctx.is_gpu()) return CopyRows(src, src_pitch, dst, dst_pitch, row_bytes, rows);
  const int64_t shape[2] = {rows, row_bytes}, from[2] = {src_pitch, 1}, to[2] = {dst_pitch, 1};
  CopyStrided(run, src, from, dst, to, shape, 2, 1);
}

void ZeroBytes(const RunContext& run, void* dst, int64_t bytes) {
  if (!run.ctx.is_gpu()) return ZeroBytes(dst, bytes);
  if (bytes == 0) return;
  size_t unit = 16;
  while (!Divisible(dst, unit) || bytes % static_cast<int64_t>(unit)) unit /= 2;
  rtc::TemplateArguments t;
  t.Type(UnitName(unit));
  const rtc::Kernel& kernel = rtc::FindKernel(kFile, "zero", t);
  rtc::Arguments args;
  args.Add(dst).Add(bytes / static_cast<int64_t>(unit));
  rtc::Launch(kernel, rtc::Cover(bytes / static_cast<int64_t>(unit)), &args, run);
}

}  // namespace mxnet
