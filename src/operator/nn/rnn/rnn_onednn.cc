// Recurrent layers through oneDNN, in inference. In plans the weights stay in oneDNN's order until
// they change.
#include <cstring>
#include <vector>

#include "base/ran.h"
#include "base/round_up.h"
#include "base/threads/library_threads.h"
#include "mxnet/env.h"
#include "operator/nn/onednn/hooks.h"
#include "operator/nn/onednn/onednn_common.h"

namespace mxnet {
namespace nn {
namespace {

using Tag = dnnl::memory::format_tag;
using Desc = dnnl::memory::desc;

constexpr auto kF32 = dnnl::memory::data_type::f32;

struct RnnEntry : CacheEntry {
  RanPart ran;
  dnnl::primitive primitive;
  Operand input_weight, hidden_weight;
  dnnl::memory bias, src, src_state, src_cell, dst, dst_state, dst_cell, workspace;
  size_t Bytes(const Operand& weight) const { return (weight.differs ? weight.inner : weight.user).get_desc().get_size(); }
};

int64_t Gates(RnnCell cell) { return cell == RnnCell::kLstm ? 4 : cell == RnnCell::kGru ? 3 : 1; }
int64_t Biases(RnnCell cell) { return cell == RnnCell::kGru ? 4 : Gates(cell); }

template <typename Pd>
void Finish(RnnEntry* e, const Pd& pd, const RnnCall& c) {
  const int64_t g = Gates(c.cell);
  e->ran = OnednnName(pd);
  e->input_weight.Init(Desc({1, 1, c.inputs, g, c.hidden}, kF32, Tag::ldgoi), pd.weights_layer_desc());
  e->hidden_weight.Init(Desc({1, 1, c.hidden, g, c.hidden}, kF32, Tag::ldgoi), pd.weights_iter_desc());
  e->workspace = dnnl::memory(pd.scratchpad_desc(), OnednnEngine(), nullptr);
}

std::unique_ptr<CacheEntry> MakeEntry(const RnnCall& c) {
  const int64_t g = Gates(c.cell);
  const Desc src({c.steps, c.batch, c.inputs}, kF32, Tag::tnc), state({1, 1, c.batch, c.hidden}, kF32, Tag::ldnc),
      dst({c.steps, c.batch, c.hidden}, kF32, dnnl::memory::dims{c.batch * c.out_width, c.out_width, 1}),
      bias({1, 1, Biases(c.cell), c.hidden}, kF32, Tag::ldgo), input_weight({1, 1, c.inputs, g, c.hidden}, kF32, Tag::any),
      hidden_weight({1, 1, c.hidden, g, c.hidden}, kF32, Tag::any);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto direction = c.reversed ? dnnl::rnn_direction::unidirectional_right2left : dnnl::rnn_direction::unidirectional_left2right;
  auto& engine = OnednnEngine();
  auto e = std::make_unique<RnnEntry>();
  if (c.cell == RnnCell::kLstm) {
    const dnnl::lstm_forward::primitive_desc pd(engine, kind, direction, src, state, state, input_weight, hidden_weight, bias, dst, state,
                                                state, attr);
    e->primitive = dnnl::lstm_forward(pd);
    Finish(e.get(), pd, c);
  } else if (c.cell == RnnCell::kGru) {
    const dnnl::lbr_gru_forward::primitive_desc pd(engine, kind, direction, src, state, input_weight, hidden_weight, bias, dst, state,
                                                   attr);
    e->primitive = dnnl::lbr_gru_forward(pd);
    Finish(e.get(), pd, c);
  } else {
    const auto activation = c.cell == RnnCell::kRelu ? dnnl::algorithm::eltwise_relu : dnnl::algorithm::eltwise_tanh;
    const dnnl::vanilla_rnn_forward::primitive_desc pd(engine, kind, activation, direction, src, state, input_weight, hidden_weight, bias,
                                                       dst, state, attr);
    e->primitive = dnnl::vanilla_rnn_forward(pd);
    Finish(e.get(), pd, c);
  }
  e->bias = dnnl::memory(bias, engine, nullptr);
  e->src = dnnl::memory(src, engine, nullptr);
  e->dst = dnnl::memory(dst, engine, nullptr);
  for (dnnl::memory* m : {&e->src_state, &e->src_cell, &e->dst_state, &e->dst_cell}) *m = dnnl::memory(state, engine, nullptr);
  return e;
}

// One layer and direction's weights in a plan's node.
struct PackedLayer {
  uint64_t version = 0;
  std::string key;
  std::unique_ptr<char[]> memory;
};
struct PackedLayers : OpState {
  std::vector<PackedLayer> places;
};

// oneDNN's gates of a gru are z r n.
const float* GateOrder(KernelArgs& args, const RnnCall& c, const void* weight, int64_t columns) {
  const auto* from = static_cast<const float*>(weight);
  if (c.cell != RnnCell::kGru) return from;
  const int64_t gate = c.hidden * columns;
  auto* to = static_cast<float*>(args.workspace(3 * gate * sizeof(float)));
  std::memcpy(to, from + gate, gate * sizeof(float));
  std::memcpy(to + gate, from, gate * sizeof(float));
  std::memcpy(to + 2 * gate, from + 2 * gate, gate * sizeof(float));
  return to;
}

void PackOne(KernelArgs& args, const RnnCall& c, Operand* weight, const void* ptr, int64_t columns, char* to) {
  const float* from = GateOrder(args, c, ptr, columns);
  if (weight->differs)
    weight->Pack(from, to);
  else
    std::memcpy(to, from, weight->user.get_desc().get_size());
}

void PackBias(const RnnCall& c, float* to) {
  const auto *input = static_cast<const float*>(c.input_bias), *hidden = static_cast<const float*>(c.hidden_bias);
  const int64_t h = c.hidden;
  if (c.cell != RnnCell::kGru) {
    for (int64_t i = 0; i < Gates(c.cell) * h; ++i) to[i] = input[i] + hidden[i];
    return;
  }
  for (int64_t i = 0; i < h; ++i) {
    to[i] = input[h + i] + hidden[h + i];
    to[h + i] = input[i] + hidden[i];
    to[2 * h + i] = input[2 * h + i];
    to[3 * h + i] = hidden[2 * h + i];
  }
}

bool Rnn(KernelArgs& args, const RnnCall& c) {
  if (c.dtype != kFloat32) return false;
  const int team =
      LibraryTeam(2.0 * static_cast<double>(c.batch) * static_cast<double>(Gates(c.cell) * c.hidden) * static_cast<double>(c.hidden));
  OmpScope threads(team);
  Key key;
  key.Add('r').Add(c.cell).Add(c.reversed).Add(c.steps).Add(c.batch).Add(c.inputs).Add(c.hidden).Add(c.out_width).Add(team);
  auto* e = static_cast<RnnEntry*>(CachedEntry(key, [&] { return MakeEntry(c); }));
  if (!e) return false;
  Ran(e->ran);
  const size_t input_bytes = RoundUp(e->Bytes(e->input_weight), 64), hidden_bytes = RoundUp(e->Bytes(e->hidden_weight), 64),
               bias_bytes = e->bias.get_desc().get_size();
  const bool keep = args.state && args.in_versions.size() > c.parameters_input;
  char* packed = nullptr;
  bool pack = true;
  if (keep) {
    auto* layers = dynamic_cast<PackedLayers*>(args.state->get());
    if (!layers) args.state->reset(layers = new PackedLayers());
    if (layers->places.size() <= static_cast<size_t>(c.place)) layers->places.resize(c.place + 1);
    PackedLayer& at = layers->places[c.place];
    const uint64_t version = args.in_versions[c.parameters_input];
    const bool fits = at.memory && at.key == key.bytes();
    pack = !fits || (at.version != version && !Env::Get().rnn_use_weight_cache);
    if (!fits) at.memory.reset(new char[input_bytes + hidden_bytes + bias_bytes + 64]);
    if (pack) at.key = key.bytes(), at.version = version;
    packed = at.memory.get();
  } else {
    packed = static_cast<char*>(args.workspace(input_bytes + hidden_bytes + bias_bytes + 64));
  }
  packed = AlignedTo64<char>(packed);
  char *hidden_at = packed + input_bytes, *bias_at = hidden_at + hidden_bytes;
  if (pack) {
    PackOne(args, c, &e->input_weight, c.input_weight, c.inputs, packed);
    PackOne(args, c, &e->hidden_weight, c.hidden_weight, c.hidden, hidden_at);
    PackBias(c, reinterpret_cast<float*>(bias_at));
  }
  auto place = [](dnnl::memory& m, const void* ptr) -> dnnl::memory& { return m.set_data_handle(const_cast<void*>(ptr)), m; };
  auto weight = [&](Operand& w, char* at) -> dnnl::memory& { return place(w.differs ? w.inner : w.user, at); };
  const size_t state_bytes = c.batch * c.hidden * sizeof(float), workspace_bytes = e->workspace.get_desc().get_size();
  std::unordered_map<int, dnnl::memory> arguments = {
      {DNNL_ARG_SRC_LAYER, place(e->src, c.data)},
      {DNNL_ARG_SRC_ITER, place(e->src_state, c.state)},
      {DNNL_ARG_WEIGHTS_LAYER, weight(e->input_weight, packed)},
      {DNNL_ARG_WEIGHTS_ITER, weight(e->hidden_weight, hidden_at)},
      {DNNL_ARG_BIAS, place(e->bias, bias_at)},
      {DNNL_ARG_DST_LAYER, place(e->dst, c.out)},
      {DNNL_ARG_DST_ITER, place(e->dst_state, c.state_out ? c.state_out : args.workspace(state_bytes))}};
  if (c.cell == RnnCell::kLstm) {
    arguments.emplace(DNNL_ARG_SRC_ITER_C, place(e->src_cell, c.cell_state));
    arguments.emplace(DNNL_ARG_DST_ITER_C, place(e->dst_cell, c.cell_out ? c.cell_out : args.workspace(state_bytes)));
  }
  if (workspace_bytes) arguments.emplace(DNNL_ARG_SCRATCHPAD, place(e->workspace, args.workspace(workspace_bytes)));
  e->primitive.execute(OnednnStream(), arguments);
  OnednnStream().wait();
  return true;
}

[[maybe_unused]] const bool linked = [] { return g_hooks.rnn = Rnn, true; }();

}  // namespace
}  // namespace nn
}  // namespace mxnet
