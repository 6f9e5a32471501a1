/*
 * Kernels live in source files (*.cuh) beside their operators. The build embeds the files
 * (cmake/KernelSources.cmake); NVRTC gets their text at run time, with #line directives, so that
 * its errors name the file and the line.
 */
#ifndef MXNET_RTC_SOURCE_H_
#define MXNET_RTC_SOURCE_H_

#include <cstdint>
#include <initializer_list>
#include <string>

#include "rtc/kernel.h"

namespace mxnet {
namespace rtc {

/* One embedded file. */
struct SourceFile {
  const char* name;  // below src, as #include names it: "operator/nn/loss/gpu_loss.cuh"
  const char* text;
};
/* All of them; a null name ends the list. The build writes it. */
extern const SourceFile kSourceFiles[];
/* Adds those that another program embeds, which ends with a null name too; `files` stay. */
bool AddSources(const SourceFile* files);

/* The text of a file behind the texts of the files that it includes, each of them once. Throws
 * Error(kGeneric) for a file that is not embedded. */
std::string Source(const std::string& file);
/* Several files, behind all that they include. */
std::string Source(std::initializer_list<const char*> files);

/* The arguments of a kernel's template, in their order. */
class TemplateArguments {
 public:
  /* The storage type of a dtype; -1 stands for int, where there is no array. */
  TemplateArguments& Type(int dtype);
  TemplateArguments& Type(const char* name) { return Put(name); }
  TemplateArguments& Value(int64_t value) { return Put(std::to_string(value) + (value > INT32_MAX || value < INT32_MIN ? "ll" : "")); }
  const std::string& text() const { return text_; }  // "<float, mx::half, 4>", or "" for none

 private:
  TemplateArguments& Put(const std::string& argument);
  std::string text_;
};

/* "1, 0, 16": several values as one text of LoopKernel::types. */
std::string Values(std::initializer_list<int64_t> values);
/* "kernels::NAME<arguments>", for the arguments of another template. */
std::string TypeText(const char* name, std::initializer_list<int> dtypes, std::initializer_list<int64_t> values = {});

/*
 * The kernel of the struct kernels::NAME<arguments> in that file: the entry point, called `entry`
 * or NAME too, calls its function Run(args) with at most `threads` threads in a block.
 */
const Kernel& FindKernel(const char* file, const std::string& name, const TemplateArguments& arguments, int threads = 256,
                         const char* entry = nullptr);

/* `extern "C" __global__ void NAME(const __grid_constant__ Kernel::Args a) { BODY }`. */
std::string EntryPoint(const std::string& name, const std::string& body, int threads = 256);

}  // namespace rtc
}  // namespace mxnet
#endif  // MXNET_RTC_SOURCE_H_
