internal import CCompression
internal import CNgHTTP2

/// The libraries that frame HTTP/2 and decode contents.
package enum CodecLibraries {
    /// Name and version of each, of the libraries that are loaded.
    package static var versions: [String] {
        // Each is text that the library holds for good.
        let http2 = unsafe nghttp2_version(0).map { unsafe String(cString: $0.pointee.version_str) }
        let brotli = BrotliDecoderVersion()
        return [
            "nghttp2 \(http2 ?? "unknown")",
            "zlib \(unsafe String(cString: zlibVersion()))",
            // RFC 7932's library counts in three parts of 8, 12 and 12 bits.
            "brotli \(brotli >> 24).\(brotli >> 12 & 0xFFF).\(brotli & 0xFFF)",
            "zstd \(unsafe String(cString: ZSTD_versionString()))",
        ]
    }
}
