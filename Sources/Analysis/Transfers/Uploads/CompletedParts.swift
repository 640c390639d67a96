internal import Base
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

    /// Looks at tags alone, each byte once; anything unusual makes it no list.
    init?(_ document: ArraySlice<UInt8>) {
        var rest = document
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            guard rest.first != UInt8(ascii: "!") else { return nil }
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
            let tag = rest[..<end]
            rest = rest[(end + 1)...]
            // A quoted value may hold what looks like a tag.
            guard tag.count(where: { $0 == UInt8(ascii: "\"") }).isMultiple(of: 2),
                tag.count(where: { $0 == UInt8(ascii: "'") }).isMultiple(of: 2)
            else { return nil }
            guard tag.elementsEqual("PartNumber".utf8) else { continue }
            let text = rest.prefix { $0 != UInt8(ascii: "<") }
            let words = text.split(whereSeparator: \.isXMLSpace)
            guard words.count == 1, text.endIndex < rest.endIndex,
                let number = TransferHeads.number(words[0]), (1...10_000).contains(number),
                number > numbers.last ?? 0
            else { return nil }
            numbers.append(number)
        }
        if numbers.isEmpty { return nil }
    }

    /// In bytes: a list of 10,000 parts, each with its checksums, has less.
    private static let readLimit = 4 << 20
}
