/* NVRTC: texts go to the host's C++ compiler; the "machine code" is a shared library whose table of
 * kernels cuda_module.cc reads. */
#include <nvrtc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "../cpp/gpu/gpu_language.h"
#include "host_gpu.h"

struct _nvrtcProgram {
  std::string source, name, log, code, ptx;
  std::vector<std::string> expressions;  // whose mangled names are wanted
  std::map<std::string, std::string> mangled;
  bool compiled = false;
};

namespace {

// A launch has pointers to arguments; a kernel's type says how large each is.
const char* const kEntry = R"TEXT(
static void* const* emu_pointers;
template <auto F> struct EmuKernel;
template <typename... A, void (*F)(A...)> struct EmuKernel<F> {
  template <size_t... I> struct List {};
  template <size_t N, size_t... I> struct Count : Count<N - 1, N - 1, I...> {};
  template <size_t... I> struct Count<0, I...> { typedef List<I...> Type; };
  template <typename T> struct Plain { typedef T Type; };
  template <typename T> struct Plain<const T> { typedef T Type; };
  template <size_t... I> static void Call(List<I...>) { F(*static_cast<typename Plain<A>::Type*>(emu_pointers[I])...); }
  static void Thread() { Call(typename Count<sizeof...(A)>::Type()); }
  static constexpr int kCount = sizeof...(A);
  static constexpr size_t kSizes[sizeof...(A) + 1] = {sizeof(A)..., 0};
  static int Run(void* const* pointers, const unsigned* grid, const unsigned* block, char* dynamic) {
    emu_pointers = pointers;
    emu_dynamic = dynamic;
    return emu_run(Thread, grid, block);
  }
};
struct EmuEntry { const char* name; int count; const size_t* sizes; int (*run)(void* const*, const unsigned*, const unsigned*, char*); };
)TEXT";

bool Known(const std::string& option) {
  static const char* const kKnown[] = {"--gpu-architecture",
                                       "-arch",
                                       "--std",
                                       "-std",
                                       "-D",
                                       "--define-macro",
                                       "-I",
                                       "--include-path",
                                       "--use_fast_math",
                                       "-use_fast_math",
                                       "--fmad",
                                       "-fmad",
                                       "--device-as-default-execution-space",
                                       "-default-device",
                                       "-w",
                                       "--disable-warnings",
                                       "-lineinfo",
                                       "--generate-line-info",
                                       "--ftz",
                                       "--prec-div",
                                       "--prec-sqrt",
                                       "--maxrregcount",
                                       "--extra-device-vectorization"};
  for (const char* k : kKnown)
    if (option.compare(0, std::strlen(k), k) == 0) return true;
  return false;
}

std::string Quoted(const std::string& s) {
  std::string q = "'";
  for (char c : s) q += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return q + "'";
}

bool ReadAll(const std::string& path, std::string* out) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  std::ostringstream all;
  all << in.rdbuf();
  *out = all.str();
  return true;
}

nvrtcResult Build(nvrtcProgram p, const std::vector<std::string>& options) {
  std::string body = p->source, flags;
  body = std::regex_replace(body, std::regex("extern\\s+__shared__\\s+([A-Za-z_][A-Za-z_0-9 ]*?)\\s+([A-Za-z_0-9]+)\\s*\\[\\s*\\]"),
                            "$1* $2 = reinterpret_cast<$1*>(emu_dynamic)");
  std::string table, entries;  // the second as PTX names them
  int count = 0;
  const std::regex kernel(
      "extern\\s+\"C\"\\s+__global__\\s+void\\s+(?:__launch_bounds__\\s*\\([^)]*\\)\\s*)?([A-Za-z_][A-Za-z_0-9]*)\\s*\\(");
  for (std::sregex_iterator i(body.begin(), body.end(), kernel), end; i != end; ++i, ++count) {
    entries += ".visible .entry " + (*i)[1].str() + "(\n";
    table += "{\"" + (*i)[1].str() + "\", EmuKernel<" + (*i)[1].str() + ">::kCount, EmuKernel<" + (*i)[1].str() + ">::kSizes, EmuKernel<" +
             (*i)[1].str() + ">::Run}, ";
  }
  for (const std::string& expression : p->expressions) {
    const std::string name = expression[0] == '&' ? expression.substr(1) : expression, mangled = "_Zemu" + std::to_string(count);
    p->mangled[expression] = mangled;
    table += "{\"" + mangled + "\", EmuKernel<" + name + ">::kCount, EmuKernel<" + name + ">::kSizes, EmuKernel<" + name + ">::Run}, ";
    ++count;
  }
  if (count == 0) table = "{0, 0, 0, 0}";
  for (size_t i = 0; i < options.size(); ++i) {
    const std::string& o = options[i];
    if (!Known(o)) {
      p->log = "nvrtc: error: unrecognized option " + o + " found";
      return NVRTC_ERROR_INVALID_OPTION;
    }
    const size_t equals = o.find('=');
    if (o.compare(0, 2, "-D") == 0 || o.compare(0, 2, "-I") == 0)
      flags += " " + Quoted(o);
    else if (o.compare(0, 14, "--define-macro") == 0 && equals != std::string::npos)
      flags += " " + Quoted("-D" + o.substr(equals + 1));
    else if (o.compare(0, 14, "--include-path") == 0 && equals != std::string::npos)
      flags += " " + Quoted("-I" + o.substr(equals + 1));
  }
  char made[] = "/tmp/host_gpu_XXXXXX";
  if (!mkdtemp(made)) return NVRTC_ERROR_INTERNAL_ERROR;
  const std::string folder = made, stem = folder + "/text";
  std::ofstream(stem + ".cc") << mxnet::kDeviceLanguage << mxnet::kDeviceHalf << "static char* emu_dynamic;\n#line 1 \"" << p->name
                              << "\"\n"
                              << body << "\n"
                              << kEntry << "extern \"C\" __attribute__((visibility(\"default\"))) EmuEntry emu_kernels[] = {" << table
                              << "};\n"
                              << "extern \"C\" __attribute__((visibility(\"default\"))) int emu_kernel_count = " << count << ";\n";
  const std::string command =
      "env -u LD_PRELOAD c++ -std=c++17 -O1 -w -fwrapv -fno-strict-aliasing -ffp-contract=off -fvisibility=hidden -shared -fPIC -s" +
      flags + " -o " + stem + ".so " + stem + ".cc -lm 2> " + stem + ".log";
  const int status = std::system(command.c_str());
  ReadAll(stem + ".log", &p->log);
  const bool ok = status == 0 && ReadAll(stem + ".so", &p->code);
  p->ptx = ".version 9.0\n" + entries + p->code;
  if (!std::getenv("HOST_GPU_KEEP")) {
    for (const char* ending : {".cc", ".so", ".log"}) std::remove((stem + ending).c_str());
    rmdir(folder.c_str());
  }
  return ok ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

nvrtcResult Give(const std::string& text, char* to) {
  if (!to) return NVRTC_ERROR_INVALID_INPUT;
  std::memcpy(to, text.data(), text.size());
  return NVRTC_SUCCESS;
}

}  // namespace

extern "C" {

nvrtcResult nvrtcVersion(int* major, int* minor) {  // no version that the disk cache could mistake for a real one
  *major = 1;
  *minor = 9;
  return NVRTC_SUCCESS;
}
const char* nvrtcGetErrorString(nvrtcResult result) {
  return result == NVRTC_SUCCESS                ? "NVRTC_SUCCESS"
         : result == NVRTC_ERROR_COMPILATION    ? "NVRTC_ERROR_COMPILATION"
         : result == NVRTC_ERROR_INVALID_OPTION ? "NVRTC_ERROR_INVALID_OPTION"
                                                : "NVRTC_ERROR";
}
nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  *count = 3;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetSupportedArchs(int* known) {
  known[0] = 75, known[1] = 90, known[2] = 121;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int headers, const char* const*,
                               const char* const*) {
  if (!program || !source || headers < 0) return NVRTC_ERROR_INVALID_INPUT;
  *program = new _nvrtcProgram;
  (*program)->source = source;
  (*program)->name = name && *name ? name : "default_program";
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (!program || !*program) return NVRTC_ERROR_INVALID_PROGRAM;
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcAddNameExpression(nvrtcProgram p, const char* name) {
  if (!p || !name || !*name) return NVRTC_ERROR_INVALID_INPUT;
  if (p->compiled) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  p->expressions.push_back(name);
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int count, const char* const* options) {
  if (!p || p->compiled) return NVRTC_ERROR_INVALID_PROGRAM;
  p->compiled = true;
  return Build(p, std::vector<std::string>(options, options + count));
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram p, size_t* bytes) {
  *bytes = p->log.size() + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram p, char* log) {
  std::memcpy(log, p->log.c_str(), p->log.size() + 1);
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, size_t* bytes) {
  *bytes = p->code.size();
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char* code) { return Give(p->code, code); }
nvrtcResult nvrtcGetPTXSize(nvrtcProgram p, size_t* bytes) {
  *bytes = p->ptx.size();
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetPTX(nvrtcProgram p, char* code) { return Give(p->ptx, code); }
nvrtcResult nvrtcGetLoweredName(nvrtcProgram p, const char* expression, const char** name) {
  if (!p || !p->compiled) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  const auto found = p->mangled.find(expression);
  if (found == p->mangled.end()) return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
  *name = found->second.c_str();
  return NVRTC_SUCCESS;
}

}  // extern "C"
