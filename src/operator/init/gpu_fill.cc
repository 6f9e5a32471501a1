// Values computed from positions, on a GPU: one text with another expression for each use.
#include "operator/init/gpu_fill.h"

#include "rtc/kernel.h"
#include "rtc/prelude.h"

namespace mxnet {
namespace {

// `expression`: a double made of i and of p, q, r (double) and m, n (long long). A thread has 16
// bytes of neighbours.
void FillOnDevice(const RunContext& run, const TBlob& out, const char* name, const char* expression, double p, double q, int64_t m,
                  int64_t n) {
  const int64_t total = out.Size();
  if (total == 0) return;
  const std::string storage = rtc::StorageName(out.dtype);
  const int64_t width = 16 / static_cast<int64_t>(DTypeSize(out.dtype));
  const rtc::Kernel& kernel = rtc::FindKernel(std::string(name) + "|" + storage + expression, [&](rtc::Kernel* k) {
    k->name = name;
    k->source =
        rtc::Prelude() + "struct Args { " + storage +
        "* out; long long total; double p, q; long long m, n, wide; };\nconstexpr int kWidth = " + std::to_string(width) +
        ";\n"
        "extern \"C\" __global__ void __launch_bounds__(256) " +
        name +
        "(const __grid_constant__ Args a) {\n"
        "  const double p = a.p, q = a.q;\n  const long long m = a.m, n = a.n;\n"
        "#pragma unroll 1\n  for (long long first = mx::ThreadIndex() * kWidth; first < a.total; first += mx::ThreadCount() * kWidth) {\n"
        "    mx::Pack<" +
        storage +
        ", kWidth> pack;\n#pragma unroll\n    for (int k = 0; k < kWidth; ++k) {\n      const long long i = first + k;\n      (void)i;\n   "
        "   const double v = " +
        expression + ";\n      pack.v[k] = " + "mx::Narrow<" + storage +
        ", double>::Store(v);\n    }\n    if (a.wide != 0 && first + kWidth <= a.total) {\n      *reinterpret_cast<mx::Pack<" + storage +
        ", kWidth>*>(a.out + first) = pack;\n    } else {\n#pragma unroll\n"
        "      for (int k = 0; k < kWidth; ++k)\n        if (first + k < a.total) a.out[first + k] = pack.v[k];\n    }\n  }\n}\n";
  });
  rtc::Arguments args;
  args.Add(out.dptr).Add(total).Add(p).Add(q).Add(m).Add(n).Add(int64_t{reinterpret_cast<uintptr_t>(out.dptr) % 16 == 0});
  rtc::Launch(kernel, rtc::Cover((total + width - 1) / width), &args, run);
}

}  // namespace

void FillValue(const RunContext& run, const TBlob& out, double value) {
  if (!run.ctx.is_gpu()) return FillValue(out, value);
  FillOnDevice(run, out, "fill_value", "p", value, 0, 0, 0);
}

void FillRange(const RunContext& run, const TBlob& out, double start, double step, int64_t repeat) {
  if (!run.ctx.is_gpu()) return FillRange(out, start, step, repeat);
  FillOnDevice(run, out, "fill_range", repeat == 1 ? "p + static_cast<double>(i) * q" : "p + static_cast<double>(i / n) * q", start, step,
               0, repeat);
}

void FillEye(const RunContext& run, const TBlob& out, int64_t k) {
  if (!run.ctx.is_gpu()) return FillEye(out, k);
  FillOnDevice(run, out, "fill_eye", "i % n == i / n + m ? 1.0 : 0.0", 0, 0, k, out.shape[1] > 0 ? out.shape[1] : 1);
}

}  // namespace mxnet
