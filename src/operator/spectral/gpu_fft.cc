#include "operator/spectral/gpu_fft.h"

#include <utility>

#include "operator/spectral/fft_plan.h"
#include "rtc/loop.h"

namespace mxnet {
namespace spectral {
namespace {

const char* const kFile = "operator/spectral/gpu_fft.cuh";

// Rows of n pairs; the result lies in one of the two arrays, which is returned.
void* Stages(KernelArgs& a, int dtype, int64_t rows, int64_t n, void* x, void* y) {
  int64_t step = 1;
  for (const int64_t r : Radices(n)) {
    rtc::Arguments args;
    args.Add(x).Add(y).Add(n).Add(step);
    rtc::LaunchItems(a.run, {kFile, "fft_stage", {dtype}, {r}}, rows * (n / r), &args);
    step *= r;
    std::swap(x, y);
  }
  return x;
}

void* Pairs(KernelArgs& a, int dtype, int64_t count) { return a.workspace(static_cast<size_t>(2 * count) * DTypeSize(dtype)); }

}  // namespace

void TransformOnDevice(KernelArgs& a, int64_t rows, int64_t n, bool inverse) {
  const TBlob &in = a.in[0], &out = a.out[0];
  const int dtype = in.dtype == kFloat64 ? kFloat64 : kFloat32;
  const bool chirp = NeedsChirp(n);
  const int64_t size = chirp ? ChirpSize(n) : n;
  void *x = Pairs(a, dtype, rows * size), *y = Pairs(a, dtype, rows * size);
  rtc::Arguments load;
  load.Add(in.dptr).Add(x).Add(n).Add(size);
  rtc::LaunchItems(a.run, {kFile, "fft_load", {in.dtype, dtype}, {inverse, chirp}}, rows * size, &load);
  const void* result = Stages(a, dtype, rows, size, x, y);
  if (chirp) {
    void *filter = Pairs(a, dtype, size), *other = Pairs(a, dtype, size);
    rtc::Arguments make;
    make.Add(filter).Add(n);
    rtc::LaunchItems(a.run, {kFile, "fft_chirp", {dtype}}, size, &make);
    filter = Stages(a, dtype, 1, size, filter, other);
    rtc::Arguments multiply;
    multiply.Add(result).Add(filter).Add(size);
    rtc::LaunchItems(a.run, {kFile, "fft_multiply", {dtype}}, rows * size, &multiply);
    result = Stages(a, dtype, rows, size, const_cast<void*>(result), result == x ? y : x);
  }
  rtc::Arguments store;
  store.Add(result).Add(out.dptr).Add(n).Add(size);
  rtc::LaunchItems(a.run, {kFile, "fft_store", {dtype, out.dtype}, {inverse, chirp}}, rows * n, &store);
}

}  // namespace spectral
}  // namespace mxnet
