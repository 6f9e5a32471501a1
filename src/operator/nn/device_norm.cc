#include "operator/nn/device_norm.h"

#include <algorithm>

#include "operator/matrix/device_move.h"
#include "operator/nn/device_rows.h"
#include "operator/nn/nn_common.h"
#include "rtc/prelude.h"

namespace mxnet {
namespace nn {
namespace {

using rtc::LoopText;

std::string AccumulatorText(int dtype) { return std::string("typedef ") + (dtype == kFloat64 ? "double" : "float") + " A;\n"; }

const void* Pointer(const KernelArgs& a, int i) { return Wanted(a, i) ? a.out[i].dptr : nullptr; }

}  // namespace

const char* const kNoChannel = "struct Channel {};\ntemplate <typename Args> __device__ __forceinline__ Channel ChannelOf(const Args&, long long) { return Channel(); }\n";

TBlob InOrderOnDevice(KernelArgs& args, const TBlob& b, Layout like) {
  if (b.layout == like || b.shape.ndim() < 3) return b;
  TBlob copy = b;
  copy.dptr = args.workspace(std::max<size_t>(b.Bytes(), 1));
  copy.layout = like;
  ConvertLayoutOnDevice(args.run, b, copy);
  return copy;
}

namespace {

std::string N(int64_t i) { return std::to_string(i); }
constexpr int64_t kLarge = int64_t{1} << 31;

// Storage to arithmetic; quotients by the divisor d, which is given with the numbers for mx::Divide.
const char* const kChannelFunctions = R"TEXT(
template <typename C, typename S> __device__ __forceinline__ C As(S v) { return mx::Convert<C, S>::Load(v); }
__device__ __forceinline__ unsigned Over(unsigned i, long long, long long m, long long h) { return mx::Divide(i, m, h); }
__device__ __forceinline__ long long Over(long long i, long long d, long long, long long) { return i / d; }
)TEXT";
void AddDivisor(int64_t d, bool large, rtc::Arguments* args) {
  const rtc::FastDivisor divisor(large ? 1 : d);
  args->Add(d).Add(divisor.multiplier).Add(divisor.shift);
}

// Elements of one access: neighbours in a plane, or neighbouring channels where these lie last.
int WidthOf(const ChannelView& v, int dtype, const std::vector<const void*>& arrays) {
  const int64_t along = v.inner == 1 ? v.channels : v.inner, bytes = static_cast<int64_t>(DTypeSize(dtype));
  int width = static_cast<int>(16 / bytes);
  auto fits = [&] {
    return along % width == 0 && std::all_of(arrays.begin(), arrays.end(), [&](const void* p) { return reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(width * bytes) == 0; });
  };
  while (width > 1 && !fits()) width /= 2;
  return width;
}

// The bits of n <= 8 neighbouring elements, which stand in one byte: the first is element `first` of a line and `at` of the array. In the other order each has its own byte.
const char* const kMarkMembers = " unsigned char* marks; long long order, header, line, stride, other_line, other_stride, minor, major;";
const char* const kMarkText = R"TEXT(
template <typename Args> __device__ __forceinline__ unsigned MarksOf(const Args& a, long long at, long long line, long long first, int n) {
  if (a.marks[0] == a.order) return static_cast<unsigned>(a.marks[a.header + line * a.stride + (first >> 3)]) >> (first & 7);
  unsigned bits = 0;
  for (int j = 0; j < n; ++j) {
    const long long here = (at + j) % (a.minor * a.major), there = at + j - here + here % a.minor * a.major + here / a.minor, other = there / a.other_line, rest = there - other * a.other_line;
    bits |= (static_cast<unsigned>(a.marks[a.header + other * a.other_stride + (rest >> 3)]) >> (rest & 7) & 1u) << j;
  }
  return bits;
}
)TEXT";
void AddMarks(const NormMarks& m, rtc::Arguments* args) {
  args->Add(m.bytes).Add(m.order).Add(m.header).Add(m.line).Add((m.line + 7) / 8).Add(m.other_line).Add((m.other_line + 7) / 8).Add(m.minor).Add(m.major);
}

constexpr int64_t kEnoughBlocks = 2112;   // sixteen for each multiprocessor of an H100 or H200
constexpr int64_t kPartFrom = 8;          // accesses of each thread

// The loop over a block's part: all accesses of a turn are under way before the first is used. `where` gives at, o and q of turn u if there is something.
std::string TurnsText(const ChannelText& t, int turns, int width, const std::string& loop, const std::string& place, const std::string& marks, const std::string& sums) {
  std::string text = loop;
  const std::string each = "#pragma unroll\n      for (int u = 0; u < " + N(turns) + "; ++u) {\n", w = N(width);
  for (const char* name : t.arrays) text += std::string("      mx::Pack<D0, ") + w + "> p_" + name + "[" + N(turns) + "];\n";
  if (t.marks) text += "      unsigned bits[" + N(turns) + "];\n";
  text += each + place;
  for (const char* name : t.arrays) text += std::string("          p_") + name + "[u] = *reinterpret_cast<const mx::Pack<D0, " + w + ">*>(a." + name + " + at);\n";
  if (t.marks) text += "          bits[u] = MarksOf(a, at, " + marks + ", " + w + ");\n";
  return text + "        }\n      }\n" + sums;
}
std::string ValuesText(const ChannelText& t) {
  std::string text;
  for (const char* name : t.arrays) text += std::string("          const D0 ") + name + " = p_" + name + "[u].v[j];\n";
  if (t.marks) text += "          const bool bit = bits[u] >> j & 1u;\n";
  return text;
}

}  // namespace

void ChannelSums(KernelArgs& args, const ChannelView& view, const rtc::LoopKey& key, const std::vector<const void*>& arrays, const rtc::Arguments& own, const std::function<ChannelText()>& make) {
  if (view.channels == 0) return;
  const bool columns = view.inner == 1, large = view.outer * view.inner >= kLarge;
  const int width = WidthOf(view, key.dtypes.begin()[0], arrays), turns = arrays.size() > 1 ? 2 : 4;
  int lanes = 1;   // of a block, with neighbouring channels; the other threads have other places
  while (columns && lanes < 32 && lanes * width < view.channels) lanes *= 2;
  const int64_t lines = rtc::kRowThreads / lanes, groups = columns ? (view.channels + lanes * width - 1) / (lanes * width) : view.channels;
  const int64_t count = columns ? view.outer : view.outer * (view.inner / width);   // accesses along a channel
  const int64_t parts = std::max<int64_t>(1, std::min((kEnoughBlocks + groups - 1) / groups, count / (lines * kPartFrom))), chunk = (count + parts - 1) / parts;
  double* partial = static_cast<double*>(args.workspace(static_cast<size_t>(2 * parts * view.channels) * sizeof(double)));   // a channel's parts are neighbours
  auto arguments = [&] {
    rtc::Arguments all = own;
    all.Add(view.outer).Add(view.channels).Add(view.inner).Add(parts).Add(chunk).Add(partial).Add(groups).Add(count);
    AddDivisor(std::max<int64_t>(view.inner / width, 1), large, &all);
    return all;
  };
  const std::string members = " long long outer, channels, inner, parts, chunk; double* partial; long long across, accesses, per, perm, perh;", name = key.name, sums = name + "_sums",
                    finish = name + "_finish";
  const rtc::LoopKey first{sums.c_str(), key.dtypes, (((key.variant * 2 + columns) * 2 + large) * 32 + width) * 64 + lanes}, second{finish.c_str(), key.dtypes, key.variant};
  rtc::Arguments a = arguments(), b = arguments();
  rtc::LaunchRows(args.run, first, parts * groups, &a, [&] {
    const ChannelText t = make();
    const std::string w = N(width), T = N(turns), l = N(lanes);
    std::string body = "    const long long part = row / a.across, group = row - part * a.across, end = (part + 1) * a.chunk < a.accesses ? (part + 1) * a.chunk : a.accesses;\n";
    if (columns) {
      body += "    __shared__ double shared[2 * 256 * " + w + "];\n    const int lane = threadIdx.x % " + l + ", line = threadIdx.x / " + l + ";\n    const long long c0 = (group * " + l + " + lane) * " + w +
              ", q = 0;\n    (void)q;\n    double total[2][" + w + "] = {};\n    if (c0 < a.channels) {\n      Channel channel[" + w + "];\n#pragma unroll\n      for (int j = 0; j < " + w +
              "; ++j) channel[j] = ChannelOf(a, c0 + j);\n";
      body += TurnsText(t, turns, width, "      for (long long e0 = part * a.chunk + line; e0 < end; e0 += " + T + " * " + N(lines) + ") {\n",
                        "        const long long o = e0 + u * " + N(lines) + ", at = o * a.channels + c0;\n        if (o < end) {\n", "o, c0",
                        "#pragma unroll\n      for (int j = 0; j < " + w + "; ++j) {\n        const Channel& k = channel[j];\n        const long long c = c0 + j;\n        (void)k;\n        (void)c;\n        A first = A(0), second = A(0);\n"
                        "#pragma unroll\n        for (int u = 0; u < " + T + "; ++u) {\n          const long long o = e0 + u * " + N(lines) + ", at = o * a.channels + c;\n          (void)at;\n          if (o >= end) break;\n" +
                            ValuesText(t) + t.element + "        }\n        total[0][j] += first;\n        total[1][j] += second;\n      }\n      }\n    }\n");
      body += "#pragma unroll\n    for (int j = 0; j < " + w + "; ++j)\n      for (int s = 0; s < 2; ++s) shared[(s * 256 + threadIdx.x) * " + w + " + j] = total[s][j];\n    __syncthreads();\n"
              "    for (int n = threadIdx.x; n < " + l + " * " + w + "; n += 256) {\n      const long long c = group * " + l + " * " + w + " + n;\n      if (c >= a.channels) break;\n"
              "      for (int s = 0; s < 2; ++s) {\n        double sum = 0;\n        for (int k = 0; k < " + N(lines) + "; ++k) sum += shared[(s * 256 + k * " + l + ") * " + w + " + n];\n"
              "        a.partial[(s * a.channels + c) * a.parts + part] = sum;\n      }\n    }\n";
    } else {
      const std::string index = large ? "long long" : "unsigned";
      const std::string place = "          const long long e = e0 + u * 256;\n          const " + index + " o = Over(static_cast<" + index + ">(e), a.per, a.perm, a.perh);\n          const long long ";
      body += "    __shared__ double shared[256];\n    const long long c = group;\n    const Channel k = ChannelOf(a, c);\n    (void)k;\n    double total[2] = {};\n";
      body += TurnsText(t, turns, width, "    for (long long e0 = part * a.chunk + threadIdx.x; e0 < end; e0 += " + T + " * 256) {\n",
                        "        if (e0 + u * 256 < end) {\n" + place + "at = (o * a.channels + c) * a.inner + (e - o * a.per) * " + w + ";\n", "o * a.channels + c, (e - o * a.per) * " + w,
                        "      A first = A(0), second = A(0);\n#pragma unroll\n      for (int u = 0; u < " + T + "; ++u) {\n          if (e0 + u * 256 >= end) break;\n" + place + "q0 = (e - o * a.per) * " + w +
                            ";\n#pragma unroll\n        for (int j = 0; j < " + w + "; ++j) {\n          const long long q = q0 + j, at = (o * a.channels + c) * a.inner + q;\n          (void)at;\n" + ValuesText(t) + t.element +
                            "        }\n      }\n      total[0] += first;\n      total[1] += second;\n    }\n");
      body += "    for (int s = 0; s < 2; ++s) {\n      total[s] = mx::BlockSum(total[s], shared);\n      if (threadIdx.x == 0) a.partial[(s * a.channels + c) * a.parts + part] = total[s];\n    }\n";
    }
    return LoopText{t.members + members, kChannelFunctions + t.functions, body};
  });
  rtc::LaunchRows(args.run, second, view.channels, &b, [&] {
    const ChannelText t = make();
    return LoopText{t.members + members, kChannelFunctions + t.functions,
                    "    __shared__ double shared[256];\n    const long long c = row;\n    double first = 0, second = 0;\n    for (long long part = threadIdx.x; part < a.parts; part += 256) {\n"
                    "      first += a.partial[c * a.parts + part];\n      second += a.partial[(a.channels + c) * a.parts + part];\n    }\n"
                    "    first = mx::BlockSum(first, shared);\n    second = mx::BlockSum(second, shared);\n    if (threadIdx.x == 0) {\n" + t.finish + "    }\n"};
  });
}

// ---- rows

namespace {

const char* const kRowMembers = "long long n, inner, groups, per_group, span; double eps;";
void AddRow(const RowNorm& r, rtc::Arguments* args) { args->Add(r.n).Add(r.inner).Add(r.groups).Add(r.per_group).Add(r.span).Add(r.eps); }
// The parameter of element j of a row.
std::string ParameterText(const RowNorm& r) {
  if (r.parameter == RowNorm::kElement) return "j";
  return r.parameter == RowNorm::kGroup ? "row % a.groups" : "row % a.groups * a.per_group + j / a.span";
}
const char* const kMoments =
    "    __shared__ A shared[256];\n    const long long base = row / a.inner * a.n * a.inner + row % a.inner;\n    A sum = A(0), squares = A(0);\n"
    "    for (long long j = threadIdx.x; j < a.n; j += 256) sum += mx::Load<A>(a.x, base + j * a.inner);\n    const A mean = mx::BlockSum(sum, shared) / static_cast<A>(a.n);\n"
    "    for (long long j = threadIdx.x; j < a.n; j += 256) {\n      const A d = mx::Load<A>(a.x, base + j * a.inner) - mean;\n      squares += d * d;\n    }\n"
    "    const A deviation = ::sqrt(mx::BlockSum(squares, shared) / static_cast<A>(a.n) + static_cast<A>(a.eps)), inv = A(1) / deviation;\n";

// Rows of neighbouring elements with a parameter for each element, held in registers.
std::string HeldMoments() {
  return std::string("  T v[kPacks * kWidth], sum = T(0), squares = T(0);\n") + kEachHeldElement + "v[e] = T(0);\n" + kEachHeldPack + "    mx::LoadPack<kWidth>(a.x, at, v + r * kWidth);\n  }\n" +
         kEachHeldElement + "sum += v[e];\n  const T n = static_cast<T>(a.length), mean = OfRow(sum, Added(), shared) / n;\n" + kEachHeldPack +
         "    (void)at;\n#pragma unroll\n    for (int j = 0; j < kWidth; ++j) {\n      v[r * kWidth + j] -= mean;\n      squares += v[r * kWidth + j] * v[r * kWidth + j];\n    }\n  }\n"
         "  const T deviation = ::sqrt(OfRow(squares, Added(), shared) / n + static_cast<T>(a.eps)), inv = T(1) / deviation;\n";
}
std::string TypesText(std::initializer_list<int> dtypes) {
  std::string t = std::string("typedef ") + (dtypes.begin()[0] == kFloat64 ? "double" : "float") + " T;\n";
  int n = 0;
  for (int d : dtypes) t += std::string("typedef ") + rtc::StorageName(d) + " D" + N(n++) + ";\n";
  return t;
}
bool NormHeldRows(KernelArgs& args, const RowNorm& r) {
  if (r.inner != 1 || r.parameter != RowNorm::kElement) return false;
  const TBlob &x = args.in[0], &gamma = args.in[1], &beta = args.in[2];
  const void* y = Pointer(args, 0);
  const HeldRows held = HoldRows(r.n, 32, {{x.dptr, x.dtype}, {y, x.dtype}, {gamma.dptr, gamma.dtype}, {beta.dptr, gamma.dtype}});
  if (!held) return false;
  const rtc::Kernel& kernel = rtc::FindKernel("layer_norm|" + N(x.dtype) + "," + N(gamma.dtype) + held.Key(), [&](rtc::Kernel* k) {
    k->name = "layer_norm";
    k->source = rtc::Prelude() + TypesText({x.dtype, gamma.dtype}) +
                "struct Args { const D0* x; const D1* gamma; const D1* beta; D0* y; D0* mean; D0* deviation; long long outer, length; double eps; };\n" + HeldRowsHead("layer_norm", held) + HeldMoments() +
                "  if (mine && lane == 0 && a.mean) mx::Store(a.mean, slice, mean);\n  if (mine && lane == 0 && a.deviation) mx::Store(a.deviation, slice, deviation);\n  if (a.y) {\n" + kEachHeldPack +
                "    T gamma[kWidth], beta[kWidth];\n    mx::LoadPack<kWidth>(a.gamma, k * kWidth, gamma);\n    mx::LoadPack<kWidth>(a.beta, k * kWidth, beta);\n"
                "#pragma unroll\n    for (int j = 0; j < kWidth; ++j) v[r * kWidth + j] = v[r * kWidth + j] * inv * gamma[j] + beta[j];\n    mx::StorePack<kWidth>(a.y, at, v + r * kWidth);\n  }\n  }\n  }\n}\n";
  });
  rtc::Arguments a;
  a.Add(x.dptr).Add(gamma.dptr).Add(beta.dptr).Add(y).Add(Pointer(args, 1)).Add(Pointer(args, 2)).Add(r.rows).Add(r.n).Add(r.eps);
  rtc::Launch(kernel, HeldRowsGrid(r.rows, held), &a, args.run);
  return true;
}
bool NormHeldRowsBackward(KernelArgs& args, const RowNorm& r, void* moments) {
  if (r.inner != 1 || r.parameter != RowNorm::kElement) return false;
  const TBlob &g = args.in[0], &x = args.in[1], &gamma = args.in[2];
  const void* dx = Pointer(args, 0);
  const HeldRows held = HoldRows(r.n, 16, {{x.dptr, x.dtype}, {g.dptr, x.dtype}, {dx, x.dtype}, {gamma.dptr, gamma.dtype}});
  if (!held) return false;
  const rtc::Kernel& kernel = rtc::FindKernel("layer_norm_backward|" + N(x.dtype) + "," + N(gamma.dtype) + held.Key(), [&](rtc::Kernel* k) {
    k->name = "layer_norm_backward";
    k->source = rtc::Prelude() + TypesText({x.dtype, gamma.dtype}) + "struct Args { const D0* g; const D0* x; const D1* gamma; D0* dx; T* moments; long long outer, length; double eps; };\n" +
                HeldRowsHead("layer_norm_backward", held) + HeldMoments() +
                "  if (mine && lane == 0 && a.moments) {\n    a.moments[2 * slice] = mean;\n    a.moments[2 * slice + 1] = inv;\n  }\n  if (a.dx) {\n  T g[kPacks * kWidth], total = T(0), product = T(0);\n" +
                kEachHeldElement + "g[e] = T(0);\n" + kEachHeldPack +
                "    T gamma[kWidth];\n    mx::LoadPack<kWidth>(a.gamma, k * kWidth, gamma);\n    mx::LoadPack<kWidth>(a.g, at, g + r * kWidth);\n#pragma unroll\n    for (int j = 0; j < kWidth; ++j) {\n"
                "      const int e = r * kWidth + j;\n      g[e] *= gamma[j];\n      v[e] *= inv;\n      total += g[e];\n      product += g[e] * v[e];\n    }\n  }\n"
                "  total = OfRow(total, Added(), shared) / n;\n  product = OfRow(product, Added(), shared) / n;\n" + kEachHeldPack +
                "#pragma unroll\n    for (int j = 0; j < kWidth; ++j) g[r * kWidth + j] = inv * (g[r * kWidth + j] - total - v[r * kWidth + j] * product);\n    mx::StorePack<kWidth>(a.dx, at, g + r * kWidth);\n"
                "  }\n  }\n  }\n}\n";
  });
  rtc::Arguments a;
  a.Add(g.dptr).Add(x.dptr).Add(gamma.dptr).Add(dx).Add(moments).Add(r.rows).Add(r.n).Add(r.eps);
  rtc::Launch(kernel, HeldRowsGrid(r.rows, held), &a, args.run);
  return true;
}

}  // namespace

void RowNormOnDevice(KernelArgs& args, const RowNorm& r) {
  if (r.rows == 0 || NormHeldRows(args, r)) return;
  rtc::Arguments a;
  a.Add(args.in[0].dptr).Add(args.in[1].dptr).Add(args.in[2].dptr).Add(Pointer(args, 0)).Add(Pointer(args, 1)).Add(Pointer(args, 2));
  AddRow(r, &a);
  rtc::LaunchRows(args.run, {"row_norm", {args.in[0].dtype, args.in[1].dtype}, static_cast<int>(r.parameter)}, r.rows, &a, [&] {
    return LoopText{std::string("const D0* x; const D1* gamma; const D1* beta; D0* y; D0* mean; D0* deviation; ") + kRowMembers, AccumulatorText(args.in[0].dtype),
                    std::string(kMoments) + "    if (threadIdx.x == 0 && a.mean) mx::Store(a.mean, row, mean);\n    if (threadIdx.x == 0 && a.deviation) mx::Store(a.deviation, row, deviation);\n"
                    "    if (a.y) {\n      for (long long j = threadIdx.x; j < a.n; j += 256) {\n        const long long at = base + j * a.inner, k = " + ParameterText(r) + ";\n"
                    "        mx::Store(a.y, at, (mx::Load<A>(a.x, at) - mean) * inv * mx::Load<A>(a.gamma, k) + mx::Load<A>(a.beta, k));\n      }\n    }\n"};
  });
}

void RowNormBackwardOnDevice(KernelArgs& args, const RowNorm& r) {
  const int dtype = args.in[1].dtype;
  const int stats = dtype == kFloat64 ? int{kFloat64} : int{kFloat32};
  const bool sums = Wanted(args, 1) || Wanted(args, 2);
  void* moments = sums ? args.workspace(static_cast<size_t>(std::max<int64_t>(2 * r.rows, 1)) * DTypeSize(stats)) : nullptr;   // mean and 1 / deviation of each row
  if (r.rows > 0 && !NormHeldRowsBackward(args, r, moments)) {
    rtc::Arguments a;
    a.Add(args.in[0].dptr).Add(args.in[1].dptr).Add(args.in[2].dptr).Add(Pointer(args, 0)).Add(moments);
    AddRow(r, &a);
    rtc::LaunchRows(args.run, {"row_norm_backward", {dtype, args.in[2].dtype}, static_cast<int>(r.parameter)}, r.rows, &a, [&] {
      return LoopText{std::string("const D0* g; const D0* x; const D1* gamma; D0* dx; A* moments; ") + kRowMembers, AccumulatorText(dtype),
                      std::string(kMoments) + "    if (threadIdx.x == 0 && a.moments) {\n      a.moments[2 * row] = mean;\n      a.moments[2 * row + 1] = inv;\n    }\n"
                      "    if (a.dx) {\n      A total = A(0), product = A(0);\n      for (long long j = threadIdx.x; j < a.n; j += 256) {\n        const long long at = base + j * a.inner;\n"
                      "        const A g = mx::Load<A>(a.g, at) * mx::Load<A>(a.gamma, " + ParameterText(r) + ");\n        total += g;\n        product += g * (mx::Load<A>(a.x, at) - mean) * inv;\n      }\n"
                      "      total = mx::BlockSum(total, shared) / static_cast<A>(a.n);\n      product = mx::BlockSum(product, shared) / static_cast<A>(a.n);\n"
                      "      for (long long j = threadIdx.x; j < a.n; j += 256) {\n        const long long at = base + j * a.inner;\n"
                      "        const A g = mx::Load<A>(a.g, at) * mx::Load<A>(a.gamma, " + ParameterText(r) + "), scaled = (mx::Load<A>(a.x, at) - mean) * inv;\n"
                      "        mx::Store(a.dx, at, inv * (g - total - scaled * product));\n      }\n    }\n"};
    });
  }
  if (!sums) return;
  ChannelView view{r.inner > 0 ? r.rows / r.inner : 0, r.n, std::max<int64_t>(r.inner, 1)};
  std::string row = "o * a.inner + q";
  if (r.parameter == RowNorm::kChannel) view = {r.rows / r.groups, r.groups * r.per_group, r.span}, row = "o * a.groups + c / a.per_group";
  if (r.parameter == RowNorm::kGroup) view = {r.rows / r.groups, r.groups, r.n}, row = "o * a.groups + c";
  rtc::Arguments own;
  own.Add(args.in[0].dptr).Add(args.in[1].dptr).Add(moments).Add(Pointer(args, 1)).Add(Pointer(args, 2)).Add(r.groups).Add(r.per_group);
  ChannelSums(args, view, {"row_norm_parameters", {dtype, args.in[2].dtype, stats}, static_cast<int>(r.parameter)}, {args.in[0].dptr, args.in[1].dptr}, own, [&] {
    return ChannelText{"const D0* g; const D0* x; const D2* moments; D1* dgamma; D1* dbeta; long long groups, per_group;", AccumulatorText(dtype) + kNoChannel, {"g", "x"},
                       "      const long long r = " + row + ";\n      const A up = As<A>(g);\n"
                       "      first += up;\n      second += up * (As<A>(x) - a.moments[2 * r]) * a.moments[2 * r + 1];\n",
                       "      if (a.dgamma) mx::Store(a.dgamma, c, second);\n      if (a.dbeta) mx::Store(a.dbeta, c, first);\n"};
  });
}

// ---- batches

namespace {

/*
 * An item for each access of 16 bytes or as much as fits (with marks: for eight elements of a line, whose bits are a byte), with the coefficients of its channels: rows of
 * `channels` numbers behind a.coef, one for each name. `body` computes results (A, by their names) of the arrays' elements (storage D0, by theirs) and of the coefficients
 * (A, by theirs); with marks it reads `bit` or sets it. It goes from the end to the beginning: the sums before have just read the end, which the cache still has.
 */
struct ChannelMap {
  std::vector<const char*> arrays, coefficients;
  std::string functions, body;
};
struct MapCall {
  const char* name;
  int dtype, variant;
  std::vector<const void*> arrays;
  const void* coef;
  std::vector<std::pair<const char*, void*>> results;   // those that are wanted; which they are is part of the variant
  const NormMarks* marks = nullptr;
  bool writes_marks = false;
};
void MapOnDevice(const RunContext& run, const ChannelView& view, const MapCall& call, const std::function<ChannelMap()>& make) {
  const bool columns = view.inner == 1, marks = call.marks != nullptr;
  std::vector<const void*> aligned = call.arrays;
  for (const auto& r : call.results) aligned.push_back(r.second);
  const int width = WidthOf(view, call.dtype, aligned), span = marks ? 8 : width, packs = span / width;
  const int64_t line = columns ? view.channels : view.inner, stride = (line + span - 1) / span, items = view.outer * (columns ? 1 : view.channels) * stride;
  const bool large = items >= kLarge, ragged = line % span != 0;
  rtc::Arguments a;
  for (const void* p : call.arrays) a.Add(p);
  for (const auto& r : call.results) a.Add(r.second);
  a.Add(call.coef).Add(view.channels);
  AddDivisor(columns ? 1 : stride, large, &a);
  AddDivisor(columns ? stride : view.channels, large, &a);
  if (marks) AddMarks(*call.marks, &a);
  rtc::LaunchItems(run, {call.name, {call.dtype}, (((call.variant * 2 + columns) * 2 + large) * 2 + ragged) * 32 + width}, items, &a, [&] {
    const ChannelMap m = make();
    const std::string w = N(width), pack = "mx::Pack<D0, " + w + ">", each = "#pragma unroll\n    for (int r = 0; r < " + N(packs) + "; ++r) {\n",
                      inside = ragged ? "first + r * " + w + " < a.line" : std::string();
    std::string members, body = "    const long long back = a.count - 1 - item;\n    const I o = Over(static_cast<I>(back), a.per, a.perm, a.perh), n = Over(o, a.cs, a.csm, a.csh), c = (o - n * static_cast<I>(a.cs))" +
                                (columns ? " * " + N(span) : std::string()) + ";\n    (void)c;\n";
    if (marks) body += std::string("    const long long line = ") + (columns ? "n, first = c" : "o, first = (back - static_cast<long long>(o) * a.per) * 8") + ", at = line * a.line + first;\n    (void)first;\n";
    else body += "    const long long at = back * " + w + ";\n";
    for (const char* x : m.arrays) {
      members += std::string("const D0* ") + x + "; ";
      body += "    " + pack + " p_" + x + "[" + N(packs) + "];\n";
    }
    for (const auto& r : call.results) members += std::string("D0* to_") + r.first + "; ";
    body += each + (ragged ? "      if (" + inside + ") {\n" : "");
    for (const char* x : m.arrays) body += std::string("      p_") + x + "[r] = *reinterpret_cast<const " + pack + "*>(a." + x + " + at + r * " + w + ");\n";
    body += ragged ? "      }\n    }\n" : "    }\n";
    if (marks) {
      body += call.writes_marks ? "    unsigned bits = 0;\n"
              : ragged          ? "    const unsigned bits = MarksOf(a, at, line, first, a.line - first < 8 ? static_cast<int>(a.line - first) : 8);\n"
                                : "    const unsigned bits = MarksOf(a, at, line, first, 8);\n";
    }
    body += each + (ragged ? "      if (!(" + inside + ")) break;\n" : "");
    for (size_t k = 0; k < m.coefficients.size(); ++k) {
      const std::string from = "a.coef + " + N(static_cast<int64_t>(k)) + " * a.channels + c";
      if (columns) body += "      const mx::Pack<A, " + w + "> k_" + m.coefficients[k] + " = *reinterpret_cast<const mx::Pack<A, " + w + ">*>(" + from + " + r * " + w + ");\n";
      else body += std::string("      const A ") + m.coefficients[k] + " = *(" + from + ");\n";
    }
    for (const auto& r : call.results) body += "      " + pack + " r_" + r.first + ";\n";
    body += "#pragma unroll\n      for (int j = 0; j < " + w + "; ++j) {\n";
    for (const char* x : m.arrays) body += std::string("        const D0 ") + x + " = p_" + x + "[r].v[j];\n";
    if (columns)
      for (const char* k : m.coefficients) body += std::string("        const A ") + k + " = k_" + k + ".v[j];\n";
    if (marks) body += call.writes_marks ? "        bool bit;\n" : "        const bool bit = bits >> (r * " + w + " + j) & 1u;\n";
    body += m.body;
    for (const auto& r : call.results) body += std::string("        r_") + r.first + ".v[j] = mx::Narrow<D0, A>::Store(" + r.first + ");\n";
    if (call.writes_marks) body += "        bits |= (bit ? 1u : 0u) << (r * " + w + " + j);\n";
    body += "      }\n";
    for (const auto& r : call.results) body += std::string("      *reinterpret_cast<") + pack + "*>(a.to_" + r.first + " + at + r * " + w + ") = r_" + r.first + ";\n";
    body += "    }\n";
    if (call.writes_marks) body += "    if (a.marks) {\n      a.marks[a.header + back] = static_cast<unsigned char>(bits);\n      if (back == 0) a.marks[0] = static_cast<unsigned char>(a.order);\n    }\n";
    return LoopText{members + "const A* coef; long long channels, per, perm, perh, cs, csm, csh;" + (marks ? kMarkMembers : ""), kChannelFunctions + m.functions + (marks ? kMarkText : ""), body};
  });
}

// Rows of coefficients in the arithmetic of dtype; every row begins where packs of them may.
void* Coefficients(KernelArgs& args, const ChannelView& view, int dtype, int rows) {
  return args.workspace(static_cast<size_t>(std::max<int64_t>(view.channels, 1) * rows) * (dtype == kFloat64 ? sizeof(double) : sizeof(float)));
}

// a.coef of channel c for the output, from what the forward pass keeps: y = x * scale + shift
std::string ForwardCoefficients(const BatchNormSettings& s, const char* channels) {
  return std::string("      if (a.coef) {\n        const A scale = ") + (s.fix_gamma ? "" : "mx::Load<A>(a.gamma, c) * ") + "mx::Load<A>(a.inv, c);\n        a.coef[c] = scale;\n        a.coef[" + channels +
         " + c] = mx::Load<A>(a.beta, c) - scale * mx::Load<A>(a.mean, c);\n      }\n";
}

// args: with an addend as input 3.
void ScaleOnDevice(KernelArgs& args, const BatchNormSettings& s, const TBlob& x, const void* coef) {
  MapCall call{"batch_norm_scale", x.dtype, s.relu, {x.dptr}, coef, {{"v", args.out[0].dptr}}};
  ChannelMap map{{"x"}, {"scale", "shift"}, AccumulatorText(x.dtype), std::string("        const A y = As<A>(x) * scale + shift, v = ") + (s.relu ? "y > A(0) || y != y ? y : A(0);\n" : "y;\n")};
  if (s.sum) {
    call.name = "batch_norm_add_scale", call.marks = s.sum, call.writes_marks = true;
    call.arrays.push_back(InOrderOnDevice(args, args.in[3], args.out[0].layout).dptr);
    map.arrays.push_back("addend");
    map.body = "        const A y = As<A>(x) * scale + shift + As<A>(addend), v = y > A(0) || y != y ? y : A(0);\n        bit = y > A(0);\n";
  }
  MapOnDevice(args.run, s.view, call, [&] { return map; });
}

}  // namespace

void BatchNormOnDevice(KernelArgs& args, const BatchNormSettings& s) {
  const TBlob x = InOrderOnDevice(args, args.in[0], args.out[0].layout);
  const int param = args.in[1].dtype, variant = s.fix_gamma, moving = s.sum ? 4 : 3;
  const size_t bytes = static_cast<size_t>(std::max<int64_t>(s.view.channels, 1)) * DTypeSize(param);
  void *mean = Wanted(args, 1) ? args.out[1].dptr : args.workspace(bytes), *inv = Wanted(args, 2) ? args.out[2].dptr : args.workspace(bytes);
  void* coef = Wanted(args, 0) ? Coefficients(args, s.view, x.dtype, 2) : nullptr;
  rtc::Arguments own;
  own.Add(x.dptr).Add(args.in[1].dptr).Add(args.in[2].dptr).Add(args.in[moving].dptr).Add(args.in[moving + 1].dptr).Add(mean).Add(inv).Add(coef).Add(s.eps).Add(s.momentum);
  const char* const members = "const D0* x; const D1* gamma; const D1* beta; D1* moving_mean; D1* moving_var; D1* mean; D1* inv; A* coef; double eps, momentum;";
  if (s.batch) {
    ChannelSums(args, s.view, {"batch_norm", {x.dtype, param}, variant}, {x.dptr}, own, [&] {   // around the channel's first element: the squares lose no digits
      return ChannelText{members, AccumulatorText(x.dtype) + "struct Channel { A origin; };\ntemplate <typename Args> __device__ __forceinline__ Channel ChannelOf(const Args& a, long long c) {\n"
                                  "  Channel k;\n  k.origin = mx::Load<A>(a.x, c * a.inner);\n  return k;\n}\n", {"x"},
                         "      const A d = As<A>(x) - k.origin;\n      first += d;\n      second += d * d;\n",
                         "      const double n = static_cast<double>(a.outer * a.inner), off = first / n, mean = mx::Load<double>(a.x, c * a.inner) + off;\n"
                         "      const double square = second / n - off * off, var = square > 0 || square != square ? square : 0.0;\n"
                         "      mx::Store(a.moving_mean, c, a.momentum * mx::Load<double>(a.moving_mean, c) + (1 - a.momentum) * mean);\n"
                         "      mx::Store(a.moving_var, c, a.momentum * mx::Load<double>(a.moving_var, c) + (1 - a.momentum) * var);\n"
                         "      mx::Store(a.mean, c, mean);\n      mx::Store(a.inv, c, 1 / ::sqrt(var + a.eps));\n" + ForwardCoefficients(s, "a.channels")};
    });
  } else {
    rtc::LaunchItems(args.run, {"batch_norm_moving", {x.dtype, param}, variant}, s.view.channels, &own, [&] {
      return LoopText{members, AccumulatorText(x.dtype),
                      "      const I c = i;\n      a.mean[c] = a.moving_mean[c];\n      mx::Store(a.inv, c, 1 / ::sqrt(mx::Load<double>(a.moving_var, c) + a.eps));\n" + ForwardCoefficients(s, "a.count")};
    });
  }
  if (Wanted(args, 0)) ScaleOnDevice(args, s, x, coef);
}

void BatchNormAgainOnDevice(KernelArgs& args, const BatchNormSettings& s) {
  const TBlob x = InOrderOnDevice(args, args.in[0], args.out[0].layout);
  void* coef = Coefficients(args, s.view, x.dtype, 2);
  const int mean = s.sum ? 4 : 3;
  rtc::Arguments own;
  own.Add(args.in[1].dptr).Add(args.in[2].dptr).Add(args.in[mean].dptr).Add(args.in[mean + 1].dptr).Add(coef);
  rtc::LaunchItems(args.run, {"batch_norm_coefficients", {args.in[1].dtype}, (s.fix_gamma ? 2 : 0) + (x.dtype == kFloat64 ? 1 : 0)}, s.view.channels, &own, [&] {
    return LoopText{"const D0* gamma; const D0* beta; const D0* mean; const D0* inv; A* coef;", AccumulatorText(x.dtype), "      const I c = i;\n" + ForwardCoefficients(s, "a.count")};
  });
  ScaleOnDevice(args, s, x, coef);
}

void BatchNormBackwardOnDevice(KernelArgs& args, const BatchNormSettings& s) {
  const int data = s.sum ? 2 : 1;   // input
  const TBlob g = InOrderOnDevice(args, args.in[0], args.out[0].layout), x = InOrderOnDevice(args, args.in[data], args.out[0].layout);
  const int param = args.in[data + 1].dtype, variant = (s.sum ? 8 : 0) + (s.fix_gamma ? 4 : 0) + (s.batch ? 2 : 0) + (s.relu ? 1 : 0);
  void* coef = Wanted(args, 0) ? Coefficients(args, s.view, x.dtype, 5) : nullptr;
  rtc::Arguments own;
  own.Add(g.dptr).Add(x.dptr).Add(args.in[data + 1].dptr).Add(s.relu ? args.in[7].dptr : nullptr).Add(args.in[data + (s.batch ? 4 : 2)].dptr).Add(args.in[data + (s.batch ? 5 : 3)].dptr)
      .Add(Pointer(args, 1)).Add(Pointer(args, 2)).Add(coef).Add(s.eps);
  if (s.sum) AddMarks(*s.sum, &own);
  const std::string members = std::string("const D0* g; const D0* x; const D1* gamma; const D1* beta; const D1* mean; const D1* second_moment; D1* dgamma; D1* dbeta; A* coef; double eps;") + (s.sum ? kMarkMembers : "");
  // what the forward pass used; the relu's mask is computed again as it was there, or read where something was added
  const std::string masked = s.relu ? "As<A>(x) * scale + shift > A(0) ? As<A>(g) : A(0)" : s.sum ? "bit ? As<A>(g) : A(0)" : "As<A>(g)";
  const std::string functions = AccumulatorText(x.dtype) + "struct Channel { A mean, inv, scale, shift; };\n"
      "template <typename Args> __device__ __forceinline__ Channel ChannelOf(const Args& a, long long c) {\n  Channel k;\n  k.mean = mx::Load<A>(a.mean, c);\n" +
      (s.batch ? "  k.inv = mx::Load<A>(a.second_moment, c);\n" : "  k.inv = static_cast<A>(1 / ::sqrt(mx::Load<double>(a.second_moment, c) + a.eps));\n") +
      "  k.scale = " + (s.fix_gamma ? "" : "mx::Load<A>(a.gamma, c) * ") + "k.inv;\n  k.shift = " + (s.relu ? "mx::Load<A>(a.beta, c) - k.scale * k.mean" : "A(0)") + ";\n  return k;\n}\n" + (s.sum ? kMarkText : "");
  auto coefficients = [&](const char* channels) {   // with the sums over n elements where the batch's moments were used
    const std::string next = std::string(" * ") + channels + " + c] = ";
    return "      if (a.coef) {\n        const Channel k = ChannelOf(a, c);\n        a.coef[c] = k.scale;\n        a.coef[1" + next + "k.shift;\n        a.coef[2" + next + "k.mean;\n" +
           (s.batch ? "        const double n = static_cast<double>(a.outer * a.inner);\n        a.coef[3" + next + "static_cast<A>(first / n);\n        a.coef[4" + next +
                          "static_cast<A>(second / n) * k.inv * k.inv;\n"
                    : std::string()) + "      }\n";
  };
  const bool sums = s.batch || Wanted(args, 1) || Wanted(args, 2);
  if (sums) {
    ChannelSums(args, s.view, {"batch_norm_backward", {x.dtype, param}, variant}, {g.dptr, x.dptr}, own, [&] {
      return ChannelText{members, functions, {"g", "x"},
                         "      const A scale = k.scale, shift = k.shift, up = " + masked + ";\n      (void)scale;\n      (void)shift;\n      first += up;\n      second += up * (As<A>(x) - k.mean);\n",
                         std::string("      if (a.dgamma) mx::Store(a.dgamma, c, ") + (s.fix_gamma ? "0.0" : "second * static_cast<double>(ChannelOf(a, c).inv)") +
                             ");\n      if (a.dbeta) mx::Store(a.dbeta, c, first);\n" + coefficients("a.channels"), s.sum != nullptr};
    });
  } else {
    rtc::LaunchItems(args.run, {"batch_norm_constants", {x.dtype, param}, variant}, s.view.channels, &own, [&] {
      return LoopText{members, functions, "      const I c = i;\n" + coefficients("a.count")};
    });
  }
  const bool addend = s.sum && Wanted(args, 3);
  if (!Wanted(args, 0) && !addend) return;
  MapCall call{s.sum ? "batch_norm_add_gradient" : "batch_norm_gradient", x.dtype, variant, {g.dptr}, coef, {}, s.sum};
  ChannelMap map{{"g"}, {}, AccumulatorText(x.dtype), "        const A up = " + masked + ";\n"};
  TBlob masked_gradient;   // of the addend, as the other results lie
  if (addend) {
    masked_gradient = args.out[3];
    masked_gradient.layout = args.out[0].layout;
    if (args.out[3].layout != args.out[0].layout) masked_gradient.dptr = args.workspace(std::max<size_t>(masked_gradient.Bytes(), 1));
    call.results.emplace_back("up", masked_gradient.dptr);
    call.variant += 16;
  }
  if (Wanted(args, 0)) {
    call.arrays.push_back(x.dptr);
    call.results.emplace_back("v", args.out[0].dptr);
    call.variant += 32;
    map.arrays.push_back("x");
    map.coefficients = {"scale", "shift", "mean"};
    if (s.batch) map.coefficients.insert(map.coefficients.end(), {"up_mean", "product"});
    map.body += "        (void)shift;\n        (void)mean;\n        (void)x;\n";
    map.body += s.batch ? "        const A v = scale * (up - up_mean - (As<A>(x) - mean) * product);\n" : "        const A v = scale * up;\n";
  }
  MapOnDevice(args.run, s.view, call, [&] { return map; });
  if (addend && masked_gradient.dptr != args.out[3].dptr) ConvertLayoutOnDevice(args.run, masked_gradient, args.out[3]);
}

}  // namespace nn
}  // namespace mxnet
