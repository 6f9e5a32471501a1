// Probability densities of samples, with gradients: _random_pdf_*.
#include "operator/random/density.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "operator/random/density_gpu.h"
#include "operator/random/density_second.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"

namespace mxnet {
namespace {

struct PdfParam : public Parameter<PdfParam> {
  bool is_log;
  MXNET_DECLARE_PARAM(PdfParam) {
    MXNET_FIELD(is_log).set_default(false).describe("Whether the result is the natural logarithm of the density.");
  }
};
MXNET_REGISTER_PARAM(PdfParam);

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/* Element `first` and those behind it. */
void Read(const TBlob& from, int64_t first, int64_t n, double* to) {
  ConvertElements(static_cast<const char*>(from.dptr) + first * static_cast<int64_t>(DTypeSize(from.dtype)), from.dtype, to, kFloat64, n);
}
void Write(const double* from, const TBlob& to, int64_t first, int64_t n) {
  ConvertElements(from, kFloat64, static_cast<char*>(to.dptr) + first * static_cast<int64_t>(DTypeSize(to.dtype)), to.dtype, n);
}

bool Wanted(const KernelArgs& args, int i) { return args.req[i] != OpReq::kNull && args.out[i].dptr; }

/* The samples of `rows` parameters, `each` of every one, in pieces of at most kDensityBlock: some
 * whole rows, or a part of one. */
struct Pieces {
  int64_t rows, each, together, parts;
  Pieces(int64_t rows_, int64_t samples) : rows(rows_), each(rows_ ? samples / rows_ : 0) {
    together = each ? std::max<int64_t>(1, kDensityBlock / each) : 1;
    parts = each > kDensityBlock ? (each + kDensityBlock - 1) / kDensityBlock : 1;
  }
  int64_t count() const { return each == 0 ? 0 : parts > 1 ? rows * parts : (rows + together - 1) / together; }
};
struct Piece {
  int64_t row, rows, begin, n, each;  // each: samples of a row that are here
  Piece(const Pieces& p, int64_t i) {
    row = p.parts > 1 ? i / p.parts : i * p.together;
    rows = p.parts > 1 ? 1 : std::min(p.together, p.rows - row);
    const int64_t skipped = p.parts > 1 ? i % p.parts * kDensityBlock : 0;
    begin = row * p.each + skipped;
    each = std::min(kDensityBlock, p.each - skipped);
    n = rows * each;
  }
};

struct Block {
  double x[kDensityBlock], y[kDensityBlock], weight[kDensityBlock], first[kDensityBlock], second[kDensityBlock];
  double row_constants[kDensityNumbers * kDensityBlock], constants[kDensityNumbers * kDensityBlock], slopes[3 * kDensityBlock];
  bool zeros[kDensityNumbers] = {};  // whether constant j is 0 in all of `constants`
};

/* Constants of each element of the piece, or of its only row. */
const double* LoadConstants(Density kind, const TBlob& first, const TBlob* second, const Piece& p, Block* b) {
  Read(first, p.row, p.rows, b->first);
  if (second)
    Read(*second, p.row, p.rows, b->second);
  else
    std::fill_n(b->second, p.rows, 0.0);
  double* const made = p.each == 1 ? b->constants : b->row_constants;
  MXNET_CPU_CALL(PrepareDensity)(kind, b->first, b->second, made, p.rows);
  if (p.each == 1 || p.rows == 1) return made;
  MXNET_CPU_CALL(SpreadConstants)(b->row_constants, p.rows, p.each, b->constants, b->zeros);
  return b->constants;
}

void PdfOnCpu(KernelArgs& args, Density kind) {
  const TBlob &sample = args.in[0], &out = args.out[0];
  const TBlob* const second = args.in.size() > 2 ? &args.in[2] : nullptr;
  const bool log = args.param<PdfParam>().is_log;
  if (kind == Density::kUniform && !log) return UniformDensities(args.in[0], args.in[1], args.in[2], out);
  const Pieces pieces(args.in[1].Size(), sample.Size());
  ParallelFor(pieces.count(), 4, [&](int64_t begin, int64_t end) {
    Block b;
    for (int64_t i = begin; i < end; ++i) {
      const Piece p(pieces, i);
      const double* constants = LoadConstants(kind, args.in[1], second, p, &b);
      Read(sample, p.begin, p.n, b.x);
      MXNET_CPU_CALL(LogDensities)(kind, constants, p.rows == 1, b.x, b.y, p.n);
      if (!log) MXNET_CPU_CALL(ExpInPlace)(b.y, p.n);
      Write(b.y, out, p.begin, p.n);
    }
  });
}

/* weight * slope, where either may be 0 and the other infinite. */
double Weighed(double weight, double slope) { return weight == 0 || slope == 0 ? 0 : weight * slope; }

/* Inputs: gradient, sample, parameters, result. Sums over parts of a row go to `partial`, two per
 * piece; over whole rows to the outputs. */
void PieceOfGradient(KernelArgs& args, Density kind, const Piece& p, double* partial, Block* b) {
  const int parameters = args.in.size() - 3;
  const double* constants = LoadConstants(kind, args.in[2], parameters > 1 ? &args.in[3] : nullptr, p, b);
  Read(args.in[0], p.begin, p.n, b->weight);
  Read(args.in[1], p.begin, p.n, b->x);
  if (!args.param<PdfParam>().is_log) {
    Read(args.in[2 + parameters], p.begin, p.n, b->y);
    MXNET_CPU_CALL(Weigh)(b->weight, b->y, p.n);
  }
  MXNET_CPU_CALL(DensitySlopes)(kind, constants, p.rows == 1, b->x, b->weight, b->slopes, p.n);
  if (Wanted(args, 0)) Write(b->slopes, args.out[0], p.begin, p.n);
  for (int j = 1; j <= parameters; ++j) {
    if (!Wanted(args, j)) continue;
    const double* slope = b->slopes + j * kDensityBlock;
    for (int64_t r = 0; r < p.rows; ++r)
      (partial ? partial + j - 1 : b->first + r)[0] = p.each == 1 ? slope[r] : MXNET_CPU_CALL(SumOf)(slope + r * p.each, p.each);
    if (!partial) Write(b->first, args.out[j], p.row, p.rows);
  }
}

void PdfBackwardOnCpu(KernelArgs& args, Density kind) {
  const TBlob& sample = args.in[1];
  const int parameters = args.in.size() - 3;
  const int64_t rows = args.in[2].Size();
  const Pieces pieces(rows, sample.Size());
  if (pieces.each == 0) {
    for (int j = 0; j <= parameters; ++j)
      if (Wanted(args, j)) std::memset(args.out[j].dptr, 0, args.out[j].Bytes());
    return;
  }
  double* partial = nullptr;
  if (pieces.parts > 1) partial = static_cast<double*>(args.workspace(static_cast<size_t>(pieces.count()) * 2 * sizeof(double)));
  ParallelFor(pieces.count(), 4, [&](int64_t begin, int64_t end) {
    Block b;
    for (int64_t i = begin; i < end; ++i) PieceOfGradient(args, kind, Piece(pieces, i), partial ? partial + 2 * i : nullptr, &b);
  });
  if (!partial) return;
  for (int j = 1; j <= parameters; ++j)
    for (int64_t r = 0; r < rows && Wanted(args, j); ++r) {
      double sum = 0;
      for (int64_t i = r * pieces.parts; i < (r + 1) * pieces.parts; ++i) sum += partial[2 * i + j - 1];
      Write(&sum, args.out[j], r, 1);
    }
}

// ---- Dirichlet: the last dimension of sample and alpha is the distribution's

/* Samples of a distribution that are worked on at a time. */
int64_t SamplesTogether(int64_t length) { return std::max<int64_t>(64, 4096 / std::max<int64_t>(length, 1)); }

void DirichletOnCpu(KernelArgs& args) {
  const TBlob &sample = args.in[0], &alpha = args.in[1], &out = args.out[0];
  const int64_t k = alpha.shape[alpha.shape.ndim() - 1], rows = alpha.Size() / k, each = rows ? out.Size() / rows : 0;
  const int64_t step = SamplesTogether(k), parts = (each + step - 1) / step;
  const bool log = args.param<PdfParam>().is_log;
  ParallelFor(rows * parts, 4, [&](int64_t begin, int64_t end) {
    std::vector<double> a(static_cast<size_t>(k)), x(static_cast<size_t>(k * std::min(step, each))), y(static_cast<size_t>(step));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / parts, first = i % parts * step, n = std::min(step, each - first), at = row * each + first;
      Read(alpha, row * k, k, a.data());
      Read(sample, at * k, n * k, x.data());
      MXNET_CPU_CALL(DirichletLogs)(a.data(), k, x.data(), y.data(), n);
      if (!log) MXNET_CPU_CALL(ExpInPlace)(y.data(), n);
      Write(y.data(), out, at, n);
    }
  });
}

/* Inputs: gradient, sample, alpha, result. */
struct DirichletGradient {
  KernelArgs& args;
  int64_t k, each, step, parts;
  std::vector<double> alpha, digammas, x, logs, weight, y;

  DirichletGradient(KernelArgs& a, int64_t k_, int64_t each_, int64_t step_, int64_t parts_)
      : args(a), k(k_), each(each_), step(step_), parts(parts_) {
    for (auto* v : {&alpha, &digammas}) v->resize(static_cast<size_t>(k));
    for (auto* v : {&x, &logs}) v->resize(static_cast<size_t>(k * std::min(step, each)));
    for (auto* v : {&weight, &y}) v->resize(static_cast<size_t>(step));
  }

  /* sums[c]: the share of piece i in the gradient of alpha. */
  void Piece(int64_t i, double* sums) {
    const int64_t row = i / parts, first = i % parts * step, n = std::min(step, each - first), at = row * each + first;
    Read(args.in[2], row * k, k, alpha.data());
    double total = 0, of_total = 0;
    for (int64_t c = 0; c < k; ++c) total += alpha[c];
    MXNET_CPU_CALL(DigammaAll)(&total, &of_total, 1);
    MXNET_CPU_CALL(DigammaAll)(alpha.data(), digammas.data(), k);
    Read(args.in[0], at, n, weight.data());
    Read(args.in[1], at * k, n * k, x.data());
    Read(args.in[3], at, n, y.data());
    MXNET_CPU_CALL(LogAll)(x.data(), logs.data(), n * k);
    const bool log = args.param<PdfParam>().is_log;
    for (int64_t c = 0; c < k; ++c) {
      sums[c] = 0;
      digammas[c] = alpha[c] > 0 ? of_total - digammas[c] : std::nan("");
    }
    for (int64_t s = 0; s < n; ++s) {
      const double w = log ? (y[s] == -kInfinity ? 0 : weight[s]) : Weighed(weight[s], y[s]);
      double* const xs = x.data() + s * k;
      for (int64_t c = 0; c < k; ++c) {
        sums[c] += Weighed(w, digammas[c] + logs[s * k + c]);
        xs[c] = alpha[c] == 1 ? 0 : Weighed(w, (alpha[c] - 1) / xs[c]);
      }
    }
    if (Wanted(args, 0)) Write(x.data(), args.out[0], at * k, n * k);
  }
};

void DirichletBackwardOnCpu(KernelArgs& args) {
  const TBlob &og = args.in[0], &alpha = args.in[2];
  const int64_t k = alpha.shape[alpha.shape.ndim() - 1], rows = alpha.Size() / k, each = rows ? og.Size() / rows : 0;
  const int64_t step = SamplesTogether(k), parts = std::max<int64_t>((each + step - 1) / step, 1);
  double* sums = static_cast<double*>(args.workspace(std::max<size_t>(static_cast<size_t>(rows * parts * k) * sizeof(double), 1)));
  ParallelFor(rows * parts, 4, [&](int64_t begin, int64_t end) {
    DirichletGradient g(args, k, each, step, parts);
    for (int64_t i = begin; i < end; ++i) g.Piece(i, sums + i * k);
  });
  for (int64_t r = 0; r < rows && Wanted(args, 1); ++r) {
    double* const sum = sums + r * parts * k;
    for (int64_t i = 1; i < parts; ++i)
      for (int64_t c = 0; c < k; ++c) sum[c] += sum[i * k + c];
    Write(sum, args.out[1], r * k, k);
  }
}

// ---- records

/* The parameters have one shape, with which the samples' begins. */
void MatchParameters(const Attrs& attrs, ShapeVector* in, size_t first, size_t end, const Shape& sample) {
  for (size_t i = first + 1; i < end; ++i) {
    AssignShape(attrs, attrs.op->input_names[i].c_str(), &(*in)[i], (*in)[first]);
    AssignShape(attrs, attrs.op->input_names[first].c_str(), &(*in)[first], (*in)[i]);
  }
  const Shape& given = (*in)[first];
  if (!given.ndim_known() || !sample.ndim_known()) return;
  bool begins = given.ndim() <= sample.ndim();
  for (int d = 0; begins && d < given.ndim(); ++d) begins = given[d] < 0 || sample[d] < 0 || given[d] == sample[d];
  MXNET_CHECK_KIND(begins, Value) << "[" << attrs.op->name << "] sample has shape " << sample << ", parameters have " << given
                                  << "; accepted: the shape of the samples begins with that of the parameters";
}

bool PdfShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "sample", &(*in)[0], (*out)[0]);
  MatchParameters(attrs, in, 1, in->size(), (*in)[0]);
  return (*in)[0].known() && (*in)[1].known();
}

Shape WithoutLast(const Shape& s) { return Shape(std::vector<int64_t>(s.begin(), s.end() - 1)); }

bool DirichletShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &sample = (*in)[0], &alpha = (*in)[1];
  if (!sample.known() || !alpha.known()) return false;
  const bool fit =
      sample.ndim() > 0 && alpha.ndim() > 0 && sample[sample.ndim() - 1] == alpha[alpha.ndim() - 1] && alpha[alpha.ndim() - 1] > 0;
  MXNET_CHECK_KIND(fit, Value) << "[" << attrs.op->name << "] sample has shape " << sample << ", alpha has " << alpha
                               << "; accepted: the same last dimension, at least 1";
  ShapeVector leading{WithoutLast(sample), WithoutLast(alpha)};
  MatchParameters(attrs, &leading, 1, 2, leading[0]);
  // one density is an array of shape (1,), as every number is in programs of 1.x
  AssignShape(attrs, "output", &(*out)[0], leading[0].ndim() > 0 ? leading[0] : Shape{1});
  return true;
}

/* Outputs are like the inputs behind the gradient. */
bool BackwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  bool known = true;
  for (size_t i = 0; i < out->size(); ++i) {
    AssignShape(attrs, "output", &(*out)[i], (*in)[i + 1]);
    known = known && (*in)[i + 1].known();
  }
  return known;
}

void RegisterPdf(const std::string& name, const std::vector<std::string>& parameters, const std::string& text, InferShapeFn shape,
                 Kernel forward, Kernel backward) {
  std::vector<std::string> inputs{"sample"}, gradients{"grad_sample"}, behind{"ograd", "sample"};
  for (const std::string& p : parameters) inputs.push_back(p), gradients.push_back("grad_" + p), behind.push_back(p);
  behind.push_back("output");
  const std::string back = "_backward_pdf_" + name;
  Op::Register("_random_pdf_" + name)
      .describe(text)
      .alias("random_pdf_" + name)
      .set_param<PdfParam>()
      .set_inputs(inputs)
      .set_infer_shape(std::move(shape))
      .set_infer_type(SameType)
      .set_dtypes(dtypes::kFloats)
      .set_precision(Precision::kFull)
      .set_gradient([back](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return BackwardNode(back.c_str(), kGradInputs | kGradOutputs)(node, ograds);
      })
      .set_kernel(std::move(forward));
  Op::Register(back)
      .set_param<PdfParam>()
      .set_inputs(behind)
      .set_dtypes(dtypes::kAll)
      .set_outputs(gradients)
      .set_infer_shape(BackwardShape)
      .set_infer_type(SameType)
      .set_gradient([name](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return DensitySecondGradient(name, node->attrs->get<PdfParam>().is_log, node, ograds);
      })
      .set_kernel(std::move(backward));
}

const char kRule[] =
    "\n\nThe parameters have one shape, with which the shape of `sample` begins: each of their elements belongs to all samples behind it. "
    "The result has the shape of `sample`. float16, bfloat16, float32 and float64; computed in double. Where the parameters are "
    "outside of their domain the result is NaN.";

void RegisterPdf(Density kind, const std::string& name, const std::vector<std::string>& parameters, const std::string& text,
                 const std::string& density) {
  RegisterPdf(
      name, parameters, "Density of " + text + " at each sample.\n\n" + density + kRule, PdfShape,
      [kind, density](KernelArgs& args) {
        if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
        args.run.ctx.is_gpu() ? PdfOnDevice(args, kind, args.param<PdfParam>().is_log) : PdfOnCpu(args, kind);
      },
      [kind](KernelArgs& args) {
        args.run.ctx.is_gpu() ? PdfBackwardOnDevice(args, kind, args.param<PdfParam>().is_log) : PdfBackwardOnCpu(args, kind);
      });
}

[[maybe_unused]] const bool registered = [] {
  RegisterPdf(Density::kUniform, "uniform", {"low", "high"}, "the uniform distribution on [low, high]",
              "1 / (high - low) inside of the interval, 0 outside; low < high.");
  RegisterPdf(Density::kNormal, "normal", {"mu", "sigma"}, "the normal distribution with mean mu and standard deviation sigma",
              "exp(-z * z / 2) / (sigma * sqrt(2 * pi)) with z = (x - mu) / sigma; sigma > 0.");
  RegisterPdf(Density::kGamma, "gamma", {"alpha", "beta"}, "the gamma distribution with shape alpha and rate beta",
              "beta^alpha * x^(alpha - 1) * exp(-beta * x) / gamma(alpha) for x >= 0, else 0; alpha and beta > 0. The samplers take the "
              "scale, which is 1 / beta.");
  RegisterPdf(Density::kExponential, "exponential", {"lam"}, "the exponential distribution with rate lam",
              "lam * exp(-lam * x) for x >= 0, else 0; lam > 0.");
  RegisterPdf(Density::kPoisson, "poisson", {"lam"}, "the Poisson distribution with mean lam",
              "lam^x * exp(-lam) / gamma(x + 1) for x >= 0, else 0; lam >= 0. Numbers between the whole ones are accepted. No gradient "
              "flows to `sample`.");
  RegisterPdf(Density::kNegativeBinomial, "negative_binomial", {"k", "p"},
              "the negative binomial distribution, of failures before the k-th success of probability p,",
              "gamma(x + k) / (gamma(x + 1) * gamma(k)) * p^k * (1 - p)^x for x >= 0, else 0; k > 0 and 0 < p <= 1. Numbers between the "
              "whole ones are accepted. No gradient flows to `sample`.");
  RegisterPdf(Density::kGeneralizedNegativeBinomial, "generalized_negative_binomial", {"mu", "alpha"},
              "the negative binomial distribution with mean mu and dispersion alpha (variance mu + alpha * mu^2)",
              "That of negative_binomial with k = 1 / alpha and p = 1 / (1 + alpha * mu); of Poisson's distribution for alpha = 0. "
              "No gradient flows to `sample`.");
  RegisterPdf(
      "dirichlet", {"alpha"},
      "Density of Dirichlet distributions at each sample.\n\n"
      "The last dimension of `alpha` and of `sample` has the numbers of one distribution and of one sample; the result is without it. "
      "gamma(sum of alpha) * product of x^(alpha - 1) / gamma(alpha), with alpha > 0; 0 where an x is negative. That the numbers of a "
      "sample add up to 1 is not tested. The other dimensions of `sample` begin with those of `alpha`. float16, bfloat16, float32 and "
      "float64; computed in double.",
      DirichletShape,
      [](KernelArgs& args) {
        if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
        args.run.ctx.is_gpu() ? DirichletOnDevice(args, args.param<PdfParam>().is_log) : DirichletOnCpu(args);
      },
      [](KernelArgs& args) {
        args.run.ctx.is_gpu() ? DirichletBackwardOnDevice(args, args.param<PdfParam>().is_log) : DirichletBackwardOnCpu(args);
      });
  return true;
}();

}  // namespace
}  // namespace mxnet
