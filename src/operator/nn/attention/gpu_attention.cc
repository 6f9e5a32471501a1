// _fused_attention on a GPU: one kernel of a library of engines where one takes it, else products
// around a softmax, as if nothing had been fused.
#include <algorithm>

#include "base/device/device_interface.h"
#include "base/dtype.h"
#include "mxnet/env.h"
#include "operator/gpu_library/attention.h"
#include "operator/gpu_library/gemm.h"
#include "operator/matrix/move.h"
#include "operator/nn/activation/dropout_kernels.h"
#include "operator/nn/activation/gpu_activation.h"
#include "operator/nn/attention/attention.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/softmax/gpu_softmax.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/gpu_functions.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {
namespace {

const char* const kFile = "operator/nn/attention/gpu_attention.cuh";

using gpu_library::AttentionProblem;

/* The operator's inputs from `first` on. */
struct Inputs {
  Inputs(KernelArgs& args, int first_array)
      : a(args),
        p(args.param<AttentionParam>()),
        d(args, first_array),
        first(first_array),
        mask(p.mask ? &args.in[first + p.Arrays()] : nullptr),
        length(p.length ? &args.in[first + p.LengthAt()] : nullptr),
        draws(p.dropout > 0 ? args.in[first + p.DrawsAt()].data<uint64_t>() : nullptr),
        counts(mask && mask->dtype == kBool) {}
  const TBlob& Array(const HeadsIn& in) const { return a.in[first + in.array]; }
  void* Data(const HeadsIn& in) const { return Begin(Array(in), in); }
  static void* Begin(const TBlob& b, const HeadsIn& in) { return b.data<char>() + static_cast<size_t>(in.offset) * DTypeSize(b.dtype); }

  KernelArgs& a;
  const AttentionParam& p;
  const AttentionDims d;
  const int first;
  const TBlob *mask, *length;
  const uint64_t* draws;  // of _draw_counters; null: nothing is dropped
  const bool counts;      // a boolean mask says which columns count
};

/*
 * What engines add to the scores: the mask as it is, or one that is made of it where a boolean one
 * or lengths say what counts. Numbers far below all scores, but finite, take the others out; a row
 * without any that counts is cleared behind the engine.
 */
class AddedMask {
 public:
  /* `whole`: with all rows and columns, as the backward pass wants it. */
  explicit AddedMask(const Inputs& in, bool whole = false)
      : in_(in),
        made_(in.counts || in.length || (whole && in.mask && (in.mask->shape[1] != in.d.rows || in.mask->shape[2] != in.d.columns))) {
    const int64_t all = in.d.batch * in.d.heads;
    if (in.mask) heads_ = in.mask->shape[0], rows_ = in.mask->shape[1], columns_ = in.mask->shape[2];
    if (made_) columns_ = in.d.columns;
    if (in.length) heads_ = all, rows_ = std::max(rows_, in.length->shape[1]);
    if (whole && (in.mask || in.length)) rows_ = in.d.rows;
  }

  void Describe(AttentionProblem* problem) const {
    problem->mask = in_.mask || in_.length;
    problem->mask_dtype = made_ || !in_.mask ? kFloat32 : in_.mask->dtype;
    problem->mask_dims[0] = heads_ == 1 ? 1 : in_.d.batch, problem->mask_dims[1] = heads_ == 1 ? 1 : in_.d.heads;
    problem->mask_dims[2] = rows_, problem->mask_dims[3] = columns_;
  }
  const void* given() const { return made_ || !in_.mask ? nullptr : in_.mask->dptr; }  // where it lies before it is made

  const void* Make() {
    if (!made_) return given();
    float* mask = Workspace<float>(in_.a, heads_ * rows_ * columns_);
    some_ = Workspace<int>(in_.a, heads_ * rows_);
    rtc::Arguments args;
    const Shape one{1, 1, 1}, &m = in_.mask ? in_.mask->shape : one;
    args.Add(in_.mask ? in_.mask->dptr : nullptr)
        .Add(m[0] == 1 ? int64_t{0} : m[1] * m[2])
        .Add(m[1] == 1 ? int64_t{0} : m[2])
        .Add(m[2] == 1 ? int64_t{0} : int64_t{1});
    const int64_t lengths = in_.length ? in_.length->shape[1] : 0;
    args.Add(in_.length ? in_.length->dptr : nullptr)
        .Add(lengths)
        .Add(lengths > 1 ? int64_t{1} : int64_t{0})
        .Add(mask)
        .Add(some_)
        .Add(rows_)
        .Add(columns_);
    const int kind = in_.counts ? 1 : in_.mask ? 2 : 0;
    rtc::LaunchRows(
        in_.a.run,
        {kFile, "attention_mask", {in_.mask ? in_.mask->dtype : -1, in_.length ? in_.length->dtype : -1}, {kind, in_.length != nullptr}},
        heads_ * rows_, &args);
    return mask;
  }

  /* After Make and the forward pass: rows of which no column counts are 0, and their weights
   * backwards, too. */
  void ClearRows(const TBlob& out, const TBlob* statistics) const {
    if (!made_) return;
    const AttentionDims& d = in_.d;
    rtc::Arguments args;
    args.Add(some_)
        .Add(heads_ == 1 ? int64_t{0} : rows_)
        .Add(rows_ == 1 ? int64_t{0} : int64_t{1})
        .Add(out.dptr)
        .Add(statistics ? statistics->dptr : nullptr);
    args.Add(d.rows).Add(d.heads).Add(d.output.example).Add(d.output.head).Add(d.output.row).Add(d.value_width);
    rtc::LaunchItems(in_.a.run, {kFile, "attention_empty_rows", {out.dtype}}, d.batch * d.heads * d.rows, &args);
  }

 private:
  const Inputs& in_;
  const bool made_;
  int64_t heads_ = 1, rows_ = 1, columns_ = 1;  // 1: broadcast
  int* some_ = nullptr;
};

/* The largest power of two up to 16 that divides all addresses. */
int AlignmentOf(const Inputs& in, const AddedMask& mask, std::initializer_list<const void*> more) {
  int bytes = 16;
  auto look = [&bytes](const void* p) {
    while (reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(bytes)) bytes /= 2;
  };
  for (const void* p : {static_cast<const void*>(in.Data(in.d.query)), static_cast<const void*>(in.Data(in.d.key)),
                        static_cast<const void*>(in.Data(in.d.value)), mask.given()})
    look(p);
  for (const void* p : more) look(p);
  return bytes;
}

/* The forward pass. Its backward pass asks about the same arrays, so that both know whether the
 * statistics were written. */
AttentionProblem ProblemOf(const Inputs& in, const AddedMask& mask, const TBlob& output, const TBlob* statistics) {
  const AttentionDims& d = in.d;
  AttentionProblem problem;
  problem.statistics = statistics != nullptr;
  problem.dtype = in.Array(d.query).dtype;
  problem.heads = d.heads, problem.batch = d.batch, problem.rows = d.rows, problem.columns = d.columns, problem.width = d.width,
  problem.value_width = d.value_width;
  auto strides = [](const HeadsIn& h) { return gpu_library::AttentionStrides{h.example, h.head, h.row}; };
  problem.query = strides(d.query), problem.key = strides(d.key), problem.value = strides(d.value), problem.output = strides(d.output);
  mask.Describe(&problem);
  problem.dropout = in.p.dropout;
  problem.alignment = AlignmentOf(in, mask, {output.dptr, statistics ? statistics->dptr : nullptr});
  problem.device = in.a.run.ctx.dev_id;
  return problem;
}

gpu_library::AttentionOperands OperandsOf(const Inputs& in, AddedMask* mask) {
  gpu_library::AttentionOperands o;
  o.query = in.Data(in.d.query), o.key = in.Data(in.d.key), o.value = in.Data(in.d.value);
  o.mask = mask->Make();
  o.scale = static_cast<float>(in.p.scale);
  if (in.draws) o.seed = in.draws, o.offset = in.draws + 2;
  return o;
}

void RunEngine(KernelArgs& a, const AttentionProblem& problem, const gpu_library::EngineConfig& engine,
               const gpu_library::AttentionOperands& o) {
  GpuInterface().attention.get()->run(problem, engine, o, engine.workspace ? a.workspace(engine.workspace) : nullptr, a.run);
}

/* A matrix for each head of each example: arrays, or scores (batch x heads, rows, columns). */
struct Matrices {
  void* data;
  int64_t row, head, example;  // elements between neighbours
};

/* In parts: the scores are stored. */
class Parts {
 public:
  Parts(const Inputs& in) : in_(in), a_(in.a), d_(in.d), dtype_(in.Array(in.d.query).dtype), scale_(in.p.scale) {}

  void Forward(const TBlob& out) {
    const TBlob weights = Weights();
    Drop(weights, weights);
    Multiply(Scores(weights), false, Of(d_.value), false, Like(out, d_.output), d_.rows, d_.value_width, d_.columns, 1);
  }

  void Backward(const TBlob& ograd) {
    const TBlob weights = Weights();
    const TBlob grad = NewScores();  // until then what the forward pass multiplied with the values
    const Matrices w = Scores(weights), g = Scores(grad), up = Like(ograd, d_.output);
    if (Wanted(a_, d_.value.array)) {
      Drop(weights, grad);
      Multiply(in_.draws ? g : w, true, up, false, Gradient(d_.value), d_.columns, d_.value_width, d_.rows, 1);
    }
    if (!Wanted(a_, d_.query.array) && !Wanted(a_, d_.key.array)) return;
    Multiply(up, false, Of(d_.value), true, g, d_.rows, d_.columns, d_.value_width, 1);
    Drop(grad, grad);
    SoftmaxBackwardOnDevice(a_.run, Lines(), grad, weights, grad);
    if (Wanted(a_, d_.query.array)) Multiply(g, false, Of(d_.key), false, Gradient(d_.query), d_.rows, d_.width, d_.columns, scale_);
    if (Wanted(a_, d_.key.array)) Multiply(g, true, Of(d_.query), false, Gradient(d_.key), d_.columns, d_.width, d_.rows, scale_);
  }

 private:
  static Matrices Like(const TBlob& b, const HeadsIn& h) { return {Inputs::Begin(b, h), h.row, h.head, h.example}; }
  Matrices Of(const HeadsIn& h) const { return Like(in_.Array(h), h); }
  Matrices Gradient(const HeadsIn& h) const { return Like(a_.out[h.array], h); }
  Matrices Scores(const TBlob& b) const { return {b.dptr, d_.columns, d_.rows * d_.columns, d_.heads * d_.rows * d_.columns}; }
  DeviceSoftmax Lines() const {
    DeviceSoftmax s;
    s.outer = d_.batch * d_.heads * d_.rows, s.length = d_.columns;
    return s;
  }
  TBlob New(const Shape& shape, int dtype) {
    TBlob b;
    b.shape = shape, b.dtype = dtype, b.ctx = a_.run.ctx;
    b.dptr = a_.workspace(std::max<size_t>(b.Bytes(), 1));
    return b;
  }
  /* y = weights, or their gradients, after dropout with the counters and decisions of the operator
   * Dropout; y may be x. */
  void Drop(const TBlob& x, const TBlob& y) {
    if (!in_.draws) return;
    const Keep keep(in_.p.dropout);
    DeviceDraws draws;
    draws.base = in_.draws;
    TBlob mask = x;
    mask.dptr = nullptr;
    DropoutOnDevice(a_.run, draws, keep.threshold, keep.scale, &x, mask, y);
  }
  TBlob NewScores() { return New(Shape{d_.batch * d_.heads, d_.rows, d_.columns}, dtype_); }
  /* `b` broadcast to a shape of as many dimensions. */
  TBlob Full(const TBlob& b, const Shape& shape) {
    if (b.shape == shape) return b;
    const TBlob full = New(shape, b.dtype);
    int64_t from[3], to[3];
    RowMajorStrides(b.shape, from);
    RowMajorStrides(shape, to);
    for (int i = 0; i < shape.ndim(); ++i)
      if (b.shape[i] == 1) from[i] = 0;
    CopyStrided(a_.run, b.dptr, from, full.dptr, to, shape.dims(), shape.ndim(), DTypeSize(b.dtype));
    return full;
  }
  TBlob Weights() {
    const TBlob scores = NewScores();
    Multiply(Of(d_.query), false, Of(d_.key), true, Scores(scores), d_.rows, d_.columns, d_.width, scale_);
    if (in_.mask && !in_.counts) {
      const pointwise::Operand in[2] = {scores, *in_.mask};
      pointwise::Execute(a_.run, pointwise::Forward(pointwise::k_add), pointwise::kF32, in, 2, pointwise::kBinaryMasks, nullptr, scores,
                         OpReq::kWrite);
    }
    DeviceSoftmax lines = Lines();
    TBlob mask, length;
    if (in_.counts) mask = Full(*in_.mask, scores.shape), lines.mask = &mask;
    if (in_.length) length = Full(*in_.length, Shape{d_.batch * d_.heads, d_.rows});
    SoftmaxOnDevice(a_.run, lines, scores, in_.length ? &length : nullptr, scores);
    return scores;
  }
  // c = alpha op(x) op(y), m x n with k terms. A batch has one step: where heads and examples do
  // not lie in one row, the shorter of both is gone through here.
  void Multiply(const Matrices& x, bool trans_x, const Matrices& y, bool trans_y, const Matrices& c, int64_t m, int64_t n, int64_t k,
                double alpha) {
    auto in_one_row = [this](const Matrices& b) { return b.example == d_.heads * b.head; };
    const bool one_row = in_one_row(x) && in_one_row(y) && in_one_row(c), over_heads = !one_row && d_.heads <= d_.batch;
    gpu_library::Gemm p;
    p.dtype = dtype_, p.trans_a = trans_x, p.trans_b = trans_y, p.m = m, p.n = n, p.k = k, p.alpha = alpha;
    p.lda = x.row, p.ldb = y.row, p.ldc = c.row;
    p.batch = one_row ? d_.batch * d_.heads : over_heads ? d_.batch : d_.heads;
    p.step_a = over_heads ? x.example : x.head, p.step_b = over_heads ? y.example : y.head, p.step_c = over_heads ? c.example : c.head;
    auto at = [&](const Matrices& b, int64_t i) {
      return static_cast<char*>(b.data) + i * (over_heads ? b.head : b.example) * static_cast<int64_t>(DTypeSize(dtype_));
    };
    for (int64_t i = 0; i < (one_row ? 1 : over_heads ? d_.heads : d_.batch); ++i)
      gpu_library::Multiply(
          a_.run,
          [this](size_t bytes) {  // one after the other on a stream: one block serves all
            if (bytes > workspace_bytes_) workspace_ = a_.workspace(bytes), workspace_bytes_ = bytes;
            return workspace_;
          },
          p, at(x, i), at(y, i), at(c, i));
  }

  const Inputs& in_;
  KernelArgs& a_;
  const AttentionDims& d_;
  const int dtype_;
  const double scale_;
  void* workspace_ = nullptr;
  size_t workspace_bytes_ = 0;
};

}  // namespace

void AttentionOnDevice(KernelArgs& args) {
  const TBlob& out = args.out[0];
  if (!Wanted(args, 0) || out.Size() == 0) return;
  const Inputs in(args, 0);
  if (in.d.columns == 0) return ZeroBytes(args.run, out.dptr, static_cast<int64_t>(out.Bytes()));
  TBlob unread;
  const TBlob* statistics = in.p.statistics && Wanted(args, 1) ? &args.out[1] : nullptr;
  if (in.p.statistics && !statistics &&
      in.draws) {  // whether an engine drops is decided as when they are read: engines drop otherwise than products with a softmax
    unread = args.out[1];
    unread.dptr = Workspace<float>(args, in.d.batch * in.d.heads * in.d.rows);
    statistics = &unread;
  }
  AddedMask mask(in);
  const AttentionProblem problem = ProblemOf(in, mask, out, statistics);
  const auto engine = gpu_library::ChooseAttention(problem, Env::Get(), args.run);
  if (!engine) return Parts(in).Forward(out);
  gpu_library::AttentionOperands o = OperandsOf(in, &mask);
  o.output = out.dptr;
  if (statistics) o.statistics = statistics->dptr;
  RunEngine(args, problem, *engine, o);
  mask.ClearRows(out, statistics);
}

void AttentionBackwardOnDevice(KernelArgs& args) {
  const Inputs in(args, 1);
  const AttentionDims& d = in.d;
  const int arrays = in.p.Arrays();
  if (d.batch == 0 || d.rows == 0 || d.columns == 0 || d.width == 0 || d.value_width == 0) {
    for (int i = 0; i < arrays; ++i)
      if (Wanted(args, i)) ZeroBytes(args.run, args.out[i].dptr, static_cast<int64_t>(args.out[i].Bytes()));
    return;
  }
  const int kept = 1 + in.p.Inputs();  // output, statistics
  std::shared_ptr<const gpu_library::EngineConfig> engine;
  AttentionProblem problem;
  AddedMask mask(in), whole(in, true);
  TBlob grads[3], ograd = args.in[0];
  if (in.p.statistics) {
    problem = ProblemOf(in, mask, args.in[kept], &args.in[kept + 1]);
    if (gpu_library::ChooseAttention(problem, Env::Get(), args.run)) {  // then the statistics were written
      // What lies worse than the forward pass's arrays is copied: the same engines take the problem
      // then, and drop what was dropped.
      auto lies = [&problem](const TBlob& b) {
        return reinterpret_cast<uintptr_t>(b.dptr) % static_cast<uintptr_t>(problem.alignment) == 0;
      };
      for (int i = 0; i < arrays; ++i) {
        grads[i] = args.out[i];
        if (!Wanted(args, i) || !lies(grads[i])) grads[i].dptr = args.workspace(grads[i].Bytes());
      }
      if (!lies(ograd)) {
        ograd.dptr = args.workspace(ograd.Bytes());
        CopyBytes(args.run, args.in[0].dptr, ograd.dptr, static_cast<int64_t>(ograd.Bytes()));
      }
      problem.BecomeBackward();
      engine = gpu_library::ChooseAttention(problem, Env::Get(), args.run);
    }
  }
  if (!engine) return Parts(in).Backward(args.in[0]);
  gpu_library::AttentionOperands o = OperandsOf(in, &whole);
  o.output = args.in[kept].dptr, o.statistics = args.in[kept + 1].dptr, o.ograd = ograd.dptr;
  o.query_grad = Inputs::Begin(grads[d.query.array], d.query), o.key_grad = Inputs::Begin(grads[d.key.array], d.key),
  o.value_grad = Inputs::Begin(grads[d.value.array], d.value);
  o.sums = Workspace<float>(args, d.batch * d.heads * d.rows);
  o.query_sums = Workspace<float>(args, d.batch * d.heads * d.rows * d.width);
  RunEngine(args, problem, *engine, o);
  for (int i = 0; i < arrays; ++i)
    if (Wanted(args, i) && grads[i].dptr != args.out[i].dptr)
      CopyBytes(args.run, grads[i].dptr, args.out[i].dptr, static_cast<int64_t>(grads[i].Bytes()));
}

}  // namespace nn
}  // namespace mxnet
