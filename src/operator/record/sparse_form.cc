#include "operator/record/sparse_form.h"

#include <atomic>
#include <mutex>
#include <set>
#include <unordered_map>

#include "base/logging.h"
#include "mxnet/env.h"
#include "mxnet/ndarray.h"
#include "mxnet/profiler.h"
#include "operator/record/infers_storage.h"
#include "operator/shared/on_host.h"
#include "operator/shared/settle.h"

namespace mxnet {

struct SparseForm::Made {
  std::once_flag once;
  Op op;
};

namespace {

/* Filled in while the library is loaded, and never changed then. */
std::unordered_map<const Op*, SparseForm>& Forms() {
  static auto* forms = new std::unordered_map<const Op*, SparseForm>();
  return *forms;
}

/* What kernels make is in order, but where they say that they kept the order of an input. */
void BeginOutputs(const KernelArgs& args) {
  for (const TBlob& out : args.out) {
    bool is_input = false;
    for (const TBlob& in : args.in) is_input = is_input || in.sparse == out.sparse;
    if (out.sparse && !is_input) out.sparse->state.store(SparseParts::kAscending, std::memory_order_release);
  }
}

/* Calls `kernel` when what callers filled in has been looked at. */
Kernel Settled(const Kernel& kernel) {
  return [kernel](KernelArgs& args) {
    for (const TBlob& in : args.in)
      if (in.sparse) in.sparse->Settle();
    BeginOutputs(args);
    kernel(args);
  };
}

/* The same for a kernel that is given a GPU's arrays. How much it launches depends on numbers of
 * the host that change from call to call, so no graph may keep its launches. */
Kernel SettledOnDevice(const Kernel& kernel) {
  return [kernel](KernelArgs& args) {
    if (args.run.capture) ++args.run.capture->host_waits;
    MXNET_CHECK(!args.run.capturing()) << "[" << args.attrs->op->name << "] of sparse arrays cannot be captured: their sizes may change";
    for (const TBlob& in : args.in)
      if (in.sparse) SettleOnDevice(args, in.sparse);
    BeginOutputs(args);
    kernel(args);
  };
}

void MakeRecord(const Op& dense, const SparseForm& form, Op* op) {
  *op = dense;
  op->aliases.clear();
  op->kernels.clear();
  op->traits.clear();
  op->runs = RunBy::kKernel;
  op->runs_by = nullptr;
  op->array_fn = nullptr;
  op->flops = form.flops;
  op->layout = LayoutRule::kPlain;
  op->images = ImagePlaces();
  op->supports_add = op->stateful = false;
  op->makes_sparse = true;  // whatever it is given
  if (!form.in_place) op->inplace = nullptr;
  const auto cpu = form.kernels.find(DeviceType::kCPU);
  MXNET_CHECK(cpu != form.kernels.end()) << "[" << dense.name << "] its sparse form has no kernel for the CPU";
  const Kernel settled = Settled(cpu->second);
  op->set_kernel(DeviceType::kCPU, settled);
  const auto gpu = form.kernels.find(DeviceType::kGPU);
  op->set_kernel(DeviceType::kGPU,
                 SettledOnDevice(gpu != form.kernels.end() ? gpu->second : Kernel([settled](KernelArgs& args) { OnHost(args, settled); })));
}

const Op* RecordOf(const Op& dense, const SparseForm& form) {
  std::call_once(form.made->once, [&] {
    MakeRecord(dense, form, &form.made->op);
    form.made->op.set_trait(SparseForm(form));
  });
  return &form.made->op;
}

std::atomic<uint64_t> g_fallbacks{0};

/* Of a form's node: the storages of its results, a digit each. What stands there in a file or a
 * program's call means nothing: such attributes belong to dense records. */
constexpr char kFormStorages[] = "__form_storages__";

/* The same parameters with the form's record, and no storages. */
std::shared_ptr<Attrs> CopyForForm(const Attrs& attrs) {
  auto made = std::make_shared<Attrs>(attrs);
  made->op = RecordOf(*attrs.op, *SparseFormOf(*attrs.op));
  made->dict.erase(kFormStorages);
  return made;
}

/* Of a form's node; null: of another, or of a call. */
const std::string* FixedStorages(const Attrs& attrs) {
  const auto found = attrs.dict.find(kFormStorages);
  return found == attrs.dict.end() || !attrs.op->trait<SparseForm>() ? nullptr : &found->second;
}

}  // namespace

SparseForm& DeclareSparse(const char* name, SparseForm::TakesFn takes) {
  SparseForm& form = Forms()[&Op::Register(name)];
  form.takes = std::move(takes);
  form.dense = &Op::Register(name);
  form.made = std::make_shared<SparseForm::Made>();
  return form;
}

const SparseForm* SparseFormOf(const Op& op) {
  const auto found = Forms().find(&op);
  return found == Forms().end() ? op.trait<SparseForm>() : &found->second;
}

StorageWay InferStorage(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  if (const std::string* fixed = FixedStorages(attrs)) {
    for (size_t i = 0; i < out->size(); ++i) (*out)[i] = static_cast<StorageType>(fixed->at(i) - '0');
    return StorageWay::kForm;
  }
  if (attrs.op->trait<TakesAnyStorage>()) {
    out->assign(out->size(), StorageType::kDense);
    return StorageWay::kDense;
  }
  if (const InfersStorage* own = attrs.op->trait<InfersStorage>()) {
    StorageTypes known = in, made = *out;
    for (StorageType& s : known)
      if (s == StorageType::kUndefined) s = StorageType::kDense;
    if (own->infer(attrs, known, &made)) {
      *out = std::move(made);
      return StorageWay::kDense;
    }
  }
  bool sparse = false;
  for (StorageType s : in) sparse = sparse || IsSparse(s);
  bool wished = false;
  for (StorageType s : *out) wished = wished || IsSparse(s);
  const SparseForm* form = SparseFormOf(*attrs.op);
  const auto finish = [&](StorageTypes made) {
    bool any = sparse;
    for (StorageType& s : made) {
      if (s == StorageType::kUndefined) s = StorageType::kDense;
      any = any || IsSparse(s);
    }
    *out = std::move(made);
    return any ? StorageWay::kForm : StorageWay::kDense;
  };
  if (form && (sparse || wished || attrs.op->makes_sparse)) {
    StorageTypes known = in;
    for (StorageType& s : known)
      if (s == StorageType::kUndefined) s = StorageType::kDense;
    StorageTypes made = *out;
    if (form->takes(attrs, known, &made)) return finish(std::move(made));
    made.assign(out->size(), StorageType::kUndefined);
    if (form->takes(attrs, known, &made)) {
      const StorageWay way = finish(std::move(made));
      return way == StorageWay::kDense && wished ? StorageWay::kFallback : way;
    }
  }
  out->assign(out->size(), StorageType::kDense);
  return sparse || wished ? StorageWay::kFallback : StorageWay::kDense;
}

AttrsPtr AttrsOfForm(const AttrsPtr& attrs) {
  struct Slot {
    AttrsPtr from, to;
  };
  constexpr size_t kSlots = 64;
  static thread_local Slot slots[kSlots];
  const size_t h = reinterpret_cast<size_t>(attrs.get()) / 16;
  Slot& slot = slots[(h ^ h >> 6) % kSlots];
  if (slot.from == attrs) return slot.to;
  slot = {attrs, CopyForForm(*attrs)};
  return slot.to;
}

AttrsPtr AttrsOfForm(const AttrsPtr& attrs, const StorageTypes& out) {
  auto made = CopyForForm(*attrs);
  std::string text;
  for (StorageType s : out) text += static_cast<char>('0' + static_cast<int>(s));
  made->dict[kFormStorages] = text;
  return made;
}

AttrsPtr AttrsOfDense(const Attrs& attrs) {
  const SparseForm* form = attrs.op->trait<SparseForm>();
  if (!form) return nullptr;
  auto made = std::make_shared<Attrs>(attrs);
  made->op = form->dense;
  made->dict.erase(kFormStorages);
  return made;
}

void ComputeOnHost(KernelArgs& args) { OnHost(args, *args.attrs->op->cpu_kernel); }

/* Not where sparse arrays are looked at for their shapes alone. */
static bool CopiesDense(const Attrs& attrs, const StorageTypes& in, const StorageTypes& out) {
  bool copies = std::any_of(out.begin(), out.end(), IsSparse);
  for (size_t i = 0; i < in.size(); ++i) copies = copies || (IsSparse(in[i]) && !attrs.ReadsOnlyShape(static_cast<int>(i)));
  return copies;
}

void NoteFallback(const Attrs& attrs, const StorageTypes& in, const StorageTypes& out) {
  if (!CopiesDense(attrs, in, out)) return;
  g_fallbacks.fetch_add(1, std::memory_order_relaxed);
  if (profiler::Active() != 0) profiler::Mark("storage_fallback", attrs.op->name, "process");
  if (!Env::Get().storage_fallback_log_verbose) return;
  const auto list = [](const StorageTypes& storages) {
    std::string names;
    for (StorageType s : storages)
      names += (names.empty() ? "" : ", ") + std::string(StorageTypeName(s == StorageType::kUndefined ? StorageType::kDense : s));
    return "(" + names + ")";
  };
  const std::string text = "[" + attrs.op->name + "] has no sparse kernel for " + list(in) + " -> " + list(out);
  static auto* mutex = new std::mutex;
  static auto* said = new std::set<std::string>;
  {
    std::lock_guard<std::mutex> lock(*mutex);
    if (!said->insert(text).second) return;
  }
  LogWarning(text + ": it runs on dense copies, which take more memory and time (MXNET_STORAGE_FALLBACK_LOG_VERBOSE=0 hides this line)");
}

uint64_t CountFallbacks() { return g_fallbacks.load(std::memory_order_relaxed); }

bool TakesLikeFirst(const Attrs&, const StorageTypes& in, StorageTypes* out) {
  for (size_t i = 1; i < in.size(); ++i)
    if (in[i] != StorageType::kDense) return false;
  for (StorageType& s : *out)
    if (!GiveStorage(&s, in[0])) return false;
  return true;
}

}  // namespace mxnet
