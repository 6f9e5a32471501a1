#include "operator/matrix/device_move.h"

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

using Dim = StridedDim;

// Elements of `unit` bytes along merged dimensions; out of range is nobody's business here.
void Launch(const RunContext& run, const void* src, void* dst, const std::vector<Dim>& dims, size_t unit) {
  int64_t total = 1;
  for (const Dim& d : dims) total *= d.size;
  if (total == 0) return;
  MXNET_CHECK_KIND(static_cast<int>(dims.size()) <= kMaxDims, Value) << "[copy] " << dims.size() << " separate dimensions on a GPU; at most " << kMaxDims;
  const bool large = total >= kLarge;
  const int n = static_cast<int>(dims.size());
  const rtc::Kernel& kernel = rtc::FindKernel("copy_strided|" + N(unit) + "," + N(n) + (large ? "L" : ""), [&](rtc::Kernel* k) {
    k->name = "copy_strided";
    std::string t = rtc::Prelude() + "struct alignas(16) Wide { unsigned long long v[2]; };\ntypedef " + UnitName(unit) + " U;\n";
    t += "struct Args { const U* src; U* dst; long long total;";
    for (int d = 0; d < n; ++d) t += " long long d" + N(d) + ", m" + N(d) + ", h" + N(d) + ", s" + N(d) + ", t" + N(d) + ";";
    t += " };\nextern \"C\" __global__ void __launch_bounds__(256) copy_strided(const __grid_constant__ Args a) {\n";
    const char* index = large ? "long long" : "unsigned";
    t += "  for (long long i = mx::ThreadIndex(); i < a.total; i += mx::ThreadCount()) {\n    long long from = 0, to = 0;\n    ";
    t += std::string(index) + " rest = static_cast<" + index + ">(i), q, at;\n";
    for (int d = n - 1; d >= 0; --d) {
      if (d == 0) t += "    at = rest;\n";
      else if (large) t += "    q = rest / a.d" + N(d) + "; at = rest - q * a.d" + N(d) + "; rest = q;\n";
      else t += "    q = mx::Divide(rest, a.m" + N(d) + ", a.h" + N(d) + "); at = rest - q * static_cast<unsigned>(a.d" + N(d) + "); rest = q;\n";
      t += "    from += static_cast<long long>(at) * a.s" + N(d) + "; to += static_cast<long long>(at) * a.t" + N(d) + ";\n";
    }
    k->source = t + "    a.dst[to] = a.src[from];\n  }\n}\n";
  });
  rtc::Arguments args;
  args.Add(src).Add(dst).Add(total);
  for (const Dim& d : dims) {
    const rtc::FastDivisor divisor(large ? 1 : d.size);
    args.Add(d.size).Add(divisor.multiplier).Add(divisor.shift).Add(d.src).Add(d.dst);
  }
  rtc::Launch(kernel, rtc::Cover(total), &args, run);
}

bool Divisible(const void* p, size_t bytes) { return reinterpret_cast<uintptr_t>(p) % bytes == 0; }

}  // namespace

void CopyStrided(const RunContext& run, const void* src, const int64_t* src_stride, void* dst, const int64_t* dst_stride, const int64_t* shape, int ndim, size_t elem_bytes) {
  if (!run.ctx.is_gpu()) return CopyStrided(src, src_stride, dst, dst_stride, shape, ndim, elem_bytes);
  std::vector<Dim> dims;
  if (!MergedDims(src_stride, dst_stride, shape, ndim, &dims)) return;
  if (dims.empty()) dims.push_back({1, 1, 1});
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

void AddStrided(const RunContext& run, const void* src, const int64_t* src_stride, void* dst, const int64_t* dst_stride, const int64_t* shape, int ndim, int dtype) {
  if (!run.ctx.is_gpu()) return AddStrided(src, src_stride, dst, dst_stride, shape, ndim, dtype);
  std::vector<Dim> dims, summed;   // dimensions of the destination, and those that are summed into one element of it
  if (!MergedDims(src_stride, dst_stride, shape, ndim, &dims, &summed)) return;
  int64_t results = 1, terms = 1;
  for (const Dim& d : dims) results *= d.size;
  for (const Dim& d : summed) terms *= d.size;
  const bool rows = terms >= 256;   // a block for each result
  rtc::Arguments args;
  args.Add(src).Add(dst).Add(terms);
  for (const auto* list : {&dims, &summed})
    for (const Dim& d : *list) args.Add(d.size).Add(d.src).Add(d.dst);
  const int64_t variant = static_cast<int64_t>(dims.size() * 64 + summed.size());
  auto make = [&] {
    std::string members = "const D0* src; D0* dst; long long terms;", place = "    long long from = 0, to = 0, rest = " + std::string(rows ? "row" : "i") + ", term = 0, at = 0;\n", step;
    auto walk = [&](const std::vector<Dim>& list, const char* prefix, const std::string& number, const char* from, std::string* text) {
      for (size_t d = 0; d < list.size(); ++d) members += std::string(" long long ") + prefix + "d" + N(d) + ", " + prefix + "s" + N(d) + ", " + prefix + "t" + N(d) + ";";
      for (size_t d = list.size(); d-- > 0;) {
        const std::string p = prefix, n = N(static_cast<int64_t>(d));
        *text += "    at = " + number + " % a." + p + "d" + n + "; " + number + " /= a." + p + "d" + n + "; " + from + " += at * a." + p + "s" + n + ";";
        *text += p == "k" ? " to += at * a.kt" + n + ";\n" : "\n";
      }
    };
    walk(dims, "k", "rest", "from", &place);
    walk(summed, "r", "term", "where", &step);
    std::string body = place + "    A sum = A(0);\n    for (long long t = " + (rows ? "threadIdx.x; t < a.terms; t += 256" : "0; t < a.terms; ++t") + ") {\n    long long where = from;\n    term = t;\n" +
                       step + "    sum += mx::Load<A>(a.src, where);\n    }\n";
    if (rows) body = "    __shared__ A shared[256];\n" + body + "    sum = mx::BlockSum(sum, shared);\n    if (threadIdx.x == 0) ";
    else body += "    ";
    return rtc::LoopText{members, std::string("typedef ") + (IsFloating(dtype) ? "double" : "long long") + " A;\n", body + "mx::Store(a.dst, to, mx::Load<A>(a.dst, to) + sum);\n"};
  };
  if (rows) rtc::LaunchRows(run, {"add_strided_rows", {dtype}, variant}, results, &args, make);
  else rtc::LaunchItems(run, {"add_strided", {dtype}, variant}, results, &args, make);
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
  const size_t unit = Divisible(dst, 8) && bytes % 8 == 0 ? 8 : 1;
  const std::string type = UnitName(unit);
  const rtc::Kernel& kernel = rtc::FindKernel("zero|" + type, [&](rtc::Kernel* k) {
    k->name = "zero";
    k->source = rtc::Prelude() + "struct Args { " + type + "* dst; long long total; };\n"
        "extern \"C\" __global__ void __launch_bounds__(256) zero(const __grid_constant__ Args a) {\n"
        "  for (long long i = mx::ThreadIndex(); i < a.total; i += mx::ThreadCount()) a.dst[i] = 0;\n}\n";
  });
  rtc::Arguments args;
  args.Add(dst).Add(bytes / static_cast<int64_t>(unit));
  rtc::Launch(kernel, rtc::Cover(bytes / static_cast<int64_t>(unit)), &args, run);
}

}  // namespace mxnet
