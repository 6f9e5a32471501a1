#include "operator/random/gpu_random.h"

#include "rtc/loop.h"
#include "rtc/prelude.h"

namespace mxnet {
namespace {

// Philox4x32-10 as in random_philox.h.
const char* const kPhilox = R"TEXT(namespace mx {
struct Philox { unsigned w[4]; };
__device__ __forceinline__ Philox Draw(uint64 seed, uint64 counter, uint64 high = 0) {
  unsigned k0 = static_cast<unsigned>(seed), k1 = static_cast<unsigned>(seed >> 32);
  unsigned c0 = static_cast<unsigned>(counter), c1 = static_cast<unsigned>(counter >> 32), c2 = static_cast<unsigned>(high), c3 = static_cast<unsigned>(high >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c2 = h0 ^ c3 ^ k1;
    c1 = l1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  Philox r;
  r.w[0] = c0; r.w[1] = c1; r.w[2] = c2; r.w[3] = c3;
  return r;
}
template <typename Args> __device__ __forceinline__ uint64 Seed(const Args& a) { return a.base ? a.base[0] : a.seed; }
template <typename Args> __device__ __forceinline__ uint64 First(const Args& a) { return a.base ? a.base[1] + a.first : a.first; }
__device__ __forceinline__ float ToFloat(unsigned w) { return static_cast<float>(w >> 8) * 5.9604644775390625e-8f; }
__device__ __forceinline__ double ToDouble(unsigned high, unsigned low) {
  return static_cast<double>((static_cast<uint64>(high) << 32 | low) >> 11) * 1.1102230246251565e-16;
}
}  // namespace mx
)TEXT";

void Launch(const RunContext& run, const std::string& name, const std::string& body, double a, double b, const DeviceDraws& draws,
            int64_t low, uint64_t range, const TBlob& out, int64_t items) {
  const int64_t n = out.Size();
  if (n == 0) return;
  const std::string storage = rtc::StorageName(out.dtype);
  const rtc::Kernel& kernel = rtc::FindKernel(name + "|" + storage, [&](rtc::Kernel* k) {
    k->name = name;
    k->source = rtc::Prelude() + kPhilox + "struct Args { " + storage + "* out; long long n, items; " + kDrawMembers +
                " double a, b; long long low; unsigned long long range; };\n"
                "extern \"C\" __global__ void __launch_bounds__(256) " +
                name +
                "(const __grid_constant__ Args a) {\n"
                "#pragma unroll 1\n  for (long long i = mx::ThreadIndex(); i < a.items; i += mx::ThreadCount()) {\n    const mx::Philox r "
                "= mx::Draw(mx::Seed(a), mx::First(a) + i);\n" +
                body + "  }\n}\n";
  });
  rtc::Arguments args;
  draws.AddTo(&args.Add(out.dptr).Add(n).Add(items)).Add(a).Add(b).Add(low).Add(static_cast<int64_t>(range));
  rtc::Launch(kernel, rtc::Cover(items), &args, run);
}

}  // namespace

const char* PhiloxText() { return kPhilox; }

DeviceDraws DrawsOnDevice(const RunContext& run, RandomState* random, uint64_t counters) {
  DeviceDraws draws;
  draws.seed = random->seed();
  draws.first = random->Take(counters);
  if (run.capture) {
    run.capture->replayable += counters;
    if (run.capture->capturing && run.capture->draws) draws.base = run.capture->draws, draws.first -= run.capture->draws_begin;
  }
  return draws;
}

void BeginDraws(const RunContext& run, uint64_t* base, uint64_t seed, uint64_t counter) {
  rtc::Arguments args;
  args.Add(base).Add(static_cast<int64_t>(seed)).Add(static_cast<int64_t>(counter));
  rtc::LaunchItems(run, {"begin_draws", {}}, 1, &args, [] {
    return rtc::LoopText{"unsigned long long* base; unsigned long long seed, counter;", "",
                         "    a.base[0] = a.seed;\n    a.base[1] = a.counter;\n"};
  });
}

std::string SamplersText() {
#define MXNET_DISTRIBUTIONS(...) #__VA_ARGS__
  std::string text =
#include "operator/random/distributions.inc"
      ;
#undef MXNET_DISTRIBUTIONS
  for (const auto& with :
       {std::pair<const char*, const char*>{"std::", "::"}, {"uint64_t", "unsigned long long"}, {"uint32_t", "unsigned"}}) {
    const std::string what = with.first, by = with.second;
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
  }
  return std::string(kPhilox) + R"TEXT(#define MXNET_SAMPLER __device__
struct Philox {
  unsigned word[4];
  __device__ Philox(unsigned long long seed, unsigned long long counter, unsigned long long high = 0) {
    const mx::Philox r = mx::Draw(seed, counter, high);
    for (int k = 0; k < 4; ++k) word[k] = r.w[k];
  }
  static __device__ double ToDouble(unsigned high, unsigned low) { return mx::ToDouble(high, low); }
};
)TEXT" + text +
         "\n";
}

void SampleOnDevice(const RunContext& run, const char* sampler, const DeviceDraws& draws, double a, double b, const TBlob& out) {
  rtc::Arguments args;
  draws.AddTo(&args.Add(out.dptr)).Add(a).Add(b);
  const std::string name = std::string("random_") + sampler;
  rtc::LaunchItems(run, {name.c_str(), {out.dtype}}, out.Size(), &args, [&] {
    return rtc::LoopText{
        std::string("D0* out; ") + kDrawMembers + " double a, b;", SamplersText(),
        std::string("    RandomStream s(mx::Seed(a), mx::First(a) + i);\n    mx::Store(a.out, i, ") + sampler + "(&s, a.a, a.b));\n"};
  });
}

void SampleOnDevice(const RunContext& run, const char* sampler, const DeviceDraws& draws, const TBlob& a, const TBlob* b,
                    const TBlob& out) {
  rtc::Arguments args;
  draws.AddTo(&args.Add(out.dptr)).Add(a.dptr).Add(b ? b->dptr : nullptr).Add(a.Size() ? out.Size() / a.Size() : int64_t{1});
  const std::string name = std::string("sample_") + sampler;
  rtc::LaunchItems(run, {name.c_str(), {out.dtype, a.dtype, b ? b->dtype : -1}}, out.Size(), &args, [&] {
    return rtc::LoopText{std::string("D0* out; ") + kDrawMembers + " const D1* pa; const D2* pb; long long repeat;", SamplersText(),
                         std::string("    const I pair = i / static_cast<I>(a.repeat);\n    RandomStream s(mx::Seed(a), mx::First(a) + "
                                     "i);\n    mx::Store(a.out, i, ") +
                             sampler + "(&s, mx::Load<double>(a.pa, pair), " + (b ? "mx::Load<double>(a.pb, pair)" : "0.0") + "));\n"};
  });
}

void DrawOnDevice(const RunContext& run, DeviceDraw kind, const DeviceDraws& draws, double a, double b, const TBlob& out) {
  const int64_t n = out.Size();
  const char* const store = "    mx::StoreFour(a.out, 4 * i, a.n - 4 * i < 4 ? static_cast<int>(a.n - 4 * i) : 4, v);\n";
  if (out.dtype != kFloat64 && kind == DeviceDraw::kUniform) {
    // rounding must not reach the excluded end of the interval
    const std::string body =
        "    const float low = static_cast<float>(a.a), width = static_cast<float>(a.b), high = low + width, last = width > 0.0f ? "
        "::nextafterf(high, low) : high;\n    float v[4];\n"
        "#pragma unroll\n    for (int k = 0; k < 4; ++k) {\n      v[k] = low + width * mx::ToFloat(r.w[k]);\n      if (width > 0.0f && "
        "v[k] >= high) v[k] = last;\n    }\n";
    return Launch(run, "random_uniform", body + store, a, static_cast<double>(static_cast<float>(b - a)), draws, 0, 0, out, (n + 3) / 4);
  }
  if (out.dtype != kFloat64 && kind == DeviceDraw::kNormal) {
    const std::string body =
        "    const float mean = static_cast<float>(a.a), deviation = static_cast<float>(a.b);\n    float v[4];\n"
        "    for (int h = 0; h < 2; ++h) {\n      const float radius = ::sqrtf(-2.0f * ::logf(1.0f - mx::ToFloat(r.w[2 * h]))), turn = "
        "mx::ToFloat(r.w[2 * h + 1]);\n"
        "      float sine, cosine;\n      mx::SinCosOfTurn(turn, &sine, &cosine);\n"
        "      v[2 * h] = mean + deviation * (radius * cosine);\n      v[2 * h + 1] = mean + deviation * (radius * sine);\n    }\n";
    return Launch(run, "random_normal", body + store, a, b, draws, 0, 0, out, (n + 3) / 4);
  }
  switch (kind) {
    case DeviceDraw::kUniform:
      return Launch(run, "random_uniform", "    mx::Store(a.out, i, a.a + (a.b - a.a) * mx::ToDouble(r.w[0], r.w[1]));\n", a, b, draws, 0,
                    0, out, n);
    case DeviceDraw::kNormal:
      return Launch(run, "random_normal",
                    "    mx::Store(a.out, i, a.a + a.b * (::sqrt(-2.0 * ::log(1.0 - mx::ToDouble(r.w[0], r.w[1]))) * "
                    "::cos(6.283185307179586477 * mx::ToDouble(r.w[2], r.w[3]))));\n",
                    a, b, draws, 0, 0, out, n);
    case DeviceDraw::kExponential:
      return Launch(run, "random_exponential", "    mx::Store(a.out, i, -::log(1.0 - mx::ToDouble(r.w[0], r.w[1])) / a.a);\n", a, b, draws,
                    0, 0, out, n);
  }
}

void DrawIntegersOnDevice(const RunContext& run, const DeviceDraws& draws, int64_t low, uint64_t range, const TBlob& out) {
  // the high half of a 64 x 64-bit product
  const char* const body =
      "    const unsigned long long word = static_cast<unsigned long long>(r.w[0]) << 32 | r.w[1];\n"
      "    mx::Store(a.out, i, static_cast<long long>(static_cast<unsigned long long>(a.low) + __umul64hi(word, a.range)));\n";
  Launch(run, "random_integers", body, 0, 0, draws, low, range, out, out.Size());
}

}  // namespace mxnet
