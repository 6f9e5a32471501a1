// Elements of small arrays, copied by the caller: an operator takes longer to call than to run
// there.
#include <cstdint>
#include <utility>

#include "binding.h"
#include "mxnet/engine.h"
#include "mxnet/profiler.h"
#include "strided_copy.h"

namespace mxnet {
namespace python {
namespace {

constexpr int64_t kMostElements = 4096;
constexpr int kMostDims = 32;

/* Is it a few elements, on the host, and does nobody want to hear of their copy? */
bool MayCopy(const NDArray& a, int64_t count) {
  const ImperativeState& state = Imperative::State();
  if (count == 0 || count > kMostElements || state.recording || state.deferred_compute || profiler::Active() != 0) return false;
  return a.ctx().dev_type == DeviceType::kCPU && a.storage_type() == StorageType::kDense && !a.deferred_entry;
}

}  // namespace

PyObject* GatherNow(PyObject* of, const Shape& shape, int64_t offset, int ndim, const int64_t* count, const int64_t* step) {
  if (num_views != 0) return nullptr;  // taking one lets other threads run, which may change the array
  const NDArray* a = Peek(of);
  if (!MayCopy(*a, shape.Size())) return nullptr;
  PyObject* o = NewBlank(shape, a->ctx(), a->dtype(), ClassOf(of));
  Engine* engine = Engine::Get();
  Var* const var = a->var();
  if (!engine->TryAcquire(&var, 1, nullptr, 0)) {
    Py_DECREF(o);
    return nullptr;
  }
  try {
    GatherStrided(MemoryOf(*Peek(o)), MemoryOf(*a), offset, ndim, count, step, DTypeSize(a->dtype()));  // nobody else knows it
  } catch (...) {
    engine->Release(&var, 1, nullptr, 0);
    Py_DECREF(o);
    throw;
  }
  engine->Release(&var, 1, nullptr, 0);
  return o;
}

PyObject* PermuteNow(PyObject* of, const int64_t* axes, int num_axes) {
  const NDArray* a = IsArray(of) ? Peek(of) : nullptr;
  if (!a || a->is_none() || a->shape().ndim() > kMostDims || (axes && num_axes != a->shape().ndim())) return nullptr;
  const Shape& shape = a->shape();
  const int ndim = shape.ndim();
  int64_t dense[kMostDims], count[kMostDims], step[kMostDims];
  for (int64_t i = ndim - 1, next = 1; i >= 0; next *= shape[static_cast<int>(i--)]) dense[i] = next;
  uint32_t seen = 0;
  for (int i = 0; i < ndim; ++i) {
    const int64_t at = !axes ? ndim - 1 - i : axes[i] < 0 ? axes[i] + ndim : axes[i];
    if (at < 0 || at >= ndim || (seen >> at & 1) != 0) return nullptr;  // for the operator to refuse
    seen |= uint32_t{1} << at;
    count[i] = shape[static_cast<int>(at)], step[i] = dense[at];
  }
  return GatherNow(of, Shape(count, ndim), 0, ndim, count, step);
}

PyObject* SwapNow(PyObject* of, int64_t axis, int64_t other) {
  const NDArray* a = IsArray(of) ? Peek(of) : nullptr;
  const int ndim = a && !a->is_none() ? a->shape().ndim() : 0;
  if (axis < 0) axis += ndim;
  if (other < 0) other += ndim;
  if (ndim > kMostDims || axis < 0 || axis >= ndim || other < 0 || other >= ndim) return nullptr;
  int64_t axes[kMostDims];
  for (int i = 0; i < ndim; ++i) axes[i] = i;
  std::swap(axes[axis], axes[other]);
  return PermuteNow(of, axes, ndim);
}

}  // namespace python
}  // namespace mxnet
