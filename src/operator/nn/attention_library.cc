// _fused_attention on a GPU: one kernel of a library of engines where one takes it, else products around a softmax, as if nothing had been fused.
#include "operator/nn/attention.h"

#include <algorithm>

#include "base/dtype.h"
#include "operator/library/attention.h"
#include "operator/library/product.h"
#include "operator/matrix/device_move.h"
#include "operator/nn/device_softmax.h"
#include "operator/nn/nn_common.h"
#include "operator/pointwise/device_functions.h"
#include "operator/pointwise/execute.h"

namespace mxnet {
namespace nn {
namespace {

using library::AttentionProblem;

int AlignmentOf(const KernelArgs& a, int first, std::initializer_list<const void*> more) {
  int bytes = 16;
  auto look = [&bytes](const void* p) {
    while (reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(bytes)) bytes /= 2;
  };
  for (int i = first; i < first + 3 + a.param<AttentionParam>().mask; ++i) look(a.in[i].dptr);
  for (const void* p : more) look(p);
  return bytes;
}

/* The forward pass. Its backward pass asks about the same arrays, so that both know whether the statistics were written. */
AttentionProblem ProblemOf(const KernelArgs& a, int first, const TBlob& output, const TBlob* statistics) {
  const auto& p = a.param<AttentionParam>();
  const TBlob &q = a.in[first], &k = a.in[first + 1], &v = a.in[first + 2];
  AttentionProblem problem;
  problem.statistics = statistics != nullptr;
  problem.dtype = q.dtype;
  problem.heads = p.heads, problem.batch = q.shape[0], problem.rows = q.shape[1], problem.columns = k.shape[1];
  problem.width = q.shape[2] / p.heads, problem.value_width = v.shape[2] / p.heads;
  if (p.mask) {
    const Shape& m = a.in[first + 3].shape;
    problem.mask = true, problem.mask_dtype = a.in[first + 3].dtype;
    problem.mask_dims[0] = m[0] == 1 ? 1 : problem.batch, problem.mask_dims[1] = m[0] == 1 ? 1 : problem.heads;
    problem.mask_dims[2] = m[1], problem.mask_dims[3] = m[2];
  }
  problem.alignment = AlignmentOf(a, first, {output.dptr, statistics ? statistics->dptr : nullptr});
  problem.device = a.run.ctx.dev_id;
  return problem;
}

library::AttentionOperands OperandsOf(const KernelArgs& a, int first) {
  library::AttentionOperands o;
  o.query = a.in[first].dptr, o.key = a.in[first + 1].dptr, o.value = a.in[first + 2].dptr;
  if (a.param<AttentionParam>().mask) o.mask = a.in[first + 3].dptr;
  o.scale = static_cast<float>(a.param<AttentionParam>().scale);
  return o;
}

void RunEngine(KernelArgs& a, const AttentionProblem& problem, const library::EngineConfig& engine, const library::AttentionOperands& o) {
  library::GetAttentionLibrary()->run(problem, engine, o, engine.workspace ? a.workspace(engine.workspace) : nullptr, a.run);
}

/* An array (batch, length, heads x width), or scores (batch x heads, rows, columns), as one matrix for each head of each example. */
struct Matrices {
  void* data;
  int64_t row, head, example;   // elements between neighbours
};

/* In parts: the scores are stored. */
class Parts {
 public:
  Parts(KernelArgs& a, int first)
      : a_(a), first_(first), dtype_(a.in[first].dtype), scale_(a.param<AttentionParam>().scale), heads_(a.param<AttentionParam>().heads), batch_(a.in[first].shape[0]), rows_(a.in[first].shape[1]),
        columns_(a.in[first + 1].shape[1]), width_(a.in[first].shape[2] / heads_), value_width_(a.in[first + 2].shape[2] / heads_) {}

  void Forward(const TBlob& out) {
    const TBlob weights = Weights();
    Multiply({weights.dptr, columns_, rows_ * columns_, heads_ * rows_ * columns_}, false, Of(2), false, Like(out, value_width_), rows_, value_width_, columns_, 1);
  }

  void Backward(const TBlob& ograd) {
    const TBlob weights = Weights();
    const Matrices w = Scores(weights), up = Like(ograd, value_width_);
    if (Wanted(a_, 2)) Multiply(w, true, up, false, Like(a_.out[2], value_width_), columns_, value_width_, rows_, 1);
    if (!Wanted(a_, 0) && !Wanted(a_, 1)) return;
    const TBlob grad = NewScores();
    const Matrices g = Scores(grad);
    Multiply(up, false, Of(2), true, g, rows_, columns_, value_width_, 1);
    SoftmaxBackwardOnDevice(a_.run, Lines(), grad, weights, grad);
    if (Wanted(a_, 0)) Multiply(g, false, Of(1), false, Like(a_.out[0], width_), rows_, width_, columns_, scale_);
    if (Wanted(a_, 1)) Multiply(g, true, Of(0), false, Like(a_.out[1], width_), columns_, width_, rows_, scale_);
  }

 private:
  Matrices Like(const TBlob& b, int64_t width) const { return {b.dptr, heads_ * width, width, b.shape[1] * heads_ * width}; }
  Matrices Of(int i) const { return Like(a_.in[first_ + i], i == 2 ? value_width_ : width_); }
  Matrices Scores(const TBlob& b) const { return {b.dptr, columns_, rows_ * columns_, heads_ * rows_ * columns_}; }
  DeviceSoftmax Lines() const {
    DeviceSoftmax s;
    s.outer = batch_ * heads_ * rows_, s.length = columns_;
    return s;
  }
  TBlob NewScores() {
    TBlob b;
    b.shape = Shape{batch_ * heads_, rows_, columns_}, b.dtype = dtype_, b.ctx = a_.run.ctx;
    b.dptr = a_.workspace(std::max<size_t>(b.Bytes(), 1));
    return b;
  }
  TBlob Weights() {
    const TBlob scores = NewScores();
    Multiply(Of(0), false, Of(1), true, Scores(scores), rows_, columns_, width_, scale_);
    if (a_.param<AttentionParam>().mask) {
      const pointwise::Operand in[2] = {scores, a_.in[first_ + 3]};
      pointwise::Execute(a_.run, pointwise::Forward(pointwise::k_add), pointwise::kF32, in, 2, pointwise::kBinaryMasks, nullptr, scores, OpReq::kWrite);
    }
    SoftmaxOnDevice(a_.run, Lines(), scores, nullptr, scores);
    return scores;
  }
  // c = alpha op(x) op(y), m x n with k terms. A batch has one step: the shorter of heads and examples is gone through here.
  void Multiply(const Matrices& x, bool trans_x, const Matrices& y, bool trans_y, const Matrices& c, int64_t m, int64_t n, int64_t k, double alpha) {
    const bool over_heads = heads_ <= batch_;
    library::Product p;
    p.dtype = dtype_, p.trans_a = trans_x, p.trans_b = trans_y, p.m = m, p.n = n, p.k = k, p.alpha = alpha;
    p.lda = x.row, p.ldb = y.row, p.ldc = c.row;
    p.batch = over_heads ? batch_ : heads_;
    p.step_a = over_heads ? x.example : x.head, p.step_b = over_heads ? y.example : y.head, p.step_c = over_heads ? c.example : c.head;
    auto at = [&](const Matrices& b, int64_t i) { return static_cast<char*>(b.data) + i * (over_heads ? b.head : b.example) * static_cast<int64_t>(DTypeSize(dtype_)); };
    for (int64_t i = 0; i < (over_heads ? heads_ : batch_); ++i)
      library::Multiply(a_.run, [this](size_t bytes) {   // one after the other on a stream: one block serves all
        if (bytes > scratch_bytes_) scratch_ = a_.workspace(bytes), scratch_bytes_ = bytes;
        return scratch_;
      }, p, at(x, i), at(y, i), at(c, i));
  }

  KernelArgs& a_;
  const int first_, dtype_;
  const double scale_;
  const int64_t heads_, batch_, rows_, columns_, width_, value_width_;
  void* scratch_ = nullptr;
  size_t scratch_bytes_ = 0;
};

}  // namespace

void AttentionOnDevice(KernelArgs& args) {
  const TBlob& out = args.out[0];
  if (!Wanted(args, 0) || out.Size() == 0) return;
  if (args.in[1].shape[1] == 0) return ZeroBytes(args.run, out.dptr, static_cast<int64_t>(out.Bytes()));
  const bool statistics = args.param<AttentionParam>().statistics && Wanted(args, 1);
  const AttentionProblem problem = ProblemOf(args, 0, out, statistics ? &args.out[1] : nullptr);
  const auto engine = library::ChooseAttention(problem, Env::Get(), args.run);
  if (!engine) return Parts(args, 0).Forward(out);
  library::AttentionOperands o = OperandsOf(args, 0);
  o.output = out.dptr;
  if (statistics) o.statistics = args.out[1].dptr;
  RunEngine(args, problem, *engine, o);
}

void AttentionBackwardOnDevice(KernelArgs& args) {
  const auto& p = args.param<AttentionParam>();
  const TBlob &q = args.in[1], &k = args.in[2];
  if (q.Size() == 0 || k.Size() == 0 || args.in[0].Size() == 0) {
    for (int i = 0; i < 3; ++i)
      if (Wanted(args, i)) ZeroBytes(args.run, args.out[i].dptr, static_cast<int64_t>(args.out[i].Bytes()));
    return;
  }
  const int kept = 4 + p.mask;   // output, statistics
  std::shared_ptr<const library::EngineConfig> engine;
  AttentionProblem problem;
  void* grads[3];
  if (p.statistics) {
    problem = ProblemOf(args, 1, args.in[kept], &args.in[kept + 1]);
    if (library::ChooseAttention(problem, Env::Get(), args.run)) {   // then the statistics were written
      for (int i = 0; i < 3; ++i) grads[i] = Wanted(args, i) ? args.out[i].dptr : args.workspace(args.out[i].Bytes());
      problem.backward = true, problem.statistics = false;
      problem.alignment = std::min(problem.alignment, AlignmentOf(args, 1, {args.in[0].dptr, grads[0], grads[1], grads[2]}));
      engine = library::ChooseAttention(problem, Env::Get(), args.run);
    }
  }
  if (!engine) return Parts(args, 1).Backward(args.in[0]);
  library::AttentionOperands o = OperandsOf(args, 1);
  o.output = args.in[kept].dptr, o.statistics = args.in[kept + 1].dptr, o.ograd = args.in[0].dptr;
  o.query_grad = grads[0], o.key_grad = grads[1], o.value_grad = grads[2];
  o.sums = args.workspace(static_cast<size_t>(problem.batch * problem.heads * problem.rows) * sizeof(float));
  o.query_sums = args.workspace(static_cast<size_t>(q.Size()) * sizeof(float));
  RunEngine(args, problem, *engine, o);
}

}  // namespace nn
}  // namespace mxnet
