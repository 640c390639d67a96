internal import Base

/// One version of something that can be sent whole or in parts.
package struct Representation: Sendable {
    package typealias Opening =
        @Sendable (Range<UInt64>) -> any ResponseBodySource

    package let contentType: String
    /// In bytes.
    package let length: UInt64
    package let validators: Validators
    /// The value of Cache-Control, `nil` for none.
    package var cacheControl: String?
    /// Whether there is a gzip variant too.
    package var hasGzip = false
    /// Opens a stream of exactly these bytes.
    package let open: Opening

    package init(
        contentType: String, length: UInt64, validators: Validators, open: @escaping Opening
    ) {
        self.contentType = contentType
        self.length = length
        self.validators = validators
        self.open = open
    }

    /// A representation that is already in memory.
    package init(contentType: String, bytes: [UInt8], validators: Validators) {
        self.init(
            contentType: contentType, length: UInt64(bytes.count), validators: validators
        ) { range in
            BytesSource([UInt8](bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
        }
    }

    /// Whether compressing this media type is worth the while.
    package static func isCompressible(_ contentType: String) -> Bool {
        let type = contentType.prefix { $0 != ";" }.lowercased()
        return type.hasPrefix("text/") || type.hasSuffix("+json") || type.hasSuffix("+xml")
            || [
                "application/javascript", "application/json", "application/xml",
                "application/manifest+json", "image/svg+xml", "application/wasm",
            ].contains(type)
    }
}
