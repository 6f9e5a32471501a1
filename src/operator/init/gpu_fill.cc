// Values computed from positions, on a GPU.
#include "operator/init/fill.h"
#include "rtc/source.h"

namespace mxnet {
namespace {

// `values`: a struct of gpu_fill.cuh, which makes numbers of positions and of p, q, r, m, n. A
// thread has 16 bytes of neighbours.
void FillOnDevice(const RunContext& run, const TBlob& out, const char* name, const char* values, double p, double q, double r, int64_t m,
                  int64_t n) {
  const int64_t total = out.Size();
  if (total == 0) return;
  const int64_t width = 16 / static_cast<int64_t>(DTypeSize(out.dtype));
  rtc::TemplateArguments t;
  t.Type(out.dtype).Type(values);
  const rtc::Kernel& kernel = rtc::FindKernel("operator/init/gpu_fill.cuh", "fill", t, 256, name);
  rtc::Arguments args;
  args.Add(out.dptr).Add(total).Add(p).Add(q).Add(r).Add(m).Add(n).Add(int64_t{reinterpret_cast<uintptr_t>(out.dptr) % 16 == 0});
  rtc::Launch(kernel, rtc::Cover((total + width - 1) / width), &args, run);
}

}  // namespace

void FillValue(const RunContext& run, const TBlob& out, double value) {
  if (!run.ctx.is_gpu()) return FillValue(out, value);
  FillOnDevice(run, out, "fill_value", "kernels::FillValue", value, 0, 0, 0, 0);
}

void FillRange(const RunContext& run, const TBlob& out, double start, double step, int64_t repeat) {
  if (!run.ctx.is_gpu()) return FillRange(out, start, step, repeat);
  FillOnDevice(run, out, "fill_range", repeat == 1 ? "kernels::FillRange<false>" : "kernels::FillRange<true>", start, step, 0, 0, repeat);
}

void FillEye(const RunContext& run, const TBlob& out, int64_t k) {
  if (!run.ctx.is_gpu()) return FillEye(out, k);
  FillOnDevice(run, out, "fill_eye", "kernels::FillEye", 0, 0, 0, k, out.shape[1] > 0 ? out.shape[1] : 1);
}

void FillPowers(const RunContext& run, const TBlob& out, double start, double step, double base) {
  if (!run.ctx.is_gpu()) return FillPowers(out, start, step, base);
  FillOnDevice(run, out, "fill_powers", "kernels::FillPowers", start, step, base, 0, 0);
}

void FillCycle(const RunContext& run, const TBlob& out, int64_t size, int64_t repeat) {
  if (!run.ctx.is_gpu()) return FillCycle(out, size, repeat);
  FillOnDevice(run, out, "fill_cycle", "kernels::FillCycle", 0, 0, 0, size, repeat);
}

void FillTriangle(const RunContext& run, const TBlob& out, int64_t k) {
  if (!run.ctx.is_gpu()) return FillTriangle(out, k);
  FillOnDevice(run, out, "fill_triangle", "kernels::FillTriangle", 0, 0, 0, k, out.shape[1] > 0 ? out.shape[1] : 1);
}

void FillWindow(const RunContext& run, const TBlob& out, double a, double b, double c) {
  if (!run.ctx.is_gpu()) return FillWindow(out, a, b, c);
  if (out.Size() == 1) return FillValue(run, out, 1);
  FillOnDevice(run, out, "fill_window", "kernels::FillWindow", a, b, c, 0, out.Size() - 1);
}

}  // namespace mxnet
