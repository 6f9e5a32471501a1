// The backward pass of RNN on the CPU. Weights that all steps read are packed once.
#include <algorithm>
#include <optional>
#include <vector>

#include "base/ran.h"
#include "mxnet/op.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/rnn/rnn_bfloat.h"
#include "operator/nn/rnn/rnn_layers.h"
#include "operator/shared/gemm.h"
#include "operator/shared/panel_gemm.h"

namespace mxnet {
namespace nn {
namespace {

// C += A B on several threads.
void ParallelGemm(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* packed, float* c, int64_t ldc) {
  const int threads = OmpThreadsForFlops(2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k));
  ParallelForThreads(threads, PackedColumns(n) / kPackColumns, [&](int64_t b, int64_t e) {
    const int64_t first = b * kPackColumns, end = std::min(n, e * kPackColumns);
    MXNET_CPU_CALL(PackedGemm)(m, end - first, k, a, lda, packed + first * k, c + first, ldc, true);
  });
}

int64_t Grain(const RnnDims& d) { return std::max<int64_t>(1, 2048 / std::max<int64_t>(1, d.hidden)); }

// The hidden weights in the order of ParallelGemm, which pays for several steps; null: as they are.
template <typename T>
float* PackedForBackward(KernelArgs& a, const RnnDims& d, const Weights<T>& w) {
  if constexpr (sizeof(T) == sizeof(float)) {
    if (d.steps >= 4) {
      const int64_t gh = d.gates * d.hidden;
      float* packed = Workspace<float>(a, PackedSize(d.out, gh));
      ParallelFor(PackedColumns(d.out) / kPackColumns, std::max<int64_t>(1, 65536 / (kPackColumns * gh)), [&](int64_t b, int64_t e) {
        MXNET_CPU_CALL(PackColumns)
        (false, std::min(d.out, e * kPackColumns) - b * kPackColumns, gh, w.hidden + b * kPackColumns, d.out,
         packed + b * kPackColumns * gh);
      });
      return packed;
    }
  }
  return nullptr;
}

/* What one direction of a layer multiplies in bfloat16. */
struct HalfBack {
  Weights<const bfloat16> w;
  Weights<bfloat16>* dw = nullptr;                                                              // null: not wanted
  const bfloat16* input = nullptr;                                                              // (steps, batch, layer input)
  bfloat16 *dgates = nullptr, *drecurrent = nullptr, *hidden = nullptr, *projection = nullptr;  // the latter are packed weights
  int64_t gates = 0;

  HalfBack(KernelArgs& a, const RnnDims& d, int64_t layer, int64_t dir, const bfloat16* params, bool gru)
      : w(d, layer, dir, params), gates(d.gates * d.hidden) {
    const int64_t cells = d.steps * d.batch;
    dgates = Workspace<bfloat16>(a, cells * gates), drecurrent = gru ? Workspace<bfloat16>(a, cells * gates) : dgates;
    hidden = reinterpret_cast<bfloat16*>(Workspace<float>(a, HalfPackedSize(d.out, gates)));
    HalfPackColumns(d.out, gates, w.hidden, hidden);
    if (!d.projection) return;
    projection = reinterpret_cast<bfloat16*>(Workspace<float>(a, HalfPackedSize(d.hidden, d.out)));
    HalfPackColumns(d.hidden, d.out, w.projection, projection);
  }
  /* Row i of both gradients. */
  void Take(int64_t i, const float* dg, const float* dr) const {
    FloatToBfloat(dg, dgates + i * gates, gates);
    if (drecurrent != dgates) FloatToBfloat(dr, drecurrent + i * gates, gates);
  }
};

/* into: sums over rows of each column. */
template <typename T>
void SumRows(int64_t count, int64_t columns, const T* rows, T* into) {
  ParallelFor(columns, std::max<int64_t>(64, (1 << 16) / std::max<int64_t>(1, count)), [&](int64_t b, int64_t e) {
    std::fill(into + b, into + e, T(0));
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = b; j < e; ++j) into[j] += rows[i * columns + j];
  });
}

void HalfInputGradient(KernelArgs& a, const RnnDims& d, int64_t inputs, const HalfBack& half, bool add, float* dx) {
  const int64_t cells = d.steps * d.batch;
  auto* const packed = reinterpret_cast<bfloat16*>(Workspace<float>(a, HalfPackedSize(inputs, half.gates)));
  HalfPackColumns(inputs, half.gates, half.w.input, packed);
  HalfProductTo({half.dgates, half.gates, cells, half.gates}, inputs, packed, add ? Workspace<float>(a, cells * inputs) : nullptr, dx);
}

/* As WeightGradients. */
void HalfWeightGradients(KernelArgs& a, const RnnDims& d, int64_t inputs, const HalfBack& half, const float* dgates,
                         const float* drecurrent, const float* dprojected, const float* previous, const float* hidden) {
  const int64_t gh = half.gates, cells = d.steps * d.batch;
  HalfTransposed(a, gh, inputs, cells, half.dgates, half.input, half.dw->input);
  HalfTransposed(a, gh, d.out, cells, half.drecurrent, Rounded(a, previous, cells * d.out), half.dw->hidden);
  if (d.projection)
    HalfTransposed(a, d.out, d.hidden, cells, Rounded(a, dprojected, cells * d.out), Rounded(a, hidden, cells * d.hidden),
                   half.dw->projection);
  float* const sums = Workspace<float>(a, gh);
  SumRows(cells, gh, dgates, sums);
  FloatToBfloat(sums, half.dw->input_bias, gh);
  if (drecurrent != dgates) SumRows(cells, gh, drecurrent, sums);
  FloatToBfloat(sums, half.dw->hidden_bias, gh);
}

// From the gradients of the gates (dgates; drecurrent: of those of the product with the state).
template <typename T>
void WeightGradients(const RnnDims& d, int64_t inputs, const T* dgates, const T* drecurrent, const T* dprojected, const T* input,
                     const T* previous, const T* hidden, const Weights<T>& dw) {
  const int64_t gh = d.gates * d.hidden, cells = d.steps * d.batch;
  Gemm(true, false, gh, inputs, cells, dgates, input, T(0), dw.input);
  Gemm(true, false, gh, d.out, cells, drecurrent, previous, T(0), dw.hidden);
  if (d.projection) Gemm(true, false, d.out, d.hidden, cells, dprojected, hidden, T(0), dw.projection);
  SumRows(cells, gh, dgates, dw.input_bias);
  if (drecurrent == dgates)
    std::copy(dw.input_bias, dw.input_bias + gh, dw.hidden_bias);
  else
    SumRows(cells, gh, drecurrent, dw.hidden_bias);
}

/* One direction of a layer. */
template <typename T>
struct Back {
  const RNNParam& p;
  const RnnDims& d;
  int64_t dir;
  const Weights<T>& w;
  const Kept<T>& k;
  const T *dy, *state, *cell_state;  // dy: gradient of the layer's output
  const int64_t* lengths;
  HalfBack* half;  // what multiplies instead of float32 weights; or null
  CellClip clip{};
  const float* packed = nullptr;
  T *dgates = nullptr, *drecurrent = nullptr, *previous = nullptr, *dh = nullptr, *dc = nullptr;
  T *dprojected = nullptr, *keep = nullptr, *step_dh = nullptr, *products = nullptr;
  bfloat16* rounded = nullptr;

  void Make(KernelArgs& a) {
    const int64_t gh = d.gates * d.hidden, bo = d.batch * d.out, bh = d.batch * d.hidden, cells = d.steps * d.batch;
    dgates = Workspace<T>(a, cells * gh), drecurrent = p.mode == kGru ? Workspace<T>(a, cells * gh) : dgates;
    previous = Workspace<T>(a, cells * d.out), dh = Workspace<T>(a, bo), dc = Workspace<T>(a, bh);
    if (d.projection) dprojected = Workspace<T>(a, cells * d.out), step_dh = Workspace<T>(a, bh);
    if (p.mode == kGru) keep = Workspace<T>(a, bh);
    clip = ClipOf(p);
    if (!half) packed = PackedForBackward(a, d, w);
    if (half) products = Workspace<T>(a, bo);
    if (half && d.projection) rounded = Workspace<bfloat16>(a, bo);
  }

  struct At {
    int64_t t, before;  // this step and the one before it in the walk
    bool first;
  };
  At StepAt(int64_t step) const {
    const int64_t t = dir == 0 ? step : d.steps - 1 - step, before = dir == 0 ? t - 1 : t + 1;
    return {t, before, before < 0 || before >= d.steps};
  }
  // Is the state before a step the first one? A backward walk over a short sequence may not have
  // begun yet.
  bool Fresh(const At& s, int64_t n) const { return s.first || s.before >= LengthOf(d, lengths, n); }

  /* The state before the step, and the whole gradient of the state after it, of sequence n. */
  void Prepare(const At& s, int64_t n) const {
    const int64_t width = d.directions * d.out, row = s.t * d.batch + n;
    const T* from = Fresh(s, n) ? state + n * d.out : k.output + (s.before * d.batch + n) * width + dir * d.out;
    std::copy(from, from + d.out, previous + row * d.out);
    const bool live = s.t < LengthOf(d, lengths, n);
    if (live) {
      const T* up = dy + row * width + dir * d.out;
      for (int64_t j = 0; j < d.out; ++j) dh[n * d.out + j] += up[j];
    }
    if (d.projection)
      for (int64_t j = 0; j < d.out; ++j) dprojected[row * d.out + j] = live ? dh[n * d.out + j] : T(0);
  }

  void Project(int64_t t) const {
    const int64_t bo = d.batch * d.out;
    if (!half) return Gemm(false, false, d.batch, d.hidden, d.out, dprojected + t * bo, w.projection, T(0), step_dh);
    if constexpr (sizeof(T) == sizeof(float)) {
      FloatToBfloat(dprojected + t * bo, rounded, bo);
      HalfProductTo({rounded, d.out, d.batch, d.out}, d.hidden, half->projection, nullptr, step_dh);
    }
  }

  /* Gradients of the gates of sequence n; dh becomes what reaches the state before other than
   * through the product: a sequence that is over hands its gradient on unchanged. */
  void Gates(const At& s, int64_t n) const {
    constexpr int dtype = sizeof(T) == 8 ? kFloat64 : kFloat32;
    const int64_t gh = d.gates * d.hidden, bh = d.batch * d.hidden, row = s.t * d.batch + n, at = n * d.hidden;
    const T *g = k.gates[dir] + row * gh, *ct = k.cell[dir] ? k.cell[dir] + row * d.hidden : nullptr;
    const T* dhidden = (d.projection ? step_dh : dh) + at;
    T *dg = dgates + row * gh, *dr = drecurrent + row * gh;
    if (s.t >= LengthOf(d, lengths, n)) {
      std::fill(dg, dg + gh, T(0));
      if (dr != dg) std::fill(dr, dr + gh, T(0));
    } else {
      if (p.mode == kLstm) {
        const T* cp = Fresh(s, n) ? cell_state + at : k.cell[dir] + s.before * bh + at;
        MXNET_CPU_CALL(LstmRowGradient)(dtype, d.hidden, clip, g, ct, cp, dhidden, dc + at, dg);
      } else if (p.mode == kGru) {
        MXNET_CPU_CALL(GruRowGradient)(dtype, d.hidden, g, ct, previous + row * d.out, dhidden, dg, dr, keep + at);
      } else {
        MXNET_CPU_CALL(PlainRowGradient)(dtype, d.hidden, p.mode == kRnnRelu, g, dhidden, dg);
      }
      if (keep)
        std::copy(keep + at, keep + at + d.hidden, dh + at);
      else
        std::fill(dh + n * d.out, dh + (n + 1) * d.out, T(0));
    }
    if constexpr (sizeof(T) == sizeof(float)) {
      if (half) half->Take(row, dg, dr);
    }
  }

  /* Adds the gradient of the state before, through the product. */
  void Multiply(int64_t t) const {
    const int64_t gh = d.gates * d.hidden;
    const T* dr = drecurrent + t * d.batch * gh;
    if constexpr (sizeof(T) == sizeof(float)) {
      if (half) return HalfProductTo({half->drecurrent + t * d.batch * gh, gh, d.batch, gh}, d.out, half->hidden, products, dh);
      if (packed) return ParallelGemm(d.batch, d.out, gh, dr, gh, packed, dh, d.out);
    }
    Gemm(false, false, d.batch, d.out, gh, dr, w.hidden, T(1), dh);
  }

  void Step(int64_t step) const {
    const At s = StepAt(step);
    if (d.projection) {
      for (int64_t n = 0; n < d.batch; ++n) Prepare(s, n);
      Project(s.t);
    }
    ParallelFor(d.batch, Grain(d), [&](int64_t b, int64_t e) {
      for (int64_t n = b; n < e; ++n) {
        if (!d.projection) Prepare(s, n);
        Gates(s, n);
      }
    });
    Multiply(s.t);
  }
};

// dy: gradient of this layer's output; adds to dx (gradient of its input) and fills the gradients
// of weights and first states.
template <typename T>
void BackDirection(KernelArgs& a, const RNNParam& p, const RnnDims& d, int64_t layer, int64_t dir, const Weights<T>& w,
                   const Weights<T>* dw, const Kept<T>& k, const T* input, const T* dy, const T* state, const T* cell_state,
                   const T* dstate_out, const T* dcell_out, T* dx, T* dstate, T* dcell, const int64_t* lengths, HalfBack* half) {
  const int64_t gh = d.gates * d.hidden, bo = d.batch * d.out, bh = d.batch * d.hidden, inputs = d.LayerInput(layer);
  Back<T> b{p, d, dir, w, k, dy, state, cell_state, lengths, half};
  b.Make(a);
  std::copy(dstate_out, dstate_out + bo, b.dh);
  if (dcell_out)
    std::copy(dcell_out, dcell_out + bh, b.dc);
  else
    std::fill(b.dc, b.dc + bh, T(0));
  for (int64_t step = d.steps - 1; step >= 0; --step) b.Step(step);
  if (dstate) std::copy(b.dh, b.dh + bo, dstate);
  if (dcell) std::copy(b.dc, b.dc + bh, dcell);
  if constexpr (sizeof(T) == sizeof(float)) {
    if (half) {
      if (dx) HalfInputGradient(a, d, inputs, *half, dir > 0, dx);
      if (half->dw) HalfWeightGradients(a, d, inputs, *half, b.dgates, b.drecurrent, b.dprojected, b.previous, k.hidden[dir]);
      return;
    }
  }
  if (dx) Gemm(false, false, d.steps * d.batch, inputs, gh, b.dgates, w.input, dir == 0 ? T(0) : T(1), dx);
  if (dw) WeightGradients(d, inputs, b.dgates, b.drecurrent, b.dprojected, input, b.previous, k.hidden[dir], *dw);
}

/* a: args, of which data, parameters and the parameters' gradient are left out where `half` says
 * that they stay bfloat16. */
template <typename T>
void RunLayers(const KernelArgs& args, KernelArgs& a, const int64_t* lengths, bool half) {
  const auto& p = args.param<RNNParam>();
  const bool lstm = p.mode == kLstm;
  const int first = 2 + lstm;  // of the forward inputs
  const RnnDims d = DimsOf(p, args.in[first].shape);
  Ran("step by step");
  T* reserve = a.in[a.in.size() - 1].data<T>();
  T *data = half ? nullptr : a.in[first].data<T>(), *params = half ? nullptr : a.in[first + 1].data<T>();
  T* dparams = Wanted(a, 1) ? a.out[1].data<T>() : nullptr;
  const int64_t cells = d.steps * d.batch;
  const T* dy = a.in[0].data<T>();
  for (int64_t l = d.layers - 1; l >= 0; --l) {
    const Kept<T> k = KeptOf(d, l, reserve);
    const T* input = LayerInput(d, l, k, data, reserve);
    const int64_t n = cells * d.LayerInput(l);
    const bfloat16* half_input = nullptr;
    if constexpr (sizeof(T) == sizeof(float)) {
      if (half) half_input = l == 0 ? args.in[first].data<bfloat16>() : Rounded(a, input, n);
    }
    T* dx = l > 0 ? Workspace<T>(a, n) : Wanted(a, 0) ? a.out[0].data<T>() : nullptr;
    for (int64_t dir = 0; dir < d.directions; ++dir) {
      const int64_t s = l * d.directions + dir, at = s * d.batch * d.out, cell_at = s * d.batch * d.hidden;
      const Weights<T> w(d, l, dir, params), dw(d, l, dir, dparams ? dparams : params);
      std::optional<HalfBack> own;
      if (half) own.emplace(a, d, l, dir, args.in[first + 1].data<bfloat16>(), p.mode == kGru);
      Weights<bfloat16> half_dw(d, l, dir, half && Wanted(args, 1) ? args.out[1].data<bfloat16>() : nullptr);
      if (half) own->input = half_input, own->dw = half_dw.input ? &half_dw : nullptr;
      BackDirection(a, p, d, l, dir, w, dparams ? &dw : nullptr, k, input, dy, a.in[first + 2].data<T>() + at,
                    lstm ? a.in[first + 3].data<T>() + cell_at : nullptr, a.in[1].data<T>() + at,
                    lstm ? a.in[2].data<T>() + cell_at : nullptr, dx, Wanted(a, 2) ? a.out[2].data<T>() + at : nullptr,
                    lstm && Wanted(a, 3) ? a.out[3].data<T>() + cell_at : nullptr, lengths, half ? &*own : nullptr);
    }
    if (k.mask)
      for (int64_t i = 0; i < n; ++i) dx[i] *= k.mask[i];
    dy = dx;
  }
}

void Backward(KernelArgs& args) {
  const auto& p = args.param<RNNParam>();
  const int first = 2 + (p.mode == kLstm);
  const int64_t* lengths = p.use_sequence_length ? AsInt64(args, args.in[args.in.size() - 2]) : nullptr;
  const bool half = RnnInBfloat(args, first);
  std::vector<TBlob> in(args.in.begin(), args.in.end()), out(args.out.begin(), args.out.end());
  if (half) in[first].dptr = in[first + 1].dptr = out[1].dptr = nullptr;  // are not widened
  KernelArgs call = args;
  call.in = Span<const TBlob>(in.data(), static_cast<int>(in.size()));
  call.out = Span<const TBlob>(out.data(), static_cast<int>(out.size()));
  RunReal(call, [&](KernelArgs& a, auto tag) { RunLayers<decltype(tag)>(args, a, lengths, half); });
}

MXNET_REGISTER_OP_KERNEL(_backward_RNN, kCPU, Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
