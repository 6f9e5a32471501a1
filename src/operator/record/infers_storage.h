/* A trait of operators that work on arrays of several storages without a sparse form. */
#ifndef MXNET_OPERATOR_RECORD_INFERS_STORAGE_H_
#define MXNET_OPERATOR_RECORD_INFERS_STORAGE_H_

#include "operator/record/sparse_form.h"

namespace mxnet {

/*
 * The record itself is called on arrays of these storages, and says what it makes of them
 * (StorageWay::kDense with results of any storage). `in`: all known. `*out`: given ones are wishes,
 * which it need not grant. False: it works on dense arrays alone, as if it had no such trait.
 */
struct InfersStorage {
  bool (*infer)(const Attrs& attrs, const StorageTypes& in, StorageTypes* out);
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_INFERS_STORAGE_H_
