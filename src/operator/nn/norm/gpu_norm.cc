#include "operator/nn/norm/gpu_norm.h"

#include <algorithm>

#include "operator/matrix/gpu_move.h"
#include "operator/nn/common/gpu_rows.h"
#include "operator/nn/common/nn_common.h"
#include "rtc/prelude.h"

namespace mxnet {
namespace nn {
namespace {

using rtc::LoopText;

std::string N(int64_t i) { return std::to_string(i); }
const void* Pointer(const KernelArgs& a, int i) { return Wanted(a, i) ? a.out[i].dptr : nullptr; }

}  // namespace

TBlob InOrderOnDevice(KernelArgs& args, const TBlob& b, Layout like) {
  if (b.layout == like || b.shape.ndim() < 3) return b;
  TBlob copy = b;
  copy.dptr = args.workspace(std::max<size_t>(b.Bytes(), 1));
  copy.layout = like;
  ConvertLayoutOnDevice(args.run, b, copy);
  return copy;
}

// ---- rows

namespace {

const char* const kRowMembers = "long long n, inner; double eps;";
void AddRow(const RowNorm& r, rtc::Arguments* args) { args->Add(r.n).Add(r.inner).Add(r.eps); }
const char* const kMoments =
    "    __shared__ A shared[256];\n    const long long base = row / a.inner * a.n * a.inner + row % a.inner;\n    A sum = A(0), squares = "
    "A(0);\n"
    "    for (long long j = threadIdx.x; j < a.n; j += 256) sum += mx::Load<A>(a.x, base + j * a.inner);\n    const A mean = "
    "mx::BlockSum(sum, shared) / static_cast<A>(a.n);\n"
    "    for (long long j = threadIdx.x; j < a.n; j += 256) {\n      const A d = mx::Load<A>(a.x, base + j * a.inner) - mean;\n      "
    "squares += d * d;\n    }\n"
    "    const A deviation = ::sqrt(mx::BlockSum(squares, shared) / static_cast<A>(a.n) + static_cast<A>(a.eps)), inv = A(1) / "
    "deviation;\n";

// Rows of neighbouring elements, held in registers.
// gamma[j], and beta[j], of pack k of a row: neighbours, or those of the elements' channels, or one
// for the whole row.
bool OneParameter(const RowNorm& r, const RegisterRows& held) {
  return r.parameter == RowNorm::kGroup || (r.parameter == RowNorm::kChannel && r.span % held.width == 0);
}
std::string ParametersOfPack(const RowNorm& r, const RegisterRows& held, std::initializer_list<const char*> names) {
  std::string t;
  for (const char* name : names) t += std::string("    T ") + name + "[kWidth];\n";
  if (r.parameter == RowNorm::kElement) {
    for (const char* name : names) t += std::string("    mx::LoadPack<kWidth>(a.") + name + ", k * kWidth, " + name + ");\n";
    return t;
  }
  t += "    const long long group = slice % a.groups;\n";
  const bool one = OneParameter(r, held);
  if (one)
    t += std::string("    const long long p = ") +
         (r.parameter == RowNorm::kGroup ? "group;\n" : "group * a.per_group + mx::Divide(k * kWidth, a.spanm, a.spanh);\n");
  t += "#pragma unroll\n    for (int j = 0; j < kWidth; ++j) {\n" +
       std::string(one ? "" : "      const long long p = group * a.per_group + mx::Divide(k * kWidth + j, a.spanm, a.spanh);\n");
  for (const char* name : names) t += std::string("      ") + name + "[j] = mx::Load<T>(a." + name + ", p);\n";
  return t + "    }\n";
}
const char* const kRegisterParameterMembers = " long long groups, per_group, spanm, spanh;";
void AddRegisterParameters(const RowNorm& r, rtc::Arguments* args) {
  const rtc::FastDivisor span(std::max<int64_t>(r.span, 1));
  args->Add(r.groups).Add(r.per_group).Add(span.multiplier).Add(span.shift);
}
std::string RegisterRowsKey(const RowNorm& r, const RegisterRows& held) {
  return held.Key() + "," + N(r.parameter) + N(OneParameter(r, held));
}

std::string RegisterMoments() {
  return std::string("  T v[kPacks * kWidth], sum = T(0), squares = T(0);\n") + kEachRegisterElement + "v[e] = T(0);\n" +
         kEachRegisterPack + "    mx::LoadPack<kWidth>(a.x, at, v + r * kWidth);\n  }\n" + kEachRegisterElement +
         "sum += v[e];\n  const T n = static_cast<T>(a.length), mean = OfRow(sum, Added(), shared) / n;\n" + kEachRegisterPack +
         "    (void)at;\n#pragma unroll\n    for (int j = 0; j < kWidth; ++j) {\n      v[r * kWidth + j] -= mean;\n      squares += v[r * "
         "kWidth + j] * v[r * kWidth + j];\n    }\n  }\n"
         "  const T deviation = ::sqrt(OfRow(squares, Added(), shared) / n + static_cast<T>(a.eps)), inv = T(1) / deviation;\n";
}
std::string TypesText(std::initializer_list<int> dtypes) {
  std::string t = std::string("typedef ") + (dtypes.begin()[0] == kFloat64 ? "double" : "float") + " T;\n";
  int n = 0;
  for (int d : dtypes) t += std::string("typedef ") + rtc::StorageName(d) + " D" + N(n++) + ";\n";
  return t;
}
bool NormRegisterRows(KernelArgs& args, const RowNorm& r) {
  if (r.inner != 1) return false;
  const TBlob &x = args.in[0], &gamma = args.in[1], &beta = args.in[2];
  const bool packs = r.parameter == RowNorm::kElement;  // of parameters
  const void* y = Pointer(args, 0);
  const RegisterRows held = RegisterRowsFor(
      r.n, 32, {{x.dptr, x.dtype}, {y, x.dtype}, {packs ? gamma.dptr : nullptr, gamma.dtype}, {packs ? beta.dptr : nullptr, gamma.dtype}});
  if (!held) return false;
  const rtc::Kernel& kernel = rtc::FindKernel("layer_norm|" + N(x.dtype) + "," + N(gamma.dtype) + RegisterRowsKey(r, held), [&](rtc::Kernel*
                                                                                                                                    k) {
    k->name = "layer_norm";
    k->source =
        rtc::Prelude() + TypesText({x.dtype, gamma.dtype}) +
        "struct Args { const D0* x; const D1* gamma; const D1* beta; D0* y; D0* mean; D0* deviation; long long outer, length; double eps;" +
        kRegisterParameterMembers + " };\n" + RegisterRowsHead("layer_norm", held) + RegisterMoments() +
        "  if (mine && lane == 0 && a.mean) mx::Store(a.mean, slice, mean);\n  if (mine && lane == 0 && a.deviation) "
        "mx::Store(a.deviation, slice, deviation);\n  if (a.y) {\n" +
        kEachRegisterPack + ParametersOfPack(r, held, {"gamma", "beta"}) +
        "#pragma unroll\n    for (int j = 0; j < kWidth; ++j) v[r * kWidth + j] = v[r * kWidth + j] * inv * gamma[j] + beta[j];\n    "
        "mx::StorePack<kWidth>(a.y, at, v + r * kWidth);\n  }\n  }\n  }\n}\n";
  });
  rtc::Arguments a;
  a.Add(x.dptr).Add(gamma.dptr).Add(beta.dptr).Add(y).Add(Pointer(args, 1)).Add(Pointer(args, 2)).Add(r.rows).Add(r.n).Add(r.eps);
  AddRegisterParameters(r, &a);
  rtc::Launch(kernel, RegisterRowsGrid(r.rows, held), &a, args.run);
  return true;
}
bool NormRegisterRowsBackward(KernelArgs& args, const RowNorm& r, void* moments) {
  if (r.inner != 1) return false;
  const TBlob &g = args.in[0], &x = args.in[1], &gamma = args.in[2];
  const void* dx = Pointer(args, 0);
  const RegisterRows held = RegisterRowsFor(
      r.n, 16,
      {{x.dptr, x.dtype}, {g.dptr, x.dtype}, {dx, x.dtype}, {r.parameter == RowNorm::kElement ? gamma.dptr : nullptr, gamma.dtype}});
  if (!held) return false;
  const rtc::Kernel& kernel =
      rtc::FindKernel("layer_norm_backward|" + N(x.dtype) + "," + N(gamma.dtype) + RegisterRowsKey(r, held), [&](rtc::Kernel* k) {
        k->name = "layer_norm_backward";
        k->source = rtc::Prelude() + TypesText({x.dtype, gamma.dtype}) +
                    "struct Args { const D0* g; const D0* x; const D1* gamma; D0* dx; T* moments; long long outer, length; double eps;" +
                    kRegisterParameterMembers + " };\n" + RegisterRowsHead("layer_norm_backward", held) + RegisterMoments() +
                    "  if (mine && lane == 0 && a.moments) {\n    a.moments[2 * slice] = mean;\n    a.moments[2 * slice + 1] = inv;\n  }\n "
                    " if (a.dx) {\n  T g[kPacks * kWidth], total = T(0), product = T(0);\n" +
                    kEachRegisterElement + "g[e] = T(0);\n" + kEachRegisterPack + ParametersOfPack(r, held, {"gamma"}) +
                    "    mx::LoadPack<kWidth>(a.g, at, g + r * kWidth);\n#pragma unroll\n    for (int j = 0; j < kWidth; ++j) {\n"
                    "      const int e = r * kWidth + j;\n      g[e] *= gamma[j];\n      v[e] *= inv;\n      total += g[e];\n      product "
                    "+= g[e] * v[e];\n    }\n  }\n"
                    "  total = OfRow(total, Added(), shared) / n;\n  product = OfRow(product, Added(), shared) / n;\n" +
                    kEachRegisterPack +
                    "#pragma unroll\n    for (int j = 0; j < kWidth; ++j) g[r * kWidth + j] = inv * (g[r * kWidth + j] - total - v[r * "
                    "kWidth + j] * product);\n    mx::StorePack<kWidth>(a.dx, at, g + r * kWidth);\n"
                    "  }\n  }\n  }\n}\n";
      });
  rtc::Arguments a;
  a.Add(g.dptr).Add(x.dptr).Add(gamma.dptr).Add(dx).Add(moments).Add(r.rows).Add(r.n).Add(r.eps);
  AddRegisterParameters(r, &a);
  rtc::Launch(kernel, RegisterRowsGrid(r.rows, held), &a, args.run);
  return true;
}

// Longer rows whose channels or groups have a parameter each: sums over a row as over a channel,
// and an array of units, which have one parameter and so one set of coefficients.
ChannelView UnitsOf(const RowNorm& r) {
  const int64_t each = r.parameter == RowNorm::kChannel ? r.per_group : 1;
  return {1, r.rows * each, r.n / each};
}
// Unit i: its row and its parameter p.
const char* const kUnitMembers = " long long each, groups;";
const char* const kUnitText =
    "      const long long row = static_cast<long long>(i) / a.each, p = row % a.groups * a.each + (static_cast<long long>(i) - row * "
    "a.each);\n";
void AddUnits(const RowNorm& r, rtc::Arguments* args) {
  args->Add(r.parameter == RowNorm::kChannel ? r.per_group : int64_t{1}).Add(r.groups);
}

// Mean and 1 / deviation of each row, in A; the layer's own results where they are wanted.
void UnitMoments(KernelArgs& args, const RowNorm& r, const TBlob& x, void* moments, const void* mean, const void* deviation) {
  rtc::Arguments own;
  own.Add(x.dptr).Add(moments).Add(mean).Add(deviation).Add(r.eps);
  ChannelSums(args, {1, r.rows, r.n}, {"row_moments", {x.dtype}}, {x.dptr}, own, [&] {
    return ChannelText{"const D0* x; A* moments; D0* mean; D0* deviation; double eps;",
                       AccumulatorText(x.dtype) +
                           "struct Channel { A origin; };\ntemplate <typename Args> __device__ __forceinline__ Channel ChannelOf(const "
                           "Args& a, long long c) {\n"
                           "  Channel k;\n  k.origin = mx::Load<A>(a.x, c * a.inner);\n  return k;\n}\n",
                       {"x"},
                       "      const A d = As<A>(x) - k.origin;\n      first += d;\n      second += d * d;\n",
                       "      const double n = static_cast<double>(a.inner), off = first / n, mean = mx::Load<double>(a.x, c * a.inner) + "
                       "off, square = second / n - off * off;\n"
                       "      const double deviation = ::sqrt((square > 0 || square != square ? square : 0.0) + a.eps);\n"
                       "      a.moments[2 * c] = static_cast<A>(mean);\n      a.moments[2 * c + 1] = static_cast<A>(1 / deviation);\n"
                       "      if (a.mean) mx::Store(a.mean, c, mean);\n      if (a.deviation) mx::Store(a.deviation, c, deviation);\n"};
  });
}
void* NewMoments(KernelArgs& args, const RowNorm& r, int dtype) {
  return args.workspace(static_cast<size_t>(std::max<int64_t>(2 * r.rows, 1)) * (dtype == kFloat64 ? sizeof(double) : sizeof(float)));
}

void NormUnits(KernelArgs& args, const RowNorm& r) {
  const TBlob &x = args.in[0], &gamma = args.in[1];
  void* moments = NewMoments(args, r, x.dtype);
  UnitMoments(args, r, x, moments, Pointer(args, 1), Pointer(args, 2));
  if (!Wanted(args, 0)) return;
  const ChannelView units = UnitsOf(r);
  void* coef = NewCoefficients(args, units, x.dtype, 2);
  rtc::Arguments a;
  a.Add(gamma.dptr).Add(args.in[2].dptr).Add(moments).Add(coef);
  AddUnits(r, &a);
  rtc::LaunchItems(args.run, {"row_norm_coefficients", {x.dtype, gamma.dtype}}, units.channels, &a, [&] {
    return LoopText{std::string("const D1* gamma; const D1* beta; const A* moments; A* coef;") + kUnitMembers, AccumulatorText(x.dtype),
                    std::string(kUnitText) +
                        "      const A scale = mx::Load<A>(a.gamma, p) * a.moments[2 * row + 1];\n      a.coef[i] = scale;\n"
                        "      a.coef[a.count + i] = mx::Load<A>(a.beta, p) - scale * a.moments[2 * row];\n"};
  });
  MapOnDevice(args.run, units, {"row_norm_scale", x.dtype, 0, {x.dptr}, coef, {{"v", args.out[0].dptr}}}, [&] {
    return ChannelMap{{"x"}, {"scale", "shift"}, AccumulatorText(x.dtype), "        const A v = As<A>(x) * scale + shift;\n"};
  });
}

// The gradient of the data; moments are written too.
void NormUnitsBackward(KernelArgs& args, const RowNorm& r, void* moments) {
  const TBlob &g = args.in[0], &x = args.in[1], &gamma = args.in[2];
  UnitMoments(args, r, x, moments, nullptr, nullptr);
  if (!Wanted(args, 0)) return;
  void* sums = NewMoments(args, r, x.dtype);  // over a row, of gamma g and of gamma g times the scaled data, divided by its length
  const bool channel = r.parameter == RowNorm::kChannel, large = r.n >= kLargeCount;
  rtc::Arguments own;
  own.Add(g.dptr).Add(x.dptr).Add(gamma.dptr).Add(moments).Add(sums).Add(r.groups).Add(r.per_group);
  AddDivisor(std::max<int64_t>(r.span, 1), large, &own);
  const std::string index = large ? "q" : "static_cast<unsigned>(q)";
  ChannelSums(args, {1, r.rows, r.n}, {"row_norm_sums", {x.dtype, gamma.dtype}, channel}, {g.dptr, x.dptr}, own, [&] {
    return ChannelText{
        "const D0* g; const D0* x; const D1* gamma; const A* moments; A* sums; long long groups, per_group, span, spanm, spanh;",
        AccumulatorText(x.dtype) +
            "struct Channel { A mean, inv, gamma; long long group; };\ntemplate <typename Args> __device__ __forceinline__ Channel "
            "ChannelOf(const Args& a, long long c) {\n"
            "  Channel k;\n  k.mean = a.moments[2 * c];\n  k.inv = a.moments[2 * c + 1];\n  k.group = c % a.groups;\n  k.gamma = " +
            (channel ? "A(0)" : "mx::Load<A>(a.gamma, k.group)") + ";\n  return k;\n}\n",
        {"g", "x"},
        std::string("      const A up = As<A>(g) * ") +
            (channel ? "mx::Load<A>(a.gamma, k.group * a.per_group + Over(" + index + ", a.span, a.spanm, a.spanh))" : "k.gamma") +
            ";\n      first += up;\n      second += up * (As<A>(x) - k.mean) * k.inv;\n",
        "      a.sums[2 * c] = static_cast<A>(first / static_cast<double>(a.inner));\n      a.sums[2 * c + 1] = static_cast<A>(second / "
        "static_cast<double>(a.inner));\n"};
  });
  const ChannelView units = UnitsOf(r);
  void* coef = NewCoefficients(args, units, x.dtype, 4);
  rtc::Arguments a;
  a.Add(gamma.dptr).Add(moments).Add(sums).Add(coef);
  AddUnits(r, &a);
  rtc::LaunchItems(args.run, {"row_norm_gradient_coefficients", {x.dtype, gamma.dtype}}, units.channels, &a, [&] {
    return LoopText{std::string("const D1* gamma; const A* moments; const A* sums; A* coef;") + kUnitMembers, AccumulatorText(x.dtype),
                    std::string(kUnitText) +
                        "      const A inv = a.moments[2 * row + 1];\n      a.coef[i] = mx::Load<A>(a.gamma, p) * inv;\n      "
                        "a.coef[a.count + i] = inv * inv * a.sums[2 * row + 1];\n"
                        "      a.coef[2 * static_cast<long long>(a.count) + i] = inv * a.sums[2 * row];\n      a.coef[3 * static_cast<long "
                        "long>(a.count) + i] = a.moments[2 * row];\n"};
  });
  MapOnDevice(args.run, units, {"row_norm_gradient", x.dtype, 0, {g.dptr, x.dptr}, coef, {{"v", args.out[0].dptr}}}, [&] {
    return ChannelMap{{"g", "x"},
                      {"scale", "product", "total", "mean"},
                      AccumulatorText(x.dtype),
                      "        const A v = As<A>(g) * scale - total - (As<A>(x) - mean) * product;\n"};
  });
}

}  // namespace

void RowNormOnDevice(KernelArgs& args, const RowNorm& r) {
  if (r.rows == 0 || NormRegisterRows(args, r)) return;
  if (r.parameter != RowNorm::kElement) return NormUnits(args, r);
  rtc::Arguments a;
  a.Add(args.in[0].dptr).Add(args.in[1].dptr).Add(args.in[2].dptr).Add(Pointer(args, 0)).Add(Pointer(args, 1)).Add(Pointer(args, 2));
  AddRow(r, &a);
  rtc::LaunchRows(args.run, {"row_norm", {args.in[0].dtype, args.in[1].dtype}}, r.rows, &a, [&] {
    return LoopText{
        std::string("const D0* x; const D1* gamma; const D1* beta; D0* y; D0* mean; D0* deviation; ") + kRowMembers,
        AccumulatorText(args.in[0].dtype),
        std::string(kMoments) +
            "    if (threadIdx.x == 0 && a.mean) mx::Store(a.mean, row, mean);\n    if (threadIdx.x == 0 && a.deviation) "
            "mx::Store(a.deviation, row, deviation);\n"
            "    if (a.y) {\n      for (long long j = threadIdx.x; j < a.n; j += 256) {\n        const long long at = base + j * a.inner;\n"
            "        mx::Store(a.y, at, (mx::Load<A>(a.x, at) - mean) * inv * mx::Load<A>(a.gamma, j) + mx::Load<A>(a.beta, j));\n      "
            "}\n    }\n"};
  });
}

void RowNormBackwardOnDevice(KernelArgs& args, const RowNorm& r) {
  const int dtype = args.in[1].dtype;
  const int stats = dtype == kFloat64 ? int{kFloat64} : int{kFloat32};
  const bool sums = Wanted(args, 1) || Wanted(args, 2);
  const bool has_units = r.parameter != RowNorm::kElement;
  void* moments = sums || has_units ? NewMoments(args, r, dtype) : nullptr;  // mean and 1 / deviation of each row
  const bool done = r.rows == 0 || NormRegisterRowsBackward(args, r, moments);
  if (!done && has_units) {
    NormUnitsBackward(args, r, moments);
  } else if (!done) {
    rtc::Arguments a;
    a.Add(args.in[0].dptr).Add(args.in[1].dptr).Add(args.in[2].dptr).Add(Pointer(args, 0)).Add(moments);
    AddRow(r, &a);
    rtc::LaunchRows(args.run, {"row_norm_backward", {dtype, args.in[2].dtype}}, r.rows, &a, [&] {
      return LoopText{
          std::string("const D0* g; const D0* x; const D1* gamma; D0* dx; A* moments; ") + kRowMembers, AccumulatorText(dtype),
          std::string(kMoments) +
              "    if (threadIdx.x == 0 && a.moments) {\n      a.moments[2 * row] = mean;\n      a.moments[2 * row + 1] = inv;\n    }\n"
              "    if (a.dx) {\n      A total = A(0), product = A(0);\n      for (long long j = threadIdx.x; j < a.n; j += 256) {\n        "
              "const long long at = base + j * a.inner;\n"
              "        const A g = mx::Load<A>(a.g, at) * mx::Load<A>(a.gamma, j);\n        total += g;\n        product += g * "
              "(mx::Load<A>(a.x, at) - mean) * inv;\n      }\n"
              "      total = mx::BlockSum(total, shared) / static_cast<A>(a.n);\n      product = mx::BlockSum(product, shared) / "
              "static_cast<A>(a.n);\n"
              "      for (long long j = threadIdx.x; j < a.n; j += 256) {\n        const long long at = base + j * a.inner;\n"
              "        const A g = mx::Load<A>(a.g, at) * mx::Load<A>(a.gamma, j), scaled = (mx::Load<A>(a.x, at) - mean) * inv;\n"
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
  ChannelSums(args, view, {"row_norm_parameters", {dtype, args.in[2].dtype, stats}, static_cast<int>(r.parameter)},
              {args.in[0].dptr, args.in[1].dptr}, own, [&] {
                return ChannelText{
                    "const D0* g; const D0* x; const D2* moments; D1* dgamma; D1* dbeta; long long groups, per_group;",
                    AccumulatorText(dtype) + kNoChannel,
                    {"g", "x"},
                    "      const long long r = " + row +
                        ";\n      const A up = As<A>(g);\n"
                        "      first += up;\n      second += up * (As<A>(x) - a.moments[2 * r]) * a.moments[2 * r + 1];\n",
                    "      if (a.dgamma) mx::Store(a.dgamma, c, second);\n      if (a.dbeta) mx::Store(a.dbeta, c, first);\n"};
              });
}

// ---- batches

namespace {

// a.coef of channel c for the output, from what the forward pass keeps: y = x * scale + shift
std::string ForwardCoefficients(const BatchNormSettings& s, const char* channels) {
  return std::string("      if (a.coef) {\n        const A scale = ") + (s.fix_gamma ? "" : "mx::Load<A>(a.gamma, c) * ") +
         "mx::Load<A>(a.inv, c);\n        a.coef[c] = scale;\n        a.coef[" + channels +
         " + c] = mx::Load<A>(a.beta, c) - scale * mx::Load<A>(a.mean, c);\n      }\n";
}

// args: with an addend as input 3.
void ScaleOnDevice(KernelArgs& args, const BatchNormSettings& s, const TBlob& x, const void* coef) {
  MapCall call{"batch_norm_scale", x.dtype, s.relu, {x.dptr}, coef, {{"v", args.out[0].dptr}}};
  ChannelMap map{
      {"x"},
      {"scale", "shift"},
      AccumulatorText(x.dtype),
      std::string("        const A y = As<A>(x) * scale + shift, v = ") + (s.relu ? "y > A(0) || y != y ? y : A(0);\n" : "y;\n")};
  if (s.sum) {
    call.name = "batch_norm_add_scale", call.marks = s.sum, call.writes_marks = true;
    call.arrays.push_back(InOrderOnDevice(args, args.in[3], args.out[0].layout).dptr);
    map.arrays.push_back("addend");
    map.body =
        "        const A y = As<A>(x) * scale + shift + As<A>(addend), v = y > A(0) || y != y ? y : A(0);\n        bit = y > A(0);\n";
  }
  MapOnDevice(args.run, s.view, call, [&] { return map; });
}

}  // namespace

void BatchNormOnDevice(KernelArgs& args, const BatchNormSettings& s) {
  const TBlob x = InOrderOnDevice(args, args.in[0], args.out[0].layout);
  const int param = args.in[1].dtype, variant = s.fix_gamma, moving = s.sum ? 4 : 3;
  const size_t bytes = static_cast<size_t>(std::max<int64_t>(s.view.channels, 1)) * DTypeSize(param);
  void *mean = Wanted(args, 1) ? args.out[1].dptr : args.workspace(bytes),
       *inv = Wanted(args, 2) ? args.out[2].dptr : args.workspace(bytes);
  void* coef = Wanted(args, 0) ? NewCoefficients(args, s.view, x.dtype, 2) : nullptr;
  rtc::Arguments own;
  own.Add(x.dptr)
      .Add(args.in[1].dptr)
      .Add(args.in[2].dptr)
      .Add(args.in[moving].dptr)
      .Add(args.in[moving + 1].dptr)
      .Add(mean)
      .Add(inv)
      .Add(coef)
      .Add(s.eps)
      .Add(s.momentum);
  const char* const members =
      "const D0* x; const D1* gamma; const D1* beta; D1* moving_mean; D1* moving_var; D1* mean; D1* inv; A* coef; double eps, momentum;";
  if (s.batch) {
    ChannelSums(args, s.view, {"batch_norm", {x.dtype, param}, variant}, {x.dptr}, own,
                [&] {  // around the channel's first element: the squares lose no digits
                  return ChannelText{
                      members,
                      AccumulatorText(x.dtype) +
                          "struct Channel { A origin; };\ntemplate <typename Args> __device__ __forceinline__ Channel ChannelOf(const "
                          "Args& a, long long c) {\n"
                          "  Channel k;\n  k.origin = mx::Load<A>(a.x, c * a.inner);\n  return k;\n}\n",
                      {"x"},
                      "      const A d = As<A>(x) - k.origin;\n      first += d;\n      second += d * d;\n",
                      "      const double n = static_cast<double>(a.outer * a.inner), off = first / n, mean = mx::Load<double>(a.x, c * "
                      "a.inner) + off;\n"
                      "      const double square = second / n - off * off, var = square > 0 || square != square ? square : 0.0;\n"
                      "      mx::Store(a.moving_mean, c, a.momentum * mx::Load<double>(a.moving_mean, c) + (1 - a.momentum) * mean);\n"
                      "      mx::Store(a.moving_var, c, a.momentum * mx::Load<double>(a.moving_var, c) + (1 - a.momentum) * var);\n"
                      "      mx::Store(a.mean, c, mean);\n      mx::Store(a.inv, c, 1 / ::sqrt(var + a.eps));\n" +
                          ForwardCoefficients(s, "a.channels")};
                });
  } else {
    rtc::LaunchItems(args.run, {"batch_norm_moving", {x.dtype, param}, variant}, s.view.channels, &own, [&] {
      return LoopText{members, AccumulatorText(x.dtype),
                      "      const I c = i;\n      a.mean[c] = a.moving_mean[c];\n      mx::Store(a.inv, c, 1 / "
                      "::sqrt(mx::Load<double>(a.moving_var, c) + a.eps));\n" +
                          ForwardCoefficients(s, "a.count")};
    });
  }
  if (Wanted(args, 0)) ScaleOnDevice(args, s, x, coef);
}

void BatchNormRecomputeOnGpu(KernelArgs& args, const BatchNormSettings& s) {
  const TBlob x = InOrderOnDevice(args, args.in[0], args.out[0].layout);
  void* coef = NewCoefficients(args, s.view, x.dtype, 2);
  const int mean = s.sum ? 4 : 3;
  rtc::Arguments own;
  own.Add(args.in[1].dptr).Add(args.in[2].dptr).Add(args.in[mean].dptr).Add(args.in[mean + 1].dptr).Add(coef);
  rtc::LaunchItems(args.run, {"batch_norm_coefficients", {args.in[1].dtype}, (s.fix_gamma ? 2 : 0) + (x.dtype == kFloat64 ? 1 : 0)},
                   s.view.channels, &own, [&] {
                     return LoopText{"const D0* gamma; const D0* beta; const D0* mean; const D0* inv; A* coef;", AccumulatorText(x.dtype),
                                     "      const I c = i;\n" + ForwardCoefficients(s, "a.count")};
                   });
  ScaleOnDevice(args, s, x, coef);
}

void BatchNormBackwardOnDevice(KernelArgs& args, const BatchNormSettings& s) {
  const int data = s.sum ? 2 : 1;  // input
  const TBlob g = InOrderOnDevice(args, args.in[0], args.out[0].layout), x = InOrderOnDevice(args, args.in[data], args.out[0].layout);
  const int param = args.in[data + 1].dtype, variant = (s.sum ? 8 : 0) + (s.fix_gamma ? 4 : 0) + (s.batch ? 2 : 0) + (s.relu ? 1 : 0);
  void* coef = Wanted(args, 0) ? NewCoefficients(args, s.view, x.dtype, 5) : nullptr;
  rtc::Arguments own;
  own.Add(g.dptr)
      .Add(x.dptr)
      .Add(args.in[data + 1].dptr)
      .Add(s.relu ? args.in[7].dptr : nullptr)
      .Add(args.in[data + (s.batch ? 4 : 2)].dptr)
      .Add(args.in[data + (s.batch ? 5 : 3)].dptr)
      .Add(Pointer(args, 1))
      .Add(Pointer(args, 2))
      .Add(coef)
      .Add(s.eps);
  if (s.sum) AddMarks(*s.sum, &own);
  const std::string members = std::string(
                                  "const D0* g; const D0* x; const D1* gamma; const D1* beta; const D1* mean; const D1* second_moment; D1* "
                                  "dgamma; D1* dbeta; A* coef; double eps;") +
                              (s.sum ? kMarkMembers : "");
  // what the forward pass used; the relu's mask is computed again as it was there, or read where
  // something was added
  const std::string masked = s.relu ? "As<A>(x) * scale + shift > A(0) ? As<A>(g) : A(0)" : s.sum ? "bit ? As<A>(g) : A(0)" : "As<A>(g)";
  const std::string functions = AccumulatorText(x.dtype) +
                                "struct Channel { A mean, inv, scale, shift; };\n"
                                "template <typename Args> __device__ __forceinline__ Channel ChannelOf(const Args& a, long long c) {\n  "
                                "Channel k;\n  k.mean = mx::Load<A>(a.mean, c);\n" +
                                (s.batch ? "  k.inv = mx::Load<A>(a.second_moment, c);\n"
                                         : "  k.inv = static_cast<A>(1 / ::sqrt(mx::Load<double>(a.second_moment, c) + a.eps));\n") +
                                "  k.scale = " + (s.fix_gamma ? "" : "mx::Load<A>(a.gamma, c) * ") +
                                "k.inv;\n  k.shift = " + (s.relu ? "mx::Load<A>(a.beta, c) - k.scale * k.mean" : "A(0)") +
                                ";\n  return k;\n}\n" + (s.sum ? kMarkText : "");
  auto coefficients = [&](const char* channels) {  // with the sums over n elements where the batch's moments were used
    const std::string next = std::string(" * ") + channels + " + c] = ";
    return "      if (a.coef) {\n        const Channel k = ChannelOf(a, c);\n        a.coef[c] = k.scale;\n        a.coef[1" + next +
           "k.shift;\n        a.coef[2" + next + "k.mean;\n" +
           (s.batch ? "        const double n = static_cast<double>(a.outer * a.inner);\n        a.coef[3" + next +
                          "static_cast<A>(first / n);\n        a.coef[4" + next + "static_cast<A>(second / n) * k.inv * k.inv;\n"
                    : std::string()) +
           "      }\n";
  };
  const bool sums = s.batch || Wanted(args, 1) || Wanted(args, 2);
  if (sums) {
    ChannelSums(args, s.view, {"batch_norm_backward", {x.dtype, param}, variant}, {g.dptr, x.dptr}, own, [&] {
      return ChannelText{members,
                         functions,
                         {"g", "x"},
                         "      const A scale = k.scale, shift = k.shift, up = " + masked +
                             ";\n      (void)scale;\n      (void)shift;\n      first += up;\n      second += up * (As<A>(x) - k.mean);\n",
                         std::string("      if (a.dgamma) mx::Store(a.dgamma, c, ") +
                             (s.fix_gamma ? "0.0" : "second * static_cast<double>(ChannelOf(a, c).inv)") +
                             ");\n      if (a.dbeta) mx::Store(a.dbeta, c, first);\n" + coefficients("a.channels"),
                         s.sum != nullptr};
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
  TBlob masked_gradient;  // of the addend, as the other results lie
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
    map.body +=
        s.batch ? "        const A v = scale * (up - up_mean - (As<A>(x) - mean) * product);\n" : "        const A v = scale * up;\n";
  }
  MapOnDevice(args.run, s.view, call, [&] { return map; });
  if (addend && masked_gradient.dptr != args.out[3].dptr) ConvertLayoutOnDevice(args.run, masked_gradient, args.out[3]);
}

}  // namespace nn
}  // namespace mxnet
