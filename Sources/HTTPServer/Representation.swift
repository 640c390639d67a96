package import Base

/// Compresses a body piece by piece.
package protocol BodyEncoder: AnyObject {
    /// The compressed bytes that are ready after `bytes`, possibly none.
    func compress(_ bytes: [UInt8]) throws(Failure) -> [UInt8]
    /// The rest, after which nothing may be compressed.
    func finish() throws(Failure) -> [UInt8]
}

/// One version of something that can be sent whole or in parts.
package struct Representation: Sendable {
    package typealias Opening =
        @Sendable (Range<UInt64>) throws(Failure) -> any ResponseBodySource

    package let contentType: String
    /// In bytes.
    package let length: UInt64
    package let validators: Validators
    /// The value of Cache-Control, `nil` for none.
    package var cacheControl: String?
    /// Makes the encoder of the gzip variant; `nil` if there is no such variant.
    package var gzipEncoder: (@Sendable () -> any BodyEncoder)?
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
        ) { (range) throws(Failure) in
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
