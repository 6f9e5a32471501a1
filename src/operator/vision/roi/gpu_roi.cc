#include "operator/vision/roi/gpu_roi.h"

#include <cstring>

#include "operator/matrix/move.h"
#include "operator/nn/common/nn_common.h"
#include "rtc/loop.h"

namespace mxnet {
namespace roi {
namespace {

constexpr const char* kPooling = "operator/vision/roi/gpu_roi_pooling.cuh";
constexpr const char* kMeans = "operator/vision/roi/gpu_psroi_pooling.cuh";
constexpr const char* kAlign = "operator/vision/roi/gpu_roi_align.cuh";

rtc::Arguments Arguments(const TBlob& image, const TBlob& rois, const TBlob& bins) {
  rtc::Arguments arguments;
  arguments.Add(image.dptr).Add(rois.dptr).Add(bins.dptr);
  for (int64_t s : image.shape) arguments.Add(s);
  for (int64_t s : bins.shape) arguments.Add(s);
  return arguments;
}

}  // namespace

void PoolOnDevice(KernelArgs& args, const TBlob& data, const TBlob& rois, const TBlob& bins, double scale, const TBlob* image_grad) {
  rtc::Arguments arguments = Arguments(data, rois, bins);
  if (!image_grad) {
    arguments.Add(scale).Add(static_cast<void*>(nullptr));
    return rtc::LaunchItems(args.run, {kPooling, "roi_pool", {data.dtype}, {0}}, bins.Size(), &arguments);
  }
  void* places = args.workspace(sizeof(int64_t) * static_cast<size_t>(bins.Size() > 0 ? bins.Size() : 1));
  arguments.Add(scale).Add(places);
  rtc::Arguments again = arguments;
  rtc::LaunchItems(args.run, {kPooling, "roi_pool", {data.dtype}, {1}}, bins.Size(), &arguments);
  again.Add(image_grad->dptr);
  rtc::LaunchItems(args.run, {kPooling, "roi_pool_backward", {data.dtype}}, data.Size(), &again);
}

void PoolOtherOnDevice(KernelArgs& args, const TBlob& other, const TBlob& data, const TBlob& rois, const TBlob& bins, double scale) {
  rtc::Arguments arguments = Arguments(data, rois, bins);
  void* places = args.workspace(sizeof(int64_t) * static_cast<size_t>(bins.Size() > 0 ? bins.Size() : 1));
  arguments.Add(scale).Add(places);
  rtc::Arguments again = arguments;
  rtc::LaunchItems(args.run, {kPooling, "roi_pool", {data.dtype}, {1}}, bins.Size(), &arguments);
  again.Add(other.dptr);
  rtc::LaunchItems(args.run, {kPooling, "roi_pool_other", {data.dtype}}, bins.Size(), &again);
}

void AlignOnDevice(KernelArgs& args, const char* kernel, const TBlob& image, const TBlob& rois, const TBlob& bins,
                   const AlignOptions& options) {
  rtc::Arguments arguments = Arguments(image, rois, bins);
  arguments.Add(options.scale).Add(options.samples).Add(int64_t{options.position_sensitive}).Add(int64_t{options.aligned});
  const bool backward = std::strstr(kernel, "_backward") != nullptr;
  rtc::LaunchItems(args.run, {kAlign, kernel, {image.dtype}}, backward ? image.Size() : bins.Size(), &arguments);
}

void MeanOnDevice(KernelArgs& args, const char* kernel, const TBlob& image, const TBlob& rois, const TBlob& bins, double scale,
                  int64_t groups) {
  rtc::Arguments arguments = Arguments(image, rois, bins);
  arguments.Add(scale).Add(groups);
  const bool backward = std::strstr(kernel, "_backward") != nullptr;
  rtc::LaunchItems(args.run, {kMeans, kernel, {image.dtype}}, backward ? image.Size() : bins.Size(), &arguments);
}

void DeformPoolOnDevice(KernelArgs& args, int first, const DeformPoolOptions& o) {
  const TBlob &data = args.in[first], &rois = args.in[first + 1], &bins = first ? args.in[0] : args.out[0];
  rtc::Arguments arguments = Arguments(data, rois, bins);
  arguments.Add(o.scale).Add(o.trans_std).Add(o.no_trans ? nullptr : args.in[first + 2].dptr);
  arguments.Add(o.groups).Add(o.parts).Add(o.samples).Add(o.no_trans ? int64_t{1} : args.in[first + 2].shape[1] / 2);
  auto launch = [&](const char* kernel, int64_t items, void* to) {
    rtc::Arguments own = arguments;
    own.Add(to);
    rtc::LaunchItems(args.run, {kMeans, kernel, {data.dtype}}, items, &own);
  };
  if (first == 0) return launch("deform_psroi_pool", bins.Size(), bins.dptr);
  if (nn::Wanted(args, 0)) launch("deform_psroi_pool_data", data.Size(), args.out[0].dptr);
  if (nn::Wanted(args, 1)) ZeroBytes(args.run, args.out[1].dptr, static_cast<int64_t>(args.out[1].Bytes()));
  if (!o.no_trans && nn::Wanted(args, 2)) launch("deform_psroi_pool_trans", args.out[2].Size(), args.out[2].dptr);
}

}  // namespace roi
}  // namespace mxnet
