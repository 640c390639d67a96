// zlib, brotli and zstd, and inline functions for the zlib macros that Swift does not import.
#ifndef SALLYPORT_CCOMPRESSION_H
#define SALLYPORT_CCOMPRESSION_H

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <zlib.h>
#include <zstd.h>

static inline int compression_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}
static inline int compression_deflate_init(z_stream *stream, int level, int window_bits) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}

#endif
