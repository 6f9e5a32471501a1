#include "mxnet/env.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>

#include "base/edit_distance.h"
#include "base/logging.h"
#include "base/stack_trace.h"
#include "base/threads/omp.h"
#include "base/threads/shared_cores.h"

extern char** environ;

namespace mxnet {

std::atomic<const Env*> Env::current_{nullptr};

namespace {

enum Change { kLive, kFixed };

struct Row {
  const char *name, *type, *default_value, *accepted, *group, *help;
  Change change;
};

constexpr Row kTable[] = {
#define MXNET_ENV(member, CType, name, type, default_value, accepted, group, change, help) \
  {name, type, default_value, accepted, group, help, change},
#include "mxnet/env_table.inc"
#undef MXNET_ENV
};

// The older name counts only while the newer one is not set.
struct Alias {
  const char *older, *newer;
};
constexpr Alias kAliases[] = {{"MXNET_EXEC_MATCH_RANGE", "NNVM_EXEC_MATCH_RANGE"},
                              {"MXNET_ENABLE_OPERATOR_TUNING", "MXNET_USE_OPERATOR_TUNING"},
                              {"MXNET_MKLDNN_ENABLED", "MXNET_ONEDNN_ENABLED"},
                              {"MXNET_MKLDNN_CACHE_NUM", "MXNET_ONEDNN_CACHE_NUM"},
                              {"MXNET_USE_MKLDNN_RNN", "MXNET_USE_ONEDNN_RNN"}};

// Accepted, without effect; the user is told why.
constexpr const char* kRetired = "MXNET_CPU_NNPACK_NTHREADS";

// Variables of 1.9.1 that there is no need for, and why.
struct Needless {
  const char *name, *why;
};
constexpr Needless kNeedless[] = {{"MXNET_SUBGRAPH_BACKEND", "every plan is compiled, without a backend"},
                                  {"MXNET_SUBGRAPH_VERBOSE", "every plan is compiled, without a backend; explain() shows what was merged"}};

// Names that test suites around the library use; it does not read them and does not warn about
// them.
constexpr const char* kForeignPrefixes[] = {"MXNET_TEST_", "MXNET_MODULE_SEED"};

struct Setting {
  std::string text, source;
};
using Settings = std::map<std::string, Setting>;

struct Snapshot {
  Env env;
  std::vector<std::string> values, sources;  // in the order of kTable
};

const Row* FindRow(const std::string& name) {
  for (const Row& row : kTable)
    if (name == row.name) return &row;
  return nullptr;
}

/* The newer name of an older one that has no row of its own in the table; null for other names. */
const char* NewerName(const std::string& name) {
  for (const Alias& alias : kAliases)
    if (name == alias.older && FindRow(name) == nullptr) return alias.newer;
  return nullptr;
}

bool Known(const std::string& name) { return FindRow(name) != nullptr || NewerName(name) != nullptr; }

// `given`: the name that was set, the row's or an older one.
[[noreturn]] void BadValue(const Row& row, const std::string& given, const std::string& text) {
  MXNET_THROW(Value) << "[environment] " << given << "='" << text << "'; accepted: " << row.type << " " << row.accepted
                     << (row.default_value[0] ? std::string(", default ") + row.default_value : "");
}

std::string Trim(const std::string& s) {
  const size_t first = s.find_first_not_of(" \t\r\n");
  return first == std::string::npos ? "" : s.substr(first, s.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string> Split(const std::string& s, char separator) {
  std::vector<std::string> out;
  std::istringstream in(s);
  for (std::string part; std::getline(in, part, separator);) out.push_back(Trim(part));
  if (!s.empty() && s.back() == separator) out.emplace_back();
  return out;
}

bool ToInteger(const std::string& text, int64_t* out) {
  if (text.empty()) return false;
  char* end = nullptr;
  errno = 0;
  *out = std::strtoll(text.c_str(), &end, 10);
  return errno == 0 && *end == '\0';
}

bool ToDouble(const std::string& text, double* out) {
  char* end = nullptr;
  *out = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(*out);
}

int Processors() { return std::max(1, static_cast<int>(std::ceil(UsableProcessors() - 0.01))); }

bool InRange(const std::string& accepted, double value) {
  double low = 0, high = 0;
  if (accepted.compare(0, 2, ">=") == 0 && ToDouble(accepted.substr(2), &low)) return value >= low;
  const size_t dots = accepted.find("..");
  if (dots != std::string::npos && ToDouble(accepted.substr(0, dots), &low) && ToDouble(accepted.substr(dots + 2), &high))
    return low <= value && value <= high;
  if (accepted == "bitmask") return value >= -1;
  for (const std::string& choice : Split(accepted, '|'))
    if (ToDouble(choice, &low) && low == value) return true;
  return false;
}

// One overload of Parse and Print per type that the table uses. Parse throws BadText.
struct BadText {};

void Parse(const Row& row, const std::string& text, bool* out) {
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  int64_t number = 0;
  if (lower == "1" || lower == "true" || lower == "yes" || lower == "on") {
    *out = true;
  } else if (lower == "0" || lower == "false" || lower == "no" || lower == "off") {
    *out = false;
  } else if (std::string(row.accepted).find("any other integer") != std::string::npos && ToInteger(text, &number)) {
    *out = number != 0;
  } else {
    throw BadText{};
  }
}

void Parse(const Row& row, const std::string& text, int64_t* out) {
  if (text == "cores" && std::string(row.default_value) == "cores") {
    *out = Processors();
  } else if (text == "all" && std::string(row.accepted) == "bitmask") {
    *out = -1;
  } else {
    // OpenMP allows one number per nesting level here; only the outermost concerns us.
    const std::string first = std::string(row.name) == "OMP_NUM_THREADS" ? Trim(text.substr(0, text.find(','))) : text;
    if (!ToInteger(first, out) || !InRange(row.accepted, static_cast<double>(*out))) throw BadText{};
  }
}

void Parse(const Row& row, const std::string& text, int* out) {
  int64_t wide = 0;
  Parse(row, text, &wide);
  if (wide > INT_MAX) throw BadText{};
  *out = static_cast<int>(wide);
}

void Parse(const Row& row, const std::string& text, double* out) {
  if (!ToDouble(text, out) || !InRange(row.accepted, *out)) throw BadText{};
}

void Parse(const Row& row, const std::string& text, std::string* out) {
  const std::string accepted = row.accepted;
  const std::vector<std::string> choices = Split(accepted, '|');
  const bool listed = std::find(choices.begin(), choices.end(), text) != choices.end();
  if (accepted == "0|1|list of types") {
    if (!listed || text == "list of types") {
      for (const std::string& name : Split(text, ',')) {
        bool known = false;
        for (int dtype = 0; dtype < kNumDTypes; ++dtype) known |= name == DTypeName(dtype);
        if (!known) throw BadText{};
      }
    }
  } else if (choices.size() > 1 && !listed) {
    throw BadText{};
  }
  const char* home = std::string(row.type) == "path" && text.compare(0, 2, "~/") == 0 ? std::getenv("HOME") : nullptr;
  *out = home ? home + text.substr(1) : text;
}

void Parse(const Row& row, const std::string& text, std::vector<int>* out) {
  for (const std::string& part : Split(text, ',')) {
    int64_t number = 0;
    if (!ToInteger(part, &number) || number < 0 || number > INT_MAX) throw BadText{};
    out->push_back(static_cast<int>(number));
  }
}

std::string Print(bool value) { return value ? "1" : "0"; }
std::string Print(int64_t value) { return std::to_string(value); }
std::string Print(int value) { return std::to_string(value); }
std::string Print(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}
std::string Print(const std::string& value) { return value; }
std::string Print(const std::vector<int>& value) {
  std::string out;
  for (int v : value) out += (out.empty() ? "" : ",") + std::to_string(v);
  return out;
}

std::string IndexedValue(const std::vector<std::string>& values, const std::string& name) {
  for (size_t i = 0; i < values.size(); ++i)
    if (name == kTable[i].name) return values[i];
  MXNET_THROW(Generic) << "[environment] a default refers to " << name << "; accepted: a variable further up in the table";
}

template <typename T>
void Fill(const Row& row, const Settings& settings, T* member, Snapshot* out) {
  std::string text, source = "default";
  auto found = settings.find(row.name);
  for (const Alias& alias : kAliases) {
    if (found == settings.end() && std::string(alias.newer) == row.name) {
      found = settings.find(alias.older);
      if (found != settings.end()) source = std::string("alias ") + alias.older;
    }
  }
  const std::string given = found != settings.end() ? found->first : row.name;
  if (found != settings.end()) {
    text = found->second.text;
    if (source == "default") source = found->second.source;
  } else if (row.default_value[0] == '=') {
    text = IndexedValue(out->values, row.default_value + 2);
  } else {
    text = row.default_value;
  }
  try {
    Parse(row, text, member);
  } catch (const BadText&) {
    BadValue(row, given, text);
  }
  out->values.push_back(Print(*member));
  out->sources.push_back(source);
}

std::unique_ptr<Snapshot> Build(const Settings& settings) {
  auto out = std::make_unique<Snapshot>();
  const Row* row = kTable;
#define MXNET_ENV(member, ...) Fill(*row++, settings, &out->env.member, out.get());
#include "mxnet/env_table.inc"
#undef MXNET_ENV
  return out;
}

// People drop the end of a name more often than its beginning, so a common beginning counts half an
// edit per character.
std::string NearestName(const std::string& name) {
  std::string best;
  int64_t lowest = INT64_MAX;
  std::vector<std::string> known;
  for (const Row& row : kTable) known.push_back(row.name);
  for (const Alias& alias : kAliases) known.push_back(alias.older);
  for (const std::string& candidate : known) {
    const size_t length = std::min(name.size(), candidate.size());
    const auto common = std::mismatch(name.begin(), name.begin() + length, candidate.begin()).first - name.begin();
    const int64_t score = 2 * static_cast<int64_t>(EditDistance(name, candidate)) - common;
    if (score < lowest) lowest = score, best = candidate;
  }
  return best;
}

void RequireKnown(const std::string& name) {
  MXNET_CHECK_KIND(Known(name), Value) << "[environment] unknown variable " << name << "; nearest name: " << NearestName(name);
}

void WarnRetired() {
  LogWarning(std::string("[environment] ") + kRetired +
             " has no effect: NNPACK is retired. CPU convolutions run in oneDNN; "
             "OMP_NUM_THREADS sets the threads of an operator");
}

/* The variables as they were at load plus what Set() changed. */
class Environment {
 public:
  // `published` is where readers look; the first call names it.
  static Environment* Get(std::atomic<const Env*>* published) {
    static Environment* instance = new Environment(published);  // never destroyed: threads may read until the process is gone
    return instance;
  }

  // Throws the error that was found at load.
  void CheckLoaded() const {
    if (!load_error_.empty()) throw Error(Error::Kind::kValue, load_error_);
  }

  void Set(const std::string& name, const std::string& value) {
    RequireKnown(name);
    std::lock_guard<std::mutex> lock(mutex_);
    CheckLoaded();
    Settings settings = settings_;
    const std::string text = Trim(value);
    if (text.empty()) {
      settings.erase(name);
    } else {
      settings[name] = {text, "set_env"};
    }
    std::unique_ptr<Snapshot> next = Build(settings);
    for (size_t i = 0; i < next->values.size(); ++i) {
      MXNET_CHECK_KIND(kTable[i].change == kLive || next->values[i] == current_->values[i], Value)
          << "[environment] " << name << " is fixed after start, at '" << current_->values[i] << "', and cannot become '" << next->values[i]
          << "'; accepted: export it before the process starts";
    }
    if (name == kRetired && !text.empty()) WarnRetired();
    settings_ = std::move(settings);
    Publish(std::move(next));
  }

  std::vector<EnvInfo> List() {
    std::lock_guard<std::mutex> lock(mutex_);
    CheckLoaded();
    std::vector<EnvInfo> out;
    for (size_t i = 0; i < current_->values.size(); ++i) {
      const Row& row = kTable[i];
      out.push_back({row.name, row.group, row.type, row.default_value, row.accepted, row.help, current_->values[i], current_->sources[i],
                     row.change == kFixed});
      for (const Alias& alias : kAliases) {
        if (row.name != std::string(alias.newer) || FindRow(alias.older) != nullptr) continue;
        const auto given = settings_.find(alias.older);
        EnvInfo older = out.back();
        older.name = alias.older;
        older.help = std::string("Older name of ") + alias.newer + "; used when the newer one is not set.";
        older.source = given == settings_.end() ? "default" : given->second.source;
        out.push_back(older);
      }
    }
    return out;
  }

 private:
  explicit Environment(std::atomic<const Env*>* published) : published_(published) {
    for (const Row& row : kTable) Read(row.name);
    for (const Alias& alias : kAliases) Read(alias.older);
    try {
      Publish(Build(settings_));
    } catch (const Error& e) {
      load_error_ = e.what();
    }
    if (settings_.count(kRetired)) WarnRetired();
    WarnUnknown();
  }

  void Read(const char* name) {
    const char* text = std::getenv(name);
    if (text && !Trim(text).empty()) settings_[name] = {Trim(text), "environment"};
  }

  void Publish(std::unique_ptr<Snapshot> next) {
    std::string key;
    for (size_t i = 0; i < next->values.size(); ++i) key += next->values[i] + '\n' + next->sources[i] + '\n';
    std::unique_ptr<Snapshot>& kept = snapshots_[key];
    if (!kept) kept = std::move(next);
    current_ = kept.get();
    published_->store(&current_->env, std::memory_order_release);
    detail::g_parallel_size.store(current_->env.cpu_parallel_size, std::memory_order_relaxed);
  }

  static void WarnUnknown() {
    for (char** entry = environ; entry && *entry; ++entry) {
      const std::string name(*entry, std::string(*entry).find('='));
      const bool foreign = std::any_of(std::begin(kForeignPrefixes), std::end(kForeignPrefixes),
                                       [&](const std::string& prefix) { return name.compare(0, prefix.size(), prefix) == 0; });
      if (name.compare(0, 6, "MXNET_") != 0 || foreign || Known(name)) continue;
      const auto needless = std::find_if(std::begin(kNeedless), std::end(kNeedless), [&](const Needless& n) { return name == n.name; });
      if (needless != std::end(kNeedless)) {
        LogWarning("[environment] " + name + " has no effect: " + needless->why);
        continue;
      }
      const std::string nearest = NearestName(name);
      const bool alike = 3 * EditDistance(name, nearest) <= name.size();
      LogWarning("[environment] " + name + " is not a variable of this library and has no effect" +
                 (alike ? "; nearest name: " + nearest : "; docs/env_var.md lists those that have one"));
    }
  }

  std::atomic<const Env*>* const published_;
  std::mutex mutex_;
  // Guarded by mutex_, except load_error_, which does not change after construction.
  Settings settings_;
  std::map<std::string, std::unique_ptr<Snapshot>> snapshots_;
  Snapshot* current_ = nullptr;
  std::string load_error_;
};

}  // namespace

const Env& Env::GetSlow() {
  Environment::Get(&current_)->CheckLoaded();
  return *current_.load(std::memory_order_acquire);
}

void Env::Set(const std::string& name, const std::string& value) { Environment::Get(&current_)->Set(name, value); }

std::vector<EnvInfo> Env::List() { return Environment::Get(&current_)->List(); }

EnvInfo Env::Info(const std::string& name) {
  RequireKnown(name);
  for (const EnvInfo& info : List())
    if (info.name == name) return info;
  MXNET_THROW(Generic) << "[environment] " << name << " has no row";
}

// Environment may be under construction by the thread that asks, so only what is already published
// counts.
int StackTraceDepth() {
  const Env* env = Env::Peek();
  return env ? env->dmlc_log_stack_trace_depth : 0;
}

namespace {
// Reads the environment at load, so that warnings come then and threads find it ready. The error,
// if any, is kept.
const bool g_loaded = [] {
  try {
    Env::Get();
  } catch (const Error&) {
    return false;
  }
  return true;
}();
}  // namespace

}  // namespace mxnet
