#include "operator/matrix/gpu_move.h"

#include <algorithm>
#include <vector>

#include "operator/matrix/strided_dims.h"
#include "rtc/loop.h"
#include "rtc/prelude.h"

namespace mxnet {
namespace {

constexpr int kMaxDims = 8;
constexpr int64_t kLarge = int64_t{1} << 31;

std::string N(int64_t i) { return std::to_string(i); }

// 16-byte elements are vectors of two: the widest access there is.
const char* UnitName(size_t bytes) {
  switch (bytes) {
    case 1: return "unsigned char";
    case 2: return "unsigned short";
    case 4: return "unsigned";
    case 8: return "unsigned long long";
    default: return "Wide";
  }
}

const char* const kWide = "struct alignas(16) Wide { unsigned long long v[2]; };\n";

using Dim = StridedDim;

constexpr int kUnroll = 4;  // elements that a thread has under way

// From here on: from linear positions to addresses. `rest` is what is left of the position; the
// quotients by d, exact by m and h below 2^31.
std::string DimMembers(size_t n) {
  std::string t;
  for (size_t d = 0; d < n; ++d) t += " long long d" + N(d) + ", m" + N(d) + ", h" + N(d) + ", s" + N(d) + ", t" + N(d) + ";";
  return t;
}
std::string DimText(size_t n, bool large, const char* indent) {
  std::string t;
  for (size_t d = n; d-- > 0;) {
    t += indent;
    if (d == 0)
      t += "at = rest;\n";
    else if (large)
      t += "q = rest / a.d" + N(d) + "; at = rest - q * a.d" + N(d) + "; rest = q;\n";
    else
      t += "q = mx::Divide(rest, a.m" + N(d) + ", a.h" + N(d) + "); at = rest - q * static_cast<unsigned>(a.d" + N(d) + "); rest = q;\n";
    t +=
        std::string(indent) + "from += static_cast<long long>(at) * a.s" + N(d) + "; to += static_cast<long long>(at) * a.t" + N(d) + ";\n";
  }
  return t;
}
void AddDims(const std::vector<Dim>& dims, bool large, rtc::Arguments* args) {
  for (const Dim& d : dims) {
    const rtc::FastDivisor divisor(large ? 1 : d.size);
    args->Add(d.size).Add(divisor.multiplier).Add(divisor.shift).Add(d.src).Add(d.dst);
  }
}

// Elements of `unit` bytes along merged dimensions; out of range is nobody's business here.
void Launch(const RunContext& run, const void* src, void* dst, const std::vector<Dim>& dims, size_t unit) {
  int64_t total = 1;
  for (const Dim& d : dims) total *= d.size;
  if (total == 0) return;
  MXNET_CHECK_KIND(static_cast<int>(dims.size()) <= kMaxDims, Value)
      << "[copy] " << dims.size() << " separate dimensions on a GPU; at most " << kMaxDims;
  const bool large = total >= kLarge;
  const rtc::Kernel& kernel = rtc::FindKernel("copy_strided|" + N(unit) + "," + N(dims.size()) + (large ? "L" : ""), [&](rtc::Kernel* k) {
    k->name = "copy_strided";
    const std::string index = large ? "long long" : "unsigned", turns = N(kUnroll),
                      each = "#pragma unroll\n    for (int u = 0; u < " + turns + "; ++u) {\n      const long long i = base + u * 256;\n";
    k->source = rtc::Prelude() + kWide + "typedef " + UnitName(unit) + " U;\nstruct Args { const U* src; U* dst; long long total;" +
                DimMembers(dims.size()) +
                " };\nextern \"C\" __global__ void __launch_bounds__(256) copy_strided(const __grid_constant__ Args a) {\n"
                "#pragma unroll 1\n  for (long long base = static_cast<long long>(blockIdx.x) * 256 * " +
                turns + " + threadIdx.x; base < a.total; base += static_cast<long long>(gridDim.x) * 256 * " + turns + ") {\n    U v[" +
                turns + "];\n    long long place[" + turns + "];\n" + each +
                "      if (i < a.total) {\n        long long from = 0, to = 0;\n        " + index + " rest = static_cast<" + index +
                ">(i), q, at;\n        (void)q;\n" + DimText(dims.size(), large, "        ") +
                "        v[u] = a.src[from];\n        place[u] = to;\n      }\n    }\n" + each +
                "      if (i < a.total) a.dst[place[u]] = v[u];\n    }\n  }\n}\n";
  });
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
  const rtc::Kernel& kernel = rtc::FindKernel("copy_tiles|" + N(bytes) + "," + N(dims.size()) + (pairs ? "p" : ""), [&](rtc::Kernel* k) {
    k->name = "copy_tiles";
    k->source = rtc::Prelude() + "typedef " + UnitName(bytes) + " U;\nconstexpr int kPack = " + (pairs ? "2" : "1") +
                ", kSide = 32 * kPack, kRow = kSide + " +
                (bytes == 1            ? "4"
                 : pairs && bytes == 2 ? "2"
                                       : "1") +
                ";\ntypedef " + UnitName(pairs ? 2 * bytes : bytes) +
                " Pack;\nstruct Args { const U* src; U* dst; long long tiles, nx, ny, sy, tx, across, ma, ha, down, md, hd;" +
                DimMembers(dims.size()) + R"TEXT( };
extern "C" __global__ void __launch_bounds__(256) copy_tiles(const __grid_constant__ Args a) {
  __shared__ U tile[kSide][kRow];
  const int lane = threadIdx.x % 32 * kPack, line = threadIdx.x / 32;
#pragma unroll 1
  for (long long k = blockIdx.x; k < a.tiles; k += gridDim.x) {
    unsigned rest = static_cast<unsigned>(k), q = mx::Divide(rest, a.ma, a.ha), at;
    const long long x0 = static_cast<long long>(rest - q * static_cast<unsigned>(a.across)) * kSide;
    rest = q;
    q = mx::Divide(rest, a.md, a.hd);
    const long long y0 = static_cast<long long>(rest - q * static_cast<unsigned>(a.down)) * kSide;
    const int right = a.nx - x0 < kSide ? static_cast<int>(a.nx - x0) : kSide, below = a.ny - y0 < kSide ? static_cast<int>(a.ny - y0) : kSide;
    long long from = y0 * a.sy + x0, to = x0 * a.tx + y0;
    rest = q;
    (void)at;
)TEXT" + DimText(dims.size(), false, "    ") +
                R"TEXT(    Pack v[kSide / 8];
    const U* source = a.src + from + line * a.sy + lane;
#pragma unroll
    for (int r = 0; r < kSide / 8; ++r, source += 8 * a.sy)
      if (line + 8 * r < below && lane < right) v[r] = *reinterpret_cast<const Pack*>(source);
#pragma unroll
    for (int r = 0; r < kSide / 8; ++r)
#pragma unroll
      for (int j = 0; j < kPack; ++j) tile[line + 8 * r][lane + j] = static_cast<U>(v[r] >> (8 * sizeof(U) * j));
    __syncthreads();
    U* result = a.dst + to + line * a.tx + lane;
#pragma unroll
    for (int r = 0; r < kSide / 8; ++r, result += 8 * a.tx)
      if (line + 8 * r < right && lane < below) {
        Pack w = 0;
#pragma unroll
        for (int j = 0; j < kPack; ++j) w |= static_cast<Pack>(tile[lane + j][line + 8 * r]) << (8 * sizeof(U) * j);
        *reinterpret_cast<Pack*>(result) = w;
      }
    __syncthreads();
  }
}
)TEXT";
  });
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
  const int64_t variant = static_cast<int64_t>(dims.size() * 64 + summed.size());
  auto make = [&] {
    std::string members = "const D0* src; D0* dst; long long terms;", number = rows ? "long long" : "I",
                place = "    long long from = 0, to = 0;\n    " + number + " rest = " + (rows ? "row" : "i") + ", term = 0, at = 0;\n",
                step;
    auto walk = [&](const std::vector<Dim>& list, const char* prefix, const std::string& what, const char* from, std::string* text) {
      for (size_t d = 0; d < list.size(); ++d)
        members += std::string(" long long ") + prefix + "d" + N(d) + ", " + prefix + "s" + N(d) + ", " + prefix + "t" + N(d) + ";";
      for (size_t d = list.size(); d-- > 0;) {
        const std::string p = prefix, n = N(static_cast<int64_t>(d));
        *text += "    at = " + what + " % static_cast<" + number + ">(a." + p + "d" + n + "); " + what + " /= static_cast<" + number +
                 ">(a." + p + "d" + n + "); " + from + " += at * a." + p + "s" + n + ";";
        *text += p == "k" ? " to += at * a.kt" + n + ";\n" : "\n";
      }
    };
    walk(dims, "k", "rest", "from", &place);
    walk(summed, "r", "term", "where", &step);
    std::string body =
        place + "    A sum = A(0);\n    for (long long t = " + (rows ? "threadIdx.x; t < a.terms; t += 256" : "0; t < a.terms; ++t") +
        ") {\n    long long where = from;\n    term = t;\n" + step + "    sum += mx::Load<A>(a.src, where);\n    }\n";
    if (rows)
      body = "    __shared__ A shared[256];\n" + body + "    sum = mx::BlockSum(sum, shared);\n    if (threadIdx.x == 0) ";
    else
      body += "    ";
    return rtc::LoopText{members, std::string("typedef ") + (IsFloating(dtype) ? "double" : "long long") + " A;\n",
                         body + "mx::Store(a.dst, to, mx::Load<A>(a.dst, to) + sum);\n"};
  };
  if (rows)
    rtc::LaunchRows(run, {"add_strided_rows", {dtype}, variant}, results, &args, make);
  else
    rtc::LaunchItems(run, {"add_strided", {dtype}, variant}, results, &args, make);
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
  const std::string type = UnitName(unit);
  const rtc::Kernel& kernel = rtc::FindKernel("zero|" + type, [&](rtc::Kernel* k) {
    k->name = "zero";
    k->source = rtc::Prelude() + kWide + "struct Args { " + type +
                "* dst; long long total; };\n"
                "extern \"C\" __global__ void __launch_bounds__(256) zero(const __grid_constant__ Args a) {\n"
                "#pragma unroll 1\n  for (long long i = mx::ThreadIndex(); i < a.total; i += mx::ThreadCount()) a.dst[i] = " +
                (unit == 16 ? "Wide()" : "0") + ";\n}\n";
  });
  rtc::Arguments args;
  args.Add(dst).Add(bytes / static_cast<int64_t>(unit));
  rtc::Launch(kernel, rtc::Cover(bytes / static_cast<int64_t>(unit)), &args, run);
}

}  // namespace mxnet
