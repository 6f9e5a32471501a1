#include "gpu_emulator.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/device/device_interface.h"
#include "gpu_language.h"
#include "mxnet/error.h"
#include "ndarray/run.h"
#include "rtc/kernel.h"

namespace mxnet {
namespace {

// Behind every kernel, in its namespace.
const char* const kRunner = R"TEXT(
template <typename A> static A emu_args_of(void (*)(A));
typedef decltype(emu_args_of(EMU_KERNEL)) EmuArgs;
static const EmuArgs* emu_args;
static void emu_thread() { EMU_KERNEL(*emu_args); }
static int emu_entry(const void* args, unsigned long bytes, const unsigned* grid, const unsigned* block) {
  if (bytes != sizeof(EmuArgs)) return 1;
  emu_args = static_cast<const EmuArgs*>(args);
  return ::emu_run(emu_thread, grid, block);
}
)TEXT";

using RunFn = int (*)(const void*, unsigned long, const unsigned*, const unsigned*);
int g_launches = 0;
std::atomic<int> g_copies{0};  // copies run on several threads
std::mutex g_mutex;            // launches of several devices' workers take turns; guards what follows
std::map<const rtc::Kernel*, RunFn> g_built;
std::vector<const rtc::Kernel*> g_noted;

void Replace(std::string* text, const std::string& what, const std::string& by) {
  const size_t at = text->find(what);
  MXNET_CHECK(at != std::string::npos) << "[emulator] a kernel without `" << what.substr(0, 40) << "`";
  text->replace(at, what.size(), by);
}

// All noted kernels in one file, each with its prelude in a namespace of its own.
void BuildNoted() {
  std::string source = kDeviceLanguage, table;
  std::vector<const rtc::Kernel*> kernels;
  for (const rtc::Kernel* kernel : g_noted) {
    if (g_built.count(kernel)) continue;
    g_built[kernel] = nullptr;
    if (EmulatedDevice::check_text) EmulatedDevice::check_text(*kernel);
    const std::string space = "k" + std::to_string(kernels.size());
    std::string body = kernel->source;
    Replace(&body, "extern \"C\" __global__", "static");
    source += "namespace " + space + " {\n" + kDeviceHalf + body + "\n#define EMU_KERNEL " + kernel->name + "\n" + kRunner +
              "#undef EMU_KERNEL\n}\n";
    table += space + "::emu_entry, ";
    kernels.push_back(kernel);
  }
  g_noted.clear();
  if (kernels.empty()) return;
  source += "extern \"C\" int (*emu_table[])(const void*, unsigned long, const unsigned*, const unsigned*) = {" + table + "};\n";
  char name[] = "/tmp/mxnet_emulator_XXXXXX";
  MXNET_CHECK(mkdtemp(name)) << "[emulator] no temporary folder";
  const std::string folder = name, stem = folder + "/kernels";
  std::ofstream(stem + ".cc") << source;
  const std::string command =
      "c++ -std=c++17 -O0 -w -fwrapv -ffp-contract=off -shared -fPIC -o " + stem + ".so " + stem + ".cc -lm 2> " + stem + ".log";
  if (std::system(command.c_str()) != 0) {
    std::ifstream log(stem + ".log");
    std::string line, text;
    for (int i = 0; i < 30 && std::getline(log, line); ++i) text += line + "\n";
    MXNET_THROW(Generic) << "[emulator] " << stem << ".cc does not compile:\n" << text;
  }
  void* library = dlopen((stem + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  MXNET_CHECK(library) << "[emulator] " << dlerror();
  const RunFn* run = reinterpret_cast<const RunFn*>(dlsym(library, "emu_table"));
  for (size_t i = 0; i < kernels.size(); ++i) g_built[kernels[i]] = run[i];
  for (const char* ending : {".cc", ".so", ".log"}) std::remove((stem + ending).c_str());
  rmdir(folder.c_str());
}

void Note(const rtc::Kernel& kernel, const rtc::LaunchShape&, void*, size_t, const RunContext&) {
  std::lock_guard<std::mutex> lock(g_mutex);
  g_noted.push_back(&kernel);
}

void Run(const rtc::Kernel& kernel, const rtc::LaunchShape& shape, void* args, size_t bytes, const RunContext&) {
  std::lock_guard<std::mutex> lock(g_mutex);
  ++g_launches;
  if (!g_built.count(&kernel)) {
    g_noted.push_back(&kernel);
    BuildNoted();
  }
  const RunFn run = g_built.at(&kernel);
  MXNET_CHECK(run) << "[emulator] " << kernel.name << " was not compiled";
  const int status = run(args, bytes, shape.grid, shape.block);
  MXNET_CHECK(status == 0)
      << "[emulator] " << kernel.name << ": status " << status
      << " (1: the struct Args has another size than the arguments; 2: block shape; 4: threads of a block wait at different barriers)\n"
      << kernel.source;
}

void ReadNothing(const void*, void* dst, size_t bytes, const RunContext&) { std::memset(dst, 0, bytes); }
void Read(const void* src, void* dst, size_t bytes, const RunContext&) { std::memcpy(dst, src, bytes); }

const rtc::LaunchHooks kNote = {Note, ReadNothing}, kRun = {Run, Read};

void Copy(void* dst, Context, const void* src, Context, size_t bytes, void*) {
  ++g_copies;
  std::memcpy(dst, src, bytes);
}
const CopyHooks kCopies = {Copy};

}  // namespace

bool EmulatorAvailable() { return std::system("c++ --version > /dev/null 2>&1") == 0; }

EmulatedDevice::EmulatedDevice(Mode mode) {
  if (mode == EmulatedDevice::kRun) BuildNoted();
  before_ = GpuInterface().kernels.Set(mode == EmulatedDevice::kRun ? &mxnet::kRun : &kNote);
  copies_before_ = GpuInterface().copies.Set(&kCopies);
}
EmulatedDevice::~EmulatedDevice() {
  GpuInterface().kernels.Set(before_);
  GpuInterface().copies.Set(copies_before_);
}
void (*EmulatedDevice::check_text)(const rtc::Kernel&) = nullptr;
int EmulatedDevice::launches() { return g_launches; }
int EmulatedDevice::copies() { return g_copies; }

}  // namespace mxnet
