internal import Base
internal import Traffic

/// The document by which S3 says how a request ended, also with the status 200: what takes long is
/// answered before it is done (CompleteMultipartUpload, UploadPartCopy, CopyObject).
enum S3Document: Equatable {
    /// Any but an error.
    case result
    /// With what S3 calls it; empty if it does not say or nobody could read it.
    case error(code: String)
    /// There is no root element yet.
    case cut

    /// `nil` if the response has no content, or none of it was recorded.
    init?(answerTo exchange: ExchangeRecord, _ source: any TrafficSource) throws {
        guard exchange.responseBody.size > 0 else { return nil }
        var start: [UInt8] = []
        var left = Self.readLimit
        try source.body(ofExchange: exchange.id, .response) { bytes in
            let piece = bytes.prefix(left)
            left -= piece.count
            // White space is what the connection is kept alive with.
            start += start.isEmpty ? piece.drop(while: \.isXMLSpace) : piece
            return left > 0 && start.count < Self.documentLimit
        }
        if left == Self.readLimit { return nil }
        self.init(start[...])
    }

    /// - Parameter text: the document, or the start of one.
    init(_ text: ArraySlice<UInt8>) {
        var rest = text
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        Self.skipProlog(&rest)
        let name = rest.dropFirst().prefix {
            $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") && !$0.isXMLSpace
        }
        // A name at the very end of what was read may go on.
        guard rest.first == UInt8(ascii: "<"), name.first?.isASCIILetter ?? false,
            name.endIndex < rest.endIndex
        else {
            self = .cut
            return
        }
        self =
            name.elementsEqual("Error".utf8)
            ? .error(code: Self.code(in: rest[name.endIndex...])) : .result
    }

    /// White space, declarations and comments; a comment without an end is left there.
    private static func skipProlog(_ text: inout ArraySlice<UInt8>) {
        while true {
            text = text.drop(while: \.isXMLSpace)
            let end: [UInt8]
            if text.starts(with: Array("<?".utf8)) {
                end = Array("?>".utf8)
            } else if text.starts(with: Array("<!--".utf8)) {
                end = Array("-->".utf8)
            } else {
                return
            }
            guard let found = text.firstRange(of: end) else { return }
            text = text[found.upperBound...]
        }
    }

    private static func code(in text: ArraySlice<UInt8>) -> String {
        guard let start = text.firstRange(of: Array("<Code>".utf8)) else { return "" }
        let code = text[start.upperBound...].prefix { $0.isASCIILetter || $0.isASCIIDigit }
        return code.count <= codeLimit ? code.text : ""
    }

    /// In bytes: hours of white space, which comes every few seconds.
    private static let readLimit = 64 << 10
    /// In bytes; of the document itself.
    private static let documentLimit = 4096
    private static let codeLimit = 64
}

extension UInt8 {
    var isXMLSpace: Bool { [0x20, 0x09, 0x0D, 0x0A].contains(self) }
}
