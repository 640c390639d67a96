internal import Base
internal import Contents
internal import Traffic

/// Which parts a client tells S3 to put together (CompleteMultipartUpload).
struct CompletedParts {
    /// Ascending.
    private(set) var numbers: [Int64] = []

    /// `nil` if the request's content was not recorded whole, or is no such list.
    init?(_ exchange: ExchangeRecord, _ source: any TrafficSource) throws {
        let body = exchange.requestBody
        guard !body.isTruncated, body.size <= Self.readLimit else { return nil }
        var document: [UInt8] = []
        try source.body(ofExchange: exchange.id, .request) { bytes in
            document += bytes
            return document.count <= Self.readLimit
        }
        guard document.count == body.size else { return nil }
        self.init(document[...])
    }

    /// Anything unusual makes it no list.
    init?(_ document: ArraySlice<UInt8>) {
        let bytes = Array(document)
        var tokens = MarkupTokenizer(bytes)
        while let token = tokens.next() {
            switch token.kind {
            case .text, .instruction, .endTag: continue
            case .section, .comment, .declaration: return nil
            case .startTag: break
            }
            guard bytes[token.content].elementsEqual("PartNumber".utf8) else { continue }
            guard let text = tokens.next(), text.kind == .text, text.range.upperBound < bytes.count
            else { return nil }
            let words = bytes[text.content].split(whereSeparator: \.isXMLSpace)
            guard words.count == 1, let number = TransferHeads.number(words[0]),
                (1...10_000).contains(number), number > numbers.last ?? 0
            else { return nil }
            numbers.append(number)
        }
        if numbers.isEmpty { return nil }
    }

    /// In bytes: a list of 10,000 parts, each with its checksums, has less.
    private static let readLimit = 4 << 20
}
