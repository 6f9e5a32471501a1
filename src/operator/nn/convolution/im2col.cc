// im2col and col2im: the windows that a convolution looks at as columns of a matrix, and the sum of
// such columns back into an image.
#include <algorithm>
#include <cstring>
#include <vector>

#include "operator/nn/common/backward_shape.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/common/window.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {

struct Im2colParam : public Parameter<Im2colParam> {
  Shape kernel, stride, dilate, pad;
  MXNET_DECLARE_PARAM(Im2colParam) {
    MXNET_FIELD(kernel).describe("Window: (w,), (h, w) or (d, h, w).");
    MXNET_FIELD(stride).set_default(Shape()).describe("Step of the window; 1 in every dimension when not given.");
    MXNET_FIELD(dilate).set_default(Shape()).describe("Distance between the window's elements; 1 when not given.");
    MXNET_FIELD(pad).set_default(Shape()).describe("Zeros put on both sides; 0 when not given.");
  }
};
MXNET_REGISTER_PARAM(Im2colParam);

struct Col2imParam : public Parameter<Col2imParam> {
  Shape output_size, kernel, stride, dilate, pad;
  MXNET_DECLARE_PARAM(Col2imParam) {
    MXNET_FIELD(output_size).describe("Spatial shape of the image: (w,), (h, w) or (d, h, w).");
    MXNET_FIELD(kernel).describe("Window: (w,), (h, w) or (d, h, w).");
    MXNET_FIELD(stride).set_default(Shape()).describe("Step of the window; 1 in every dimension when not given.");
    MXNET_FIELD(dilate).set_default(Shape()).describe("Distance between the window's elements; 1 when not given.");
    MXNET_FIELD(pad).set_default(Shape()).describe("Zeros put on both sides; 0 when not given.");
  }
};
MXNET_REGISTER_PARAM(Col2imParam);

namespace {

// Of volumes: images of fewer dimensions have sizes of 1 in front.
struct Windows {
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, dilate[3] = {1, 1, 1}, pad[3] = {0, 0, 0};
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t positions() const { return out[0] * out[1] * out[2]; }
  int64_t pixels() const { return in[0] * in[1] * in[2]; }
};

// `sizes`: the spatial dimensions of the image, none of them unknown.
template <typename P>
Windows WindowsOf(const Attrs& attrs, const P& p, const Shape& sizes) {
  Windows w;
  const int nd = p.kernel.ndim(), shift = 3 - nd;
  for (int i = 0; i < nd; ++i) {
    const int at = i + shift;
    w.in[at] = sizes[i], w.kernel[at] = p.kernel[i];
    w.stride[at] = Or(p.stride, i, 1), w.dilate[at] = Or(p.dilate, i, 1), w.pad[at] = Or(p.pad, i, 0);
    const int64_t room = w.in[at] + 2 * w.pad[at] - (w.kernel[at] - 1) * w.dilate[at] - 1;
    MXNET_CHECK_KIND(room >= 0, Value) << Named(attrs) << "kernel " << p.kernel << " exceeds images of shape " << sizes
                                       << " with their padding in spatial dimension " << i;
    w.out[at] = room / w.stride[at] + 1;
  }
  return w;
}

Shape Spatial(const Shape& image) { return Shape(image.begin() + 2, image.ndim() - 2); }

int64_t Product(const Attrs& attrs, const Shape& sizes) {
  int64_t all = 1;
  for (int64_t s : sizes) MXNET_CHECK_KIND(!__builtin_mul_overflow(all, s, &all), Value) << Named(attrs) << "the result is too large";
  return all;
}

// The matrices (batch, channels * taps, positions) of images of that shape, which may be unknown in
// part.
template <typename P>
Shape ColumnsShape(const Attrs& attrs, const P& p, const Shape& image) {
  Shape columns(3);
  columns[0] = image[0];
  if (image[1] >= 0) columns[1] = Product(attrs, Shape{image[1], Product(attrs, p.kernel)});
  const Shape sizes = Spatial(image);
  if (!sizes.known()) return columns;
  const Windows w = WindowsOf(attrs, p, sizes);
  columns[2] = Product(attrs, Shape{w.out[0], w.out[1], w.out[2]});
  return columns;
}

bool Im2colShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<Im2colParam>();
  CheckWindow(attrs, p.kernel, p.stride, p.dilate, p.pad);
  const int nd = p.kernel.ndim();
  Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(data.ndim() == nd + 2, Value) << Named(attrs) << "data has shape " << data << "; with kernel " << p.kernel
                                                 << " it needs " << nd + 2 << " dimensions: (batch, channels, spatial...)";
  AssignShape(attrs, "output", &(*out)[0], ColumnsShape(attrs, p, data));
  if (data[0] < 0) data[0] = (*out)[0][0];
  const int64_t taps = Product(attrs, p.kernel);
  if (data[1] < 0 && (*out)[0][1] >= 0 && (*out)[0][1] % taps == 0) data[1] = (*out)[0][1] / taps;
  return data.known();
}

bool Col2imShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<Col2imParam>();
  CheckWindow(attrs, p.kernel, p.stride, p.dilate, p.pad);
  const int nd = p.kernel.ndim();
  MXNET_CHECK_KIND(p.output_size.ndim() == nd, Value)
      << Named(attrs) << "output_size " << p.output_size << "; kernel " << p.kernel << " needs " << nd << " numbers";
  for (int64_t s : p.output_size)
    MXNET_CHECK_KIND(s >= 1 && s < (int64_t{1} << 31), Value)
        << Named(attrs) << "output_size " << p.output_size << "; every number must be at least 1";
  Shape image(nd + 2);
  for (int i = 0; i < nd; ++i) image[i + 2] = p.output_size[i];
  Shape& data = (*in)[0];
  const int64_t taps = Product(attrs, p.kernel);
  if (data.ndim_known()) {
    MXNET_CHECK_KIND(data.ndim() == 3, Value) << Named(attrs) << "data has shape " << data
                                              << "; (batch, channels * elements of the kernel, positions) is needed";
    MXNET_CHECK_KIND(data[1] < 0 || data[1] % taps == 0, Value)
        << Named(attrs) << "data has shape " << data << "; its dimension 1 must be a multiple of the " << taps << " elements of kernel "
        << p.kernel;
    image[0] = data[0];
    if (data[1] >= 0) image[1] = data[1] / taps;
  }
  AssignShape(attrs, "output", &(*out)[0], image);
  AssignShape(attrs, "data", &data, ColumnsShape(attrs, p, (*out)[0]));
  return data.known();
}

// f(place in the image, place among the columns, length) for the runs of positions of one tap that
// lie in the image; `gap(place among the columns, length)` for the others. Neighbours of a run are
// stride[2] apart in the image.
template <typename F, typename G>
inline void EachRun(const Windows& w, int64_t tap, F&& f, G&& gap) {
  const int64_t k[3] = {tap / (w.kernel[1] * w.kernel[2]), tap / w.kernel[2] % w.kernel[1], tap % w.kernel[2]};
  int64_t first[3];
  for (int i = 0; i < 3; ++i) first[i] = k[i] * w.dilate[i] - w.pad[i];
  const int64_t begin = std::min(w.out[2], first[2] >= 0 ? int64_t{0} : (-first[2] + w.stride[2] - 1) / w.stride[2]);
  const int64_t end = std::max(begin, first[2] >= w.in[2] ? int64_t{0} : std::min(w.out[2], (w.in[2] - 1 - first[2]) / w.stride[2] + 1));
  int64_t at = 0;
  for (int64_t d = 0; d < w.out[0]; ++d)
    for (int64_t h = 0; h < w.out[1]; ++h, at += w.out[2]) {
      const int64_t z = d * w.stride[0] + first[0], y = h * w.stride[1] + first[1];
      if (z < 0 || z >= w.in[0] || y < 0 || y >= w.in[1]) {
        gap(at, w.out[2]);
        continue;
      }
      if (begin > 0) gap(at, begin);
      if (end > begin) f((z * w.in[1] + y) * w.in[2] + begin * w.stride[2] + first[2], at + begin, end - begin);
      if (end < w.out[2]) gap(at + end, w.out[2] - end);
    }
}

// Where small images have their columns' elements. Runs are short there, and a list that all planes
// share is faster than finding them again.
struct Places {
  struct Place {
    int32_t column, pixel;
  };
  std::vector<Place> inside;
  std::vector<int32_t> outside;  // columns with padding

  static bool Suit(const Windows& w, int64_t planes) { return w.out[2] < 24 && w.taps() * w.positions() <= 8192 && planes >= 8; }
  explicit Places(const Windows& w) {
    const int64_t positions = w.positions(), step = w.stride[2];
    for (int64_t t = 0; t < w.taps(); ++t) {
      const int64_t base = t * positions;
      const auto run = [&](int64_t x, int64_t at, int64_t n) {
        for (int64_t j = 0; j < n; ++j) inside.push_back({static_cast<int32_t>(base + at + j), static_cast<int32_t>(x + j * step)});
      };
      EachRun(w, t, run, [&](int64_t at, int64_t n) {
        for (int64_t j = 0; j < n; ++j) outside.push_back(static_cast<int32_t>(base + at + j));
      });
    }
  }
};

template <typename T>
void ColumnsOfSmall(const Windows& w, int64_t planes, const T* image, T* columns) {
  const Places places(w);
  const int64_t size = w.taps() * w.positions(), pixels = w.pixels();
  ParallelFor(planes, std::max<int64_t>(1, 32768 / size), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const T* from = image + i * pixels;
      T* to = columns + i * size;
      for (const Places::Place& p : places.inside) to[p.column] = from[p.pixel];
      for (int32_t c : places.outside) to[c] = T(0);
    }
  });
}

template <typename T>
void SumColumnsOfSmall(const Windows& w, int64_t planes, const T* columns, T* image) {
  const Places places(w);
  const int64_t size = w.taps() * w.positions(), pixels = w.pixels();
  ParallelFor(planes, std::max<int64_t>(1, 32768 / size), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const T* from = columns + i * size;
      T* to = image + i * pixels;
      std::fill_n(to, pixels, T(0));
      for (const Places::Place& p : places.inside) to[p.pixel] += from[p.column];
    }
  });
}

template <typename T>  // an unsigned number of the elements' size
void Columns(const Windows& w, int64_t planes, const T* image, T* columns) {
  if (Places::Suit(w, planes)) return ColumnsOfSmall(w, planes, image, columns);
  const int64_t taps = w.taps(), positions = w.positions(), pixels = w.pixels(), step = w.stride[2];
  ParallelFor(planes * taps, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, positions)), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const T* from = image + i / taps * pixels;
      T* to = columns + i * positions;
      auto run = [&](int64_t x, int64_t at, int64_t n) {
        if (step == 1)
          std::memcpy(to + at, from + x, static_cast<size_t>(n) * sizeof(T));
        else
          for (int64_t j = 0; j < n; ++j) to[at + j] = from[x + j * step];
      };
      EachRun(w, i % taps, run, [&](int64_t at, int64_t n) { std::fill_n(to + at, n, T(0)); });
    }
  });
}

template <typename T>
void SumColumns(const Windows& w, int64_t planes, const T* columns, T* image) {
  if (Places::Suit(w, planes)) return SumColumnsOfSmall(w, planes, columns, image);
  const int64_t taps = w.taps(), positions = w.positions(), pixels = w.pixels(), step = w.stride[2];
  ParallelFor(planes, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, positions * taps)), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      T* to = image + i * pixels;
      std::fill_n(to, pixels, T(0));
      for (int64_t t = 0; t < taps; ++t) {
        const T* from = columns + (i * taps + t) * positions;
        auto run = [&](int64_t x, int64_t at, int64_t n) {
          if (step == 1)
            for (int64_t j = 0; j < n; ++j) to[x + j] += from[at + j];
          else
            for (int64_t j = 0; j < n; ++j) to[x + j * step] += from[at + j];
        };
        EachRun(w, t, run, [](int64_t, int64_t) {});
      }
    }
  });
}

void OnDevice(const KernelArgs& a, const Windows& w, const char* kernel, const TBlob& image, const TBlob& columns, const TBlob& result) {
  rtc::Arguments args;
  args.Add(image.dptr).Add(columns.dptr);
  for (const auto* sizes : {&w.in, &w.out, &w.kernel, &w.stride, &w.dilate, &w.pad})
    for (int64_t s : *sizes) args.Add(s);
  rtc::LaunchItems(a.run, {"operator/nn/convolution/gpu_im2col.cuh", kernel, {image.dtype}}, result.Size(), &args);
}

template <typename P>
void ToColumns(KernelArgs& a, const TBlob& image, const TBlob& columns) {
  if (!Wanted(a, 0) || columns.Size() == 0) return;
  const Windows w = WindowsOf(*a.attrs, a.param<P>(), Spatial(image.shape));
  if (a.run.ctx.is_gpu()) return OnDevice(a, w, "image_to_columns", image, columns, columns);
  const int64_t planes = image.shape[0] * image.shape[1];
  if (DTypeSize(image.dtype) == 2) return Columns(w, planes, image.data<uint16_t>(), columns.data<uint16_t>());
  if (DTypeSize(image.dtype) == 4) return Columns(w, planes, image.data<uint32_t>(), columns.data<uint32_t>());
  Columns(w, planes, image.data<uint64_t>(), columns.data<uint64_t>());
}

template <typename P>
void ToImage(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const Windows w = WindowsOf(*args.attrs, args.param<P>(), Spatial(args.out[0].shape));
  if (args.run.ctx.is_gpu()) return OnDevice(args, w, "columns_to_image", args.out[0], args.in[0], args.out[0]);
  RunReal(args, [&](KernelArgs& a, auto number) {
    using T = decltype(number);
    const Shape& image = a.out[0].shape;
    SumColumns(w, image[0] * image[1], a.in[0].data<T>(), a.out[0].data<T>());
  });
}

// Both are linear, and each is the other's transpose.
GradientFn Transposed(const char* name) {
  return [name](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
    std::vector<NodeEntry> grads(node->inputs.size());
    grads[0] = NodeEntry{MakeNodeLike(name, *node, {ograds[0]}), 0, 0};
    return grads;
  };
}

MXNET_REGISTER_OP(im2col)
    .describe(
        "The windows of a convolution as columns: convolution is then a product of matrices.\n\n"
        "data has shape (batch, channels, spatial...) with 1, 2 or 3 spatial dimensions. The result has shape (batch, channels * elements "
        "of\n"
        "the kernel, positions): column p holds what the window covers at the p-th position in row-major order, zeros where it hangs over "
        "the\n"
        "border. float16, bfloat16, float32 and float64. col2im is its transpose.")
    .set_param<Im2colParam>()
    .set_inputs({"data"})
    .set_infer_shape(Im2colShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(BackwardNode("_backward_im2col", kGradInputs))
    .set_kernel([](KernelArgs& a) { ToColumns<Im2colParam>(a, a.in[0], a.out[0]); });

MXNET_REGISTER_OP(_backward_im2col)
    .describe("Gradient of im2col with respect to data.")
    .set_param<Im2colParam>()
    .set_inputs({"ograd", "data"})
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(1)
    .set_outputs({"data_grad"})
    .set_infer_shape(BackwardShape(Im2colShape))
    .set_gradient(Transposed("im2col"))
    .set_kernel(ToImage<Im2colParam>);

MXNET_REGISTER_OP(col2im)
    .describe(
        "Sums columns, as im2col makes them, into images of shape (batch, channels, output_size...).\n\n"
        "data has shape (batch, channels * elements of the kernel, positions). Each of its elements is added to the pixel that im2col with "
        "the\n"
        "same kernel, stride, dilate and pad would have read there, and dropped where that lies in the padding. float16, bfloat16, "
        "float32,\n"
        "float64; sums of 16-bit numbers are rounded once.")
    .set_param<Col2imParam>()
    .set_inputs({"data"})
    .set_infer_shape(Col2imShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(BackwardNode("_backward_col2im", kGradInputs))
    .set_kernel(ToImage<Col2imParam>);

MXNET_REGISTER_OP(_backward_col2im)
    .describe("Gradient of col2im with respect to data.")
    .set_param<Col2imParam>()
    .set_inputs({"ograd", "data"})
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(1)
    .set_outputs({"data_grad"})
    .set_infer_shape(BackwardShape(Col2imShape))
    .set_gradient(Transposed("col2im"))
    .set_kernel([](KernelArgs& a) { ToColumns<Col2imParam>(a, a.in[0], a.out[0]); });

}  // namespace
}  // namespace nn
}  // namespace mxnet
