// Products of matrices of bytes through oneDNN, where the processor adds bytes exactly.
#include <unordered_map>

#include "base/ran.h"
#include "base/threads/library_threads.h"
#include "base/threads/omp.h"
#include "operator/nn/onednn/onednn_common.h"
#include "operator/quantized_fused/integer_matmul.h"

namespace mxnet {
namespace quantized {
namespace {

using Type = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;
using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

struct MatMulEntry : nn::CacheEntry {
  dnnl::matmul primitive;
  dnnl::memory a, b, to, workspace, scale, a_zero, b_zero, zero;
  RanPart ran;
};

Type TypeOf(int dtype) {
  switch (dtype) {
    case kUint8: return Type::u8;
    case kInt32: return Type::s32;
    case kFloat32: return Type::f32;
    default: return Type::s8;
  }
}

bool InSteps(const MatMulCall& call) { return call.out.dtype == kInt8 || call.out.dtype == kUint8; }

std::unique_ptr<nn::CacheEntry> Make(const MatMulCall& call) {
  dnnl::engine& engine = nn::OnednnEngine();
  const Desc a(Dims{call.batch, call.m, call.k}, TypeOf(call.a_type), Tag::abc), b(Dims{call.batch, call.k, call.n}, Type::s8, Tag::abc),
      to(Dims{call.batch, call.m, call.n}, TypeOf(call.out.dtype), Tag::abc);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (call.out.dtype != kInt32) attr.set_scales_mask(DNNL_ARG_SRC, 0);
  if (call.a_zero) attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
  if (call.b_zero) attr.set_zero_points_mask(DNNL_ARG_WEIGHTS, 0);
  if (InSteps(call) && call.out.zero) {  // which is added before the result is rounded, and would move ties
    dnnl::post_ops after;
    after.append_eltwise(dnnl::algorithm::eltwise_round, 0.f, 0.f);
    attr.set_post_ops(after);
    attr.set_zero_points_mask(DNNL_ARG_DST, 0);
  }
  const dnnl::matmul::primitive_desc pd(engine, a, b, to, attr);
  auto entry = std::make_unique<MatMulEntry>();
  entry->primitive = dnnl::matmul(pd);
  entry->ran = nn::OnednnName(pd);
  entry->a = dnnl::memory(a, engine, nullptr), entry->b = dnnl::memory(b, engine, nullptr), entry->to = dnnl::memory(to, engine, nullptr);
  entry->workspace = dnnl::memory(pd.scratchpad_desc(), engine, nullptr);
  const Desc number(Dims{1}, Type::f32, Tag::a), whole(Dims{1}, Type::s32, Tag::a);
  entry->scale = dnnl::memory(number, engine, nullptr);
  for (auto* m : {&entry->a_zero, &entry->b_zero, &entry->zero}) *m = dnnl::memory(whole, engine, nullptr);
  return entry;
}

bool Run(KernelArgs& args, const MatMulCall& call) {
  if (!nn::AddsBytesExactly()) return false;
  const int team = LibraryTeam(static_cast<double>(call.batch * call.m) * static_cast<double>(call.n * call.k), OmpMaxThreads());
  OmpScope threads(team);
  nn::Key key;
  key.Add('m').Add(call.batch).Add(call.m).Add(call.n).Add(call.k).Add(call.a_type).Add(call.out.dtype);
  key.Add(call.a_zero != 0).Add(call.b_zero != 0).Add(call.out.zero != 0).Add(team);
  auto* entry = static_cast<MatMulEntry*>(nn::CachedEntry(key, [&] { return Make(call); }));
  if (!entry) return false;
  Ran(entry->ran);
  float scale = InSteps(call) ? call.scale / call.out.step : call.scale;
  int32_t a_zero = call.a_zero, b_zero = call.b_zero, zero = call.out.zero;
  std::unordered_map<int, dnnl::memory> arguments;
  const auto give = [&](int name, dnnl::memory& memory, const void* ptr) {
    memory.set_data_handle(const_cast<void*>(ptr));
    arguments.emplace(name, memory);
  };
  const size_t bytes = entry->workspace.get_desc().get_size();
  if (bytes) give(DNNL_ARG_SCRATCHPAD, entry->workspace, args.workspace(bytes));
  give(DNNL_ARG_SRC, entry->a, call.a), give(DNNL_ARG_WEIGHTS, entry->b, call.b), give(DNNL_ARG_DST, entry->to, call.to);
  if (call.out.dtype != kInt32) give(DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, entry->scale, &scale);
  if (a_zero) give(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, entry->a_zero, &a_zero);
  if (b_zero) give(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_WEIGHTS, entry->b_zero, &b_zero);
  if (InSteps(call) && zero) give(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, entry->zero, &zero);
  entry->primitive.execute(nn::OnednnStream(), arguments);
  nn::OnednnStream().wait();
  return true;
}

[[maybe_unused]] const bool linked = [] { return g_integer_matmul = Run, true; }();

}  // namespace
}  // namespace quantized
}  // namespace mxnet
