// RNN on a GPU: one product per layer and direction for the inputs of all steps, and for each step
// one product with the hidden weights and one kernel (gpu_rnn_steps.h). 16-bit layers multiply
// 16-bit factors into float32 sums; states, gates and what is kept for the backward pass are
// float32, as on the CPU.
#include <algorithm>

#include "mxnet/op.h"
#include "operator/gpu_library/gemm.h"
#include "operator/matrix/move.h"
#include "operator/nn/activation/gpu_activation.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/rnn/gpu_rnn_steps.h"
#include "operator/nn/rnn/rnn.h"
#include "operator/reduce/reduce.h"

namespace mxnet {
namespace nn {
namespace {

/* The geometry, and pointers counted in elements: of the type that is computed in, or of that of
 * operands, which inputs and results have too. */
struct Layers {
  KernelArgs& a;
  const RNNParam& p;
  const RnnDims d;
  RnnDirection direction;
  const bool lstm;
  const int64_t cells, gh, bo, bh;
  const size_t elem, operand;  // bytes

  Layers(KernelArgs& args, const TBlob& data, const TBlob* lengths)
      : a(args),
        p(args.param<RNNParam>()),
        d(DimsOf(p, data.shape)),
        lstm(p.mode == kLstm),
        cells(d.steps * d.batch),
        gh(d.gates * d.hidden),
        bo(d.batch * d.out),
        bh(d.batch * d.hidden),
        elem(data.dtype == kFloat64 ? sizeof(double) : sizeof(float)),
        operand(DTypeSize(data.dtype)) {
    direction.dtype = data.dtype == kFloat64 ? kFloat64 : kFloat32, direction.operand = data.dtype, direction.mode = p.mode;
    direction.batch = d.batch, direction.hidden = d.hidden, direction.out = d.out, direction.gates = d.gates,
    direction.width = d.directions * d.out;
    direction.projection = d.projection;
    direction.clip = ClipOf(p);
    direction.lengths = lengths;
  }
  void* At(const void* base, int64_t elements) const {
    return const_cast<char*>(static_cast<const char*>(base)) + elements * static_cast<int64_t>(elem);
  }
  void* New(int64_t elements) { return a.workspace(std::max<size_t>(static_cast<size_t>(elements) * elem, 1)); }
  void* OperandAt(const void* base, int64_t elements) const {
    return const_cast<char*>(static_cast<const char*>(base)) + elements * static_cast<int64_t>(operand);
  }
  void* NewOperand(int64_t elements) { return a.workspace(std::max<size_t>(static_cast<size_t>(elements) * operand, 1)); }
  void Copy(const void* from, void* to, int64_t elements) {
    CopyBytes(a.run, from, to, elements * static_cast<int64_t>(operand));
  }  // of operands
  void Widen(const void* from, void* to, int64_t elements) { Convert(from, direction.operand, to, direction.dtype, elements); }
  void Narrow(const void* from, void* to, int64_t elements) { Convert(from, direction.dtype, to, direction.operand, elements); }
  /* An array of results as operands: itself or a copy. */
  const void* AsOperand(const void* from, int64_t elements) {
    if (!direction.narrow()) return from;
    void* to = NewOperand(elements);
    Narrow(from, to, elements);
    return to;
  }
  TBlob Blob(const void* ptr, Shape shape, int dtype) const {
    TBlob b;
    b.dptr = const_cast<void*>(ptr), b.shape = std::move(shape), b.dtype = dtype, b.ctx = a.run.ctx;
    return b;
  }
  void* Layer(const void* reserve, int64_t layer) const {
    for (int64_t l = 0; l < layer; ++l) reserve = At(reserve, d.KeptSize(l));
    return const_cast<void*>(reserve);
  }
  /* c = op(a) op(b) of operands, or added to c, in the type that is computed in; `narrow`: in
   * theirs. All products of the call follow each other on one stream, so one block of workspace
   * memory serves them. */
  void Multiply(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const void* x, const void* y, void* c, bool add = false,
                bool narrow = false) {
    gpu_library::Gemm product;
    product.dtype = direction.operand, product.result = narrow ? direction.operand : direction.dtype, product.trans_a = trans_a,
    product.trans_b = trans_b;
    product.m = m, product.n = n, product.k = k;
    gpu_library::Epilogue epilogue;
    if (add) epilogue.addend = c;
    gpu_library::Multiply(
        a.run,
        [this](size_t bytes) {
          if (bytes > workspace_bytes_) workspace_ = a.workspace(bytes), workspace_bytes_ = bytes;
          return workspace_;
        },
        product, x, y, c, epilogue);
  }

 private:
  void Convert(const void* from, int from_dtype, void* to, int to_dtype, int64_t elements) {
    if (from_dtype == to_dtype)
      CopyBytes(a.run, from, to, elements * static_cast<int64_t>(elem));
    else
      gpu_library::ConvertOnDevice(a.run, from, from_dtype, to, to_dtype, elements);
  }
  void* workspace_ = nullptr;
  size_t workspace_bytes_ = 0;
};

void RunForward(KernelArgs& a, const TBlob* lengths) {
  Layers s(a, a.in[0], lengths);
  const RnnDims& d = s.d;
  const bool narrow = s.direction.narrow();
  const int last = a.out.size() - 1;
  void* reserve = Wanted(a, last) ? a.out[last].dptr : s.New(d.ReserveSize());
  void *h = s.New(s.bo), *c = s.lstm ? s.New(s.bh) : nullptr, *recurrent = s.New(d.batch * s.gh),
       *projected = d.projection ? s.New(s.bo) : nullptr;
  void *h_operand = narrow ? s.NewOperand(s.bo) : h, *hidden_operand = narrow && d.projection ? s.NewOperand(s.bh) : nullptr,
       *dropped = nullptr;
  void* outputs[2] = {narrow ? s.NewOperand(s.cells * s.direction.width) : nullptr,
                      narrow && d.layers > 1 ? s.NewOperand(s.cells * s.direction.width) : nullptr};  // a layer's, and of the one before
  const void *params = a.in[1].dptr, *input = a.in[0].dptr, *below = nullptr;  // input: an operand; below: what the layer below keeps
  for (int64_t l = 0; l < d.layers; ++l) {
    void* kept = s.Layer(reserve, l);
    const RnnKeptAt at(d, l);
    if (at.mask >= 0) {
      const TBlob from = s.Blob(below, Shape{s.cells * d.LayerInput(l)}, s.direction.dtype);
      DeviceDraws draws;
      if (a.is_train) draws = DrawsOnDevice(a.run, a.random, static_cast<uint64_t>(from.Size()) / 4 + 1);
      if (narrow && !dropped) dropped = s.NewOperand(from.Size());
      RnnDropoutOnDevice(a.run, s.direction, a.is_train ? &draws : nullptr, s.p.p, from, s.At(kept, at.mask), s.At(kept, at.dropped),
                         dropped);
      input = narrow ? dropped : s.At(kept, at.dropped);
    }
    for (int64_t dir = 0; dir < d.directions; ++dir) {
      const int64_t which = l * d.directions + dir;
      const RnnWeightsAt w(d, l, dir);
      s.Multiply(false, true, s.cells, s.gh, d.LayerInput(l), input, s.OperandAt(params, w.input), s.At(kept, at.gates[dir]));
      s.Widen(s.OperandAt(a.in[2].dptr, which * s.bo), h, s.bo);
      if (narrow) s.Copy(s.OperandAt(a.in[2].dptr, which * s.bo), h_operand, s.bo);
      if (c) s.Widen(s.OperandAt(a.in[3].dptr, which * s.bh), c, s.bh);
      RnnStep step;
      step.recurrent = recurrent, step.h = h, step.c = c;
      step.input_bias = s.OperandAt(params, w.input_bias), step.hidden_bias = s.OperandAt(params, w.hidden_bias);
      step.h_operand = h_operand, step.hidden_operand = hidden_operand;
      for (int64_t i = 0; i < d.steps; ++i) {
        const int64_t t = dir == 0 ? i : d.steps - 1 - i, out = t * d.batch * s.direction.width + dir * d.out;
        s.Multiply(false, true, d.batch, s.gh, d.out, h_operand, s.OperandAt(params, w.hidden), recurrent);
        step.time = t;
        step.gates = s.At(kept, at.gates[dir] + t * d.batch * s.gh);
        step.output = s.At(kept, at.output + out);
        if (narrow) step.output_operand = s.OperandAt(outputs[l % 2], out);
        if (d.gated) step.cell = s.At(kept, at.cell[dir] + t * s.bh);
        if (d.projection) step.hidden = s.At(kept, at.hidden[dir] + t * s.bh);
        RnnStepOnDevice(a.run, s.direction, step);
        if (!d.projection) continue;
        s.Multiply(false, true, d.batch, d.out, d.hidden, narrow ? hidden_operand : step.hidden, s.OperandAt(params, w.projection),
                   projected);
        RnnProjectedOnDevice(a.run, s.direction, projected, step);
      }
      if (Wanted(a, 1)) s.Narrow(h, s.OperandAt(a.out[1].dptr, which * s.bo), s.bo);
      if (s.lstm && Wanted(a, 2)) s.Narrow(c, s.OperandAt(a.out[2].dptr, which * s.bh), s.bh);
    }
    below = s.At(kept, at.output);
    input = narrow ? outputs[l % 2] : below;
  }
  if (Wanted(a, 0)) s.Copy(input, a.out[0].dptr, s.cells * s.direction.width);
}

// What the parameters of a direction are multiplied with, and the gradients of the results, of all
// steps.
struct DirectionGradients {
  const void* input;
  int64_t inputs;  // elements of a row of the input
  const void *dgates, *drecurrent, *previous, *dprojected, *hidden;
};
void WriteParameterGradients(Layers* s, const RnnWeightsAt& w, void* dparams, const DirectionGradients& g) {
  const RnnDims& d = s->d;
  s->Multiply(true, false, s->gh, g.inputs, s->cells, g.dgates, g.input, s->OperandAt(dparams, w.input), false, true);
  s->Multiply(true, false, s->gh, d.out, s->cells, g.drecurrent, g.previous, s->OperandAt(dparams, w.hidden), false, true);
  if (d.projection)
    s->Multiply(true, false, d.out, d.hidden, s->cells, g.dprojected, s->AsOperand(g.hidden, s->cells * d.hidden),
                s->OperandAt(dparams, w.projection), false, true);
  auto sums = [&](const void* of, int64_t to) {
    reduce::Reduce(s->a, reduce::kSum, s->Blob(of, Shape{s->cells, s->gh}, s->direction.operand), {1, 0}, reduce::Finish(), false,
                   s->Blob(s->OperandAt(dparams, to), Shape{s->gh}, s->direction.operand), OpReq::kWrite);
  };
  sums(g.dgates, w.input_bias);
  if (g.drecurrent == g.dgates)
    s->Copy(s->OperandAt(dparams, w.input_bias), s->OperandAt(dparams, w.hidden_bias), s->gh);
  else
    sums(g.drecurrent, w.hidden_bias);
}

void RunBackward(KernelArgs& a, const TBlob* lengths) {
  const bool lstm = a.param<RNNParam>().mode == kLstm;
  const int first = 2 + lstm;  // of the forward inputs
  Layers s(a, a.in[first], lengths);
  const RnnDims& d = s.d;
  const bool narrow = s.direction.narrow();
  const void *params = a.in[first + 1].dptr, *reserve = a.in[a.in.size() - 1].dptr, *up = a.in[0].dptr;
  if (narrow) {
    void* wide = s.New(s.cells * s.direction.width);
    s.Widen(up, wide, s.cells * s.direction.width);
    up = wide;
  }
  void* dparams = Wanted(a, 1) ? a.out[1].dptr : nullptr;
  void *dgates = s.NewOperand(s.cells * s.gh), *drecurrent = s.p.mode == kGru ? s.NewOperand(s.cells * s.gh) : dgates,
       *previous = s.NewOperand(s.cells * d.out), *dh = s.New(s.bo);
  void *dc = lstm ? s.New(s.bh) : nullptr, *dprojected = d.projection ? s.NewOperand(s.cells * d.out) : nullptr,
       *dhidden = d.projection ? s.New(s.bh) : nullptr;
  void* between[2] = {d.layers > 1 ? s.New(s.cells * s.direction.width) : nullptr,
                      d.layers > 2 ? s.New(s.cells * s.direction.width) : nullptr};  // gradients of layers' inputs
  for (int64_t l = d.layers - 1; l >= 0; --l) {
    const void* kept = s.Layer(reserve, l);
    const RnnKeptAt at(d, l);
    const int64_t inputs = d.LayerInput(l);
    const void* input = a.in[first].dptr;
    if (l > 0 && dparams)
      input =
          s.AsOperand(at.mask >= 0 ? s.At(kept, at.dropped) : s.At(s.Layer(reserve, l - 1), RnnKeptAt(d, l - 1).output), s.cells * inputs);
    void* dx = l > 0 ? between[l % 2 == 0 && d.layers > 2] : !Wanted(a, 0) ? nullptr : narrow ? s.New(s.cells * inputs) : a.out[0].dptr;
    for (int64_t dir = 0; dir < d.directions; ++dir) {
      const int64_t which = l * d.directions + dir;
      const RnnWeightsAt w(d, l, dir);
      s.Widen(s.OperandAt(a.in[1].dptr, which * s.bo), dh, s.bo);
      if (lstm) s.Widen(s.OperandAt(a.in[2].dptr, which * s.bh), dc, s.bh);
      RnnStepBack step;
      step.first_state = s.OperandAt(a.in[first + 2].dptr, which * s.bo);
      if (lstm) step.first_cell = s.OperandAt(a.in[first + 3].dptr, which * s.bh);
      step.dhidden = dhidden, step.dh = dh, step.dc = dc;
      for (int64_t i = d.steps - 1; i >= 0; --i) {
        const int64_t t = dir == 0 ? i : d.steps - 1 - i, before = i == 0 ? -1 : dir == 0 ? t - 1 : t + 1;
        step.time = t, step.before = before;
        step.gates = s.At(kept, at.gates[dir] + t * d.batch * s.gh);
        step.up = s.At(up, t * d.batch * s.direction.width + dir * d.out);
        step.output_before = before < 0 ? nullptr : s.At(kept, at.output + before * d.batch * s.direction.width + dir * d.out);
        if (d.gated)
          step.cell = s.At(kept, at.cell[dir] + t * s.bh),
          step.cell_before = before < 0 ? nullptr : s.At(kept, at.cell[dir] + before * s.bh);
        step.previous = s.OperandAt(previous, t * s.bo);
        step.dgates = s.OperandAt(dgates, t * d.batch * s.gh), step.drecurrent = s.OperandAt(drecurrent, t * d.batch * s.gh);
        if (d.projection) {
          step.dprojected = s.OperandAt(dprojected, t * s.bo);
          RnnProjectedBackOnDevice(a.run, s.direction, step);
          s.Multiply(false, false, d.batch, d.hidden, d.out, step.dprojected, s.OperandAt(params, w.projection), dhidden);
        }
        RnnStepBackOnDevice(a.run, s.direction, step);
        s.Multiply(false, false, d.batch, d.out, s.gh, step.drecurrent, s.OperandAt(params, w.hidden), dh, true);
      }
      if (Wanted(a, 2)) s.Narrow(dh, s.OperandAt(a.out[2].dptr, which * s.bo), s.bo);
      if (lstm && Wanted(a, 3)) s.Narrow(dc, s.OperandAt(a.out[3].dptr, which * s.bh), s.bh);
      if (dx) s.Multiply(false, false, s.cells, inputs, s.gh, dgates, s.OperandAt(params, w.input), dx, dir > 0);
      if (dparams)
        WriteParameterGradients(
            &s, w, dparams, {input, inputs, dgates, drecurrent, previous, dprojected, d.projection ? s.At(kept, at.hidden[dir]) : nullptr});
    }
    if (at.mask >= 0) {
      const TBlob gradient = s.Blob(dx, Shape{s.cells * inputs}, s.direction.dtype);
      MultiplyOnDevice(a, gradient, s.Blob(s.At(kept, at.mask), gradient.shape, s.direction.dtype), gradient);
    }
    if (narrow && l == 0 && dx) s.Narrow(dx, a.out[0].dptr, s.cells * inputs);
    up = dx;
  }
}

// `from_end`: how far behind the last input the lengths stand.
void Run(KernelArgs& args, int from_end, void (*run)(KernelArgs&, const TBlob*)) {
  const int lengths = args.param<RNNParam>().use_sequence_length ? args.in.size() - 1 - from_end : -1;
  run(args, lengths < 0 ? nullptr : &args.in[lengths]);
}
void Forward(KernelArgs& args) { Run(args, 0, RunForward); }
void Backward(KernelArgs& args) { Run(args, 1, RunBackward); }

MXNET_REGISTER_OP_KERNEL(RNN, kGPU, Forward);
MXNET_REGISTER_OP_KERNEL(_backward_RNN, kGPU, Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
