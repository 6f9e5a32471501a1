#include "rtc/source.h"

#include <cstring>
#include <set>
#include <vector>

#include "mxnet/error.h"
#include "rtc/prelude.h"

namespace mxnet {
namespace rtc {
namespace {

// Grows while the program starts, read only afterwards.
std::vector<const SourceFile*>& Tables() {
  static auto* tables = new std::vector<const SourceFile*>{kSourceFiles};
  return *tables;
}

const char* Find(const std::string& file) {
  for (const SourceFile* f : Tables())
    for (; f->name; ++f)
      if (file == f->name) return f->text;
  MXNET_THROW(Generic) << "[rtc] no kernel source " << file << "; accepted: the *.cuh files of src that the library was built with";
  return nullptr;
}

void Append(const std::string& file, std::set<std::string>* done, std::string* out) {
  if (!done->insert(file).second) return;
  static const char kInclude[] = "#include \"";
  auto mark = [&](int line) { *out += "#line " + std::to_string(line) + " \"src/" + file + "\"\n"; };
  const char* at = Find(file);
  mark(1);
  for (int line = 1; *at; ++line) {
    const char* end = std::strchr(at, '\n');
    const std::string text = end ? std::string(at, end + 1) : std::string(at) + "\n";
    at = end ? end + 1 : at + std::strlen(at);
    if (text.compare(0, sizeof(kInclude) - 1, kInclude) == 0) {
      const size_t begin = sizeof(kInclude) - 1;
      Append(text.substr(begin, text.find('"', begin) - begin), done, out);
      mark(line + 1);
    } else {
      *out += text;
    }
  }
}

}  // namespace

bool AddSources(const SourceFile* files) {
  Tables().push_back(files);
  return true;
}

std::string Source(std::initializer_list<const char*> files) {
  std::set<std::string> done;
  std::string out;
  for (const char* file : files) Append(file, &done, &out);
  return out;
}
std::string Source(const std::string& file) { return Source({file.c_str()}); }

TemplateArguments& TemplateArguments::Type(int dtype) { return Put(dtype < 0 ? "int" : StorageName(dtype)); }

TemplateArguments& TemplateArguments::Put(const std::string& argument) {
  if (text_.empty())
    text_ = "<";
  else
    text_.replace(text_.size() - 1, 1, ", ");
  text_ += argument + ">";
  return *this;
}

std::string Values(std::initializer_list<int64_t> values) {
  std::string text;
  for (int64_t v : values) text += (text.empty() ? "" : ", ") + std::to_string(v);
  return text;
}

std::string TypeText(const char* name, std::initializer_list<int> dtypes, std::initializer_list<int64_t> values) {
  TemplateArguments t;
  for (int d : dtypes) t.Type(d);
  for (int64_t v : values) t.Value(v);
  return std::string("kernels::") + name + t.text();
}

std::string EntryPoint(const std::string& name, const std::string& body, int threads) {
  return "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads) + ") " + name +
         "(const __grid_constant__ Kernel::Args a) { " + body + " }\n";
}

const Kernel& FindKernel(const char* file, const std::string& name, const TemplateArguments& arguments, int threads, const char* entry) {
  return FindKernel(name + arguments.text() + std::to_string(threads), [&](Kernel* k) {
    k->name = entry ? entry : name;
    k->source = Source(file) + "#line 1 \"" + k->name + "\"\ntypedef kernels::" + name + arguments.text() + " Kernel;\n" +
                EntryPoint(k->name, "Kernel::Run(a);", threads);
  });
}

}  // namespace rtc
}  // namespace mxnet
