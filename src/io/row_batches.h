/* Batches of rows that are read one after the other. */
#ifndef MXNET_IO_ROW_BATCHES_H_
#define MXNET_IO_ROW_BATCHES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/data_iter.h"

namespace mxnet {

/* A row consists of as many parts as a batch has arrays. Read and Restart throw Error; Read stands
 * behind the row then. */
class RowSource {
 public:
  virtual ~RowSource() = default;
  /* Puts the bytes of each part into (*row)[i]. False at the end. A wrong file must not make it
   * take more memory than the file is long. */
  virtual bool Read(std::vector<std::vector<char>>* row) = 0;
  virtual void Restart() = 0;
};

struct RowPart {
  Shape shape;  // of one row
  int dtype;
  bool sparse = false;  // becomes a csr array of float32: the bytes of a row are Features in ascending order
};

/* An element of a row of a sparse part. */
struct Feature {
  int64_t column;
  float value;
};

class RowBatches : public DataIter {
 public:
  /* Throws Error(kValue) for batch_size 0. `name` begins messages. */
  RowBatches(const std::string& name, std::unique_ptr<RowSource> rows, const std::vector<RowPart>& parts, uint32_t batch_size,
             bool round_batch, Context context);
  void BeforeFirst() override;
  void Restart() override;
  bool Next() override;
  const DataBatch& Value() const override { return value_; }

 private:
  struct Part {
    Shape batch_shape;
    int dtype;
    size_t row_bytes;
    bool sparse;
    std::vector<char> rows;  // of the batch that is made
    // Of a sparse part, in place of `rows`.
    std::vector<int64_t> indptr{0}, columns;
    std::vector<float> values;
  };
  static void Put(const std::vector<char>& row, uint32_t place, Part* part);
  static void Give(Part* part, uint32_t batch_size, NDArray* array);
  uint32_t Fill(uint32_t from);
  void RestartRows();

  const std::string name_;
  const std::unique_ptr<RowSource> rows_;
  std::vector<Part> parts_;
  std::vector<std::vector<char>> row_;  // the last one read
  const uint32_t batch_size_;
  const bool round_batch_;
  const Context context_;
  std::vector<uint64_t> index_;
  uint64_t next_index_ = 0;
  bool over_ = false;       // the epoch
  bool borrowed_ = false;   // its last batch has rows of the next one
  bool continues_ = false;  // it began behind such rows, and no batch was read yet
  DataBatch value_;
};

}  // namespace mxnet
#endif  // MXNET_IO_ROW_BATCHES_H_
