/* Files of records: a part of the C interface, whose rules stand in c_api.h. */
#ifndef MXNET_C_API_RECORDIO_H_
#define MXNET_C_API_RECORDIO_H_

#include "mxnet/c_api.h"

/* Files of records (docs/file_formats.md). Positions are bytes from the start of the file; a reader
 * can seek to where a record begins. A record of a reader lives until its next call; at the end of
 * the file it is null. */

/* Opens a file to write; one that is there is replaced. */
MXNET_C_DLL int MXRecordIOWriterCreate(const char* uri, RecordIOHandle* out);

/* Writes what is left, and closes. Null is allowed. */
MXNET_C_DLL int MXRecordIOWriterFree(RecordIOHandle handle);

/* Appends a record of `size` bytes, which are copied. */
MXNET_C_DLL int MXRecordIOWriterWriteRecord(RecordIOHandle handle, const char* buf, size_t size);

/* Where the next record begins. */
MXNET_C_DLL int MXRecordIOWriterTell(RecordIOHandle handle, size_t* pos);

/* Opens a file to read. An error where there is none. */
MXNET_C_DLL int MXRecordIOReaderCreate(const char* uri, RecordIOHandle* out);

/* Closes. Null is allowed. */
MXNET_C_DLL int MXRecordIOReaderFree(RecordIOHandle handle);

/* The next record. Several threads may call this; each record goes to one of them. */
MXNET_C_DLL int MXRecordIOReaderReadRecord(RecordIOHandle handle, char const** buf, size_t* size);

/* The next record is the one that begins at `pos`. */
MXNET_C_DLL int MXRecordIOReaderSeek(RecordIOHandle handle, size_t pos);

/* Where the next record begins. */
MXNET_C_DLL int MXRecordIOReaderTell(RecordIOHandle handle, size_t* pos);

#endif /* MXNET_C_API_RECORDIO_H_ */
