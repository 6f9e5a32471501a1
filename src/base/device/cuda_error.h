/* For files of the CUDA build alone. */
#ifndef MXNET_BASE_DEVICE_CUDA_ERROR_H_
#define MXNET_BASE_DEVICE_CUDA_ERROR_H_

#include <cuda_runtime_api.h>

#include <string>

namespace mxnet {

/* Faults of kernels: every later call on the device gets the same answer until the process ends. */
inline bool IsDeviceFault(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorAssert:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorECCUncorrectable: return true;
    default: return false;
  }
}

/* What CUDA says, and what a fault means for the program. */
inline std::string CudaErrorText(cudaError_t status) {
  std::string text = cudaGetErrorString(status);
  if (IsDeviceFault(status))
    text +=
        " (a kernel is at fault, of the operator that is named or of an earlier one: MXNET_ENGINE_TYPE=NaiveEngine tells which; this "
        "process cannot use the GPU any more)";
  return text;
}

}  // namespace mxnet
#endif  // MXNET_BASE_DEVICE_CUDA_ERROR_H_
