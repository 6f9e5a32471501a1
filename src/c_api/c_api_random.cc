// Seeds and generators of random numbers over the C ABI.
#include <memory>
#include <vector>

#include "c_api/c_api_common.h"
#include "imperative/random_pool.h"
#include "mxnet/imperative.h"

using namespace mxnet;  // NOLINT

namespace {

RandomPool* AsGenerator(RandomGeneratorHandle handle) {
  MXNET_CHECK_KIND(handle != nullptr, Value) << "[c_api] got a null generator handle; accepted: one of MXRandomGeneratorCreate";
  return static_cast<RandomPool*>(handle);
}

}  // namespace

int MXRandomSeed(int seed) {
  API_BEGIN();
  Imperative::Seed(static_cast<uint32_t>(seed));
  API_END();
}

int MXRandomSeedContext(int seed, int dev_type, int dev_id) {
  API_BEGIN();
  Imperative::SeedContext(static_cast<uint32_t>(seed), Context::Make(dev_type, dev_id));
  API_END();
}

int MXRandomGetState(uint64_t* size, const uint64_t** out) {
  API_BEGIN(size, out);
  std::vector<uint64_t>& words = ApiStore::Get().index;
  words = RandomPool::Global()->State();
  *size = words.size();
  *out = words.data();
  API_END();
}

int MXRandomSetState(uint64_t size, const uint64_t* state) {
  API_BEGIN();
  Need(static_cast<int64_t>(size), state, "state");
  RandomPool::Global()->SetState(Span<const uint64_t>(state, size));
  API_END();
}

int MXRandomGeneratorCreate(uint64_t seed, RandomGeneratorHandle* out) {
  API_BEGIN(out);
  *out = std::make_unique<RandomPool>(seed).release();
  API_END();
}

int MXRandomGeneratorFree(RandomGeneratorHandle handle) {
  API_BEGIN();
  delete AsGenerator(handle);
  API_END();
}

int MXRandomGeneratorUse(RandomGeneratorHandle handle, RandomGeneratorHandle* previous) {
  API_BEGIN_UNSEEN();
  RandomPool* before = RandomPool::Choose(static_cast<RandomPool*>(handle));
  if (previous) *previous = before;
  API_END();
}

int MXRandomGeneratorGetPosition(RandomGeneratorHandle handle, int dev_type, int dev_id, uint64_t* out) {
  API_BEGIN(out);
  *out = AsGenerator(handle)->Position(Context::Make(dev_type, dev_id));
  API_END();
}

int MXRandomGeneratorSetPosition(RandomGeneratorHandle handle, int dev_type, int dev_id, uint64_t position) {
  API_BEGIN();
  AsGenerator(handle)->SetPosition(Context::Make(dev_type, dev_id), position);
  API_END();
}
