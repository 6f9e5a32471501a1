// Calls every function that a C++ header of include/mxnet declares and the library defines. It is
// built against an installed wheel or prefix alone. tests/python/project/test_cpp_predictor.py
// compares what it calls with what is declared.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "mxnet/engine.h"
#include "mxnet/env.h"
#include "mxnet/executor.h"
#include "mxnet/graph.h"
#include "mxnet/imperative.h"
#include "mxnet/interruptible.h"
#include "mxnet/kvstore.h"
#include "mxnet/ndarray.h"
#include "mxnet/numpy_shapes.h"
#include "mxnet/op.h"
#include "mxnet/profiler.h"
#include "mxnet/storage.h"

using namespace mxnet;

#undef CHECK  // of mxnet/names_1x.h
#define CHECK(x) \
  if (!(x)) std::printf("%s:%d: %s\n", __FILE__, __LINE__, #x), std::exit(1)

namespace {

const Context kCPU = Context::CPU();

template <typename Fn>
std::string MessageOf(const Fn& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

NDArray Filled(const Shape& shape, std::vector<float> values) {
  NDArray array(shape, kCPU);
  array.CopyBytesFrom(values.data(), values.size() * sizeof(float));
  return array;
}

std::vector<float> Values(const NDArray& array) {
  std::vector<float> values(static_cast<size_t>(array.shape().Size()));
  array.CopyBytesTo(values.data(), values.size() * sizeof(float));
  return values;
}

using Floats = std::vector<float>;

void Base() {
  CHECK(DTypeSize(kFloat64) == 8 && std::string(DTypeName(kFloat16)) == "float16" && DTypeFromName("int8") == kInt8);
  CHECK(Context::Make(2, 1).str() == "gpu(1)" && Context::FromString("cpu_pinned(0)") == Context::CPUPinned());
  Shape shape({2, -1});
  CHECK(MergeShape(&shape, Shape({-1, 3})) && shape.str() == "(2,3)");
  int dtype = kDTypeUnknown;
  CHECK(MergeDType(&dtype, kInt32) && dtype == kInt32);
  Shape large(8, 1);  // more dimensions than lie in the object
  const Shape copy = large;
  CHECK(copy.ndim() == 8 && copy.Size() == 1);
  large.Assign(copy.dims(), 7);
  CHECK(!MessageOf([] { Shape({2, -1}).Size(); }).empty());
  std::ostringstream text;
  text << shape << Context::GPU(3);
  CHECK(text.str() == "(2,3)gpu(3)");
  CHECK(MessageOf([] { MXNET_CHECK_KIND(1 + 1 == 3, Value) << "[sum] wrong"; }).find("[sum] wrong") != std::string::npos);
}

void EngineAndEnvironment() {
  Engine::MarkDataWorker();
  Engine::SetCallSiteProvider([] { return std::string("here:1"); });
  Engine* engine = Engine::Get();
  Var* variable = engine->NewVariable();
  int ran = 0;
  engine->PushSync([&](RunContext) { ++ran; }, kCPU, {}, {variable});
  engine->WaitForVar(variable);
  engine->DeleteVariable([&](RunContext) { ++ran; }, kCPU, variable);
  engine->WaitForAll();
  CHECK(ran == 2 && !InterruptibleWaits::on());
  RunCallbacksInWaits();
  {
    const InterruptibleWaits scope;
    CHECK(InterruptibleWaits::on());
    engine->WaitForAll();
  }
  const std::unique_ptr<Engine> own(Engine::Create("NaiveEngine"));
  CHECK(own->type() == std::string("NaiveEngine"));

  Env::Set("DMLC_LOG_STACK_TRACE_DEPTH", "1");
  CHECK(Env::Info("DMLC_LOG_STACK_TRACE_DEPTH").value == "1" && Env::List().size() > 100);
  Env::Set("DMLC_LOG_STACK_TRACE_DEPTH", "");
  CHECK(Env::Get().library_path.empty() || Env::Peek() != nullptr);
}

void Arrays() {
  NDArray a = Filled(Shape({2, 2}), {1, 2, 3, 4});
  NDArray b(Shape({2, 2}), kCPU, kFloat64);
  CopyFromTo(a, b);
  double wide[4];
  b.CopyBytesTo(wide, sizeof(wide));
  CHECK(wide[3] == 4);
  const Floats source{1, 2, 3, 4};
  ConvertElements(source.data(), kFloat32, wide, kFloat64, 4);
  CHECK(wide[2] == 3);

  CHECK(Values(a.Slice(1, 2)) == Floats({3, 4}) && Values(a.At(0)) == Floats({1, 2}) && a.Reshape(Shape({4})).shape() == Shape({4}));
  CHECK(Values(a.Window(8, Shape({2}), kFloat32)) == Floats({3, 4}));
  CHECK(NDArray::InferReshape(Shape({2, 3, 4}), {0, -1}, false) == Shape({2, 12}));
  CHECK(Values(a.Detach()) == Values(a.Copy(kCPU)));
  const uint64_t before = a.version();
  a.CopyBytesFrom(source.data(), sizeof(float) * 4);
  a.WaitToRead();
  a.WaitToWrite();
  CHECK(a.version() != before && a.data().dptr<float>()[1] == 2);

  NDArray grown(kCPU, kFloat32);
  grown.ReshapeAndAlloc(Shape({2, 2}));
  CopyFromTo(a, &grown);
  grown /= 2;
  grown += a;
  const TShape half(source.begin() + 1, source.begin() + 2);
  grown.ReshapeAndAlloc(half);
  CHECK(Values(grown) == Floats({1.5f, 3}) && grown.ctx().dev_mask() == cpu::kDevMask);

  NDArray none;
  none.Init(Shape({3}), kCPU, kInt32);
  CHECK(none.dtype() == kInt32);
  NDArray sized;
  sized.Init(Shape({3}), kCPU, kInt32, 3 * sizeof(int32_t));
  CHECK(sized.shape() == none.shape() && sized.dtype() == kInt32);
  NDArray other(a), moved(std::move(other));
  none = moved;
  moved = std::move(none);
  CHECK(moved.chunk() == a.chunk());
  NDArray delayed(Shape({5}), kCPU, kFloat32, true);
  delayed.chunk()->Allocate();
  CHECK(delayed.chunk()->handle.dptr != nullptr);
  delayed.chunk()->AddRef();
  Chunk* last = delayed.chunk();
  delayed = NDArray();
  last->Release();

  bool deleted = false;
  TBlob blob;
  blob.dptr = wide;
  blob.shape = Shape({4});
  blob.dtype = kFloat64;
  {
    const NDArray borrowed(blob, [&] { deleted = true; });
  }
  Engine::Get()->WaitForAll();
  CHECK(deleted);
  NDArray shared(Shape({2}), Context::CPUShared());
  shared.CopyBytesFrom(source.data(), 2 * sizeof(float));
  const StorageHandle& handle = shared.chunk()->handle;
  CHECK(Storage::Get()->Share(handle));
  CHECK(Values(NDArray::FromShared(handle.shared_pid, handle.shared_id, Shape({2}), kFloat32)) == Floats({1, 2}));
}

void Files(const std::string& path) {
  const NDArray a = Filled(Shape({2}), {5, 6});
  SaveNDArrays(path, {a, a.Reshape(Shape({1, 2}))}, {"a", "b"});
  std::vector<NDArray> arrays;
  std::vector<std::string> names;
  LoadNDArrays(path, &arrays, &names);
  CHECK(names[1] == "b" && arrays[1].shape() == Shape({1, 2}));
  std::string bytes;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  for (int c; (c = std::fgetc(file)) != EOF;) bytes.push_back(static_cast<char>(c));
  std::fclose(file);
  LoadNDArrays(bytes.data(), bytes.size(), &arrays, &names);
  CHECK(Values(arrays[0]) == Floats({5, 6}));
  const std::string raw = SaveNDArrayRaw(a);
  CHECK(Values(LoadNDArrayRaw(raw.data(), raw.size())) == Values(a));
}

void SparseArrays() {
  CHECK(StorageTypeFromName(StorageTypeName(StorageType::kCSR)) == StorageType::kCSR);
  const NDArray a = NDArray::Make(TensorType(Shape({2, 3}), kFloat32, StorageType::kCSR), kCPU);
  CHECK(a.blob().sparse == a.sparse());
  NDArray ends(Shape({3}), kCPU, kInt64), columns(Shape({2}), kCPU, kInt64);
  const int64_t numbers[] = {0, 1, 2};
  ends.CopyBytesFrom(numbers, sizeof numbers);
  columns.CopyBytesFrom(numbers, 2 * sizeof numbers[0]);
  SetPart(a, -1, Filled(Shape({2}), {5, 6}));
  SetPart(a, SparseParts::kIndptr, ends);
  SetPart(a, SparseParts::kColumns, columns);
  CheckSparse(a, true);
  CHECK(Values(CopyOfPart(a, -1)) == Floats({5, 6}));
  SparseParts* const parts = a.sparse();
  parts->Settle();
  parts->NeedAscending("test");
  CHECK(parts->Bytes() > 0 && parts->Capacity() >= parts->Bytes());
  const NDArray rows = NDArray::Make(TensorType(Shape({4, 2}), kFloat32, StorageType::kRowSparse), kCPU);
  rows.sparse()->Resize(1);
  rows.sparse()->Grow(3, 1);
  SparseParts other;
  other.Swap(rows.sparse());
  CHECK(other.stored() == 3);
  other.Swap(rows.sparse());
  other.Free();
}

void Symbols() {
  const Symbol x = Symbol::Variable("x");
  Symbol dense = Symbol::Atomic(Op::Get("FullyConnected"), {{"num_hidden", "3"}});
  dense.Compose({x}, {}, "dense");
  CHECK(dense.ListInputs(Symbol::kAll).size() == 3 && dense.ListInputNames(Symbol::kReadOnlyArgs)[1] == "dense_weight");
  CHECK(dense.ListOutputNames()[0] == "dense_output");
  const Symbol both = Symbol::Group({dense, x});
  CHECK(both[1].ListOutputNames()[0] == "x" && both.GetInternals().outputs.size() >= 4);
  CHECK(dense.GetChildren().outputs.size() == 3 && !dense.Print().empty());
  Symbol copy = dense.Copy();
  copy.SetAttr("__color__", "red");
  std::string value;
  CHECK(copy.GetAttr("__color__", &value) && value == "red" && !dense.GetAttr("__color__", &value));
  CHECK(!copy.ListAttrs(true).empty());
  CHECK(SymbolFromJSON(SymbolToJSON(dense)).ListOutputNames() == dense.ListOutputNames());
}

void Inference() {
  const NodePtr x = MakeVariable("x");
  const NodeEntry y = MakeOp("square", {NodeEntry{x, 0, 0}});
  int nodes = 0;
  DFSVisit({y}, [&](const NodePtr&) { ++nodes; });
  CHECK(nodes == 2 && y.node->num_outputs() == 1);
  const IndexedGraph g({y});
  ShapeVector shapes(g.num_entries());
  std::vector<int> dtypes(g.num_entries(), kDTypeUnknown);
  shapes[g.eid(g.input_nodes[0], 0)] = Shape({3, 5});
  CHECK(InferShapes(g, &shapes) && shapes[g.eid(g.id.at(y.node.get()), 0)] == Shape({3, 5}));
  CHECK(InferTypes(g, &dtypes, kFloat32));
  TensorTypes entries(g.num_entries());
  entries[g.eid(g.input_nodes[0], 0)] = {Shape({3, 5}), kFloat32};
  CHECK(InferEntries(g, &entries) && entries[g.eid(g.id.at(y.node.get()), 0)].known());
  const Attrs& square = *y.node->attrs;
  const InferSwitches switches = InferSwitches::OfThread();
  TensorTypes in = {{Shape({2}), kFloat32}}, out(1);
  CHECK(InferCall(square, switches, &in, &out) && out[0] == TensorType(Shape({2}), kFloat32, StorageType::kDense));
  ShapeVector in_shapes = {Shape({2})}, out_shapes(1), same(1);
  CHECK(InferCall(square, switches, &in_shapes, &out_shapes) && out_shapes[0] == in_shapes[0]);
  CHECK(InferCallAs(*Op::Get("sqrt"), square, switches, &in_shapes, &same) && same == out_shapes);
  std::vector<int> in_dtypes = {kFloat64}, out_dtypes = {kDTypeUnknown};
  CHECK(InferCall(square, switches, &in_dtypes, &out_dtypes) && out_dtypes == in_dtypes);
  CHECK(square.op->RunsBy(square) == RunBy::kKernel && AttrsCache::Takes("short", *square.op));
  CHECK(Gradient({y}, {NodeEntry{x, 0, 0}}, {MakeOp("ones_like", {y})}).size() == 1);
  CHECK(MakeNode("negative", {y}, {}, "minus")->name == "minus");
  CHECK(MakeNodeLike("square", *MakeNode("sqrt", {y}), {y})->op() == Op::Find("square"));
  const auto own = std::make_shared<Node>();
  own->attrs = x->attrs;
  CHECK(own->is_variable());
}

void Eager() {
  Imperative::Seed(7);
  Imperative::SeedContext(8, kCPU);
  Engine::Get()->WaitForAll();
  CHECK(Imperative::Random(kCPU)->state.seed() == 8);
  const char *key = "scalar", *value = "3";
  const AttrsPtr times = Imperative::GetAttrs(Op::Get("_mul_scalar"), 1, &key, &value);
  const AttrsPtr square = MakeAttrs(Op::Get("square"), {});
  NDArray x = Filled(Shape({2}), {1, 2}), grad(Shape({2}), kCPU), y, z;
  Imperative::MarkVariables({&x}, {OpReq::kWrite}, {&grad});
  {
    const NumpyShapesScope scope;
    CHECK(NumpyShapes());
  }
  SetNumpyShapesOfAll(true);
  CHECK(NumpyShapes() && NumpyShapesOfAll());
  SetNumpyShapesOfAll(false);
  SetNumpyShapes(false);
  CHECK(!NumpyShapes());
  Imperative::State().recording = true;
  Imperative::State().training = true;
  Imperative::Invoke(times, {&x}, {&y});
  z = y.Copy(kCPU);
  Imperative::Run(square, {y}, {OpReq::kWrite}, {z}, true);
  Imperative::Record(square, {&y}, {&z});
  NDArray passed(Shape({2}), kCPU);
  Imperative::MarkResults({&z}, {OpReq::kWrite}, {&passed});
  CHECK(Imperative::GetSymbolEntry(z) && Imperative::HasHistory(z));
  Imperative::State().recording = false;
  Imperative::SetFreshGrad(x, false);
  Imperative::Backward({&z}, {nullptr}, {}, false, false, true);
  CHECK(Imperative::HasFreshGrad(x) && Values(Imperative::Grad(x)) == Floats({18, 36}));  // of 9 x^2
  CHECK(Values(passed) == Floats({1, 1}));                                                // and handed on
  CHECK(Imperative::HasHistory(x) && !Imperative::HasHistory(z));                         // freed by the backward pass
  NDArray* const from = &x;
  NDArray again;
  if (Imperative::InvokeAtOnce(times, Span<NDArray* const>(&from, 1), &again)) CHECK(Values(again) == Floats({3, 6}));
  Imperative::DropGrads({&x});
  CHECK(Imperative::Grad(x).is_none());
}

void Graphs() {
  const Symbol x = Symbol::Variable("x");
  Symbol y = Symbol::Atomic(Op::Get("square"), {});
  y.Compose({x}, {}, "y");
  const auto bound = Executor::Bind(y, kCPU, {}, {Filled(Shape({2}), {1, 2})}, {NDArray()}, {OpReq::kNull}, {});
  bound->Forward(false);
  CHECK(Values(bound->Outputs()[0]) == Floats({1, 4}));
  SimpleBindRequest request;
  request.symbol = y;
  request.grad_req = {OpReq::kWrite};
  request.types = {{"x", {Shape({3}), kDTypeUnknown}}};
  CHECK(SimpleBind(request)->args[0].shape() == Shape({3}));
  CHECK(AdviseMemory(y, kCPU, {{"x", {Shape({30}), kDTypeUnknown}}}, {}, 0).recomputed.size() <= 1);
  const auto cached = CachedOp::Create(y, {{"static_alloc", "True"}});
  NDArray in = Filled(Shape({2}), {3, 4}), out;
  cached->Invoke({&in}, {&out});
  CHECK(Values(out) == Floats({9, 16}));
}

struct Sign {
  int value;
};

void Twice(KernelArgs& args) {
  const float* in = args.in[0].data<float>();
  for (int64_t i = 0; i < args.out[0].Size(); ++i) args.out[0].data<float>()[i] = 2 * in[i];
}

// An operator of this program, in the state that a record has after static initialisation.
Op& Registered() {
  return Op::Register("calls_twice")
      .describe("Twice the data.")
      .alias("calls_double")
      .set_inputs({"data"})
      .set_dtypes({kFloat32})
      .set_outputs({"output"})
      .set_infer_shape(ElemwiseShape)
      .set_infer_type(SameType)
      .set_gradient(BackwardNode("calls_twice", 0))
      .set_trait(Sign{1})
      .set_kernel(DeviceType::kCPU, Twice);
}

void Records() {
  const Op& own = Registered();
  NDArray in = Filled(Shape({2}), {3, 4}), out;
  Imperative::Invoke(MakeAttrs(&own, {}), {&in}, {&out});
  CHECK(Values(out) == Floats({6, 8}) && own.trait<Sign>()->value == 1);
  CHECK(Op::Find("calls_double") == &own && own.KernelFor(DeviceType::kCPUPinned) != nullptr);
  CHECK(Op::ListNames().size() > Op::ListUnique().size());
  Op::Register("calls_any").set_variadic("data", nullptr).set_kernel(Twice).set_zero_gradient();
  CHECK(Op::Get("calls_any")->zero_gradient);

  const AttrsPtr dense = MakeAttrs(Op::Get("FullyConnected"), {{"num_hidden", "3"}, {"no_bias", "True"}});
  CHECK(dense->op->ListInputs(*dense).size() == 2 && dense->op->ListOutputs(*dense).size() == 1);
  CHECK(BroadcastShape("add", Shape({2, 1}), Shape({1, 3})) == Shape({2, 3}));
  Shape shape({2, -1});
  AssignShape(*dense, "data", &shape, Shape({2, 4}));
  int dtype = kDTypeUnknown;
  AssignType(*dense, "data", &dtype, kFloat32);
  CHECK(shape == Shape({2, 4}) && dtype == kFloat32);
  CHECK(!MessageOf([&] { AssignType(*dense, "data", &dtype, kInt8); }).empty());
  const NodeEntry y = MakeOp("square", {NodeEntry{MakeVariable("x"), 0, 0}});
  CHECK(NoGradient(y.node, {y}).size() == 1);
}

void Profiles(const std::string& path) {
  using namespace profiler;
  const char* keys[] = {"filename", "aggregate_stats", "profile_all"};
  const char* values[] = {path.c_str(), "True", "True"};
  SetConfig(ParseConfig(3, keys, values));
  SetRunning(true);
  CHECK(Running() && RecordsMemory());
  { const NameScope scope(NameScope::kApiCall, "calls"); }
  {
    const MemoryScope named(std::string("weights"));
    const MemoryScope op(OperatorName{&Op::Get("square")->name});
    const MemoryScope elsewhere(OperatorName{&Op::Get("square")->name}, MemoryScope::Scope());
    char block;
    RecordAlloc(kCPU, &block, 1, 64, 64);
    RecordHeld(kCPU, 64);
    RecordFree(kCPU, &block, 64, 0);
  }
  SetMemoryScope("here:");
  SetMemoryScope("");
  Object* task = NewObject(ObjectKind::kTask, "domain", "task");
  Start(task);
  Stop(task);
  DeleteObject(task);
  Object* counter = NewObject(ObjectKind::kCounter, "domain", "counter");
  SetCounter(counter, 5);
  AdjustCounter(counter, -1);
  DeleteObject(counter);
  Mark("domain", "mark", "process");
  SetPaused(true);
  SetPaused(false);
  CHECK(AggregateStats(false, SortBy::kTotal, false, false).find("calls") != std::string::npos);
  Dump(true);
  SetRunning(false);
  std::FILE* file = std::fopen(path.c_str(), "rb");
  CHECK(file != nullptr);
  std::fclose(file);
  CHECK(SetMemoryTotals([] { return MemoryTotals{64, 128}; }));
  CHECK(SetMachineRates([] { return MachineRates{100, 200, 400, 20}; }));
}

struct Heap : StorageBackend {
  int blocks = 0;
  void* Malloc(size_t bytes, size_t alignment) override {
    ++blocks;
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  void Free(void* ptr, size_t) override {
    --blocks;
    std::free(ptr);
  }
  void MemInfo(size_t* free_bytes, size_t* total_bytes) override { *free_bytes = *total_bytes = 0; }
};

void Memory() {
  PoolOptions options;
  CHECK(options.Round(1) == options.page_size);
  const auto heap = std::make_shared<Heap>();
  {
    const std::unique_ptr<Storage> storage = CreateStorage(options, heap);
    storage->Free(storage->Alloc(100, kCPU));
    CHECK(heap->blocks == 1 && storage->Stats(kCPU).cached_bytes == options.page_size);
    storage->ReleaseAll(kCPU);
  }
  CHECK(heap->blocks == 0);
}

void Stores() {
  FollowInterrupts();
  const std::unique_ptr<KVStore> store = KVStore::Create("local");
  NDArray value = Filled(Shape({2}), {1, 2}), out(Shape({2}), kCPU);
  store->Init({KVKey(3)}, {&value});
  store->Push({KVKey(3)}, {&value});
  store->Pull({KVKey(3)}, {&out});
  CHECK(Values(out) == Floats({1, 2}));
}

}  // namespace

int main(int, char** argv) {
  const std::string folder = argv[1];
  Base();
  EngineAndEnvironment();
  Arrays();
  Files(folder + "/arrays.params");
  SparseArrays();
  Symbols();
  Inference();
  Eager();
  Graphs();
  Records();
  Memory();
  Stores();
  Profiles(folder + "/profile.json");
  std::puts("called");
}
