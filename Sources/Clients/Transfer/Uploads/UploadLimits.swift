internal import Base
internal import HTTPModel

/// What an origin takes of an upload: Upload-Limit (draft-ietf-httpbis-resumable-upload §4.1.4), and
/// Tus-Max-Size.
package struct UploadLimits: Sendable, Equatable {
    /// Of the whole, in bytes; `nil` for any, here and below.
    package var greatest: Int64?
    package var least: Int64?
    /// Of one append.
    package var greatestAppend: Int64?
    /// Of one append that does not end the upload.
    package var leastAppend: Int64?
    /// How long the upload stays, in seconds.
    package var age: Int64?

    package init() {}

    /// Reads a field; `nil` for none, and for one of which a known key has no number: it says
    /// nothing as a whole. Keys that are not known are passed over.
    package init?(_ field: ArraySlice<UInt8>?) {
        guard let field, field.count <= Self.byteLimit else { return nil }
        for member in field.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let value = member.trimmingWhitespace
            let key = value.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
            guard let path = Self.keys[key.text] else {
                guard Self.isKey(key) else { return nil }
                continue
            }
            guard let number = Self.integer(value.dropFirst(key.count + 1)) else { return nil }
            self[keyPath: path] = number
        }
    }

    /// A number of a structured field, with its parameters (RFC 9651 §3.3.1); `nil` for anything
    /// else.
    package static func integer(_ text: ArraySlice<UInt8>) -> Int64? {
        let digits = text.prefix { $0 != UInt8(ascii: ";") }.trimmingWhitespace
        guard digits.count <= 15 else { return nil }
        return decimal(digits).flatMap { Int64(exactly: $0) }
    }

    /// RFC 9651 §3.1.2.
    private static func isKey(_ text: ArraySlice<UInt8>) -> Bool {
        guard let first = text.first, first == 0x2A || first.isASCIILowercase else { return false }
        return text.allSatisfy {
            $0.isASCIILowercase || $0.isASCIIDigit || [0x5F, 0x2D, 0x2E, 0x2A].contains($0)
        }
    }

    private static var keys: [String: WritableKeyPath<UploadLimits, Int64?>] {
        [
            "max-size": \.greatest, "min-size": \.least, "max-append-size": \.greatestAppend,
            "min-append-size": \.leastAppend, "max-age": \.age, "expires": \.age,
        ]
    }

    private static let byteLimit = 1024
}

extension UInt8 {
    fileprivate var isASCIILowercase: Bool { (0x61...0x7A).contains(self) }
}
