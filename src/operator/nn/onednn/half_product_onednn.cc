// Products of 16-bit matrices through oneDNN.
#include <unordered_map>

#include "base/ran.h"
#include "base/threads/library_threads.h"
#include "operator/nn/onednn/onednn_common.h"
#include "operator/shared/half_product.h"

namespace mxnet {
namespace {

using Type = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;
using Desc = dnnl::memory::desc;

constexpr double kSmall = 1 << 18;  // multiplications

struct ProductEntry : nn::CacheEntry {
  dnnl::matmul primitive;
  dnnl::memory a, b, c, bias, workspace;
  RanPart ran;
};

Desc Matrix(int64_t batch, int64_t rows, int64_t columns, bool transposed, Type type) {
  if (batch == 1) return Desc({rows, columns}, type, transposed ? Tag::ba : Tag::ab);
  return Desc({batch, rows, columns}, type, transposed ? Tag::acb : Tag::abc);
}

std::unique_ptr<nn::CacheEntry> Make(const HalfProduct& p, Type type) {
  dnnl::engine& engine = nn::OnednnEngine();
  const Desc a = Matrix(p.batch, p.m, p.k, p.trans_a, type), b = Matrix(p.batch, p.k, p.n, p.trans_b, type),
             c = Matrix(p.batch, p.m, p.n, false, type),
             bias = p.batch == 1 ? Desc({1, p.n}, type, Tag::ab) : Desc({1, 1, p.n}, type, Tag::abc);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (p.accumulate) {
    dnnl::post_ops after;
    after.append_sum(1.f);
    attr.set_post_ops(after);
  }
  using Description = dnnl::matmul::primitive_desc;
  const Description pd = p.bias ? Description(engine, a, b, bias, c, attr) : Description(engine, a, b, c, attr);
  auto entry = std::make_unique<ProductEntry>();
  entry->primitive = dnnl::matmul(pd);
  entry->ran = nn::OnednnName(pd);
  entry->a = dnnl::memory(a, engine, nullptr), entry->b = dnnl::memory(b, engine, nullptr), entry->c = dnnl::memory(c, engine, nullptr);
  entry->bias = dnnl::memory(bias, engine, nullptr);
  entry->workspace = dnnl::memory(pd.scratchpad_desc(), engine, nullptr);
  return entry;
}

bool Run(const HalfProduct& p, const std::function<void*(size_t)>& workspace) {
  const double work = static_cast<double>(p.batch) * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  Type type;
  if (work < kSmall || !nn::OnednnProductType(p.dtype, &type)) return false;
  const int team = LibraryTeam(2 * work);
  OmpScope threads(team);
  nn::Key key;
  key.Add('h').Add(p.dtype).Add(p.trans_a).Add(p.trans_b).Add(p.batch).Add(p.m).Add(p.n).Add(p.k);
  key.Add(p.bias != nullptr).Add(p.accumulate).Add(team);
  auto* entry = static_cast<ProductEntry*>(nn::CachedEntry(key, [&] { return Make(p, type); }));
  if (!entry) return false;
  Ran(entry->ran);
  std::unordered_map<int, dnnl::memory> arguments;
  const auto give = [&](int name, dnnl::memory& memory, const void* ptr) {
    memory.set_data_handle(const_cast<void*>(ptr));
    arguments.emplace(name, memory);
  };
  const size_t bytes = entry->workspace.get_desc().get_size();
  if (bytes) give(DNNL_ARG_SCRATCHPAD, entry->workspace, workspace(bytes));
  give(DNNL_ARG_SRC, entry->a, p.a), give(DNNL_ARG_WEIGHTS, entry->b, p.b), give(DNNL_ARG_DST, entry->c, p.c);
  if (p.bias) give(DNNL_ARG_BIAS, entry->bias, p.bias);
  entry->primitive.execute(nn::OnednnStream(), arguments);
  nn::OnednnStream().wait();
  return true;
}

[[maybe_unused]] const bool linked = [] { return detail::g_onednn_half_product = Run, true; }();

}  // namespace
}  // namespace mxnet
