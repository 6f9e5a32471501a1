/* Unsigned numbers in the order of floats, in place, compiled for each instruction set. */
#ifndef MXNET_OPERATOR_INDEXING_ORDER_KEYS_H_
#define MXNET_OPERATOR_INDEXING_ORDER_KEYS_H_

#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

constexpr int64_t kFewKeys = 32;

/*
 * KeysOfFloats: n floats, or doubles with `wide`, become unsigned numbers of as many bits in the
 * same order, of which those bits are turned over that `flip` has. -0 stands before 0. Every NaN is
 * the same, above all others. FloatsOfKeys is the way back.
 * SortFewKeys: at most kFewKeys unsigned numbers of 2, 4 or 8 bytes, in order.
 */
MXNET_CPU_DECLARE(void KeysOfFloats(bool wide, int64_t n, uint64_t flip, void* numbers);
                  void FloatsOfKeys(bool wide, int64_t n, uint64_t flip, void* keys); void SortFewKeys(int bytes, int64_t n, void* keys);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_ORDER_KEYS_H_
