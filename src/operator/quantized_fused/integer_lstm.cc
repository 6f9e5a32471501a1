// _integer_lstm: LSTM layers whose weights are 8-bit integers. Data and states are rounded to 8
// bits row by row, by their own range, as they come.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/mix.h"
#include "base/threads/omp.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/rnn/rnn_kernels.h"
#include "operator/quantized/bytes.h"
#include "operator/quantized_fused/byte_panels.h"
#include "operator/quantized_fused/integer_loops.h"
#include "operator/quantized_fused/integer_result.h"
#include "operator/record/traits.h"
#include "operator/record/traits_graph.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace quantized {

struct IntegerLstmParam : public Parameter<IntegerLstmParam> {
  uint32_t state_size;
  bool bidirectional, reverse, use_sequence_length;
  MXNET_DECLARE_PARAM(IntegerLstmParam) {
    MXNET_FIELD(state_size).set_range(1, 1 << 20).describe("Number of hidden units of a direction.");
    MXNET_FIELD(bidirectional).set_default(false).describe("Also run backwards in time.");
    MXNET_FIELD(reverse).set_default(false).describe("The only direction runs backwards in time.");
    MXNET_FIELD(use_sequence_length).set_default(false).describe("Another input gives the length of each sequence.");
  }
};
MXNET_REGISTER_PARAM(IntegerLstmParam);

namespace {

using nn::Named;
using nn::Wanted;
using P = IntegerLstmParam;

enum In : int { kData, kInput, kHidden, kInputScale, kInputZero, kHiddenScale, kHiddenZero, kBias, kState, kCell, kLengths };
constexpr int64_t kGates = 4;
constexpr int64_t kMostDepth = 8192;        // of a product whose sum surely fits into 32 bits with what its zero points add
constexpr int kGateOrder[] = {0, 2, 3, 1};  // LstmRow's i f c o among i o f c

std::vector<std::string> Names(const Attrs& a) {
  std::vector<std::string> names = {"data",        "weight_input", "weight_hidden", "scale_input", "zero_input",     "scale_hidden",
                                    "zero_hidden", "bias",         "state",         "state_cell",  "sequence_length"};
  if (a.param && !a.get<P>().use_sequence_length) names.pop_back();
  return names;
}

bool InferShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const P& p = attrs.get<P>();
  const Shape& data = (*in)[kData];
  if (!data.known()) return false;
  MXNET_CHECK_KIND(data.ndim() == 3 && data[2] <= kMostDepth && p.state_size <= kMostDepth, Value)
      << Named(attrs) << "data has shape " << data << " and state_size is " << p.state_size
      << "; accepted are (steps, batch, features) with up to " << kMostDepth << " features and units";
  MXNET_CHECK_KIND(!(p.bidirectional && p.reverse), Value) << Named(attrs) << "bidirectional and reverse are True; accepted is one of them";
  const int64_t directions = p.bidirectional ? 2 : 1, hidden = p.state_size, columns = kGates * hidden;
  AssignShape(attrs, "weight_input", &(*in)[kInput], Shape{directions, data[2], columns});
  AssignShape(attrs, "weight_hidden", &(*in)[kHidden], Shape{directions, hidden, columns});
  for (int i = kInputScale; i <= kHiddenZero; ++i) {
    const Shape& s = (*in)[i];
    MXNET_CHECK_KIND(!s.known() || s.Size() == directions || s.Size() == directions * columns, Value)
        << Named(attrs) << Names(attrs)[i] << " has shape " << s << "; accepted are " << directions << " and " << directions * columns
        << " numbers";
  }
  AssignShape(attrs, "bias", &(*in)[kBias], Shape{directions, 2 * columns});
  const Shape state{directions, data[1], hidden};
  AssignShape(attrs, "state", &(*in)[kState], state);
  AssignShape(attrs, "state_cell", &(*in)[kCell], state);
  if (p.use_sequence_length) AssignShape(attrs, "sequence_length", &(*in)[kLengths], Shape{data[1]});
  AssignShape(attrs, "output", &(*out)[0], Shape{data[0], directions, data[1], hidden});
  AssignShape(attrs, "state_output", &(*out)[1], state);
  AssignShape(attrs, "statecell_output", &(*out)[2], state);
  return true;
}

bool InferType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const char* const floats[] = {"data", "bias", "state", "state_cell", "scale_input", "scale_hidden"};
  const int at[] = {kData, kBias, kState, kCell, kInputScale, kHiddenScale};
  for (int i = 0; i < 6; ++i) AssignType(attrs, floats[i], &(*in)[at[i]], kFloat32);
  CheckBytes(attrs, "weight_input", (*in)[kInput]);
  CheckBytes(attrs, "weight_hidden", (*in)[kHidden]);
  AssignType(attrs, "zero_input", &(*in)[kInputZero], (*in)[kInput]);
  AssignType(attrs, "zero_hidden", &(*in)[kHiddenZero], (*in)[kHidden]);
  if (attrs.get<P>().use_sequence_length && (*in)[kLengths] == kDTypeUnknown) (*in)[kLengths] = kInt32;
  for (int i = 0; i < 3; ++i) AssignType(attrs, "output", &(*out)[i], kFloat32);
  return (*in)[kInput] != kDTypeUnknown && (*in)[kHidden] != kDTypeUnknown;
}

// ---- weights

struct Dims {
  int64_t steps, batch, input, hidden, directions, units, columns;  // units: padded to whole panels; columns: of all gates
  Dims(const P& p, const Shape& data)
      : steps(data[0]),
        batch(data[1]),
        input(data[2]),
        hidden(p.state_size),
        directions(p.bidirectional ? 2 : 1),
        units(RoundUp(hidden, kPanelColumns)),
        columns(kGates * units) {}
};

/* One matrix of a direction: panels, then for each column the sum, the zero point and the scale. */
struct Matrix {
  const int8_t* panels;
  const int32_t *sums, *zeros;
  const float* scales;
  static int64_t Size(const Dims& d, int64_t k) { return RoundUp(PanelBytes(d.columns, k) / 4 + 3 * d.columns, int64_t{16}); }
  Matrix(const Dims& d, int64_t k, const float* at) {
    panels = reinterpret_cast<const int8_t*>(at);
    at += PanelBytes(d.columns, k) / 4;
    sums = reinterpret_cast<const int32_t*>(at), zeros = sums + d.columns, scales = at + 2 * d.columns;
  }
};

/* Column of a gate and unit: panels of the four gates of 16 units are neighbours. */
int64_t ColumnOf(int64_t gate, int64_t unit) { return (unit / kPanelColumns * kGates + gate) * kPanelColumns + unit % kPanelColumns; }

int64_t ZeroAt(const TBlob& zero, int64_t i) { return zero.dtype == kUint8 ? zero.data<uint8_t>()[i] : zero.data<int8_t>()[i]; }

void PackMatrix(const Dims& d, int64_t k, int64_t dir, const TBlob& weight, const TBlob& scale, const TBlob& zero, float* at) {
  const Matrix m(d, k, at);
  auto* const panels = const_cast<int8_t*>(m.panels);
  auto *const sums = const_cast<int32_t*>(m.sums), *const zeros = const_cast<int32_t*>(m.zeros);
  auto* const scales = const_cast<float*>(m.scales);
  std::fill_n(at, Matrix::Size(d, k), 0.f);
  // 128 less is the other highest bit
  const bool is_unsigned = weight.dtype == kUint8;
  const int64_t width = kGates * d.hidden;
  const auto* from = weight.data<uint8_t>() + dir * k * width;
  const auto number = [&](const TBlob& b, int64_t j) { return b.Size() == d.directions ? dir : dir * width + j; };
  for (int64_t gate = 0; gate < kGates; ++gate)
    for (int64_t unit = 0; unit < d.hidden; ++unit) {
      const int64_t j = kGateOrder[gate] * d.hidden + unit, column = ColumnOf(gate, unit);
      zeros[column] = static_cast<int32_t>(ZeroAt(zero, number(zero, j))) - (is_unsigned ? 128 : 0);
      scales[column] = scale.data<float>()[number(scale, j)];
      sums[column] = -static_cast<int32_t>(k) * zeros[column];
    }
  const int64_t depth = PanelDepth(k);
  for (int64_t i = 0; i < k; ++i)
    for (int64_t gate = 0; gate < kGates; ++gate)
      for (int64_t first = 0; first < d.hidden; first += kPanelColumns) {
        const int64_t column = ColumnOf(gate, first), count = std::min(kPanelColumns, d.hidden - first);
        const uint8_t* row = from + i * width + kGateOrder[gate] * d.hidden + first;
        int8_t* to = panels + column * depth + i / kPanelRows * kPanelRows * kPanelColumns + i % kPanelRows;
        for (int64_t j = 0; j < count; ++j) {
          const auto byte = static_cast<int8_t>(row[j] ^ (is_unsigned ? 0x80 : 0));
          to[j * kPanelRows] = byte;
          sums[column + j] += byte;
        }
      }
}

/* Of a direction: both matrices, then the sums of both biases by column. */
int64_t DirectionSize(const Dims& d) { return Matrix::Size(d, d.input) + Matrix::Size(d, d.hidden) + d.columns; }

void PackDirection(const KernelArgs& a, const Dims& d, int64_t dir, float* at) {
  PackMatrix(d, d.input, dir, a.in[kInput], a.in[kInputScale], a.in[kInputZero], at);
  at += Matrix::Size(d, d.input);
  PackMatrix(d, d.hidden, dir, a.in[kHidden], a.in[kHiddenScale], a.in[kHiddenZero], at);
  at += Matrix::Size(d, d.hidden);
  std::fill_n(at, d.columns, 0.f);
  const float* bias = a.in[kBias].data<float>() + dir * 2 * kGates * d.hidden;
  for (int64_t gate = 0; gate < kGates; ++gate)
    for (int64_t unit = 0; unit < d.hidden; ++unit) {
      const int64_t j = kGateOrder[gate] * d.hidden + unit;
      at[ColumnOf(gate, unit)] = bias[j] + bias[kGates * d.hidden + j];
    }
}

/* A number that differs where scales, zero points or biases do. */
uint64_t FormOf(const KernelArgs& args) {
  uint64_t hash = 0x4c53544d;
  for (int i = kInputScale; i <= kBias; ++i) {
    const char* at = static_cast<const char*>(args.in[i].dptr);
    auto left = static_cast<size_t>(args.in[i].Bytes());
    hash = Mix(hash, left);
    for (; left > 0;) {
      uint64_t word = 0;
      const size_t count = std::min(left, sizeof word);
      std::memcpy(&word, at, count);
      hash = Mix(hash, word);
      at += count, left -= count;
    }
  }
  return hash;
}

/* Of all directions, one behind the other. */
const float* Packed(KernelArgs& args, const Dims& d) {
  return nn::KeptWeights(args, kInput, args.in[kInput].dptr, FormOf(args), d.directions * DirectionSize(d),
                         [&](float* to) {
                           ParallelFor(d.directions, 1, [&](int64_t b, int64_t e) {
                             for (int64_t dir = b; dir < e; ++dir) PackDirection(args, d, dir, to + dir * DirectionSize(d));
                           });
                         },
                         {kHidden});
}

// ---- steps

/* A row of floats in 8 bits. */
struct ByteRow {
  float scale;
  int32_t zero, sum;
};

ByteRow RoundRow(const float* x, int64_t n, uint8_t* to) {
  float low = 0, high = 0;
  MXNET_CPU_CALL(Extremes)(x, n, &low, &high);
  low = std::min(low, 0.f), high = std::max(high, 0.f);
  ByteRow row;
  row.scale = high > low ? (high - low) / 255 : 1;
  row.zero = static_cast<int32_t>(std::nearbyint(std::min(std::max(-low / row.scale, 0.f), 255.f)));
  MXNET_CPU_CALL(DivideToBytes)(x, row.scale, static_cast<float>(row.zero), {0, 255}, n, to);
  row.sum = MXNET_CPU_CALL(SumBytes)(to, true, n);
  return row;
}

/* One direction of one call. */
struct Direction {
  const Dims& d;
  Matrix input, hidden;
  const float* bias;
  float *gates, *h, *c;  // gates: (steps, batch, columns)
  bool backwards;
};

/* gates = bias + data * weights, for rows [begin, end) of all directions. */
void MultiplyRows(const Dims& d, const float* x, std::vector<Direction>* all, int64_t begin, int64_t end) {
  constexpr int64_t kTogether = 16;
  const int64_t depth = PanelDepth(d.input);
  std::vector<uint8_t> bytes(static_cast<size_t>(kTogether * depth), 0);
  std::vector<int32_t> sums(static_cast<size_t>(kTogether * d.columns));
  ByteRow rows[kTogether];
  for (int64_t i = begin; i < end; i += kTogether) {
    const int64_t count = std::min(kTogether, end - i);
    for (int64_t r = 0; r < count; ++r) rows[r] = RoundRow(x + (i + r) * d.input, d.input, bytes.data() + r * depth);
    for (Direction& dir : *all) {
      MXNET_CPU_CALL(BytePanels)
      (count, d.columns / kPanelColumns, d.input, bytes.data(), depth, dir.input.panels, sums.data(), d.columns);
      for (int64_t r = 0; r < count; ++r) {
        float* to = dir.gates + (i + r) * d.columns;
        std::copy_n(dir.bias, d.columns, to);
        MXNET_CPU_CALL(AddByteSums)
        (d.columns, sums.data() + r * d.columns, rows[r].zero, rows[r].sum, rows[r].scale, dir.input.sums, dir.input.zeros,
         dir.input.scales, to);
      }
    }
  }
}

void RunSteps(const Direction& dir, int64_t index, const int64_t* lengths, float* out) {
  const Dims& d = dir.d;
  const int64_t depth = PanelDepth(d.hidden);
  std::vector<uint8_t> bytes(static_cast<size_t>(d.batch * depth), 0);
  std::vector<int32_t> sums(static_cast<size_t>(d.batch * d.columns));
  std::vector<float> kept(static_cast<size_t>(kPanelColumns));
  std::vector<ByteRow> rows(static_cast<size_t>(d.batch));
  const nn::CellClip no_clip{};
  for (int64_t step = 0; step < d.steps; ++step) {
    const int64_t t = dir.backwards ? d.steps - 1 - step : step;
    for (int64_t n = 0; n < d.batch; ++n) rows[static_cast<size_t>(n)] = RoundRow(dir.h + n * d.units, d.hidden, bytes.data() + n * depth);
    MXNET_CPU_CALL(BytePanels)
    (d.batch, d.columns / kPanelColumns, d.hidden, bytes.data(), depth, dir.hidden.panels, sums.data(), d.columns);
    for (int64_t n = 0; n < d.batch; ++n) {
      float* const y = out + ((t * d.directions + index) * d.batch + n) * d.hidden;
      if (lengths && t >= lengths[n]) {
        std::fill_n(y, d.hidden, 0.f);
        continue;
      }
      const ByteRow& row = rows[static_cast<size_t>(n)];
      float* const g = dir.gates + (t * d.batch + n) * d.columns;
      MXNET_CPU_CALL(AddByteSums)
      (d.columns, sums.data() + n * d.columns, row.zero, row.sum, row.scale, dir.hidden.sums, dir.hidden.zeros, dir.hidden.scales, g);
      for (int64_t u = 0; u < d.units; u += kPanelColumns) MXNET_CPU_CALL(LstmRow)
      (kFloat32, kPanelColumns, kPanelColumns, no_clip, g + u * kGates, dir.c + n * d.units + u, kept.data(), dir.h + n * d.units + u);
      std::copy_n(dir.h + n * d.units, d.hidden, y);
    }
  }
}

void Forward(KernelArgs& args) {
  const P& p = args.param<P>();
  const Dims d(p, args.in[kData].shape);
  const int64_t* lengths = p.use_sequence_length ? nn::AsInt64(args, args.in[kLengths]) : nullptr;
  const float* packed = Packed(args, d);
  const int64_t cells = d.steps * d.batch, state = d.batch * d.units;
  std::vector<Direction> all;
  for (int64_t dir = 0; dir < d.directions; ++dir, packed += DirectionSize(d)) {
    const float* hidden = packed + Matrix::Size(d, d.input);
    Direction one{d,
                  Matrix(d, d.input, packed),
                  Matrix(d, d.hidden, hidden),
                  hidden + Matrix::Size(d, d.hidden),
                  nn::Workspace<float>(args, cells * d.columns),
                  nn::Workspace<float>(args, state),
                  nn::Workspace<float>(args, state),
                  dir == 1 || p.reverse};
    std::fill_n(one.h, state, 0.f), std::fill_n(one.c, state, 0.f);
    for (int64_t n = 0; n < d.batch; ++n) {
      const int64_t at = (dir * d.batch + n) * d.hidden;
      std::copy_n(args.in[kState].data<float>() + at, d.hidden, one.h + n * d.units);
      std::copy_n(args.in[kCell].data<float>() + at, d.hidden, one.c + n * d.units);
    }
    all.push_back(one);
  }
  const float* const x = args.in[kData].data<float>();
  float* const out = Wanted(args, 0) ? args.out[0].data<float>() : nn::Workspace<float>(args, cells * d.directions * d.hidden);
  // The work of an operation on an element is a fraction of one in floats.
  const double flops = static_cast<double>(d.directions * cells * d.columns) * static_cast<double>(d.input + d.hidden) / 4;
  const int threads = OmpThreadsForFlops(flops);
  ParallelForThreads(threads, cells, [&](int64_t b, int64_t e) { MultiplyRows(d, x, &all, b, e); });
  ParallelForThreads(threads, d.directions, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) RunSteps(all[static_cast<size_t>(i)], i, lengths, out);
  });
  for (int64_t dir = 0; dir < d.directions; ++dir)
    for (int64_t n = 0; n < d.batch; ++n) {
      const int64_t at = (dir * d.batch + n) * d.hidden;
      const Direction& one = all[static_cast<size_t>(dir)];
      if (Wanted(args, 1)) std::copy_n(one.h + n * d.units, d.hidden, args.out[1].data<float>() + at);
      if (Wanted(args, 2)) std::copy_n(one.c + n * d.units, d.hidden, args.out[2].data<float>() + at);
    }
}

MXNET_REGISTER_OP(_integer_lstm)
    .describe(
        "An LSTM layer whose weights are 8-bit integers, as onnxruntime's quantizer writes it.\n\n"
        "data has shape (steps, batch, features), weight_input (directions, features, 4 * state_size), weight_hidden (directions, "
        "state_size, 4 * state_size), with gates i o f c; scales and zero points have one number for each direction or each column, bias "
        "(directions, 8 * state_size), states (directions, batch, state_size). Rows of data and of states are rounded to 8 bits by their "
        "own range, and products are summed exactly. The output has shape (steps, directions, batch, state_size); the last states "
        "follow. With sequence_length outputs behind the end are 0. Data float32, weights int8 or uint8.")
    .set_param<P>()
    .set_inputs({"data", "weight_input", "weight_hidden", "scale_input", "zero_input", "scale_hidden", "zero_hidden", "bias", "state",
                 "state_cell", "sequence_length"},
                [](const Attrs& a) { return a.get<P>().use_sequence_length ? kLengths + 1 : int{kLengths}; })
    .set_list_inputs(Names)
    .set_outputs({"output", "state_output", "statecell_output"})
    .set_infer_shape(InferShape)
    .set_infer_type(InferType)
    .set_dtypes({kFloat32})
    .set_expensive_to_recompute()
    .set_trait(HonoursNullOutputs{})
    .set_trait(PreparesForShape{})
    .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob>) {
      return 2.0 * static_cast<double>(in[kInput].Size() + in[kHidden].Size()) *
             static_cast<double>(in[kData].shape[0] * in[kData].shape[1]);
    })
    .set_zero_gradient()
    .set_kernel([](KernelArgs& a) { OnHost(a, Forward); });

}  // namespace
}  // namespace quantized
}  // namespace mxnet
