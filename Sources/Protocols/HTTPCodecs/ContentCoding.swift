internal import Base
package import HTTPModel

/// A way in which content is packed (RFC 9110 §8.4.1).
package enum ContentCoding: String, Sendable, CaseIterable {
    case gzip
    /// The zlib format, and the raw deflate stream that some servers send under this name.
    case deflate
    case brotli = "br"
    /// RFC 9659: with a window of 8 MB at most.
    case zstd

    /// How many codings one message may pile up; more are nothing but a burden.
    package static let depthLimit = 3

    /// The codings of a message in the order in which they were applied; `identity` is none.
    ///
    /// - Returns: `nil` if one is unknown, or there are more than `depthLimit`.
    package static func codings(of fields: Fields) -> [ContentCoding]? {
        codings(
            named: fields.slices.filter { $0.known == .contentEncoding }.map { fields.value($0) })
    }

    /// The same of the values of the fields, in their order.
    package static func codings(named values: [ArraySlice<UInt8>]) -> [ContentCoding]? {
        var codings: [ContentCoding] = []
        for value in values {
            for element in value.split(separator: 0x2C) {
                let name = element.trimmingWhitespace
                if name.isEmpty || name.equalsIgnoringCase("identity") { continue }
                guard codings.count < depthLimit, let coding = ContentCoding(name: name) else {
                    return nil
                }
                codings.append(coding)
            }
        }
        return codings
    }

    /// Recognises a name in any case, and `x-gzip`.
    package init?(name: ArraySlice<UInt8>) {
        if name.equalsIgnoringCase("gzip") || name.equalsIgnoringCase("x-gzip") {
            self = .gzip
        } else if name.equalsIgnoringCase("deflate") {
            self = .deflate
        } else if name.equalsIgnoringCase("br") {
            self = .brotli
        } else if name.equalsIgnoringCase("zstd") {
            self = .zstd
        } else {
            return nil
        }
    }
}
