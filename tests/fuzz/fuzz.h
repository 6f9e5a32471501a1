/*
 * Deterministic mutation fuzzing. Each test takes well-formed inputs, damages copies of them and
 * hands them to a reader, which may accept or throw mxnet::Error, and nothing else: a crash, a
 * report of a sanitizer, another exception, a hang or an allocation beyond the stated multiple of
 * the input's size fails the test, which names the input's number. FUZZ_RUNS=n changes the number
 * of inputs.
 */
#ifndef MXNET_TESTS_FUZZ_FUZZ_H_
#define MXNET_TESTS_FUZZ_FUZZ_H_

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace fuzz {

class Mutator {
 public:
  /* `tokens`: pieces of text or binary words that mean something in the format. */
  Mutator(uint32_t seed, std::vector<std::string> corpus, std::vector<std::string> tokens);
  /* The next damaged input: 1 to 6 changes (bits, bytes, numbers, tokens, cuts, repeats, parts of
   * other inputs). */
  std::string Next();

 private:
  void Change(std::string* s);
  uint32_t Below(size_t n) { return n == 0 ? 0 : random_() % static_cast<uint32_t>(n); }
  std::mt19937 random_;
  std::vector<std::string> corpus_, tokens_;
};

/* What a reader may take for an input: `multiple` times its size plus `constant` bytes at one
 * time. */
struct Budget {
  size_t multiple, constant;
};

/* Runs `read` on `runs` inputs (FUZZ_RUNS instead, if set). Both outcomes must occur: some inputs
 * accepted, some refused. */
void Run(Mutator* mutator, int runs, Budget budget, const std::function<void(const std::string&)>& read);

/* Bytes that operator new and the storage pools hold beyond what they held at Reset, at most so
 * far. */
class Allocations {
 public:
  static void Reset();
  static size_t Peak();
};

/* `file` of tests/python/data. */
std::string Data(const std::string& file);

}  // namespace fuzz
#endif  // MXNET_TESTS_FUZZ_FUZZ_H_
