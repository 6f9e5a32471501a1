#include "operator/nn/softmax/gpu_softmax.h"

#include <algorithm>

#include "operator/nn/common/gpu_rows.h"
#include "rtc/kernel.h"
#include "rtc/prelude.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int kThreads = 256;

std::string N(int64_t i) { return std::to_string(i); }

// Threads that share a slice. With elements behind the axis, neighbouring threads take neighbouring
// slices instead.
struct Shape2 {
  int lanes;
  bool columns;
};
Shape2 ShapeOf(const DeviceSoftmax& s) {
  if (s.inner > 1) return {s.length >= 64 ? 8 : 1, true};
  int lanes = 1;
  while (lanes < kThreads && lanes * 4 < s.length) lanes *= 2;
  return {lanes, false};
}

// Which slice a thread works on and where that lies; `Acc` is merged over the lanes with Merge.
std::string Head(const char* name, const Shape2& shape) {
  const std::string lanes = N(shape.lanes), rows = N(kThreads / shape.lanes);
  std::string t = std::string("extern \"C\" __global__ void __launch_bounds__(256) ") + name +
                  "(const __grid_constant__ Args a) {\n  __shared__ Acc shared[256];\n";
  if (shape.columns)
    t += "  const unsigned row = threadIdx.x % " + rows + ", lane = threadIdx.x / " + rows + ";\n";
  else
    t += "  const unsigned lane = threadIdx.x % " + lanes + ", row = threadIdx.x / " + lanes + ";\n";
  return t + "  const unsigned place = row * " + lanes +
         " + lane;\n  const long long slices = a.outer * a.inner;\n"
         "#pragma unroll 1\n  for (long long block = blockIdx.x; block * " +
         rows +
         " < slices; block += gridDim.x) {\n"
         "  const long long slice = block * " +
         rows +
         " + row;\n  const bool mine = slice < slices;\n"
         "  const long long base = mine ? slice / a.inner * a.length * a.inner + slice % a.inner : 0;\n  Acc acc = Start();\n";
}
std::string MergeLanes(int lanes) {
  std::string t = "  shared[place] = acc;\n  __syncthreads();\n";
  for (int half = lanes / 2; half > 0; half /= 2)
    t += "  if (lane < " + N(half) + ") shared[place] = Merge(shared[place], shared[place + " + N(half) + "]);\n  __syncthreads();\n";
  return t + "  acc = shared[row * " + N(lanes) + "];\n  __syncthreads();\n";
}

rtc::LaunchShape GridOf(const DeviceSoftmax& s, const Shape2& shape) {
  rtc::LaunchShape grid;
  const int64_t rows = kThreads / shape.lanes, slices = s.outer * s.inner;
  grid.block[0] = kThreads;
  grid.grid[0] = static_cast<uint32_t>(std::max<int64_t>(1, std::min<int64_t>((slices + rows - 1) / rows, int64_t{1} << 20)));
  return grid;
}

// Gradients of what does not count do not count either.
std::string Gradient(const DeviceSoftmax& s) {
  return s.mask ? "(a.mask[at].bits != 0 ? mx::Load<T>(a.g, at) : T(0))" : "mx::Load<T>(a.g, at)";
}

// ---- rows in registers

// Exponentials in T, for results of that dtype.
std::string ExpText(int dtype) {
  return std::string("__device__ __forceinline__ T Exp(T x) { return ") + (IsHalf(dtype) ? "mx::ShortExp(x)" : "::exp(x)") + "; }\n";
}

std::string RowsText(const DeviceSoftmax& s, const RegisterRows& r, bool lengths) {
  const bool chosen = s.mask || lengths;  // not every element of a row counts; what is behind its end is -inf and adds nothing
  std::string t =
      "__device__ __forceinline__ T Lowest() { return -static_cast<T>(__int_as_float(0x7f800000)); }\n" + RegisterRowsHead("softmax", r);
  t += "  T v[kPacks * kWidth];\n  const T scale = static_cast<T>(a.scale);\n";
  if (chosen) t += "  unsigned counts = 0;   // bits of the elements that count\n";
  t += kEachRegisterElement + std::string("v[e] = Lowest();\n");
  if (lengths) t += "  const long long count = mine ? mx::Load<long long>(a.lengths, slice) : 0;\n";
  t += kEachRegisterPack + std::string("    mx::LoadPack<kWidth>(a.x, at, v + r * kWidth);\n");
  if (s.mask) t += "    T m[kWidth];\n    mx::LoadPack<kWidth>(a.mask, at, m);\n";
  t += "#pragma unroll\n    for (int j = 0; j < kWidth; ++j) {\n      const int e = r * kWidth + j;\n";
  if (chosen)
    t += std::string("      const bool yes = ") + (s.mask ? "m[j] != T(0)" : "k * kWidth + j < count") +
         ";\n      v[e] = yes ? v[e] * scale : Lowest();\n      counts |= static_cast<unsigned>(yes) << e;\n    }\n  }\n";
  else
    t += "      v[e] *= scale;\n    }\n  }\n";
  t += "  T top = Lowest(), sum = T(0);\n" + std::string(kEachRegisterElement) +
       "top = Larger()(top, v[e]);\n  top = OfRow(top, Larger(), shared);\n  top = top > Lowest() ? top : T(0);\n";
  t += std::string(kEachRegisterElement) + (chosen ? "if (counts >> e & 1u) " : "") +
       (s.log ? "sum += Exp(v[e] - top);\n" : "{\n    v[e] = Exp(v[e] - top);\n    sum += v[e];\n  }\n");
  t += "  sum = OfRow(sum, Added(), shared);\n";
  t += s.log ? "  const T shift = top + ::log(sum);\n" : "  const T factor = T(1) / sum;\n";
  t += kEachRegisterPack +
       std::string("#pragma unroll\n    for (int j = 0; j < kWidth; ++j) {\n      const int e = r * kWidth + j;\n      v[e] = ") +
       (chosen ? "counts >> e & 1u ? " : "") + (s.log ? "v[e] - shift" : "v[e] * factor") +
       (!chosen           ? ""
        : s.mask && s.log ? " : Lowest()"
                          : " : T(0)") +
       ";\n    }\n    mx::StorePack<kWidth>(a.y, at, v + r * kWidth);\n  }\n  }\n}\n";
  return t;
}
std::string RowsBackwardText(const DeviceSoftmax& s, const RegisterRows& r) {
  std::string t = RegisterRowsHead("softmax_backward", r) + "  T g[kPacks * kWidth], y[kPacks * kWidth], sum = T(0);\n" +
                  kEachRegisterElement + "g[e] = y[e] = T(0);\n" + kEachRegisterPack +
                  "    mx::LoadPack<kWidth>(a.g, at, g + r * kWidth);\n    mx::LoadPack<kWidth>(a.y, at, y + r * kWidth);\n";
  if (s.mask)
    t += "    T m[kWidth];\n    mx::LoadPack<kWidth>(a.mask, at, m);\n#pragma unroll\n    for (int j = 0; j < kWidth; ++j)\n      if (m[j] "
         "== T(0)) g[r * kWidth + j] = T(0);\n";
  t += "  }\n" + std::string(kEachRegisterElement) + "sum += g[e]" + (s.log ? "" : " * y[e]") +
       ";\n  sum = OfRow(sum, Added(), shared);\n  const T scale = static_cast<T>(a.scale);\n" + kEachRegisterPack +
       "#pragma unroll\n    for (int j = 0; j < kWidth; ++j) {\n      const int e = r * kWidth + j;\n      g[e] = scale * (" +
       (s.log ? "g[e] - Exp(y[e]) * sum" : "y[e] * (g[e] - sum)") +
       ");\n    }\n    mx::StorePack<kWidth>(a.dx, at, g + r * kWidth);\n  }\n  }\n}\n";
  return t;
}

}  // namespace

void SoftmaxOnDevice(const RunContext& run, const DeviceSoftmax& s, const TBlob& x, const TBlob* lengths, const TBlob& y) {
  if (y.Size() == 0) return;
  const Shape2 shape = ShapeOf(s);
  const bool wide = y.dtype == kFloat64;
  const void* mask = s.mask ? s.mask->dptr : nullptr;  // no address hinders nothing
  const RegisterRows held =
      s.inner == 1 ? RegisterRowsFor(s.length, 32, {{x.dptr, x.dtype}, {y.dptr, y.dtype}, {mask, kBool}}) : RegisterRows();
  const std::string signature = "softmax|" + N(x.dtype) + "," + N(y.dtype) + "," + N(lengths ? lengths->dtype : -1) + "," + N(s.log) +
                                (s.mask ? "m" : "") + "," + (held ? held.Key() : N(shape.lanes) + N(shape.columns));
  const rtc::Kernel& kernel = rtc::FindKernel(signature, [&](rtc::Kernel* k) {
    k->name = "softmax";
    std::string t = rtc::Prelude() + "typedef " + (wide ? "double" : "float") + " T;\n";
    t += ExpText(y.dtype) + "struct Args { const " + rtc::StorageName(x.dtype) + "* x; " + rtc::StorageName(y.dtype) + "* y; const " +
         (lengths ? rtc::StorageName(lengths->dtype) : "int") +
         "* lengths; const mx::boolean* mask; long long outer, length, inner; double scale; };\n";
    if (held) {
      k->source = t + RowsText(s, held, lengths != nullptr);
      return;
    }
    // running maximum and the sum of exponentials relative to it; -inf: nothing yet
    t += "struct Acc { T top, sum; };\n"
         "__device__ __forceinline__ T Lowest() { return -static_cast<T>(__int_as_float(0x7f800000)); }\n"
         "__device__ __forceinline__ Acc Start() { Acc c; c.top = Lowest(); c.sum = T(0); return c; }\n"
         "__device__ __forceinline__ Acc Merge(Acc p, Acc q) {\n"
         "  Acc c;\n  c.top = p.top > q.top ? p.top : q.top;\n"
         "  const T base = c.top > Lowest() ? c.top : T(0);\n"
         "  c.sum = p.sum * ::exp(p.top - base) + q.sum * ::exp(q.top - base);\n  return c;\n}\n"
         "__device__ __forceinline__ Acc Take(Acc c, T v) {\n"  // one exponential; a NaN must reach the sum, although comparisons ignore it
         "  if (v > c.top) { c.sum = c.sum * ::exp(c.top - v) + T(1); c.top = v; }\n  else c.sum += ::exp(v - (c.top > Lowest() ? c.top : "
         "T(0)));\n  return c;\n}\n";
    t += Head("softmax", shape);
    t += std::string("  const long long count = ") + (lengths ? "mine ? mx::Load<long long>(a.lengths, slice) : 0" : "a.length") + ";\n";
    t += "  const T scale = static_cast<T>(a.scale);\n"
         "  for (long long i = lane; mine && i < a.length && i < count; i += " +
         N(shape.lanes) + ") {\n" + std::string(s.mask ? "    if (a.mask[base + i * a.inner].bits == 0) continue;\n" : "") +
         "    acc = Take(acc, mx::Load<T>(a.x, base + i * a.inner) * scale);\n  }\n";
    t += MergeLanes(shape.lanes);
    t += "  const T top = acc.top > Lowest() ? acc.top : T(0);\n";
    t += s.log ? "  const T shift = top + ::log(acc.sum);\n" : "  const T factor = T(1) / acc.sum;\n";
    t += "  for (long long i = lane; mine && i < a.length; i += " + N(shape.lanes) +
         ") {\n    const long long at = base + i * a.inner;\n"
         "    const T v = mx::Load<T>(a.x, at) * scale;\n";
    t += std::string("    mx::Store(a.y, at, ") + (s.mask ? "a.mask[at].bits != 0 ? " : "i < count ? ") +
         (s.log ? "v - shift" : "::exp(v - top) * factor") +
         (s.mask && s.log ? " : Lowest());\n  }\n  }\n}\n" : " : T(0));\n  }\n  }\n}\n");
    k->source = t;
  });
  rtc::Arguments args;
  args.Add(x.dptr)
      .Add(y.dptr)
      .Add(lengths ? lengths->dptr : nullptr)
      .Add(s.mask ? s.mask->dptr : nullptr)
      .Add(s.outer)
      .Add(s.length)
      .Add(s.inner)
      .Add(s.scale);
  rtc::Launch(kernel, held ? RegisterRowsGrid(s.outer, held) : GridOf(s, shape), &args, run);
}

void SoftmaxBackwardOnDevice(const RunContext& run, const DeviceSoftmax& s, const TBlob& og, const TBlob& y, const TBlob& dx) {
  if (dx.Size() == 0) return;
  const Shape2 shape = ShapeOf(s);
  const bool wide = og.dtype == kFloat64 || y.dtype == kFloat64 || dx.dtype == kFloat64;
  const void* mask = s.mask ? s.mask->dptr : nullptr;
  const RegisterRows held =
      s.inner == 1 ? RegisterRowsFor(s.length, 16, {{og.dptr, og.dtype}, {y.dptr, y.dtype}, {dx.dptr, dx.dtype}, {mask, kBool}})
                   : RegisterRows();
  const std::string signature = "softmax_backward|" + N(og.dtype) + "," + N(y.dtype) + "," + N(dx.dtype) + "," + N(s.log) +
                                (s.mask ? "m" : "") + "," + (held ? held.Key() : N(shape.lanes) + N(shape.columns));
  const rtc::Kernel& kernel = rtc::FindKernel(signature, [&](rtc::Kernel* k) {
    k->name = "softmax_backward";
    std::string t = rtc::Prelude() + "typedef " + (wide ? "double" : "float") + " T;\n";
    t += ExpText(dx.dtype) + "struct Args { const " + rtc::StorageName(og.dtype) + "* g; const " + rtc::StorageName(y.dtype) + "* y; " +
         rtc::StorageName(dx.dtype) + "* dx; const mx::boolean* mask; long long outer, length, inner; double scale; };\n";
    if (held) {
      k->source = t + RowsBackwardText(s, held);
      return;
    }
    t += "typedef T Acc;\n__device__ __forceinline__ Acc Start() { return T(0); }\n__device__ __forceinline__ Acc Merge(Acc p, Acc q) { "
         "return p + q; }\n";
    t += Head("softmax_backward", shape);
    t += "  for (long long i = lane; mine && i < a.length; i += " + N(shape.lanes) +
         ") {\n    const long long at = base + i * a.inner;\n    acc += " + Gradient(s) + (s.log ? "" : " * mx::Load<T>(a.y, at)") +
         ";\n  }\n";
    t += MergeLanes(shape.lanes);
    t += "  const T scale = static_cast<T>(a.scale);\n  for (long long i = lane; mine && i < a.length; i += " + N(shape.lanes) +
         ") {\n    const long long at = base + i * a.inner;\n    const T g = " + Gradient(s) + ", y = mx::Load<T>(a.y, at);\n";
    t += std::string("    mx::Store(a.dx, at, scale * (") + (s.log ? "g - ::exp(y) * acc" : "y * (g - acc)") + "));\n  }\n  }\n}\n";
    k->source = t;
  });
  rtc::Arguments args;
  args.Add(og.dptr).Add(y.dptr).Add(dx.dptr).Add(s.mask ? s.mask->dptr : nullptr).Add(s.outer).Add(s.length).Add(s.inner).Add(s.scale);
  rtc::Launch(kernel, held ? RegisterRowsGrid(s.outer, held) : GridOf(s, shape), &args, run);
}

}  // namespace nn
}  // namespace mxnet
