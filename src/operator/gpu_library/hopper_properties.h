/* An H200 in numbers, as CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION wants them: cuDNN can be asked
 * about it where there is none. */
#ifndef MXNET_OPERATOR_GPU_LIBRARY_HOPPER_PROPERTIES_H_
#define MXNET_OPERATOR_GPU_LIBRARY_HOPPER_PROPERTIES_H_

namespace mxnet {
namespace gpu_library {

inline constexpr char kHopperProperties[] =
    R"({"deviceName": "NVIDIA H200", "cudaDeviceId": 0, "deviceVer": 900, "multiProcessorCount": 132, "driverVer": 13000, "maxSharedMemoryPerBlockOptin": 232448,
"totalGlobalMem": 150000000000, "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536, "smClockRateKHz": 1980000,
"memClockRateKHz": 3201000, "l2CacheSize": 62914560, "warpSize": 32, "maxSharedMemoryPerBlock": 49152, "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536,
"pciDeviceId": 0, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "isTccDriver": 0, "supportCoopLaunch": 1})";

}  // namespace gpu_library
}  // namespace mxnet
#endif  // MXNET_OPERATOR_GPU_LIBRARY_HOPPER_PROPERTIES_H_
