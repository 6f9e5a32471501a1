#include "operator/nn/common/kept_weights.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/huge_pages.h"
#include "base/late_pages.h"
#include "base/mix.h"
#include "base/round_up.h"
#include "base/threads/fork_guard.h"
#include "base/threads/omp.h"
#include "base/threads/shared_items.h"
#include "mxnet/op.h"
#include "operator/nn/common/late_floats.h"
#include "operator/shared/kept_bytes.h"
#include "operator/shared/transposed_weights.h"

namespace mxnet {
namespace nn {
namespace {

/*
 * Memory of weights: pieces of large mappings on huge pages, because streams of weights that come
 * from memory would else miss the translation buffer in every line of pages (ResNet-50 of one
 * image, Zen 5: 3 % of the time in bfloat16, 2 % in float32). Pieces lie side by side, and each
 * mapping is larger than the one before, for what is left at its end is lost. Where the first
 * pieces lie, pages are small until the next piece lies behind them: the whole of a small model
 * would else be a huge page that is half empty. So they are where huge ones are slow to come. Those
 * become huge while the weights are in use, one after the other (BERT-base: 6 % of the time).
 *
 * A mapping goes when the last piece of it does. A piece at its end, which is what a copy of
 * weights that are there already was, is used again at once; of others the pages go.
 */
constexpr size_t kPage = 4096, kSmallPages = 2 * kHugePage;
constexpr size_t kFirstMapping = 16 * kHugePage, kLargestMapping = 256 * kHugePage, kGrowth = 4;

// Guarded by Room::mutex but for `due`.
LatePages* const g_late = new LatePages();

class Mapping {
 public:
  Mapping(size_t bytes, size_t small_pages)
      : bytes_(RoundUp(bytes, kHugePage)), base_(MapAligned(bytes_, MAP_NORESERVE)), small_end_(small_pages), prepared_(small_pages) {
    if (!base_) throw std::bad_alloc();
  }
  ~Mapping() {
    g_late->Drop(base_, base_ + bytes_);
    munmap(base_, bytes_);
  }
  size_t bytes() const { return bytes_; }
  char* Take(size_t bytes) {
    if (bytes > bytes_ - used_) return nullptr;
    for (const size_t end = std::min(used_, small_end_); small_begin_ + kHugePage <= end; small_begin_ += kHugePage)
      JoinSmallPages({base_ + small_begin_, kHugePage}, true);
    for (const PageRange& pages : small_) JoinSmallPages(pages, false);
    small_.clear();
    used_ += bytes;
    if (used_ > prepared_) {
      const size_t begin = std::exchange(prepared_, RoundUp(used_, kHugePage));
      PrepareHugePages({base_ + begin, prepared_ - begin}, &small_);
      for (const PageRange& pages : small_) g_late->Add(pages);
    }
    return base_ + used_ - bytes;
  }
  void GiveBack(const char* piece, size_t bytes) {
    if (piece + bytes == base_ + used_) {
      used_ -= bytes;
      return;
    }
    const uintptr_t begin = (reinterpret_cast<uintptr_t>(piece) + kPage - 1) / kPage * kPage,
                    end = (reinterpret_cast<uintptr_t>(piece) + bytes) / kPage * kPage;
    if (begin >= end) return;
    g_late->Drop(piece, piece + bytes);
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }

 private:
  const size_t bytes_;
  char* const base_;
  const size_t small_end_;
  size_t used_ = 0, small_begin_ = 0, prepared_;
  std::vector<PageRange> small_;
};

struct Room {
  ForkMutex mutex{ForkLevel::kStorage};
  std::shared_ptr<Mapping> now;  // where the next piece comes from
};
Room* const g_room = new Room();

/* For who has just used weights that were there. */
void JoinLatePage() {
  if (!g_late->TakeTurn()) return;
  std::lock_guard<ForkMutex> lock(g_room->mutex);
  g_late->JoinOne();
}

/* For a piece that `before` has no room for. */
std::shared_ptr<Mapping> NextMapping(const Mapping* before, size_t bytes) {
  if (!before) return std::make_shared<Mapping>(std::max(kFirstMapping, bytes), bytes < kSmallPages ? kSmallPages : 0);
  try {
    return std::make_shared<Mapping>(std::max(std::min(kGrowth * before->bytes(), kLargestMapping), bytes), 0);
  } catch (const std::bad_alloc&) {  // addresses are limited
    return std::make_shared<Mapping>(bytes, 0);
  }
}

struct Block {
  explicit Block(int64_t count) : size(count), bytes_(RoundUp(static_cast<size_t>(count) * sizeof(float), 64)) {
    std::lock_guard<ForkMutex> lock(g_room->mutex);
    memory_ = g_room->now ? g_room->now->Take(bytes_) : nullptr;
    if (!memory_) {
      auto made = NextMapping(g_room->now.get(), bytes_);
      memory_ = made->Take(bytes_);
      g_room->now = std::move(made);
    }
    mapping_ = g_room->now;
  }
  ~Block() {
    std::lock_guard<ForkMutex> lock(g_room->mutex);
    mapping_->GiveBack(memory_, bytes_);
    if (mapping_ == g_room->now && mapping_.use_count() == 2) g_room->now.reset();
    mapping_.reset();
  }
  float* Aligned() const { return reinterpret_cast<float*>(memory_); }
  const int64_t size;

 private:
  const size_t bytes_;
  const KeptBytes counted_{bytes_};
  char* memory_ = nullptr;
  std::shared_ptr<Mapping> mapping_;
};

/* Of some lines of them: whoever asks compares what has equal ones, and to read all would take as
 * long as to pack all. */
uint64_t Hash(const float* data, int64_t size) {
  constexpr int64_t kLine = 16, kLines = 256;
  const int64_t lines = (size + kLine - 1) / kLine, looked_at = std::min(lines, kLines);
  uint64_t hash = static_cast<uint64_t>(size);
  for (int64_t i = 0; i < looked_at; ++i) {
    const int64_t begin = i * lines / looked_at * kLine;
    for (int64_t j = begin, end = std::min(size, begin + kLine); j < end; ++j) {
      uint32_t word;
      std::memcpy(&word, data + j, sizeof word);
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    }
    hash ^= hash >> 32;
  }
  return hash;
}

/*
 * The blocks in use, by what they hold. Plans of other batch sizes, for other threads and of other
 * copies of a model derive the same weights: they are compared once made, and one block serves all.
 * Blocks never change after that.
 */
class Blocks {
 public:
  /* By what they were made of. */
  struct Origin {
    uint64_t identity, form;
    int64_t size;
    bool operator==(const Origin& o) const { return identity == o.identity && form == o.form && size == o.size; }
  };
  std::shared_ptr<const Block> Find(const Origin& origin) {
    std::lock_guard<ForkMutex> lock(mutex_);
    const auto it = by_origin_.find(origin);
    return it == by_origin_.end() ? nullptr : it->second.lock();
  }
  void Put(const Origin& origin, const std::shared_ptr<const Block>& block) {
    std::lock_guard<ForkMutex> lock(mutex_);
    if (by_origin_.size() >= prune_origins_at_) {
      for (auto it = by_origin_.begin(); it != by_origin_.end();) it = it->second.expired() ? by_origin_.erase(it) : std::next(it);
      prune_origins_at_ = 2 * by_origin_.size() + 64;
    }
    by_origin_[origin] = block;
  }
  std::shared_ptr<const Block> Share(std::shared_ptr<Block> made) {
    const uint64_t hash = Hash(made->Aligned(), made->size);
    std::shared_ptr<const Block> found;  // released, if it is the last to hold its block, after the lock
    std::lock_guard<ForkMutex> lock(mutex_);
    const auto range = by_hash_.equal_range(hash);
    for (auto it = range.first; it != range.second; ++it) {
      found = it->second.lock();
      if (found && found->size == made->size &&
          std::memcmp(found->Aligned(), made->Aligned(), static_cast<size_t>(made->size) * sizeof(float)) == 0)
        return found;
    }
    if (by_hash_.size() >= prune_at_) {
      for (auto it = by_hash_.begin(); it != by_hash_.end();) it = it->second.expired() ? by_hash_.erase(it) : std::next(it);
      prune_at_ = 2 * by_hash_.size() + 64;
    }
    by_hash_.emplace(hash, made);
    return made;
  }

 private:
  ForkMutex mutex_{ForkLevel::kOperator};
  struct OriginHash {
    size_t operator()(const Origin& o) const {
      return static_cast<size_t>((o.identity * 0x9e3779b97f4a7c15u ^ o.form) * 0x9e3779b97f4a7c15u ^ static_cast<uint64_t>(o.size));
    }
  };
  std::unordered_multimap<uint64_t, std::weak_ptr<const Block>> by_hash_;
  std::unordered_map<Origin, std::weak_ptr<const Block>, OriginHash> by_origin_;
  size_t prune_at_ = 64, prune_origins_at_ = 64;
};
Blocks* const g_blocks = new Blocks();  // made at load, and there as long as the last worker

struct KeptState : OpState {
  const void* source = nullptr;
  uint64_t version = 0, version_beside = 0, form = 0;
  bool changed = false;  // WeightsStay
  std::shared_ptr<const Block> block;
};

/* Of what a node makes of the weights; 0: not known. Parameters say how they are read, unless
 * `alone`. */
uint64_t IdentityOf(const KernelArgs& args, const void* source, std::initializer_list<int> beside, bool alone) {
  if (!args.plan_weights) return 0;
  uint64_t identity = args.plan_weights->Identity(source);
  if (identity == 0) return 0;
  for (int input : beside) {
    const uint64_t own = args.plan_weights->Identity(args.in[input].dptr);
    if (own == 0) return 0;
    identity = Mix(identity, own);
  }
  if (alone) return identity | 1;
  identity = Mix(identity, std::hash<std::string>()(args.attrs->op->name));
  for (const auto& kv : args.attrs->dict)
    identity = Mix(Mix(identity, std::hash<std::string>()(kv.first)), std::hash<std::string>()(kv.second));
  return identity | 1;
}

void FillByParts(const PlanWeights::ReadPart& read, const WeightParts& parts, float* form) {
  constexpr size_t kRead = 1 << 18, kAlone = 1 << 18;  // bytes: at a time, at least; for one thread
  const int64_t step = std::min(parts.count, static_cast<int64_t>(std::max<size_t>(1, kRead / parts.bytes)));
  const int64_t items = (parts.count + step - 1) / step;
  const int threads = parts.all < kAlone ? 1 : static_cast<int>(std::min<int64_t>(OmpMaxThreads(), items));
  const size_t room = RoundUp(static_cast<size_t>(step) * parts.bytes, 64);
  DividedItems divided(threads, items);
  ParallelForThreads(threads, threads, [&](int64_t first, int64_t last) {
    const std::unique_ptr<char[]> memory(new char[room + parts.scratch + 64]);
    char* const buffer = AlignedTo64<char>(memory.get());
    for (int64_t id = first; id < last; ++id)
      for (int64_t item; divided.Next(id, &item);) {
        const int64_t begin = item * step, end = std::min(parts.count, begin + step);
        const size_t from = static_cast<size_t>(begin) * parts.bytes, to = std::min(parts.all, static_cast<size_t>(end) * parts.bytes);
        read(from, buffer, to - from);
        parts.fill(buffer, begin, end, form, buffer + room);
      }
  });
}

/* False: the weights are not to be had by such parts. */
bool FillByParts(const KernelArgs& args, const void* source, const std::function<WeightParts()>& parts, bool transposed, float* form) {
  const WeightParts own = parts && args.plan_weights ? parts() : WeightParts();
  if (own.count == 0) return false;
  const PlanWeights::ReadPart read = transposed ? TransposedPartsOf(args.plan_weights, source) : args.plan_weights->Parts(source);
  if (read) FillByParts(read, own, form);
  return static_cast<bool>(read);
}

}  // namespace

bool KeepsWeights(const KernelArgs& args, int weight_input) {
  return args.state && !args.is_train && weight_input >= 0 && weight_input < args.in_versions.size();
}

bool WeightsStay(const KernelArgs& args, int weight_input) {
  auto* state = dynamic_cast<KeptState*>(args.state->get());
  if (!state || !state->block) return true;
  state->changed = state->changed || state->version != args.in_versions[weight_input];
  return !state->changed;
}

bool KeptWithoutSource(const KernelArgs& args, const void* source) {
  auto* state = dynamic_cast<KeptState*>(args.state->get());
  if (state && state->block) return true;
  return args.plan_weights && (args.plan_weights->Parts(source) || TransposedPartsOf(args.plan_weights, source));
}

void FillWhole(const WeightParts& parts, const void* weights, float* form) {
  constexpr size_t kAlone = 1 << 17;  // bytes for one thread
  ParallelFor(parts.count, static_cast<int64_t>(std::max<size_t>(1, kAlone / parts.bytes)), [&](int64_t begin, int64_t end) {
    parts.fill(static_cast<const char*>(weights) + static_cast<size_t>(begin) * parts.bytes, begin, end, form, nullptr);
  });
}

const float* KeptWeights(KernelArgs& args, int weight_input, const void* source, uint64_t form, int64_t size,
                         const std::function<void(float*)>& fill, std::initializer_list<int> beside,
                         const std::function<WeightParts()>& parts, const std::function<WeightParts()>& transposed_parts) {
  if (!KeepsWeights(args, weight_input)) {
    args.NeedWeights(source);
    float* made = static_cast<float*>(args.workspace(static_cast<size_t>(size) * sizeof(float)));
    CountPackedForm();
    fill(made);
    return made;
  }
  auto* state = dynamic_cast<KeptState*>(args.state->get());
  if (!state) {
    state = new KeptState();
    args.state->reset(state);
  }
  const void* const original = state->block && state->source == source ? source : LateFloats::Original(args.plan_weights, source);
  const uint64_t version = args.in_versions[weight_input];
  uint64_t version_beside = 0;
  for (int input : beside) version_beside = Mix(version_beside, args.in_versions[input]);
  if (state->block && state->source == original && state->version == version && state->version_beside == version_beside &&
      state->form == form && state->block->size == size) {
    JoinLatePage();
    return state->block->Aligned();
  }
  state->block.reset();
  const Blocks::Origin origin{IdentityOf(args, source, beside, (form & kOfContentsAlone) != 0), form, size};
  if (origin.identity) state->block = g_blocks->Find(origin);
  if (!state->block) {
    auto made = std::make_shared<Block>(size);
    CountPackedForm();
    if (!FillByParts(args, source, parts, false, made->Aligned()) && !FillByParts(args, source, transposed_parts, true, made->Aligned())) {
      args.NeedWeights(source);
      fill(made->Aligned());
      args.DoneWithWeights(source);
    }
    state->block = g_blocks->Share(std::move(made));
    if (origin.identity) g_blocks->Put(origin, state->block);
  }
  state->source = original, state->version = version, state->version_beside = version_beside, state->form = form;
  return state->block->Aligned();
}

}  // namespace nn
}  // namespace mxnet
