#include "profiler/statistics.h"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "base/new_file.h"
#include "profiler/trace.h"

namespace mxnet {
namespace profiler {

void Aggregate::Clear() {
  times.clear();
  memory.clear();
  counters.clear();
  ops_.clear();
}

void Aggregate::Add(const Event& e) {
  const double ms = static_cast<double>(e.end - e.begin) * 1e-6;
  const Label* label = static_cast<const Label*>(e.what);
  if (const Label* caller = CallerOf(e)) {
    const std::string& name = e.type == Type::kOp ? *TextOf(static_cast<const OpInfo*>(e.what)).name : static_cast<const char*>(e.what);
    return times[kCustomOperator][caller->name + "::" + name].Add(ms);
  }
  switch (e.type) {
    case Type::kOp: {
      Stat*& stat = ops_[e.what];
      const OpText op = TextOf(static_cast<const OpInfo*>(e.what));
      if (stat == nullptr) stat = &times["operator"][*op.name];
      stat->Add(ms);
      stat->bytes += op.bytes;
      stat->flops += op.flops;
      break;
    }
    case Type::kWork: times["operator"][static_cast<const char*>(e.what)].Add(ms); break;
    case Type::kApi: times["MXNET_C_API"][static_cast<const char*>(e.what)].Add(ms); break;
    case Type::kPlanBulk:
    case Type::kEagerBulk: times["bulk"][static_cast<const char*>(e.what)].Add(ms); break;
    case Type::kTask:
    case Type::kFrame:
    case Type::kEvent: times[label->category][label->name].Add(ms); break;
    case Type::kMarker: times[label->category][label->name].Add(0); break;
    case Type::kCounter: counters[label->category][label->name].Add(static_cast<double>(e.bytes)); break;
    case Type::kAlloc:
    case Type::kFree:
      memory["Device Storage"]["Memory: " + DeviceName(e.dev_type, e.dev_id)].Add(static_cast<double>(e.total) * 1e-3);
      break;
    case Type::kHeld: break;
  }
}

// ---- memory

void MemoryTimeline::Clear() {
  holders.clear();
  live_.clear();
  early_.clear();
  rows_.clear();
  origin_ = 0;
}

void MemoryTimeline::ResetCounts() {
  for (auto& device : holders) {
    for (auto& kv : device.second) {
      kv.second.count = kv.second.allocated = 0;
      kv.second.peak = kv.second.live;
    }
  }
}

void MemoryTimeline::Add(const Event& e, int64_t tid, Trace* trace, bool keep_list) {
  if (origin_ == 0) origin_ = trace->origin();
  auto show = [&](const std::string& device, const std::string& name, const Holder& holder) {
    trace->AddCounter("Memory by name", "Memory of " + name + ": " + device, "bytes", holder.live, e.begin, tid);
  };
  if (e.type == Type::kAlloc) {
    const std::string device = DeviceName(e.dev_type, e.dev_id);
    const Label* label = static_cast<const Label*>(e.what);
    const auto at = holders[device].try_emplace(label ? label->name : "<unk>").first;
    Holder& holder = at->second;
    ++holder.count;
    holder.allocated += e.rounded;
    size_t row = SIZE_MAX;
    if (keep_list) {
      row = rows_.size();
      rows_.push_back({device, at->first, e.bytes, e.rounded, e.begin, 0});
    }
    const auto early = early_.find(e.id);
    if (early != early_.end()) {
      const int64_t freed = early->second;
      early_.erase(early);
      if (freed >= e.begin) {  // its end was read before its beginning
        holder.peak = std::max(holder.peak, holder.live + e.rounded);
        if (keep_list) rows_[row].end = freed;
        return;
      }
    }
    holder.live += e.rounded;
    holder.peak = std::max(holder.peak, holder.live);
    live_[e.id] = {&holder, &at->first, e.rounded, row};
    show(device, at->first, holder);
  } else if (e.type == Type::kFree) {
    const auto at = live_.find(e.id);
    if (at == live_.end()) {
      early_[e.id] = e.begin;
      return;
    }
    Block block = at->second;
    live_.erase(at);
    block.holder->live -= block.bytes;
    if (block.row != SIZE_MAX) rows_[block.row].end = e.begin;
    show(DeviceName(e.dev_type, e.dev_id), *block.name, *block.holder);
  }
}

void MemoryTimeline::WriteLists(const std::string& prefix) const {
  std::map<std::string, std::string> texts;
  for (const Row& r : rows_) {
    std::string& text = texts[r.device];
    if (text.empty()) text = "\"Attribute Name\",\"Requested Size\",\"Device\",\"Actual Size\",\"Allocated (us)\",\"Freed (us)\"\n";
    std::string name;
    for (char c : r.name) name += c == '"' ? std::string("\"\"") : std::string(1, c);
    char times[64];
    std::snprintf(times, sizeof(times), "%.3f,", static_cast<double>(r.begin - origin_) * 1e-3);
    text += "\"" + name + "\"," + std::to_string(r.asked) + ",\"" + r.device + "\"," + std::to_string(r.taken) + "," + times;
    if (r.end != 0) {
      std::snprintf(times, sizeof(times), "%.3f", static_cast<double>(r.end - origin_) * 1e-3);
      text += times;
    }
    text += "\n";
  }
  for (auto& kv : texts) {
    std::string device = kv.first;
    std::replace(device.begin(), device.end(), '/', '_');
    NewFile file("profiler", prefix + "-" + device + ".csv");
    file.Write(kv.second);
    file.Commit();
  }
}

// ---- text

namespace {

struct Line {
  const std::string* name;
  const Stat* stat;
};

std::vector<Line> Sorted(const StatTable& table, SortBy by, bool ascending) {
  std::vector<Line> lines;
  for (const auto& kv : table) lines.push_back({&kv.first, &kv.second});
  auto key = [by](const Stat& s) {
    switch (by) {
      case SortBy::kAvg: return s.avg();
      case SortBy::kMin: return s.min;
      case SortBy::kMax: return s.max;
      case SortBy::kCount: return static_cast<double>(s.count);
      default: return s.total;
    }
  };
  std::stable_sort(lines.begin(), lines.end(),
                   [&](const Line& a, const Line& b) { return ascending ? key(*a.stat) < key(*b.stat) : key(*a.stat) > key(*b.stat); });
  return lines;
}

/* One column: heading, and the value of a line. */
struct Column {
  const char* heading;
  const char* key;  // in JSON
  double (*value)(const Stat&);
  bool integer;
};

const Column kCount = {"Total Count", "Count", [](const Stat& s) { return static_cast<double>(s.count); }, true};
const std::vector<Column> kTimes = {kCount,
                                    {"Time (ms)", "Total", [](const Stat& s) { return s.total; }, false},
                                    {"Min Time (ms)", "Min", [](const Stat& s) { return s.min; }, false},
                                    {"Max Time (ms)", "Max", [](const Stat& s) { return s.max; }, false},
                                    {"Avg Time (ms)", "Avg", [](const Stat& s) { return s.avg(); }, false}};
const Column kGflops = {"GFLOP/s", "GFLOP/s", [](const Stat& s) { return s.total > 0 ? s.flops / s.total * 1e-6 : 0; }, false};
const Column kGbytes = {"GB/s", "GB/s", [](const Stat& s) { return s.total > 0 ? s.bytes / s.total * 1e-6 : 0; }, false};
const std::vector<Column> kUse = {kCount,
                                  {"Min Use  (kB)", "Min", [](const Stat& s) { return s.min; }, false},
                                  {"Max Use  (kB)", "Max", [](const Stat& s) { return s.max; }, false},
                                  {"Avg Use  (kB)", "Avg", [](const Stat& s) { return s.avg(); }, false}};
// of a holder: total = allocated, max = peak, min = live
const std::vector<Column> kHeld = {kCount,
                                   {"Allocated (kB)", "Total", [](const Stat& s) { return s.total; }, false},
                                   {"Peak (kB)", "Peak", [](const Stat& s) { return s.max; }, false},
                                   {"Live (kB)", "Live", [](const Stat& s) { return s.min; }, false}};
const std::vector<Column> kValues = {kCount,
                                     {"Min", "Min", [](const Stat& s) { return s.min; }, false},
                                     {"Max", "Max", [](const Stat& s) { return s.max; }, false},
                                     {"Avg", "Avg", [](const Stat& s) { return s.avg(); }, false}};

struct Section {
  const char* group;  // in JSON
  std::string title;
  const StatTable* table;
  std::vector<Column> columns;
};

std::string Table(const Section& s, SortBy by, bool ascending) {
  char cell[64];
  auto pad = [&](const char* text, bool first) {
    std::snprintf(cell, sizeof(cell), first ? "%16s" : " %16s", text);
    return std::string(cell);
  };
  std::string heads, rules;
  for (size_t i = 0; i < s.columns.size(); ++i) {
    heads += pad(s.columns[i].heading, i == 0);
    rules += pad(std::string(std::string(s.columns[i].heading).size(), '-').c_str(), i == 0);
  }
  std::snprintf(cell, sizeof(cell), "%-25s", "Name");
  std::string out = s.title + "\n=================\n" + cell + heads + "\n";
  std::snprintf(cell, sizeof(cell), "%-25s", "----");
  out += cell + rules + "\n";
  for (const Line& line : Sorted(*s.table, by, ascending)) {
    std::string name = *line.name;
    name.resize(std::max<size_t>(name.size(), 25), ' ');
    out += name;
    for (size_t i = 0; i < s.columns.size(); ++i) {
      char number[40];
      std::snprintf(number, sizeof(number), s.columns[i].integer ? "%.0f" : "%.4f", s.columns[i].value(*line.stat));
      out += pad(number, i == 0);
    }
    out += "\n";
  }
  return out + "\n";
}

std::string Json(const std::vector<Section>& sections, SortBy by, bool ascending) {
  std::string out = "{\n";
  for (const char* group : {"Time", "Memory", "Counter"}) {
    out += std::string("    \"") + group + "\": {";
    bool first_section = true;
    for (const Section& s : sections) {
      if (std::string(s.group) != group) continue;
      out += std::string(first_section ? "" : ",") + "\n        \"" + JsonEscape(s.title) + "\": {";
      first_section = false;
      bool first_line = true;
      for (const Line& line : Sorted(*s.table, by, ascending)) {
        out += std::string(first_line ? "" : ",") + "\n            \"" + JsonEscape(*line.name) + "\": {";
        first_line = false;
        for (size_t i = 0; i < s.columns.size(); ++i) {
          char number[64];
          std::snprintf(number, sizeof(number), s.columns[i].integer ? "%.0f" : "%.6g", s.columns[i].value(*line.stat));
          out += std::string(i ? "," : "") + "\n                \"" + s.columns[i].key + "\": " + number;
        }
        out += "\n            }";
      }
      out += "\n        }";
    }
    out += "\n    },\n";
  }
  return out + "    \"Unit\": {\n        \"Time\": \"ms\",\n        \"Memory\": \"kB\"\n    }\n}\n";
}

}  // namespace

std::string FormatStatistics(const Aggregate& aggregate, const MemoryTimeline& timeline, bool json, SortBy by, bool ascending) {
  std::vector<Section> sections;
  for (const auto& kv : aggregate.memory) sections.push_back({"Memory", kv.first, &kv.second, kUse});
  std::map<std::string, StatTable> held;
  for (const auto& device : timeline.holders) {
    StatTable& table = held["Memory by name: " + device.first];
    for (const auto& kv : device.second) {
      const auto& h = kv.second;
      if (h.count == 0 && h.peak == 0) continue;
      Stat& s = table[kv.first];
      s.count = h.count;
      s.total = static_cast<double>(h.allocated) * 1e-3;
      s.max = static_cast<double>(h.peak) * 1e-3;
      s.min = static_cast<double>(h.live) * 1e-3;
    }
  }
  for (const auto& kv : held)
    if (!kv.second.empty()) sections.push_back({"Memory", kv.first, &kv.second, kHeld});
  for (const auto& kv : aggregate.times) {
    sections.push_back({"Time", kv.first, &kv.second, kTimes});
    if (kv.first != "operator") continue;
    // Scripts split the lines of 1.9.1's table into six fields: the rates have a table of their
    // own.
    std::vector<Column>& columns = sections.back().columns;
    if (!json) columns = {kCount};
    columns.push_back(kGflops);
    columns.push_back(kGbytes);
    if (json) continue;
    sections.back().title = "operator rates";
    sections.insert(sections.end() - 1, Section{"Time", kv.first, &kv.second, kTimes});
  }
  for (const auto& kv : aggregate.counters) sections.push_back({"Counter", json ? kv.first : kv.first + " counters", &kv.second, kValues});
  if (json) return Json(sections, by, ascending);
  std::string out = "\nProfile Statistics:\n\tNote the difference in units for different entries.\n";
  for (const Section& s : sections) out += Table(s, by, ascending);
  return out;
}

}  // namespace profiler
}  // namespace mxnet
