/*
 * Native data iterators: what MXDataIter* creates by name. A record names an iterator and its
 * parameters; the C interface, mx.io and the documentation read it.
 *
 *   MXNET_REGISTER_DATA_ITER(CSVIter)             // in one .cc file of src/io; register_iter.h
 *       .describe("Reads ...")
 *       .set_param<CsvParam, BatchParam, PrefetchParam>()   // several structs, listed in this order
 *       .set_make([](const IterArguments& given) -> std::unique_ptr<DataIter> {
 *         CsvParam csv;
 *         BatchParam batch;
 *         ReadParams("CSVIter", given, &csv, &batch);
 *         ...
 *       });
 *
 * THREADS   One iterator is for one thread at a time, but for LengthHint and Another, which any
 *           thread may call at any time. Several iterators may run at once. Programs hold them
 *           as shared_iter.h, which is safe.
 * ERRORS    Next throws Error; the iterator then stands where it would after the failed batch, and
 *           BeforeFirst works. A destructor stops whatever works in the background and does not
 *           throw.
 */
#ifndef MXNET_IO_DATA_ITER_H_
#define MXNET_IO_DATA_ITER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mxnet/ndarray.h"
#include "mxnet/node.h"

namespace mxnet {

struct DataBatch {
  std::vector<NDArray> arrays;  // data first, then label; of a dataset as many as its items have
  std::vector<uint64_t> index;  // which record each row is; empty: the iterator does not number them
  int pad = 0;                  // rows at the end that fill the batch up
};

class DataIter {
 public:
  virtual ~DataIter() = default;
  /* To the first batch. Throws Error. */
  virtual void BeforeFirst() = 0;
  /* To the first batch of the first records. Differs from BeforeFirst where an epoch that is over
   * has taken some of the records that the next one would begin with (round_batch). */
  virtual void Restart() { BeforeFirst(); }
  /* False at the end, as often as it is asked. Throws Error. */
  virtual bool Next() = 0;
  /* The batch of the last Next that returned true. The caller may keep its arrays: a later Next
   * writes to memory of its own, or to arrays that nobody else holds. */
  virtual const DataBatch& Value() const = 0;
  /* Batches in an epoch, as far as that is known without reading; -1: unknown. */
  virtual int64_t LengthHint() const { return -1; }
  /* A new iterator of the same arguments, for who reads it beside the owner of this one; null: it
   * can only be shared. Any thread may call it at any time. */
  virtual std::unique_ptr<DataIter> Another() const { return nullptr; }
};

using IterArguments = std::vector<std::pair<std::string, std::string>>;

struct IterRecord {
  std::string name, description;
  std::vector<ParamInfo> params;
  std::function<std::unique_ptr<DataIter>(const IterArguments&)> make;  // throws Error

  /* All records, sorted by name; they live as long as the process. */
  static const std::vector<const IterRecord*>& All();
  /* Null if there is none. */
  static const IterRecord* Find(const std::string& name);
  /* A new record with this name. It lives as long as the process. */
  static IterRecord& Register(const std::string& name);

  IterRecord& describe(const std::string& text) {
    description = text;
    return *this;
  }
  template <typename... P>
  IterRecord& set_param();  // register_iter.h
  IterRecord& set_make(std::function<std::unique_ptr<DataIter>(const IterArguments&)> fn) {
    make = std::move(fn);
    return *this;
  }
};

}  // namespace mxnet
#endif  // MXNET_IO_DATA_ITER_H_
