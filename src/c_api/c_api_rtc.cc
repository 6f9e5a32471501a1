// Users' own CUDA kernels through C.
#include <memory>

#include "c_api/c_api_common.h"
#include "rtc/body_kernel.h"
#include "rtc/user_module.h"

using namespace mxnet;  // NOLINT

namespace {

using ModulePtr = std::shared_ptr<rtc::UserModule>;  // kernels keep their module

template <typename T>
T* As(void* handle, const char* what) {
  MXNET_CHECK_KIND(handle != nullptr, Value) << "[rtc] got a null handle; accepted: " << what;
  return static_cast<T*>(handle);
}

rtc::LaunchShape ShapeOf(const uint32_t (&grid)[3], const uint32_t (&block)[3]) {
  rtc::LaunchShape shape;
  for (int k = 0; k < 3; ++k) {
    shape.grid[k] = grid[k];
    shape.block[k] = block[k];
  }
  return shape;
}

std::vector<const NDArray*> Arrays(uint32_t count, NDArrayHandle* handles) {
  std::vector<const NDArray*> arrays;
  for (NDArray* a : AsNDArrays(handles, count)) arrays.push_back(WithMemory(a));
  return arrays;
}

std::vector<rtc::BodyArgument> BodyArguments(uint32_t count, char** names, NDArrayHandle* handles) {
  NeedTexts(count, names, "arrays' names");
  const std::vector<const NDArray*> arrays = Arrays(count, handles);
  std::vector<rtc::BodyArgument> arguments;
  for (uint32_t i = 0; i < count; ++i) arguments.push_back({names[i], arrays[i]->shape(), arrays[i]->dtype()});
  return arguments;
}

std::vector<std::string> Texts(int count, const char** texts, const char* what) {
  NeedTexts(count, texts, what);
  return std::vector<std::string>(texts, texts + count);
}

}  // namespace

int MXRtcCudaModuleCreate(const char* source, int num_options, const char** options, int num_exports, const char** exports,
                          CudaModuleHandle* out) {
  API_BEGIN(out);
  MXNET_CHECK_KIND(source != nullptr, Value) << "[rtc] the source is NULL; accepted: a text";
  *out = new ModulePtr(
      std::make_shared<rtc::UserModule>(source, Texts(num_options, options, "options"), Texts(num_exports, exports, "exports")));
  API_END();
}

int MXRtcCudaModuleFree(CudaModuleHandle handle) {
  API_BEGIN();
  delete static_cast<ModulePtr*>(handle);
  API_END();
}

int MXRtcCudaKernelCreate(CudaModuleHandle handle, const char* name, int num_args, int* is_ndarray, int* is_const, int* arg_types,
                          CudaKernelHandle* out) {
  API_BEGIN(out);
  MXNET_CHECK_KIND(name && num_args >= 0 && (num_args == 0 || (is_ndarray && is_const && arg_types)), Value)
      << "[rtc] a pointer is null or the number of arguments negative (" << num_args
      << "); accepted: a name, three arrays of num_args entries";
  std::vector<rtc::UserArgument> arguments(num_args);
  for (int i = 0; i < num_args; ++i) arguments[i] = {is_ndarray[i] != 0, is_const[i] != 0, arg_types[i]};
  *out = new rtc::UserKernel(*As<ModulePtr>(handle, "a module"), name, std::move(arguments));
  API_END();
}

int MXRtcCudaKernelFree(CudaKernelHandle handle) {
  API_BEGIN();
  delete static_cast<rtc::UserKernel*>(handle);
  API_END();
}

int MXRtcCudaKernelCall(CudaKernelHandle handle, int dev_id, void** args, uint32_t grid_dim_x, uint32_t grid_dim_y, uint32_t grid_dim_z,
                        uint32_t block_dim_x, uint32_t block_dim_y, uint32_t block_dim_z, uint32_t shared_mem) {
  API_BEGIN();
  rtc::LaunchShape shape = ShapeOf({grid_dim_x, grid_dim_y, grid_dim_z}, {block_dim_x, block_dim_y, block_dim_z});
  shape.shared_bytes = shared_mem;
  As<rtc::UserKernel>(handle, "a kernel")->Launch(dev_id, args, shape);
  API_END();
}

int MXRtcCreate(char* name, uint32_t num_input, uint32_t num_output, char** input_names, char** output_names, NDArrayHandle* inputs,
                NDArrayHandle* outputs, char* kernel, RtcHandle* out) {
  API_BEGIN(out);
  *out = new rtc::BodyKernel(Text(name, "the kernel's name"), BodyArguments(num_input, input_names, inputs),
                             BodyArguments(num_output, output_names, outputs), Text(kernel, "the kernel's body"));
  API_END();
}

int MXRtcPush(RtcHandle handle, uint32_t num_input, uint32_t num_output, NDArrayHandle* inputs, NDArrayHandle* outputs, uint32_t gridDimX,
              uint32_t gridDimY, uint32_t gridDimZ, uint32_t blockDimX, uint32_t blockDimY, uint32_t blockDimZ) {
  API_BEGIN();
  As<rtc::BodyKernel>(handle, "what MXRtcCreate gave")
      ->Launch(Arrays(num_input, inputs), Arrays(num_output, outputs),
               ShapeOf({gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}));
  API_END();
}

int MXRtcFree(RtcHandle handle) {
  API_BEGIN();
  delete static_cast<rtc::BodyKernel*>(handle);
  API_END();
}
