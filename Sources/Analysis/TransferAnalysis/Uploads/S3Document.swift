internal import Base
internal import Contents
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
        let bytes = Array(text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text)
        var tokens = MarkupTokenizer(bytes)
        while let token = tokens.next() {
            switch token.kind {
            case .instruction, .comment: continue
            case .text where bytes[token.content].allSatisfy(\.isXMLSpace): continue
            // A name at the very end of what was read may go on.
            case .startTag where token.content.upperBound < bytes.count:
                let isError = bytes[token.content].elementsEqual("Error".utf8)
                self = isError ? .error(code: Self.code(in: bytes, &tokens)) : .result
                return
            default:
                self = .cut
                return
            }
        }
        self = .cut
    }

    private static func code(in bytes: [UInt8], _ tokens: inout MarkupTokenizer) -> String {
        while let token = tokens.next() {
            guard token.kind == .startTag, bytes[token.content].elementsEqual("Code".utf8),
                let text = tokens.next(), text.kind == .text
            else { continue }
            let code = bytes[text.content].prefix { $0.isASCIILetter || $0.isASCIIDigit }
            return code.count <= codeLimit ? code.text : ""
        }
        return ""
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
