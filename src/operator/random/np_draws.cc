// Random draws of the NumPy operators: parameters are numbers or arrays, which broadcast against
// each other and against `size`. A draw is a formula of a number free of parameters, which is kept
// for the gradient where the distribution has one.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "operator/matrix/move.h"
#include "operator/nodes/make_nodes.h"
#include "operator/random/distributions.h"
#include "operator/random/draw_kernels.h"
#include "operator/random/gpu_random.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

using Formula = double (*)(double, double, double);
using Accepts = bool (*)(double, double);
using Number = std::optional<float>;

// ---- parameters

struct Settings {
  Number a, b;
  std::optional<Shape> size;
  int dtype = kFloat32;
  bool odds = false;  // the parameter is the logarithm of odds, not a chance
};

#define MXNET_SIZE_AND_CTX                                                                                                  \
  MXNET_FIELD(size).set_default(std::optional<Shape>()).describe("Shape of the result; that of the parameters when None."); \
  MXNET_FIELD(ctx).set_default("cpu").describe("Device of the result where no parameter is an array.");
#define MXNET_FLOATS_FIELD MXNET_DTYPE_FIELD_OF(dtype, dtypes::kIeeeFloats).set_default(kFloat32).describe("Type of the result.");
#define MXNET_NUMBER "A number, or None: the parameter is the next array."

#define MXNET_TWO_NUMBERS(P, first, second, more_member, more_field, dtype_of)   \
  struct P : public Parameter<P> {                                               \
    Number first, second;                                                        \
    std::optional<Shape> size;                                                   \
    std::string ctx;                                                             \
    more_member MXNET_DECLARE_PARAM(P) {                                         \
      MXNET_FIELD(first).describe(MXNET_NUMBER);                                 \
      MXNET_FIELD(second).describe(MXNET_NUMBER);                                \
      MXNET_SIZE_AND_CTX more_field                                              \
    }                                                                            \
    Settings settings() const { return {first, second, size, dtype_of, false}; } \
  };                                                                             \
  MXNET_REGISTER_PARAM(P);

#define MXNET_ONE_NUMBER(P, first, begin)                                          \
  struct P : public Parameter<P> {                                                 \
    Number first;                                                                  \
    std::optional<Shape> size;                                                     \
    std::string ctx;                                                               \
    MXNET_DECLARE_PARAM(P) {                                                       \
      MXNET_FIELD(first).set_default(begin).describe(MXNET_NUMBER);                \
      MXNET_SIZE_AND_CTX                                                           \
    }                                                                              \
    Settings settings() const { return {first, Number(), size, kFloat32, false}; } \
  };                                                                               \
  MXNET_REGISTER_PARAM(P);

MXNET_TWO_NUMBERS(NpLocScaleParam, loc, scale, int dtype;, MXNET_FLOATS_FIELD, dtype)
MXNET_TWO_NUMBERS(NpLowHighParam, low, high, int dtype;, MXNET_FLOATS_FIELD, dtype)
MXNET_TWO_NUMBERS(NpShapeScaleParam, shape, scale, int dtype;, MXNET_FLOATS_FIELD, dtype)
MXNET_TWO_NUMBERS(NpPlainLocScaleParam, loc, scale, , , int{kFloat32})
MXNET_ONE_NUMBER(NpScaleParam, scale, Number(1.0f))
MXNET_ONE_NUMBER(NpPowerParam, a, Number())

struct NpBernoulliParam : public Parameter<NpBernoulliParam> {
  Number prob, logit;
  std::optional<Shape> size;
  std::string ctx;
  int dtype;
  bool is_logit;
  MXNET_DECLARE_PARAM(NpBernoulliParam) {
    MXNET_FIELD(prob).describe("The chance of a 1: " MXNET_NUMBER);
    MXNET_FIELD(logit).describe("The logarithm of the odds of a 1: " MXNET_NUMBER);
    MXNET_SIZE_AND_CTX
    MXNET_DTYPE_FIELD_OF(dtype, dtypes::kIeeeFloats | dtypes::Set{kBool, kInt32, kUint8})
        .set_default(kFloat32)
        .describe("Type of the result.");
    MXNET_FIELD(is_logit).describe("Whether `logit` is the parameter, and not `prob`.");
  }
  Settings settings() const { return {is_logit ? logit : prob, Number(), size, dtype, is_logit}; }
};
MXNET_REGISTER_PARAM(NpBernoulliParam);

// ---- the table

enum class Slope { kNone, kBetween, kShiftScale, kScale, kPower, kShapeScale };

struct Step {  // on both kinds of devices, with the names that distributions.cuh gives them
  SampleFn draw;
  Formula formula;
  Accepts accepts;
  const char *draw_name, *formula_name, *accepts_name;
};
#define MXNET_STEP(draw, formula, accepts) \
  { draw, formula, accepts, #draw, #formula, #accepts }

struct Family {
  const char* name;
  const char* what;
  int params;
  Step step;
  const char* accepted;
  Slope slope = Slope::kNone;
  double sign = 0, shift = 0;  // of Slope::kPower: d out / d a = sign (out + shift) z / a^2
  bool appended = false;       // `size` stands before the shape of the parameters, not for it
  bool lanes = false;          // float32 draws from numbers share a loop
};

const Family kNormalFamily = {"_npi_normal",
                              "a normal distribution",
                              2,
                              MXNET_STEP(DrawNormal, ShiftScale, SecondNotNegative),
                              "scale >= 0",
                              Slope::kShiftScale,
                              0,
                              0,
                              false,
                              true};
const Family kUniformFamily = {"_npi_uniform",
                               "a uniform distribution on [low, high)",
                               2,
                               MXNET_STEP(DrawUnit, Between, AnyNumbers),
                               "numbers",
                               Slope::kBetween,
                               0,
                               0,
                               false,
                               true};
const Family kOdds = {"_npi_bernoulli", "", 1, MXNET_STEP(DrawUnit, HitOdds, AnyNumbers), "numbers"};

// ---- inference

template <typename P>
Settings SettingsOf(const Attrs& attrs) {
  return attrs.get<P>().settings();
}
using GetSettings = Settings (*)(const Attrs&);

int Arrays(const Family& family, const Settings& s) { return (s.a ? 0 : 1) + (family.params > 1 && !s.b ? 1 : 0); }
bool KeepsNoise(const Family& family, const Settings& s) { return family.slope != Slope::kNone && Arrays(family, s) > 0; }

bool DrawShape(const Family& family, const Settings& s, const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  Shape together(std::vector<int64_t>{});
  bool known = true;
  for (const Shape& shape : *in) {
    known = known && shape.known();
    if (known) together = BroadcastShape(attrs.op->name, together, shape);
  }
  Shape result = s.size ? s.size.value() : together;
  if (s.size && family.appended) {
    std::vector<int64_t> dims(result.begin(), result.end());
    dims.insert(dims.end(), together.begin(), together.end());
    result = Shape(dims);
  } else if (s.size && known && in->size() > 0) {
    MXNET_CHECK_KIND(BroadcastShape(attrs.op->name, result, together) == result, Value)
        << "[" << attrs.op->name << "] size=" << result << ", the parameters together have shape " << together
        << "; accepted: a size to which that shape broadcasts";
  }
  if (!known && (family.appended || !s.size)) return false;
  for (Shape& shape : *out) AssignShape(attrs, "output", &shape, result);
  return known;
}

bool DrawType(const Settings& s, const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  for (int& type : *out) AssignType(attrs, "output", &type, s.dtype);
  return std::none_of(in->begin(), in->end(), [](int t) { return t == kDTypeUnknown; });
}

// ---- kernels

/* A parameter as the loops read it. */
struct Operand {
  double number = 0;
  const TBlob* array = nullptr;
  TBlob expanded;
  int64_t step = 0;
};

/* An array of the result's shape, or one element for all. */
void Expand(KernelArgs& args, const TBlob& array, const Shape& shape, Operand* operand) {
  operand->array = &array;
  operand->step = array.Size() == 1 ? 0 : 1;
  if (array.Size() == 1 || array.shape == shape) return;
  const int nd = shape.ndim(), skip = nd - array.shape.ndim();
  std::vector<int64_t> from(nd, 0), to(nd, 0), dims(shape.begin(), shape.end());
  int64_t inner = 1, outer = 1;
  for (int d = nd - 1; d >= 0; --d) {
    to[d] = outer, outer *= shape[d];
    if (d < skip) continue;
    from[d] = array.shape[d - skip] == 1 ? 0 : inner;
    inner *= array.shape[d - skip];
  }
  operand->expanded = array;
  operand->expanded.shape = shape;
  operand->expanded.dptr = args.workspace(std::max<size_t>(operand->expanded.Bytes(), 1));
  CopyStrided(args.run, array.dptr, from.data(), operand->expanded.dptr, to.data(), dims.data(), nd, DTypeSize(array.dtype));
  operand->array = &operand->expanded;
}

void DrawOnGpu(KernelArgs& args, const Step& step, const Operand* p, TBlob* noise) {
  const TBlob& out = args.out[0];
  rtc::Arguments a;
  DrawsOnDevice(args.run, args.random, static_cast<uint64_t>(out.Size())).AddTo(&a.Add(out.dptr).Add(noise ? noise->dptr : nullptr));
  for (int k = 0; k < 2; ++k) a.Add(p[k].array ? p[k].array->dptr : nullptr);
  a.Add(p[0].step).Add(p[1].step).Add(p[0].number).Add(p[1].number);
  const std::string entry = std::string("np_") + step.draw_name + step.formula_name;
  rtc::LaunchItems(args.run,
                   {"operator/random/gpu_random.cuh",
                    "np_draw",
                    {out.dtype, p[0].array ? p[0].array->dtype : -1, p[1].array ? p[1].array->dtype : -1},
                    {},
                    {step.draw_name, step.formula_name, step.accepts_name},
                    entry.c_str()},
                   out.Size(), &a);
}

constexpr int64_t kPiece = 512;

/* Elements [at, at + n) of a parameter. */
void Read(const Operand& p, int64_t at, int64_t n, double* to) {
  if (!p.array || p.step == 0) {
    double value = p.number;
    if (p.array) ConvertElements(p.array->dptr, p.array->dtype, &value, kFloat64, 1);
    std::fill(to, to + n, value);
  } else {
    ConvertElements(p.array->data<char>() + at * static_cast<int64_t>(DTypeSize(p.array->dtype)), p.array->dtype, to, kFloat64, n);
  }
}

void Refuse(const Attrs& attrs, const Family& family, double a, double b) {
  std::ostringstream given;
  given << a;
  if (family.params > 1) given << " and " << b;
  MXNET_THROW(Value) << "[" << attrs.op->name << "] a parameter is out of range: " << given.str() << "; accepted: " << family.accepted;
}

/* False: what a draw is depends on parameters. */
bool BaseOf(SampleFn draw, BaseDraw* base) {
  static const std::pair<SampleFn, BaseDraw> bases[] = {{DrawUnit, BaseDraw::kUnit},
                                                        {DrawNormal, BaseDraw::kNormal},
                                                        {DrawExponential, BaseDraw::kExponential},
                                                        {DrawGumbel, BaseDraw::kGumbel},
                                                        {DrawLogistic, BaseDraw::kLogistic},
                                                        {DrawLaplace, BaseDraw::kLaplace},
                                                        {DrawRayleigh, BaseDraw::kRayleigh},
                                                        {DrawLogExponential, BaseDraw::kLogExponential}};
  for (const auto& b : bases)
    if (b.first == draw) return *base = b.second, true;
  return false;
}

void DrawOnCpu(KernelArgs& args, const Family& family, const Step& step, const Operand* p, TBlob* noise) {
  const TBlob& out = args.out[0];
  const int64_t n = out.Size(), bytes = static_cast<int64_t>(DTypeSize(out.dtype));
  const uint64_t seed = args.random->seed(), first = args.random->Take(static_cast<uint64_t>(n));
  BaseDraw base{};
  const bool lanes = BaseOf(step.draw, &base);
  ParallelForThreads(OmpThreads(n * 16), (n + kPiece - 1) / kPiece, [&](int64_t begin, int64_t end) {
    double a[kPiece], b[kPiece], z[kPiece], y[kPiece];
    for (int64_t i = begin * kPiece; i < std::min(end * kPiece, n); i += kPiece) {
      const int64_t m = std::min(kPiece, n - i);
      Read(p[0], i, m, a);
      Read(p[1], i, m, b);
      if (lanes) MXNET_CPU_CALL(DrawBases)(base, seed, first + static_cast<uint64_t>(i), z, m);
      for (int64_t j = 0; j < m; ++j) {
        if (!step.accepts(a[j], b[j])) Refuse(*args.attrs, family, a[j], b[j]);
        if (!lanes) {
          RandomStream s(seed, first + static_cast<uint64_t>(i + j));
          z[j] = step.draw(&s, a[j], b[j]);
        }
        y[j] = step.formula(a[j], b[j], z[j]);
      }
      ConvertElements(y, kFloat64, out.data<char>() + i * bytes, out.dtype, m);
      if (noise) ConvertElements(z, kFloat64, noise->data<char>() + i * bytes, noise->dtype, m);
    }
  });
}

/* Uniform and normal numbers from plain numbers: four of a counter. */
void DrawInLanes(KernelArgs& args, bool normal, double a, double b) {
  const TBlob& out = args.out[0];
  const int64_t n = out.Size();
  const uint64_t counters = static_cast<uint64_t>((n + 3) / 4);
  if (args.run.ctx.is_gpu())
    return DrawOnDevice(args.run, normal ? DeviceDraw::kNormal : DeviceDraw::kUniform, DrawsOnDevice(args.run, args.random, counters), a, b,
                        out);
  const uint64_t seed = args.random->seed(), first = args.random->Take(counters);
  const float begin = static_cast<float>(a), width = static_cast<float>(normal ? b : b - a);
  ParallelForThreads(OmpThreads(n), (n + kPiece - 1) / kPiece, [&](int64_t from, int64_t to) {
    for (int64_t i = from * kPiece; i < std::min(to * kPiece, n); i += kPiece) MXNET_CPU_CALL(DrawFloats)
    (normal, seed, first + static_cast<uint64_t>(i) / 4, begin, width, out.data<float>() + i, std::min(kPiece, n - i));
  });
}

void Draw(KernelArgs& args, const Family& of, const Settings& s) {
  const Family& family = s.odds ? kOdds : of;
  const TBlob& out = args.out[0];
  Operand p[2];
  int next = 0;
  const Number* const numbers[2] = {&s.a, &s.b};
  for (int k = 0; k < family.params; ++k) {
    if (*numbers[k])
      p[k].number = numbers[k]->value();
    else if (out.Size() > 0)
      Expand(args, args.in[next++], out.shape, &p[k]);
  }
  if (next == 0 && (s.a || family.params == 0) && !family.step.accepts(p[0].number, p[1].number) && Arrays(family, s) == 0)
    Refuse(*args.attrs, family, p[0].number, p[1].number);
  if (out.Size() == 0) return;
  if (family.lanes && next == 0 && out.dtype == kFloat32)
    return DrawInLanes(args, family.slope == Slope::kShiftScale, p[0].number, p[1].number);
  TBlob* noise = args.out.size() > 1 && args.req[1] != OpReq::kNull ? const_cast<TBlob*>(&args.out[1]) : nullptr;
  if (args.run.ctx.is_gpu()) return DrawOnGpu(args, family.step, p, noise);
  DrawOnCpu(args, family, family.step, p, noise);
}

// ---- gradients

NodeEntry Simple(const char* op, std::vector<NodeEntry> inputs) { return MakeOp(op, std::move(inputs)); }
NodeEntry WithNumber(const char* op, const NodeEntry& x, double number) { return MakeOp(op, {x}, {{"scalar", ExactText(number)}}); }

/* Of output 0 with respect to parameter k, as a factor of its gradient; null: 1. */
NodeEntry Factor(const Family& family, int k, const NodeEntry& out, const NodeEntry& z, const NodeEntry& param) {
  switch (family.slope) {
    case Slope::kBetween: return k == 0 ? WithNumber("_rminus_scalar", z, 1) : z;
    case Slope::kShiftScale: return k == 0 ? NodeEntry() : z;
    case Slope::kPower: {
      const NodeEntry shifted =
          WithNumber("_mul_scalar", family.shift == 0 ? out : WithNumber("_plus_scalar", out, family.shift), family.sign);
      return Simple("_npi_true_divide", {Simple("elemwise_mul", {shifted, z}), Simple("square", {param})});
    }
    case Slope::kShapeScale:
      if (k == 1) return z;
      return Simple("_backward_npi_gamma", {Simple("_npi_multiply", {Simple("ones_like", {z}), param}), z});
    default: return z;
  }
}

std::vector<NodeEntry> Gradients(const Family& family, const Settings& s, const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  std::vector<NodeEntry> grads;
  const NodeEntry out{node, 0, 0}, z{node, 1, 0};
  const bool given[2] = {static_cast<bool>(s.a), static_cast<bool>(s.b)};
  for (int k = 0; k < family.params; ++k) {
    if (given[k]) continue;
    const NodeEntry& param = node->inputs[grads.size()];
    NodeEntry factor = Factor(family, k, out, z, param);
    if (family.slope == Slope::kShapeScale && k == 0)
      factor = given[1] ? WithNumber("_mul_scalar", factor, s.b.value()) : Simple("_npi_multiply", {factor, node->inputs[1]});
    // these factors are made of parameters, which have dtypes of their own
    const bool promotes = family.slope == Slope::kPower || family.slope == Slope::kShapeScale;
    const NodeEntry product = factor.node ? Simple(promotes ? "_npi_multiply" : "elemwise_mul", {ograds[0], factor}) : ograds[0];
    grads.push_back(Simple("_sum_like", {product, param}));
  }
  return grads;
}

// ---- records

template <typename P>
void Register(const Family& family, const char* name = nullptr) {
  const Family f = family;
  Op& op = Op::Register(name ? name : f.name);
  const std::vector<std::string> inputs = f.params > 1 ? std::vector<std::string>{"input1", "input2"} : std::vector<std::string>{"input1"};
  op.describe(std::string("Draws from ") + f.what +
              ".\n\nParameters are numbers, or None and arrays in their order. They broadcast against each other" +
              (f.appended ? "; the result has `size` dimensions before theirs." : " and to `size`.") + " Accepted: " + f.accepted +
              "; anything else is an error, on a GPU NaN." +
              (f.slope == Slope::kNone ? "" : " Gradients flow to the parameters that are arrays."))
      .set_param<P>()
      .set_inputs(inputs, [f](const Attrs& a) { return Arrays(f, SettingsOf<P>(a)); })
      .set_dtypes(dtypes::kAll)
      .set_infer_shape([f](const Attrs& a, ShapeVector* in, ShapeVector* out) { return DrawShape(f, SettingsOf<P>(a), a, in, out); })
      .set_infer_type([](const Attrs& a, std::vector<int>* in, std::vector<int>* out) { return DrawType(SettingsOf<P>(a), a, in, out); })
      .set_uses_random()
      .set_kernel([f](KernelArgs& args) { Draw(args, f, SettingsOf<P>(*args.attrs)); });
  if (f.slope == Slope::kNone) {
    op.set_zero_gradient();
    return;
  }
  op.set_outputs(
        {"output", "noise"}, [f](const Attrs& a) { return KeepsNoise(f, SettingsOf<P>(a)) ? 2 : 1; }, [](const Attrs&) { return 1; })
      .set_gradient([f](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return Gradients(f, SettingsOf<P>(*node->attrs), node, ograds);
      });
}

Family Appended(Family family, const char* name) {
  family.name = name;
  family.appended = true;
  return family;
}

[[maybe_unused]] const bool registered = [] {
  const char* const scale = "scale >= 0";
  const char* const positive = "a > 0";
  Register<NpLocScaleParam>(kNormalFamily);
  Register<NpLocScaleParam>(Appended(kNormalFamily, "_npi_normal_n"));
  Register<NpLowHighParam>(kUniformFamily);
  Register<NpLowHighParam>(Appended(kUniformFamily, "_npi_uniform_n"));
  Register<NpPlainLocScaleParam>(
      {"_npi_gumbel", "a Gumbel distribution", 2, MXNET_STEP(DrawGumbel, ShiftScale, SecondNotNegative), scale, Slope::kShiftScale});
  Register<NpPlainLocScaleParam>(
      {"_npi_logistic", "a logistic distribution", 2, MXNET_STEP(DrawLogistic, ShiftScale, SecondNotNegative), scale, Slope::kShiftScale});
  Register<NpLocScaleParam>(
      {"_npi_laplace", "a Laplace distribution", 2, MXNET_STEP(DrawLaplace, ShiftScale, SecondNotNegative), scale, Slope::kShiftScale});
  Register<NpScaleParam>({"_npi_exponential", "an exponential distribution of mean `scale`", 1,
                          MXNET_STEP(DrawExponential, OnlyScale, FirstNotNegative), scale, Slope::kScale});
  Register<NpScaleParam>(
      {"_npi_rayleigh", "a Rayleigh distribution", 1, MXNET_STEP(DrawRayleigh, OnlyScale, FirstNotNegative), scale, Slope::kScale});
  Register<NpPowerParam>({"_npi_pareto", "a Pareto distribution that begins at 0 (Lomax)", 1,
                          MXNET_STEP(DrawExponential, PowerAbove, FirstPositive), positive, Slope::kPower, -1, 1});
  Register<NpPowerParam>({"_npi_powerd", "a power distribution on [0, 1]", 1, MXNET_STEP(DrawExponential, PowerBelow, FirstPositive),
                          positive, Slope::kPower, 1, 0});
  Register<NpPowerParam>({"_npi_weibull", "a Weibull distribution of scale 1", 1, MXNET_STEP(DrawLogExponential, PowerOf, FirstPositive),
                          positive, Slope::kPower, -1, 0});
  Register<NpShapeScaleParam>({"_npi_gamma", "a gamma distribution", 2, MXNET_STEP(DrawGamma, SecondScale, BothPositive),
                               "shape > 0 and scale > 0", Slope::kShapeScale});
  Register<NpBernoulliParam>({"_npi_bernoulli", "a Bernoulli distribution: 1 with chance `prob`, else 0", 1,
                              MXNET_STEP(DrawUnit, HitChance, FirstChance), "0 <= prob <= 1"});
  return true;
}();

}  // namespace
}  // namespace mxnet
