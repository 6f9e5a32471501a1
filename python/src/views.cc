#include "views.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "binding.h"
#include "mxnet/engine.h"
#include "mxnet/op.h"
#include "strided_copy.h"

namespace mxnet {
namespace python {

int num_views = 0;
int threads_with_views = 0;

namespace {

thread_local bool wants_views = false;

/* INVARIANT: `own` and `root` have chunks of their own, one dtype and one device. `own` has values
 * from when it is filled. Versions are those of when the two were last equal. */
struct View {
  NDArray own, root;
  Layout layout;  // in elements of `root`
  bool filled = false;
  uint64_t own_version = 0, root_version = 0;
};
using ViewPtr = std::shared_ptr<View>;

/* Guarded by the interpreter lock, which waiting gives up: whoever goes through a list goes through
 * a copy. */
struct Registry {
  std::unordered_map<const Chunk*, ViewPtr> of_chunk;               // by the chunk of `own`
  std::unordered_map<const Chunk*, std::vector<ViewPtr>> shown_of;  // by that of `root`
};
Registry& All() {
  static auto* registry = new Registry;
  return *registry;
}

ViewPtr Find(const Chunk* chunk) {
  const auto it = All().of_chunk.find(chunk);
  return it == All().of_chunk.end() ? nullptr : it->second;
}

std::vector<ViewPtr> ShownOf(const Chunk* chunk) {
  const auto it = All().shown_of.find(chunk);
  return it == All().shown_of.end() ? std::vector<ViewPtr>() : it->second;
}

void Remove(const ViewPtr& view) {
  Registry& all = All();
  if (all.of_chunk.erase(view->own.chunk()) == 0) return;
  const auto it = all.shown_of.find(view->root.chunk());
  it->second.erase(std::find(it->second.begin(), it->second.end(), view));
  if (it->second.empty()) all.shown_of.erase(it);
  num_views = static_cast<int>(all.of_chunk.size());
}

/* One thread at a time carries values, also while it waits without the interpreter lock: another
 * one could carry older values over newer ones. In a forked child, the owner may be gone. */
class Turn {
 public:
  Turn() {
    const std::thread::id self = std::this_thread::get_id();
    while (depth > 0 && owner != self && process == getpid()) {
      GilRelease unlocked(true);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    if (process != getpid()) depth = 0;
    owner = self, process = getpid(), ++depth;
  }
  ~Turn() { --depth; }

 private:
  static int depth;
  static std::thread::id owner;
  static pid_t process;
};
int Turn::depth = 0;
std::thread::id Turn::owner;
pid_t Turn::process = 0;

/* Waits until nothing writes. False where the last write failed. */
bool Quiet(Var* var) {
  Engine* engine = Engine::Get();
  if (engine->TryAcquire(&var, 1, nullptr, 0)) {
    engine->Release(&var, 1, nullptr, 0);
    return true;
  }
  try {
    GilRelease unlocked(true);
    engine->WaitForVar(var);
  } catch (...) {
    return false;  // whoever reads the array is told
  }
  return true;
}

/* The numbers of the elements that a view shows, as an array on the view's device. */
NDArray Numbers(const View& view) {
  const int64_t n = view.own.shape().Size();
  std::vector<int64_t> all(static_cast<size_t>(view.root.shape().Size())), shown(static_cast<size_t>(n));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  const Layout& l = view.layout;
  GatherStrided(shown.data(), all.data(), l.offset, static_cast<int>(l.count.size()), l.count.data(), l.step.data(), sizeof(int64_t));
  NDArray numbers(Shape(&n, 1), view.own.ctx(), kInt64);
  numbers.CopyBytesFrom(shown.data(), shown.size() * sizeof(int64_t));
  return numbers;
}

/* By operators, for devices whose memory the host cannot read. */
void CarryOnDevice(const View& view, bool back) {
  static const AttrsPtr take = MakeAttrs(Op::Get("take"), {});
  static const AttrsPtr put = MakeAttrs(Op::Get("_index_axes_assign"), {{"num_args", "3"}});
  const auto computing = ImperativeScope::Computing();
  NDArray numbers = Numbers(view);
  const int64_t shown = view.own.shape().Size(), all = view.root.shape().Size();
  NDArray own = view.own.Reshape(Shape(&shown, 1)), root = view.root.Reshape(Shape(&all, 1));
  if (back)
    Imperative::Invoke(put, {&root, &own, &numbers}, {&root});
  else
    Imperative::Invoke(take, {&root, &numbers}, {&own});
}

/* Carries the values from `root` to `own`, or back, and waits. */
void Carry(View* view, bool back) {
  const TBlob own = view->own.data(), root = view->root.data();
  const Layout& l = view->layout;
  const int ndim = static_cast<int>(l.count.size());
  const size_t item = DTypeSize(own.dtype);
  const auto copy = [&l, own, root, ndim, item, back](RunContext) {
    if (back)
      ScatterStrided(root.dptr, own.dptr, l.offset, ndim, l.count.data(), l.step.data(), item);
    else
      GatherStrided(own.dptr, root.dptr, l.offset, ndim, l.count.data(), l.step.data(), item);
  };
  Engine* engine = Engine::Get();
  Var *from = (back ? view->own : view->root).var(), *to = (back ? view->root : view->own).var();
  if (!own.ctx.is_gpu() && engine->TryAcquire(&from, 1, &to, 1)) {
    copy(RunContext());
    engine->Release(&from, 1, &to, 1);
    return;
  }
  try {
    GilRelease unlocked(true);
    if (own.ctx.is_gpu())
      CarryOnDevice(*view, back);
    else  // a part of `root` is written, so it is read as well
      engine->PushSync(copy, own.ctx.execution(), back ? std::vector<Var*>{from, to} : std::vector<Var*>{from}, {to}, FnProperty::kNormal,
                       0, "view");
    engine->WaitForVar(to);
  } catch (...) {  // NOLINT: the error stays with the variable, and whoever reads the array is told
  }
}

/* Carries values and notes that the two are equal. Other threads may write meanwhile: what they
 * write after the versions that this notes counts as not carried. */
void Equalize(View* view, bool back) {
  const uint64_t own = view->own.version(), root = view->root.version();
  Carry(view, back);
  if (back) {
    view->own_version = own;
    view->root_version = root + (view->root.version() == root + 1 ? 1 : 0);
  } else {
    view->own_version = own + 1;
    view->root_version = root;
    view->filled = true;
  }
}

/* Carries what was written into views of a chunk, and views of these, to it. Views that nobody has
 * any more go. */
void Gather(const Chunk* chunk) {
  for (const ViewPtr& view : ShownOf(chunk)) {
    Gather(view->own.chunk());
    if (view->filled && Quiet(view->own.var()) && view->own.version() != view->own_version) Equalize(view.get(), true);
    if (view->own.chunk()->refs.load(std::memory_order_acquire) == 1) Remove(view);
  }
}

/* The views between `chunk` and what they show at last, the latter's first view at the end. */
std::vector<ViewPtr> ChainOf(const Chunk* chunk) {
  std::vector<ViewPtr> chain;
  for (ViewPtr view = Find(chunk); view; view = Find(view->root.chunk())) chain.push_back(view);
  return chain;
}

void SettleChunk(const Chunk* chunk) {
  const std::vector<ViewPtr> chain = ChainOf(chunk);
  Gather(chain.empty() ? chunk : chain.back()->root.chunk());
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    View* view = it->get();
    if (!Quiet(view->root.var()) || !view->filled || view->root.version() != view->root_version) Equalize(view, false);
  }
}

bool Contiguous(const Layout& l) {
  int64_t step = 1;
  for (size_t i = l.count.size(); i-- > 0; step *= l.count[i])
    if (l.count[i] != 1 && l.step[i] != step) return false;
  return true;
}

/* The view whose elements `a` are, all of them in their order. */
ViewPtr Whole(const NDArray& a) {
  ViewPtr view = num_views != 0 ? Find(a.chunk()) : nullptr;
  return view && a.byte_offset() == 0 && a.dtype() == view->own.dtype() && a.shape() == view->own.shape() ? view : nullptr;
}

void CheckInside(const Layout& l, const NDArray& root) {
  int64_t least = l.offset, most = l.offset;
  for (size_t i = 0; i < l.count.size(); ++i) (l.step[i] < 0 ? least : most) += (l.count[i] - 1) * l.step[i];
  MXNET_CHECK_KIND(least >= 0 && most < root.shape().Size(), Value)
      << "[view] elements " << least << " to " << most << " of an array of " << root.shape().Size();
}

}  // namespace

bool MakesViewsHere() { return wants_views; }

void Settle(const NDArray* a) {
  if (!a || a->is_none()) return;
  if (All().of_chunk.count(a->chunk()) == 0 && All().shown_of.count(a->chunk()) == 0) return;
  const NDArray kept = a->Detach();  // other threads may have the array let go of it meanwhile
  const Turn turn;
  SettleChunk(kept.chunk());
}

void LetGo(NDArray* a) {
  if (!a || a->is_none()) return;
  const std::vector<ViewPtr> chain = ChainOf(a->chunk());
  *a = NDArray();
  if (chain.empty()) return;
  const Turn turn;
  Gather(chain.back()->root.chunk());
}

Layout LayoutOf(const NDArray& a) {
  if (const ViewPtr view = Whole(a)) return view->layout;
  Layout l;
  l.count.assign(a.shape().begin(), a.shape().end());
  l.step.resize(l.count.size());
  int64_t step = 1;
  for (size_t i = l.count.size(); i-- > 0; step *= l.count[i]) l.step[i] = step;
  return l;
}

PyObject* Show(const NDArray& a, const Layout& layout, bool writable, PyTypeObject* type) {
  const ViewPtr whole = Whole(a);
  const NDArray root = whole ? whole->root : a.Detach();
  const Shape shape(layout.count.data(), static_cast<int>(layout.count.size()));
  PyObject* o = NewResult(type);
  if (!o) throw PythonError();
  NDArray* own = Peek(o);
  try {
    if (shape.Size() == 0) {
      *own = NDArray(shape, root.ctx(), root.dtype());
    } else {
      CheckInside(layout, root);
      if (Contiguous(layout)) {
        *own = root.Window(static_cast<size_t>(layout.offset) * DTypeSize(root.dtype()), shape, root.dtype());
      } else {
        *own = NDArray(shape, root.ctx(), root.dtype(), true);
        const ViewPtr view = std::make_shared<View>(View{own->Detach(), root, layout});
        All().of_chunk.emplace(own->chunk(), view);
        All().shown_of[root.chunk()].push_back(view);
        num_views = static_cast<int>(All().of_chunk.size());
      }
    }
  } catch (...) {
    Py_DECREF(o);
    throw;
  }
  reinterpret_cast<PyNDArray*>(o)->writable = writable;
  return o;
}

namespace {

std::vector<int64_t> Sizes(PyObject* tuple) {
  std::vector<int64_t> sizes;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) sizes.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i)));
  if (PyErr_Occurred()) throw PythonError();
  return sizes;
}

/* show(array, offset, shape, steps, writable) */
PyObject* ShowElements(PyObject*, PyObject* args) {
  PyObject *array, *shape, *steps;
  long long offset = 0;
  int writable = 0;
  if (!PyArg_ParseTuple(args, "O!LO!O!p", base_type, &array, &offset, &PyTuple_Type, &shape, &PyTuple_Type, &steps, &writable))
    return nullptr;
  try {
    const NDArray* a = Peek(array);
    MXNET_CHECK_KIND(a && !a->is_none() && PyTuple_GET_SIZE(shape) == PyTuple_GET_SIZE(steps), Value)
        << "[view] got no array, or a step for each dimension is missing";
    Layout l;
    l.offset = LayoutOf(*a).offset + offset;
    l.count = Sizes(shape);
    l.step = Sizes(steps);
    return Show(*a, l, writable != 0 && reinterpret_cast<PyNDArray*>(array)->writable, ClassOf(array));
  } catch (...) {
    SetError();
    return nullptr;
  }
}

/* layout_of(array) */
PyObject* LayoutTuple(PyObject*, PyObject* array) {
  try {
    const NDArray* a = IsArray(array) && IsNumpy(array) ? Peek(array) : nullptr;
    MXNET_CHECK_KIND(a && !a->is_none(), Type) << "[view] got a " << Py_TYPE(array)->tp_name << "; accepted: an array of mx.np";
    const Layout l = LayoutOf(*a);
    const ViewPtr whole = Whole(*a);
    const TBlob memory = (whole ? whole->root : *a).data();
    PyObject* steps = PyTuple_New(static_cast<Py_ssize_t>(l.step.size()));
    for (size_t i = 0; steps && i < l.step.size(); ++i) PyTuple_SET_ITEM(steps, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(l.step[i]));
    const char* first = static_cast<const char*>(memory.dptr) + l.offset * static_cast<int64_t>(DTypeSize(memory.dtype));
    return steps ? Py_BuildValue("(NN)", PyLong_FromSize_t(reinterpret_cast<uintptr_t>(first)), steps) : nullptr;
  } catch (...) {
    SetError();
    return nullptr;
  }
}

PyObject* MakeViews(PyObject*, PyObject* on) {
  const bool before = wants_views;
  wants_views = PyObject_IsTrue(on) == 1;
  if (wants_views != before) threads_with_views += wants_views ? 1 : -1;
  return PyBool_FromLong(before);
}

PyObject* MakingViews(PyObject*, PyObject*) { return PyBool_FromLong(MakesViews()); }

PyMethodDef functions[] = {
    {"show", ShowElements, METH_VARARGS,
     "show(array, offset, shape, steps, writable): a view of elements of what `array` shows, counted from its first one."},
    {"layout_of", LayoutTuple, METH_O,
     "(address, steps) of an array of mx.np: where its first element is, or that which a view shows, and how many elements are from one "
     "to the next along each dimension."},
    {"make_views", MakeViews, METH_O, "Whether mx.np makes views where NumPy does, on this thread. Returns what it was."},
    {"makes_views", MakingViews, METH_NOARGS, "Whether mx.np makes views where NumPy does, on this thread."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void AddViews(PyObject* module) {
  if (PyModule_AddFunctions(module, functions) != 0) throw PythonError();
}

}  // namespace python
}  // namespace mxnet
