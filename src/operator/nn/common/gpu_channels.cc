#include "operator/nn/common/gpu_channels.h"

#include <algorithm>

#include "rtc/prelude.h"

namespace mxnet {
namespace nn {

void AddMarks(const NormMarks& m, rtc::Arguments* args) {
  args->Add(m.bytes)
      .Add(m.order)
      .Add(m.header)
      .Add(m.line)
      .Add((m.line + 7) / 8)
      .Add(m.other_line)
      .Add((m.other_line + 7) / 8)
      .Add(m.minor)
      .Add(m.major);
}

namespace {

// Elements of one access: neighbours in a plane, or neighbouring channels where these lie last.
int WidthOf(const ChannelView& v, int dtype, const std::vector<const void*>& arrays) {
  const int64_t along = v.inner == 1 ? v.channels : v.inner, bytes = static_cast<int64_t>(DTypeSize(dtype));
  int width = static_cast<int>(16 / bytes);
  auto fits = [&] {
    return along % width == 0 && std::all_of(arrays.begin(), arrays.end(), [&](const void* p) {
             return reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(width * bytes) == 0;
           });
  };
  while (width > 1 && !fits()) width /= 2;
  return width;
}

constexpr int64_t kEnoughBlocks = 2112;  // sixteen for each multiprocessor of an H100 or H200
constexpr int64_t kPartFrom = 8;         // accesses of each thread

}  // namespace

void ChannelSums(KernelArgs& args, const ChannelView& view, const ChannelKernel& kernel, int dtype, const std::vector<const void*>& arrays,
                 const rtc::Arguments& own) {
  if (view.channels == 0) return;
  const bool columns = view.inner == 1;
  const int width = WidthOf(view, dtype, arrays);
  const bool large =
      view.outer * view.inner >= kLargeCount || view.channels * (view.inner / width) >= kLargeCount;  // else 32 bits do for both
  int lanes = 1;  // of a block, with neighbouring channels; the other threads have other places
  while (columns && lanes < 32 && lanes * width < view.channels) lanes *= 2;
  const int64_t lines = rtc::kRowThreads / lanes, groups = columns ? (view.channels + lanes * width - 1) / (lanes * width) : view.channels;
  const int64_t count = columns ? view.outer : view.outer * (view.inner / width);  // accesses along a channel
  const int64_t parts = std::max<int64_t>(1, std::min((kEnoughBlocks + groups - 1) / groups, count / (lines * kPartFrom))),
                chunk = (count + parts - 1) / parts;
  double* partial = static_cast<double*>(
      args.workspace(static_cast<size_t>(2 * parts * view.channels) * sizeof(double)));  // a channel's parts are neighbours
  auto arguments = [&] {
    rtc::Arguments all;
    for (const void* p : arrays) all.Add(p);
    all.Append(own).Add(view.outer).Add(view.channels).Add(view.inner).Add(parts).Add(chunk).Add(partial).Add(groups).Add(count);
    AddDivisor(std::max<int64_t>(view.inner / width, 1), large, &all);
    return all;
  };
  const std::string sums = std::string(kernel.name) + "_sums", finish = std::string(kernel.name) + "_finish";
  rtc::Arguments a = arguments(), b = arguments();
  rtc::LaunchRows(args.run, {kernel.file, "channel_sums", {}, {}, {kernel.what, rtc::Values({columns, large, width, lanes})}, sums.c_str()},
                  parts * groups, &a);
  rtc::LaunchRows(args.run, {kernel.file, "channel_finish", {}, {}, {kernel.what}, finish.c_str()}, view.channels, &b);
}

void MapOnDevice(const RunContext& run, const ChannelView& view, const MapCall& call) {
  const bool columns = view.inner == 1, marks = call.marks != nullptr;
  std::vector<const void*> aligned = call.arrays;
  aligned.insert(aligned.end(), call.results.begin(), call.results.end());
  const int width = WidthOf(view, call.dtype, aligned), span = marks ? 8 : width;
  const int64_t line = columns ? view.channels : view.inner, stride = (line + span - 1) / span,
                items = view.outer * (columns ? 1 : view.channels) * stride;
  const bool large = items >= kLargeCount, ragged = line % span != 0;
  rtc::Arguments a;
  for (const void* p : aligned) a.Add(p);
  a.Add(call.coef).Add(view.channels);
  AddDivisor(columns ? 1 : stride, large, &a);
  AddDivisor(columns ? stride : view.channels, large, &a);
  if (marks) AddMarks(*call.marks, &a);
  rtc::LaunchItems(run,
                   {call.kernel.file, "channel_map", {}, {}, {call.kernel.what, rtc::Values({columns, ragged, width})}, call.kernel.name},
                   items, &a);
}

// Rows of coefficients in the arithmetic of dtype; every row begins where packs of them may.
void* NewCoefficients(KernelArgs& args, const ChannelView& view, int dtype, int rows) {
  return args.workspace(static_cast<size_t>(std::max<int64_t>(view.channels, 1) * rows) *
                        (dtype == kFloat64 ? sizeof(double) : sizeof(float)));
}

}  // namespace nn
}  // namespace mxnet
