// Operators as the trace shows them, found again by shapes without a lock.
#include <algorithm>
#include <cstdio>

#include "base/dtype.h"
#include "base/ran.h"
#include "mxnet/profiler.h"
#include "profiler/recorder.h"

namespace mxnet {
namespace profiler {

struct OpInfo {
  const std::string* op;  // the name of its record, and what stands for it
  std::string node;       // "": eager
  int num_in;
  std::vector<Shape> shapes;  // of the inputs, then of the outputs
  std::vector<int> dtypes;
  double bytes, flops;
  const Label* label;
  mutable std::string args;  // made when a trace asks; one caller at a time
};

namespace {

uint64_t Mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x9E3779B97F4A7C15ull + (h >> 29); }

uint64_t HashBlobs(uint64_t h, Span<const TBlob> blobs) {
  for (const TBlob& b : blobs) {
    h = Mix(h, static_cast<uint64_t>(b.dtype) << 8 | static_cast<uint64_t>(b.shape.ndim() & 0xFF));
    for (int64_t d : b.shape) h = Mix(h, static_cast<uint64_t>(d));
  }
  return h;
}

bool SameBlobs(const OpInfo& info, Span<const TBlob> in, Span<const TBlob> out) {
  if (info.num_in != in.size() || info.shapes.size() != static_cast<size_t>(in.size() + out.size())) return false;
  for (int i = 0; i < in.size(); ++i)
    if (info.dtypes[i] != in[i].dtype || info.shapes[i] != in[i].shape) return false;
  for (int i = 0; i < out.size(); ++i)
    if (info.dtypes[in.size() + i] != out[i].dtype || info.shapes[in.size() + i] != out[i].shape) return false;
  return true;
}

/* Parameters decide how many operations it takes; holding them keeps the address from being given
 * to others. */
struct Slot {
  std::shared_ptr<const void> param;
  const OpInfo* info = nullptr;
};
constexpr size_t kSlots = 256;

Slot* FindSlot(uint64_t hash) {
  static thread_local std::unique_ptr<Slot[]> slots;
  if (!slots) slots.reset(new Slot[kSlots]);
  return &slots[(hash >> 32) % kSlots];
}

uint64_t HashUse(OperatorName op, const void* param, Span<const TBlob> in, Span<const TBlob> out) {
  return HashBlobs(HashBlobs(Mix(reinterpret_cast<uintptr_t>(op.name), reinterpret_cast<uintptr_t>(param)), in), out);
}

void AppendBlobs(std::string* text, const char* key, const OpInfo& info, int begin, int end) {
  *text += std::string("\"") + key + "\": [";
  for (int i = begin; i < end; ++i) {
    if (i > begin) *text += ", ";
    *text += std::string("\"") + DTypeName(info.dtypes[i]) + "[";
    for (int d = 0; d < info.shapes[i].ndim(); ++d) *text += (d ? "," : "") + std::to_string(info.shapes[i][d]);
    *text += "]\"";
  }
  *text += "]";
}

Numbers NumbersOf(const OpInfo& info) {
  Numbers read = Numbers::kFloat32;
  for (int i = 0; i < std::min(info.num_in, 2); ++i) {
    if (DTypeSize(info.dtypes[i]) == 1) return Numbers::kBytes;
    if (info.dtypes[i] == kFloat64) read = Numbers::kFloat64;
  }
  return read;
}

}  // namespace

const OpInfo* Describe(OperatorName op, double flops, Span<const TBlob> in, Span<const TBlob> out, const char* node) {
  uint64_t hash = HashBlobs(HashBlobs(Mix(reinterpret_cast<uintptr_t>(op.name), static_cast<uint64_t>(flops)), in), out);
  const std::string name = node ? node : "";
  if (node) hash = Mix(hash, std::hash<std::string>()(name));
  const Label* label = Intern("operator", node && *node ? name : *op.name);
  Recorder& recorder = Recorder::Get();
  std::lock_guard<std::mutex> hold(recorder.mutex);
  const auto range = recorder.ops.equal_range(hash);
  for (auto it = range.first; it != range.second; ++it) {
    const OpInfo& known = *it->second;
    if (known.op == op.name && known.flops == flops && known.node == name && SameBlobs(known, in, out)) return &known;
  }
  OpInfo* info = new OpInfo{op.name, name, in.size(), {}, {}, 0, flops, label, {}};
  for (const Span<const TBlob>& blobs : {in, out}) {
    for (const TBlob& b : blobs) {
      info->shapes.push_back(b.shape);
      info->dtypes.push_back(b.dtype);
      info->bytes += static_cast<double>(b.Bytes());
    }
  }
  recorder.ops.emplace(hash, info);
  return info;
}

const OpInfo* FindRecent(OperatorName op, const std::shared_ptr<const void>& param, Span<const TBlob> in, Span<const TBlob> out) {
  const Slot* slot = FindSlot(HashUse(op, param.get(), in, out));
  return slot->info && slot->info->op == op.name && slot->param == param && SameBlobs(*slot->info, in, out) ? slot->info : nullptr;
}

const OpInfo* Remember(const OpInfo* info, OperatorName op, const std::shared_ptr<const void>& param, Span<const TBlob> in,
                       Span<const TBlob> out) {
  Slot* slot = FindSlot(HashUse(op, param.get(), in, out));
  slot->info = info;
  slot->param = param;
  return info;
}

OpText TextOf(const OpInfo* info) {
  if (info->args.empty()) {
    std::string args;
    if (!info->node.empty()) args += "\"node\": \"" + JsonEscape(info->node) + "\", ";
    AppendBlobs(&args, "inputs", *info, 0, info->num_in);
    args += ", ";
    AppendBlobs(&args, "outputs", *info, info->num_in, static_cast<int>(info->shapes.size()));
    char numbers[96];
    std::snprintf(numbers, sizeof(numbers), ", \"bytes\": %.0f, \"flops\": %.0f", info->bytes, info->flops);
    info->args = args + numbers;
  }
  return {info->op, &info->args, info->bytes, info->flops, NumbersOf(*info)};
}

const std::string* TextOfRan(const RanParts& ran) {
  struct Known {
    RanParts ran;
    const std::string* text;
  };
  static thread_local std::vector<Known> known;  // some ten
  const auto same = [&](const RanParts& other) {
    bool equal = ran.count == other.count;
    for (int i = 0; equal && i < ran.count; ++i) equal = ran.parts[i].name == other.parts[i].name && ran.parts[i].at == other.parts[i].at;
    return equal;
  };
  for (const Known& k : known)
    if (same(k.ran)) return k.text;
  std::string names, levels;
  for (int i = 0; i < ran.count; ++i) {
    names += (i ? ", " : "") + JsonEscape(ran.parts[i].name);
    const char* level = RanAtName(ran.parts[i].at);
    if (level && levels.find(level) == std::string::npos) levels += (levels.empty() ? "" : ", ") + std::string(level);
  }
  std::string text = "\"implementation\": \"" + (names.empty() ? "plain" : names) + "\"";
  if (!levels.empty()) text += ", \"level\": \"" + levels + "\"";
  const Label* label = Intern("ran", text);
  known.push_back({ran, &label->name});
  return known.back().text;
}

const Label* LabelOf(const OpInfo* info) { return info->label; }

}  // namespace profiler
}  // namespace mxnet
