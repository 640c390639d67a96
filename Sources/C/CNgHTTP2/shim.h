// nghttp2, and its enumerations as the plain numbers that its functions take and give.
#ifndef SALLYPORT_CNGHTTP2_H
#define SALLYPORT_CNGHTTP2_H

#include <stddef.h>
#include <nghttp2/nghttp2.h>

static const int nghttp2_would_block = NGHTTP2_ERR_WOULDBLOCK;
static const int nghttp2_deferred = NGHTTP2_ERR_DEFERRED;
static const int nghttp2_stream_failure = NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
static const int nghttp2_bad_magic = NGHTTP2_ERR_BAD_CLIENT_MAGIC;
static const int nghttp2_flooded = NGHTTP2_ERR_FLOODED;
// NGHTTP2_ERR_TOO_MANY_CONTINUATIONS, which some headers do not name.
static const int nghttp2_too_many_continuations = -905;
static const int nghttp2_too_large = NGHTTP2_ERR_FRAME_SIZE_ERROR;
static const int nghttp2_bad_header = NGHTTP2_ERR_HTTP_HEADER;
static const int nghttp2_bad_message = NGHTTP2_ERR_HTTP_MESSAGING;

static const unsigned nghttp2_data_end = NGHTTP2_DATA_FLAG_EOF;
static const unsigned nghttp2_data_no_end_stream = NGHTTP2_DATA_FLAG_NO_END_STREAM;
static const int nghttp2_field_decoded = NGHTTP2_HD_INFLATE_EMIT;
static const int nghttp2_block_ended = NGHTTP2_HD_INFLATE_FINAL;
static const unsigned char nghttp2_end_stream = NGHTTP2_FLAG_END_STREAM;
static const unsigned char nghttp2_ack = NGHTTP2_FLAG_ACK;
static const unsigned char nghttp2_no_flags = NGHTTP2_FLAG_NONE;

enum {
    nghttp2_frame_data = NGHTTP2_DATA,
    nghttp2_frame_headers = NGHTTP2_HEADERS,
    nghttp2_frame_reset = NGHTTP2_RST_STREAM,
    nghttp2_frame_settings = NGHTTP2_SETTINGS,
    nghttp2_frame_goaway = NGHTTP2_GOAWAY
};

static inline nghttp2_settings_entry nghttp2_setting(int identifier, unsigned value) {
    nghttp2_settings_entry entry = {identifier, value};
    return entry;
}

/// The name and value stay where they are until the call that takes them has returned.
static inline nghttp2_nv nghttp2_field(
    const unsigned char *bytes, size_t name, size_t name_length, size_t value, size_t value_length,
    int is_sensitive) {
    nghttp2_nv field = {
        (unsigned char *)bytes + name, (unsigned char *)bytes + value, name_length, value_length,
        is_sensitive ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE};
    return field;
}

/// Whether a HEADERS frame opens a stream.
static inline int nghttp2_is_request(const nghttp2_frame *frame) {
    return frame->headers.cat == NGHTTP2_HCAT_REQUEST;
}

#endif
