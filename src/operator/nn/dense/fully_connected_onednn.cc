// Dense layers through oneDNN: packed weights in inference plans, bfloat16 everywhere.
#include "base/ran.h"
#include "base/threads/library_threads.h"
#include "mxnet/env.h"
#include "operator/nn/onednn/hooks.h"
#include "operator/nn/onednn/onednn_common.h"

namespace mxnet {
namespace nn {
namespace {

using Tag = dnnl::memory::format_tag;
using Desc = dnnl::memory::desc;

struct DenseEntry : CacheEntry {
  dnnl::inner_product_forward primitive;
  Operand src, weight, dst, bias;
  dnnl::memory workspace;
  RanPart ran;
};

std::unique_ptr<CacheEntry> MakeEntry(const DenseCall& call, dnnl::memory::data_type type, bool plain_weights) {
  const Desc src({call.m, call.k}, type, Tag::ab), dst({call.m, call.n}, type, Tag::ab);
  const Desc bias({call.n}, call.wide_bias ? dnnl::memory::data_type::f32 : type, Tag::a);
  const Desc weight_user({call.n, call.k}, type, Tag::ab), weight({call.n, call.k}, type, plain_weights ? Tag::ab : Tag::any);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  SetPost(&attr, call.accumulate, call.post);
  using Desc2 = dnnl::inner_product_forward::primitive_desc;
  const auto kind = dnnl::prop_kind::forward_inference;
  const Desc2 pd =
      call.bias ? Desc2(OnednnEngine(), kind, src, weight, bias, dst, attr) : Desc2(OnednnEngine(), kind, src, weight, dst, attr);
  auto entry = std::make_unique<DenseEntry>();
  entry->primitive = dnnl::inner_product_forward(pd);
  entry->ran = OnednnName(pd);
  entry->src.Init(src, pd.src_desc());
  entry->weight.Init(weight_user, pd.weights_desc());
  entry->dst.Init(dst, pd.dst_desc());
  entry->bias.Init(bias, bias);
  entry->workspace = dnnl::memory(pd.scratchpad_desc(), OnednnEngine(), nullptr);
  return entry;
}

bool Dense(KernelArgs& args, const DenseCall& call) {
  dnnl::memory::data_type type;
  if (!OnednnType(call.dtype, &type) || call.k == 0) return false;
  const bool keep = args.state && !args.is_train && args.in_versions.size() > call.weight_input && !Env::Get().onednn_force_fc_ab_format;
  // Weights used once are not worth packing: the plain matrix product reads them as they are.
  if (call.dtype == kFloat32 && !keep) return false;
  const int team = LibraryTeam(2.0 * static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k));
  OmpScope threads(team);
  Key key;
  key.Add('d')
      .Add(call.m)
      .Add(call.n)
      .Add(call.k)
      .Add(call.dtype)
      .Add(call.bias != nullptr)
      .Add(call.wide_bias)
      .Add(call.accumulate)
      .Add(call.post)
      .Add(keep)
      .Add(team);
  auto* entry = static_cast<DenseEntry*>(CachedEntry(key, [&] { return MakeEntry(call, type, !keep); }));
  if (!entry) return false;
  Ran(entry->ran);
  const size_t workspace_bytes = entry->workspace.get_desc().get_size();
  if (workspace_bytes) entry->workspace.set_data_handle(args.workspace(workspace_bytes));
  entry->bias.user.set_data_handle(const_cast<void*>(call.bias));
  std::unordered_map<int, dnnl::memory> arguments;
  arguments.emplace(DNNL_ARG_SRC, entry->src.Input(args, call.data));
  arguments.emplace(DNNL_ARG_WEIGHTS, Weight(args, &entry->weight, call.weight, call.weight_input));
  if (call.bias) arguments.emplace(DNNL_ARG_BIAS, entry->bias.user);
  arguments.emplace(DNNL_ARG_DST, entry->dst.Output(args, call.out));
  if (workspace_bytes) arguments.emplace(DNNL_ARG_SCRATCHPAD, entry->workspace);
  entry->primitive.execute(OnednnStream(), arguments);
  entry->dst.StoreOutput();
  OnednnStream().wait();
  return true;
}

[[maybe_unused]] const bool linked = [] { return g_hooks.dense = Dense, true; }();

}  // namespace
}  // namespace nn
}  // namespace mxnet
