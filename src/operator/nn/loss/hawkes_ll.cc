// _contrib_hawkesll: log-likelihood of marked Hawkes processes with exponential kernels (Laub,
// Taimre and Pollett, Hawkes Processes, 2015).
#include <algorithm>
#include <cmath>
#include <vector>

#include "operator/control/written_out.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/loss/losses_twice.h"
#include "operator/record/dtypes.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {
namespace {

enum { kLda, kAlpha, kBeta, kState, kLags, kMarks, kValidLength, kMaxTime, kInputs };

bool ShapesOf(const Attrs& attrs, Shape* in, Shape* ll) {
  AssignShape(attrs, "lda", &in[kLda], Shape(2));
  AssignShape(attrs, "state", &in[kState], in[kLda]);
  AssignShape(attrs, "lda", &in[kLda], in[kState]);
  AssignShape(attrs, "output", ll, Shape{in[kLda][0]});
  AssignShape(attrs, "alpha", &in[kAlpha], Shape{in[kLda][1]});
  AssignShape(attrs, "beta", &in[kBeta], in[kAlpha]);
  AssignShape(attrs, "lda", &in[kLda], Shape{(*ll)[0], in[kBeta][0]});
  AssignShape(attrs, "state", &in[kState], in[kLda]);
  AssignShape(attrs, "lags", &in[kLags], Shape{in[kLda][0], Shape::kUnknownDim});
  AssignShape(attrs, "marks", &in[kMarks], in[kLags]);
  AssignShape(attrs, "lags", &in[kLags], in[kMarks]);
  AssignShape(attrs, "valid_length", &in[kValidLength], Shape{in[kLda][0]});
  AssignShape(attrs, "max_time", &in[kMaxTime], Shape{in[kLda][0]});
  for (int i = 0; i < kInputs; ++i)
    if (!in[i].known()) return false;
  return true;
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const bool known = ShapesOf(attrs, in->data(), &(*out)[0]);
  AssignShape(attrs, "out_state", &(*out)[1], (*in)[kState]);
  return known && (*out)[1].known();
}

bool TypesOf(const Attrs& attrs, int* in, std::vector<int>* out) {
  int common = kDTypeUnknown;
  for (int i = 0; i < kInputs; ++i)
    if (i != kMarks && common == kDTypeUnknown) common = in[i];
  for (int t : *out)
    if (common == kDTypeUnknown) common = t;
  if (common == kDTypeUnknown) return false;
  for (int i = 0; i < kInputs; ++i) AssignType(attrs, attrs.op->input_names[i].c_str(), &in[i], i == kMarks ? int{kInt32} : common);
  for (int& t : *out) AssignType(attrs, "output", &t, common);
  return true;
}

// The shape of one call, and the pass over the events of sample n. visit(event's mark, time since
// the mark's last event or since 0, whether it is an event or the end of the observation).
template <typename T>
struct Samples {
  int64_t batch, marks, events;
  const T* in[kInputs];
  const int32_t* mark;
  Samples(const KernelArgs& a, int first) {
    batch = a.in[first].shape[0], marks = a.in[first].shape[1], events = a.in[first + kLags].shape[1];
    for (int i = 0; i < kInputs; ++i) in[i] = i == kMarks ? nullptr : a.in[first + i].data<T>();
    mark = a.in[first + kMarks].data<int32_t>();
  }
  double At(int input, int64_t i) const { return static_cast<double>(in[input][i]); }
  int64_t Length(int64_t n) const {
    const double given = At(kValidLength, n);
    return given > 0 ? static_cast<int64_t>(std::min(given, static_cast<double>(events))) : 0;
  }
  template <typename F>
  void Pass(int64_t n, std::vector<double>* last, F&& visit) const {
    std::fill(last->begin(), last->end(), 0.0);
    double time = 0;
    const int64_t length = Length(n);
    for (int64_t i = 0; i < length; ++i) {
      time += At(kLags, n * events + i);
      const int64_t k = mark[n * events + i];
      if (k < 0 || k >= marks) continue;
      visit(k, time - (*last)[k], true);
      (*last)[k] = time;
    }
    for (int64_t k = 0; k < marks; ++k) visit(k, At(kMaxTime, n) - (*last)[k], false);
  }
};

int64_t Grain(int64_t marks, int64_t events) { return std::max<int64_t>(1, 1024 / std::max<int64_t>(1, marks + events)); }

// The sum of logarithms: factors of usual sizes share one logarithm.
class LogSum {
 public:
  void Add(double factor) {
    if (!(factor > 1e-50 && factor < 1e50)) return static_cast<void>(sum_ += std::log(factor));
    product_ *= factor;
    if (product_ > 1e-200 && product_ < 1e200) return;
    sum_ += std::log(product_);
    product_ = 1;
  }
  double sum() const { return product_ == 1 ? sum_ : sum_ + std::log(product_); }

 private:
  double sum_ = 0, product_ = 1;
};

template <typename T>
void ForwardOnCpu(KernelArgs& a) {
  const Samples<T> s(a, 0);
  ParallelFor(s.batch, Grain(s.marks, s.events), [&](int64_t b, int64_t e) {
    std::vector<double> last(s.marks), state(s.marks);
    for (int64_t n = b; n < e; ++n) {
      for (int64_t k = 0; k < s.marks; ++k) state[k] = s.At(kState, n * s.marks + k);
      double ll = 0;
      LogSum intensities;
      s.Pass(n, &last, [&](int64_t k, double lag, bool event) {
        const double background = s.At(kLda, n * s.marks + k), alpha = s.At(kAlpha, k), beta = s.At(kBeta, k);
        const double left = state[k] * std::exp(-beta * lag);
        if (event) intensities.Add(background + alpha * beta * left);
        ll -= background * lag + alpha * (state[k] - left);
        state[k] = left + (event ? 1 : 0);
      });
      if (Wanted(a, 0)) a.out[0].data<T>()[n] = static_cast<T>(ll + intensities.sum());
      for (int64_t k = 0; k < s.marks && Wanted(a, 1); ++k) a.out[1].data<T>()[n * s.marks + k] = static_cast<T>(state[k]);
    }
  });
}

// ograd of the likelihood and the inputs -> gradients of lda, alpha and beta. `slope` is the
// derivative of the state in beta.
template <typename T>
void BackwardOnCpu(KernelArgs& a) {
  const Samples<T> s(a, 1);
  const T* og = a.in[0].data<T>();
  double* parts = Workspace<double>(a, 2 * s.batch * s.marks);  // of alpha and beta, for each sample
  std::fill(parts, parts + 2 * s.batch * s.marks, 0.0);
  ParallelFor(s.batch, Grain(s.marks, s.events), [&](int64_t b, int64_t e) {
    std::vector<double> last(s.marks), state(s.marks), slope(s.marks), by_lda(s.marks);
    for (int64_t n = b; n < e; ++n) {
      double *by_alpha = parts + 2 * n * s.marks, *by_beta = by_alpha + s.marks;
      for (int64_t k = 0; k < s.marks; ++k) state[k] = s.At(kState, n * s.marks + k), slope[k] = by_lda[k] = 0;
      s.Pass(n, &last, [&](int64_t k, double lag, bool event) {
        const double alpha = s.At(kAlpha, k), beta = s.At(kBeta, k), decay = std::exp(-beta * lag);
        const double left = state[k] * decay, left_slope = (slope[k] - lag * state[k]) * decay;
        by_lda[k] -= lag;
        by_alpha[k] -= state[k] - left;
        by_beta[k] -= alpha * (slope[k] - left_slope);
        if (event) {
          const double intensity = s.At(kLda, n * s.marks + k) + alpha * beta * left;
          by_lda[k] += 1 / intensity;
          by_alpha[k] += beta * left / intensity;
          by_beta[k] += alpha * (left + beta * left_slope) / intensity;
        }
        state[k] = left + (event ? 1 : 0);
        slope[k] = left_slope;
      });
      for (int64_t k = 0; k < s.marks && Wanted(a, 0); ++k)
        a.out[0].data<T>()[n * s.marks + k] = static_cast<T>(static_cast<double>(og[n]) * by_lda[k]);
    }
  });
  for (int i = 1; i < 3; ++i)
    for (int64_t k = 0; k < s.marks && Wanted(a, i); ++k) {
      double sum = 0;
      for (int64_t n = 0; n < s.batch; ++n) sum += static_cast<double>(og[n]) * parts[(2 * n + i - 1) * s.marks + k];
      a.out[i].data<T>()[k] = static_cast<T>(sum);
    }
}

const char* const kFile = "operator/nn/loss/gpu_hawkes_ll.cuh";

double* Scratch(KernelArgs& a, int64_t count) { return Workspace<double>(a, count); }

void Forward(KernelArgs& args) {
  if (args.in[kLda].shape[0] == 0) return;
  if (args.run.ctx.is_gpu()) {
    const Shape& s = args.in[kLda].shape;
    rtc::Arguments a;
    for (int i = 0; i < kInputs; ++i) a.Add(args.in[i].dptr);
    a.Add(static_cast<const void*>(nullptr)).Add(Wanted(args, 0) ? args.out[0].dptr : nullptr);
    a.Add(Wanted(args, 1) ? args.out[1].dptr : nullptr).Add(static_cast<const void*>(nullptr));
    a.Add(Scratch(args, 2 * s[0] * s[1])).Add(s[1]).Add(args.in[kLags].shape[1]);
    return rtc::LaunchItems(args.run, {kFile, "hawkes_ll", {args.in[0].dtype}}, s[0], &a);
  }
  RunReal(args, [](KernelArgs& a, auto tag) { ForwardOnCpu<decltype(tag)>(a); });
}

void Backward(KernelArgs& args) {
  if (args.run.ctx.is_gpu()) {
    const Shape& s = args.in[1].shape;
    if (s[1] == 0) return;
    double* parts = Scratch(args, 2 * s[0] * s[1]);
    rtc::Arguments a, add;
    for (int i = 0; i < kInputs; ++i) a.Add(args.in[1 + i].dptr);
    a.Add(args.in[0].dptr).Add(static_cast<const void*>(nullptr));
    a.Add(Wanted(args, 0) ? args.out[0].dptr : nullptr).Add(parts);
    a.Add(Scratch(args, 4 * s[0] * s[1])).Add(s[1]).Add(args.in[1 + kLags].shape[1]);
    rtc::LaunchItems(args.run, {kFile, "hawkes_ll_back", {args.in[0].dtype}}, s[0], &a);
    add.Add(args.in[0].dptr).Add(parts).Add(Wanted(args, 1) ? args.out[1].dptr : nullptr);
    add.Add(Wanted(args, 2) ? args.out[2].dptr : nullptr).Add(s[0]).Add(s[1]);
    return rtc::LaunchItems(args.run, {kFile, "hawkes_ll_sums", {args.in[0].dtype}}, s[1], &add);
  }
  RunReal(args, [](KernelArgs& a, auto tag) { BackwardOnCpu<decltype(tag)>(a); });
}

MXNET_REGISTER_OP(_contrib_hawkesll)
    .describe(
        "Log-likelihood of marked Hawkes processes with exponential kernels (Laub, Taimre and Pollett, Hawkes Processes, 2015).\n\n"
        "Mark k has intensity lda[n, k] + alpha[k] beta[k] sum exp(-beta[k] (t - t_j)) over its earlier events t_j of sample n. lda "
        "(batch, marks)\n"
        "is the background, alpha and beta (marks,); state (batch, marks) is the sum at time 0, of events before. lags (batch, events) are "
        "times\n"
        "between events, marks (batch, events, int32) their marks, of which the first valid_length (batch,) count; marks out of range are "
        "left out.\n"
        "Samples are observed until max_time (batch,). Outputs: the log-likelihood (batch,), and the state at max_time. Differentiable in "
        "lda,\n"
        "alpha and beta. float16, bfloat16, float32, float64.")
    .set_inputs({"lda", "alpha", "beta", "state", "lags", "marks", "valid_length", "max_time"})
    .set_outputs({"output", "out_state"})
    .set_infer_shape(ForwardShape)
    .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) { return TypesOf(attrs, in->data(), out); })
    .set_dtypes(dtypes::kFloats)
    .set_precision(Precision::kFull)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      std::vector<NodeEntry> inputs = {ograds[0]}, grads(kInputs);
      inputs.insert(inputs.end(), node->inputs.begin(), node->inputs.end());
      const NodePtr back = MakeNodeLike("_contrib_backward_hawkesll", *node, std::move(inputs));
      for (uint32_t i = 0; i < 3; ++i) grads[i] = NodeEntry{back, i, 0};
      return grads;
    })
    .set_kernel(Forward);

MXNET_REGISTER_OP(_contrib_backward_hawkesll)
    .describe("Gradients of the likelihood of _contrib_hawkesll with respect to lda, alpha and beta.")
    .set_inputs({"ograd", "lda", "alpha", "beta", "state", "lags", "marks", "valid_length", "max_time"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"lda_grad", "alpha_grad", "beta_grad"})
    .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
      const bool known = ShapesOf(attrs, in->data() + 1, &(*in)[0]);
      for (int i = 0; i < 3; ++i) AssignShape(attrs, "gradient", &(*out)[i], (*in)[1 + i]);
      return known;
    })
    .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
      if ((*in)[1] == kDTypeUnknown) (*in)[1] = (*in)[0];
      const bool known = TypesOf(attrs, in->data() + 1, out);
      AssignType(attrs, "ograd", &(*in)[0], (*in)[1]);
      return known;
    })
    .set_gradient(GradientOfWrittenOut([](const Node&,
                                          const std::vector<NodeEntry>& inputs) { return std::vector<NodeEntry>{WriteOutHawkes(inputs)}; },
                                       [](const Attrs&) { return 1; }, [](const Attrs&) { return static_cast<int>(kInputs); }))
    .set_kernel(Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
