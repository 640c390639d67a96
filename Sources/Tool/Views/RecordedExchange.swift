internal import Base
internal import Contents
package import Traffic

/// One exchange with its contents, which stream through.
package struct RecordedExchange {
    package let record: ExchangeRecord
    package let source: any TrafficSource
    package let decode: ContentDecoding

    package init(
        _ record: ExchangeRecord, in source: any TrafficSource,
        decode: @escaping ContentDecoding = ContentStream.decoding
    ) {
        self.record = record
        self.source = source
        self.decode = decode
    }

    package func head(_ direction: Direction) -> [UInt8] {
        direction == .request ? record.requestHead : record.responseHead
    }

    package func body(_ direction: Direction) -> BodyRecord {
        direction == .request ? record.requestBody : record.responseBody
    }

    /// The content codings that a head names, `nil` for none.
    package func codings(_ direction: Direction) -> String? {
        let codings = RecordedHead(head(direction)).values(named: "content-encoding")
            .map(\.text).joined(separator: ", ")
        return codings.isEmpty || codings.lowercased() == "identity" ? nil : codings
    }

    /// Visits a content in pieces as they come out of `stream`.
    package func visitBody(
        _ direction: Direction, through stream: ContentStream, _ visit: ([UInt8]) throws -> Bool
    ) throws {
        var isWanted = true
        try source.body(ofExchange: record.id, direction) { bytes in
            try stream.push(bytes) { piece in
                isWanted = try visit(piece)
                return isWanted
            }
        }
        if isWanted, !body(direction).isTruncated { _ = try visit(try stream.finish()) }
    }
}
