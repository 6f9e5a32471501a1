// RNN on the CPU: one matrix product per layer for the inputs of all steps, one per step for the
// hidden state, elementwise gates in between. Weights that all steps read are packed once; in
// inference plans they stay packed until they change.
#include <algorithm>
#include <cstring>
#include <string>

#include "base/ran.h"
#include "base/round_up.h"
#include "mxnet/env.h"
#include "mxnet/op.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/onednn/hooks.h"
#include "operator/nn/rnn/rnn.h"
#include "operator/nn/rnn/rnn_kernels.h"
#include "operator/shared/gemm.h"
#include "operator/shared/random_philox.h"

namespace mxnet {
namespace nn {
namespace {

// The reserve of one layer.
template <typename T>
struct Kept {
  T *mask, *dropped, *output, *gates[2], *cell[2], *hidden[2];  // null where not kept
};

template <typename T>
Kept<T> KeptOf(const RnnDims& d, int64_t layer, T* reserve) {
  for (int64_t l = 0; l < layer; ++l) reserve += d.KeptSize(l);
  const RnnKeptAt at(d, layer);
  auto place = [reserve](int64_t offset) { return offset < 0 ? nullptr : reserve + offset; };
  Kept<T> k = {place(at.mask), place(at.dropped), place(at.output), {}, {}, {}};
  for (int64_t dir = 0; dir < d.directions; ++dir)
    k.gates[dir] = place(at.gates[dir]), k.cell[dir] = place(at.cell[dir]), k.hidden[dir] = place(at.hidden[dir]);
  return k;
}

// Weights of one layer and direction.
template <typename T>
struct Weights {
  T *input, *hidden, *projection, *input_bias, *hidden_bias;
  Weights(const RnnDims& d, int64_t layer, int64_t dir, T* params) {
    const RnnWeightsAt at(d, layer, dir);
    input = params + at.input, hidden = params + at.hidden, projection = d.projection ? params + at.projection : nullptr;
    input_bias = params + at.input_bias, hidden_bias = params + at.hidden_bias;
  }
};

// ---- packed weights of the forward pass: per layer and direction those of the hidden state, gate

struct Packing {
  const float* base = nullptr;
  bool with_input = false;
  static int64_t Hidden(const RnnDims& d) { return d.gates * PackedSize(d.hidden, d.out); }
  int64_t Size(const RnnDims& d, int64_t layer) const {
    return Hidden(d) + (with_input ? PackedSize(d.gates * d.hidden, d.LayerInput(layer)) : 0);
  }
  int64_t Offset(const RnnDims& d, int64_t layer, int64_t dir) const {
    int64_t sum = dir * Size(d, layer);
    for (int64_t l = 0; l < layer; ++l) sum += d.directions * Size(d, l);
    return sum;
  }
};

void PackHidden(const RnnDims& d, const float* weight, float* packed) {
  ParallelFor(d.gates * PackedColumns(d.hidden) / kPackColumns, std::max<int64_t>(1, 65536 / (kPackColumns * d.out)),
              [&](int64_t b, int64_t e) {
                const int64_t per_gate = PackedColumns(d.hidden) / kPackColumns;
                for (int64_t i = b; i < e; ++i) {
                  const int64_t gate = i / per_gate, first = i % per_gate * kPackColumns;
                  MXNET_CPU_CALL(PackColumns)
                  (true, std::min(kPackColumns, d.hidden - first), d.out, weight + (gate * d.hidden + first) * d.out, d.out,
                   packed + i * kPackColumns * d.out);
                }
              });
}

// In the state of a plan's node.
struct PackedRnn : OpState {
  uint64_t version = 0;
  std::string key;
  std::unique_ptr<char[]> memory;
};

constexpr int64_t kFewRows = 128;  // products with up to so many rows gain from packed weights of the input

/*
 * Packed weights for this call. In inference plans they are kept as long as the parameters do not
 * change; with MXNET_RNN_USE_WEIGHT_CACHE for ever. Otherwise those of the hidden state are packed
 * when enough steps use them.
 */
Packing PackedWeights(KernelArgs& args, const RnnDims& d, float* params) {
  Packing packing;
  const bool keep = args.state && !args.is_train && args.in_versions.size() > 1;
  if (!keep && d.steps < 4) return packing;
  packing.with_input = keep && d.steps * d.batch <= kFewRows;
  const int64_t size = packing.Offset(d, d.layers, 0);
  float* base = nullptr;
  if (keep) {
    auto* packed = dynamic_cast<PackedRnn*>(args.state->get());
    if (!packed) args.state->reset(packed = new PackedRnn());
    const int64_t about[] = {
        d.input, d.hidden, d.out, d.layers, d.directions, d.gates, packing.with_input, static_cast<int64_t>(CurrentCpuLevel())};
    const std::string key(reinterpret_cast<const char*>(about), sizeof(about));
    const bool fits = packed->key == key;
    if (!fits) packed->memory.reset(new char[size * sizeof(float) + 64]), packed->key.clear();
    base = AlignedTo64<float>(packed->memory.get());
    packing.base = base;
    if (fits && (packed->version == args.in_versions[1] || Env::Get().rnn_use_weight_cache)) return packing;
    packed->key = key;
    packed->version = args.in_versions[1];
  } else {
    base = Workspace<float>(args, size);
    packing.base = base;
  }
  for (int64_t l = 0; l < d.layers; ++l)
    for (int64_t dir = 0; dir < d.directions; ++dir) {
      const Weights<float> w(d, l, dir, params);
      float* at = base + packing.Offset(d, l, dir);
      PackHidden(d, w.hidden, at);
      if (packing.with_input)
        MXNET_CPU_CALL(PackColumns)(true, d.gates * d.hidden, d.LayerInput(l), w.input, d.LayerInput(l), at + Packing::Hidden(d));
    }
  return packing;
}

// C += A B on several threads.
void ParallelGemm(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* packed, float* c, int64_t ldc) {
  const int threads = OmpThreadsForFlops(2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k));
  ParallelForThreads(threads, PackedColumns(n) / kPackColumns, [&](int64_t b, int64_t e) {
    const int64_t first = b * kPackColumns, end = std::min(n, e * kPackColumns);
    MXNET_CPU_CALL(PackedGemm)(m, end - first, k, a, lda, packed + first * k, c + first, ldc);
  });
}

int64_t LengthOf(const RnnDims& d, const int64_t* lengths, int64_t n) {
  return lengths ? std::min(std::max<int64_t>(lengths[n], 0), d.steps) : d.steps;
}

int64_t Grain(const RnnDims& d) { return std::max<int64_t>(1, 2048 / std::max<int64_t>(1, d.hidden)); }

// The gates of all steps before the products: the biases, but for that of GRU's candidate, which
// belongs inside of the product with the reset gate.
template <typename T>
void FillWithBiases(const RNNParam& p, const RnnDims& d, const Weights<T>& w, T* gates) {
  const int64_t gh = d.gates * d.hidden;
  ParallelFor(d.steps * d.batch, std::max<int64_t>(1, 16384 / gh), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i)
      for (int64_t j = 0; j < gh; ++j)
        gates[i * gh + j] = w.input_bias[j] + (p.mode == kGru && j >= 2 * d.hidden ? T(0) : w.hidden_bias[j]);
  });
}

// h: the state before time t, which sequences that are over keep; hidden: what the cells gave.
template <typename T>
void Project(const RnnDims& d, const Weights<T>& w, int64_t t, const int64_t* lengths, const T* hidden, const T* h, T* projected, T* next,
             T* out) {
  const int64_t width = d.directions * d.out;
  Gemm(false, true, d.batch, d.out, d.hidden, hidden, w.projection, T(0), projected);
  for (int64_t n = 0; n < d.batch; ++n) {
    const bool live = t < LengthOf(d, lengths, n);
    const T* from = (live ? projected : h) + n * d.out;
    std::copy(from, from + d.out, next + n * d.out);
    if (live)
      std::copy(from, from + d.out, out + n * width);
    else
      std::fill(out + n * width, out + n * width + d.out, T(0));
  }
}

// Step t of the walk is time t forwards and steps-1-t backwards. Sequences that are shorter than
// `time` keep their state. packed: null where the plain products are used.
template <typename T>
void RunDirection(KernelArgs& a, const RNNParam& p, const RnnDims& d, int64_t layer, int64_t dir, const Weights<T>& w, const Kept<T>& k,
                  const T* input, const T* state, const T* cell_state, T* state_out, T* cell_out, const int64_t* lengths,
                  const float* packed, bool packed_input) {
  const int64_t gh = d.gates * d.hidden, bo = d.batch * d.out, bh = d.batch * d.hidden, cells = d.steps * d.batch,
                inputs = d.LayerInput(layer);
  T* gates = k.gates[dir];
  FillWithBiases(p, d, w, gates);
  bool multiplied = false;
  if constexpr (sizeof(T) == sizeof(float)) {
    if (packed_input) ParallelGemm(cells, gh, inputs, input, inputs, packed + Packing::Hidden(d), gates, gh), multiplied = true;
  }
  if (!multiplied) Gemm(false, true, cells, gh, inputs, input, w.input, T(1), gates);

  T *h = Workspace<T>(a, bo), *next = Workspace<T>(a, bo), *c = Workspace<T>(a, bh),
    *projected = d.projection ? Workspace<T>(a, bo) : nullptr;
  T *recurrent = p.mode == kGru ? Workspace<T>(a, d.batch * gh) : nullptr, *unkept = d.projection ? nullptr : Workspace<T>(a, bh);
  std::copy(state, state + bo, h);
  if (cell_state) std::copy(cell_state, cell_state + bh, c);
  const CellClip clip = ClipOf(p);
  constexpr int dtype = sizeof(T) == 8 ? kFloat64 : kFloat32;
  const int64_t blocks = (d.hidden + kPackColumns - 1) / kPackColumns, width = d.directions * d.out;
  const int threads = OmpThreadsForFlops(2.0 * static_cast<double>(d.batch) * static_cast<double>(gh) * static_cast<double>(d.out));

  for (int64_t step = 0; step < d.steps; ++step) {
    const int64_t t = dir == 0 ? step : d.steps - 1 - step;
    T *g = gates + t * d.batch * gh, *ct = k.cell[dir] ? k.cell[dir] + t * bh : nullptr,
      *ht = d.projection ? k.hidden[dir] + t * bh : unkept;
    if (!packed) {
      if (recurrent) std::fill(recurrent, recurrent + d.batch * gh, T(0));
      Gemm(false, true, d.batch, gh, d.out, h, w.hidden, T(1), recurrent ? recurrent : g);
    }
    // units [u, u + units) of all sequences
    auto stretch = [&](int64_t u, int64_t units) {
      if constexpr (sizeof(T) == sizeof(float)) {
        for (int64_t gate = 0; packed && gate < d.gates; ++gate) {
          T* sums = (recurrent ? recurrent : g) + gate * d.hidden + u;
          for (int64_t n = 0; recurrent && n < d.batch; ++n) std::fill(sums + n * gh, sums + n * gh + units, T(0));
          MXNET_CPU_CALL(PackedGemm)(d.batch, units, d.out, h, d.out, packed + (gate * PackedColumns(d.hidden) + u) * d.out, sums, gh);
        }
      }
      for (int64_t n = 0; n < d.batch; ++n) {
        T *gn = g + n * gh + u, *out = k.output + (t * d.batch + n) * width + dir * d.out + u;
        const int64_t at = n * d.hidden + u;
        const bool live = t < LengthOf(d, lengths, n);
        if (!live) {
          if (ct) std::fill(ct + at, ct + at + units, T(0));
          std::fill(ht + at, ht + at + units, T(0));
          if (!d.projection) std::copy(h + at, h + at + units, next + at), std::fill(out, out + units, T(0));
          continue;
        }
        if (p.mode == kLstm) {
          MXNET_CPU_CALL(LstmRow)(dtype, units, d.hidden, clip, gn, c + at, ct + at, ht + at);
        } else if (p.mode == kGru) {
          T* candidate = recurrent + n * gh + 2 * d.hidden + u;
          for (int64_t j = 0; j < units; ++j) candidate[j] += w.hidden_bias[2 * d.hidden + u + j];
          MXNET_CPU_CALL(GruRow)(dtype, units, d.hidden, gn, recurrent + n * gh + u, h + at, ct + at, ht + at);
        } else if (p.mode == kRnnTanh) {
          MXNET_CPU_CALL(TanhRow)(dtype, units, gn, ht + at);
        } else {
          MXNET_CPU_CALL(ReluRow)(dtype, units, gn, ht + at);
        }
        if (!d.projection) std::copy(ht + at, ht + at + units, next + at), std::copy(ht + at, ht + at + units, out);
      }
    };
    ParallelForThreads(threads, blocks, [&](int64_t b, int64_t e) {
      const int64_t end = std::min(d.hidden, e * kPackColumns);
      for (int64_t u = b * kPackColumns; u < end; u += 2 * kPackColumns) stretch(u, std::min(2 * kPackColumns, end - u));
    });
    if (d.projection) Project(d, w, t, lengths, ht, h, projected, next, k.output + t * d.batch * width + dir * d.out);
    std::swap(h, next);
  }
  if (state_out) std::copy(h, h + bo, state_out);
  if (cell_out) std::copy(c, c + bh, cell_out);
}

// What a layer reads: the operator's input or the layer below, perhaps dropped out.
template <typename T>
const T* LayerInput(const RnnDims& d, int64_t layer, const Kept<T>& k, T* data, T* reserve) {
  return layer == 0 ? data : k.dropped ? k.dropped : KeptOf(d, layer - 1, reserve).output;
}

template <typename T>
void DropOut(KernelArgs& a, const RNNParam& p, int64_t n, const T* from, T* mask, T* to) {
  if (!a.is_train) {
    std::copy(from, from + n, to);
    std::fill(mask, mask + n, T(1));
    return;
  }
  const uint64_t first = a.random->Take(static_cast<uint64_t>(n) / 4 + 1), seed = a.random->seed();
  const T scale = p.p < 1 ? T(1) / (T(1) - static_cast<T>(p.p)) : T(0);
  for (int64_t i = 0; i < n; i += 4) {
    const Philox random(seed, first + static_cast<uint64_t>(i) / 4);
    for (int64_t j = i; j < std::min(n, i + 4); ++j) {
      mask[j] = Philox::ToFloat(random.word[j - i]) >= p.p ? scale : T(0);
      to[j] = from[j] * mask[j];
    }
  }
}

/*
 * Inference through the library that is linked. False: not taken. Only gated cells with many
 * sequences: measured on AVX2, oneDNN 3.2 needs as long as the loops here for those, and more for
 * the others (a step of one sequence 1.4 to 1.8 times as long).
 */
constexpr int64_t kManySequences = 16;
bool RunByLibrary(KernelArgs& a, const RNNParam& p, const RnnDims& d, float* data, float* reserve) {
  const bool lstm = p.mode == kLstm;
  const int last = a.out.size() - 1;
  if (!d.gated || d.batch < kManySequences) return false;
  if (a.is_train || Wanted(a, last) || p.use_sequence_length || d.projection || ClipOf(p).on || !Env::Get().use_onednn_rnn ||
      !ActiveHooks().rnn)
    return false;
  for (int64_t l = 0; l < d.layers; ++l) {
    const Kept<float> k = KeptOf(d, l, reserve);
    float* out = l + 1 == d.layers && Wanted(a, 0) ? a.out[0].data<float>() : k.output;
    for (int64_t dir = 0; dir < d.directions; ++dir) {
      const int64_t s = l * d.directions + dir, at = s * d.batch * d.hidden;
      const Weights<float> w(d, l, dir, a.in[1].data<float>());
      RnnCall call;
      call.cell = lstm ? RnnCell::kLstm : p.mode == kGru ? RnnCell::kGru : p.mode == kRnnTanh ? RnnCell::kTanh : RnnCell::kRelu;
      call.reversed = dir == 1;
      call.steps = d.steps, call.batch = d.batch, call.inputs = d.LayerInput(l), call.hidden = d.hidden;
      call.data = l == 0 ? data : KeptOf(d, l - 1, reserve).output;
      call.state = a.in[2].data<float>() + at;
      if (lstm) call.cell_state = a.in[3].data<float>() + at;
      call.input_weight = w.input, call.hidden_weight = w.hidden, call.input_bias = w.input_bias, call.hidden_bias = w.hidden_bias;
      call.out = out + dir * d.hidden, call.out_width = d.directions * d.hidden;
      if (Wanted(a, 1)) call.state_out = a.out[1].data<float>() + at;
      if (lstm && Wanted(a, 2)) call.cell_out = a.out[2].data<float>() + at;
      call.place = static_cast<int>(s);
      if (!ActiveHooks().rnn(a, call)) return false;  // the first call tells: the others differ in sizes that it does not mind
    }
  }
  return true;
}

void Forward(KernelArgs& args) {
  const auto& p = args.param<RNNParam>();
  const bool lstm = p.mode == kLstm;
  const int64_t* lengths = p.use_sequence_length ? AsInt64(args, args.in[args.in.size() - 1]) : nullptr;
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const RnnDims d = DimsOf(p, a.in[0].shape);
    const int last = a.out.size() - 1;
    T* reserve = Wanted(a, last) ? a.out[last].data<T>() : Workspace<T>(a, d.ReserveSize());
    Packing packing;
    if constexpr (sizeof(T) == sizeof(float)) {
      if (RunByLibrary(a, p, d, a.in[0].data<float>(), reserve)) return;
      packing = PackedWeights(a, d, a.in[1].data<float>());
    }
    Ran(packing.base ? "step by step, packed GEMM" : "step by step");
    for (int64_t l = 0; l < d.layers; ++l) {
      const Kept<T> k = KeptOf(d, l, reserve);
      if (k.dropped) DropOut<T>(a, p, d.steps * d.batch * d.LayerInput(l), KeptOf(d, l - 1, reserve).output, k.mask, k.dropped);
      const T* input = LayerInput(d, l, k, a.in[0].data<T>(), reserve);
      for (int64_t dir = 0; dir < d.directions; ++dir) {
        const int64_t s = l * d.directions + dir;
        const Weights<T> w(d, l, dir, a.in[1].data<T>());
        RunDirection(a, p, d, l, dir, w, k, input, a.in[2].data<T>() + s * d.batch * d.out,
                     lstm ? a.in[3].data<T>() + s * d.batch * d.hidden : nullptr,
                     Wanted(a, 1) ? a.out[1].data<T>() + s * d.batch * d.out : nullptr,
                     lstm && Wanted(a, 2) ? a.out[2].data<T>() + s * d.batch * d.hidden : nullptr, lengths,
                     packing.base ? packing.base + packing.Offset(d, l, dir) : nullptr, packing.with_input);
      }
    }
    if (Wanted(a, 0)) {
      const T* y = KeptOf(d, d.layers - 1, reserve).output;
      std::copy(y, y + d.steps * d.batch * d.directions * d.out, a.out[0].data<T>());
    }
  });
}

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

MXNET_REGISTER_OP_KERNEL(RNN, kCPU, Forward);
MXNET_REGISTER_OP_KERNEL(_backward_RNN, kCPU, Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
