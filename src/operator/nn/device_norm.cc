#include "operator/nn/device_norm.h"

#include <algorithm>

#include "operator/matrix/device_move.h"
#include "operator/nn/nn_common.h"

namespace mxnet {
namespace nn {
namespace {

using rtc::LoopText;

std::string AccumulatorText(int dtype) { return std::string("typedef ") + (dtype == kFloat64 ? "double" : "float") + " A;\n"; }

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

void ChannelSums(KernelArgs& args, const ChannelView& view, const rtc::LoopKey& key, const rtc::Arguments& own, const std::function<ChannelText()>& make) {
  if (view.channels == 0) return;
  const bool columns = view.inner == 1;   // neighbouring threads have neighbouring channels, else neighbouring elements of one
  const int64_t count = view.outer * view.inner;
  int64_t parts = columns ? std::min<int64_t>({262144 / view.channels, view.outer / 8, 1024}) : std::min<int64_t>({1056 / view.channels, count / 2048, 256});
  parts = std::max<int64_t>(parts, 1);
  const int64_t chunk = (count + parts - 1) / parts;
  double* partial = static_cast<double*>(args.workspace(static_cast<size_t>(2 * parts * view.channels) * sizeof(double)));
  auto arguments = [&] {
    rtc::Arguments all = own;
    all.Add(view.outer).Add(view.channels).Add(view.inner).Add(parts).Add(chunk).Add(partial);
    return all;
  };
  const std::string members = " long long outer, channels, inner, parts, chunk; double* partial;", name = key.name, sums = name + "_sums", finish = name + "_finish";
  const rtc::LoopKey first{sums.c_str(), key.dtypes, key.variant * 2 + columns}, second{finish.c_str(), key.dtypes, key.variant};
  rtc::Arguments a = arguments(), b = arguments();
  if (columns) {
    rtc::LaunchItems(args.run, first, parts * view.channels, &a, [&] {
      const ChannelText t = make();
      return LoopText{t.members + members, t.functions,
                      "    const long long part = i / static_cast<I>(a.channels), c = i % static_cast<I>(a.channels), end = (part + 1) * a.chunk < a.outer ? (part + 1) * a.chunk : a.outer;\n"
                      "    double first = 0, second = 0;\n    for (long long o = part * a.chunk; o < end; ++o) {\n      const long long at = o * a.channels + c, q = 0;\n      (void)q;\n" +
                          t.element + "    }\n    a.partial[i] = first;\n    a.partial[a.parts * a.channels + i] = second;\n"};
    });
  } else {
    rtc::LaunchRows(args.run, first, parts * view.channels, &a, [&] {
      const ChannelText t = make();
      return LoopText{t.members + members, t.functions,
                      "    __shared__ double shared[256];\n    const long long part = row / a.channels, c = row % a.channels, most = a.outer * a.inner;\n"
                      "    const long long end = (part + 1) * a.chunk < most ? (part + 1) * a.chunk : most;\n    double first = 0, second = 0;\n"
                      "    for (long long e = part * a.chunk + threadIdx.x; e < end; e += 256) {\n"
                      "      const long long o = e < 2147483648ll ? static_cast<unsigned>(e) / static_cast<unsigned>(a.inner) : e / a.inner, q = e - o * a.inner, at = (o * a.channels + c) * a.inner + q;\n" +
                          t.element + "    }\n    first = mx::BlockSum(first, shared);\n    second = mx::BlockSum(second, shared);\n"
                          "    if (threadIdx.x == 0) {\n      a.partial[row] = first;\n      a.partial[a.parts * a.channels + row] = second;\n    }\n"};
    });
  }
  rtc::LaunchRows(args.run, second, view.channels, &b, [&] {
    const ChannelText t = make();
    return LoopText{t.members + members, t.functions,
                    "    __shared__ double shared[256];\n    const long long c = row;\n    double first = 0, second = 0;\n    for (long long part = threadIdx.x; part < a.parts; part += 256) {\n"
                    "      first += a.partial[part * a.channels + c];\n      second += a.partial[(a.parts + part) * a.channels + c];\n    }\n"
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

}  // namespace

void RowNormOnDevice(KernelArgs& args, const RowNorm& r) {
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
  if (!sums) return;
  ChannelView view{r.inner > 0 ? r.rows / r.inner : 0, r.n, std::max<int64_t>(r.inner, 1)};
  std::string row = "o * a.inner + q";
  if (r.parameter == RowNorm::kChannel) view = {r.rows / r.groups, r.groups * r.per_group, r.span}, row = "o * a.groups + c / a.per_group";
  if (r.parameter == RowNorm::kGroup) view = {r.rows / r.groups, r.groups, r.n}, row = "o * a.groups + c";
  rtc::Arguments own;
  own.Add(args.in[0].dptr).Add(args.in[1].dptr).Add(moments).Add(Pointer(args, 1)).Add(Pointer(args, 2)).Add(r.groups).Add(r.per_group);
  ChannelSums(args, view, {"row_norm_parameters", {dtype, args.in[2].dtype, stats}, static_cast<int>(r.parameter)}, own, [&] {
    return ChannelText{"const D0* g; const D0* x; const D2* moments; D1* dgamma; D1* dbeta; long long groups, per_group;", "",
                       "      const long long r = " + row + ";\n      const double g = mx::Load<double>(a.g, at);\n"
                       "      first += g;\n      second += g * (mx::Load<double>(a.x, at) - a.moments[2 * r]) * a.moments[2 * r + 1];\n",
                       "      if (a.dgamma) mx::Store(a.dgamma, c, second);\n      if (a.dbeta) mx::Store(a.dbeta, c, first);\n"};
  });
}

// ---- batches

namespace {

// output from data, gamma, beta, mean, inv_std
void ScaleOnDevice(KernelArgs& args, const BatchNormSettings& s, const TBlob& x, const void* mean, const void* inv) {
  rtc::Arguments a;
  a.Add(x.dptr).Add(args.in[1].dptr).Add(args.in[2].dptr).Add(mean).Add(inv).Add(args.out[0].dptr).Add(s.view.channels).Add(s.view.inner);
  rtc::LaunchItems(args.run, {"batch_norm_scale", {x.dtype, args.in[1].dtype}, (s.fix_gamma ? 2 : 0) + (s.relu ? 1 : 0)}, x.Size(), &a, [&] {
    return LoopText{"const D0* x; const D1* gamma; const D1* beta; const D1* mean; const D1* inv; D0* y; long long channels, inner;", AccumulatorText(x.dtype),
                    "    const I c = i / static_cast<I>(a.inner) % static_cast<I>(a.channels);\n    const A scale = " + std::string(s.fix_gamma ? "" : "mx::Load<A>(a.gamma, c) * ") +
                        "mx::Load<A>(a.inv, c);\n    const A y = mx::Load<A>(a.x, i) * scale + (mx::Load<A>(a.beta, c) - scale * mx::Load<A>(a.mean, c));\n    mx::Store(a.y, i, " +
                        (s.relu ? "y > A(0) || y != y ? y : A(0)" : "y") + ");\n"};
  });
}

}  // namespace

void BatchNormOnDevice(KernelArgs& args, const BatchNormSettings& s) {
  const TBlob x = InOrderOnDevice(args, args.in[0], args.out[0].layout);
  const int param = args.in[1].dtype;
  const size_t bytes = static_cast<size_t>(std::max<int64_t>(s.view.channels, 1)) * DTypeSize(param);
  void *mean = Wanted(args, 1) ? args.out[1].dptr : args.workspace(bytes), *inv = Wanted(args, 2) ? args.out[2].dptr : args.workspace(bytes);
  rtc::Arguments own;
  own.Add(x.dptr).Add(args.in[3].dptr).Add(args.in[4].dptr).Add(mean).Add(inv).Add(s.eps).Add(s.momentum);
  const char* const members = "const D0* x; D1* moving_mean; D1* moving_var; D1* mean; D1* inv; double eps, momentum;";
  if (s.batch) {
    ChannelSums(args, s.view, {"batch_norm", {x.dtype, param}}, own, [&] {   // around the channel's first element: the squares lose no digits
      return ChannelText{members, "",
                         "      const double d = mx::Load<double>(a.x, at) - mx::Load<double>(a.x, c * a.inner);\n      first += d;\n      second += d * d;\n",
                         "      const double n = static_cast<double>(a.outer * a.inner), off = first / n, mean = mx::Load<double>(a.x, c * a.inner) + off;\n"
                         "      const double square = second / n - off * off, var = square > 0 || square != square ? square : 0.0;\n"
                         "      mx::Store(a.moving_mean, c, a.momentum * mx::Load<double>(a.moving_mean, c) + (1 - a.momentum) * mean);\n"
                         "      mx::Store(a.moving_var, c, a.momentum * mx::Load<double>(a.moving_var, c) + (1 - a.momentum) * var);\n"
                         "      mx::Store(a.mean, c, mean);\n      mx::Store(a.inv, c, 1 / ::sqrt(var + a.eps));\n"};
    });
  } else {
    rtc::LaunchItems(args.run, {"batch_norm_moving", {x.dtype, param}}, s.view.channels, &own, [&] {
      return LoopText{members, "", "    a.mean[i] = a.moving_mean[i];\n    mx::Store(a.inv, i, 1 / ::sqrt(mx::Load<double>(a.moving_var, i) + a.eps));\n"};
    });
  }
  if (Wanted(args, 0)) ScaleOnDevice(args, s, x, mean, inv);
}

void BatchNormAgainOnDevice(KernelArgs& args, const BatchNormSettings& s) {
  ScaleOnDevice(args, s, InOrderOnDevice(args, args.in[0], args.out[0].layout), args.in[3].dptr, args.in[4].dptr);
}

void BatchNormBackwardOnDevice(KernelArgs& args, const BatchNormSettings& s) {
  const TBlob g = InOrderOnDevice(args, args.in[0], args.out[0].layout), x = InOrderOnDevice(args, args.in[1], args.out[0].layout);
  const int param = args.in[2].dtype;
  double* sums = static_cast<double*>(args.workspace(static_cast<size_t>(std::max<int64_t>(2 * s.view.channels, 1)) * sizeof(double)));
  const int variant = (s.fix_gamma ? 4 : 0) + (s.batch ? 2 : 0) + (s.relu ? 1 : 0);
  rtc::Arguments own;
  own.Add(g.dptr).Add(x.dptr).Add(args.in[2].dptr).Add(s.relu ? args.in[7].dptr : nullptr).Add(args.in[s.batch ? 5 : 3].dptr).Add(args.in[s.batch ? 6 : 4].dptr)
      .Add(Pointer(args, 0)).Add(Pointer(args, 1)).Add(Pointer(args, 2)).Add(sums).Add(s.eps);
  const char* const members = "const D0* g; const D0* x; const D1* gamma; const D1* beta; const D1* mean; const D1* second_moment; D0* dx; D1* dgamma; D1* dbeta; double* sums; double eps;";
  // what the forward pass used; the relu's mask is computed again as it was there
  const std::string functions = AccumulatorText(x.dtype) + "struct Channel { A mean, inv, scale; };\n"
      "template <typename Args> __device__ __forceinline__ Channel ChannelOf(const Args& a, long long c) {\n  Channel k;\n  k.mean = mx::Load<A>(a.mean, c);\n" +
      (s.batch ? "  k.inv = mx::Load<A>(a.second_moment, c);\n" : "  k.inv = static_cast<A>(1 / ::sqrt(mx::Load<double>(a.second_moment, c) + a.eps));\n") +
      "  k.scale = " + (s.fix_gamma ? "" : "mx::Load<A>(a.gamma, c) * ") + "k.inv;\n  return k;\n}\n"
      "template <typename Args> __device__ __forceinline__ A Masked(const Args& a, const Channel& k, long long c, A g, A x) {\n" +
      (s.relu ? "  return x * k.scale + (mx::Load<A>(a.beta, c) - k.scale * k.mean) > A(0) ? g : A(0);\n}\n" : "  return g;\n}\n");
  if (s.batch || Wanted(args, 1) || Wanted(args, 2))
    ChannelSums(args, s.view, {"batch_norm_backward", {x.dtype, param}, variant}, own, [&] {
      return ChannelText{members, functions,
                         "      const Channel k = ChannelOf(a, c);\n      const A x = mx::Load<A>(a.x, at), g = Masked(a, k, c, mx::Load<A>(a.g, at), x);\n"
                         "      first += g;\n      second += static_cast<double>(g) * (static_cast<double>(x) - static_cast<double>(k.mean));\n",
                         std::string("      a.sums[c] = first;\n      a.sums[a.channels + c] = second;\n      if (a.dgamma) mx::Store(a.dgamma, c, ") +
                             (s.fix_gamma ? "0.0" : "second * static_cast<double>(ChannelOf(a, c).inv)") + ");\n      if (a.dbeta) mx::Store(a.dbeta, c, first);\n"};
    });
  if (!Wanted(args, 0)) return;
  own.Add(s.view.channels).Add(s.view.inner).Add(static_cast<double>(s.view.outer * s.view.inner));
  rtc::LaunchItems(args.run, {"batch_norm_gradient", {x.dtype, param}, variant}, x.Size(), &own, [&] {
    std::string body = "    const I c = i / static_cast<I>(a.inner) % static_cast<I>(a.channels);\n    const Channel k = ChannelOf(a, c);\n"
                       "    const A x = mx::Load<A>(a.x, i), g = Masked(a, k, c, mx::Load<A>(a.g, i), x);\n";
    body += s.batch ? "    const A product = static_cast<A>(a.sums[a.channels + c] / a.n) * k.inv * k.inv, mean = static_cast<A>(a.sums[c] / a.n);\n"
                      "    mx::Store(a.dx, i, k.scale * (g - mean - (x - k.mean) * product));\n"
                    : "    mx::Store(a.dx, i, k.scale * g);\n";
    return LoopText{std::string(members) + " long long channels, inner; double n;", functions, body};
  });
}

}  // namespace nn
}  // namespace mxnet
