// Datasets of arrays, and datasets of datasets.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/register_iter.h"
#include "operator/record/tuple_field.h"

namespace mxnet {

GraphCall (*MakeGraphCall)(int64_t cached_op) = nullptr;

namespace {

using DatasetPtr = std::shared_ptr<const Dataset>;

struct NDArrayDatasetParam : public Parameter<NDArrayDatasetParam> {
  int64_t arr;
  MXNET_DECLARE_PARAM(NDArrayDatasetParam) { MXNET_FIELD(arr).describe("Handle of the array."); }
};
MXNET_REGISTER_PARAM(NDArrayDatasetParam);

class NDArrayDataset : public Dataset {
 public:
  explicit NDArrayDataset(NDArray array) : array_(std::move(array)) {
    MXNET_CHECK_KIND(!array_.is_none() && array_.shape().ndim() > 0, Value)
        << "[NDArrayDataset] an array without dimensions was given; accepted: at least one";
  }
  uint64_t Size() const override { return static_cast<uint64_t>(array_.shape()[0]); }
  std::vector<NDArray> Item(uint64_t index) const override { return {array_.At(static_cast<int64_t>(index))}; }

 private:
  const NDArray array_;
};

MXNET_REGISTER_DATASET(NDArrayDataset)
    .describe("The parts of an array along its first axis.")
    .set_param<NDArrayDatasetParam>()
    .set_make([](const IterArguments& given) -> std::shared_ptr<Dataset> {
      NDArrayDatasetParam param;
      ReadParams("NDArrayDataset", given, &param);
      MXNET_CHECK_KIND(param.arr != 0, Value) << "[NDArrayDataset] arr is null; accepted: the handle of an array";
      return std::make_shared<NDArrayDataset>(reinterpret_cast<const NDArray*>(param.arr)->Detach());
    });

struct GroupDatasetParam : public Parameter<GroupDatasetParam> {
  Tuple<int64_t> datasets;
  MXNET_DECLARE_PARAM(GroupDatasetParam) { MXNET_FIELD(datasets).describe("Handles of datasets of one length."); }
};
MXNET_REGISTER_PARAM(GroupDatasetParam);

class GroupDataset : public Dataset {
 public:
  explicit GroupDataset(std::vector<DatasetPtr> parts) : parts_(std::move(parts)) {
    MXNET_CHECK_KIND(!parts_.empty(), Value) << "[GroupDataset] no dataset was given; accepted: one or more";
    for (const DatasetPtr& part : parts_)
      MXNET_CHECK_KIND(part->Size() == parts_[0]->Size(), Value)
          << "[GroupDataset] datasets of " << parts_[0]->Size() << " and " << part->Size() << " items; accepted: equal lengths";
  }
  uint64_t Size() const override { return parts_[0]->Size(); }
  std::vector<NDArray> Item(uint64_t index) const override {
    std::vector<NDArray> item;
    for (const DatasetPtr& part : parts_)
      for (NDArray& array : part->Item(index)) item.push_back(std::move(array));
    return item;
  }

 private:
  const std::vector<DatasetPtr> parts_;
};

MXNET_REGISTER_DATASET(GroupDataset)
    .describe("Items that have the parts of several datasets' items.")
    .set_param<GroupDatasetParam>()
    .set_make([](const IterArguments& given) -> std::shared_ptr<Dataset> {
      GroupDatasetParam param;
      ReadParams("GroupDataset", given, &param);
      std::vector<DatasetPtr> parts;
      for (int64_t number : param.datasets.values) parts.push_back(Handles<Dataset>::Find(number, "[GroupDataset] datasets"));
      return std::make_shared<GroupDataset>(std::move(parts));
    });

struct IndexedDatasetParam : public Parameter<IndexedDatasetParam> {
  int64_t base;
  Tuple<uint64_t> indices;
  MXNET_DECLARE_PARAM(IndexedDatasetParam) {
    MXNET_FIELD(base).describe("Handle of a dataset.");
    MXNET_FIELD(indices).describe("Which of its items, in which order.");
  }
};
MXNET_REGISTER_PARAM(IndexedDatasetParam);

class IndexedDataset : public Dataset {
 public:
  IndexedDataset(DatasetPtr base, std::vector<uint64_t> indices) : base_(std::move(base)), indices_(std::move(indices)) {
    for (uint64_t index : indices_)
      MXNET_CHECK_KIND(index < base_->Size(), Index) << "[IndexedDataset] index " << index << " of " << base_->Size() << " items";
  }
  uint64_t Size() const override { return indices_.size(); }
  std::vector<NDArray> Item(uint64_t index) const override { return base_->Item(indices_[index]); }

 private:
  const DatasetPtr base_;
  const std::vector<uint64_t> indices_;
};

MXNET_REGISTER_DATASET(IndexedDataset)
    .describe("Some of another dataset's items.")
    .set_param<IndexedDatasetParam>()
    .set_make([](const IterArguments& given) -> std::shared_ptr<Dataset> {
      IndexedDatasetParam param;
      ReadParams("IndexedDataset", given, &param);
      return std::make_shared<IndexedDataset>(Handles<Dataset>::Find(param.base, "[IndexedDataset] base"), std::move(param.indices.values));
    });

struct LazyTransformParam : public Parameter<LazyTransformParam> {
  int64_t cached_op, dataset;
  Shape transform_indices, scalar_outputs;
  MXNET_DECLARE_PARAM(LazyTransformParam) {
    MXNET_FIELD(cached_op).describe("Handle of the graph that changes items.");
    MXNET_FIELD(dataset).describe("Handle of a dataset.");
    MXNET_FIELD(transform_indices)
        .set_default(Shape(std::vector<int64_t>()))
        .describe("Which parts the graph reads; none: the first ones.");
    MXNET_FIELD(scalar_outputs).describe("For each of the graph's results 1 if it becomes an array without dimensions, else 0.");
  }
};
MXNET_REGISTER_PARAM(LazyTransformParam);

class LazyTransformDataset : public Dataset {
 public:
  LazyTransformDataset(const LazyTransformParam& param, DatasetPtr base, GraphCall graph)
      : param_(param), base_(std::move(base)), graph_(std::move(graph)) {
    MXNET_CHECK_KIND(static_cast<size_t>(std::max(param.scalar_outputs.ndim(), 0)) == graph_.results, Value)
        << "[LazyTransformDataset] scalar_outputs=" << param.scalar_outputs.str() << "; accepted: a number for each of the graph's "
        << graph_.results << " results";
  }
  uint64_t Size() const override { return base_->Size(); }

  std::vector<NDArray> Item(uint64_t index) const override {
    std::vector<NDArray> item = base_->Item(index), inputs;
    std::vector<bool> taken(item.size(), false);
    const Shape& which = param_.transform_indices;
    for (int i = 0; i < std::max(which.ndim(), which.ndim() > 0 ? 0 : 1); ++i) {
      const int64_t part = which.ndim() > 0 ? which[i] : 0;
      MXNET_CHECK_KIND(part >= 0 && part < static_cast<int64_t>(item.size()), Index)
          << "[LazyTransformDataset] transform_indices=" << which.str() << "; the items have " << item.size() << " parts";
      inputs.push_back(item[part]);
      taken[part] = true;
    }
    std::vector<NDArray> result = graph_.call(inputs);
    for (size_t i = 0; i < result.size(); ++i)
      if (param_.scalar_outputs[static_cast<int>(i)] != 0 && result[i].shape().Size() == 1)
        result[i] = result[i].Reshape(Shape(std::vector<int64_t>()));
    // Results come where the first part was, and the parts that were not read stay around them.
    std::vector<NDArray> out;
    bool placed = false;
    for (size_t i = 0; i < item.size(); ++i) {
      if (!taken[i]) {
        out.push_back(item[i]);
      } else if (!placed) {
        out.insert(out.end(), result.begin(), result.end());
        placed = true;
      }
    }
    return out;
  }

 private:
  const LazyTransformParam param_;
  const DatasetPtr base_;
  const GraphCall graph_;
};

MXNET_REGISTER_DATASET(LazyTransformDataset)
    .describe("Another dataset's items, changed by a graph when they are read.")
    .set_param<LazyTransformParam>()
    .set_make([](const IterArguments& given) -> std::shared_ptr<Dataset> {
      LazyTransformParam param;
      ReadParams("LazyTransformDataset", given, &param);
      MXNET_CHECK_KIND(param.cached_op != 0 && MakeGraphCall != nullptr, Value)
          << "[LazyTransformDataset] cached_op is null; accepted: a handle";
      return std::make_shared<LazyTransformDataset>(param, Handles<Dataset>::Find(param.dataset, "[LazyTransformDataset] dataset"),
                                                    MakeGraphCall(param.cached_op));
    });

}  // namespace
}  // namespace mxnet
