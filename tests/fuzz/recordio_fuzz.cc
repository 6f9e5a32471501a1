// RecordIO files. A reader takes no more than the file is long, goes back where it was after an
// error, and never stands still.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "fuzz.h"
#include "io/recordio.h"
#include "mxnet/error.h"

using namespace mxnet;  // NOLINT

namespace {

std::string Magic() { return std::string("\x0a\x23\xd7\xce", 4); }

std::string Written(const std::vector<std::string>& records, const std::string& path) {
  RecordWriter writer(path);
  for (const auto& r : records) writer.Write(r.data(), r.size());
  writer.Close();
  std::ifstream f(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(f), {});
}

TEST(RecordIOFuzz, DamagedFiles) {
  const std::string path = ::testing::TempDir() + "fuzz_recordio_" + std::to_string(getpid());
  std::vector<std::string> corpus;
  corpus.push_back(Written({"", "a", "some text", std::string(300, 'x')}, path));
  corpus.push_back(Written({"head" + Magic() + "tail" + Magic(), Magic() + Magic(), std::string(1000, '\0')}, path));
  fuzz::Mutator mutator(5, corpus,
                        {Magic(), Magic() + std::string("\xff\xff\xff\x1f", 4), Magic() + std::string("\0\0\0\x20", 4),
                         Magic() + std::string("\0\0\0\x40", 4), Magic() + std::string("\0\0\0\x60", 4), std::string("\0\0\0\0", 4)});
  fuzz::Run(&mutator, 600, {8, 64 << 10}, [&path](const std::string& data) {
    std::ofstream(path, std::ios::binary) << data;
    RecordReader reader(path);
    std::string record;
    uint64_t at = 0;
    try {
      while (reader.Read(&record)) {
        ASSERT_GT(reader.Tell(), at);
        ASSERT_LE(reader.Tell(), data.size());
        ASSERT_LE(record.size(), data.size());
        at = reader.Tell();
      }
    } catch (const Error&) {
      EXPECT_EQ(reader.Tell(), at);
      EXPECT_TRUE(record.empty());
      EXPECT_THROW(reader.Read(&record), Error);  // the same again, not the next piece
      throw;
    }
  });
  std::remove(path.c_str());
}

}  // namespace
