// The forward pass of RNN on the CPU: one matrix product per layer for the inputs of all steps, one
// per step for the hidden state, elementwise gates in between. Both directions of a layer run at
// once where there are threads, and threads share a direction where its steps are large enough.
#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "base/cpu_limit.h"
#include "base/ran.h"
#include "mxnet/env.h"
#include "mxnet/op.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/onednn/hooks.h"
#include "operator/nn/rnn/rnn_bfloat.h"
#include "operator/nn/rnn/rnn_layers.h"
#include "operator/nn/rnn/rnn_packed.h"
#include "operator/nn/rnn/rnn_team.h"
#include "operator/shared/gemm.h"
#include "operator/shared/panel_gemm.h"
#include "operator/shared/random_philox.h"

namespace mxnet {
namespace nn {
namespace {

constexpr double kFlopsOfMember = 1e5;  // of a step, for each thread that shares it: some microseconds
/*
 * Threads that share a step meet behind it, and read what the others wrote. Those that each take
 * some of the sequences, for all steps, do neither, but every one reads all weights of the state:
 * where these stay in its second-level cache, and where they are read for several sequences.
 */
constexpr int64_t kNearWeights = 1 << 18, kLeastSequences = 4;  // elements, of a thread
constexpr int64_t kUnits = 2 * kPackColumns;
constexpr double kHalfSteps = 4;  // times as fast as those of float32
static_assert(kHalfPanel == kPackColumns, "a block of units is a panel of each gate");
/*
 * After a team that other programs disturbed, some layers run without teams: one at first, and
 * twice as many each time, for a program that stays costs a team milliseconds, but an interrupt
 * comes and goes. Each team that nobody disturbs takes one off.
 */
constexpr int kMostAlone = 64;
std::atomic<int> g_alone{0}, g_next_alone{1};

void AfterTeams(bool disturbed) {
  const int next = g_next_alone.load(std::memory_order_relaxed);
  if (disturbed) g_alone.store(next, std::memory_order_relaxed);
  g_next_alone.store(disturbed ? std::min(kMostAlone, 2 * next) : std::max(1, next - 1), std::memory_order_relaxed);
}

/* One direction of a layer, for all steps. */
template <typename T>
struct Walk {
  const RNNParam& p;
  const RnnDims& d;
  const int64_t* lengths;
  int64_t dir;
  Weights<T> w;
  const T *bias = nullptr, *candidate_bias = nullptr;  // as RnnPacking has them
  const float* packed = nullptr;                       // weights of the state; null: the plain products are used
  const float* packed_input = nullptr;
  bool half = false;                                                   // these are bfloat16
  bfloat16 *half_h = nullptr, *half_next = nullptr, *state = nullptr;  // h and next, and what a projection reads, rounded
  const float* packed_projection = nullptr;
  T *gates = nullptr, *kept_cell = nullptr, *kept_hidden = nullptr, *output = nullptr;
  T *h = nullptr, *next = nullptr, *c = nullptr, *projected = nullptr, *recurrent = nullptr, *unkept = nullptr;
  CellClip clip{};
  int64_t begin = 0, end = d.batch;  // sequences

  int64_t Width() const { return d.directions * d.out; }
  int64_t Time(int64_t step) const { return dir == 0 ? step : d.steps - 1 - step; }
  int64_t Blocks() const { return (d.hidden + kPackColumns - 1) / kPackColumns; }
  static constexpr int kDType = sizeof(T) == 8 ? kFloat64 : kFloat32;

  /* The products of units [u, u + units) of all gates with the state `from`. */
  void Multiply(int64_t t, const T* from, int64_t u, int64_t units) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      const int64_t gh = d.gates * d.hidden;
      T* sums = (recurrent ? recurrent : gates + t * d.batch * gh) + begin * gh + u;
      const int64_t count = end - begin;
      if (recurrent)
        for (int64_t n = 0; n < count; ++n)
          for (int64_t g = 0; g < d.gates; ++g) std::fill_n(sums + n * gh + g * d.hidden, units, T(0));
      MXNET_CPU_CALL(PackedGates)
      (count, units, d.out, d.gates, from + begin * d.out, d.out, packed + u * d.out, PackedSize(d.hidden, d.out), sums, gh, d.hidden);
    }
  }

  /* The sums of block b, [sequence][gate][kHalfPanel]. */
  T* HalfSumsOf(int64_t b) const { return recurrent + b * d.batch * d.gates * kHalfPanel; }

  /* The products of block b of units with the rounded state. */
  void MultiplyHalf(const bfloat16* from, int64_t b) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      const auto* weights = reinterpret_cast<const bfloat16*>(packed);
      HalfSums({from, d.out, d.batch, d.out}, d.gates * Blocks() * kHalfPanel, weights, b * d.gates, (b + 1) * d.gates, nullptr,
               HalfSumsOf(b), d.gates * kHalfPanel);
    }
  }

  /* Writes the last state of units of sequence n, rounded. */
  void Round(const T* row, int64_t n, int64_t u, int64_t units, bfloat16* to) const {
    if constexpr (sizeof(T) == sizeof(float)) FloatToBfloat(row, to + n * (d.projection ? d.hidden : d.out) + u, units);
  }

  /* Units [u, u + units) of the sequences, from their products on. half_to: where their states go,
   * rounded; null: nowhere. */
  void Cells(int64_t t, const T* from, T* to, int64_t u, int64_t units, bfloat16* half_to) const {
    const int64_t gh = d.gates * d.hidden, bh = d.batch * d.hidden, width = Width();
    T *g = gates + t * d.batch * gh, *ct = kept_cell ? kept_cell + t * bh : nullptr, *ht = d.projection ? kept_hidden + t * bh : unkept;
    for (int64_t n = begin; n < end; ++n) {
      T *gn = g + n * gh + u, *out = output + (t * d.batch + n) * width + dir * d.out + u;
      const int64_t at = n * d.hidden + u;
      const bool live = t < LengthOf(d, lengths, n);
      if (!live) {
        if (ct) std::fill_n(ct + at, units, T(0));
        std::fill_n(ht + at, units, T(0));
        if (!d.projection) std::copy_n(from + at, units, to + at), std::fill_n(out, units, T(0));
        if (half_to) Round(d.projection ? ht + at : to + at, n, u, units, half_to);
        continue;
      }
      const int64_t apart = half ? kHalfPanel : d.hidden;  // gates of the sums
      T* const sums = half ? HalfSumsOf(u / kHalfPanel) + n * d.gates * kHalfPanel : recurrent + n * gh + u;
      if constexpr (sizeof(T) == sizeof(float)) {
        if (half && p.mode != kGru) MXNET_CPU_CALL(AddToGates)(units, d.gates, d.hidden, gn, apart, sums);
      }
      if (p.mode == kLstm) {
        MXNET_CPU_CALL(LstmRow)(kDType, units, d.hidden, clip, gn, c + at, ct + at, ht + at);
      } else if (p.mode == kGru) {
        T* candidate = sums + 2 * apart;
        for (int64_t j = 0; j < units; ++j) candidate[j] += candidate_bias[u + j];
        MXNET_CPU_CALL(GruRow)(kDType, units, d.hidden, gn, apart, sums, from + at, ct + at, ht + at);
      } else if (p.mode == kRnnTanh) {
        MXNET_CPU_CALL(TanhRow)(kDType, units, gn, ht + at);
      } else {
        MXNET_CPU_CALL(ReluRow)(kDType, units, gn, ht + at);
      }
      if (!d.projection) std::copy_n(ht + at, units, to + at), std::copy_n(ht + at, units, out);
      if (half_to) Round(ht + at, n, u, units, half_to);
    }
  }

  /* Blocks [b, e) of units. */
  void Units(int64_t t, const T* from, T* to, int64_t b, int64_t e) const {
    const int64_t last = std::min(d.hidden, e * kPackColumns);
    for (; half && b < e; ++b) {
      MultiplyHalf(HalfOf(from), b);
      Cells(t, from, to, b * kHalfPanel, std::min(kHalfPanel, last - b * kHalfPanel), d.projection ? state : HalfOf(to));
    }
    for (int64_t u = b * kPackColumns; u < last; u += kUnits) {
      const int64_t units = std::min(kUnits, last - u);
      if (packed) Multiply(t, from, u, units);
      Cells(t, from, to, u, units, nullptr);
    }
  }

  bfloat16* HalfOf(const T* state) const { return state == h ? half_h : half_next; }

  /* from: the state before time t, which sequences that are over keep. */
  void Project(int64_t t, const T* from, T* to) const {
    const int64_t width = Width();
    T* out = output + t * d.batch * width + dir * d.out;
    if constexpr (sizeof(T) == sizeof(float)) {
      if (half)
        HalfSums({state, d.hidden, d.batch, d.hidden}, d.out, reinterpret_cast<const bfloat16*>(packed_projection), 0, HalfPanels(d.out),
                 nullptr, projected, d.out);
    }
    if (!half) Gemm(false, true, d.batch, d.out, d.hidden, kept_hidden + t * d.batch * d.hidden, w.projection, T(0), projected);
    for (int64_t n = 0; n < d.batch; ++n) {
      const bool live = t < LengthOf(d, lengths, n);
      const T* row = (live ? projected : from) + n * d.out;
      std::copy_n(row, d.out, to + n * d.out);
      if constexpr (sizeof(T) == sizeof(float)) {
        if (half) FloatToBfloat(row, HalfOf(to) + n * d.out, d.out);
      }
      if (live)
        std::copy_n(row, d.out, out + n * width);
      else
        std::fill_n(out + n * width, d.out, T(0));
    }
  }

  double StepFlops() const {
    const double flops = 2.0 * static_cast<double>(d.batch) * static_cast<double>(d.gates * d.hidden) * static_cast<double>(d.out);
    return half ? flops / kHalfSteps : flops;
  }

  /* All steps on one thread, or on threads that are gathered for each large step. */
  void RunAlone() const {
    const int64_t gh = d.gates * d.hidden;
    const int threads = OmpThreadsForFlops(StepFlops());
    for (int64_t step = 0; step < d.steps; ++step) {
      const int64_t t = Time(step);
      const T* from = step % 2 ? next : h;
      T* to = step % 2 ? h : next;
      if (!packed) {
        if (recurrent) std::fill_n(recurrent, d.batch * gh, T(0));
        Gemm(false, true, d.batch, gh, d.out, from, w.hidden, T(1), recurrent ? recurrent : gates + t * d.batch * gh);
      }
      ParallelForThreads(threads, Blocks(), [&](int64_t b, int64_t e) { Units(t, from, to, b, e); });
      if (d.projection) Project(t, from, to);
    }
  }

  /* All steps as a member of a team. REQUIRES: packed weights, no projection. */
  void RunTogether(StepTeam* team) const {
    const int self = team->Join();
    if (self < 0) return;
    const int64_t size = team->size(), blocks = Blocks();
    const int64_t b = blocks * self / size, e = blocks * (self + 1) / size;
    for (int64_t step = 0; step < d.steps; ++step) {
      Units(Time(step), step % 2 ? next : h, step % 2 ? h : next, b, e);
      team->Meet();
    }
  }

  /* May `shares` threads take some of the sequences each? */
  bool Divides(int64_t shares) const {
    return packed && !half && !d.projection && shares > 1 && d.batch >= kLeastSequences * shares &&
           d.gates * d.hidden * d.out <= kNearWeights;
  }

  /* All steps of a share of the sequences. REQUIRES: Divides(shares). */
  void RunSequences(int64_t share, int64_t shares) const {
    Walk some = *this;
    some.begin = d.batch * share / shares, some.end = d.batch * (share + 1) / shares;
    for (int64_t step = 0; step < d.steps; ++step) some.Units(Time(step), step % 2 ? next : h, step % 2 ? h : next, 0, Blocks());
  }

  const T* LastState() const { return d.steps % 2 ? next : h; }
};

/* The gates of all steps before the products with the state: biases and products with the input. */
template <typename T>
void MultiplyInputs(const RnnDims& d, int64_t inputs, const T* input, const std::vector<Walk<T>>& walks) {
  const int64_t gh = d.gates * d.hidden, cells = d.steps * d.batch, blocks = PackedColumns(gh) / kPackColumns;
  if constexpr (sizeof(T) == sizeof(float)) {
    if (walks[0].packed_input) {
      const int64_t directions = static_cast<int64_t>(walks.size());
      const double flops = 2.0 * static_cast<double>(cells) * static_cast<double>(gh) * static_cast<double>(inputs * directions);
      ParallelForThreads(OmpThreadsForFlops(flops), directions * blocks, [&](int64_t b, int64_t e) {
        while (b < e) {
          const Walk<T>& walk = walks[static_cast<size_t>(b / blocks)];
          const int64_t first = b % blocks * kPackColumns, last = std::min(blocks, b % blocks + e - b),
                        n = std::min(gh, last * kPackColumns) - first;
          b += last - b % blocks;
          for (int64_t i = 0; i < cells; ++i) std::copy_n(walk.bias + first, n, walk.gates + i * gh + first);
          MXNET_CPU_CALL(PackedGemm)(cells, n, inputs, input, inputs, walk.packed_input + first * inputs, walk.gates + first, gh, true);
        }
      });
      return;
    }
  }
  for (const Walk<T>& walk : walks) {
    ParallelFor(cells, std::max<int64_t>(1, 16384 / gh), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) std::copy_n(walk.bias, gh, walk.gates + i * gh);
    });
    Gemm(false, true, cells, gh, inputs, input, walk.w.input, T(1), walk.gates);
  }
}

/* The same in bfloat16. */
void MultiplyHalfInputs(const RnnDims& d, const HalfMatrix& input, const std::vector<Walk<float>>& walks) {
  const int64_t gh = d.gates * d.hidden, panels = HalfPanels(gh), directions = static_cast<int64_t>(walks.size());
  const double flops = 2.0 * static_cast<double>(input.count) * static_cast<double>(gh) * static_cast<double>(input.depth * directions);
  ParallelForThreads(OmpThreadsForFlops(flops / kHalfSteps), directions * panels, [&](int64_t b, int64_t e) {
    while (b < e) {
      const Walk<float>& walk = walks[static_cast<size_t>(b / panels)];
      const int64_t first = b % panels, last = std::min(panels, first + e - b);
      HalfSums(input, gh, reinterpret_cast<const bfloat16*>(walk.packed_input), first, last, walk.bias, walk.gates + first * kHalfPanel,
               gh);
      b += last - first;
    }
  });
}

template <typename T>
void RunSteps(const std::vector<Walk<T>>& walks) {
  const Walk<T>& first = walks[0];
  const int64_t directions = static_cast<int64_t>(walks.size());
  const double step = first.StepFlops();
  const int threads = first.packed && !first.d.projection ? OmpThreadsForFlops(step * static_cast<double>(first.d.steps * directions)) : 1;
  if (threads <= 1) {
    for (const Walk<T>& walk : walks) walk.RunAlone();
    return;
  }
  const int64_t shares = std::min(threads / directions, first.d.batch / kLeastSequences);
  if (first.Divides(shares)) {
    ParallelForThreads(static_cast<int>(shares * directions), shares * directions, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) walks[static_cast<size_t>(i / shares)].RunSequences(i % shares, shares);
    });
    return;
  }
  int64_t each = std::max<int64_t>(1, std::min({threads / directions, static_cast<int64_t>(step / kFlopsOfMember), first.Blocks()}));
  if (each > 1 && g_alone.load(std::memory_order_relaxed) > 0) {
    g_alone.fetch_sub(1, std::memory_order_relaxed);
    each = 1;
  }
  if (directions == 1 && each == 1) return first.RunAlone();
  std::vector<std::unique_ptr<StepTeam>> teams;
  for (int64_t i = 0; i < directions; ++i) teams.push_back(std::make_unique<StepTeam>(static_cast<int>(each)));
  const int64_t members = each * directions;
  ParallelForThreads(static_cast<int>(members), members, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) walks[static_cast<size_t>(i / each)].RunTogether(teams[static_cast<size_t>(i / each)].get());
  });
  if (each > 1) AfterTeams(std::any_of(teams.begin(), teams.end(), [](const auto& team) { return team->disturbed(); }));
}

/* What a pass over a layer reads and gives beside its reserve. */
template <typename T>
struct LayerCall {
  const RNNParam& p;
  const RnnDims& d;
  int64_t layer;
  T *data, *params, *reserve;
  const T *state, *cell_state;  // of all layers; the second is null where there is none
  T *state_out, *cell_out;      // null: not wanted
  const int64_t* lengths;
  T* output = nullptr;                  // where the layer's result goes instead of the reserve
  const bfloat16* half_data = nullptr;  // data, where the products are of bfloat16
};

template <typename T>
Walk<T> WalkOf(KernelArgs& a, const LayerCall<T>& call, const RnnPacking& packing, int64_t dir) {
  const RnnDims& d = call.d;
  const Kept<T> k = KeptOf(d, call.layer, call.reserve);
  const int64_t bo = d.batch * d.out, bh = d.batch * d.hidden, gh = d.gates * d.hidden, s = call.layer * d.directions + dir;
  Walk<T> walk{call.p, d, call.lengths, dir, Weights<T>(d, call.layer, dir, call.params)};
  walk.clip = ClipOf(call.p);
  walk.gates = k.gates[dir], walk.kept_cell = k.cell[dir], walk.kept_hidden = k.hidden[dir];
  walk.output = call.output ? call.output : k.output;
  if constexpr (sizeof(T) == sizeof(float)) {
    if (packing.packed()) walk.packed = packing.Hidden(d, call.layer, dir), walk.half = packing.half();
    if (packing.whole()) {
      walk.packed_input = packing.Input(d, call.layer, dir);
      walk.bias = packing.Bias(d, call.layer, dir), walk.candidate_bias = packing.CandidateBias(d, call.layer, dir);
    }
  }
  if (!walk.bias) {
    T* sums = Workspace<T>(a, gh);
    SumBiases(call.p, d, walk.w.input_bias, walk.w.hidden_bias, sums);
    walk.bias = sums;
    if (call.p.mode == kGru) walk.candidate_bias = walk.w.hidden_bias + 2 * d.hidden;
  }
  walk.h = Workspace<T>(a, bo), walk.next = Workspace<T>(a, bo), walk.c = Workspace<T>(a, bh);
  if (d.projection) walk.projected = Workspace<T>(a, bo);
  if (walk.half)
    walk.recurrent = Workspace<T>(a, d.batch * d.gates * walk.Blocks() * kHalfPanel);
  else if (call.p.mode == kGru)
    walk.recurrent = Workspace<T>(a, d.batch * gh);
  if (!d.projection) walk.unkept = Workspace<T>(a, bh);
  std::copy_n(call.state + s * bo, bo, walk.h);
  if constexpr (sizeof(T) == sizeof(float)) {
    if (walk.half) {
      walk.half_h = Rounded(a, walk.h, bo), walk.half_next = Workspace<bfloat16>(a, bo);
      if (d.projection) walk.state = Workspace<bfloat16>(a, bh), walk.packed_projection = packing.Projection(d, call.layer, dir);
    }
  }
  if (call.cell_state) std::copy_n(call.cell_state + s * bh, bh, walk.c);
  return walk;
}

template <typename T>
void RunLayer(KernelArgs& a, const LayerCall<T>& call, const RnnPacking& packing) {
  const RnnDims& d = call.d;
  std::vector<Walk<T>> walks;
  for (int64_t dir = 0; dir < d.directions; ++dir) walks.push_back(WalkOf(a, call, packing, dir));
  const Kept<T> k = KeptOf(d, call.layer, call.reserve);
  const int64_t inputs = d.LayerInput(call.layer), cells = d.steps * d.batch;
  const T* input = LayerInput(d, call.layer, k, call.data, call.reserve);
  if (!packing.half()) MultiplyInputs(d, inputs, input, walks);
  if constexpr (sizeof(T) == sizeof(float)) {
    if (packing.half())
      MultiplyHalfInputs(d, call.layer == 0 ? HalfRows(a, call.half_data, cells, inputs) : RoundedRows(a, input, cells, inputs), walks);
  }
  RunSteps(walks);
  for (int64_t dir = 0; dir < d.directions; ++dir) {
    const Walk<T>& walk = walks[static_cast<size_t>(dir)];
    const int64_t bo = d.batch * d.out, bh = d.batch * d.hidden, s = call.layer * d.directions + dir;
    if (call.state_out) std::copy_n(walk.LastState(), bo, call.state_out + s * bo);
    if (call.cell_out) std::copy_n(walk.c, bh, call.cell_out + s * bh);
  }
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
  a.NeedWeights(a.in[1].dptr);
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

/* a: args, of which data and parameters are left out where `half` says that they stay bfloat16. */
template <typename T>
void RunLayers(const KernelArgs& args, KernelArgs& a, const int64_t* lengths, bool half) {
  const auto& p = args.param<RNNParam>();
  const bool lstm = p.mode == kLstm;
  const RnnDims d = DimsOf(p, args.in[0].shape);
  const int last = a.out.size() - 1;
  T* reserve = Wanted(a, last) ? a.out[last].data<T>() : Workspace<T>(a, d.ReserveSize());
  T *const data = half ? nullptr : a.in[0].data<T>(), *const params = half ? nullptr : a.in[1].data<T>();
  RnnPacking packing;
  if constexpr (sizeof(T) == sizeof(float)) {
    if (!half && RunByLibrary(a, p, d, data, reserve)) return;
    if (!KeepsWeights(a, 1)) a.NeedWeights(half ? args.in[1].dptr : params);
    packing = RnnPacking(a, p, d, args.in[1].dptr, params);
    if (d.projection && !half) a.NeedWeights(params);
  }
  if (half)
    Ran("step by step, packed GEMM", HasAmx() ? RanAt::kAmx : RanAt::kAvx512Bf16);
  else
    Ran(packing.packed() ? "step by step, packed GEMM" : "step by step");
  LayerCall<T> call{p,
                    d,
                    0,
                    data,
                    params,
                    reserve,
                    a.in[2].data<T>(),
                    lstm ? a.in[3].data<T>() : nullptr,
                    Wanted(a, 1) ? a.out[1].data<T>() : nullptr,
                    lstm && Wanted(a, 2) ? a.out[2].data<T>() : nullptr,
                    lengths};
  if (half) call.half_data = args.in[0].data<bfloat16>();
  for (; call.layer < d.layers; ++call.layer) {
    const Kept<T> k = KeptOf(d, call.layer, reserve);
    if (k.dropped)
      DropOut<T>(a, p, d.steps * d.batch * d.LayerInput(call.layer), KeptOf(d, call.layer - 1, reserve).output, k.mask, k.dropped);
    if (call.layer + 1 == d.layers && Wanted(a, 0) && !Wanted(a, last)) call.output = a.out[0].data<T>();
    RunLayer(a, call, packing);
  }
  if (Wanted(a, 0) && !call.output) {
    const T* y = KeptOf(d, d.layers - 1, reserve).output;
    std::copy(y, y + d.steps * d.batch * d.directions * d.out, a.out[0].data<T>());
  }
}

void Forward(KernelArgs& args) {
  const int64_t* lengths = args.param<RNNParam>().use_sequence_length ? AsInt64(args, args.in[args.in.size() - 1]) : nullptr;
  const bool half = RnnInBfloat(args, 0);
  std::vector<TBlob> in(args.in.begin(), args.in.end());
  if (half) in[0].dptr = in[1].dptr = nullptr;  // are not widened
  KernelArgs call = args;
  call.in = Span<const TBlob>(in.data(), static_cast<int>(in.size()));
  RunReal(call, [&](KernelArgs& a, auto tag) { RunLayers<decltype(tag)>(args, a, lengths, half); });
}

MXNET_REGISTER_OP_KERNEL(RNN, kCPU, Forward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
