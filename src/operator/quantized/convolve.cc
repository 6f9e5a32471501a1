// Convolution of 8-bit integers to sums. Those that may not fit into 32 bits, and are cut, are
// computed by loops of our own: the places that a window sees become rows of 16-bit integers, which
// are multiplied with the filters (im2col: Chellapilla et al., High performance convolutional
// neural networks for document processing, 2006).
#include <algorithm>
#include <vector>

#include "base/ran.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/onednn/hooks.h"
#include "operator/quantized/byte_product.h"
#include "operator/quantized/bytes.h"
#include "operator/quantized/layers.h"
#include "operator/quantized/packed_layer.h"

namespace mxnet {
namespace quantized {
namespace {

constexpr int64_t kPlaces = 32;           // output places that a task takes at a time
constexpr int64_t kMostProducts = 32768;  // of two numbers of 9 bits, whose sum surely fits into 32 bits

/* One convolution, as its tasks see it. `deep`: products in a sum. */
struct Job {
  const nn::ConvCall& call;
  const int16_t* weights;  // (filters, deep)
  const int16_t zero;      // of src
  int64_t per_group, filters, deep, tiles;
  Job(const nn::ConvCall& c, const ByteZeros& zeros)
      : call(c),
        weights(nullptr),
        zero(static_cast<int16_t>(zeros.src)),
        per_group(c.dims.channels / c.dims.groups),
        filters(c.dims.filters / c.dims.groups),
        deep(per_group * c.dims.KernelSize()),
        tiles((c.dims.OutSize() + kPlaces - 1) / kPlaces) {}
};

/* The window of output place `place`, in the order in which the weights lie. */
template <typename T>
void Window(const Job& job, const T* image, int64_t first_channel, int64_t place, int16_t* row) {
  const nn::ConvDims& d = job.call.dims;
  const bool last = job.call.src.channels_last, weights_last = job.call.weight.channels_last;
  const int64_t to_channel = last ? 1 : d.InSize(), to_pixel = last ? d.channels : 1;
  const int64_t channel_step = weights_last ? 1 : d.KernelSize(), kernel_step = weights_last ? job.per_group : 1;
  const int64_t at[3] = {place / (d.out[1] * d.out[2]), place / d.out[2] % d.out[1], place % d.out[2]};
  int64_t k[3], k_index = 0;
  for (k[0] = 0; k[0] < d.kernel[0]; ++k[0])
    for (k[1] = 0; k[1] < d.kernel[1]; ++k[1])
      for (k[2] = 0; k[2] < d.kernel[2]; ++k[2], ++k_index) {
        int64_t pixel = 0;
        bool inside = true;
        for (int i = 0; i < 3; ++i) {
          const int64_t x = at[i] * d.stride[i] - d.pad[i] + k[i] * d.dilate[i];
          inside = inside && x >= 0 && x < d.in[i];
          pixel = pixel * d.in[i] + x;
        }
        int16_t* to = row + k_index * kernel_step;
        const T* from = inside ? image + first_channel * to_channel + pixel * to_pixel : image;
        for (int64_t c = 0; c < job.per_group; ++c)
          to[c * channel_step] = inside ? static_cast<int16_t>(from[c * to_channel] - job.zero) : int16_t{0};
      }
}

template <typename T>
void Windows(const Job& job, const void* src, int64_t n, int64_t g, int64_t place, int64_t count, int16_t* rows) {
  const T* image = static_cast<const T*>(src) + n * job.call.dims.channels * job.call.dims.InSize();
  for (int64_t i = 0; i < count; ++i) Window(job, image, g * job.per_group, place + i, rows + i * job.deep);
}

/* sums (height, width) = a * b^T with rows `deep` long, to places `pitch` apart. */
void Multiply(const int16_t* a, int64_t height, const int16_t* b, int64_t width, int64_t deep, int32_t* sums, int64_t pitch) {
  std::vector<int32_t> part;
  for (int64_t at = 0; at < deep || at == 0; at += kMostProducts) {
    const int64_t some = std::min(kMostProducts, deep - at);
    if (at == 0) {
      MXNET_CPU_CALL(MultiplyRows)(a, height, deep, b, width, deep, some, sums, pitch);
      continue;
    }
    part.resize(static_cast<size_t>(height * width));
    MXNET_CPU_CALL(MultiplyRows)(a + at, height, deep, b + at, width, deep, some, part.data(), width);
    for (int64_t i = 0; i < height; ++i) MXNET_CPU_CALL(AddToSums)(part.data() + i * width, width, sums + i * pitch);
  }
}

void Task(const Job& job, int64_t task, std::vector<int16_t>* rows) {
  const nn::ConvDims& d = job.call.dims;
  const int64_t place = task % job.tiles * kPlaces, g = task / job.tiles % d.groups, n = task / job.tiles / d.groups;
  const int64_t count = std::min(kPlaces, d.OutSize() - place);
  if (job.call.dtype == kUint8)
    Windows<uint8_t>(job, job.call.src.ptr, n, g, place, count, rows->data());
  else
    Windows<int8_t>(job, job.call.src.ptr, n, g, place, count, rows->data());
  int32_t* out = static_cast<int32_t*>(job.call.dst.ptr) + n * d.filters * d.OutSize();
  const int16_t* weights = job.weights + g * job.filters * job.deep;
  if (job.call.dst.channels_last)
    Multiply(rows->data(), count, weights, job.filters, job.deep, out + place * d.filters + g * job.filters, d.filters);
  else
    Multiply(weights, job.filters, rows->data(), count, job.deep, out + g * job.filters * d.OutSize() + place, d.OutSize());
}

}  // namespace

void ConvolveBytes(KernelArgs& args, const nn::ConvCall& call, const ByteZeros& zeros) {
  const nn::ConvDims& d = call.dims;
  const auto library = zeros.src == 0 && !zeros.filters ? nn::ActiveHooks().convolution : nullptr;
  Job job(call, zeros);
  if (library && job.deep > 0 && job.deep <= kMostDeep && library(args, call)) return;
  LayerCall layer;
  layer.dims = d, layer.src_type = call.dtype, layer.dst_type = kInt32, layer.src_zero = zeros.src;
  layer.src = call.src, layer.weight = call.weight, layer.dst = call.dst;
  if (PackedLayer(args, {layer, call.weight_input, zeros, nullptr})) return;
  args.NeedWeights(call.weight.ptr);
  int16_t* wide = nn::Workspace<int16_t>(args, d.filters * job.deep);
  const char* bytes = static_cast<const char*>(call.weight.ptr);
  ParallelFor(d.filters * job.deep, 65536, [&](int64_t b, int64_t e) { MXNET_CPU_CALL(WidenBytes)(bytes + b, false, e - b, wide + b); });
  if (zeros.filters)
    ParallelFor(d.filters, std::max<int64_t>(1, 65536 / std::max<int64_t>(1, job.deep)), [&](int64_t b, int64_t e) {
      for (int64_t i = b * job.deep; i < e * job.deep; ++i)
        wide[i] = static_cast<int16_t>(wide[i] - zeros.filters[zeros.one ? 0 : i / job.deep]);
    });
  job.weights = wide;
  Ran("im2col of 16-bit integers");
  const int64_t work = std::max<int64_t>(1, kPlaces * job.filters * job.deep);
  ParallelFor(d.batch * d.groups * job.tiles, std::max<int64_t>(1, 500000 / work), [&](int64_t b, int64_t e) {
    std::vector<int16_t> rows(static_cast<size_t>(kPlaces * job.deep + 1));
    for (int64_t task = b; task < e; ++task) Task(job, task, &rows);
  });
}

}  // namespace quantized
}  // namespace mxnet
