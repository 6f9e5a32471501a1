#include "operator/vision/roi/roi.h"

#include "mxnet/op.h"

namespace mxnet {
namespace roi {

using nn::Named;

namespace {
constexpr int64_t kMostPixels = (int64_t{1} << 31) - 1;
constexpr int64_t kMostBins = 32768;  // each way: output_dim times their square is below 2^63
}  // namespace

void CheckPooledSize(const Attrs& attrs, const Shape& size) {
  MXNET_CHECK_KIND(size.ndim() == 2 && size[0] >= 1 && size[1] >= 1 && size[0] < (int64_t{1} << 31) && size[1] < (int64_t{1} << 31), Value)
      << Named(attrs) << "pooled_size " << size << "; (height, width) of at least 1 is needed";
}

void CheckSamples(const Attrs& attrs, const Shape& pooled_size, const char* name, int64_t samples) {
  const int64_t bins = std::max(pooled_size[0], pooled_size[1]);
  MXNET_CHECK_KIND(bins * std::max<int64_t>(samples, 1) <= (int64_t{1} << 24), Value)
      << Named(attrs) << "pooled_size " << pooled_size << " with " << name << " " << samples
      << "; at most 2^24 points along a side of a region are accepted";
}

bool InferRegions(const Attrs& attrs, ShapeVector* in, ShapeVector* out, int columns, int64_t output_channels, int64_t pooled_h,
                  int64_t pooled_w) {
  Shape &data = (*in)[0], &rois = (*in)[1];
  if (rois.ndim_known())
    MXNET_CHECK_KIND(rois.ndim() == 2 && (rois[1] < 0 || rois[1] == columns), Value)
        << Named(attrs) << "rois has shape " << rois << "; (regions, " << columns << ") is needed";
  if (data.ndim_known()) {
    MXNET_CHECK_KIND(data.ndim() == 4, Value) << Named(attrs) << "data has shape " << data
                                              << "; (batch, channels, height, width) is needed";
    MXNET_CHECK_KIND(data[2] < 0 || data[3] < 0 || data[2] <= kMostPixels / std::max<int64_t>(data[3], 1), Value)
        << Named(attrs) << "data has shape " << data << "; images of fewer than 2^31 pixels are accepted";
  }
  Shape result(4), regions(2);
  result[0] = rois.ndim_known() ? rois[0] : Shape::kUnknownDim;
  result[1] = output_channels >= 0 ? output_channels : data.ndim_known() ? data[1] : Shape::kUnknownDim;
  result[2] = pooled_h, result[3] = pooled_w;
  AssignShape(attrs, "output", &(*out)[0], result);
  regions[0] = (*out)[0][0], regions[1] = columns;
  AssignShape(attrs, "rois", &rois, regions);
  if (output_channels < 0 && data.ndim_known() && data[1] < 0) data[1] = (*out)[0][1];
  return data.known() && rois.known();
}

void CheckGroups(const Attrs& attrs, int64_t output_dim, int64_t pooled_size, int64_t group_size, int64_t least, bool spare,
                 const Shape& data) {
  MXNET_CHECK_KIND(output_dim >= 1, Value) << Named(attrs) << "output_dim " << output_dim << "; it must be at least 1";
  MXNET_CHECK_KIND(pooled_size >= 1 && pooled_size <= kMostBins, Value)
      << Named(attrs) << "pooled_size " << pooled_size << "; 1 to " << kMostBins << " are accepted";
  MXNET_CHECK_KIND(group_size >= least && group_size <= kMostBins, Value)
      << Named(attrs) << "group_size " << group_size << "; " << least << " to " << kMostBins << " are accepted";
  const int64_t groups = group_size == 0 ? pooled_size : group_size, channels = output_dim * groups * groups;
  MXNET_CHECK_KIND(data.ndim() != 4 || data[1] < 0 || data[1] == channels || (spare && data[1] > channels), Value)
      << Named(attrs) << "data has shape " << data << "; output_dim " << output_dim << " and " << groups << " groups each way need "
      << channels << " channels";
}

GradientFn LinearSecondGradient(const char* forward) {
  return [forward](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
    std::vector<NodeEntry> grads(node->inputs.size());
    std::vector<NodeEntry> inputs(node->inputs.begin() + 1, node->inputs.end());
    inputs[0] = ograds[0];
    grads[0] = NodeEntry{MakeNodeLike(forward, *node, inputs), 0, 0};
    return grads;
  };
}

GradientFn DataGradient(const char* backward) {
  return [backward](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
    std::vector<NodeEntry> inputs{ograds[0]}, grads(node->inputs.size());
    inputs.insert(inputs.end(), node->inputs.begin(), node->inputs.end());
    grads[0] = NodeEntry{MakeNodeLike(backward, *node, inputs), 0, 0};
    return grads;
  };
}

}  // namespace roi
}  // namespace mxnet
