// Options of set_config: one table of names, what is accepted, and where the value goes.
#include <cmath>
#include <cstdlib>

#include "mxnet/error.h"
#include "mxnet/profiler.h"

namespace mxnet {
namespace profiler {
namespace {

bool Bool(const std::string& v, bool* out) {
  const bool yes = v == "1" || v == "True" || v == "true", no = v == "0" || v == "False" || v == "false";
  *out = yes;
  return yes || no;
}

bool Text(const std::string& v, std::string* out) {
  *out = v;
  return true;
}

struct Option {
  const char* name;
  const char* accepted;
  bool (*set)(Config*, const std::string& value);  // false: not accepted
};

const char kBool[] = "True or False";
const Option kOptions[] = {
    {"profile_all", kBool, [](Config* c, const std::string& v) { return Bool(v, &c->profile_all); }},
    {"profile_symbolic", kBool, [](Config* c, const std::string& v) { return Bool(v, &c->profile_symbolic); }},
    {"profile_imperative", kBool, [](Config* c, const std::string& v) { return Bool(v, &c->profile_imperative); }},
    {"profile_memory", kBool, [](Config* c, const std::string& v) { return Bool(v, &c->profile_memory); }},
    {"profile_api", kBool, [](Config* c, const std::string& v) { return Bool(v, &c->profile_api); }},
    {"filename", "the path of a file", [](Config* c, const std::string& v) { return Text(v, &c->filename) && !v.empty(); }},
    {"continuous_dump", kBool, [](Config* c, const std::string& v) { return Bool(v, &c->continuous_dump); }},
    {"dump_period", "seconds, above 0",
     [](Config* c, const std::string& v) {
       char* end = nullptr;
       c->dump_period = std::strtod(v.c_str(), &end);
       return !v.empty() && *end == 0 && std::isfinite(c->dump_period) && c->dump_period > 0 && c->dump_period < 1e9;
     }},
    {"aggregate_stats", kBool, [](Config* c, const std::string& v) { return Bool(v, &c->aggregate_stats); }},
    {"gpu_memory_profile_filename_prefix", "the beginning of a path, or nothing",
     [](Config* c, const std::string& v) { return Text(v, &c->gpu_memory_profile_filename_prefix); }},
    {"profile_process", "worker, server",
     [](Config* c, const std::string& v) {
       c->server = v == "server";
       return c->server || v == "worker";
     }},
};

}  // namespace

MXNET_DLL Config ParseConfig(int num, const char* const* keys, const char* const* values) {
  Config config;
  for (int i = 0; i < num; ++i) {
    const std::string key = keys[i];
    const Option* found = nullptr;
    std::string names;
    for (const Option& o : kOptions) {
      if (key == o.name) found = &o;
      names += std::string(names.empty() ? "" : ", ") + o.name;
    }
    MXNET_CHECK_KIND(found != nullptr, Value) << "[profiler] set_config has no option '" << key << "'; accepted: " << names;
    MXNET_CHECK_KIND(found->set(&config, values[i]), Value)
        << "[profiler] set_config got " << key << "='" << values[i] << "'; accepted: " << found->accepted;
  }
  return config;
}

}  // namespace profiler
}  // namespace mxnet
