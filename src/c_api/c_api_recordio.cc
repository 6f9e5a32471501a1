// RecordIO through C.
#include <memory>

#include "c_api/c_api_error.h"
#include "io/recordio.h"
#include "mxnet/c_api.h"

using namespace mxnet;  // NOLINT

namespace {

struct Reader {
  explicit Reader(const char* path) : reader(path) {}
  RecordReader reader;
  std::string record;  // the caller sees it until its next call
};

template <typename T>
T* As(RecordIOHandle h) {
  MXNET_CHECK_KIND(h != nullptr, Value) << "[RecordIO] got a null handle";
  return static_cast<T*>(h);
}

}  // namespace

int MXRecordIOWriterCreate(const char* uri, RecordIOHandle* out) {
  API_BEGIN(out);
  MXNET_CHECK_KIND(uri != nullptr, Value) << "[RecordIO] uri is NULL; accepted: a path";
  *out = new RecordWriter(uri);
  API_END();
}

int MXRecordIOWriterFree(RecordIOHandle handle) {
  API_BEGIN();
  std::unique_ptr<RecordWriter> writer(static_cast<RecordWriter*>(handle));
  if (writer) writer->Close();
  API_END();
}

int MXRecordIOWriterWriteRecord(RecordIOHandle handle, const char* buf, size_t size) {
  API_BEGIN();
  MXNET_CHECK_KIND(buf || size == 0, Value) << "[RecordIO] the record is a null pointer, its size " << size;
  As<RecordWriter>(handle)->Write(buf, size);
  API_END();
}

int MXRecordIOWriterTell(RecordIOHandle handle, size_t* pos) {
  API_BEGIN(pos);
  *pos = As<RecordWriter>(handle)->Tell();
  API_END();
}

int MXRecordIOReaderCreate(const char* uri, RecordIOHandle* out) {
  API_BEGIN(out);
  MXNET_CHECK_KIND(uri != nullptr, Value) << "[RecordIO] uri is NULL; accepted: a path";
  *out = new Reader(uri);
  API_END();
}

int MXRecordIOReaderFree(RecordIOHandle handle) {
  API_BEGIN();
  delete static_cast<Reader*>(handle);
  API_END();
}

/* At the end *buf is null and *size 0; an empty record has a pointer. */
int MXRecordIOReaderReadRecord(RecordIOHandle handle, char const** buf, size_t* size) {
  API_BEGIN(buf, size);
  Reader* r = As<Reader>(handle);
  const bool some = r->reader.Read(&r->record);
  *buf = some ? r->record.data() : nullptr;
  *size = r->record.size();
  API_END();
}

int MXRecordIOReaderSeek(RecordIOHandle handle, size_t pos) {
  API_BEGIN();
  As<Reader>(handle)->reader.Seek(pos);
  API_END();
}

int MXRecordIOReaderTell(RecordIOHandle handle, size_t* pos) {
  API_BEGIN(pos);
  *pos = As<Reader>(handle)->reader.Tell();
  API_END();
}
