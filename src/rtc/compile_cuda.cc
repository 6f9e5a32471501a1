#include <nvrtc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "mxnet/env.h"
#include "mxnet/error.h"
#include "rtc/cache.h"
#include "rtc/compile.h"

namespace mxnet {
namespace rtc {
namespace {

void Check(nvrtcResult result, const char* what, const std::string& name) {
  MXNET_CHECK(result == NVRTC_SUCCESS) << "[rtc] " << what << " of " << name << " failed: " << nvrtcGetErrorString(result);
}

struct ProgramHolder {
  nvrtcProgram program = nullptr;
  ~ProgramHolder() {
    if (program) nvrtcDestroyProgram(&program);
  }
};

std::string Log(nvrtcProgram program) {
  size_t bytes = 0;
  if (nvrtcGetProgramLogSize(program, &bytes) != NVRTC_SUCCESS || bytes < 2) return "";
  std::string log(bytes, '\0');
  if (nvrtcGetProgramLog(program, &log[0]) != NVRTC_SUCCESS) return "";
  log.resize(bytes - 1);
  return log;
}

// What the result depends on, as one text.
std::string KeyText(const CompileRequest& r) {
  int major = 0, minor = 0;
  nvrtcVersion(&major, &minor);
  std::ostringstream key;
  key << "nvrtc " << major << "." << minor << "\n" << r.architecture << "\n";
  for (const auto& o : r.options) key << "option " << o << "\n";
  for (const auto& n : r.names) key << "name " << n << "\n";
  key << r.source;
  return key.str();
}

// Mangled names come first, then the code: "N\nname\nmangled\n...code".
std::string Pack(const CompiledCode& c) {
  std::ostringstream out;
  out << c.mangled.size() << "\n";
  for (const auto& m : c.mangled) out << m.first << "\n" << m.second << "\n";
  return out.str() + c.code;
}

bool Unpack(const std::string& payload, CompiledCode* c) {
  std::istringstream in(payload);
  std::string line, name, mangled;
  if (!std::getline(in, line)) return false;
  const int count = std::atoi(line.c_str());
  for (int i = 0; i < count; ++i) {
    if (!std::getline(in, name) || !std::getline(in, mangled)) return false;
    c->mangled[name] = mangled;
  }
  const auto at = in.tellg();
  if (at < 0) return false;
  c->code = payload.substr(static_cast<size_t>(at));
  return !c->code.empty();
}

// The largest architecture that NVRTC knows and that is not above `number`.
int KnownArchitecture(int number) {
  int count = 0;
  Check(nvrtcGetNumSupportedArchs(&count), "asking for the architectures", "NVRTC");
  std::vector<int> known(static_cast<size_t>(std::max(count, 1)), 0);
  Check(nvrtcGetSupportedArchs(known.data()), "asking for the architectures", "NVRTC");
  int best = 0, oldest = known[0];
  for (int k : known) {
    if (k <= number) best = std::max(best, k);
    oldest = std::min(oldest, k);
  }
  MXNET_CHECK(best > 0) << "[rtc] a device of compute capability " << number / 10 << "." << number % 10 << "; accepted: " << oldest / 10
                        << "." << oldest % 10 << " or newer";
  return best;
}

}  // namespace

std::string CodeFor(int number) {
  const int known = KnownArchitecture(number);
  return (known == number ? "sm_" : "compute_") + std::to_string(known);
}

std::string PtxFor(int number) { return "compute_" + std::to_string(KnownArchitecture(number)); }

CompiledCode Compile(const CompileRequest& r) {
  ProgramHolder holder;
  Check(nvrtcCreateProgram(&holder.program, r.source.c_str(), r.name.c_str(), 0, nullptr, nullptr), "creation", r.name);
  for (const auto& n : r.names) Check(nvrtcAddNameExpression(holder.program, n.c_str()), "naming", r.name + " (" + n + ")");
  std::vector<std::string> options = {"--gpu-architecture=" + r.architecture};
  options.insert(options.end(), r.options.begin(), r.options.end());
  std::vector<const char*> pointers;
  for (const auto& o : options) pointers.push_back(o.c_str());
  const nvrtcResult result = nvrtcCompileProgram(holder.program, static_cast<int>(pointers.size()), pointers.data());
  const std::string log = Log(holder.program);
  if (Env::Get().rtc_verbose) {
    std::fprintf(stderr, "[rtc] %s for %s\n%s\n", r.name.c_str(), r.architecture.c_str(), r.source.c_str());
    if (!log.empty()) std::fprintf(stderr, "[rtc] log of %s\n%s\n", r.name.c_str(), log.c_str());
  }
  MXNET_CHECK(result == NVRTC_SUCCESS) << "[rtc] " << r.name << " does not compile for " << r.architecture << ": "
                                       << nvrtcGetErrorString(result) << "\n"
                                       << log;
  CompiledCode out;
  size_t bytes = 0;
  if (r.architecture.compare(0, 3, "sm_") == 0) {
    Check(nvrtcGetCUBINSize(holder.program, &bytes), "machine code", r.name);
    out.code.resize(bytes);
    Check(nvrtcGetCUBIN(holder.program, &out.code[0]), "machine code", r.name);
  } else {
    Check(nvrtcGetPTXSize(holder.program, &bytes), "PTX", r.name);
    out.code.resize(bytes);
    Check(nvrtcGetPTX(holder.program, &out.code[0]), "PTX", r.name);
  }
  for (const auto& n : r.names) {
    const char* mangled = nullptr;
    Check(nvrtcGetLoweredName(holder.program, n.c_str(), &mangled), "mangled name", r.name + " (" + n + ")");
    out.mangled[n] = mangled;
  }
  return out;
}

CompiledCode CompileCached(const CompileRequest& r, const std::string& given) {
  const std::string folder = given.empty() ? CacheFolder() : given, key = KeyText(r);
  std::string payload;
  CompiledCode out;
  if (CacheRead(folder, key, &payload) && Unpack(payload, &out)) return out;
  out = Compile(r);
  CacheWrite(folder, key, Pack(out));
  return out;
}

}  // namespace rtc
}  // namespace mxnet
