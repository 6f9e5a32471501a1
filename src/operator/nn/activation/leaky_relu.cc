// LeakyReLU and its relatives: prelu, elu, selu, gelu, rrelu.
#include <algorithm>
#include <vector>

#include "base/ran.h"
#include "operator/nn/activation/gpu_activation.h"
#include "operator/nn/common/half_pieces.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nodes/make_nodes.h"
#include "operator/pointwise/recipe.h"
#include "operator/record/dtypes.h"
#include "operator/record/initial_value.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"
#include "operator/shared/activation_kernels.h"
#include "operator/shared/epilogue_op.h"
#include "operator/shared/random_philox.h"

namespace mxnet {
namespace nn {

enum LeakyType : int { kLeaky, kPrelu, kElu, kSelu, kGelu, kRrelu };

struct LeakyReLUParam : public Parameter<LeakyReLUParam> {
  int act_type;
  float slope, lower_bound, upper_bound;
  MXNET_DECLARE_PARAM(LeakyReLUParam) {
    MXNET_FIELD(act_type)
        .add_enum("leaky", kLeaky)
        .add_enum("prelu", kPrelu)
        .add_enum("elu", kElu)
        .add_enum("selu", kSelu)
        .add_enum("gelu", kGelu)
        .add_enum("rrelu", kRrelu)
        .set_default(kLeaky)
        .describe("The function.");
    MXNET_FIELD(slope).set_default(0.25f).describe("Slope for negative data (leaky), factor of exp(x) - 1 (elu).");
    MXNET_FIELD(lower_bound).set_default(0.125f).describe("Least random slope (rrelu).");
    MXNET_FIELD(upper_bound).set_default(0.334f).describe("Greatest random slope (rrelu).");
  }
};
MXNET_REGISTER_PARAM(LeakyReLUParam);

namespace {

constexpr int64_t kGrain = 1 << 14;

int Type(const Attrs& a) { return a.get<LeakyReLUParam>().act_type; }
int LoopOf(int type) { return type == kElu ? kActElu : type == kSelu ? kActSelu : type == kGelu ? kActGelu : kActLeaky; }

// prelu: slopes of dimension 1, one for all, or one for each element.
struct Channels {
  int64_t outer = 1, channels = 1, inner = 1;
  bool shared = false;
  Channels(const Shape& data, const Shape& gamma, Layout layout = Layout::kPlain) {
    shared = gamma.Size() == 1;
    if (!shared && gamma == data) {
      channels = data.Size();
      return;
    }
    if (data.ndim() < 2) {
      inner = data.Size();
      return;
    }
    outer = data[0], channels = data[1], inner = data.Prod(2, data.ndim());
    if (layout == Layout::kChannelsLast) outer *= inner, inner = 1;
  }
  bool Rows() const { return inner == 1 && !shared; }  // neighbours have slopes of their own
};

void ForwardOnDevice(KernelArgs& args, const LeakyReLUParam& p) {
  if (p.act_type == kPrelu) {
    const Channels c(args.in[0].shape, args.in[1].shape);
    return PreluOnDevice(args, c.channels, c.inner, args.in[0], args.in[1], args.out[0]);
  }
  if (p.act_type != kRrelu) return ActivationOnDevice(args, LoopOf(p.act_type), p.slope, false);
  const int64_t n = args.out[0].Size();
  TBlob mask = args.out[1];
  if (!Wanted(args, 1)) mask.dptr = args.workspace(mask.Bytes());
  const DeviceDraws draws = args.is_train ? DrawsOnDevice(args.run, args.random, static_cast<uint64_t>(n) / 4 + 1) : DeviceDraws();
  RreluOnDevice(args, args.is_train, draws, p.lower_bound, p.upper_bound - p.lower_bound, 0.5f * (p.lower_bound + p.upper_bound), mask);
}

void BackwardOnDevice(KernelArgs& args, const LeakyReLUParam& p) {
  if (p.act_type == kPrelu) {
    const Channels c(args.in[1].shape, args.in[2].shape);
    return PreluBackwardOnDevice(args, c.outer, c.channels, c.inner);
  }
  if (!Wanted(args, 0)) return;
  if (p.act_type == kRrelu) return MultiplyOnDevice(args, args.in[0], args.in[2], args.out[0]);
  ActivationOnDevice(args, LoopOf(p.act_type), p.slope, true);
}

// Half types, piece by piece, where neighbours share slopes: f(channel, place in piece, number).
template <typename F>
void ForChannels(const Channels& c, int64_t at, int64_t n, F&& f) {
  for (int64_t i = at, end = at; i < at + n; i = end) {
    end = c.shared ? at + n : std::min(at + n, (i / c.inner + 1) * c.inner);
    f(c.shared ? 0 : i / c.inner % c.channels, i - at, end - i);
  }
}
std::vector<float> Slopes(const TBlob& gamma) {
  std::vector<float> slopes(static_cast<size_t>(gamma.Size()));
  ReadFloats(gamma, 0, slopes.data(), gamma.Size());
  return slopes;
}
/* Where neighbours have slopes of their own: these, so often that `length` numbers from any place
 * on find theirs side by side, from place % channels on. */
template <typename T>
std::vector<T> Repeated(const T* slopes, int64_t channels, int64_t length) {
  std::vector<T> all(static_cast<size_t>(length + channels));
  for (size_t i = 0; i < all.size(); ++i) all[i] = i < static_cast<size_t>(channels) ? slopes[i] : all[i - static_cast<size_t>(channels)];
  return all;
}
template <typename T>
void PreluOfRows(const Channels& c, int dtype, const T* x, const T* gamma, T* y) {
  constexpr int64_t kRow = 512;
  if (c.outer == 1 || c.channels >= kRow)
    return ParallelFor(c.outer, std::max<int64_t>(1, kGrain / c.channels), [&](int64_t b, int64_t e) {
      for (int64_t o = b; o < e; ++o) MXNET_CPU_CALL(PreluRow)(dtype, x + o * c.channels, gamma, y + o * c.channels, c.channels);
    });
  const int64_t n = c.outer * c.channels;
  const std::vector<T> slopes = Repeated(gamma, c.channels, std::min(n, kRow));
  Ran("vector loop");
  ParallelFor((n + kRow - 1) / kRow, kGrain / kRow, [&](int64_t b, int64_t e) {
    for (int64_t at = b * kRow; at < std::min(n, e * kRow); at += kRow)
      MXNET_CPU_CALL(PreluRow)(dtype, x + at, slopes.data() + at % c.channels, y + at, std::min(kRow, n - at));
  });
}
void PreluOfHalves(KernelArgs& args, const Channels& c) {
  const std::vector<float> slopes = Slopes(args.in[1]);
  std::vector<float> rows;
  if (c.Rows()) rows = Repeated(slopes.data(), c.channels, kPiece);
  ForPieces<1, 1>({args.in[0]}, {args.out[0]}, args.out[0].Size(), [&](float* const* v, int64_t at, int64_t n) {
    if (c.Rows()) return MXNET_CPU_CALL(PreluRow)(kFloat32, v[0], rows.data() + at % c.channels, v[1], n);
    ForChannels(c, at, n, [&](int64_t channel, int64_t i, int64_t count) {
      MXNET_CPU_CALL(ActivationForward)(kActLeaky, kFloat32, v[0] + i, v[1] + i, count, slopes[static_cast<size_t>(channel)]);
    });
  });
}
// The sum of og * x where x is not positive, of elements [at, at + n).
double SlopeGradient(const TBlob& og, const TBlob& x, int64_t at, int64_t n) {
  constexpr int64_t kPiece = 2048;
  alignas(64) float g[kPiece], v[kPiece];
  double sum = 0;
  for (int64_t done = 0; done < n; done += kPiece) {
    const int64_t count = std::min(kPiece, n - done);
    ReadFloats(og, at + done, g, count), ReadFloats(x, at + done, v, count);
    for (int64_t i = 0; i < count; ++i) sum += v[i] > 0.0f ? 0.0 : static_cast<double>(g[i]) * v[i];
  }
  return sum;
}
void PreluBackwardOfHalves(KernelArgs& args, const Channels& c) {  // ograd, data, gamma -> data_grad, gamma_grad
  const TBlob &og = args.in[0], &x = args.in[1];
  if (Wanted(args, 0)) {
    const std::vector<float> slopes = Slopes(args.in[2]);
    ForPieces<2, 1>({og, x}, {args.out[0]}, x.Size(), [&](float* const* v, int64_t at, int64_t n) {
      ForChannels(c, at, n, [&](int64_t channel, int64_t i, int64_t count) {
        MXNET_CPU_CALL(ActivationBackward)(kActLeaky, kFloat32, v[0] + i, v[1] + i, v[2] + i, count, slopes[static_cast<size_t>(channel)]);
      });
    });
  }
  if (!Wanted(args, 1)) return;
  std::vector<double> sums(static_cast<size_t>(c.channels), 0.0);
  ParallelFor(c.channels, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, c.inner * c.outer)), [&](int64_t b, int64_t e) {
    for (int64_t k = b; k < e; ++k)
      for (int64_t o = 0; o < c.outer; ++o) sums[static_cast<size_t>(k)] += SlopeGradient(og, x, (o * c.channels + k) * c.inner, c.inner);
  });
  if (c.shared) {
    for (size_t k = 1; k < sums.size(); ++k) sums[0] += sums[k];
    sums.resize(1);
  }
  const std::vector<float> rounded(sums.begin(), sums.end());
  WriteFloats(rounded.data(), args.out[1], 0, args.out[1].Size());
}

void Forward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  const auto& given = args.param<LeakyReLUParam>();
  if (args.run.ctx.is_gpu()) return ForwardOnDevice(args, given);
  if (IsHalf(args.in[0].dtype) && given.act_type != kPrelu && given.act_type != kRrelu) {
    const int type = LoopOf(given.act_type);
    return ForPieces<1, 1>({args.in[0]}, {args.out[0]}, args.out[0].Size(), [&](float* const* v, int64_t, int64_t n) {
      MXNET_CPU_CALL(ActivationForward)(type, kFloat32, v[0], v[1], n, given.slope);
    });
  }
  if (IsHalf(args.in[0].dtype) && given.act_type == kPrelu) {
    const Channels c(args.in[0].shape, args.in[1].shape, args.in[0].layout);
    if (!c.Rows() || c.channels < kPiece) return PreluOfHalves(args, c);
  }
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const auto& p = a.param<LeakyReLUParam>();
    const T* x = a.in[0].data<T>();
    T* y = a.out[0].data<T>();
    const int dtype = a.in[0].dtype;
    const int64_t n = a.out[0].Size();
    if (p.act_type == kPrelu) {
      const Channels c(a.in[0].shape, a.in[1].shape, a.in[0].layout);
      const T* gamma = a.in[1].data<T>();
      if (c.Rows()) return PreluOfRows(c, dtype, x, gamma, y);
      Ran("vector loop");
      if (c.shared)
        return ParallelFor(n, kGrain, [&](int64_t b, int64_t e) {
          MXNET_CPU_CALL(ActivationForward)(kActLeaky, dtype, x + b, y + b, e - b, static_cast<double>(gamma[0]));
        });
      ParallelFor(c.outer * c.channels, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, c.inner)), [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; ++i) MXNET_CPU_CALL(ActivationForward)
        (kActLeaky, dtype, x + i * c.inner, y + i * c.inner, c.inner, gamma[i % c.channels]);
      });
    } else if (p.act_type == kRrelu) {
      T* mask = Wanted(a, 1) ? a.out[1].data<T>() : Workspace<T>(a, n);
      const uint64_t first = a.is_train ? a.random->Take(static_cast<uint64_t>(n) / 4 + 1) : 0, seed = a.is_train ? a.random->seed() : 0;
      const float mean = 0.5f * (p.lower_bound + p.upper_bound), range = p.upper_bound - p.lower_bound;
      Ran("vector loop");
      ParallelFor((n + 3) / 4, kGrain / 4, [&](int64_t b, int64_t e) {
        for (int64_t g = b; g < e; ++g) {
          const Philox random(seed, first + static_cast<uint64_t>(g));
          for (int64_t j = 0; j < 4 && 4 * g + j < n; ++j) {
            const float slope = a.is_train ? p.lower_bound + range * Philox::ToFloat(random.word[j]) : mean;
            const int64_t i = 4 * g + j;
            mask[i] = x[i] > T(0) ? T(1) : T(slope);
            y[i] = x[i] * mask[i];
          }
        }
      });
    } else {
      const int type = LoopOf(p.act_type);
      Ran("vector loop");
      ParallelFor(n, kGrain, [&](int64_t b, int64_t e) { MXNET_CPU_CALL(ActivationForward)(type, dtype, x + b, y + b, e - b, p.slope); });
    }
  });
}

void Backward(KernelArgs& args) {  // ograd, data, [gamma | mask] -> data_grad, [gamma_grad]
  const auto& given = args.param<LeakyReLUParam>();
  if (args.run.ctx.is_gpu()) return BackwardOnDevice(args, given);
  if (IsHalf(args.in[0].dtype) && given.act_type != kPrelu && given.act_type != kRrelu) {
    if (!Wanted(args, 0)) return;
    const int type = LoopOf(given.act_type);
    return ForPieces<2, 1>({args.in[0], args.in[1]}, {args.out[0]}, args.out[0].Size(), [&](float* const* v, int64_t, int64_t n) {
      MXNET_CPU_CALL(ActivationBackward)(type, kFloat32, v[0], v[1], v[2], n, given.slope);
    });
  }
  if (IsHalf(args.in[0].dtype) && given.act_type == kPrelu) {
    const Channels c(args.in[1].shape, args.in[2].shape);
    if (!c.Rows()) return PreluBackwardOfHalves(args, c);
  }
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const auto& p = a.param<LeakyReLUParam>();
    const T *og = a.in[0].data<T>(), *x = a.in[1].data<T>();
    T* dx = Wanted(a, 0) ? a.out[0].data<T>() : nullptr;
    const int dtype = a.in[0].dtype;
    const int64_t n = a.in[1].Size();
    if (p.act_type == kPrelu) {
      const Channels c(a.in[1].shape, a.in[2].shape);
      const T* gamma = a.in[2].data<T>();
      if (c.Rows()) {
        constexpr int64_t kColumns = 512;
        T* dg = Wanted(a, 1) ? a.out[1].data<T>() : nullptr;
        Ran("vector loop");
        return ParallelFor((c.channels + kColumns - 1) / kColumns, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, kColumns * c.outer)),
                           [&](int64_t b, int64_t e) {
                             for (int64_t k = b * kColumns; k < std::min(e * kColumns, c.channels); k += kColumns) {
                               double sums[kColumns] = {};
                               const int64_t width = std::min(kColumns, c.channels - k);
                               for (int64_t o = 0; o < c.outer; ++o) {
                                 const int64_t at = o * c.channels + k;
                                 MXNET_CPU_CALL(PreluRowBackward)
                                 (dtype, og + at, x + at, gamma + k, dx ? dx + at : nullptr, dg ? sums : nullptr, width);
                               }
                               if (dg) std::copy(sums, sums + width, dg + k);
                             }
                           });
      }
      if (dx)
        ParallelFor(c.outer * c.channels, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, c.inner)), [&](int64_t b, int64_t e) {
          for (int64_t i = b; i < e; ++i) MXNET_CPU_CALL(ActivationBackward)
          (kActLeaky, dtype, og + i * c.inner, x + i * c.inner, dx + i * c.inner, c.inner, gamma[c.shared ? 0 : i % c.channels]);
        });
      if (Wanted(a, 1)) {
        std::vector<double> sums(c.channels, 0.0);
        Ran("vector loop");
        ParallelFor(c.channels, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, c.inner * c.outer)), [&](int64_t b, int64_t e) {
          for (int64_t k = b; k < e; ++k)
            for (int64_t o = 0; o < c.outer; ++o) {
              const int64_t at = (o * c.channels + k) * c.inner;
              for (int64_t i = at; i < at + c.inner; ++i) sums[k] += x[i] > T(0) ? 0.0 : static_cast<double>(og[i]) * x[i];
            }
        });
        T* dg = a.out[1].data<T>();
        if (c.shared) {
          double all = 0;
          for (double s : sums) all += s;
          dg[0] = static_cast<T>(all);
        } else {
          for (int64_t k = 0; k < c.channels; ++k) dg[k] = static_cast<T>(sums[k]);
        }
      }
    } else if (!dx) {
      return;
    } else if (p.act_type == kRrelu) {
      const T* mask = a.in[2].data<T>();
      Ran("vector loop");
      ParallelFor(n, kGrain, [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; ++i) dx[i] = og[i] * mask[i];
      });
    } else {
      const int type = LoopOf(p.act_type);
      Ran("vector loop");
      ParallelFor(n, kGrain, [&](int64_t b, int64_t e) {
        MXNET_CPU_CALL(ActivationBackward)(type, dtype, og + b, x + b, dx + b, e - b, p.slope);
      });
    }
  });
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  for (Shape& o : *out) {
    AssignShape(attrs, "output", &o, (*in)[0]);
    AssignShape(attrs, "data", &(*in)[0], o);
  }
  if (Type(attrs) == kPrelu && (*in)[0].ndim_known()) {
    const Shape& data = (*in)[0];
    Shape& gamma = (*in)[1];
    if (gamma.ndim() == 1 && gamma[0] == 1) {                                                    // one slope for all channels
    } else if (gamma.ndim_known() && gamma.ndim() == data.ndim() && MergeShape(&gamma, data)) {  // one for each element
    } else if (gamma.ndim() == 2 && gamma[0] == 1 && data.ndim() > 2) {  // of the channels, with a dimension in front
      AssignShape(attrs, "gamma", &gamma, Shape{1, data[1]});
    } else {
      MXNET_CHECK_KIND(data.ndim() >= 2 || gamma.ndim() != 1, Value)
          << Named(attrs) << "prelu on data of shape " << data << "; gamma must then have one element";
      AssignShape(attrs, "gamma", &gamma, Shape{data.ndim() >= 2 ? data[1] : 1});
    }
  }
  for (const Shape& s : *in)
    if (!s.known()) return false;
  return (*out)[0].known();
}

std::vector<NodeEntry> Gradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  std::vector<NodeEntry> inputs = {ograds[0], node->inputs[0]};
  const int type = Type(*node->attrs);
  if (type == kPrelu) inputs.push_back(node->inputs[1]);
  if (type == kRrelu) inputs.push_back(NodeEntry{node, 1, 0});
  NodePtr back = MakeNodeLike("_backward_LeakyReLU", *node, inputs);
  std::vector<NodeEntry> grads;
  for (size_t i = 0; i < node->inputs.size(); ++i) grads.push_back(NodeEntry{back, static_cast<uint32_t>(i), 0});
  return grads;
}

NodeEntry Times(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_mul", {a, b}); }
NodeEntry Scaled(const NodeEntry& a, double by) { return MakeOp("_mul_scalar", {a}, {{"scalar", ExactText(by)}, {"is_int", "0"}}); }
NodeEntry NotAbove(const NodeEntry& x) { return MakeOp("_lesser_equal_scalar", {x}, {{"scalar", "0"}, {"is_int", "0"}}); }

// The derivative of the derivative, where it is not 0.
NodeEntry Curvature(int type, double slope, const NodeEntry& x) {
  if (type == kGelu) {  // density(x) (2 - x^2)
    const NodeEntry square = MakeOp("square", {x});
    const NodeEntry density = Scaled(MakeOp("exp", {Scaled(square, -0.5)}), 0.39894228040143268);
    return Times(density, MakeOp("_rminus_scalar", {square}, {{"scalar", "2"}, {"is_int", "0"}}));
  }
  const NodeEntry low = MakeOp("_minimum_scalar", {x}, {{"scalar", "0"}, {"is_int", "0"}});  // above, exp may not be finite
  return Scaled(Times(NotAbove(x), MakeOp("exp", {low})), type == kElu ? slope : 1.0507009873554805 * 1.6732632423543773);
}

// ograd, data, [gamma | mask] -> data_grad, [gamma_grad]; u and w come from above. The node is
// linear in its gradient.
std::vector<NodeEntry> SecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const int type = Type(*node->attrs);
  const NodeEntry og = node->inputs[0], x = node->inputs[1], u = ograds[0];
  std::vector<NodeEntry> again = node->inputs, grads(node->inputs.size());
  again[0] = u;
  grads[0] = NodeEntry{MakeNodeLike("_backward_LeakyReLU", *node, again), 0, 0};
  if (type == kElu || type == kSelu || type == kGelu)
    grads[1] = Times(Times(og, u), Curvature(type, node->attrs->get<LeakyReLUParam>().slope, x));
  if (type != kPrelu) return grads;
  const NodeEntry gamma = node->inputs[2], w = ograds[1], none = MakeOp("zeros_like", {gamma});
  auto prelu = [&](const NodeEntry& slope) { return NodeEntry{MakeNodeLike("LeakyReLU", *node, {x, slope}), 0, 0}; };
  auto back = [&](const NodeEntry& g, const NodeEntry& data, const NodeEntry& slope, uint32_t which) {
    return NodeEntry{MakeNodeLike("_backward_LeakyReLU", *node, {g, data, slope}), which, 0};
  };
  grads[0] = MakeOp("elemwise_add", {grads[0], MakeOp("elemwise_sub", {prelu(w), prelu(none)})});  // + w x where x <= 0
  grads[1] = MakeOp("elemwise_sub", {back(og, x, w, 0), back(og, x, none, 0)});                    // og w where x <= 0
  const NodeEntry sign = MakeOp("_rminus_scalar", {Scaled(NotAbove(x), 2)}, {{"scalar", "1"}, {"is_int", "0"}});
  grads[2] = Scaled(back(Times(og, u), sign, gamma, 1), -1);  // sum of og u where x <= 0
  return grads;
}

int Outputs(const Attrs& a) { return Type(a) == kRrelu ? 2 : 1; }

std::string InitialSlope(const Attrs&, const std::string& input) { return input == "gamma" ? "[\"Constant\", {\"value\": 0.25}]" : ""; }

pointwise::FusionRecipe FusedAs(pointwise::Recipe::Kind kind, int operands) {
  pointwise::FusionRecipe recipe = pointwise::RecipeOfKind(kind);
  recipe.prepared.count = operands;
  recipe.fill = [](const Attrs& attrs, int, pointwise::Recipe* r) {
    const auto& p = attrs.get<LeakyReLUParam>();
    r->row = LoopOf(p.act_type), r->params[0] = static_cast<double>(p.slope);
    return p.act_type != kPrelu && p.act_type != kRrelu;
  };
  return recipe;
}

EpilogueOp EpilogueOfType(const Attrs& attrs) {
  const auto& p = attrs.get<LeakyReLUParam>();
  switch (p.act_type) {
    case kLeaky: return {EpilogueKind::kLeaky, p.slope};
    case kElu: return {EpilogueKind::kElu, p.slope};
    default: return {};
  }
}

MXNET_REGISTER_OP(LeakyReLU)
    .describe(
        "Element by element, by act_type: leaky x or slope x; prelu the same with a learned slope gamma per channel; elu x or slope "
        "(exp(x) - 1)\n"
        "(Clevert et al. 2015); selu, the self-normalizing scaled elu (Klambauer et al. 2017); gelu x Phi(x) (Hendrycks and Gimpel 2016); "
        "rrelu with a slope\n"
        "drawn from [lower_bound, upper_bound) in training and their mean otherwise (Xu et al. 2015).\n\n"
        "gamma has shape (channels,), (1,) or that of data. float16, bfloat16, float32 and float64.")
    .alias("_npx_leaky_relu")
    .set_trait(RoleByParameters{[](const Attrs& a) { return Type(a) == kGelu ? Role::kGelu : Role::kNone; }})
    .set_trait(AsEpilogue{EpilogueOfType})
    .set_param<LeakyReLUParam>()
    .set_inputs({"data", "gamma"}, [](const Attrs& a) { return Type(a) == kPrelu ? 2 : 1; })
    .set_outputs({"output", "mask"}, Outputs)
    .set_list_outputs([](const Attrs& a) {
      return Outputs(a) == 2 ? std::vector<std::string>{"output", "mask"} : std::vector<std::string>{"output"};
    })
    .set_infer_shape(ForwardShape)
    .set_dtypes(dtypes::kFloats)
    .set_uses_random()
    .set_depends_on_training()
    .set_gradient(Gradient)
    .set_inplace({{0, 0}})
    .set_layout(LayoutRule::kAgnostic)
    .set_trait(ImagesOnCpu{[](const Attrs& a) { return Type(a) == kPrelu; }})  // the slopes are those of channels
    .set_precision_condition("act_type", {"elu", "selu"})
    .set_trait(InitialValues{InitialSlope})
    .set_trait(FusedAs(pointwise::Recipe::kActivation, 1))
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_LeakyReLU)
    .describe("Gradients of LeakyReLU with respect to data and gamma.")
    .set_param<LeakyReLUParam>()
    .set_inputs({"ograd", "data", "gamma"}, [](const Attrs& a) { return Type(a) == kPrelu || Type(a) == kRrelu ? 3 : 2; })
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad", "gamma_grad"}, [](const Attrs& a) { return Type(a) == kPrelu ? 2 : 1; })
    .set_infer_shape(LikeInputsShape(1))
    .set_gradient(SecondGradient)
    .set_trait(FusedAs(pointwise::Recipe::kActivationGradient, 2))
    .set_kernel(Backward);

}  // namespace
}  // namespace nn

NodePtr MakeGelu(const NodeEntry& data, const std::string& name) { return MakeNode("LeakyReLU", {data}, {{"act_type", "gelu"}}, name); }

}  // namespace mxnet
