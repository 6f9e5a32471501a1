#include "mxnet/numpy_shapes.h"

#include <atomic>
#include <utility>

namespace mxnet {

namespace {
thread_local bool t_numpy_shapes = false;
std::atomic<bool> g_numpy_shapes{false};
}  // namespace

bool NumpyShapes() { return t_numpy_shapes || NumpyShapesOfAll(); }
bool SetNumpyShapes(bool on) { return std::exchange(t_numpy_shapes, on); }
bool NumpyShapesOfAll() { return g_numpy_shapes.load(std::memory_order_relaxed); }
void SetNumpyShapesOfAll(bool on) { g_numpy_shapes.store(on, std::memory_order_relaxed); }

}  // namespace mxnet
