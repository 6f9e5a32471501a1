/* Joining arrays along an axis, on either device. */
#ifndef MXNET_OPERATOR_MATRIX_JOIN_PIECES_H_
#define MXNET_OPERATOR_MATRIX_JOIN_PIECES_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "base/ran.h"
#include "operator/matrix/even_steps.h"
#include "operator/matrix/move.h"

namespace mxnet {

/* In memory order: how many rows there are before `axis`, and the bytes behind one index of it. */
struct RowsAlongAxis {
  int64_t rows, inner;
  RowsAlongAxis(const TBlob& b, int axis) {
    const int ndim = b.shape.ndim();
    rows = b.shape.Prod(0, axis);
    inner = b.shape.Prod(axis + 1, ndim);
    if (b.layout == Layout::kChannelsLast && ndim > 2) {  // batch, spatial dimensions, channels
      rows = axis == 0 ? 1 : axis == 1 ? b.shape[0] * b.shape.Prod(2, ndim) : b.shape[0] * b.shape.Prod(2, axis);
      inner = axis == 0 ? b.shape.Prod(1, ndim) : axis == 1 ? 1 : b.shape.Prod(axis + 1, ndim) * b.shape[1];
    }
    inner *= static_cast<int64_t>(DTypeSize(b.dtype));
  }
};

/* `to` has piece 0 of all parts, then piece 1 of all. Part i has `rows` pieces of width(i) bytes. A
 * template, since a list of the widths would cost a small call 7 % of its time. */
template <typename F>
void JoinPieces(const RunContext& run, Span<const TBlob> parts, char* to, int64_t rows, F&& width) {
  Ran("copies of rows", RanAt::kNone);
  int64_t pitch = 0, shortest = INT64_MAX;
  for (int i = 0; i < parts.size(); ++i) pitch += width(i), shortest = std::min<int64_t>(shortest, width(i));
  if (rows > 1 && pitch == shortest * parts.size() && IsEvenStep(parts.size(), shortest) && !run.ctx.is_gpu()) {
    const void* pieces[kMostStep];
    for (int i = 0; i < parts.size(); ++i) pieces[i] = parts[i].dptr;
    return JoinElements(pieces, static_cast<int>(parts.size()), to, rows, static_cast<size_t>(shortest));
  }
  constexpr int64_t kLong = 512;  // bytes that outweigh going from one part to the next
  if (rows > 1 && parts.size() > 1 && shortest >= kLong && !run.ctx.is_gpu()) {
    std::vector<RowsOfPart> pieces;
    for (int i = 0; i < parts.size(); ++i) pieces.push_back({parts[i].dptr, width(i)});
    return JoinRows(pieces, to, rows);
  }
  for (int i = 0; i < parts.size(); ++i) {
    CopyRows(run, parts[i].dptr, width(i), to, pitch, width(i), rows);
    to += width(i);
  }
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_MATRIX_JOIN_PIECES_H_
