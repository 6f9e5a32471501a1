/*
 * Lines of text files. Several files are given with semicolons between them; of a folder, all its
 * files in the order of their names. A process may read one of several equal parts.
 *
 * Lines end with \n, \r\n or \r. Empty ones, and a byte order mark, are left out.
 */
#ifndef MXNET_IO_TEXT_LINES_H_
#define MXNET_IO_TEXT_LINES_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace mxnet {

class TextLines {
 public:
  /* `function` begins messages. The parts have about as many bytes; a line belongs to the part in
   * which it begins. Throws Error(kIO), also for what is no regular file. */
  TextLines(std::string function, const std::string& uri, int part = 0, int parts = 1);
  ~TextLines();
  TextLines(const TextLines&) = delete;
  TextLines& operator=(const TextLines&) = delete;
  /* The next line, until the next call; null at the end. Throws Error(kIO). */
  const std::string* Next();
  void Restart();
  /* File and line of what Next gave last, for messages. */
  std::string Place() const;
  const std::string& function() const { return function_; }

 private:
  struct File {
    std::string path;
    int64_t offset, size;  // bytes in the files before, and in this one
  };
  void AddFiles(const std::string& path);
  void AddFile(const std::string& path);
  void Open(size_t index, int64_t position);
  bool Fill();
  void Skip(size_t bytes);
  bool ReadLine();

  const std::string function_, uri_;
  std::vector<File> files_;
  int64_t begin_ = 0, end_ = 0;  // the lines that begin after the first byte of [begin_, end_), or at byte 0
  std::FILE* file_ = nullptr;
  size_t index_ = 0;      // of the open file
  int64_t position_ = 0;  // in it
  int64_t number_ = 0;    // of the line
  bool whole_ = false;    // read from the file's beginning, so lines can be counted
  std::vector<char> buffer_;
  size_t at_ = 0, filled_ = 0;
  std::string line_;
};

/* Takes options off the end of a path, as in "a.svm?format=libsvm&indexing_mode=1", and the name of
 * a cache, as in "a.svm#cache", which is not used. A file whose name has these characters is left
 * alone. */
std::vector<std::pair<std::string, std::string>> TakeUriOptions(std::string* path);

inline bool IsBlank(char c) { return c == ' ' || c == '\t'; }

/* A piece of a line for a message: short, without bytes that are no text. */
std::string Shown(const char* begin, const char* end);

/* The number that begins at `text`, behind spaces; moves `text` behind it. False, with `text` where
 * it was, if there is none. Numbers beyond the type's range: infinite or zero; integers: false. */
bool ReadNumber(const char** text, const char* end, float* value);
bool ReadNumber(const char** text, const char* end, int32_t* value);
bool ReadNumber(const char** text, const char* end, int64_t* value);

}  // namespace mxnet
#endif  // MXNET_IO_TEXT_LINES_H_
