#include "operator/nn/norm/gpu_norm.h"

#include <algorithm>
#include <cmath>

#include "operator/init/fill.h"
#include "operator/matrix/move.h"
#include "operator/nn/common/gpu_rows.h"
#include "operator/nn/common/nn_common.h"
#include "rtc/loop.h"
#include "rtc/prelude.h"

namespace mxnet {
namespace nn {
namespace {

const char* const kBatch = "operator/nn/norm/gpu_batch_norm.cuh";
const char* const kRow = "operator/nn/norm/gpu_row_norm.cuh";

const void* Pointer(const KernelArgs& a, int i) { return Wanted(a, i) ? a.out[i].dptr : nullptr; }

}  // namespace

TBlob InOrderOnDevice(KernelArgs& args, const TBlob& b, Layout like) {
  if (b.layout == like || b.shape.ndim() < 3) return b;
  TBlob copy = b;
  copy.dptr = args.workspace(std::max<size_t>(b.Bytes(), 1));
  copy.layout = like;
  ConvertLayoutOnDevice(args.run, b, copy);
  return copy;
}

// ---- rows

namespace {

void AddRow(const RowNorm& r, rtc::Arguments* args) { args->Add(r.n).Add(r.inner).Add(r.eps); }
// Register-resident rows.
// Whether all elements of an access have one parameter.
bool OneParameter(const RowNorm& r, const RegisterRows& held) {
  return r.parameter == RowNorm::kGroup || (r.parameter == RowNorm::kChannel && r.span % held.width == 0);
}
void AddRegisterParameters(const RowNorm& r, rtc::Arguments* args) {
  const rtc::FastDivisor span(std::max<int64_t>(r.span, 1));
  args->Add(r.groups).Add(r.per_group).Add(span.multiplier).Add(span.shift);
}
rtc::TemplateArguments RegisterRowsTemplate(const RowNorm& r, const RegisterRows& held, int dtype, int parameter_dtype) {
  rtc::TemplateArguments t;
  t.Type(dtype).Type(parameter_dtype).Value(r.parameter).Value(OneParameter(r, held));
  held.AddTo(&t);
  return t;
}
bool NormRegisterRows(KernelArgs& args, const RowNorm& r) {
  if (r.inner != 1) return false;
  const TBlob &x = args.in[0], &gamma = args.in[1], &beta = args.in[2];
  const bool packs = r.parameter == RowNorm::kElement;  // of parameters
  const void* y = Pointer(args, 0);
  const RegisterRows held = RegisterRowsFor(
      r.n, 32, {{x.dptr, x.dtype}, {y, x.dtype}, {packs ? gamma.dptr : nullptr, gamma.dtype}, {packs ? beta.dptr : nullptr, gamma.dtype}});
  if (!held) return false;
  const rtc::Kernel& kernel = rtc::FindKernel(kRow, "layer_norm", RegisterRowsTemplate(r, held, x.dtype, gamma.dtype), held.threads());
  rtc::Arguments a;
  a.Add(x.dptr).Add(gamma.dptr).Add(beta.dptr).Add(y).Add(Pointer(args, 1)).Add(Pointer(args, 2)).Add(r.rows).Add(r.n).Add(r.eps);
  AddRegisterParameters(r, &a);
  rtc::Launch(kernel, RegisterRowsGrid(r.rows, held), &a, args.run);
  return true;
}
bool NormRegisterRowsBackward(KernelArgs& args, const RowNorm& r, void* moments) {
  if (r.inner != 1) return false;
  const TBlob &g = args.in[0], &x = args.in[1], &gamma = args.in[2];
  const void* dx = Pointer(args, 0);
  const RegisterRows held = RegisterRowsFor(
      r.n, 16,
      {{x.dptr, x.dtype}, {g.dptr, x.dtype}, {dx, x.dtype}, {r.parameter == RowNorm::kElement ? gamma.dptr : nullptr, gamma.dtype}});
  if (!held) return false;
  const rtc::Kernel& kernel =
      rtc::FindKernel(kRow, "layer_norm_backward", RegisterRowsTemplate(r, held, x.dtype, gamma.dtype), held.threads());
  rtc::Arguments a;
  a.Add(g.dptr).Add(x.dptr).Add(gamma.dptr).Add(dx).Add(moments).Add(r.rows).Add(r.n).Add(r.eps);
  AddRegisterParameters(r, &a);
  rtc::Launch(kernel, RegisterRowsGrid(r.rows, held), &a, args.run);
  return true;
}

// Longer rows whose channels or groups have a parameter each: sums over a row as over a channel,
// and an array of units, which have one parameter and so one set of coefficients.
ChannelView UnitsOf(const RowNorm& r) {
  const int64_t each = r.parameter == RowNorm::kChannel ? r.per_group : 1;
  return {1, r.rows * each, r.n / each};
}
// Units of a row, and rows that take turns with the parameters.
void AddUnits(const RowNorm& r, rtc::Arguments* args) {
  args->Add(r.parameter == RowNorm::kChannel ? r.per_group : int64_t{1}).Add(r.groups);
}

// Mean and 1 / deviation of each row, in A; the layer's own results where they are wanted.
void UnitMoments(KernelArgs& args, const RowNorm& r, const TBlob& x, void* moments, const void* mean, const void* deviation) {
  rtc::Arguments own;
  own.Add(moments).Add(mean).Add(deviation).Add(r.eps);
  ChannelSums(args, {1, r.rows, r.n}, {kRow, "row_moments", rtc::TypeText("RowMomentsOfChannels", {x.dtype})}, x.dtype, {x.dptr}, own);
}
void* NewMoments(KernelArgs& args, const RowNorm& r, int dtype) {
  return args.workspace(static_cast<size_t>(std::max<int64_t>(2 * r.rows, 1)) * (dtype == kFloat64 ? sizeof(double) : sizeof(float)));
}

void NormUnits(KernelArgs& args, const RowNorm& r) {
  const TBlob &x = args.in[0], &gamma = args.in[1];
  void* moments = NewMoments(args, r, x.dtype);
  UnitMoments(args, r, x, moments, Pointer(args, 1), Pointer(args, 2));
  if (!Wanted(args, 0)) return;
  const ChannelView units = UnitsOf(r);
  void* coef = NewCoefficients(args, units, x.dtype, 2);
  rtc::Arguments a;
  a.Add(gamma.dptr).Add(args.in[2].dptr).Add(moments).Add(coef);
  AddUnits(r, &a);
  rtc::LaunchItems(args.run, {kRow, "row_norm_coefficients", {x.dtype, gamma.dtype}}, units.channels, &a);
  MapOnDevice(args.run, units,
              {{kRow, "row_norm_scale", rtc::TypeText("RowNormScale", {x.dtype})}, x.dtype, {x.dptr}, coef, {args.out[0].dptr}});
}

// The gradient of the data; moments are written too.
void NormUnitsBackward(KernelArgs& args, const RowNorm& r, void* moments) {
  const TBlob &g = args.in[0], &x = args.in[1], &gamma = args.in[2];
  UnitMoments(args, r, x, moments, nullptr, nullptr);
  if (!Wanted(args, 0)) return;
  void* sums = NewMoments(args, r, x.dtype);  // over a row, of gamma g and of gamma g times the scaled data, divided by its length
  const bool channel = r.parameter == RowNorm::kChannel, large = r.n >= kLargeCount;
  rtc::Arguments own;
  own.Add(gamma.dptr).Add(moments).Add(sums).Add(r.groups).Add(r.per_group);
  AddDivisor(std::max<int64_t>(r.span, 1), large, &own);
  ChannelSums(args, {1, r.rows, r.n}, {kRow, "row_norm_sums", rtc::TypeText("RowNormSums", {x.dtype, gamma.dtype}, {channel, large})},
              x.dtype, {g.dptr, x.dptr}, own);
  const ChannelView units = UnitsOf(r);
  void* coef = NewCoefficients(args, units, x.dtype, 4);
  rtc::Arguments a;
  a.Add(gamma.dptr).Add(moments).Add(sums).Add(coef);
  AddUnits(r, &a);
  rtc::LaunchItems(args.run, {kRow, "row_norm_gradient_coefficients", {x.dtype, gamma.dtype}}, units.channels, &a);
  MapOnDevice(
      args.run, units,
      {{kRow, "row_norm_gradient", rtc::TypeText("RowNormGradient", {x.dtype})}, x.dtype, {g.dptr, x.dptr}, coef, {args.out[0].dptr}});
}

}  // namespace

void RowNormOnDevice(KernelArgs& args, const RowNorm& r) {
  if (r.rows == 0 || NormRegisterRows(args, r)) return;
  if (r.parameter != RowNorm::kElement) return NormUnits(args, r);
  rtc::Arguments a;
  a.Add(args.in[0].dptr).Add(args.in[1].dptr).Add(args.in[2].dptr).Add(Pointer(args, 0)).Add(Pointer(args, 1)).Add(Pointer(args, 2));
  AddRow(r, &a);
  rtc::LaunchRows(args.run, {kRow, "row_norm", {args.in[0].dtype, args.in[1].dtype}}, r.rows, &a);
}

void RowNormBackwardOnDevice(KernelArgs& args, const RowNorm& r) {
  const int dtype = args.in[1].dtype;
  const int stats = dtype == kFloat64 ? int{kFloat64} : int{kFloat32};
  const bool sums = Wanted(args, 1) || Wanted(args, 2);
  const bool has_units = r.parameter != RowNorm::kElement;
  void* moments = sums || has_units ? NewMoments(args, r, dtype) : nullptr;  // mean and 1 / deviation of each row
  const bool done = r.rows == 0 || NormRegisterRowsBackward(args, r, moments);
  if (!done && has_units) {
    NormUnitsBackward(args, r, moments);
  } else if (!done) {
    rtc::Arguments a;
    a.Add(args.in[0].dptr).Add(args.in[1].dptr).Add(args.in[2].dptr).Add(Pointer(args, 0)).Add(moments);
    AddRow(r, &a);
    rtc::LaunchRows(args.run, {kRow, "row_norm_backward", {dtype, args.in[2].dtype}}, r.rows, &a);
  }
  if (!sums) return;
  ChannelView view{r.inner > 0 ? r.rows / r.inner : 0, r.n, std::max<int64_t>(r.inner, 1)};
  if (r.parameter == RowNorm::kChannel) view = {r.rows / r.groups, r.groups * r.per_group, r.span};
  if (r.parameter == RowNorm::kGroup) view = {r.rows / r.groups, r.groups, r.n};
  rtc::Arguments own;
  own.Add(moments).Add(Pointer(args, 1)).Add(Pointer(args, 2)).Add(r.groups).Add(r.per_group);
  ChannelSums(args, view,
              {kRow, "row_norm_parameters", rtc::TypeText("RowNormParameters", {dtype, args.in[2].dtype, stats}, {r.parameter})}, dtype,
              {args.in[0].dptr, args.in[1].dptr}, own);
}

// ---- batches

namespace {

// args: with an addend as input 3.
void ScaleOnDevice(KernelArgs& args, const BatchNormSettings& s, const TBlob& x, const void* coef) {
  MapCall call{
      {kBatch, "batch_norm_scale", rtc::TypeText("BatchNormScale", {x.dtype}, {s.relu})}, x.dtype, {x.dptr}, coef, {args.out[0].dptr}};
  if (s.sum) {
    call.kernel = {kBatch, "batch_norm_add_scale", rtc::TypeText("BatchNormAddScale", {x.dtype})};
    call.marks = s.sum;
    call.arrays.push_back(InOrderOnDevice(args, args.in[3], args.out[0].layout).dptr);
  }
  MapOnDevice(args.run, s.view, call);
}

// BatchNormTail of gpu_batch_norm.cuh: what stands behind the norm.
int TailOf(const BatchNormSettings& s) { return s.sum ? 2 : s.relu ? 1 : 0; }

}  // namespace

void BatchNormOnDevice(KernelArgs& args, const BatchNormSettings& s) {
  const TBlob x = InOrderOnDevice(args, args.in[0], args.out[0].layout);
  const int param = args.in[1].dtype, moving = s.sum ? 4 : 3;
  const size_t bytes = static_cast<size_t>(std::max<int64_t>(s.view.channels, 1)) * DTypeSize(param);
  void *mean = Wanted(args, 1) ? args.out[1].dptr : args.workspace(bytes),
       *inv = Wanted(args, 2) ? args.out[2].dptr : args.workspace(bytes);
  void* coef = Wanted(args, 0) ? NewCoefficients(args, s.view, x.dtype, 2) : nullptr;
  rtc::Arguments own;
  own.Add(args.in[1].dptr)
      .Add(args.in[2].dptr)
      .Add(args.in[moving].dptr)
      .Add(args.in[moving + 1].dptr)
      .Add(mean)
      .Add(inv)
      .Add(coef)
      .Add(s.eps)
      .Add(s.momentum);
  if (s.batch) {
    ChannelSums(args, s.view, {kBatch, "batch_norm", rtc::TypeText("BatchNormMoments", {x.dtype, param}, {s.fix_gamma})}, x.dtype, {x.dptr},
                own);
  } else {
    rtc::Arguments all;
    all.Add(x.dptr).Append(own);
    rtc::LaunchItems(args.run, {kBatch, "batch_norm_moving", {x.dtype, param}, {s.fix_gamma}}, s.view.channels, &all);
  }
  if (Wanted(args, 0)) ScaleOnDevice(args, s, x, coef);
}

void BatchNormRecomputeOnGpu(KernelArgs& args, const BatchNormSettings& s) {
  const TBlob x = InOrderOnDevice(args, args.in[0], args.out[0].layout);
  void* coef = NewCoefficients(args, s.view, x.dtype, 2);
  const int mean = s.sum ? 4 : 3;
  rtc::Arguments own;
  own.Add(args.in[1].dptr).Add(args.in[2].dptr).Add(args.in[mean].dptr).Add(args.in[mean + 1].dptr).Add(coef);
  rtc::LaunchItems(args.run, {kBatch, "batch_norm_coefficients", {x.dtype, args.in[1].dtype}, {s.fix_gamma}}, s.view.channels, &own);
  ScaleOnDevice(args, s, x, coef);
}

void BatchNormBackwardOnDevice(KernelArgs& args, const BatchNormSettings& s) {
  const int data = s.sum ? 2 : 1;  // input
  const TBlob g = InOrderOnDevice(args, args.in[0], args.out[0].layout), x = InOrderOnDevice(args, args.in[data], args.out[0].layout);
  const int param = args.in[data + 1].dtype, tail = TailOf(s);
  void* coef = Wanted(args, 0) ? NewCoefficients(args, s.view, x.dtype, 5) : nullptr;
  rtc::Arguments own;
  own.Add(args.in[data + 1].dptr)
      .Add(s.relu ? args.in[7].dptr : nullptr)
      .Add(args.in[data + (s.batch ? 4 : 2)].dptr)
      .Add(args.in[data + (s.batch ? 5 : 3)].dptr)
      .Add(Pointer(args, 1))
      .Add(Pointer(args, 2))
      .Add(coef)
      .Add(s.eps);
  if (s.sum) AddMarks(*s.sum, &own);
  if (s.batch || Wanted(args, 1) || Wanted(args, 2)) {
    const std::string what = rtc::TypeText("BatchNormGradientSums", {x.dtype, param}, {s.fix_gamma, s.batch, tail});
    ChannelSums(args, s.view, {kBatch, "batch_norm_backward", what}, x.dtype, {g.dptr, x.dptr}, own);
  } else {
    rtc::Arguments all;
    all.Add(g.dptr).Add(x.dptr).Append(own);
    rtc::LaunchItems(args.run, {kBatch, "batch_norm_constants", {x.dtype, param}, {s.fix_gamma, tail}}, s.view.channels, &all);
  }
  const bool addend = s.sum && Wanted(args, 3), wanted = Wanted(args, 0);
  if (!wanted && !addend) return;
  MapCall call{{kBatch, s.sum ? "batch_norm_add_gradient" : "batch_norm_gradient",
                rtc::TypeText("BatchNormGradient", {x.dtype}, {s.batch, tail, addend, wanted})},
               x.dtype,
               {g.dptr},
               coef,
               {},
               s.sum};
  TBlob masked_gradient;  // of the addend, as the other results lie
  if (addend) {
    masked_gradient = args.out[3];
    masked_gradient.layout = args.out[0].layout;
    if (args.out[3].layout != args.out[0].layout) masked_gradient.dptr = args.workspace(std::max<size_t>(masked_gradient.Bytes(), 1));
    call.results.push_back(masked_gradient.dptr);
  }
  if (wanted) {
    call.arrays.push_back(x.dptr);
    call.results.push_back(args.out[0].dptr);
  }
  MapOnDevice(args.run, s.view, call);
  if (addend && masked_gradient.dptr != args.out[3].dptr) ConvertLayoutOnDevice(args.run, masked_gradient, args.out[3]);
}

void NoStatistics(KernelArgs& args, int count) {
  for (int i = 1; i <= std::min(count, args.out.size() - 1); ++i)
    if (Wanted(args, i) && args.out[i].Size() != 0) FillValue(args.run, args.out[i], std::nan(""));
}

}  // namespace nn
}  // namespace mxnet
