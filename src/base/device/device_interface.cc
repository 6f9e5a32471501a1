#include "base/device/device_interface.h"

namespace mxnet {
namespace {
constexpr int kDeviceTypes = 6;  // the largest number of a DeviceType, and 1
DeviceInterface g_interfaces[kDeviceTypes];
}  // namespace

DeviceInterface& DeviceInterfaceOf(DeviceType type) { return g_interfaces[static_cast<int>(type)]; }

}  // namespace mxnet
