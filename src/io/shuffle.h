/*
 * The order in which 1.x's iterators mix records for a seed: Fisher and Yates's method, upwards,
 * with numbers of MT19937 that are divided and not taken modulo.
 */
#ifndef MXNET_IO_SHUFFLE_H_
#define MXNET_IO_SHUFFLE_H_

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace mxnet {

/* REQUIRES: at most 2^32 items. */
template <typename T>
void Shuffle(std::vector<T>* items, std::mt19937* random) {
  for (uint64_t i = 1; i < items->size(); ++i) {
    const uint64_t quotient = 0xFFFFFFFFull / (i + 1);
    uint64_t drawn = (*random)();
    while (quotient > 0 && drawn >= quotient * (i + 1)) drawn = (*random)();
    std::swap((*items)[i], (*items)[quotient > 0 ? drawn / quotient : drawn]);
  }
}

}  // namespace mxnet
#endif  // MXNET_IO_SHUFFLE_H_
