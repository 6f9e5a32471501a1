#include "operator/random/density_gpu.h"

#include <algorithm>
#include <string>

#include "operator/matrix/move.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

const char* const kFile = "operator/random/density.cuh";

const char* NameOf(Density kind) {
  switch (kind) {
    case Density::kUniform: return "UniformDensity";
    case Density::kNormal: return "NormalDensity";
    case Density::kGamma: return "GammaDensity";
    case Density::kExponential: return "ExponentialDensity";
    case Density::kPoisson: return "PoissonDensity";
    case Density::kNegativeBinomial: return "NegativeBinomialDensity";
    default: return "GeneralizedNegativeBinomialDensity";
  }
}

const void* Output(const KernelArgs& args, int i) { return args.req[i] == OpReq::kNull ? nullptr : args.out[i].dptr; }

void ZeroOutputs(KernelArgs& args) {
  for (int i = 0; i < static_cast<int>(args.out.size()); ++i)
    if (Output(args, i)) ZeroBytes(args.run, args.out[i].dptr, static_cast<int64_t>(args.out[i].Bytes()));
}

double* Doubles(KernelArgs& args, int64_t n) {
  return static_cast<double*>(args.workspace(static_cast<size_t>(std::max<int64_t>(n, 1)) * sizeof(double)));
}

/* Logarithm of the normalizing constant and digamma of the sum, of each row of alpha. */
const double* DirichletConstants(KernelArgs& args, const TBlob& alpha, int64_t k, int64_t rows) {
  double* const constants = Doubles(args, 2 * rows);
  rtc::Arguments a;
  a.Add(alpha.dptr).Add(constants).Add(k);
  rtc::LaunchItems(args.run, {kFile, "dirichlet_constants", {alpha.dtype}}, rows, &a);
  return constants;
}

}  // namespace

void PdfOnDevice(KernelArgs& args, Density kind, bool is_log) {
  const TBlob &sample = args.in[0], &first = args.in[1];
  rtc::Arguments a;
  a.Add(sample.dptr).Add(first.dptr).Add(args.in.size() > 2 ? args.in[2].dptr : nullptr).Add(args.out[0].dptr);
  a.Add(sample.Size() / first.Size());
  const std::string name = std::string("pdf_") + NameOf(kind);
  rtc::LaunchItems(args.run, {kFile, "density", {sample.dtype}, {is_log}, {NameOf(kind)}, name.c_str()}, sample.Size(), &a);
}

void PdfBackwardOnDevice(KernelArgs& args, Density kind, bool is_log) {
  const TBlob &sample = args.in[1], &first = args.in[2];
  if (sample.Size() == 0) return ZeroOutputs(args);
  constexpr int64_t kChunk = 8192, kFew = 128;  // samples of a block of threads; few enough for one thread
  const bool two = args.in.size() > 4;
  const int64_t rows = first.Size(), each = sample.Size() / rows, chunks = (each + kChunk - 1) / kChunk;
  double* const sums = each > kFew ? Doubles(args, 2 * rows * chunks) : nullptr;
  rtc::Arguments a;
  a.Add(args.in[0].dptr).Add(sample.dptr).Add(first.dptr).Add(two ? args.in[3].dptr : nullptr).Add(args.in[args.in.size() - 1].dptr);
  a.Add(Output(args, 0)).Add(Output(args, 1)).Add(two ? Output(args, 2) : nullptr).Add(sums).Add(each).Add(chunks).Add(kChunk);
  const std::string name = std::string(sums ? "pdf_gradient_" : "pdf_gradient_few_") + NameOf(kind);
  const rtc::LoopKernel kernel{kFile,       sums ? "density_gradient" : "density_gradient_few", {sample.dtype}, {is_log}, {NameOf(kind)},
                               name.c_str()};
  if (!sums) return rtc::LaunchItems(args.run, kernel, rows, &a);
  rtc::LaunchRows(args.run, kernel, rows * chunks, &a);
  rtc::Arguments s;
  s.Add(sums).Add(Output(args, 1)).Add(two ? Output(args, 2) : nullptr).Add(chunks);
  rtc::LaunchItems(args.run, {kFile, "density_sums", {sample.dtype}}, rows, &s);
}

void DirichletOnDevice(KernelArgs& args, bool is_log) {
  const TBlob &sample = args.in[0], &alpha = args.in[1], &out = args.out[0];
  const int64_t k = alpha.shape[alpha.shape.ndim() - 1], rows = alpha.Size() / k;
  rtc::Arguments a;
  a.Add(sample.dptr).Add(alpha.dptr).Add(DirichletConstants(args, alpha, k, rows)).Add(out.dptr).Add(k).Add(out.Size() / rows);
  rtc::LaunchItems(args.run, {kFile, "dirichlet", {sample.dtype}, {is_log}}, out.Size(), &a);
}

void DirichletBackwardOnDevice(KernelArgs& args, bool is_log) {
  const TBlob &og = args.in[0], &sample = args.in[1], &alpha = args.in[2], &y = args.in[3];
  if (og.Size() == 0) return ZeroOutputs(args);
  const int64_t k = alpha.shape[alpha.shape.ndim() - 1], rows = alpha.Size() / k, each = og.Size() / rows;
  if (Output(args, 0)) {
    rtc::Arguments a;
    a.Add(og.dptr).Add(sample.dptr).Add(alpha.dptr).Add(y.dptr).Add(args.out[0].dptr).Add(k).Add(each);
    rtc::LaunchItems(args.run, {kFile, "dirichlet_gradient_sample", {sample.dtype}, {is_log}}, sample.Size(), &a);
  }
  if (Output(args, 1)) {
    rtc::Arguments a;
    a.Add(og.dptr).Add(sample.dptr).Add(alpha.dptr).Add(y.dptr).Add(DirichletConstants(args, alpha, k, rows)).Add(args.out[1].dptr);
    a.Add(k).Add(each);
    rtc::LaunchRows(args.run, {kFile, "dirichlet_gradient_alpha", {sample.dtype}, {is_log}}, alpha.Size(), &a);
  }
}

}  // namespace mxnet
