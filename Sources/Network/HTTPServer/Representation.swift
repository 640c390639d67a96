internal import Base
package import HTTPCodecs

/// One version of something that can be sent whole or in parts.
package struct Representation: Sendable {
    package typealias Opening =
        @Sendable (Range<UInt64>) -> any ResponseBodySource

    /// The same content coded beforehand: bytes with a length and a version of their own, of which
    /// parts can be sent.
    package struct Coded: Sendable {
        package let coding: ContentCoding
        /// In bytes.
        package let length: UInt64
        package let validators: Validators
        package let open: Opening

        package init(
            _ coding: ContentCoding, length: UInt64, validators: Validators,
            open: @escaping Opening
        ) {
            self.coding = coding
            self.length = length
            self.validators = validators
            self.open = open
        }
    }

    package let contentType: String
    /// In bytes.
    package let length: UInt64
    package let validators: Validators
    /// The value of Cache-Control, `nil` for none.
    package var cacheControl: String?
    /// Whether it is coded for clients that ask for that, while it is sent.
    package var isCompressed = false
    /// Whether other clients may get it coded, so that caches must tell them apart.
    package var isNegotiated = false
    /// Where it is coded already.
    package var coded: [Coded] = []
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
