// LAMB (You et al. 2020) and LANS (Zheng et al. 2020) for many weights in one call.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/dtype.h"
#include "mxnet/ndarray.h"
#include "operator/optimizer/multi_update.h"
#include "operator/optimizer/scaled_update.h"
#include "operator/record/tuple_field.h"

namespace mxnet {
namespace {

#define MXNET_LAMB_FIELDS                                                                                                        \
  MXNET_FIELD(learning_rates).describe("Learning rate of each weight.");                                                         \
  MXNET_UPDATE_BETAS;                                                                                                            \
  MXNET_FIELD(epsilon).set_default(1e-6f).describe("Added to the square root.");                                                 \
  MXNET_FIELD(wds).describe("Weight decay of each weight, added to the direction.");                                             \
  MXNET_UPDATE_RESCALE;                                                                                                          \
  MXNET_FIELD(lower_bound).set_default(-1.0f).describe("Least norm of the weight that the trust ratio sees; negative: none.");   \
  MXNET_FIELD(upper_bound).set_default(-1.0f).describe("Largest norm of the weight that the trust ratio sees; negative: none."); \
  MXNET_UPDATE_CLIP

#define MXNET_LAMB_COUNTS                                                            \
  MXNET_FIELD(step_count).describe("Number of this update of each weight, from 1."); \
  MXNET_FIELD(num_tensors).set_default(1).describe("Number of weights.")

struct MultiLambParam : public Parameter<MultiLambParam> {
  Tuple<float> learning_rates, wds;
  float beta1, beta2, epsilon, rescale_grad, lower_bound, upper_bound, clip_gradient;
  bool bias_correction;
  Shape step_count;
  int num_tensors;
  MXNET_DECLARE_PARAM(MultiLambParam) {
    MXNET_LAMB_FIELDS;
    MXNET_FIELD(bias_correction).set_default(true).describe("Divide the means by 1 - beta^t.");
    MXNET_LAMB_COUNTS;
  }
};

struct MultiLansParam : public Parameter<MultiLansParam> {
  Tuple<float> learning_rates, wds;
  float beta1, beta2, epsilon, rescale_grad, lower_bound, upper_bound, clip_gradient;
  static constexpr bool bias_correction = true;
  Shape step_count;
  int num_tensors;
  MXNET_DECLARE_PARAM(MultiLansParam) {
    MXNET_LAMB_FIELDS;
    MXNET_LAMB_COUNTS;
  }
};

MXNET_REGISTER_PARAM(MultiLambParam);
MXNET_REGISTER_PARAM(MultiLansParam);

template <typename P>
int Count(const Attrs& a) {
  const int n = a.get<P>().num_tensors;
  MXNET_CHECK_KIND(n >= 1, Value) << "[" << a.op->name << "] num_tensors is " << n << "; accepted: 1 or more";
  return n;
}

template <typename P>
void CheckLists(const Attrs& a) {
  const P& p = a.get<P>();
  const int n = p.num_tensors;
  const int steps = p.step_count.ndim_known() ? p.step_count.ndim() : 0;
  MXNET_CHECK_KIND(p.learning_rates.size() == n && p.wds.size() == n && steps == n, Value)
      << "[" << a.op->name << "] got " << p.learning_rates.size() << " learning_rates, " << p.wds.size() << " decays (wds) and " << steps
      << " step counts; accepted: num_tensors = " << n << " of each";
  for (int w = 0; w < n && p.bias_correction; ++w)
    MXNET_CHECK_KIND(p.step_count[w] >= 1, Value)
        << "[" << a.op->name << "] step_count is " << p.step_count << "; accepted: numbers from 1";
}

/* The two phases of all weights: directions from the gradients, steps from the directions. */
struct Plan {
  bool lans;
  NormRates rates;
  std::vector<UpdateArgs> first, second;
  std::vector<int64_t> sizes;
  std::vector<TBlob> weights, grads, directions, more;  // more: the second directions of LANS
};

TBlob Buffer(KernelArgs& a, const Shape& shape, int dtype) {
  TBlob b;
  b.shape = shape;
  b.dtype = dtype;
  b.ctx = a.run.ctx;
  b.dptr = a.workspace(std::max<size_t>(b.Bytes(), 1));
  return b;
}

template <typename P>
Plan MakePlan(KernelArgs& a, MomentGroups g, bool lans) {
  const P& p = a.param<P>();
  Plan plan;
  plan.lans = lans;
  plan.rates = {lans ? NormRates::kLans : NormRates::kLamb, p.rescale_grad, p.beta1, p.lower_bound, p.upper_bound};
  for (int w = 0; w < p.num_tensors; ++w) {
    const TBlob* in = &a.in[w * g.stride()];
    const bool wanted = a.req[w] != OpReq::kNull;
    plan.sizes.push_back(wanted ? in[0].Size() : 0);
    const int wide = in[0].dtype == kFloat64 && !g.master ? kFloat64 : kFloat32, dtype = g.master ? int{kFloat32} : in[0].dtype;
    const int made = a.run.ctx.is_gpu() && !g.master ? dtype : wide;  // of a direction
    const Shape shape = wanted ? in[0].shape : Shape{0};
    plan.directions.push_back(Buffer(a, shape, made));
    if (lans) plan.more.push_back(Buffer(a, shape, made));
    plan.weights.push_back(g.master ? in[4] : in[0]);
    plan.grads.push_back(in[1]);
    UpdateArgs u = MomentArrays(a, g, w);
    UpdateArgs v = u;
    u.rule = lans ? UpdateRule::kLans1 : UpdateRule::kLamb1;
    u.out = plan.directions[w].dptr;
    if (lans) u.state[2] = plan.more[w].dptr;
    const auto unbias = [&](float beta) {
      return p.bias_correction ? 1 / (1 - std::pow(static_cast<double>(beta), static_cast<double>(p.step_count[w]))) : 1;
    };
    u.numbers.lr = p.learning_rates[w], u.numbers.wd = p.wds[w], u.numbers.rescale = p.rescale_grad,
    u.numbers.clip = UpdateBound(p.clip_gradient);
    u.numbers.beta1 = p.beta1, u.numbers.beta2 = p.beta2, u.numbers.epsilon = p.epsilon, u.numbers.unbias1 = unbias(p.beta1),
    u.numbers.unbias2 = unbias(p.beta2);
    v.rule = lans ? UpdateRule::kLans2 : UpdateRule::kLamb2;
    v.grad = u.out;
    v.state[0] = u.state[2];
    v.state[1] = nullptr;
    v.numbers.lr = p.learning_rates[w];
    plan.first.push_back(u);
    plan.second.push_back(v);
  }
  return plan;
}

// ---- on the CPU

constexpr int64_t kPiece = 8192;  // elements whose squares are added before they go to the others

/* Pieces of all weights. */
struct Piece {
  int weight;
  int64_t begin, end;
};

std::vector<Piece> PiecesOf(const std::vector<int64_t>& sizes) {
  std::vector<Piece> pieces;
  for (size_t w = 0; w < sizes.size(); ++w)
    for (int64_t i = 0; i < sizes[w]; i += kPiece) pieces.push_back({static_cast<int>(w), i, std::min(sizes[w], i + kPiece)});
  return pieces;
}

double Ratio(double weight, double direction) { return weight == 0 || direction == 0 ? 1 : weight / direction; }

/* f(piece, sums): adds to the sums of the piece. Returns those of each weight, in the order of the
 * pieces: the same on any number of threads. */
template <typename F>
std::vector<std::array<double, 3>> SumPieces(const std::vector<Piece>& pieces, size_t weights, F&& f) {
  std::vector<std::array<double, 3>> parts(pieces.size(), {0, 0, 0}), sums(weights, {0, 0, 0});
  ParallelFor(static_cast<int64_t>(pieces.size()), 2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(pieces[i], &parts[i]);
  });
  for (size_t i = 0; i < pieces.size(); ++i)
    for (int k = 0; k < 3; ++k) sums[pieces[i].weight][k] += parts[i][k];
  return sums;
}

double SquaresOf(const TBlob& b, const Piece& p) { return MXNET_CPU_CALL(SumOfSquares)(b.dtype, b.dptr, p.begin, p.end); }

void RunOnCpu(Plan& plan) {
  const std::vector<Piece> pieces = PiecesOf(plan.sizes);
  const size_t n = plan.sizes.size();
  const NormRates& rates = plan.rates;
  if (plan.lans) {
    const auto sums = SumPieces(pieces, n, [&](const Piece& p, auto* sum) { (*sum)[0] = SquaresOf(plan.grads[p.weight], p); });
    for (size_t w = 0; w < n; ++w) {
      const double norm = std::sqrt(sums[w][0]) * std::fabs(rates.rescale);
      plan.first[w].numbers.lr = norm == 0 ? 0 : 1 / norm;
    }
  }
  const auto sums = SumPieces(pieces, n, [&](const Piece& p, auto* sum) {
    (*sum)[0] = SquaresOf(plan.weights[p.weight], p);  // the rule leaves the piece in the cache
    MXNET_CPU_CALL(UpdateRange)(plan.first[p.weight], p.begin, p.end);
    (*sum)[1] = SquaresOf(plan.directions[p.weight], p);
    if (plan.lans) (*sum)[2] = SquaresOf(plan.more[p.weight], p);
  });
  std::vector<int64_t> ends(n);
  int64_t total = 0;
  for (size_t w = 0; w < n; ++w) {
    double norm = std::sqrt(sums[w][0]);
    if (rates.lower >= 0 && norm < rates.lower) norm = rates.lower;
    if (rates.upper >= 0 && norm > rates.upper) norm = rates.upper;
    UpdateNumbers* const to = &plan.second[w].numbers;
    const double lr = to->lr, share = plan.lans ? rates.beta1 : 1;
    to->lr = lr * share * Ratio(norm, std::sqrt(sums[w][1]));
    to->wd = plan.lans ? lr * (1 - share) * Ratio(norm, std::sqrt(sums[w][2])) : 0;
    ends[w] = total += plan.sizes[w];
  }
  ForWeights(ends, [&](int w, int64_t begin, int64_t end) { MXNET_CPU_CALL(UpdateRange)(plan.second[w], begin, end); });
}

/* 16-bit arrays without float32 copies are computed in float32: a variance rounded to 16 bits may
 * be 0, and the direction then without bound. */
template <typename P>
void RunOnFloats(KernelArgs& a, MomentGroups g, bool lans) {
  std::vector<TBlob> in(a.in.begin(), a.in.end()), out(a.out.begin(), a.out.end());
  for (auto* list : {&in, &out})
    for (TBlob& b : *list) {
      if (!IsHalf(b.dtype)) continue;
      const TBlob narrow = b;
      b = Buffer(a, narrow.shape, kFloat32);
      if (list == &in) ConvertElements(narrow.dptr, narrow.dtype, b.dptr, kFloat32, narrow.Size());
    }
  KernelArgs wide = a;
  wide.in = Span<const TBlob>(in.data(), static_cast<int>(in.size()));
  wide.out = Span<const TBlob>(out.data(), static_cast<int>(out.size()));
  Plan plan = MakePlan<P>(wide, g, lans);
  RunOnCpu(plan);
  for (size_t w = 0; w < out.size(); ++w) {
    if (!IsHalf(a.out[w].dtype) || a.req[w] == OpReq::kNull) continue;
    ConvertElements(out[w].dptr, kFloat32, a.out[w].dptr, a.out[w].dtype, out[w].Size());
    for (int k = 2; k < 4; ++k) {
      const TBlob& state = a.in[w * g.stride() + k];
      ConvertElements(in[w * g.stride() + k].dptr, kFloat32, state.dptr, state.dtype, state.Size());
    }
  }
}

// ---- on a GPU

void RunOnDevice(KernelArgs& a, Plan& plan) {
  const int n = static_cast<int>(plan.sizes.size());
  double* const lrs = static_cast<double*>(a.workspace(static_cast<size_t>(2 * n) * sizeof(double)));
  const DeviceRates from{lrs, lrs + n, kFloat64};
  std::vector<std::vector<TBlob>> arrays;
  for (int w = 0; w < n; ++w) {
    TBlob weight = plan.weights[w];
    if (plan.sizes[w] == 0) weight.shape = Shape{0};
    arrays.push_back({weight, plan.directions[w]});
    if (plan.lans) arrays[w].push_back(plan.more[w]);
  }
  if (plan.lans) {
    std::vector<std::vector<TBlob>> grads;
    for (const TBlob& g : plan.grads) grads.push_back({g});
    NormRates of = plan.rates;
    of.kind = NormRates::kOfGradient;
    RatesFromNorms(a, of, grads, plan.first, lrs, lrs + n);
  }
  UpdateOnDevice(a.run, plan.first.data(), plan.sizes.data(), n, plan.lans ? from : DeviceRates());
  RatesFromNorms(a, plan.rates, arrays, plan.second, lrs, lrs + n);
  UpdateOnDevice(a.run, plan.second.data(), plan.sizes.data(), n, from);
}

template <typename P>
void Register(const char* name, bool lans, bool master, const char* text) {
  const MomentGroups g{master, false};
  SetMoments(name, g, Count<P>, CheckLists<P>).describe(text).template set_param<P>().set_kernel([g, lans](KernelArgs& a) {
    const bool half = std::any_of(a.out.begin(), a.out.end(), [](const TBlob& b) { return IsHalf(b.dtype); });
    if (half && !g.master && !a.run.ctx.is_gpu()) return RunOnFloats<P>(a, g, lans);
    Plan plan = MakePlan<P>(a, g, lans);
    a.run.ctx.is_gpu() ? RunOnDevice(a, plan) : RunOnCpu(plan);
  });
}

[[maybe_unused]] const bool registered = [] {
  const char* const lamb =
      "LAMB (You et al., ICLR 2020) of several weights; `data` is weight, grad, mean, var of each in turn.\n\n"
      "Adam's means of clip(rescale_grad*grad), divided by 1 - beta^t with bias_correction, give a direction d = mean/(sqrt(var) + "
      "epsilon) + wd*weight; weight -= lr*ratio*d, where ratio is the norm of the weight, cut to [lower_bound, upper_bound], over that "
      "of d, or 1 when either is 0. Each mean and var is updated in place.";
  const char* const lans =
      "LANS (Zheng et al. 2020, arXiv:2006.13484) of several weights; `data` is weight, grad, mean, var of each in turn.\n\n"
      "The gradient is rescaled, divided by its norm (a gradient of zeros stays), then cut to clip_gradient: g. With Adam's means of g, "
      "divided by 1 - beta^t, there are two directions, r = mean/(sqrt(var) + epsilon) + wd*weight and c = g/(sqrt(var) + epsilon) + "
      "wd*weight; weight -= lr*(beta1*ratio(r)*r + (1-beta1)*ratio(c)*c), where ratio is the norm of the weight, cut to [lower_bound, "
      "upper_bound], over that of the direction, or 1 when either is 0. Each mean and var is updated in place.";
  Register<MultiLambParam>("_multi_lamb_update", false, false, lamb);
  Register<MultiLambParam>("_multi_mp_lamb_update", false, true,
                           "_multi_lamb_update for 16-bit weights; `data` is weight, grad, mean, var, weight32 of each in turn. Means and "
                           "`weight32` are float32 and updated in place; the weight is rounded into the result.");
  Register<MultiLansParam>("_multi_lans_update", true, false, lans);
  Register<MultiLansParam>("_multi_mp_lans_update", true, true,
                           "_multi_lans_update for 16-bit weights; `data` is weight, grad, mean, var, weight32 of each in turn. Means and "
                           "`weight32` are float32 and updated in place; the weight is rounded into the result.");
  return true;
}();

}  // namespace
}  // namespace mxnet
