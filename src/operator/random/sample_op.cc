// Random draws: with numbers as parameters (_random_*), with arrays as parameters (_sample_*), in
// another array's shape (_random_*_like).
#include <algorithm>
#include <type_traits>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/numpy_shapes.h"
#include "mxnet/op.h"
#include "operator/random/distributions.h"
#include "operator/random/draw_kernels.h"
#include "operator/random/gpu_random.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"

namespace mxnet {
namespace {

#define MXNET_FLOAT_OR_NONE(field)                 \
  MXNET_DTYPE_FIELD_OF(field, dtypes::kIeeeFloats) \
      .add_enum("None", kDTypeUnknown)             \
      .set_default(kDTypeUnknown)                  \
      .describe("dtype of the result; float32 when None")

#define MXNET_COMMON_FIELDS                                                       \
  MXNET_FIELD(shape).set_default_none().describe("shape of the result");          \
  MXNET_FIELD(ctx).set_default("").describe("device of the result, e.g. cpu(0)"); \
  MXNET_FLOAT_OR_NONE(dtype);

struct Numbers2 {  // what kernels need, whatever the parameters are called
  double a, b;
};

#define MXNET_TWO_FIELDS(P, T, a, da, b, db)                                              \
  struct P##Param : public Parameter<P##Param> {                                          \
    T a;                                                                                  \
    float b;                                                                              \
    Shape shape;                                                                          \
    std::string ctx;                                                                      \
    int dtype;                                                                            \
    MXNET_DECLARE_PARAM(P##Param) {                                                       \
      MXNET_FIELD(a).set_default(da).describe("parameter of the distribution");           \
      MXNET_FIELD(b).set_default(db).describe("parameter of the distribution");           \
      MXNET_COMMON_FIELDS                                                                 \
    }                                                                                     \
    Numbers2 numbers() const { return {static_cast<double>(a), static_cast<double>(b)}; } \
  };                                                                                      \
  struct P##LikeParam : public Parameter<P##LikeParam> {                                  \
    T a;                                                                                  \
    float b;                                                                              \
    MXNET_DECLARE_PARAM(P##LikeParam) {                                                   \
      MXNET_FIELD(a).set_default(da).describe("parameter of the distribution");           \
      MXNET_FIELD(b).set_default(db).describe("parameter of the distribution");           \
    }                                                                                     \
    Numbers2 numbers() const { return {static_cast<double>(a), static_cast<double>(b)}; } \
  };                                                                                      \
  MXNET_REGISTER_PARAM(P##Param);                                                         \
  MXNET_REGISTER_PARAM(P##LikeParam);

#define MXNET_ONE_FIELD(P, a, da)                                                                                   \
  struct P##Param : public Parameter<P##Param> {                                                                    \
    float a;                                                                                                        \
    Shape shape;                                                                                                    \
    std::string ctx;                                                                                                \
    int dtype;                                                                                                      \
    MXNET_DECLARE_PARAM(P##Param) {                                                                                 \
      MXNET_FIELD(a).set_default(da).describe("parameter of the distribution");                                     \
      MXNET_COMMON_FIELDS                                                                                           \
    }                                                                                                               \
    Numbers2 numbers() const { return {static_cast<double>(a), 0.0}; }                                              \
  };                                                                                                                \
  struct P##LikeParam : public Parameter<P##LikeParam> {                                                            \
    float a;                                                                                                        \
    MXNET_DECLARE_PARAM(P##LikeParam) { MXNET_FIELD(a).set_default(da).describe("parameter of the distribution"); } \
    Numbers2 numbers() const { return {static_cast<double>(a), 0.0}; }                                              \
  };                                                                                                                \
  MXNET_REGISTER_PARAM(P##Param);                                                                                   \
  MXNET_REGISTER_PARAM(P##LikeParam);

MXNET_TWO_FIELDS(Uniform, float, low, 0.0f, high, 1.0f)
MXNET_TWO_FIELDS(Normal, float, loc, 0.0f, scale, 1.0f)
MXNET_TWO_FIELDS(Gamma, float, alpha, 1.0f, beta, 1.0f)
MXNET_TWO_FIELDS(NegativeBinomial, int, k, 1, p, 1.0f)
MXNET_TWO_FIELDS(GeneralizedNegativeBinomial, float, mu, 1.0f, alpha, 1.0f)
MXNET_TWO_FIELDS(Binomial, int, n, 1, p, 1.0f)
MXNET_ONE_FIELD(Exponential, lam, 1.0f)
MXNET_ONE_FIELD(Poisson, lam, 1.0f)

struct RandintParam : public Parameter<RandintParam> {
  int64_t low, high;
  Shape shape;
  std::string ctx;
  int dtype;
  MXNET_DECLARE_PARAM(RandintParam) {
    MXNET_FIELD(low).describe("smallest value");
    MXNET_FIELD(high).describe("one more than the largest value");
    MXNET_FIELD(shape).set_default_none().describe("shape of the result");
    MXNET_FIELD(ctx).set_default("").describe("device of the result, e.g. cpu(0)");
    MXNET_DTYPE_FIELD_OF(dtype, dtypes::Set{kInt32, kInt64})
        .add_enum("None", kDTypeUnknown)
        .set_default(kDTypeUnknown)
        .describe("dtype of the result; int32 when None");
  }
};
MXNET_REGISTER_PARAM(RandintParam);

struct SampleParam : public Parameter<SampleParam> {
  Shape shape;
  int dtype;
  MXNET_DECLARE_PARAM(SampleParam) {
    MXNET_FIELD(shape).set_default(Shape()).describe("shape of the draws of each pair of parameters");
    MXNET_FLOAT_OR_NONE(dtype);
  }
};
MXNET_REGISTER_PARAM(SampleParam);

// ---- inference

template <typename P>
bool DrawShape(const Attrs& attrs, const InferSwitches& switches, ShapeVector*, ShapeVector* out) {
  const Shape& given = attrs.get<P>().shape;
  // Without a shape (and without an array to fill) a single value is drawn, as an array of shape
  // (1,). So it is with the shape () unless that is a shape here.
  if (given.ndim_known() && (given.ndim() > 0 || switches.numpy_shapes))
    AssignShape(attrs, "output", &(*out)[0], given);
  else if (!(*out)[0].known())
    (*out)[0] = Shape{1};
  return true;
}

/* The bounds are checked here, when the operator is called, not when its result is waited for. */
bool RandintShape(const Attrs& attrs, const InferSwitches& switches, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<RandintParam>();
  MXNET_CHECK_KIND(p.low < p.high, Value) << "[" << attrs.op->name << "] low=" << p.low << ", high=" << p.high << "; accepted: low < high";
  return DrawShape<RandintParam>(attrs, switches, in, out);
}

/* Which parameters a distribution has. Written so that NaN is refused. */
struct Domain {
  const char *first, *second;  // names; null: the distribution has one parameter
  bool (*accepts)(Numbers2);
  const char* accepted;
};

/* Like the bounds of integers, checked when the operator is called. */
template <typename P>
void CheckDomain(const Attrs& attrs, const Domain& domain) {
  const Numbers2 p = attrs.get<P>().numbers();
  if (domain.accepts(p)) return;
  std::ostringstream given;
  given << domain.first << "=" << p.a;
  if (domain.second) given << ", " << domain.second << "=" << p.b;
  MXNET_THROW(Value) << "[" << attrs.op->name << "] " << given.str() << "; accepted: " << domain.accepted;
}

template <typename P, int kDefault>
bool DrawType(const Attrs& attrs, std::vector<int>*, std::vector<int>* out) {
  const int given = attrs.get<P>().dtype;
  if (given != kDTypeUnknown)
    AssignType(attrs, "output", &(*out)[0], given);
  else if ((*out)[0] == kDTypeUnknown)
    (*out)[0] = kDefault;
  return true;
}

// ---- kernels

bool DeviceKind(SampleFn sample, DeviceDraw* kind) {
  if (sample == SampleUniform)
    *kind = DeviceDraw::kUniform;
  else if (sample == SampleNormal)
    *kind = DeviceDraw::kNormal;
  else if (sample == SampleExponential)
    *kind = DeviceDraw::kExponential;
  else
    return false;
  return true;
}

/* As distributions.cuh calls it. */
const char* SamplerName(SampleFn sample) {
  const std::pair<SampleFn, const char*> names[] = {
      {SampleUniform, "SampleUniform"},  {SampleNormal, "SampleNormal"},   {SampleExponential, "SampleExponential"},
      {SampleGamma, "SampleGamma"},      {SamplePoisson, "SamplePoisson"}, {SampleNegativeBinomial, "SampleNegativeBinomial"},
      {SampleBinomial, "SampleBinomial"}};
  for (const auto& n : names)
    if (n.first == sample) return n.second;
  return "SampleGeneralizedNegativeBinomial";
}

/* Counter i of those reserved belongs to element i. */
void Draw(KernelArgs& args, SampleFn sample, Numbers2 p) {
  const TBlob& out = args.out[0];
  const int64_t n = out.Size();
  if (args.run.ctx.is_gpu()) {
    const DeviceDraws draws = DrawsOnDevice(args.run, args.random, static_cast<uint64_t>(n));
    DeviceDraw kind;
    if (DeviceKind(sample, &kind)) return DrawOnDevice(args.run, kind, draws, p.a, p.b, out);
    return SampleOnDevice(args.run, SamplerName(sample), draws, p.a, p.b, out);
  }
  const uint64_t seed = args.random->seed(), first = args.random->Take(static_cast<uint64_t>(n));
  VisitFloating(out.dtype, args.attrs->op->name.c_str(), [&](auto tag) {
    using T = decltype(tag);
    T* y = out.data<T>();
    ParallelForThreads(OmpThreads(n * 16), n, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        RandomStream s(seed, first + static_cast<uint64_t>(i));
        y[i] = static_cast<T>(sample(&s, p.a, p.b));
      }
    });
  });
}

/* Pieces of the result, made in a buffer of what the loop computes in where the result is of
 * another type: draw(first element, elements, where). */
template <typename Made, typename T, typename F>
void DrawPieces(T* y, int64_t n, F&& draw) {
  constexpr int64_t kPiece = 512;  // a multiple of what a loop draws at a time
  ParallelForThreads(OmpThreads(n), (n + kPiece - 1) / kPiece, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * kPiece; i < std::min(end * kPiece, n); i += kPiece) {
      const int64_t m = std::min(kPiece, n - i);
      if constexpr (std::is_same<Made, T>::value) {
        draw(i, m, y + i);
      } else {
        Made made[kPiece];
        draw(i, m, made);
        for (int64_t j = 0; j < m; ++j) y[i + j] = static_cast<T>(made[j]);
      }
    }
  });
}

/* Four values from one counter, computed in float: uniform and normal are what networks are
 * initialised with. */
template <bool kNormal, typename T>
void DrawFours(KernelArgs& args, Numbers2 p, uint64_t seed, uint64_t first) {
  const float a = static_cast<float>(p.a), b = static_cast<float>(kNormal ? p.b : p.b - p.a);
  DrawPieces<float>(args.out[0].data<T>(), args.out[0].Size(), [=](int64_t i, int64_t n, float* y) {
    MXNET_CPU_CALL(DrawFloats)(kNormal, seed, first + static_cast<uint64_t>(i) / 4, a, b, y, n);
  });
}

/* The numbers of SampleUniform and SampleNormal, many at a time: float64 has one of each
 * counter. */
template <bool kNormal>
void DrawOnes(KernelArgs& args, Numbers2 p) {
  const uint64_t seed = args.random->seed(), first = args.random->Take(static_cast<uint64_t>(args.out[0].Size()));
  const double scale = kNormal ? p.b : p.b - p.a;
  DrawPieces<double>(args.out[0].data<double>(), args.out[0].Size(), [=](int64_t i, int64_t n, double* y) {
    MXNET_CPU_CALL(DrawBases)(kNormal ? BaseDraw::kNormal : BaseDraw::kUnit, seed, first + static_cast<uint64_t>(i), y, n);
    for (int64_t j = 0; j < n; ++j) y[j] = p.a + scale * y[j];
  });
}

template <bool kNormal>
void DrawFast(KernelArgs& args, Numbers2 p) {
  const TBlob& out = args.out[0];
  const uint64_t counters = static_cast<uint64_t>((out.Size() + 3) / 4);
  if (out.dtype == kFloat64)
    return args.run.ctx.is_gpu() ? Draw(args, kNormal ? SampleNormal : SampleUniform, p) : DrawOnes<kNormal>(args, p);
  if (args.run.ctx.is_gpu())
    return DrawOnDevice(args.run, kNormal ? DeviceDraw::kNormal : DeviceDraw::kUniform, DrawsOnDevice(args.run, args.random, counters), p.a,
                        p.b, out);
  const uint64_t seed = args.random->seed(), first = args.random->Take(counters);
  if (out.dtype == kFloat32)
    DrawFours<kNormal, float>(args, p, seed, first);
  else if (out.dtype == kFloat16)
    DrawFours<kNormal, float16>(args, p, seed, first);
  else if (out.dtype == kBfloat16)
    DrawFours<kNormal, bfloat16>(args, p, seed, first);
  else
    ThrowDType(out.dtype, args.attrs->op->name.c_str(), "float32, float64, float16, bfloat16");
}

void DrawIntegers(KernelArgs& args) {
  const auto& p = args.param<RandintParam>();
  const TBlob& out = args.out[0];
  const int64_t n = out.Size();
  const uint64_t range = static_cast<uint64_t>(p.high) - static_cast<uint64_t>(p.low), counters = static_cast<uint64_t>((n + 1) / 2);
  if (args.run.ctx.is_gpu()) return DrawIntegersOnDevice(args.run, DrawsOnDevice(args.run, args.random, counters), p.low, range, out);
  const uint64_t seed = args.random->seed(), first = args.random->Take(counters);
  VisitInteger(out.dtype, args.attrs->op->name.c_str(), [&](auto tag) {
    using T = decltype(tag);
    DrawPieces<uint64_t>(out.data<T>(), n, [&](int64_t i, int64_t m, uint64_t* y) {
      MXNET_CPU_CALL(DrawInts)(seed, first + static_cast<uint64_t>(i) / 2, static_cast<uint64_t>(p.low), range, y, m);
    });
  });
}

void DrawWaits(KernelArgs& args, Numbers2 p) {
  const TBlob& out = args.out[0];
  if (args.run.ctx.is_gpu()) return Draw(args, SampleExponential, p);
  const int64_t n = out.Size();
  const uint64_t seed = args.random->seed(), first = args.random->Take(static_cast<uint64_t>(n));
  VisitFloating(out.dtype, args.attrs->op->name.c_str(), [&](auto tag) {
    DrawPieces<double>(out.data<decltype(tag)>(), n, [=](int64_t i, int64_t m, double* y) {
      MXNET_CPU_CALL(DrawExponentials)(seed, first + static_cast<uint64_t>(i), p.a, y, m);
    });
  });
}

void DrawGammaNumbers(KernelArgs& args, Numbers2 p) {
  const TBlob& out = args.out[0];
  if (args.run.ctx.is_gpu()) return Draw(args, SampleGamma, p);
  const int64_t n = out.Size();
  const uint64_t seed = args.random->seed(), first = args.random->Take(static_cast<uint64_t>(n));
  VisitFloating(out.dtype, args.attrs->op->name.c_str(), [&](auto tag) {
    using T = decltype(tag);
    DrawPieces<double>(out.data<T>(), n, [=](int64_t i, int64_t m, double* y) {
      MXNET_CPU_CALL(DrawGammas)(seed, first + static_cast<uint64_t>(i), p.a, p.b, y, m);
      for (int64_t j = 0; j < m; ++j)
        if (!(y[j] >= 0)) {
          RandomStream s(seed, first + static_cast<uint64_t>(i + j));
          y[j] = SampleGamma(&s, p.a, p.b);
        }
    });
  });
}

/* Each element of the parameter arrays is drawn from `repeat` times. */
void DrawFromArrays(KernelArgs& args, SampleFn sample) {
  const TBlob &first_param = args.in[0], &out = args.out[0];
  const int64_t n = out.Size(), pairs = first_param.Size(), repeat = pairs ? n / pairs : 0;
  if (args.run.ctx.is_gpu())
    return SampleOnDevice(args.run, SamplerName(sample), DrawsOnDevice(args.run, args.random, static_cast<uint64_t>(n)), first_param,
                          args.in.size() > 1 ? &args.in[1] : nullptr, out);
  const uint64_t seed = args.random->seed(), first = args.random->Take(static_cast<uint64_t>(n));
  VisitDType(first_param.dtype, args.attrs->op->name.c_str(), [&](auto in_tag) {
    using In = decltype(in_tag);
    const In* a = first_param.data<In>();
    const In* b = args.in.size() > 1 ? args.in[1].data<In>() : nullptr;
    VisitFloating(out.dtype, args.attrs->op->name.c_str(), [&](auto tag) {
      using T = decltype(tag);
      T* y = out.data<T>();
      ParallelForThreads(OmpThreads(n * 16), n, [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          RandomStream s(seed, first + static_cast<uint64_t>(i));
          y[i] = static_cast<T>(sample(&s, static_cast<double>(a[i / repeat]), b ? static_cast<double>(b[i / repeat]) : 0.0));
        }
      });
    });
  });
}

bool SampleShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  for (size_t i = 1; i < in->size(); ++i) {
    AssignShape(attrs, "second parameter", &(*in)[i], (*in)[0]);
    AssignShape(attrs, "first parameter", &(*in)[0], (*in)[i]);
  }
  const Shape& base = (*in)[0];
  if (!base.known()) return false;
  std::vector<int64_t> dims(base.begin(), base.end());
  const Shape& extra = attrs.get<SampleParam>().shape;
  if (extra.ndim() > 0) dims.insert(dims.end(), extra.begin(), extra.end());
  AssignShape(attrs, "output", &(*out)[0], Shape(dims));
  return true;
}

bool SampleType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  for (size_t i = 1; i < in->size(); ++i) AssignType(attrs, "second parameter", &(*in)[i], (*in)[0]);
  const int given = attrs.get<SampleParam>().dtype;
  AssignType(attrs, "output", &(*out)[0], given != kDTypeUnknown ? given : int{kFloat32});
  return (*in)[0] != kDTypeUnknown;
}

/* L: void where there is no operator with the shape of an array. */
template <typename P, typename L, typename F>
void RegisterFamily(const std::string& name, const std::vector<std::string>& inputs, const std::string& what, const Domain& domain,
                    SampleFn sample, F draw) {
  auto draw_shape = [domain](const Attrs& attrs, const InferSwitches& switches, ShapeVector* in, ShapeVector* out) {
    CheckDomain<P>(attrs, domain);
    return DrawShape<P>(attrs, switches, in, out);
  };
  Op::Register("_random_" + name)
      .describe("Draws from " + what + ".")
      .set_param<P>()
      .set_inputs({})
      .set_dtypes(dtypes::kAll)
      .set_uses_random()
      .set_zero_gradient()
      .alias("random_" + name)
      .set_infer_shape(draw_shape)
      .set_infer_type(DrawType<P, kFloat32>)
      .set_kernel([draw](KernelArgs& a) { draw(a, a.param<P>().numbers()); });
  if constexpr (!std::is_void<L>::value)
    Op::Register("_random_" + name + "_like")
        .describe("Draws from " + what + ", in the shape and dtype of `data`.")
        .set_dtypes(dtypes::kAll)
        .template set_param<L>()
        .set_inputs({"data"})
        .set_uses_random()
        .set_zero_gradient()
        .set_infer_shape([domain](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
          CheckDomain<L>(attrs, domain);
          return ElemwiseShape(attrs, in, out);
        })
        .set_infer_type(SameType)
        .set_kernel([draw](KernelArgs& a) { draw(a, a.param<L>().numbers()); });
  Op::Register("_sample_" + name)
      .describe("Draws from " + what + " with arrays as parameters: `shape` values for each of their elements.")
      .set_param<SampleParam>()
      .set_inputs(inputs)
      .set_dtypes(dtypes::kAll)
      .alias("sample_" + name)
      .set_uses_random()
      .set_zero_gradient()
      .set_infer_shape(SampleShape)
      .set_infer_type(SampleType)
      .set_kernel([sample](KernelArgs& a) { DrawFromArrays(a, sample); });
}

template <SampleFn kSample>
void DrawWith(KernelArgs& args, Numbers2 p) {
  Draw(args, kSample, p);
}

const bool registered [[maybe_unused]] = [] {
  RegisterFamily<UniformParam, UniformLikeParam>("uniform", {"low", "high"}, "a uniform distribution on [low, high)",
                                                 {"low", "high", [](Numbers2 p) { return p.a <= p.b; }, "low <= high"}, SampleUniform,
                                                 DrawFast<false>);
  RegisterFamily<NormalParam, NormalLikeParam>("normal", {"mu", "sigma"}, "a normal distribution",
                                               {"loc", "scale", [](Numbers2 p) { return p.b >= 0; }, "scale >= 0"}, SampleNormal,
                                               DrawFast<true>);
  RegisterFamily<GammaParam, GammaLikeParam>("gamma", {"alpha", "beta"}, "a gamma distribution with shape alpha and scale beta",
                                             {"alpha", "beta", [](Numbers2 p) { return p.a > 0 && p.b > 0; }, "positive numbers"},
                                             SampleGamma, DrawGammaNumbers);
  RegisterFamily<ExponentialParam, ExponentialLikeParam>("exponential", {"lam"}, "an exponential distribution with rate lam",
                                                         {"lam", nullptr, [](Numbers2 p) { return p.a > 0; }, "lam > 0"}, SampleExponential,
                                                         DrawWaits);
  RegisterFamily<PoissonParam, PoissonLikeParam>("poisson", {"lam"}, "a Poisson distribution with mean lam",
                                                 {"lam", nullptr, [](Numbers2 p) { return p.a >= 0; }, "lam >= 0"}, SamplePoisson,
                                                 DrawWith<SamplePoisson>);
  RegisterFamily<NegativeBinomialParam, NegativeBinomialLikeParam>(
      "negative_binomial", {"k", "p"}, "a negative binomial distribution (failures before the k-th success of probability p)",
      {"k", "p", [](Numbers2 p) { return p.a >= 0 && p.b > 0 && p.b <= 1; }, "k >= 0 and 0 < p <= 1"}, SampleNegativeBinomial,
      DrawWith<SampleNegativeBinomial>);
  RegisterFamily<GeneralizedNegativeBinomialParam, GeneralizedNegativeBinomialLikeParam>(
      "generalized_negative_binomial", {"mu", "alpha"}, "a negative binomial distribution with mean mu and dispersion alpha",
      {"mu", "alpha", [](Numbers2 p) { return p.a >= 0 && p.b >= 0; }, "numbers of at least 0"}, SampleGeneralizedNegativeBinomial,
      DrawWith<SampleGeneralizedNegativeBinomial>);
  RegisterFamily<BinomialParam, void>("binomial", {"n", "p"}, "a binomial distribution (successes in n trials of probability p)",
                                      {"n", "p", [](Numbers2 p) { return p.a >= 0 && p.b >= 0 && p.b <= 1; }, "n >= 0 and 0 <= p <= 1"},
                                      SampleBinomial, DrawWith<SampleBinomial>);
  Op::Register("_random_poisson").alias("_npx_scalar_poisson");
  Op::Register("_sample_poisson").alias("_npx_tensor_poisson");
  Op::Register("_random_uniform").alias("uniform");
  Op::Register("_random_normal").alias("normal");
  Op::Register("_random_randint")
      .describe("Draws integers from [low, high), all equally likely.")
      .set_param<RandintParam>()
      .set_inputs({})
      .set_dtypes(dtypes::kAll)
      .alias("random_randint")
      .alias("_npi_random_randint")
      .set_uses_random()
      .set_zero_gradient()
      .set_infer_shape(RandintShape)
      .set_infer_type(DrawType<RandintParam, kInt32>)
      .set_kernel(DrawIntegers);
  return true;
}();

}  // namespace
}  // namespace mxnet
