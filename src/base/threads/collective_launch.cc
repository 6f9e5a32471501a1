#include "base/threads/collective_launch.h"

namespace mxnet {
namespace {
ForkMutex* const g_launching = new ForkMutex(ForkLevel::kDeviceWork);  // storage pools take it below their own
}

ForkMutex& CollectiveLaunchMutex() { return *g_launching; }

}  // namespace mxnet
