/* Numbers that stand for contents. */
#ifndef MXNET_BASE_MIX_H_
#define MXNET_BASE_MIX_H_

#include <cstdint>

namespace mxnet {

/* `number` with `more` mixed in: multiplication by the golden ratio (Knuth, The Art of Computer
 * Programming, 6.4), and a shift that brings the high bits back. */
inline uint64_t Mix(uint64_t number, uint64_t more) {
  number = (number ^ more) * 0x9e3779b97f4a7c15u;
  return number ^ number >> 29;
}

}  // namespace mxnet
#endif  // MXNET_BASE_MIX_H_
