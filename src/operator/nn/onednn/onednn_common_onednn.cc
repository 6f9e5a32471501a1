// Engine, streams, cache of primitives and packed weights.
#include <omp.h>

#include <atomic>
#include <exception>
#include <list>
#include <new>
#include <string>
#include <thread>
#include <unordered_map>

#include "base/logging.h"
#include "base/mix.h"
#include "base/ran.h"
#include "base/room.h"
#include "mxnet/env.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/nn/onednn/onednn_common.h"

namespace mxnet {
namespace nn {

namespace {
// Made as the library is loaded: a worker that makes it on first use could be caught by a fork, and
// the child would wait for it. Used until the very end.
dnnl::engine* const g_engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);

bool HasIsa(dnnl::cpu_isa isa) {
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & static_cast<unsigned>(isa)) == static_cast<unsigned>(isa);
}

const bool g_bfloat16 = HasIsa(dnnl::cpu_isa::avx512_core_bf16), g_float16 = HasIsa(dnnl::cpu_isa::avx512_core_fp16);
}  // namespace

RanAt OnednnLevel() {
  return HasIsa(dnnl::cpu_isa::avx512_core) ? RanAt::kAvx512 : HasIsa(dnnl::cpu_isa::avx2) ? RanAt::kAvx2 : RanAt::kBaseline;
}

dnnl::engine& OnednnEngine() { return *g_engine; }

dnnl::stream& OnednnStream() {
  thread_local dnnl::stream stream(OnednnEngine());
  return stream;
}

bool OnednnType(int dtype, dnnl::memory::data_type* type) {
  if (dtype == kFloat32) {
    *type = dnnl::memory::data_type::f32;
    return true;
  }
  if (dtype == kBfloat16 && g_bfloat16) {
    *type = dnnl::memory::data_type::bf16;
    return true;
  }
  return false;
}

bool OnednnProductType(int dtype, dnnl::memory::data_type* type) {
  if (dtype == kBfloat16) return OnednnType(dtype, type);
  *type = dnnl::memory::data_type::f16;
  return dtype == kFloat16 && g_float16;
}

bool AddsBytesExactly() {
  static const bool exact = HasIsa(dnnl::cpu_isa::avx2_vnni) || HasIsa(dnnl::cpu_isa::avx512_core_vnni);
  return exact;
}

void AppendPost(const EpilogueOp& post, dnnl::post_ops* ops) {
  using A = dnnl::algorithm;
  dnnl::post_ops& after = *ops;
  switch (post.kind) {
    case EpilogueKind::kNone: break;
    case EpilogueKind::kRelu: after.append_eltwise(A::eltwise_relu, 0.f, 0.f); break;
    case EpilogueKind::kSigmoid: after.append_eltwise(A::eltwise_logistic, 0.f, 0.f); break;
    case EpilogueKind::kTanh: after.append_eltwise(A::eltwise_tanh, 0.f, 0.f); break;
    case EpilogueKind::kSoftRelu: after.append_eltwise(A::eltwise_soft_relu, 1.f, 0.f); break;
    case EpilogueKind::kGelu: after.append_eltwise(A::eltwise_gelu_erf, 0.f, 0.f); break;
    case EpilogueKind::kLeaky: after.append_eltwise(A::eltwise_relu, post.a, 0.f); break;
    case EpilogueKind::kElu: after.append_eltwise(A::eltwise_elu, post.a, 0.f); break;
    case EpilogueKind::kClip: after.append_eltwise(A::eltwise_clip, post.a, post.b); break;
    case EpilogueKind::kHardSigmoid: after.append_eltwise(A::eltwise_hardsigmoid, post.a, post.b); break;
    case EpilogueKind::kSilu: after.append_eltwise(A::eltwise_swish, post.a, 0.f); break;
    case EpilogueKind::kHardSwish: after.append_eltwise(A::eltwise_hardswish, post.a, post.b); break;
  }
}

void SetPost(dnnl::primitive_attr* attr, bool accumulate, const EpilogueOp& post) {
  if (!accumulate && !post) return;
  dnnl::post_ops after;
  if (accumulate) after.append_sum(1.f);
  AppendPost(post, &after);
  attr->set_post_ops(after);
}

namespace {
struct Cache {
  using Item = std::pair<std::string, std::unique_ptr<CacheEntry>>;
  std::list<Item> items;  // most recently used first
  std::unordered_map<std::string, std::list<Item>::iterator> index;
};
Cache& ThreadCache() {
  thread_local Cache cache;
  return cache;
}

bool Refuses(const dnnl::error& e) { return e.status == dnnl_unimplemented || e.status == dnnl_invalid_arguments; }

/*
 * An allocation that fails inside oneDNN while it makes a primitive damages it for good: its
 * assembler keeps the thread's first error, and kernels that several primitives share stay null. So
 * there must be room first; and after a failure nothing new is asked of it, the library's own
 * kernels compute.
 */
std::atomic<bool> g_damaged{false};

void NeedRoom() {
  constexpr size_t kRoom = size_t{64} << 20;  // code and tables of the largest convolutions take some MiB
  if (!HasRoom(kRoom)) throw std::bad_alloc();
}

/* A reorder, made on a thread of its own where the assembler has kept an error of this one. */
dnnl::reorder MakeReorder(const dnnl::memory& from, const dnnl::memory& to) {
  NeedRoom();
  if (!g_damaged.load(std::memory_order_relaxed)) return dnnl::reorder(from, to);
  dnnl::reorder made;
  std::exception_ptr error;
  const int threads = omp_get_max_threads();  // what it is made for
  std::thread([&] {
    try {
      omp_set_num_threads(threads);
      made = dnnl::reorder(from, to);
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
  return made;
}

}  // namespace

size_t CachedEntries() { return ThreadCache().items.size(); }

bool HasEntry(const Key& key) { return ThreadCache().index.count(key.bytes()) > 0; }

CacheEntry* CachedEntry(const Key& key, const std::function<std::unique_ptr<CacheEntry>()>& make) {
  Cache& cache = ThreadCache();
  auto it = cache.index.find(key.bytes());
  if (it != cache.index.end()) {
    if (it->second != cache.items.begin()) cache.items.splice(cache.items.begin(), cache.items, it->second);
    return it->second->second.get();
  }
  std::unique_ptr<CacheEntry> entry;
  if (!g_damaged.load(std::memory_order_relaxed)) {
    NeedRoom();
    try {
      entry = make();
    } catch (const dnnl::error& e) {
      if (!Refuses(e) && !g_damaged.exchange(true))
        LogWarning(std::string("[oneDNN] ") + e.what() + " (status " + std::to_string(e.status) +
                   "); from now on new shapes are computed by the library's own kernels");
    }
  }
  cache.items.emplace_front(key.bytes(), std::move(entry));
  cache.index[key.bytes()] = cache.items.begin();
  // Without a number of the user's: more than the largest networks need, and some 100 MB for a
  // program that meets ever new shapes.
  constexpr int kMostEntries = 1024;
  const int set = Env::Get().onednn_cache_num, limit = set >= 0 ? set : kMostEntries;
  while (cache.items.size() > static_cast<size_t>(limit > 0 ? limit : 1)) {  // the one in use stays
    cache.index.erase(cache.items.back().first);
    cache.items.pop_back();
  }
  return cache.items.front().second.get();
}

/* A number for the order of a matrix's elements in memory, as far as the library tells it. */
static uint64_t FormOf(const dnnl::memory::desc& desc) {
  uint64_t form = Mix(Mix(0, static_cast<uint64_t>(desc.get_data_type())), desc.get_size());
  for (const auto& numbers : {desc.get_dims(), desc.get_padded_dims(), desc.get_strides(), desc.get_inner_blks(), desc.get_inner_idxs()}) {
    form = Mix(form, numbers.size());
    for (const dnnl::memory::dim n : numbers) form = Mix(form, static_cast<uint64_t>(n));
  }
  return form;
}

void Operand::Init(const dnnl::memory::desc& user_desc, const dnnl::memory::desc& inner_desc) {
  user = dnnl::memory(user_desc, OnednnEngine(), nullptr);
  differs = user_desc != inner_desc;
  if (!differs) return;
  inner = dnnl::memory(inner_desc, OnednnEngine(), nullptr);
  inner_bytes = inner_desc.get_size();
  form = Mix(FormOf(user_desc), FormOf(inner_desc));
}

dnnl::memory& Operand::Input(KernelArgs& args, const void* ptr) {
  user.set_data_handle(const_cast<void*>(ptr));
  if (!differs) return user;
  Pack(ptr, args.workspace(inner_bytes));
  return inner;
}

void Operand::Pack(const void* ptr, void* buffer) {
  user.set_data_handle(const_cast<void*>(ptr));
  inner.set_data_handle(buffer);
  if (!to_inner) to_inner = MakeReorder(user, inner);
  to_inner.execute(OnednnStream(), user, inner);
}

dnnl::memory& Operand::UsePacked(void* buffer) {
  inner.set_data_handle(buffer);
  return inner;
}

dnnl::memory& Operand::Output(KernelArgs& args, void* ptr) {
  user.set_data_handle(ptr);
  if (!differs) return user;
  inner.set_data_handle(args.workspace(inner_bytes));
  return inner;
}

void Operand::StoreOutput() {
  if (!differs) return;
  if (!to_user) to_user = MakeReorder(inner, user);
  to_user.execute(OnednnStream(), inner, user);
}

dnnl::memory& Weight(KernelArgs& args, Operand* weight, const void* ptr, int input, uint64_t more) {
  if (!weight->differs || !KeepsWeights(args, input)) {
    args.NeedWeights(ptr);
    if (weight->differs) CountPackedForm();
    return weight->Input(args, ptr);
  }
  const size_t size = (weight->inner_bytes + sizeof(float) - 1) / sizeof(float);
  // The library's own forms are small numbers. What is made of the weights depends on both orders
  // of their elements, and not on who reads them: a primitive for another shape of the data, or
  // with another epilogue.
  const uint64_t form = Mix(weight->form, more) | uint64_t{1} << 63 | kOfContentsAlone;
  const float* kept = KeptWeights(args, input, ptr, form, static_cast<int64_t>(size), [&](float* to) {
    to[size - 1] = 0;
    weight->Pack(ptr, to);
  });
  return weight->UsePacked(const_cast<float*>(kept));
}

}  // namespace nn
}  // namespace mxnet
