// What onnxruntime's optimizer writes for diffusion models.
#include "onnx/convert/neural/norm.h"

namespace mxnet {
namespace onnx {

namespace {

/* x with channels first unless attribute channels_last says that they are. */
Value GroupNormed(Call& c, const Value& x) {
  const bool last = c.Attr("channels_last", int64_t{1}) != 0;
  const int64_t groups = c.Attr("groups", int64_t{0}), activation = c.Attr("activation", int64_t{0});
  const double epsilon = c.Attr("epsilon", 1e-5f);
  const int64_t channels = x.shape()[last ? 3 : 1];
  if (groups < 1 || channels % groups) c.Refuse("attribute groups is " + Text(groups) + " for " + Text(channels) + " channels");
  if (activation != 0 && activation != 1) c.Refuse("attribute activation is " + Text(activation) + "; accepted are 0 and 1");
  for (int i = 1; i <= 2; ++i)
    if (c.in(i).size() != channels)
      c.Refuse("input " + Text(i) + " has shape " + Text(c.in(i).shape()) + " for " + Text(channels) + " channels");
  const Value data = last ? ChannelsFirst(c, x) : x;
  const auto each = [&](int i) { return c.Cast(c.Reshape(c.in(i), Shape{channels}), x.dtype()); };
  Value y = c.Op("GroupNorm", {data, each(1), each(2)}, {{"num_groups", Text(groups)}, {"eps", Text(epsilon)}});
  if (activation == 1) y = Silu(c, y);
  return last ? ChannelsLast(c, y) : y;
}

}  // namespace

void ConvertMicrosoftGroupNorm(Call& c) {
  CheckRank(c, 0, 4, 4);
  c.Out(GroupNormed(c, c.in(0)));
}

void ConvertSkipGroupNorm(Call& c) {  // X, gamma, beta, skip, bias -> Y, sum
  CheckRank(c, 0, 4, 4);
  const bool last = c.Attr("channels_last", int64_t{1}) != 0;
  const Value &x = c.in(0), &skip = c.in(3);
  const int64_t channels = x.shape()[last ? 3 : 1];
  const auto of_images = [&](const Value& v, int64_t images) {
    return c.Reshape(v, last ? Shape{images, 1, 1, channels} : Shape{images, channels, 1, 1});
  };
  Value sum = Add(c, x, skip.ndim() == 2 ? of_images(skip, skip.shape()[0]) : skip);
  if (c.has(4)) sum = Add(c, sum, of_images(c.in(4), 1));
  c.Out(0, GroupNormed(c, sum));
  if (c.wants(1)) c.Out(1, sum);
}

void ConvertBiasAdd(Call& c) { c.Out(Add(c, Add(c, c.in(0), c.in(1)), c.in(2))); }

}  // namespace onnx
}  // namespace mxnet
