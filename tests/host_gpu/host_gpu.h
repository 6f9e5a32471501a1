/*
 * A GPU made of the host: the functions of the CUDA runtime, NVRTC, cuBLASLt and cuDNN that
 * libmxnet.so calls, in one library for LD_PRELOAD. With it a CUDA build runs whole on a machine
 * without a GPU, Python package and scripts included: kernels are compiled for the host, libraries
 * compute on the host, streams are threads that are late, and calls are held to the interface's
 * rules (what a capture allows, launch limits, handles that exist). Slow: for finding errors, not
 * for figures, except HOST_GPU_MODE=null, where nothing is computed and what remains is the host's
 * own time.
 *
 *   HOST_GPU_MODE     run (default) or null: launches, copies between host and device and library
 *                     calls do nothing
 *   HOST_GPU_DEVICES  how many GPUs there are (default 1)
 *   HOST_GPU_SHARED   1: processes of a job have the same GPUs, else each its own
 *   HOST_GPU_MEMORY   MiB of each (default 4096)
 *   HOST_GPU_LATE     N: streams rest up to N microseconds before each piece of work
 *   HOST_GPU_COUNT    1: how often each function was called, at the process's end
 *   HOST_GPU_REPORT   file that broken rules are added to (test runners keep standard error to
 *                     themselves)
 *   HOST_GPU_CUDNN_REFUSE, HOST_GPU_CUBLASLT_REFUSE, HOST_GPU_NCCL_REFUSE  what the libraries
 *   refuse (libraries.h) HOST_GPU_CUDNN_GRAPHS  file that graphs are added to, for
 *   judge/cudnn_judge.cc
 *   HOST_GPU_FAULT    part of a kernel's name: such kernels end with an illegal address, and with
 *                     them the use of every device
 *   HOST_GPU_GUARD    1: memory of devices cannot be touched by the host while no kernel runs
 */
#ifndef MXNET_TESTS_HOST_GPU_HOST_GPU_H_
#define MXNET_TESTS_HOST_GPU_HOST_GPU_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

namespace host_gpu {

/* Puts work behind what is on the stream; while the stream is captured it becomes a node of the
 * graph instead. `kind` (static text) is for messages and printed graphs. The work may touch memory
 * of devices; it must not throw, nor call CUDA. */
cudaError_t Submit(cudaStream_t stream, const char* kind, std::function<void()> work);

/* HOST_GPU_MODE=null. */
bool NullMode();

/* Whether [p, p + bytes) lies in one living allocation of a device. */
bool OnDevice(const void* p, size_t bytes);

/* A rule that the caller broke, to stderr once for each text; Begins with "[host_gpu]", so that a
 * run can be searched for it. */
void Complain(const char* function, const char* text);

}  // namespace host_gpu
#endif  // MXNET_TESTS_HOST_GPU_HOST_GPU_H_
