#include <cmath>

#include "io/image/pipeline.h"

namespace mxnet {
namespace image {

Draws::Draws(uint64_t seed, uint32_t stream, uint64_t epoch, uint64_t position) {
  key_[0] = static_cast<uint32_t>(seed), key_[1] = static_cast<uint32_t>(seed >> 32) ^ (stream << 24) ^ static_cast<uint32_t>(epoch >> 16);
  counter_[0] = 0;  // of the words that were drawn
  counter_[1] = static_cast<uint32_t>(position), counter_[2] = static_cast<uint32_t>(position >> 32);
  counter_[3] = static_cast<uint32_t>(epoch) << 8 | stream;
}

uint32_t Draws::Bits() {
  if (left_ > 0) return words_[--left_];
  uint32_t c[4] = {counter_[0], counter_[1], counter_[2], counter_[3]}, k0 = key_[0], k1 = key_[1];
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = static_cast<uint64_t>(0xD2511F53u) * c[0], b = static_cast<uint64_t>(0xCD9E8D57u) * c[2];
    const uint32_t next[4] = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
                              static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
    for (int i = 0; i < 4; ++i) c[i] = next[i];
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  for (int i = 0; i < 4; ++i) words_[i] = c[3 - i];
  ++counter_[0];
  left_ = 3;
  return words_[3];
}

double Draws::Uniform() { return Bits() * (1.0 / 4294967296.0); }

double Draws::Uniform(double low, double high) { return low + (high - low) * Uniform(); }

int64_t Draws::Integer(int64_t low, int64_t high) {
  if (high <= low) return low;
  const uint64_t range = static_cast<uint64_t>(high - low) + 1;
  if (range >> 32) return low + static_cast<int64_t>((static_cast<uint64_t>(Bits()) << 32 | Bits()) % range);
  return low + static_cast<int64_t>(Bits() * range >> 32);
}

double Draws::Normal() {  // Box and Muller, 1958
  const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
  return radius * std::cos(6.283185307179586 * Uniform());
}

}  // namespace image
}  // namespace mxnet
