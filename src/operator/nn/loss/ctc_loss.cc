// Connectionist temporal classification (Graves et al., ICML 2006): forward and backward variables,
// scaled or as logarithms.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "operator/control/written_out.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/loss/gpu_ctc.h"
#include "operator/nn/loss/losses_twice.h"
#include "operator/nn/softmax/softmax_kernels.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"

namespace mxnet {
namespace nn {

struct CTCLossParam : public Parameter<CTCLossParam> {
  bool use_data_lengths, use_label_lengths;
  int blank_label;
  MXNET_DECLARE_PARAM(CTCLossParam) {
    MXNET_FIELD(use_data_lengths).set_default(false).describe("data_lengths gives the number of steps of each sequence.");
    MXNET_FIELD(use_label_lengths)
        .set_default(false)
        .describe("label_lengths gives the number of labels of each sequence; otherwise the first padding ends it.");
    MXNET_FIELD(blank_label)
        .add_enum("first", 0)
        .add_enum("last", 1)
        .set_default(0)
        .describe("Class of the blank: first (0; labels start at 1, padding is 0) or last (labels start at 0, padding is -1).");
  }
};
MXNET_REGISTER_PARAM(CTCLossParam);

namespace {

constexpr double kMinus = -std::numeric_limits<double>::infinity();

double LogAdd(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kMinus ? a : a + std::log1p(std::exp(b - a));
}

int Inputs(const Attrs& a) { return 2 + a.get<CTCLossParam>().use_data_lengths + a.get<CTCLossParam>().use_label_lengths; }

std::vector<std::string> InputNames(const Attrs& a) {
  std::vector<std::string> names = {"data", "label"};
  if (a.get<CTCLossParam>().use_data_lengths) names.push_back("data_lengths");
  if (a.get<CTCLossParam>().use_label_lengths) names.push_back("label_lengths");
  return names;
}

// What one operator call works on. `first`: index of data among the inputs.
struct Problem {
  int64_t steps, batch, classes, blank;
  std::vector<std::vector<int64_t>> labels;
  std::vector<int64_t> lengths;
  Problem(KernelArgs& a, int first) {
    const auto& p = a.param<CTCLossParam>();
    const Shape& data = a.in[first].shape;
    steps = data[0], batch = data[1], classes = data[2], blank = p.blank_label == 0 ? 0 : classes - 1;
    int next = first + 2;
    const int64_t *label = AsInt64(a, a.in[first + 1]), *data_lengths = p.use_data_lengths ? AsInt64(a, a.in[next++]) : nullptr,
                  *label_lengths = p.use_label_lengths ? AsInt64(a, a.in[next]) : nullptr;
    const int64_t width = a.in[first + 1].shape[1], padding = p.blank_label == 0 ? 0 : -1;
    for (int64_t n = 0; n < batch; ++n) {
      lengths.push_back(data_lengths ? std::min(std::max<int64_t>(data_lengths[n], 0), steps) : steps);
      std::vector<int64_t> row;
      for (int64_t i = 0; i < width; ++i) {
        const int64_t l = label[n * width + i];
        if (label_lengths ? i >= label_lengths[n] : l == padding) break;
        MXNET_CHECK_KIND(l >= 0 && l < classes, Value)
            << "[CTCLoss] label " << l << " of sequence " << n << "; accepted are the classes 0 to " << classes - 1;
        row.push_back(l);
      }
      labels.push_back(std::move(row));
    }
  }
};

// Loss of sequence n, and, when dx is given, the gradient times `scale`. An alignment that does not
// exist costs 0 and gives gradient 0, as in 1.x. Everything as logarithms, for what the fast way
// below does not reach.
template <typename T>
double SequenceByLogs(const Problem& q, int64_t n, const T* x, T* dx, double scale) {
  const int64_t steps = q.lengths[n], c = q.classes, stride = q.batch * c;
  const std::vector<int64_t>& label = q.labels[n];
  const int64_t states = 2 * static_cast<int64_t>(label.size()) + 1;
  x += n * c;
  if (dx) {
    dx += n * c;
    for (int64_t t = 0; t < q.steps; ++t) std::fill(dx + t * stride, dx + t * stride + c, T(0));
  }
  if (steps == 0) return 0;
  std::vector<double> logp(steps * c), alpha(steps * states, kMinus);
  for (int64_t t = 0; t < steps; ++t) {
    double top = kMinus, sum = 0;
    for (int64_t k = 0; k < c; ++k) top = std::max(top, static_cast<double>(x[t * stride + k]));
    for (int64_t k = 0; k < c; ++k) sum += std::exp(static_cast<double>(x[t * stride + k]) - top);
    const double shift = top + std::log(sum);
    for (int64_t k = 0; k < c; ++k) logp[t * c + k] = static_cast<double>(x[t * stride + k]) - shift;
  }
  auto symbol = [&](int64_t s) { return s % 2 ? label[s / 2] : q.blank; };
  auto skips = [&](int64_t s) {
    return s % 2 && s >= 3 && label[s / 2] != label[s / 2 - 1] && label[s / 2] != q.blank;
  };  // state s follows s - 2 without the blank
  alpha[0] = logp[q.blank];
  if (states > 1) alpha[1] = logp[symbol(1)];
  for (int64_t t = 1; t < steps; ++t)
    for (int64_t s = 0; s < states; ++s) {
      const double* before = &alpha[(t - 1) * states];
      double v = before[s];
      if (s >= 1) v = LogAdd(v, before[s - 1]);
      if (skips(s)) v = LogAdd(v, before[s - 2]);
      alpha[t * states + s] = v + logp[t * c + symbol(s)];
    }
  const double* end = &alpha[(steps - 1) * states];
  const double total = states > 1 ? LogAdd(end[states - 1], end[states - 2]) : end[0];
  if (total == kMinus) return 0;
  if (!dx) return -total;
  std::vector<double> beta(states, kMinus), next(states), occupied(c);
  beta[states - 1] = 0;
  if (states > 1) beta[states - 2] = 0;
  for (int64_t t = steps - 1; t >= 0; --t) {
    if (t < steps - 1) {  // beta excludes the step's own probability
      const double* p = &logp[(t + 1) * c];
      for (int64_t s = 0; s < states; ++s) {
        double v = beta[s] + p[symbol(s)];
        if (s + 1 < states) v = LogAdd(v, beta[s + 1] + p[symbol(s + 1)]);
        if (s + 2 < states && skips(s + 2)) v = LogAdd(v, beta[s + 2] + p[symbol(s + 2)]);
        next[s] = v;
      }
      beta.swap(next);
    }
    std::fill(occupied.begin(), occupied.end(), 0.0);
    for (int64_t s = 0; s < states; ++s) occupied[symbol(s)] += std::exp(alpha[t * states + s] + beta[s] - total);
    for (int64_t k = 0; k < c; ++k) dx[t * stride + k] = static_cast<T>(scale * (std::exp(logp[t * c + k]) - occupied[k]));
  }
  return -total;
}

/*
 * The same with probabilities that are scaled to a sum of 1 in each step (Rabiner, "A tutorial on
 * hidden Markov models", 1989, section V.A; Graves et al., "Connectionist temporal classification",
 * 2006), over the states from which the end can still be reached. False where nothing is left of
 * the probabilities in double.
 */
template <typename T>
bool SequenceByScale(const Problem& q, int64_t n, const T* x, T* dx, double scale, double* loss) {
  const int64_t steps = q.lengths[n], c = q.classes, stride = q.batch * c;
  const std::vector<int64_t>& label = q.labels[n];
  const int64_t states = 2 * static_cast<int64_t>(label.size()) + 1;
  if (steps == 0) return false;
  x += n * c;
  std::vector<double> p(steps * c), alpha(steps * states, 0.0);
  for (int64_t t = 0; t < steps; ++t) std::copy(x + t * stride, x + t * stride + c, p.begin() + t * c);
  SoftmaxCall call;
  call.length = c;
  MXNET_CPU_CALL(SoftmaxForward)(call, kFloat64, p.data(), p.data(), 0, steps);
  std::vector<int64_t> symbol(states);
  std::vector<double> skips(states, 0.0);  // 1: the state follows the one two before it without the blank
  for (int64_t s = 0; s < states; ++s) {
    symbol[s] = s % 2 ? label[s / 2] : q.blank;
    if (s % 2 && s >= 3 && label[s / 2] != label[s / 2 - 1] && label[s / 2] != q.blank) skips[s] = 1.0;
  }
  auto first = [&](int64_t t) { return std::max<int64_t>(0, states - 2 * (steps - t)); };
  auto last = [&](int64_t t) { return std::min(states - 1, 2 * t + 1); };
  double log_scale = 0;
  for (int64_t t = 0; t < steps; ++t) {
    double* now = &alpha[t * states];
    const double *before = now - states, *own = &p[t * c];
    double sum = 0;
    for (int64_t s = first(t); s <= last(t); ++s) {
      double v = t == 0 ? 1.0 : before[s];
      if (t > 0 && s >= 1) v += before[s - 1];
      if (t > 0 && s >= 2) v += skips[s] * before[s - 2];
      sum += now[s] = v * own[symbol[s]];
    }
    if (!(sum > 0) || sum > 1e300) return false;
    log_scale += std::log(sum);
    const double factor = 1.0 / sum;
    for (int64_t s = first(t); s <= last(t); ++s) now[s] *= factor;
  }
  const double* end = &alpha[(steps - 1) * states];
  const double total = end[states - 1] + (states > 1 ? end[states - 2] : 0.0);
  if (!(total > 0)) return false;
  *loss = -(std::log(total) + log_scale);
  if (!dx) return true;
  std::vector<double> beta(states + 2, 0.0), next(states + 2, 0.0), grad(steps * c);  // two states behind the last one that are none
  beta[states - 1] = 1;
  if (states > 1) beta[states - 2] = 1;
  for (int64_t t = steps - 1; t >= 0; --t) {
    if (t < steps - 1) {  // beta excludes the step's own probability
      const double* after = &p[(t + 1) * c];
      double sum = 0;
      for (int64_t s = 0; s < states; ++s) beta[s] *= after[symbol[s]];
      std::fill(next.begin(), next.end(), 0.0);
      for (int64_t s = 0; s <= last(t); ++s) sum += next[s] = beta[s] + beta[s + 1] + (s + 2 < states ? skips[s + 2] * beta[s + 2] : 0.0);
      if (!(sum > 0)) return false;
      const double factor = 1.0 / sum;
      for (int64_t s = 0; s < states; ++s) beta[s] = next[s] * factor;
    }
    const double* now = &alpha[t * states];
    double sum = 0;
    for (int64_t s = 0; s < states; ++s) sum += now[s] * beta[s];
    if (!(sum > 1e-280)) return false;
    double* g = &grad[t * c];
    std::copy(p.begin() + t * c, p.begin() + (t + 1) * c, g);
    for (int64_t s = 0; s < states; ++s) g[symbol[s]] -= now[s] * beta[s] / sum;
  }
  dx += n * c;
  for (int64_t t = 0; t < q.steps; ++t)
    for (int64_t k = 0; k < c; ++k) dx[t * stride + k] = t < steps ? static_cast<T>(scale * grad[t * c + k]) : T(0);
  return true;
}

template <typename T>
double Sequence(const Problem& q, int64_t n, const T* x, T* dx, double scale) {
  double loss = 0;
  return SequenceByScale(q, n, x, dx, scale, &loss) ? loss : SequenceByLogs(q, n, x, dx, scale);
}

// `first`: index of data among the inputs.
void OnDevice(KernelArgs& args, int first) {
  const auto& p = args.param<CTCLossParam>();
  CtcArrays c;
  int next = first + 2;
  c.data = &args.in[first], c.label = &args.in[first + 1];
  if (p.use_data_lengths) c.data_lengths = &args.in[next++];
  if (p.use_label_lengths) c.label_lengths = &args.in[next];
  c.blank_first = p.blank_label == 0;
  CtcOnDevice(args, c, first == 1 ? &args.in[0] : nullptr, args.out[0]);
}

void Forward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return OnDevice(args, 0);
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const Problem q(a, 0);
    ParallelFor(q.batch, 1, [&](int64_t b, int64_t e) {
      for (int64_t n = b; n < e; ++n) a.out[0].data<T>()[n] = static_cast<T>(Sequence<T>(q, n, a.in[0].data<T>(), nullptr, 0));
    });
  });
}

void Backward(KernelArgs& args) {  // ograd, data, label, ... -> data_grad
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return OnDevice(args, 1);
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const Problem q(a, 1);
    ParallelFor(q.batch, 1, [&](int64_t b, int64_t e) {
      for (int64_t n = b; n < e; ++n) Sequence<T>(q, n, a.in[1].data<T>(), a.out[0].data<T>(), static_cast<double>(a.in[0].data<T>()[n]));
    });
  });
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(data.ndim() == 3, Value) << Named(attrs) << "data has shape " << data << "; (steps, batch, classes) is needed";
  MXNET_CHECK_KIND(data[2] != 0, Value) << Named(attrs) << "data has shape " << data << "; at least the blank is needed as a class";
  AssignShape(attrs, "output", &(*out)[0], Shape{data[1]});
  if ((*in)[1].ndim_known())
    MXNET_CHECK_KIND((*in)[1].ndim() == 2 && ((*in)[1][0] == data[1] || (*in)[1][0] < 0 || data[1] < 0), Value)
        << Named(attrs) << "label has shape " << (*in)[1] << "; (" << data[1] << ", labels) is needed";
  if (data[0] >= 0 && (*in)[1].ndim_known() && (*in)[1][1] >= 0)
    MXNET_CHECK_KIND(data[0] >= (*in)[1][1], Value) << Named(attrs) << "data has shape " << data << " and label " << (*in)[1]
                                                    << "; as many steps as labels, " << (*in)[1][1] << ", are needed";
  for (size_t i = 2; i < in->size(); ++i) AssignShape(attrs, "lengths", &(*in)[i], Shape{data[1]});
  return data.known() && (*in)[1].known();
}

bool ForwardType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  for (size_t i = 1; i < in->size(); ++i)
    if ((*in)[i] == kDTypeUnknown) (*in)[i] = (*in)[0];
  return (*in)[0] != kDTypeUnknown;
}

std::vector<NodeEntry> WriteOut(const Node& backward, const std::vector<NodeEntry>& inputs) {
  const auto& p = backward.attrs->get<CTCLossParam>();
  return {WriteOutCtc({p.use_data_lengths, p.use_label_lengths, p.blank_label == 0}, inputs)};
}

MXNET_REGISTER_OP(CTCLoss)
    .set_expensive_to_recompute()
    .describe(
        "Connectionist temporal classification loss of each sequence of a batch.\n\n"
        "data has shape (steps, batch, classes) and holds scores before softmax, label (batch, labels), the lengths (batch,); the output "
        "has shape (batch,).\n"
        "There are at least as many steps as labels in a row of label. A sequence that still does not fit gives loss and gradient 0. "
        "float16, bfloat16, float32 and float64.")
    .alias("ctc_loss")
    .alias("_contrib_CTCLoss")
    .alias("_contrib_ctc_loss")
    .alias("_npx_ctc_loss")
    .set_param<CTCLossParam>()
    .set_inputs({"data", "label", "data_lengths", "label_lengths"}, Inputs)
    .set_list_inputs(InputNames)
    .set_outputs({"output0"})  // the reference hides another output behind it
    .set_infer_shape(ForwardShape)
    .set_infer_type(ForwardType)
    .set_precision(Precision::kFull)
    .set_dtypes(dtypes::kFloats)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      std::vector<NodeEntry> inputs = {ograds[0]};
      inputs.insert(inputs.end(), node->inputs.begin(), node->inputs.end());
      std::vector<NodeEntry> grads(node->inputs.size());
      grads[0] = NodeEntry{MakeNodeLike("_backward_CTCLoss", *node, inputs), 0, 0};
      return grads;
    })
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_CTCLoss)
    .describe("Gradient of CTCLoss with respect to data.")
    .set_param<CTCLossParam>()
    .set_inputs({"ograd", "data", "label", "data_lengths", "label_lengths"}, [](const Attrs& a) { return 1 + Inputs(a); })
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad"})
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(LikeInputsType(1))
    .set_gradient(GradientOfWrittenOut(
        WriteOut, [](const Attrs&) { return 1; }, Inputs))
    .set_kernel(Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
