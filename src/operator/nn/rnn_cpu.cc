// RNN on the CPU: one matrix product per layer for the inputs of all steps, one per step for the hidden state, elementwise gates in between.
#include "operator/nn/rnn.h"

#include <algorithm>
#include <cstring>

#include "operator/gemm.h"
#include "operator/nn/nn_common.h"
#include "operator/nn/rnn_kernels.h"
#include "operator/random_philox.h"

namespace mxnet {
namespace nn {
namespace {

CellClip ClipOf(const RNNParam& p) {
  CellClip c;
  c.on = p.lstm_state_clip_min.has_value() && p.lstm_state_clip_max.has_value();
  c.nan = p.lstm_state_clip_nan;
  if (c.on) c.low = p.lstm_state_clip_min.value(), c.high = p.lstm_state_clip_max.value();
  return c;
}

// The reserve of one layer.
template <typename T>
struct Kept {
  T *input, *mask, *output;      // (steps, batch, layer input) twice; (steps, batch, directions * out)
  T *gates[2], *cell[2], *hidden[2];   // (steps, batch, gates * hidden); (steps, batch, hidden): lstm cell state or gru U h + c of the candidate; unprojected hidden state
};

template <typename T>
Kept<T> KeptOf(const RnnDims& d, int64_t layer, T* reserve) {
  for (int64_t l = 0; l < layer; ++l) reserve += d.steps * d.batch * (2 * d.LayerInput(l) + d.directions * d.out) + d.directions * d.steps * d.PerStep();
  Kept<T> k;
  const int64_t cells = d.steps * d.batch;
  k.input = reserve;
  k.mask = k.input + cells * d.LayerInput(layer);
  k.output = k.mask + cells * d.LayerInput(layer);
  T* at = k.output + cells * d.directions * d.out;
  for (int64_t dir = 0; dir < d.directions; ++dir) {
    k.gates[dir] = at;
    k.cell[dir] = k.gates[dir] + cells * d.gates * d.hidden;
    k.hidden[dir] = k.cell[dir] + cells * d.hidden;
    at = k.hidden[dir] + cells * d.hidden;
  }
  return k;
}

// Weights of one layer and direction.
template <typename T>
struct Weights {
  T *input, *hidden, *projection, *input_bias, *hidden_bias;
  Weights(const RnnDims& d, int64_t layer, int64_t dir, T* params) {
    input = params + d.WeightOffset(layer, dir);
    hidden = input + d.gates * d.hidden * d.LayerInput(layer);
    projection = d.projection ? hidden + d.gates * d.hidden * d.out : nullptr;
    input_bias = params + d.BiasAt(layer, dir);
    hidden_bias = input_bias + d.gates * d.hidden;
  }
};

int64_t LengthOf(const RnnDims& d, const int64_t* lengths, int64_t n) { return lengths ? std::min(std::max<int64_t>(lengths[n], 0), d.steps) : d.steps; }

int64_t Grain(const RnnDims& d) { return std::max<int64_t>(1, 2048 / std::max<int64_t>(1, d.hidden)); }

// Step t of the walk is time t forwards and steps-1-t backwards. Sequences that are shorter than `time` keep their state.
template <typename T>
void RunDirection(KernelArgs& a, const RNNParam& p, const RnnDims& d, int64_t layer, int64_t dir, const Weights<T>& w, const Kept<T>& k, const T* state,
                  const T* cell_state, T* state_out, T* cell_out, const int64_t* lengths) {
  const int64_t gh = d.gates * d.hidden, bo = d.batch * d.out, bh = d.batch * d.hidden;
  T* gates = k.gates[dir];
  for (int64_t i = 0; i < d.steps * d.batch; ++i)
    for (int64_t j = 0; j < gh; ++j) gates[i * gh + j] = w.input_bias[j] + (p.mode == kGru && j >= 2 * d.hidden ? T(0) : w.hidden_bias[j]);
  Gemm(false, true, d.steps * d.batch, gh, d.LayerInput(layer), k.input, w.input, T(1), gates);
  T *h = Scratch<T>(a, bo), *c = Scratch<T>(a, bh), *projected = d.projection ? Scratch<T>(a, bo) : nullptr, *recurrent = p.mode == kGru ? Scratch<T>(a, d.batch * gh) : nullptr;
  std::copy(state, state + bo, h);
  if (cell_state) std::copy(cell_state, cell_state + bh, c);
  const CellClip clip = ClipOf(p);
  constexpr int dtype = sizeof(T) == 8 ? kFloat64 : kFloat32;
  for (int64_t step = 0; step < d.steps; ++step) {
    const int64_t t = dir == 0 ? step : d.steps - 1 - step;
    T* g = gates + t * d.batch * gh;
    if (recurrent) {
      for (int64_t n = 0; n < d.batch; ++n)
        for (int64_t j = 0; j < gh; ++j) recurrent[n * gh + j] = j >= 2 * d.hidden ? w.hidden_bias[j] : T(0);
      Gemm(false, true, d.batch, gh, d.out, h, w.hidden, T(1), recurrent);
    } else {
      Gemm(false, true, d.batch, gh, d.out, h, w.hidden, T(1), g);
    }
    T *ct = k.cell[dir] + t * bh, *ht = k.hidden[dir] + t * bh;
    ParallelFor(d.batch, Grain(d), [&](int64_t b, int64_t e) {
      for (int64_t n = b; n < e; ++n) {
        if (t >= LengthOf(d, lengths, n)) {
          std::fill(ct + n * d.hidden, ct + (n + 1) * d.hidden, T(0));
          std::fill(ht + n * d.hidden, ht + (n + 1) * d.hidden, T(0));
          continue;
        }
        T* gn = g + n * gh;
        const int64_t at = n * d.hidden;
        if (p.mode == kLstm) {
          MXNET_CPU_CALL(LstmRow)(dtype, d.hidden, clip, gn, c + at, ct + at, ht + at);
        } else if (p.mode == kGru) {
          MXNET_CPU_CALL(GruRow)(dtype, d.hidden, gn, recurrent + n * gh, h + at, ct + at, ht + at);
        } else if (p.mode == kRnnTanh) {
          MXNET_CPU_CALL(TanhRow)(dtype, d.hidden, gn, ht + at);
        } else {
          for (int64_t j = 0; j < d.hidden; ++j) ht[at + j] = gn[j] = std::max(gn[j], T(0));
        }
      }
    });
    const T* next = ht;
    if (d.projection) {
      Gemm(false, true, d.batch, d.out, d.hidden, ht, w.projection, T(0), projected);
      next = projected;
    }
    for (int64_t n = 0; n < d.batch; ++n) {
      T* out = k.output + (t * d.batch + n) * d.directions * d.out + dir * d.out;
      if (t >= LengthOf(d, lengths, n)) {
        std::fill(out, out + d.out, T(0));
      } else {
        std::copy(next + n * d.out, next + (n + 1) * d.out, out);
        std::copy(next + n * d.out, next + (n + 1) * d.out, h + n * d.out);
      }
    }
  }
  if (state_out) std::copy(h, h + bo, state_out);
  if (cell_out) std::copy(c, c + bh, cell_out);
}

void Forward(KernelArgs& args) {
  const auto& p = args.param<RNNParam>();
  const bool lstm = p.mode == kLstm;
  const int64_t* lengths = p.use_sequence_length ? AsInt64(args, args.in[args.in.size() - 1]) : nullptr;
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const RnnDims d = DimsOf(p, a.in[0].shape);
    const int last = a.out.size() - 1;
    T* reserve = Wanted(a, last) ? a.out[last].data<T>() : Scratch<T>(a, d.ReserveSize());
    const int64_t cells = d.steps * d.batch;
    for (int64_t l = 0; l < d.layers; ++l) {
      const Kept<T> k = KeptOf(d, l, reserve);
      const int64_t n = cells * d.LayerInput(l);
      const T* from = l == 0 ? a.in[0].data<T>() : KeptOf(d, l - 1, reserve).output;
      if (l > 0 && p.p > 0 && a.is_train) {
        const uint64_t first = a.random->Take(static_cast<uint64_t>(n) / 4 + 1), seed = a.random->seed();
        const T scale = p.p < 1 ? T(1) / (T(1) - static_cast<T>(p.p)) : T(0);
        for (int64_t i = 0; i < n; i += 4) {
          const Philox random(seed, first + static_cast<uint64_t>(i) / 4);
          for (int64_t j = i; j < std::min(n, i + 4); ++j) {
            k.mask[j] = Philox::ToFloat(random.word[j - i]) >= p.p ? scale : T(0);
            k.input[j] = from[j] * k.mask[j];
          }
        }
      } else {
        std::copy(from, from + n, k.input);
        std::fill(k.mask, k.mask + n, T(1));
      }
      for (int64_t dir = 0; dir < d.directions; ++dir) {
        const int64_t s = l * d.directions + dir;
        const Weights<T> w(d, l, dir, a.in[1].data<T>());
        RunDirection(a, p, d, l, dir, w, k, a.in[2].data<T>() + s * d.batch * d.out, lstm ? a.in[3].data<T>() + s * d.batch * d.hidden : nullptr,
                     Wanted(a, 1) ? a.out[1].data<T>() + s * d.batch * d.out : nullptr, lstm && Wanted(a, 2) ? a.out[2].data<T>() + s * d.batch * d.hidden : nullptr,
                     lengths);
      }
    }
    if (Wanted(a, 0)) {
      const T* y = KeptOf(d, d.layers - 1, reserve).output;
      std::copy(y, y + cells * d.directions * d.out, a.out[0].data<T>());
    }
  });
}

// dy: gradient of this layer's output; adds to dx (gradient of its input) and fills the gradients of weights and first states.
template <typename T>
void BackDirection(KernelArgs& a, const RNNParam& p, const RnnDims& d, int64_t layer, int64_t dir, const Weights<T>& w, const Weights<T>* dw, const Kept<T>& k, const T* dy,
                   const T* state, const T* cell_state, const T* dstate_out, const T* dcell_out, T* dx, T* dstate, T* dcell, const int64_t* lengths) {
  const int64_t gh = d.gates * d.hidden, bo = d.batch * d.out, bh = d.batch * d.hidden, cells = d.steps * d.batch;
  T *dgates = Scratch<T>(a, cells * gh), *drecurrent = p.mode == kGru ? Scratch<T>(a, cells * gh) : dgates, *previous = Scratch<T>(a, cells * d.out);
  T *dh = Scratch<T>(a, bo), *dc = Scratch<T>(a, bh);
  T *dprojected = d.projection ? Scratch<T>(a, cells * d.out) : nullptr, *keep = p.mode == kGru ? Scratch<T>(a, bh) : nullptr, *step_dh = Scratch<T>(a, bh);
  std::copy(dstate_out, dstate_out + bo, dh);
  if (dcell_out) std::copy(dcell_out, dcell_out + bh, dc); else std::fill(dc, dc + bh, T(0));
  const CellClip clip = ClipOf(p);
  constexpr int dtype = sizeof(T) == 8 ? kFloat64 : kFloat32;
  for (int64_t step = d.steps - 1; step >= 0; --step) {
    const int64_t t = dir == 0 ? step : d.steps - 1 - step, before = dir == 0 ? t - 1 : t + 1;
    const bool first = before < 0 || before >= d.steps;
    T *dg = dgates + t * d.batch * gh, *dr = drecurrent + t * d.batch * gh, *hp = previous + t * bo;
    const T *g = k.gates[dir] + t * d.batch * gh, *ct = k.cell[dir] + t * bh;
    // the state before this step: the first one, or where a backward walk over a short sequence has not begun yet
    auto fresh = [&](int64_t n) { return first || before >= LengthOf(d, lengths, n); };
    for (int64_t n = 0; n < d.batch; ++n) {
      const T* from = fresh(n) ? state + n * d.out : k.output + (before * d.batch + n) * d.directions * d.out + dir * d.out;
      std::copy(from, from + d.out, hp + n * d.out);
      const bool live = t < LengthOf(d, lengths, n);
      if (live) {
        const T* up = dy + (t * d.batch + n) * d.directions * d.out + dir * d.out;
        for (int64_t j = 0; j < d.out; ++j) dh[n * d.out + j] += up[j];
      }
      if (d.projection) for (int64_t j = 0; j < d.out; ++j) dprojected[t * bo + n * d.out + j] = live ? dh[n * d.out + j] : T(0);
    }
    const T* dhidden = dh;
    if (d.projection) {
      Gemm(false, false, d.batch, d.hidden, d.out, dprojected + t * bo, w.projection, T(0), step_dh);
      dhidden = step_dh;
    }
    for (int64_t n = 0; n < d.batch; ++n) {
      if (t >= LengthOf(d, lengths, n)) {
        std::fill(dg + n * gh, dg + (n + 1) * gh, T(0));
        if (dr != dg) std::fill(dr + n * gh, dr + (n + 1) * gh, T(0));
        if (keep) for (int64_t j = 0; j < d.hidden; ++j) keep[n * d.hidden + j] = dh[n * d.hidden + j];
        continue;
      }
      const T* gn = g + n * gh;
      T *dgn = dg + n * gh, *drn = dr + n * gh;
      const T* cp = !cell_state ? nullptr : fresh(n) ? cell_state + n * d.hidden : k.cell[dir] + before * bh + n * d.hidden;
      if (p.mode == kLstm) {
        const int64_t at = n * d.hidden;
        MXNET_CPU_CALL(LstmRowGradient)(dtype, d.hidden, clip, gn, ct + at, cp, dhidden + at, dc + at, dgn);
        continue;
      }
      for (int64_t j = 0; j < d.hidden; ++j) {
        const int64_t at = n * d.hidden + j;
        const T up = dhidden[at];
        if (p.mode == kGru) {
          const T gr = gn[j], gz = gn[d.hidden + j], gc = gn[2 * d.hidden + j];
          const T dcandidate = up * (T(1) - gz) * (T(1) - gc * gc);
          dgn[2 * d.hidden + j] = dcandidate;
          drn[2 * d.hidden + j] = dcandidate * gr;
          dgn[j] = drn[j] = dcandidate * ct[at] * gr * (T(1) - gr);
          dgn[d.hidden + j] = drn[d.hidden + j] = up * (hp[at] - gc) * gz * (T(1) - gz);
          keep[at] = up * gz;
        } else {
          dgn[j] = p.mode == kRnnRelu ? (gn[j] > T(0) ? up : T(0)) : up * (T(1) - gn[j] * gn[j]);
        }
      }
    }
    // dh of the state before; a sequence that is over hands its gradient on unchanged
    if (keep) {
      std::copy(keep, keep + bh, dh);
      Gemm(false, false, d.batch, d.out, gh, dr, w.hidden, T(1), dh);
    } else {
      for (int64_t n = 0; n < d.batch; ++n)
        if (t < LengthOf(d, lengths, n)) std::fill(dh + n * d.out, dh + (n + 1) * d.out, T(0));
      Gemm(false, false, d.batch, d.out, gh, dr, w.hidden, T(1), dh);
    }
  }
  if (dstate) std::copy(dh, dh + bo, dstate);
  if (dcell) std::copy(dc, dc + bh, dcell);
  if (dx) Gemm(false, false, cells, d.LayerInput(layer), gh, dgates, w.input, T(1), dx);
  if (!dw) return;
  Gemm(true, false, gh, d.LayerInput(layer), cells, dgates, k.input, T(0), dw->input);
  Gemm(true, false, gh, d.out, cells, drecurrent, previous, T(0), dw->hidden);
  if (d.projection) Gemm(true, false, d.out, d.hidden, cells, dprojected, k.hidden[dir], T(0), dw->projection);
  std::fill(dw->input_bias, dw->input_bias + gh, T(0));
  std::fill(dw->hidden_bias, dw->hidden_bias + gh, T(0));
  for (int64_t i = 0; i < cells; ++i)
    for (int64_t j = 0; j < gh; ++j) {
      dw->input_bias[j] += dgates[i * gh + j];
      dw->hidden_bias[j] += drecurrent[i * gh + j];
    }
}

void Backward(KernelArgs& args) {
  const auto& p = args.param<RNNParam>();
  const bool lstm = p.mode == kLstm;
  const int first = 2 + lstm;   // of the forward inputs
  const int64_t* lengths = p.use_sequence_length ? AsInt64(args, args.in[args.in.size() - 2]) : nullptr;
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const RnnDims d = DimsOf(p, a.in[first].shape);
    T* reserve = a.in[a.in.size() - 1].data<T>();
    T* params = a.in[first + 1].data<T>();
    T* dparams = Wanted(a, 1) ? a.out[1].data<T>() : nullptr;
    const int64_t cells = d.steps * d.batch;
    const T* dy = a.in[0].data<T>();
    for (int64_t l = d.layers - 1; l >= 0; --l) {
      const Kept<T> k = KeptOf(d, l, reserve);
      const int64_t n = cells * d.LayerInput(l);
      T* dx = l > 0 ? Scratch<T>(a, n) : Wanted(a, 0) ? a.out[0].data<T>() : nullptr;
      if (dx) std::fill(dx, dx + n, T(0));
      for (int64_t dir = 0; dir < d.directions; ++dir) {
        const int64_t s = l * d.directions + dir, at = s * d.batch * d.out, cell_at = s * d.batch * d.hidden;
        const Weights<T> w(d, l, dir, params), dw(d, l, dir, dparams ? dparams : params);
        BackDirection(a, p, d, l, dir, w, dparams ? &dw : nullptr, k, dy, a.in[first + 2].data<T>() + at, lstm ? a.in[first + 3].data<T>() + cell_at : nullptr,
                      a.in[1].data<T>() + at, lstm ? a.in[2].data<T>() + cell_at : nullptr, dx, Wanted(a, 2) ? a.out[2].data<T>() + at : nullptr,
                      lstm && Wanted(a, 3) ? a.out[3].data<T>() + cell_at : nullptr, lengths);
      }
      if (l > 0) for (int64_t i = 0; i < n; ++i) dx[i] *= k.mask[i];
      dy = dx;
    }
  });
}

MXNET_REGISTER_OP_KERNEL(RNN, kCPU, Forward);
MXNET_REGISTER_OP_KERNEL(_backward_RNN, kCPU, Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
