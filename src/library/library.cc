// Opening users' libraries, and what all of them have brought.
#include "library/library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <mutex>
#include <vector>

#include "base/threads/fork_guard.h"
#include "mxnet/op.h"
#include "operator/record/registry.h"

namespace mxnet {
namespace library {
namespace {

struct Backend {
  std::shared_ptr<const Library> library;
  size_t index;
  bool is_pass;
};

struct Known {
  ForkMutex mutex{ForkLevel::kCaller};
  std::map<std::string, std::shared_ptr<const Library>> by_path;
  std::map<std::string, Backend> backends;
  static Known* Get() {
    static Known* known = new Known;
    return known;
  }
};

std::string Loader() {
  const char* why = dlerror();
  return why ? why : "no reason is known";
}

std::string FullPath(const std::string& path) {
  char full[PATH_MAX];
  MXNET_CHECK(realpath(path.c_str(), full) != nullptr) << "[library] load path " << path << " does NOT exist";
  return full;
}

/* One that was compiled against the header of another MXNet tells its version by a function of its
 * own. */
void RefuseOtherHeader(const std::string& path, void* handle) {
  std::string what = "it has no function mxnet_ext_library";
  if (void* version = dlsym(handle, "_opVersion"))
    what = "it was compiled against a lib_api.h of version " + std::to_string(reinterpret_cast<int (*)()>(version)());
  MXNET_THROW(Generic) << "[library] " << path << " is no library of operators for this runtime: " << what
                       << "; accepted: one compiled against mxnet/lib_api.h of version " << MX_LIBRARY_VERSION
                       << " (mx.libinfo.find_include_path())";
}

/* dlopen maps what the headers tell of, and touches it: beyond the end of a file that was cut short
 * the process would get SIGBUS. Whatever else is wrong with a file is left to dlopen. */
void RefuseShortFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const uint64_t size = file ? static_cast<uint64_t>(file.tellg()) : 0;
  ElfW(Ehdr) header;
  if (size < sizeof(header) || size > INT64_MAX) return;
  file.seekg(0).read(reinterpret_cast<char*>(&header), sizeof(header));
  if (!file || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr))) return;
  std::vector<ElfW(Phdr)> parts(header.e_phnum);
  file.seekg(static_cast<std::streamoff>(header.e_phoff)).read(reinterpret_cast<char*>(parts.data()), parts.size() * sizeof(parts[0]));
  uint64_t needed = file ? 0 : uint64_t{header.e_phoff} + parts.size() * sizeof(parts[0]);
  for (const auto& part : parts)
    if (part.p_type == PT_LOAD) needed = std::max(needed, uint64_t{part.p_offset} + part.p_filesz);
  MXNET_CHECK(needed <= size) << "[library] Error loading library: " << path << ": the file is cut short: it has " << size
                              << " bytes, and its headers tell of " << needed;
}

std::shared_ptr<Library> Open(const std::string& path) {
  RefuseShortFile(path);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  MXNET_CHECK(handle != nullptr) << "[library] Error loading library: " << path << ": " << Loader();
  const auto function = reinterpret_cast<MXExtLibraryFunction>(dlsym(handle, "mxnet_ext_library"));
  if (!function) RefuseOtherHeader(path, handle);
  auto library = std::make_shared<Library>();
  library->path = path;
  library->table = function();
  MXNET_CHECK(library->table != nullptr && library->table->version == MX_LIBRARY_VERSION &&
              library->table->table_bytes == sizeof(MXExtLibrary))
      << "[library] " << path << " was compiled against a lib_api.h of version " << (library->table ? library->table->version : 0)
      << "; accepted: version " << MX_LIBRARY_VERSION << ", that of this runtime";
  MXNET_CHECK(library->table->initialize(MXNET_VERSION))
      << "[library] Library failed to initialize: " << path << " refuses version " << MXNET_VERSION << " of the runtime" << Why(*library);
  return library;
}

void AddBackends(const std::shared_ptr<const Library>& library, std::map<std::string, Backend>* backends) {
  const MXExtLibrary& t = *library->table;
  const auto add = [&](const char* name, size_t index, bool is_pass) {
    MXNET_CHECK(backends->emplace(name, Backend{library, index, is_pass}).second)
        << "[library] " << library->path << " brings a partitioner or pass " << name << "; there is one of that name";
  };
  for (size_t p = 0; p < t.num_partitioners(); ++p) {
    add(t.partitioner_name(p), p, false);
    MXNET_CHECK(t.num_strategies(p) > 0) << "[library] the partitioner " << t.partitioner_name(p)
                                         << " has no strategy; accepted: addStrategy";
    for (size_t s = 0; s < t.num_strategies(p); ++s) {
      const char *name, *op;
      int has_selector;
      t.strategy(p, s, &name, &op, &has_selector);
      MXNET_CHECK(op[0] != '\0') << "[library] the strategy " << name << " of the partitioner " << t.partitioner_name(p)
                                 << " was not added; accepted: addStrategy before its functions are set";
    }
  }
  for (size_t p = 0; p < t.num_passes(); ++p) add(t.pass_name(p), p, true);
}

void Tell(const Library& library, const std::vector<std::string>& ops) {
  const MXExtLibrary& t = *library.table;
  std::cout << "Loaded library " << library.path << ":";
  for (const auto& name : ops) std::cout << " operator " << name << ",";
  for (size_t p = 0; p < t.num_partitioners(); ++p) std::cout << " partitioner " << t.partitioner_name(p) << ",";
  for (size_t p = 0; p < t.num_passes(); ++p) std::cout << " pass " << t.pass_name(p) << ",";
  std::cout << " " << ops.size() + t.num_partitioners() + t.num_passes() << " in all" << std::endl;
}

}  // namespace

std::string Why(const Library& library) {
  const std::string why = library.table->error();
  return why.empty() ? "" : ": " + why;
}

void Load(const std::string& given, bool verbose) {
  const std::string path = FullPath(given);
  Known* known = Known::Get();
  std::lock_guard<ForkMutex> hold(known->mutex);
  if (known->by_path.count(path)) return;
  const std::shared_ptr<const Library> library = Open(path);
  std::map<std::string, Backend> backends = known->backends;
  AddBackends(library, &backends);
  std::vector<std::unique_ptr<Op>> records;
  std::vector<std::string> names;
  for (size_t i = 0; i < library->table->num_ops(); ++i) {
    const size_t first = records.size();
    MakeRecords(library, i, &records);
    names.push_back(records[first]->name);
  }
  AddOperators(std::move(records));
  known->backends = std::move(backends);
  known->by_path[path] = library;
  if (verbose) Tell(*library, names);
}

bool Knows(const std::string& backend) {
  Known* known = Known::Get();
  std::lock_guard<ForkMutex> hold(known->mutex);
  return known->backends.count(backend) > 0;
}

std::vector<std::string> Backends() {
  Known* known = Known::Get();
  std::lock_guard<ForkMutex> hold(known->mutex);
  std::vector<std::string> names;
  for (const auto& kv : known->backends) names.push_back(kv.first);
  return names;
}

Rewritten Rewrite(const std::string& name, const Request& request) {
  Backend backend;
  {
    Known* known = Known::Get();
    std::lock_guard<ForkMutex> hold(known->mutex);
    backend = known->backends.at(name);
  }
  return backend.is_pass ? RunPass(*backend.library, backend.index, request) : Partition(*backend.library, backend.index, request);
}

}  // namespace library
}  // namespace mxnet
