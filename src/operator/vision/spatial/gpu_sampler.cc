// Launches of gpu_sampler.cuh.
#include "mxnet/env.h"
#include "operator/matrix/move.h"
#include "operator/pointwise/execute.h"
#include "operator/vision/spatial/sampler.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {
namespace {

const char* const kFile = "operator/vision/spatial/gpu_sampler.cuh";

rtc::Arguments SampleArguments(const SampleDims& d, const void* images, const void* grid, const void* out, const void* dgrid) {
  rtc::Arguments args;
  args.Add(images).Add(grid).Add(out).Add(dgrid);
  args.Add(d.channels).Add(d.height).Add(d.width).Add(d.points());
  return args;
}

}  // namespace

void SampleOnDevice(KernelArgs& a, const SampleDims& d, const TBlob& data, const TBlob& grid, const TBlob& out) {
  rtc::Arguments args = SampleArguments(d, data.dptr, grid.dptr, out.dptr, nullptr);
  rtc::LaunchItems(a.run, {kFile, "sample", {data.dtype, grid.dtype}}, out.Size(), &args);
}

void SampleToDataOnDevice(KernelArgs& a, const SampleDims& d, const TBlob& og, const TBlob& grid, const TBlob& dx) {
  TBlob sums = dx;
  if (IsHalf(dx.dtype)) {
    sums.dtype = kFloat32;
    sums.dptr = a.workspace(static_cast<size_t>(dx.Size()) * sizeof(float));
  }
  ZeroBytes(a.run, sums.dptr, static_cast<int64_t>(sums.Bytes()));
  rtc::Arguments args = SampleArguments(d, sums.dptr, grid.dptr, og.dptr, nullptr);
  if (Env::Get().enforce_determinism)
    rtc::LaunchItems(a.run, {kFile, "sample_to_data_in_order", {og.dtype, grid.dtype, sums.dtype}}, d.batch * d.channels, &args);
  else
    rtc::LaunchItems(a.run, {kFile, "sample_to_data", {og.dtype, grid.dtype, sums.dtype}}, og.Size(), &args);
  if (IsHalf(dx.dtype)) pointwise::ExecuteCast(a.run, sums, dx, OpReq::kWrite);
}

void SampleToPointsOnDevice(KernelArgs& a, const SampleDims& d, const TBlob& og, const TBlob& data, const TBlob& grid, const TBlob& dgrid) {
  rtc::Arguments args = SampleArguments(d, data.dptr, grid.dptr, og.dptr, dgrid.dptr);
  rtc::LaunchItems(a.run, {kFile, "sample_to_points", {data.dtype, grid.dtype}}, d.batch * d.points(), &args);
}

void AffineGridOnDevice(KernelArgs& a, const TBlob& theta, const TBlob& grid) {
  rtc::Arguments args;
  args.Add(theta.dptr).Add(grid.dptr).Add(grid.shape[2]).Add(grid.shape[3]);
  rtc::LaunchItems(a.run, {kFile, "affine_grid", {theta.dtype, grid.dtype}}, grid.Size() / 2, &args);
}

void AffineGridBackOnDevice(KernelArgs& a, const TBlob& dgrid, const TBlob& dtheta) {
  rtc::Arguments args;
  args.Add(dtheta.dptr).Add(dgrid.dptr).Add(dgrid.shape[2]).Add(dgrid.shape[3]);
  rtc::LaunchRows(a.run, {kFile, "affine_grid_back", {dtheta.dtype, dgrid.dtype}}, dgrid.shape[0] * 2, &args);
}

void WarpGridOnDevice(KernelArgs& a, const TBlob& from, const TBlob& to, bool back) {
  rtc::Arguments args;
  args.Add(from.dptr).Add(to.dptr).Add(to.shape[2]).Add(to.shape[3]);
  rtc::LaunchItems(a.run, {kFile, "warp_grid", {to.dtype}, {back}}, to.Size(), &args);
}

}  // namespace nn
}  // namespace mxnet
