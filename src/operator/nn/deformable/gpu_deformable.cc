// The deformable convolutions on a GPU: columns of bilinear samples and products of the vendor's
// library, image after image.
#include "base/dtype.h"
#include "operator/gpu_library/gemm.h"
#include "operator/matrix/move.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/deformable/deformable_convolution.h"
#include "operator/reduce/reduce.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {
namespace {

// One image of an array.
void* At(const TBlob& b, int64_t image) {
  return static_cast<char*>(b.dptr) + image * (b.Size() / b.shape[0]) * static_cast<int64_t>(DTypeSize(b.dtype));
}

// Positions and channels of one group lie in the neighbouring rows of a matrix.
struct Image {
  KernelArgs& a;
  const DeformCall& c;
  const TBlob &data, &offset;
  const TBlob* mask;
  int64_t filters, rows, positions;
  size_t bytes;  // of an element

  Image(KernelArgs& args, const DeformCall& call, int first)
      : a(args), c(call), data(a.in[first]), offset(a.in[first + 1]), mask(c.masked ? &a.in[first + 2] : nullptr) {
    filters = c.filters / c.groups, rows = c.rows() / c.groups, positions = c.positions();
    bytes = DTypeSize(data.dtype);
  }

  rtc::Arguments Arguments(int64_t image, void* columns) const {
    rtc::Arguments args;
    args.Add(At(data, image)).Add(At(offset, image)).Add(mask ? At(*mask, image) : nullptr).Add(columns);
    args.Add(c.channels).Add(c.h).Add(c.w).Add(c.deformable_groups).Add(c.out_h).Add(c.out_w);
    for (const auto* sizes : {&c.kernel, &c.stride, &c.dilate, &c.pad})
      for (int64_t s : *sizes) args.Add(s);
    args.Add(int64_t{c.beyond == Beyond::kNearest});
    return args;
  }
  void Launch(const char* kernel, int grads_dtype, int64_t items, rtc::Arguments* args) const {
    rtc::LaunchItems(a.run, {"operator/nn/deformable/gpu_deformable.cuh", kernel, {data.dtype, grads_dtype}}, items, args);
  }
  void Columns(int64_t image, void* columns) const {
    rtc::Arguments args = Arguments(image, columns);
    Launch("deform_columns", data.dtype, c.rows() * positions, &args);
  }
  void Multiply(gpu_library::Gemm p, const void* x, const void* y, void* to, const gpu_library::Epilogue& tail = {}) const {
    p.dtype = data.dtype, p.batch = c.groups;
    gpu_library::Multiply(a.run, a.workspace, p, x, y, to, tail);
  }
};

bool Empty(const DeformCall& c) { return c.batch == 0 || c.rows() == 0 || c.h * c.w == 0 || c.positions() == 0; }

}  // namespace

void DeformForwardOnDevice(KernelArgs& a, const DeformCall& c) {
  const TBlob& out = a.out[0];
  gpu_library::Epilogue tail;
  if (!c.no_bias) tail.bias = a.in[c.weight() + 1].dptr, tail.bias_dtype = out.dtype;
  if (Empty(c)) {
    ZeroBytes(a.run, out.dptr, static_cast<int64_t>(out.Bytes()));
  } else {
    const Image image(a, c, 0);
    void* columns = a.workspace(static_cast<size_t>(c.rows() * image.positions) * image.bytes);
    gpu_library::Gemm p;
    p.m = image.filters, p.n = image.positions, p.k = image.rows;
    for (int64_t i = 0; i < c.batch; ++i) {
      image.Columns(i, columns);
      image.Multiply(p, a.in[c.weight()].dptr, columns, At(out, i));
    }
  }
  gpu_library::ApplyEpilogue(a.run, out.dptr, out.dtype, c.batch, c.filters, c.positions(), tail);
}

void DeformBackwardOnDevice(KernelArgs& a, const DeformCall& c) {
  const TBlob& og = a.in[0];
  const bool places = Wanted(a, 1) || (c.masked && Wanted(a, 2)), weights = Wanted(a, c.weight());
  if (!c.no_bias && Wanted(a, c.weight() + 1)) {
    TBlob view = og;
    view.shape = Shape{c.batch, c.filters, c.positions()};
    reduce::Reduce(a, reduce::kSum, view, {1, 0, 1}, reduce::Finish(), false, a.out[c.weight() + 1], a.req[c.weight() + 1]);
  }
  if (Empty(c)) {
    for (int i = 0; i <= c.weight(); ++i)
      if (Wanted(a, i)) ZeroBytes(a.run, a.out[i].dptr, static_cast<int64_t>(a.out[i].Bytes()));
    return;
  }
  const Image image(a, c, 1);
  const TBlob& weight = a.in[1 + c.weight()];
  // what is summed over channels or images stays float for 16-bit data
  const int wide = IsHalf(og.dtype) ? static_cast<int>(kFloat32) : og.dtype;
  const int64_t elements = c.rows() * image.positions;
  void* columns = weights ? a.workspace(static_cast<size_t>(elements) * image.bytes) : nullptr;
  void* grads = places || Wanted(a, 0) ? a.workspace(static_cast<size_t>(elements) * DTypeSize(wide)) : nullptr;
  void* sum = !weights           ? nullptr
              : wide == og.dtype ? a.out[c.weight()].dptr
                                 : a.workspace(static_cast<size_t>(weight.Size()) * DTypeSize(wide));
  gpu_library::Gemm by_column, by_weight;
  by_column.trans_a = true, by_column.m = image.rows, by_column.n = image.positions, by_column.k = image.filters;
  by_weight.trans_b = true, by_weight.m = image.filters, by_weight.n = image.rows, by_weight.k = image.positions;
  by_column.result = by_weight.result = wide == og.dtype ? -1 : wide;
  for (int64_t i = 0; i < c.batch; ++i) {
    if (grads) image.Multiply(by_column, weight.dptr, At(og, i), grads);
    if (places) {
      rtc::Arguments args = image.Arguments(i, grads);
      args.Add(Wanted(a, 1) ? At(a.out[1], i) : nullptr).Add(c.masked && Wanted(a, 2) ? At(a.out[2], i) : nullptr);
      image.Launch("deform_place_grads", wide, c.deformable_groups * c.taps() * image.positions, &args);
    }
    if (Wanted(a, 0)) {
      rtc::Arguments args = image.Arguments(i, grads);
      args.Add(At(a.out[0], i));
      image.Launch("deform_pixel_grads", wide, c.channels * c.h * c.w, &args);
    }
    if (weights) {
      image.Columns(i, columns);
      gpu_library::Epilogue tail;
      if (i > 0) tail.addend = sum;
      image.Multiply(by_weight, At(og, i), columns, sum, tail);
    }
  }
  if (weights && wide != og.dtype) gpu_library::ConvertOnDevice(a.run, sum, wide, a.out[c.weight()].dptr, og.dtype, weight.Size());
}

}  // namespace nn
}  // namespace mxnet
