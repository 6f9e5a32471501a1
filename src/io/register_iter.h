/*
 * Registering of data iterators, datasets and functions that make batches, with their parameters
 * as dmlc::Parameter structs (operator/param.h). Included by .cc files only, as dmlc/parameter.h is
 * slow to compile.
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
#include "operator/param.h"

namespace mxnet {

template <typename P>
void AppendParamInfo(std::vector<ParamInfo>* params) {
  for (const auto& f : P::__MANAGER__()->GetFieldInfo()) params->push_back({f.name, f.type_info_str, f.description});
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
template <typename P>
void CheckNotNegative(const std::string& function, const IterArguments& given) {
  for (const auto& f : P::__MANAGER__()->GetFieldInfo())
    for (const auto& argument : given) {
      if (argument.first != f.name || f.type.find("(non-negative)") == std::string::npos) continue;
      MXNET_CHECK_KIND(argument.second.find('-') == std::string::npos, Value)
          << "[" << function << "] " << f.name << "=" << argument.second << "; accepted: 0 or more";
    }
}

/* Fills the structs in. Throws Error(kValue), which names `function`, for a value that is not
 * accepted and for a required parameter that is missing. */
template <typename... P>
void ReadParams(const std::string& function, const IterArguments& given, P*... structs) {
  (CheckNotNegative<P>(function, given), ...);
  try {
    (structs->InitAllowUnknown(given), ...);
  } catch (const ::dmlc::Error& e) {
    throw Error(Error::Kind::kValue, ParamError(function, e.what()));
  }
}

/* How batches are made up. */
struct BatchParam : public dmlc::Parameter<BatchParam> {
  uint32_t batch_size;
  bool round_batch;
  DMLC_DECLARE_PARAMETER(BatchParam) {
    DMLC_DECLARE_FIELD(batch_size).describe("Instances in a batch.");
    DMLC_DECLARE_FIELD(round_batch)
        .set_default(true)
        .describe(
            "Whether the last batch is filled up with the first instances, after which the next "
            "epoch begins. If not, its end holds what the batch before had there.");
  }
};

/* How batches are kept ready, and what they consist of. `dtype` without a value: the iterator's
 * own. */
struct PrefetchParam : public dmlc::Parameter<PrefetchParam> {
  enum Device { kForCPU, kForGPU, kPinned };
  size_t prefetch_buffer;
  int ctx, device_id;
  dmlc::optional<int> dtype;
  /* Where the batches are. */
  Context context() const { return context(device_id); }
  /* For iterators whose device_id is among other parameters. */
  Context context(int device) const { return ctx == kPinned && device >= 0 ? Context::CPUPinned(device) : Context::CPU(); }
  DMLC_DECLARE_PARAMETER(PrefetchParam) {
    DMLC_DECLARE_FIELD(prefetch_buffer)
        .set_default(4)
        .describe("Batches that a thread reads ahead; with 0 each is read when it is asked for.");
    DMLC_DECLARE_FIELD(ctx)
        .set_default(kForGPU)
        .add_enum("cpu", kForCPU)
        .add_enum("gpu", kForGPU)
        .add_enum("cpu_pinned", kPinned)
        .describe(
            "Batches are in the memory of the CPU. It is page-locked with cpu_pinned, if device_id is "
            "given too.");
    DMLC_DECLARE_FIELD(device_id).set_default(-1).describe("The GPU that reads page-locked memory.");
    MXNET_DTYPE_FIELD_OF(dtype, dtypes::kClassicNumbers)
        .set_default(dmlc::optional<int>())
        .describe("Of the data; None: the iterator's own.");
  }
};

}  // namespace mxnet

#define MXNET_REGISTER_DATA_ITER(name) \
  static ::mxnet::IterRecord& MXNET_REG_CONCAT(mxnet_iter_reg_, __COUNTER__) [[maybe_unused]] = ::mxnet::IterRecord::Register(#name)

#endif  // MXNET_IO_REGISTER_ITER_H_
