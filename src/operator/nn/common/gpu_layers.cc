#include "operator/nn/common/gpu_layers.h"

#include <algorithm>
#include <string>

#include "operator/matrix/gpu_move.h"
#include "operator/nn/common/gpu_channels.h"
#include "operator/nn/common/nn_common.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/gpu_activation.h"
#include "operator/pointwise/gpu_program.h"
#include "operator/pointwise/rows.h"
#include "operator/random/gpu_random.h"
#include "operator/reduce/reduce.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {
namespace {

using rtc::LoopText;

std::string RealText(int dtype) { return std::string("typedef ") + (dtype == kFloat64 ? "double" : "float") + " A;\n"; }

}  // namespace

void ActivationOnDevice(KernelArgs& a, int type, double slope, bool gradient) {
  pointwise::DeviceProgram p;
  pointwise::DeviceStep step;
  step.function = pointwise::ActivationFunction(type, gradient);
  for (int i = 0; i <= static_cast<int>(gradient); ++i) step.from.push_back({pointwise::DeviceValue::kInput, i});
  step.params = 0;
  p.numbers = 3;
  p.name = "activation_" + pointwise::DeviceName(step.function);
  p.compute = pointwise::ComputeFor(a.out[0].dtype, false);
  p.steps.push_back(step);
  const double numbers[3] = {slope, 0, 0};
  pointwise::RunProgram(p, Span<const TBlob>(a.in.ptr, gradient ? 2 : 1), numbers, a.out[0], a.req[0], a.run);
}

void MultiplyOnDevice(KernelArgs& a, const TBlob& x, const TBlob& y, const TBlob& out) {
  const pointwise::Operand in[2] = {x, y};
  pointwise::Execute(a.run, pointwise::Forward(pointwise::k_mul), pointwise::ComputeFor(out.dtype, false), in, 2, pointwise::kBinaryMasks,
                     nullptr, out, OpReq::kWrite);
}

void DropoutOnDevice(const RunContext& run, const DeviceDraws& draws, uint64_t threshold, double scale, const TBlob* x, const TBlob& mask,
                     const TBlob& out) {
  rtc::Arguments args;
  args.Add(x ? x->dptr : nullptr)
      .Add(mask.dptr)
      .Add(x ? out.dptr : nullptr)
      .Add(mask.Size())
      .Add(static_cast<int64_t>(threshold))
      .Add(scale);
  draws.AddTo(&args);
  rtc::LaunchItems(run, {"dropout", {mask.dtype}, x != nullptr}, (mask.Size() + 3) / 4, &args, [&] {
    return LoopText{
        std::string("const D0* x; D0* mask; D0* out; long long n; unsigned long long threshold; double scale; ") + kDrawMembers,
        std::string(PhiloxText()) + RealText(mask.dtype),
        "    const long long at = 4 * item;\n    const int left = a.n - at < 4 ? static_cast<int>(a.n - at) : 4;\n    A factor[4];\n" +
            std::string(x ? "    A v[4];\n    mx::LoadFour(a.x, at, left, v);\n" : "") +
            "    const mx::Philox r = mx::Draw(mx::Seed(a), mx::First(a) + i);\n#pragma unroll\n    for (int k = 0; k < 4; ++k) factor[k] "
            "= r.w[k] < a.threshold ? static_cast<A>(a.scale) : A(0);\n"
            "    if (a.mask) mx::StoreFour(a.mask, at, left, factor);\n" +
            std::string(x ? "#pragma unroll\n    for (int k = 0; k < 4; ++k) v[k] *= factor[k];\n    mx::StoreFour(a.out, at, left, v);\n"
                          : "")};
  });
}

// ---- losses

void SoftmaxOutputBackwardOnDevice(KernelArgs& a, const SoftmaxOutputSettings& s, const TBlob& label, const TBlob& y, const TBlob* og,
                                   const TBlob& dx) {
  int64_t* valid = nullptr;
  const int64_t labels = s.outer * s.inner;
  if (s.valid) {
    valid = static_cast<int64_t*>(a.workspace(sizeof(int64_t)));
    ZeroBytes(a.run, valid, sizeof(int64_t));
    rtc::Arguments count;
    count.Add(label.dptr).Add(valid).Add(s.ignore);
    rtc::LaunchItems(a.run, {"count_labels", {label.dtype}}, labels, &count, [] {
      return LoopText{"const D0* label; unsigned long long* valid; double ignore;", "",
                      "    if (mx::Load<double>(a.label, i) != a.ignore) atomicAdd(a.valid, 1ull);\n"};
    });
  }
  rtc::Arguments args;
  const bool large = dx.Size() >= rtc::kLargeCount;
  args.Add(label.dptr).Add(y.dptr).Add(og ? og->dptr : nullptr).Add(dx.dptr).Add(valid);
  rtc::AddDivisor(s.classes, large, &args);
  rtc::AddDivisor(s.inner, large, &args);
  args.Add(s.scale).Add(s.ignore).Add(s.on).Add(s.off);
  const bool narrow = (label.dtype == kFloat32 || IsHalf(label.dtype)) && s.classes <= int64_t{1} << 24;
  const int variant = (narrow ? 8 : 0) + (s.probabilities ? 4 : 0) + (s.use_ignore ? 2 : 0) + (og ? 1 : 0);
  rtc::LaunchItems(a.run, {"softmax_output_backward", {label.dtype, y.dtype, og ? og->dtype : -1}, variant}, dx.Size(), &args, [&] {
    std::string body =
        "    A scale = static_cast<A>(a.scale);\n    if (a.valid) scale = static_cast<A>(a.scale / static_cast<double>(*a.valid > 0 ? "
        "*a.valid : 1));\n";
    if (og) body += "    scale *= mx::Load<A>(a.og, i);\n";
    if (s.probabilities) {
      body += "    mx::Store(a.dx, i, (mx::Load<A>(a.y, i) - mx::Load<A>(a.label, i)) * scale);\n";
    } else {
      // labels in float where that holds every class: conversions to double would take longest here
      body +=
          "    const I r = Over(i, a.inner, a.innerm, a.innerh), o = Over(r, a.classes, a.classesm, a.classesh), c = r - o * "
          "static_cast<I>(a.classes);\n"
          "    const L label = mx::Load<L>(a.label, o * a.inner + (i - r * static_cast<I>(a.inner)));\n"
          "    const A target = static_cast<A>(static_cast<L>(c) == ::trunc(label) ? a.on : a.off);\n    mx::Store(a.dx, i, " +
          std::string(s.use_ignore ? "label == static_cast<L>(a.ignore) ? A(0) : " : "") + "(mx::Load<A>(a.y, i) - target) * scale);\n";
    }
    return LoopText{
        "const D0* label; const D1* y; const D2* og; D1* dx; const long long* valid; long long classes, classesm, classesh, inner, innerm, "
        "innerh; double scale, ignore, on, off;",
        RealText(y.dtype) + (narrow ? "typedef float L;\n" : "typedef double L;\n"), body};
  });
}

void CrossEntropyOnDevice(KernelArgs& a, const TBlob& data, const TBlob& label, double least, const TBlob& out) {
  const int64_t rows = data.shape[0];
  TBlob losses;
  losses.dtype = kFloat64;
  losses.shape = Shape{rows};
  losses.dptr = a.workspace(std::max<size_t>(losses.Bytes(), 1));
  rtc::Arguments args;
  args.Add(data.dptr).Add(label.dptr).Add(losses.dptr).Add(data.shape[1]).Add(least);
  rtc::LaunchRows(a.run, {"cross_entropy", {data.dtype, label.dtype}}, rows, &args, [&] {
    return LoopText{"const D0* data; const D1* label; double* losses; long long classes; double least;", RealText(data.dtype),
                    "    __shared__ A shared[256];\n    const long long base = row * a.classes;\n    A top = "
                    "-static_cast<A>(__int_as_float(0x7f800000)), sum = A(0);\n"
                    "    for (long long j = threadIdx.x; j < a.classes; j += 256) {\n      const A v = mx::Load<A>(a.data, base + j);\n    "
                    "  if (v > top || v != v) top = v;\n    }\n    top = mx::BlockMax(top, shared);\n"
                    "    for (long long j = threadIdx.x; j < a.classes; j += 256) sum += ::exp(mx::Load<A>(a.data, base + j) - top);\n    "
                    "sum = mx::BlockSum(sum, shared);\n"
                    "    if (threadIdx.x == 0) {\n      const double label = mx::Load<double>(a.label, row);\n"
                    "      const double p = label > -1 && label < static_cast<double>(a.classes) ? "
                    "static_cast<double>(::exp(mx::Load<A>(a.data, base + static_cast<long long>(label)) - top) / sum) : 0.0;\n"
                    "      a.losses[row] = -::log(p > a.least || p != p ? p : a.least);\n    }\n"};
  });
  reduce::Reduce(a, reduce::kSum, losses, {1}, reduce::Finish(), false, out, a.req[0]);
}

void CrossEntropyBackwardOnDevice(KernelArgs& a, const TBlob& og, const TBlob& label, const TBlob& dx) {
  rtc::Arguments args;
  args.Add(og.dptr).Add(label.dptr).Add(dx.dptr).Add(dx.shape[1]);
  rtc::LaunchItems(a.run, {"cross_entropy_backward", {og.dtype, label.dtype, dx.dtype}}, dx.Size(), &args, [&] {
    return LoopText{"const D0* og; const D1* label; D2* dx; long long classes;", RealText(dx.dtype),
                    "    const I row = i / static_cast<I>(a.classes);\n    const double label = mx::Load<double>(a.label, row);\n"
                    "    const bool hit = label > -1 && label < static_cast<double>(a.classes) && static_cast<long long>(label) == "
                    "static_cast<long long>(i - row * static_cast<I>(a.classes));\n"
                    "    mx::Store(a.dx, i, (mx::Load<A>(a.dx, i) - (hit ? A(1) : A(0))) * mx::Load<A>(a.og, 0));\n"};
  });
}

void RegressionBackwardOnDevice(KernelArgs& a, const TBlob& label, const TBlob& y, double scale, bool sign, const TBlob& dx) {
  rtc::Arguments args;
  args.Add(label.dptr).Add(y.dptr).Add(dx.dptr).Add(scale);
  rtc::LaunchItems(a.run, {"regression_backward", {label.dtype, y.dtype}, sign}, dx.Size(), &args, [&] {
    return LoopText{"const D0* label; const D1* y; D1* dx; double scale;", RealText(y.dtype),
                    std::string("    A d = mx::Load<A>(a.y, i) - mx::Load<A>(a.label, i);\n") +
                        (sign ? "    d = static_cast<A>((d > A(0)) - (d < A(0)));\n" : "") +
                        "    mx::Store(a.dx, i, static_cast<A>(a.scale) * d);\n"};
  });
}

void SvmBackwardOnDevice(KernelArgs& a, const TBlob& label, const TBlob& x, double margin, double weight, bool linear, const TBlob& dx) {
  rtc::Arguments args;
  args.Add(label.dptr).Add(x.dptr).Add(dx.dptr).Add(dx.Size() / std::max<int64_t>(1, label.Size())).Add(margin).Add(weight);
  rtc::LaunchItems(a.run, {"svm_backward", {label.dtype, x.dtype}, linear}, dx.Size(), &args, [&] {
    return LoopText{"const D0* label; const D1* x; D1* dx; long long classes; double margin, weight;", RealText(x.dtype),
                    "    const I row = i / static_cast<I>(a.classes), c = i - row * static_cast<I>(a.classes);\n"
                    "    const A side = static_cast<double>(c) == ::trunc(mx::Load<double>(a.label, row)) ? A(1) : A(-1), apart = "
                    "static_cast<A>(a.margin) - side * mx::Load<A>(a.x, i), loss = apart > A(0) ? apart : A(0);\n"
                    "    mx::Store(a.dx, i, -side * static_cast<A>(a.weight) * (" +
                        std::string(linear ? "loss > A(0) ? A(1) : A(0)" : "A(2) * loss") + "));\n"};
  });
}

// ---- slopes

namespace {
const char* const kSlope =
    "    const A slope = mx::Load<A>(a.gamma, a.gammas == 1 ? 0 : i / static_cast<I>(a.inner) % static_cast<I>(a.gammas));\n";
}

void PreluOnDevice(KernelArgs& a, int64_t channels, int64_t inner, const TBlob& x, const TBlob& gamma, const TBlob& y) {
  rtc::Arguments args;
  args.Add(x.dptr).Add(gamma.dptr).Add(y.dptr).Add(gamma.Size() == 1 ? int64_t{1} : channels).Add(inner);
  rtc::LaunchItems(a.run, {"prelu", {x.dtype, gamma.dtype}}, y.Size(), &args, [&] {
    return LoopText{"const D0* x; const D1* gamma; D0* y; long long gammas, inner;", RealText(x.dtype),
                    std::string(kSlope) + "    const A x = mx::Load<A>(a.x, i);\n    mx::Store(a.y, i, x > A(0) ? x : slope * x);\n"};
  });
}

void PreluBackwardOnDevice(KernelArgs& a, int64_t outer, int64_t channels, int64_t inner) {  // ograd, data, gamma -> data_grad, gamma_grad
  const TBlob &og = a.in[0], &x = a.in[1], &gamma = a.in[2];
  const bool shared = gamma.Size() == 1;
  if (Wanted(a, 0)) {
    rtc::Arguments args;
    args.Add(og.dptr).Add(x.dptr).Add(gamma.dptr).Add(a.out[0].dptr).Add(shared ? int64_t{1} : channels).Add(inner);
    rtc::LaunchItems(a.run, {"prelu_backward", {x.dtype, gamma.dtype}}, x.Size(), &args, [&] {
      return LoopText{"const D0* og; const D0* x; const D1* gamma; D0* dx; long long gammas, inner;", RealText(x.dtype),
                      std::string(kSlope) +
                          "    const A g = mx::Load<A>(a.og, i);\n    mx::Store(a.dx, i, mx::Load<A>(a.x, i) > A(0) ? g : slope * g);\n"};
    });
  }
  if (!Wanted(a, 1)) return;
  rtc::Arguments own;
  own.Add(og.dptr).Add(x.dptr).Add(a.out[1].dptr);
  const ChannelView view = shared ? ChannelView{1, 1, outer * channels * inner} : ChannelView{outer, channels, inner};
  ChannelSums(a, view, {"prelu_gamma", {x.dtype, gamma.dtype}}, {og.dptr, x.dptr}, own, [&] {
    return ChannelText{"const D0* og; const D0* x; D1* dgamma;",
                       RealText(x.dtype) + kNoChannel,
                       {"og", "x"},
                       "      const A value = As<A>(x);\n      if (!(value > A(0))) first += As<A>(og) * value;\n",
                       "      mx::Store(a.dgamma, c, first);\n"};
  });
}

void RreluOnDevice(KernelArgs& a, bool drawn, const DeviceDraws& draws, double low, double range, double mean, const TBlob& mask) {
  rtc::Arguments args;
  args.Add(a.in[0].dptr).Add(mask.dptr).Add(a.out[0].dptr).Add(mask.Size()).Add(low).Add(range).Add(mean);
  draws.AddTo(&args);
  rtc::LaunchItems(a.run, {"rrelu", {mask.dtype}, drawn}, (mask.Size() + 3) / 4, &args, [&] {
    return LoopText{std::string("const D0* x; D0* mask; D0* y; long long n; double low, range, mean; ") + kDrawMembers,
                    std::string(PhiloxText()) + RealText(mask.dtype),
                    "    const mx::Philox r = mx::Draw(mx::Seed(a), mx::First(a) + i);\n    for (int k = 0; k < 4; ++k) {\n      const "
                    "long long at = 4 * item + k;\n      if (at >= a.n) break;\n"
                    "      const float slope = " +
                        std::string(drawn ? "static_cast<float>(a.low) + static_cast<float>(a.range) * mx::ToFloat(r.w[k])"
                                          : "static_cast<float>(a.mean)") +
                        ";\n      const A x = mx::Load<A>(a.x, at), factor = x > A(0) ? A(1) : static_cast<A>(slope);\n      "
                        "mx::Store(a.mask, at, factor);\n      mx::Store(a.y, at, x * factor);\n    }\n"};
  });
}

// ---- pooling

namespace {

const char* const kShortPositions = "typedef int P;\n";
// P: positions. 32 bits do where there are fewer than 2^31 elements on either side, windows behind
// the borders included.
std::string PositionText(const TBlob& x, const TBlob& y, const PoolDims& d) {
  int64_t most = std::max(x.Size(), y.Size());
  for (int k = 0; k < 3; ++k) most = std::max({most, d.in[k] + 2 * d.pad[k] + d.kernel[k], d.out[k] * d.stride[k] + d.kernel[k]});
  return most < (int64_t{1} << 31) && d.kernel[0] * d.kernel[1] * d.kernel[2] < (int64_t{1} << 31) ? kShortPositions
                                                                                                   : "typedef long long P;\n";
}
const char* const kPoolMembers =
    "long long channels, i0, i1, i2, o0, o1, o2, k0, k1, k2, s0, s1, s2, p0, p1, p2, include, packs, packsm, packsh, d2, d2m, d2h, d1, "
    "d1m, d1h, d0, d0m, d0h;";
// Divisors: packs of channels, and the sizes of the side whose elements are the items.
void AddPool(const PoolDims& d, const int64_t* sizes, int width, int64_t items, rtc::Arguments* args) {
  args->Add(d.channels);
  for (const int64_t* v : {d.in, d.out, d.kernel, d.stride, d.pad}) args->Add(v[0]).Add(v[1]).Add(v[2]);
  args->Add(int64_t{d.include_pad});
  rtc::AddDivisor(d.channels / width, items >= rtc::kLargeCount, args);
  for (int k = 2; k >= 0; --k) rtc::AddDivisor(sizes[k], items >= rtc::kLargeCount, args);
}
// Neighbouring channels that a thread works on where these lie last.
int PoolWidth(const PoolDims& d, bool last, std::initializer_list<const TBlob*> arrays) {
  int width = last ? 8 : 1;
  for (const TBlob* b : arrays)
    while (width > 1 && (d.channels % width || width * DTypeSize(b->dtype) > 16 ||
                         reinterpret_cast<uintptr_t>(b->dptr) % (static_cast<size_t>(width) * DTypeSize(b->dtype))))
      width /= 2;
  return width;
}
// Channel c, plane and position of an item of an image with these sizes, kWidth elements from item
// * kWidth on; `last`: channels are innermost.
std::string PlaceText(bool last) {
  std::string t = "    I rest = i, above;\n";
  if (last)
    t += "    above = Over(rest, a.packs, a.packsm, a.packsh);\n    const I c = (rest - above * static_cast<I>(a.packs)) * kWidth;\n    "
         "rest = above;\n";
  for (int k = 2; k >= 0; --k) {
    const std::string d = "d" + std::to_string(k);
    t += "    above = Over(rest, a." + d + ", a." + d + "m, a." + d + "h);\n    const P q" + std::to_string(k) +
         " = rest - above * static_cast<I>(a." + d + ");\n    rest = above;\n";
  }
  return t + (last ? "" : "    const I c = 0;\n    (void)c;\n");
}
// The address of position (x, y, z) in the image `i` or the result `o` of this element's plane.
std::string At(bool last, const char* prefix, const char* x, const char* y, const char* z) {
  const std::string p = prefix;
  const std::string place = "((P(rest) * P(a." + p + "0) + " + x + ") * P(a." + p + "1) + " + y + ") * P(a." + p + "2) + " + z;
  return last ? "(" + place + ") * P(a.channels) + P(c)" : place;
}
// Bounds of the window of output position (u0, u1, u2): begin b.., end e.., and the divisor.
const char* const kWindow = R"TEXT(
struct Window { P b[3], e[3], divisor; };
template <typename Args> __device__ __forceinline__ Window WindowAt(const Args& a, P u0, P u1, P u2) {
  const P o[3] = {u0, u1, u2}, in[3] = {P(a.i0), P(a.i1), P(a.i2)}, kernel[3] = {MX_K0, MX_K1, MX_K2}, stride[3] = {MX_S0, MX_S1, MX_S2}, pad[3] = {MX_P0, MX_P1, MX_P2};
  Window w;
  P padded = 1, real = 1;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    const P start = o[d] * stride[d] - pad[d];
    P stop = start + kernel[d];
    if (stop > in[d] + pad[d]) stop = in[d] + pad[d];
    w.b[d] = start > 0 ? start : 0;
    w.e[d] = stop < in[d] ? stop : in[d];
    if (w.e[d] < w.b[d]) w.e[d] = w.b[d];
    padded *= stop - start;
    real *= w.e[d] - w.b[d];
  }
  w.divisor = a.include != 0 ? padded : real;
  if (w.divisor < 1) w.divisor = 1;
  return w;
}
)TEXT";
std::string PowerText(int p) {
  return "__device__ __forceinline__ A Power(A v, int p) {\n  v = v < A(0) ? -v : v;\n  A r = A(1);\n  for (int k = 0; k < p; ++k) r *= "
         "v;\n  return r;\n}\nconstexpr int kP = " +
         std::to_string(p) + ";\n";
}
const char* const kEachPooled = "#pragma unroll\n    for (int j = 0; j < kWidth; ++j) ";
// Small windows stand in the text as numbers, so that all their elements can be under way; others
// are arguments.
bool SmallWindow(const PoolDims& d) {
  int64_t most = 1, elements = 1;
  for (int k = 0; k < 3; ++k) most = std::max({most, d.kernel[k], d.stride[k], d.pad[k]}), elements *= d.kernel[k];
  return most <= 7 && elements <= 27;
}
std::string PoolFunctions(const PoolDims& d, const std::string& position, int width) {
  std::string t = position + "constexpr int kWidth = " + std::to_string(width) + ";\n";
  for (int k = 0; k < 3; ++k)
    for (const auto& v : {std::pair<char, int64_t>{'k', d.kernel[k]}, {'s', d.stride[k]}, {'p', d.pad[k]}})
      t += std::string("#define MX_") + static_cast<char>(v.first - 'a' + 'A') + std::to_string(k) + " P(" +
           (SmallWindow(d) ? std::to_string(v.second) : std::string("a.") + v.first + std::to_string(k)) + ")\n";
  return t + kWindow + (d.type == kPoolLp ? PowerText(d.p) : "");
}
// Header of a loop over the elements e of the small window w of output position (q0, q1, q2) that
// are in the image, n being the element's place in it; two closing braces end it.
std::string EachOfWindow(bool last) {
  return "    const P b0 = q0 * MX_S0 - MX_P0, b1 = q1 * MX_S1 - MX_P1, b2 = q2 * MX_S2 - MX_P2;\n    const D0* const window = a.x + (" +
         At(last, "i", "b0", "b1", "b2") +
         ");\n#pragma unroll\n    for (int n = 0; n < MX_K0 * MX_K1 * MX_K2; ++n) {\n      const P n0 = n / (MX_K1 * MX_K2), n1 = n / "
         "MX_K2 % MX_K1, n2 = n % MX_K2, x = b0 + n0, y = b1 + n1, z = b2 + n2;\n"
         "      if (x >= 0 && x < P(a.i0) && y >= 0 && y < P(a.i1) && z >= 0 && z < P(a.i2)) {\n        A e[kWidth];\n        "
         "mx::LoadPack<kWidth>(window, ((n0 * P(a.i1) + n1) * P(a.i2) + n2)" +
         (last ? " * P(a.channels)" : "") + ", e);\n";
}
int64_t PoolVariant(const PoolDims& d, bool last, const std::string& position, int width) {
  int64_t window = 0;
  for (int k = 0; k < 3 && SmallWindow(d); ++k) window = window << 9 | d.kernel[k] << 6 | d.stride[k] << 3 | d.pad[k];
  return (((static_cast<int64_t>(d.p) << 27 | window) * 16 + d.type * 2 + last) * 2 + (position == kShortPositions)) * 16 + width;
}
// The gradient of a mean or sum over whole planes, which every element of the plane gets.
bool IsSpread(const PoolDims& d) {
  bool whole = d.type == kPoolAvg || d.type == kPoolSum;
  for (int k = 0; k < 3; ++k) whole = whole && d.out[k] == 1 && d.pad[k] == 0 && d.kernel[k] >= d.in[k];
  return whole;
}
void SpreadOnDevice(KernelArgs& a, const PoolDims& d, bool last, const TBlob& og, const TBlob& dx) {
  const int64_t plane = d.in[0] * d.in[1] * d.in[2], items = (dx.Size() + 3) / 4;
  const bool large = dx.Size() >= rtc::kLargeCount;
  rtc::Arguments args;
  args.Add(og.dptr).Add(dx.dptr).Add(dx.Size()).Add(d.type == kPoolAvg ? 1.0 / static_cast<double>(plane) : 1.0);
  rtc::AddDivisor(last ? plane * d.channels : plane, large, &args);
  rtc::AddDivisor(d.channels, large, &args);
  rtc::LaunchItems(a.run, {"pool_spread", {dx.dtype}, last + 2 * large}, items, &args, [&] {
    return LoopText{
        "const D0* og; D0* dx; long long n; double share; long long image, imagem, imageh, channels, channelsm, channelsh;",
        RealText(dx.dtype) + (large ? "typedef long long J;\n" : "typedef unsigned J;\n"),
        std::string("    const long long first = 4 * item;\n    const int left = a.n - first < 4 ? static_cast<int>(a.n - first) : 4;\n    "
                    "A v[4];\n#pragma unroll\n    for (int k = 0; k < 4; ++k) {\n"
                    "      const J at = static_cast<J>(first + (k < left ? k : 0)), image = Over(at, a.image, a.imagem, a.imageh);\n") +
            (last ? "      const J from = image * static_cast<J>(a.channels) + (at - Over(at, a.channels, a.channelsm, a.channelsh) * "
                    "static_cast<J>(a.channels));\n"
                  : "      const J from = image;\n") +
            "      v[k] = mx::Load<A>(a.og, from) * static_cast<A>(a.share);\n    }\n    mx::StoreFour(a.dx, first, left, v);\n"};
  });
}
// Small windows: first a byte for each window, the place of the first element that holds its
// maximum, then each element asks the windows that see it.
void MaximaBackOnDevice(KernelArgs& a, const PoolDims& d, bool last, const TBlob& og, const TBlob& x, const TBlob& y, const TBlob& dx) {
  const std::string position = PositionText(x, y, d);
  const int width = PoolWidth(d, last, {&og, &x, &y, &dx});
  void* places = a.workspace(static_cast<size_t>(std::max<int64_t>(y.Size(), 1)));
  rtc::Arguments find, ask;
  find.Add(x.dptr).Add(y.dptr).Add(places);
  AddPool(d, d.out, width, y.Size() / width, &find);
  ask.Add(og.dptr).Add(places).Add(dx.dptr);
  AddPool(d, d.in, width, dx.Size() / width, &ask);
  const int64_t variant = PoolVariant(d, last, position, width);
  const std::string functions = RealText(x.dtype) + PoolFunctions(d, position, width) + "typedef mx::Pack<unsigned char, kWidth> Places;\n";
  rtc::LaunchItems(a.run, {"pool_places", {x.dtype}, variant}, y.Size() / width, &find, [&] {
    return LoopText{
        std::string("const D0* x; const D0* y; unsigned char* places; ") + kPoolMembers, functions,
        PlaceText(last) + "    A top[kWidth];\n    mx::LoadPack<kWidth>(a.y, item * kWidth, top);\n    int place[kWidth];\n" + kEachPooled +
            "place[j] = 255;\n" + EachOfWindow(last) + kEachPooled +
            "place[j] = place[j] == 255 && e[j] == top[j] ? n : place[j];\n      }\n    }\n    Places found;\n" + kEachPooled +
            "found.v[j] = static_cast<unsigned char>(place[j]);\n    *reinterpret_cast<Places*>(a.places + item * kWidth) = found;\n"};
  });
  rtc::LaunchItems(a.run, {"pool_backward_max", {x.dtype}, variant}, dx.Size() / width, &ask, [&] {
    // along each dimension: the last window that sees this element, and those before it
    std::string body = PlaceText(last) + "    A sum[kWidth];\n" + kEachPooled + "sum[j] = A(0);\n";
    for (const char* n : {"0", "1", "2"})
      body += std::string("    constexpr int kSee") + n + " = static_cast<int>((MX_K" + n + " + MX_S" + n + " - 1) / MX_S" + n +
              ");\n    const P t" + n + " = (q" + n + " + MX_P" + n + ") / MX_S" + n + ";\n";
    body += "#pragma unroll\n    for (int m = 0; m < kSee0 * kSee1 * kSee2; ++m) {\n";
    for (const char* n : {"0", "1", "2"}) {
      const std::string k = n, back = k == "0" ? "m / (kSee1 * kSee2)" : k == "1" ? "m / kSee2 % kSee1" : "m % kSee2";
      body +=
          "      const P u" + k + " = t" + k + " - " + back + ", n" + k + " = q" + k + " + MX_P" + k + " - u" + k + " * MX_S" + k + ";\n";
    }
    return LoopText{std::string("const D0* og; const unsigned char* places; D0* dx; ") + kPoolMembers, functions,
                    body +
                        "      if (u0 >= 0 && u0 < P(a.o0) && n0 < MX_K0 && u1 >= 0 && u1 < P(a.o1) && n1 < MX_K1 && u2 >= 0 && u2 < "
                        "P(a.o2) && n2 < MX_K2) {\n        const P at = " +
                        At(last, "o", "u0", "u1", "u2") +
                        ";\n        const Places found = *reinterpret_cast<const Places*>(a.places + at);\n        A g[kWidth];\n        "
                        "mx::LoadPack<kWidth>(a.og, at, g);\n        const int own = static_cast<int>((n0 * MX_K1 + n1) * MX_K2 + n2);\n" +
                        kEachPooled +
                        "if (found.v[j] == own) sum[j] += g[j];\n      }\n    }\n    mx::StorePack<kWidth>(a.dx, item * kWidth, sum);\n"};
  });
}
std::string PoolValue(const PoolDims& d, int dtype) {
  return d.type == kPoolMax && !IsFloating(dtype) ? "typedef int A;\n" : RealText(dtype);
}

}  // namespace

void PoolOnDevice(KernelArgs& a, const PoolDims& d, bool last, const TBlob& x, const TBlob& y) {
  const bool whole = IsFloating(x.dtype);
  const std::string position = PositionText(x, y, d);
  const int width = PoolWidth(d, last, {&x, &y});
  rtc::Arguments args;
  args.Add(x.dptr).Add(y.dptr);
  AddPool(d, d.out, width, y.Size() / width, &args);
  rtc::LaunchItems(a.run, {"pool", {x.dtype}, PoolVariant(d, last, position, width)}, y.Size() / width, &args, [&] {
    std::string body = PlaceText(last) + "    const Window w = WindowAt(a, q0, q1, q2);\n    (void)w;\n";
    const std::string lowest = whole ? "-static_cast<A>(__int_as_float(0x7f800000))" : x.dtype == kInt8 ? "A(-128)" : "A(0)";
    body += "    A v[kWidth];\n" + std::string(kEachPooled) + "v[j] = " + (d.type == kPoolMax ? lowest : std::string("A(0)")) + ";\n";
    if (SmallWindow(d)) {
      body += EachOfWindow(last);
    } else {
      body +=
          "    for (P x = w.b[0]; x < w.e[0]; ++x)\n      for (P y = w.b[1]; y < w.e[1]; ++y)\n        for (P z = w.b[2]; z < w.e[2]; ++z) "
          "{\n"
          "          A e[kWidth];\n          mx::LoadPack<kWidth>(a.x, " +
          At(last, "i", "x", "y", "z") + ", e);\n";
    }
    body += kEachPooled;
    body += d.type == kPoolMax  ? "v[j] = e[j] > v[j] ? e[j] : v[j];\n"
            : d.type == kPoolLp ? "v[j] += Power(e[j], kP);\n"
                                : "v[j] += e[j];\n";
    body += SmallWindow(d) ? "        }\n    }\n" : "        }\n";
    if (d.type == kPoolAvg) body += std::string(kEachPooled) + "v[j] /= static_cast<A>(w.divisor);\n";
    if (d.type == kPoolLp)
      body += std::string(kEachPooled) + "v[j] = kP == 1 ? v[j] : kP == 2 ? ::sqrt(v[j]) : ::pow(v[j], A(1) / static_cast<A>(kP));\n";
    return LoopText{std::string("const D0* x; D0* y; ") + kPoolMembers, PoolValue(d, x.dtype) + PoolFunctions(d, position, width),
                    body + "    mx::StorePack<kWidth>(a.y, item * kWidth, v);\n"};
  });
}

void PoolBackwardOnDevice(KernelArgs& a, const PoolDims& d, bool last, const TBlob& og, const TBlob& x, const TBlob& y, const TBlob& dx) {
  if (IsSpread(d)) return SpreadOnDevice(a, d, last, og, dx);
  if (d.type == kPoolMax && SmallWindow(d) && IsFloating(x.dtype)) return MaximaBackOnDevice(a, d, last, og, x, y, dx);
  const std::string position = PositionText(x, y, d);
  const int width = PoolWidth(d, last, {&og, &x, &y, &dx});
  rtc::Arguments args;
  args.Add(og.dptr).Add(x.dptr).Add(y.dptr).Add(dx.dptr);
  AddPool(d, d.in, width, dx.Size() / width, &args);
  rtc::LaunchItems(a.run, {"pool_backward", {x.dtype}, PoolVariant(d, last, position, width)}, dx.Size() / width, &args, [&] {
    // the windows that see this element: from the first whose end is behind it to the last that
    // begins at it
    std::string body = PlaceText(last);
    for (int k = 0; k < 3; ++k) {
      const std::string n = std::to_string(k), at = "q" + n + " + MX_P" + n;
      body += "    const P f" + n + " = " + at + " < MX_K" + n + " ? 0 : (" + at + " - MX_K" + n + ") / MX_S" + n + " + 1, t" + n + " = (" +
              at + ") / MX_S" + n + ";\n";
    }
    const bool reads = d.type == kPoolMax || d.type == kPoolLp;
    body += "    A sum[kWidth];\n" + std::string(kEachPooled) + "sum[j] = A(0);\n";
    if (reads) body += "    A x[kWidth];\n    mx::LoadPack<kWidth>(a.x, item * kWidth, x);\n";
    body +=
        "    for (P u0 = f0; u0 <= t0 && u0 < P(a.o0); ++u0)\n      for (P u1 = f1; u1 <= t1 && u1 < P(a.o1); ++u1)\n"
        "        for (P u2 = f2; u2 <= t2 && u2 < P(a.o2); ++u2) {\n          const P at = " +
        At(last, "o", "u0", "u1", "u2") + ";\n          A g[kWidth];\n          mx::LoadPack<kWidth>(a.og, at, g);\n";
    if (reads) body += "          A result[kWidth];\n          mx::LoadPack<kWidth>(a.y, at, result);\n";
    if (d.type == kPoolAvg) {
      body += "          const A divisor = static_cast<A>(WindowAt(a, u0, u1, u2).divisor);\n" + std::string(kEachPooled) +
              "sum[j] += g[j] / divisor;\n";
    } else if (d.type == kPoolSum) {
      body += std::string(kEachPooled) + "sum[j] += g[j];\n";
    } else if (d.type == kPoolLp) {
      body += std::string(kEachPooled) +
              "if (result[j] != A(0)) {\n            const A ratio = Power(x[j] / result[j], kP - 1);\n            sum[j] += x[j] < A(0) ? "
              "-(g[j] * ratio) : g[j] * ratio;\n          }\n";
    } else {  // only the first element that holds the maximum
      body += std::string(kEachPooled) +
              "if (result[j] == x[j]) {\n            const Window w = WindowAt(a, u0, u1, u2);\n            bool first = true;\n"
              "            for (P v0 = w.b[0]; first && v0 <= q0; ++v0)\n              for (P v1 = w.b[1]; first && v1 < w.e[1] && (v0 < "
              "q0 || v1 <= q1); ++v1)\n"
              "                for (P v2 = w.b[2]; first && v2 < w.e[2] && (v0 < q0 || v1 < q1 || v2 < q2); ++v2)\n                  first "
              "= mx::Load<A>(a.x, " +
              At(last, "i", "v0", "v1", "v2") + " + j) != x[j];\n            if (first) sum[j] += g[j];\n          }\n";
    }
    return LoopText{std::string("const D0* og; const D0* x; const D0* y; D0* dx; ") + kPoolMembers,
                    RealText(x.dtype) + PoolFunctions(d, position, width),
                    body + "        }\n    mx::StorePack<kWidth>(a.dx, item * kWidth, sum);\n"};
  });
}

void PoolGatherOnDevice(KernelArgs& a, const PoolDims& d, bool last, const TBlob& u, const TBlob& x, const TBlob& y, const TBlob& out) {
  const std::string position = PositionText(x, y, d);
  const int width = PoolWidth(d, last, {&u, &x, &y, &out});
  rtc::Arguments args;
  args.Add(u.dptr).Add(x.dptr).Add(y.dptr).Add(out.dptr);
  AddPool(d, d.out, width, y.Size() / width, &args);
  rtc::LaunchItems(a.run, {"pool_gather", {x.dtype}, PoolVariant(d, last, position, width)}, y.Size() / width, &args, [&] {
    std::string body =
        PlaceText(last) +
        "    const Window w = WindowAt(a, q0, q1, q2);\n    A top[kWidth], sum[kWidth];\n    mx::LoadPack<kWidth>(a.y, item * kWidth, "
        "top);\n    bool open[kWidth];\n" +
        kEachPooled + "sum[j] = A(0), open[j] = top[j] != A(0) || " + (d.type == kPoolMax ? "true" : "false") + ";\n" +
        "    for (P x = w.b[0]; x < w.e[0]; ++x)\n      for (P y = w.b[1]; y < w.e[1]; ++y)\n        for (P z = w.b[2]; z < w.e[2]; ++z) "
        "{\n"
        "          const P at = " +
        At(last, "i", "x", "y", "z") +
        ";\n          A e[kWidth], g[kWidth];\n          mx::LoadPack<kWidth>(a.x, at, e);\n          mx::LoadPack<kWidth>(a.u, at, g);\n" +
        kEachPooled;
    body += d.type == kPoolMax ? "if (open[j] && e[j] == top[j]) sum[j] = g[j], open[j] = false;\n"
                               : "if (open[j]) {\n            const A slope = Power(e[j] / top[j], kP - 1);\n            sum[j] += e[j] < "
                                 "A(0) ? -(g[j] * slope) : g[j] * slope;\n          }\n";
    return LoopText{std::string("const D0* u; const D0* x; const D0* y; D0* out; ") + kPoolMembers,
                    RealText(x.dtype) + PoolFunctions(d, position, width),
                    body + "        }\n    mx::StorePack<kWidth>(a.out, item * kWidth, sum);\n"};
  });
}

void AdaptivePoolOnDevice(KernelArgs& a, const TBlob& image, const TBlob& small, bool backward) {
  rtc::Arguments args;
  args.Add(image.dptr).Add(small.dptr).Add(image.shape[2]).Add(image.shape[3]).Add(small.shape[2]).Add(small.shape[3]);
  const char* const members = "D0* image; D0* small; long long h, w, oh, ow;";
  const std::string functions =
      RealText(image.dtype) +
      "__device__ __forceinline__ long long Begin(long long k, long long size, long long parts) { return k * size / parts; }\n"
      "__device__ __forceinline__ long long End(long long k, long long size, long long parts) { return ((k + 1) * size + parts - 1) / "
      "parts; }\n";
  if (!backward)
    return rtc::LaunchItems(a.run, {"adaptive_pool", {image.dtype}}, small.Size(), &args, [&] {
      return LoopText{members, functions,
                      "    I rest = i;\n    const long long v = rest % static_cast<I>(a.ow); rest /= static_cast<I>(a.ow);\n    const long "
                      "long u = rest % static_cast<I>(a.oh); rest /= static_cast<I>(a.oh);\n"
                      "    const long long y0 = Begin(u, a.h, a.oh), y1 = End(u, a.h, a.oh), x0 = Begin(v, a.w, a.ow), x1 = End(v, a.w, "
                      "a.ow);\n    A sum = A(0);\n"
                      "    for (long long y = y0; y < y1; ++y)\n      for (long long x = x0; x < x1; ++x) sum += mx::Load<A>(a.image, "
                      "(rest * a.h + y) * a.w + x);\n"
                      "    mx::Store(a.small, i, sum / static_cast<A>((y1 - y0) * (x1 - x0)));\n"};
    });
  rtc::LaunchItems(a.run, {"adaptive_pool_backward", {image.dtype}}, image.Size(), &args, [&] {
    return LoopText{members, functions,  // windows overlap by one at most, and each is looked at around where the pixel lies
                    "    I rest = i;\n    const long long x = rest % static_cast<I>(a.w); rest /= static_cast<I>(a.w);\n    const long "
                    "long y = rest % static_cast<I>(a.h); rest /= static_cast<I>(a.h);\n"
                    "    A sum = A(0);\n    for (long long u = y * a.oh / a.h; u < a.oh && Begin(u, a.h, a.oh) <= y; ++u) {\n      if "
                    "(End(u, a.h, a.oh) <= y) continue;\n"
                    "      for (long long v = x * a.ow / a.w; v < a.ow && Begin(v, a.w, a.ow) <= x; ++v) {\n        if (End(v, a.w, a.ow) "
                    "<= x) continue;\n"
                    "        sum += mx::Load<A>(a.small, (rest * a.oh + u) * a.ow + v) / static_cast<A>((End(u, a.h, a.oh) - Begin(u, a.h, "
                    "a.oh)) * (End(v, a.w, a.ow) - Begin(v, a.w, a.ow)));\n      }\n    }\n"
                    "    mx::Store(a.image, i, sum);\n"};
  });
}

void RepeatPixelsOnDevice(KernelArgs& a, const TBlob& small, const TBlob& large, int64_t first_channel, bool add, bool backward) {
  const Shape &s = small.shape, &l = large.shape;
  rtc::Arguments args;
  args.Add(small.dptr).Add(large.dptr).Add(s[1]).Add(s[2]).Add(s[3]).Add(l[1]).Add(l[2] / s[2]).Add(l[3] / s[3]).Add(first_channel);
  const char* const members = "D0* small; D0* large; long long channels, h, w, all, fh, fw, first;";
  if (backward)
    return rtc::LaunchItems(a.run, {"repeat_pixels_backward", {small.dtype}}, small.Size(), &args, [&] {
      return LoopText{
          members, RealText(small.dtype),
          "    I rest = i;\n    const long long x = rest % static_cast<I>(a.w); rest /= static_cast<I>(a.w);\n    const long long y = rest "
          "% static_cast<I>(a.h); rest /= static_cast<I>(a.h);\n"
          "    const long long c = rest % static_cast<I>(a.channels), n = rest / static_cast<I>(a.channels);\n    A sum = A(0);\n"
          "    for (long long u = 0; u < a.fh; ++u)\n      for (long long v = 0; v < a.fw; ++v)\n"
          "        sum += mx::Load<A>(a.large, (((n * a.all + a.first + c) * a.h + y) * a.fh + u) * a.w * a.fw + x * a.fw + v);\n    "
          "mx::Store(a.small, i, sum);\n"};
    });
  rtc::LaunchItems(a.run, {"repeat_pixels", {small.dtype}, add}, small.Size() * (l[2] / s[2]) * (l[3] / s[3]), &args, [&] {
    return LoopText{members, RealText(small.dtype),
                    "    I rest = i;\n    const long long x = rest % static_cast<I>(a.w * a.fw); rest /= static_cast<I>(a.w * a.fw);\n    "
                    "const long long y = rest % static_cast<I>(a.h * a.fh); rest /= static_cast<I>(a.h * a.fh);\n"
                    "    const long long c = rest % static_cast<I>(a.channels), n = rest / static_cast<I>(a.channels);\n"
                    "    const long long from = (static_cast<long long>(rest) * a.h + y / a.fh) * a.w + x / a.fw, to = ((n * a.all + "
                    "a.first + c) * a.h * a.fh + y) * a.w * a.fw + x;\n" +
                        std::string(add ? "    mx::Store(a.large, to, mx::Load<A>(a.large, to) + mx::Load<A>(a.small, from));\n"
                                        : "    a.large[to] = a.small[from];\n")};
  });
}

}  // namespace nn
}  // namespace mxnet
