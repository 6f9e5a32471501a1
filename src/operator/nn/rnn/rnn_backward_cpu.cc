// The backward pass of RNN on the CPU. Weights that all steps read are packed once.
#include <algorithm>

#include "base/ran.h"
#include "mxnet/op.h"
#include "operator/nn/common/nn_common.h"
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

// From the gradients of the gates (dgates; drecurrent: of those of the product with the state).
template <typename T>
void WeightGradients(const RnnDims& d, int64_t inputs, const T* dgates, const T* drecurrent, const T* dprojected, const T* input,
                     const T* previous, const T* hidden, const Weights<T>& dw) {
  const int64_t gh = d.gates * d.hidden, cells = d.steps * d.batch;
  Gemm(true, false, gh, inputs, cells, dgates, input, T(0), dw.input);
  Gemm(true, false, gh, d.out, cells, drecurrent, previous, T(0), dw.hidden);
  if (d.projection) Gemm(true, false, d.out, d.hidden, cells, dprojected, hidden, T(0), dw.projection);
  auto sum = [&](const T* rows, T* into) {
    std::fill(into, into + gh, T(0));
    for (int64_t i = 0; i < cells; ++i)
      for (int64_t j = 0; j < gh; ++j) into[j] += rows[i * gh + j];
  };
  sum(dgates, dw.input_bias);
  if (drecurrent == dgates)
    std::copy(dw.input_bias, dw.input_bias + gh, dw.hidden_bias);
  else
    sum(drecurrent, dw.hidden_bias);
}

// dy: gradient of this layer's output; adds to dx (gradient of its input) and fills the gradients
// of weights and first states.
template <typename T>
void BackDirection(KernelArgs& a, const RNNParam& p, const RnnDims& d, int64_t layer, int64_t dir, const Weights<T>& w,
                   const Weights<T>* dw, const Kept<T>& k, const T* input, const T* dy, const T* state, const T* cell_state,
                   const T* dstate_out, const T* dcell_out, T* dx, T* dstate, T* dcell, const int64_t* lengths) {
  const int64_t gh = d.gates * d.hidden, bo = d.batch * d.out, bh = d.batch * d.hidden, cells = d.steps * d.batch;
  T *dgates = Workspace<T>(a, cells * gh), *drecurrent = p.mode == kGru ? Workspace<T>(a, cells * gh) : dgates,
    *previous = Workspace<T>(a, cells * d.out);
  T *dh = Workspace<T>(a, bo), *dc = Workspace<T>(a, bh);
  T *dprojected = d.projection ? Workspace<T>(a, cells * d.out) : nullptr, *keep = p.mode == kGru ? Workspace<T>(a, bh) : nullptr,
    *step_dh = d.projection ? Workspace<T>(a, bh) : nullptr;
  std::copy(dstate_out, dstate_out + bo, dh);
  if (dcell_out)
    std::copy(dcell_out, dcell_out + bh, dc);
  else
    std::fill(dc, dc + bh, T(0));
  float* const packed = PackedForBackward(a, d, w);
  const CellClip clip = ClipOf(p);
  constexpr int dtype = sizeof(T) == 8 ? kFloat64 : kFloat32;
  const int64_t width = d.directions * d.out;
  for (int64_t step = d.steps - 1; step >= 0; --step) {
    const int64_t t = dir == 0 ? step : d.steps - 1 - step, before = dir == 0 ? t - 1 : t + 1;
    const bool first = before < 0 || before >= d.steps;
    T *dg = dgates + t * d.batch * gh, *dr = drecurrent + t * d.batch * gh, *hp = previous + t * bo;
    const T *g = k.gates[dir] + t * d.batch * gh, *ct = k.cell[dir] ? k.cell[dir] + t * bh : nullptr;
    // the state before this step: the first one, or where a backward walk over a short sequence has
    // not begun yet
    auto fresh = [&](int64_t n) { return first || before >= LengthOf(d, lengths, n); };
    auto prepare = [&](int64_t n) {
      const T* from = fresh(n) ? state + n * d.out : k.output + (before * d.batch + n) * width + dir * d.out;
      std::copy(from, from + d.out, hp + n * d.out);
      const bool live = t < LengthOf(d, lengths, n);
      if (live) {
        const T* up = dy + (t * d.batch + n) * width + dir * d.out;
        for (int64_t j = 0; j < d.out; ++j) dh[n * d.out + j] += up[j];
      }
      if (d.projection)
        for (int64_t j = 0; j < d.out; ++j) dprojected[t * bo + n * d.out + j] = live ? dh[n * d.out + j] : T(0);
    };
    const T* dhidden = d.projection ? step_dh : dh;
    if (d.projection) {
      for (int64_t n = 0; n < d.batch; ++n) prepare(n);
      Gemm(false, false, d.batch, d.hidden, d.out, dprojected + t * bo, w.projection, T(0), step_dh);
    }
    // gradients of the gates; dh becomes what reaches the state before other than through the
    // product: a sequence that is over hands its gradient on unchanged
    ParallelFor(d.batch, Grain(d), [&](int64_t b, int64_t e) {
      for (int64_t n = b; n < e; ++n) {
        if (!d.projection) prepare(n);
        const T* gn = g + n * gh;
        T *dgn = dg + n * gh, *drn = dr + n * gh;
        const int64_t at = n * d.hidden;
        if (t >= LengthOf(d, lengths, n)) {
          std::fill(dgn, dgn + gh, T(0));
          if (dr != dg) std::fill(drn, drn + gh, T(0));
          continue;
        }
        if (p.mode == kLstm) {
          const T* cp = fresh(n) ? cell_state + at : k.cell[dir] + before * bh + at;
          MXNET_CPU_CALL(LstmRowGradient)(dtype, d.hidden, clip, gn, ct + at, cp, dhidden + at, dc + at, dgn);
        } else if (p.mode == kGru) {
          MXNET_CPU_CALL(GruRowGradient)(dtype, d.hidden, gn, ct + at, hp + at, dhidden + at, dgn, drn, keep + at);
        } else {
          MXNET_CPU_CALL(PlainRowGradient)(dtype, d.hidden, p.mode == kRnnRelu, gn, dhidden + at, dgn);
        }
        if (keep)
          std::copy(keep + at, keep + at + d.hidden, dh + at);
        else
          std::fill(dh + n * d.out, dh + (n + 1) * d.out, T(0));
      }
    });
    bool multiplied = false;
    if constexpr (sizeof(T) == sizeof(float)) {
      if (packed) ParallelGemm(d.batch, d.out, gh, dr, gh, packed, dh, d.out), multiplied = true;
    }
    if (!multiplied) Gemm(false, false, d.batch, d.out, gh, dr, w.hidden, T(1), dh);
  }
  if (dstate) std::copy(dh, dh + bo, dstate);
  if (dcell) std::copy(dc, dc + bh, dcell);
  if (dx) Gemm(false, false, cells, d.LayerInput(layer), gh, dgates, w.input, dir == 0 ? T(0) : T(1), dx);
  if (dw) WeightGradients(d, d.LayerInput(layer), dgates, drecurrent, dprojected, input, previous, k.hidden[dir], *dw);
}

void Backward(KernelArgs& args) {
  const auto& p = args.param<RNNParam>();
  const bool lstm = p.mode == kLstm;
  const int first = 2 + lstm;  // of the forward inputs
  const int64_t* lengths = p.use_sequence_length ? AsInt64(args, args.in[args.in.size() - 2]) : nullptr;
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const RnnDims d = DimsOf(p, a.in[first].shape);
    Ran("step by step");
    T* reserve = a.in[a.in.size() - 1].data<T>();
    T* params = a.in[first + 1].data<T>();
    T* dparams = Wanted(a, 1) ? a.out[1].data<T>() : nullptr;
    const int64_t cells = d.steps * d.batch;
    const T* dy = a.in[0].data<T>();
    for (int64_t l = d.layers - 1; l >= 0; --l) {
      const Kept<T> k = KeptOf(d, l, reserve);
      const T* input = LayerInput(d, l, k, a.in[first].data<T>(), reserve);
      const int64_t n = cells * d.LayerInput(l);
      T* dx = l > 0 ? Workspace<T>(a, n) : Wanted(a, 0) ? a.out[0].data<T>() : nullptr;
      for (int64_t dir = 0; dir < d.directions; ++dir) {
        const int64_t s = l * d.directions + dir, at = s * d.batch * d.out, cell_at = s * d.batch * d.hidden;
        const Weights<T> w(d, l, dir, params), dw(d, l, dir, dparams ? dparams : params);
        BackDirection(a, p, d, l, dir, w, dparams ? &dw : nullptr, k, input, dy, a.in[first + 2].data<T>() + at,
                      lstm ? a.in[first + 3].data<T>() + cell_at : nullptr, a.in[1].data<T>() + at,
                      lstm ? a.in[2].data<T>() + cell_at : nullptr, dx, Wanted(a, 2) ? a.out[2].data<T>() + at : nullptr,
                      lstm && Wanted(a, 3) ? a.out[3].data<T>() + cell_at : nullptr, lengths);
      }
      if (k.mask)
        for (int64_t i = 0; i < n; ++i) dx[i] *= k.mask[i];
      dy = dx;
    }
  });
}

MXNET_REGISTER_OP_KERNEL(_backward_RNN, kCPU, Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
