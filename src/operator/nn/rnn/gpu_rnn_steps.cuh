// Steps of recurrent layers: what is elementwise between two products with the hidden weights. See
// gpu_rnn_steps.h.
#include "operator/random/philox.cuh"
#include "rtc/loop.cuh"

namespace kernels {

enum RnnMode { kRnnRelu, kRnnTanh, kLstm, kGru };  // as rnn.h

/*
 * What a direction's kernels have in common. X: the type that is computed in. Length: of the
 * lengths, where sequences have some. Operand: of what products read; `narrow` where it is not X.
 */
template <typename X_, typename Length_, typename Operand_, int mode, bool projection, bool clip, bool clip_nan, bool has_lengths>
struct RnnStepOf {
  typedef X_ X;
  typedef Length_ Length;
  typedef Operand_ Operand;
  static constexpr int kMode = mode, kGates = mode == kLstm ? 4 : mode == kGru ? 3 : 1;
  static constexpr bool kProjection = projection, kClip = clip, kClipNan = clip_nan, kLengths = has_lengths,
                        kNarrow = !mx::IsFloat<Operand>::value;
};
template <typename K>
struct RnnDirectionArgs {
  const typename K::Length* lengths;
  long long size, width, time, before;
  double low, high;  // of the cell
};

// Sequence `row` of the batch and unit of an item; whether this time belongs to the sequence
// (live), and whether the time before does not (fresh): then the state before is the first one.
template <typename K>
struct RnnPlace {
  long long row, unit;
  bool live, fresh;
  template <typename I>
  __device__ __forceinline__ RnnPlace(const RnnDirectionArgs<K>& a, I i) {
    const I n = i / static_cast<I>(a.size);
    row = n;
    unit = i - n * static_cast<I>(a.size);
    live = true;
    fresh = a.before < 0;
    if constexpr (K::kLengths) {
      const long long length = mx::Load<long long>(a.lengths, row);
      live = a.time < length;
      fresh = fresh || a.before >= length;
    }
  }
};

template <typename X>
__device__ __forceinline__ X Sigmoid(X v) {
  return X(1) / (X(1) + ::exp(-v));
}
// Stores a value as an operand of products too.
template <typename K>
__device__ __forceinline__ void StoreOperand(typename K::Operand* to, long long at, typename K::X v) {
  if constexpr (K::kNarrow) mx::Store(to, at, v);
}

// ---- forward

template <typename I, typename K>
struct rnn_step {
  typedef typename K::X X;
  typedef typename K::Operand Operand;
  struct Args {
    X* gates;
    const X* recurrent;
    const Operand *input_bias, *hidden_bias;
    X *h, *c, *cell, *hidden, *output;
    Operand *h_operand, *hidden_operand, *output_operand;
    RnnDirectionArgs<K> direction;
    long long count;
  };
  // The gate's input part, and its hidden part.
  static __device__ __forceinline__ X InputPart(const Args& a, long long base, long long unit, int g) {
    return a.gates[base + g * a.direction.size] + mx::Load<X>(a.input_bias, g * a.direction.size + unit);
  }
  static __device__ __forceinline__ X HiddenPart(const Args& a, long long base, long long unit, int g) {
    return a.recurrent[base + g * a.direction.size] + mx::Load<X>(a.hidden_bias, g * a.direction.size + unit);
  }
  static __device__ __forceinline__ X Gate(const Args& a, long long base, long long unit, int g) {
    return InputPart(a, base, unit, g) + HiddenPart(a, base, unit, g);
  }
  static __device__ __forceinline__ void Keep(const Args& a, long long base, int g, X v) { a.gates[base + g * a.direction.size] = v; }

  static __device__ __forceinline__ X Lstm(const Args& a, long long base, long long unit, I i) {
    const X gi = Sigmoid(Gate(a, base, unit, 0)), gf = Sigmoid(Gate(a, base, unit, 1)), gg = ::tanh(Gate(a, base, unit, 2)),
            go = Sigmoid(Gate(a, base, unit, 3));
    Keep(a, base, 0, gi);
    Keep(a, base, 1, gf);
    Keep(a, base, 2, gg);
    Keep(a, base, 3, go);
    X c = gf * a.c[i] + gi * gg;
    if constexpr (K::kClip) {
      const X low = static_cast<X>(a.direction.low), high = static_cast<X>(a.direction.high);
      if (K::kClipNan && c != c) c = high;
      c = c < low ? low : c > high ? high : c;
    }
    a.c[i] = c;
    a.cell[i] = c;
    return go * ::tanh(c);
  }
  static __device__ __forceinline__ X Gru(const Args& a, long long base, long long unit, I i) {
    const X gr = Sigmoid(Gate(a, base, unit, 0)), gz = Sigmoid(Gate(a, base, unit, 1)), kept = HiddenPart(a, base, unit, 2);
    const X gn = ::tanh(InputPart(a, base, unit, 2) + gr * kept);
    Keep(a, base, 0, gr);
    Keep(a, base, 1, gz);
    Keep(a, base, 2, gn);
    a.cell[i] = kept;
    return (X(1) - gz) * gn + gz * a.h[i];
  }

  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const RnnPlace<K> place(a.direction, i);
    const long long base = place.row * K::kGates * a.direction.size + place.unit, out = place.row * a.direction.width + place.unit;
    if (!place.live) {  // a sequence that is over keeps its states
      if constexpr (K::kMode == kLstm || K::kMode == kGru) a.cell[i] = X(0);
      StoreOutput(a, i, out, X(0));
      return;
    }
    X h;
    if constexpr (K::kMode == kLstm) {
      h = Lstm(a, base, place.unit, i);
    } else if constexpr (K::kMode == kGru) {
      h = Gru(a, base, place.unit, i);
    } else {
      static_assert(K::kMode == kRnnTanh || K::kMode == kRnnRelu, "a mode of RNN");
      const X v = Gate(a, base, place.unit, 0);
      h = K::kMode == kRnnTanh ? ::tanh(v) : v > X(0) ? v : X(0);
      Keep(a, base, 0, h);
    }
    StoreOutput(a, i, out, h);
    if constexpr (!K::kProjection) {
      a.h[i] = h;
      StoreOperand<K>(a.h_operand, i, h);
    }
  }
  static __device__ __forceinline__ void StoreOutput(const Args& a, I i, long long out, X h) {
    if constexpr (K::kProjection) {
      a.hidden[i] = h;
      StoreOperand<K>(a.hidden_operand, i, h);
    } else {
      a.output[out] = h;
      StoreOperand<K>(a.output_operand, out, h);
    }
  }
};

// h and output from the projected hidden state.
template <typename I, typename K>
struct rnn_projected {
  typedef typename K::X X;
  struct Args {
    const X* projected;
    X *h, *output;
    typename K::Operand *h_operand, *output_operand;
    RnnDirectionArgs<K> direction;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const RnnPlace<K> place(a.direction, i);
    const X v = a.projected[i];
    if (place.live) {
      a.h[i] = v;
      StoreOperand<K>(a.h_operand, i, v);
    }
    const long long out = place.row * a.direction.width + place.unit;
    a.output[out] = place.live ? v : X(0);
    StoreOperand<K>(a.output_operand, out, place.live ? v : X(0));
  }
};

// ---- backward

// The state before a step, which products read.
template <typename K, typename Args, typename I>
__device__ __forceinline__ typename K::X StorePrevious(const Args& a, const RnnPlace<K>& place, I i) {
  typedef typename K::X X;
  const X previous = place.fresh ? mx::Load<X>(a.first_state, i) : a.output_before[place.row * a.direction.width + place.unit];
  mx::Store(a.previous, i, previous);
  return previous;
}

template <typename I, typename K>
struct rnn_projected_back {
  typedef typename K::X X;
  typedef typename K::Operand Operand;
  struct Args {
    const Operand* first_state;
    const X *output_before, *up;
    Operand* previous;
    X* dh;
    Operand* dprojected;
    RnnDirectionArgs<K> direction;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const RnnPlace<K> place(a.direction, i);
    StorePrevious(a, place, i);
    mx::Store(a.dprojected, i, place.live ? a.dh[i] + a.up[place.row * a.direction.width + place.unit] : X(0));
    if (place.live) a.dh[i] = X(0);
  }
};

template <typename I, typename K>
struct rnn_step_back {
  typedef typename K::X X;
  typedef typename K::Operand Operand;
  struct Args {
    const X *gates, *cell, *cell_before;
    const Operand *first_cell, *first_state;
    const X *output_before, *up, *dhidden;
    Operand* previous;
    X *dh, *dc;
    Operand *dgates, *drecurrent;
    RnnDirectionArgs<K> direction;
    long long count;
  };
  static __device__ __forceinline__ X Gate(const Args& a, long long base, int g) { return a.gates[base + g * a.direction.size]; }
  static __device__ __forceinline__ void Give(const Args& a, Operand* to, long long base, int g, X v) {
    mx::Store(to, base + g * a.direction.size, v);
  }

  static __device__ __forceinline__ void Lstm(const Args& a, const RnnPlace<K>& place, long long base, I i, X up) {
    const X gi = Gate(a, base, 0), gf = Gate(a, base, 1), gg = Gate(a, base, 2), go = Gate(a, base, 3);
    const X tc = ::tanh(a.cell[i]), before = place.fresh ? mx::Load<X>(a.first_cell, i) : a.cell_before[i];
    X dc = a.dc[i] + up * go * (X(1) - tc * tc);
    if constexpr (K::kClip) {
      const X raw = gf * before + gi * gg;
      if (!(raw > static_cast<X>(a.direction.low) && raw < static_cast<X>(a.direction.high))) dc = X(0);
    }
    Give(a, a.dgates, base, 0, dc * gg * gi * (X(1) - gi));
    Give(a, a.dgates, base, 1, dc * before * gf * (X(1) - gf));
    Give(a, a.dgates, base, 2, dc * gi * (X(1) - gg * gg));
    Give(a, a.dgates, base, 3, up * tc * go * (X(1) - go));
    a.dc[i] = dc * gf;
  }
  // Returns what of `up` goes to the state before.
  static __device__ __forceinline__ X Gru(const Args& a, long long base, I i, X up, X previous) {
    const X gr = Gate(a, base, 0), gz = Gate(a, base, 1), gn = Gate(a, base, 2), candidate = up * (X(1) - gz) * (X(1) - gn * gn);
    const X dr = candidate * a.cell[i] * gr * (X(1) - gr), dz = up * (previous - gn) * gz * (X(1) - gz);
    Give(a, a.dgates, base, 0, dr);
    Give(a, a.dgates, base, 1, dz);
    Give(a, a.dgates, base, 2, candidate);
    Give(a, a.drecurrent, base, 0, dr);
    Give(a, a.drecurrent, base, 1, dz);
    Give(a, a.drecurrent, base, 2, candidate * gr);
    return up * gz;
  }

  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const RnnPlace<K> place(a.direction, i);
    X up, previous = X(0), rest = X(0);
    if constexpr (K::kProjection) {
      up = a.dhidden[i];
    } else {
      previous = StorePrevious(a, place, i);
      up = place.live ? a.dh[i] + a.up[place.row * a.direction.width + place.unit] : X(0);
    }
    const long long base = place.row * K::kGates * a.direction.size + place.unit;
    if (!place.live) {  // a sequence that is over hands its gradient on as it is
#pragma unroll
      for (int g = 0; g < K::kGates; ++g) {
        Give(a, a.dgates, base, g, X(0));
        if constexpr (K::kMode == kGru) Give(a, a.drecurrent, base, g, X(0));
      }
      return;
    }
    if constexpr (K::kMode == kLstm) {
      Lstm(a, place, base, i, up);
    } else if constexpr (K::kMode == kGru) {
      rest = Gru(a, base, i, up, previous);
    } else {
      static_assert(K::kMode == kRnnTanh || K::kMode == kRnnRelu, "a mode of RNN");
      const X g = Gate(a, base, 0);
      Give(a, a.dgates, base, 0, K::kMode == kRnnRelu ? (g > X(0) ? up : X(0)) : up * (X(1) - g * g));
    }
    if constexpr (!K::kProjection) a.dh[i] = rest;
  }
};

// ---- dropout between layers

template <typename I, typename X, typename Operand, bool drawn>
struct rnn_dropout {
  struct Args {
    const X* from;
    X *mask, *to;
    Operand* to_operand;
    long long n;
    double p, scale;
    mx::Draws draws;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    mx::Philox r;
    if constexpr (drawn) r = mx::Draw(a.draws.Seed(), a.draws.First() + i);
    for (int k = 0; k < 4; ++k) {
      const long long at = 4 * static_cast<long long>(i) + k;
      if (at >= a.n) break;
      X factor = X(1);
      if constexpr (drawn) factor = mx::ToFloat(r.w[k]) >= static_cast<float>(a.p) ? static_cast<X>(a.scale) : X(0);
      a.mask[at] = factor;
      a.to[at] = a.from[at] * factor;
      if constexpr (!mx::IsFloat<Operand>::value) mx::Store(a.to_operand, at, a.from[at] * factor);
    }
  }
};
}  // namespace kernels
