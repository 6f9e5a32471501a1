// Data iterators, datasets and functions that make batches, through C.
#include "mxnet/c_api_data.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "c_api/c_api_common.h"
#include "io/data_iter.h"
#include "io/dataset.h"
#include "io/shared_iter.h"
#include "mxnet/executor.h"

using namespace mxnet;  // NOLINT

namespace {

/* A handle of an iterator. The lists are seen by the caller until the next call. */
struct Iterator {
  explicit Iterator(std::unique_ptr<DataIter> made) : iter(std::move(made)) {}
  SharedIter iter;
  std::mutex mutex;  // guards the lists
  std::vector<uint64_t> index;
  std::vector<NDArrayHandle> items;
};

std::shared_ptr<Iterator> AsIterator(DataIterHandle handle) {
  MXNET_CHECK_KIND(handle != nullptr, Value) << "[MXDataIter] got a null handle";
  return Handles<Iterator>::Find(handle, "[MXDataIter]");
}

NDArrayHandle ArrayOf(const DataBatch& batch, size_t i, const char* what) {
  MXNET_CHECK_KIND(i < batch.arrays.size(), Value)
      << "[MXDataIter] the batch has no " << what << "; accepted: an iterator whose batches have " << i + 1 << " arrays";
  return new NDArray(batch.arrays[i]);
}

IterArguments Arguments(uint32_t num_param, const char** keys, const char** vals) {
  NeedTexts(num_param, keys, "keys");
  NeedTexts(num_param, vals, "vals");
  IterArguments given;
  for (uint32_t i = 0; i < num_param; ++i) given.emplace_back(keys[i], vals[i]);
  return given;
}

/* The handles of arrays for the caller, in memory of this thread. */
void GiveArrays(const std::vector<NDArray>& arrays, int* count, NDArrayHandle** handles) {
  std::vector<void*>& store = ApiStore::Get().handles;
  store.clear();
  for (const NDArray& array : arrays) store.push_back(new NDArray(array));
  if (count != nullptr) *count = static_cast<int>(arrays.size());
  *handles = store.data();
}

/* For LazyTransformDataset. */
GraphCall CallOf(int64_t cached_op) {
  const auto op = *reinterpret_cast<const std::shared_ptr<CachedOp>*>(cached_op);
  GraphCall graph;
  graph.results = op->symbol().outputs.size();
  const size_t inputs = op->symbol().ListInputNames(Symbol::kAll).size();
  graph.call = [op, inputs](const std::vector<NDArray>& given) {
    MXNET_CHECK_KIND(given.size() == inputs, Value)
        << "[LazyTransformDataset] the graph has " << inputs << " inputs; accepted: one that reads " << given.size()
        << " parts of an item, and no parameters";
    std::vector<NDArray> in = given, out(op->symbol().outputs.size());
    std::vector<NDArray*> in_pointers, out_pointers;
    for (NDArray& array : in) in_pointers.push_back(&array);
    for (NDArray& array : out) out_pointers.push_back(&array);
    op->Invoke(in_pointers, out_pointers);
    return out;
  };
  return graph;
}

const bool g_graph_calls = (MakeGraphCall = CallOf, true);

/* A record, which may have been named by anything. */
template <typename Record>
const Record* AsRecord(const void* creator, const char* what) {
  const auto& all = Record::All();
  const auto found = std::find(all.begin(), all.end(), creator);
  MXNET_CHECK_KIND(found != all.end(), Value) << "[c_api] " << creator << " is no " << what << "; accepted: one of the list of them";
  return *found;
}

template <typename Record>
void List(uint32_t* out_size, void*** out_array) {
  std::vector<void*>& handles = ApiStore::Get().handles;
  handles.clear();
  for (const Record* record : Record::All()) handles.push_back(const_cast<Record*>(record));
  *out_size = static_cast<uint32_t>(handles.size());
  *out_array = handles.data();
}

template <typename Record>
void Info(const Record& record, const char** name, const char** description, uint32_t* num_args, const char*** arg_names,
          const char*** arg_type_infos, const char*** arg_descriptions) {
  ApiStore& store = ApiStore::Get();
  store.pointers.clear();
  store.pointers2.clear();
  store.pointers3.clear();
  for (const ParamInfo& p : record.params) {
    store.pointers.push_back(p.name.c_str());
    store.pointers2.push_back(p.type.c_str());
    store.pointers3.push_back(p.description.c_str());
  }
  *name = record.name.c_str();
  *description = record.description.c_str();
  *num_args = static_cast<uint32_t>(record.params.size());
  *arg_names = store.pointers.data();
  *arg_type_infos = store.pointers2.data();
  *arg_descriptions = store.pointers3.data();
}

}  // namespace

int MXListDataIters(uint32_t* out_size, DataIterCreator** out_array) {
  API_BEGIN(out_size, out_array);
  List<IterRecord>(out_size, out_array);
  API_END();
}

int MXDataIterGetIterInfo(DataIterCreator creator, const char** name, const char** description, uint32_t* num_args, const char*** arg_names,
                          const char*** arg_type_infos, const char*** arg_descriptions) {
  API_BEGIN(name, description, num_args, arg_names, arg_type_infos, arg_descriptions);
  Info(*AsRecord<IterRecord>(creator, "data iterator"), name, description, num_args, arg_names, arg_type_infos, arg_descriptions);
  API_END();
}

int MXDataIterCreateIter(DataIterCreator handle, uint32_t num_param, const char** keys, const char** vals, DataIterHandle* out) {
  API_BEGIN(out);
  auto made = std::make_shared<Iterator>(AsRecord<IterRecord>(handle, "data iterator")->make(Arguments(num_param, keys, vals)));
  void* const address = made.get();
  Handles<SharedIter>::Add(address, std::shared_ptr<SharedIter>(made, &made->iter));
  Handles<Iterator>::Add(address, std::move(made));
  *out = address;
  API_END();
}

int MXDataIterFree(DataIterHandle handle) {
  API_BEGIN();
  Handles<SharedIter>::Remove(handle);
  Handles<Iterator>::Remove(handle);
  API_END();
}

int MXDataIterNext(DataIterHandle handle, int* out) {
  API_BEGIN(out);
  *out = AsIterator(handle)->iter.Advance();
  API_END();
}

int MXDataIterNextBatch(DataIterHandle handle, int* out, int* num_outputs, NDArrayHandle** outputs, uint64_t** out_index,
                        uint64_t* out_size, int* pad) {
  API_BEGIN(out, num_outputs, outputs, out_index, out_size, pad);
  DataBatch batch;
  *out = AsIterator(handle)->iter.Next(&batch);
  *pad = batch.pad;
  std::vector<uint64_t>& index = ApiStore::Get().index;
  index = std::move(batch.index);
  *out_index = index.data();
  *out_size = index.size();
  GiveArrays(batch.arrays, num_outputs, outputs);
  API_END();
}

int MXDataIterBeforeFirst(DataIterHandle handle) {
  API_BEGIN();
  AsIterator(handle)->iter.Rewind();
  API_END();
}

int MXDataIterGetLenHint(DataIterHandle handle, int64_t* len) {
  API_BEGIN(len);
  *len = AsIterator(handle)->iter.LengthHint();
  API_END();
}

int MXDataIterGetData(DataIterHandle handle, NDArrayHandle* out) {
  API_BEGIN(out);
  *out = ArrayOf(*AsIterator(handle)->iter.Current(), 0, "data");
  API_END();
}

int MXDataIterGetLabel(DataIterHandle handle, NDArrayHandle* out) {
  API_BEGIN(out);
  *out = ArrayOf(*AsIterator(handle)->iter.Current(), 1, "label");
  API_END();
}

int MXDataIterGetItems(DataIterHandle handle, int* num_outputs, NDArrayHandle** outputs) {
  API_BEGIN(num_outputs, outputs);
  const auto it = AsIterator(handle);
  const auto batch = it->iter.Current();
  std::lock_guard<std::mutex> hold(it->mutex);
  it->items.clear();
  for (size_t i = 0; i < batch->arrays.size(); ++i) it->items.push_back(ArrayOf(*batch, i, "item"));
  *num_outputs = static_cast<int>(it->items.size());
  *outputs = it->items.data();
  API_END();
}

int MXDataIterGetIndex(DataIterHandle handle, uint64_t** out_index, uint64_t* out_size) {
  API_BEGIN(out_index, out_size);
  const auto it = AsIterator(handle);
  const auto batch = it->iter.Current();
  std::lock_guard<std::mutex> hold(it->mutex);
  it->index = batch->index;
  *out_index = it->index.data();
  *out_size = it->index.size();
  API_END();
}

int MXDataIterGetPadNum(DataIterHandle handle, int* pad) {
  API_BEGIN(pad);
  *pad = AsIterator(handle)->iter.Current()->pad;
  API_END();
}

int MXListDatasets(uint32_t* out_size, DatasetCreator** out_array) {
  API_BEGIN(out_size, out_array);
  List<DatasetRecord>(out_size, out_array);
  API_END();
}

int MXDatasetGetDatasetInfo(DatasetCreator creator, const char** name, const char** description, uint32_t* num_args,
                            const char*** arg_names, const char*** arg_type_infos, const char*** arg_descriptions) {
  API_BEGIN(name, description, num_args, arg_names, arg_type_infos, arg_descriptions);
  Info(*AsRecord<DatasetRecord>(creator, "dataset"), name, description, num_args, arg_names, arg_type_infos, arg_descriptions);
  API_END();
}

int MXDatasetCreateDataset(DatasetCreator handle, uint32_t num_param, const char** keys, const char** vals, DatasetHandle* out) {
  API_BEGIN(out);
  auto made = AsRecord<DatasetRecord>(handle, "dataset")->make(Arguments(num_param, keys, vals));
  void* const address = made.get();
  Handles<Dataset>::Add(address, std::move(made));
  *out = address;
  API_END();
}

int MXDatasetFree(DatasetHandle handle) {
  API_BEGIN();
  Handles<Dataset>::Remove(handle);
  API_END();
}

int MXDatasetGetLen(DatasetHandle handle, uint64_t* out) {
  API_BEGIN(out);
  *out = Handles<Dataset>::Find(handle, "[MXDatasetGetLen]")->Size();
  API_END();
}

int MXDatasetGetItems(DatasetHandle handle, uint64_t index, int* num_outputs, NDArrayHandle** outputs) {
  API_BEGIN(num_outputs, outputs);
  const auto dataset = Handles<Dataset>::Find(handle, "[MXDatasetGetItems]");
  MXNET_CHECK_KIND(index < dataset->Size(), Index) << "[MXDatasetGetItems] index " << index << " of " << dataset->Size() << " items";
  GiveArrays(dataset->Item(index), num_outputs, outputs);
  API_END();
}

int MXListBatchifyFunctions(uint32_t* out_size, BatchifyFunctionCreator** out_array) {
  API_BEGIN(out_size, out_array);
  List<BatchifyRecord>(out_size, out_array);
  API_END();
}

int MXBatchifyFunctionGetFunctionInfo(BatchifyFunctionCreator creator, const char** name, const char** description, uint32_t* num_args,
                                      const char*** arg_names, const char*** arg_type_infos, const char*** arg_descriptions) {
  API_BEGIN(name, description, num_args, arg_names, arg_type_infos, arg_descriptions);
  Info(*AsRecord<BatchifyRecord>(creator, "function that makes batches"), name, description, num_args, arg_names, arg_type_infos,
       arg_descriptions);
  API_END();
}

int MXBatchifyFunctionCreateFunction(BatchifyFunctionCreator handle, uint32_t num_param, const char** keys, const char** vals,
                                     BatchifyFunctionHandle* out) {
  API_BEGIN(out);
  auto made = AsRecord<BatchifyRecord>(handle, "function that makes batches")->make(Arguments(num_param, keys, vals));
  void* const address = made.get();
  Handles<BatchifyFunction>::Add(address, std::move(made));
  *out = address;
  API_END();
}

int MXBatchifyFunctionInvoke(BatchifyFunctionHandle handle, int batch_size, int num_output, NDArrayHandle* inputs,
                             NDArrayHandle** outputs) {
  API_BEGIN(outputs);
  const auto function = Handles<BatchifyFunction>::Find(handle, "[MXBatchifyFunctionInvoke]");
  MXNET_CHECK_KIND(batch_size > 0 && num_output > 0, Value)
      << "[MXBatchifyFunctionInvoke] batch_size=" << batch_size << ", num_output=" << num_output << "; accepted: 1 or more";
  const int64_t count = static_cast<int64_t>(batch_size) * num_output;
  Need(count, inputs, "inputs");
  std::vector<std::vector<NDArray>> items(1);
  for (int64_t i = 0; i < count; ++i) {
    if (items.back().size() == static_cast<size_t>(num_output)) items.emplace_back();
    items.back().push_back(*WithMemory(inputs[i]));
  }
  const std::vector<NDArray> made = function->Make(items);
  MXNET_CHECK(made.size() == static_cast<size_t>(num_output))
      << "[MXBatchifyFunctionInvoke] got " << made.size() << " arrays; accepted: " << num_output;
  GiveArrays(made, nullptr, outputs);
  API_END();
}

int MXBatchifyFunctionFree(BatchifyFunctionHandle handle) {
  API_BEGIN();
  Handles<BatchifyFunction>::Remove(handle);
  API_END();
}
