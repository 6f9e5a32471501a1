/*
 * Registering of data iterators, datasets and functions that make batches, with their parameters
 * as structs (operator/record/param.h).
 *
 * An argument goes to every struct that has a parameter of its name. One that no struct knows is
 * ignored: 1.x handed iterators whatever their Python function got, data_name for example.
 */
#ifndef MXNET_IO_REGISTER_ITER_H_
#define MXNET_IO_REGISTER_ITER_H_

#include <string>
#include <utility>
#include <vector>

#include "io/data_iter.h"
#include "io/dataset.h"
#include "operator/record/param.h"

namespace mxnet {

template <typename P>
void AppendParamInfo(std::vector<ParamInfo>* params) {
  for (ParamInfo& info : P::Table().Infos()) params->push_back(std::move(info));
}

template <typename... P>
IterRecord& IterRecord::set_param() {
  (AppendParamInfo<P>(&params), ...);
  return *this;
}

template <typename T>
template <typename... P>
CreatorRecord<T>& CreatorRecord<T>::set_param() {
  (AppendParamInfo<P>(&params), ...);
  return *this;
}

/* The stream form of an unsigned number takes "-1" for the largest one. */
void CheckNotNegative(const std::string& function, const ParamTable& table, const IterArguments& given);

/* Fills the structs in. Throws Error(kValue), which names `function`, for a value that is not
 * accepted and for a required parameter that is missing. */
template <typename... P>
void ReadParams(const std::string& function, const IterArguments& given, P*... structs) {
  (CheckNotNegative(function, P::Table(), given), ...);
  (structs->ReadKnown(function, given), ...);
}

/* How batches are made up. */
struct BatchParam : public Parameter<BatchParam> {
  uint32_t batch_size;
  bool round_batch;
  MXNET_DECLARE_PARAM(BatchParam) {
    MXNET_FIELD(batch_size).describe("Instances in a batch.");
    MXNET_FIELD(round_batch)
        .set_default(true)
        .describe(
            "Whether the last batch is filled up with the first instances, after which the next "
            "epoch begins. If not, its end holds what the batch before had there.");
  }
};

/* How batches are kept ready, and what they consist of. `dtype` without a value: the iterator's
 * own. */
struct PrefetchParam : public Parameter<PrefetchParam> {
  enum Device { kForCPU, kForGPU, kPinned };
  size_t prefetch_buffer;
  int ctx, device_id;
  std::optional<int> dtype;
  /* Where the batches are. */
  Context context() const { return context(device_id); }
  /* For iterators whose device_id is among other parameters. */
  Context context(int device) const { return ctx == kPinned && device >= 0 ? Context::CPUPinned(device) : Context::CPU(); }
  MXNET_DECLARE_PARAM(PrefetchParam) {
    MXNET_FIELD(prefetch_buffer).set_default(4).describe("Batches that a thread reads ahead; with 0 each is read when it is asked for.");
    MXNET_FIELD(ctx)
        .set_default(kForGPU)
        .add_enum("cpu", kForCPU)
        .add_enum("gpu", kForGPU)
        .add_enum("cpu_pinned", kPinned)
        .describe(
            "Batches are in the memory of the CPU. It is page-locked with cpu_pinned, if device_id is "
            "given too.");
    MXNET_FIELD(device_id).set_default(-1).describe("The GPU that reads page-locked memory.");
    MXNET_DTYPE_FIELD_OF(dtype, dtypes::kClassicNumbers)
        .set_default(std::optional<int>())
        .describe("Of the data; None: the iterator's own.");
  }
};

}  // namespace mxnet

#define MXNET_REGISTER_DATA_ITER(name) \
  static ::mxnet::IterRecord& MXNET_REG_CONCAT(mxnet_iter_reg_, __COUNTER__) [[maybe_unused]] = ::mxnet::IterRecord::Register(#name)

#endif  // MXNET_IO_REGISTER_ITER_H_
