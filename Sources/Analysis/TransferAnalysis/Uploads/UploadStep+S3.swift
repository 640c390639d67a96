internal import Base
internal import Contents
internal import HTTPModel
internal import Traffic

/// Multipart uploads, as Amazon S3 and its like take them.
extension UploadStep {
    init?(s3Multipart heads: TransferHeads, isKnown: Bool, _ contents: TransferContents) throws {
        self.init(.s3Multipart, heads)
        let number = URLReference.parameter("partNumber", of: heads.url)
        switch heads.method {
        case "PUT":
            guard let number else { return nil }
            asked = "part \(number.prefix(20).text)"
            if heads.asked("x-amz-copy-source") != nil {
                readCopied(heads)
                try readAnswer(heads, contents)
            }
            if let number = TransferHeads.number(number), (1...10_000).contains(number) {
                place = .numbered(number)
            } else {
                note(.unplaced, "no part's number")
            }
        case "POST" where isKnown:
            try readAnswer(heads, contents)
            guard outcome == .taken else { return }
            ending = .finished
            guard !heads.requestIsCut else { return }
            listed = try CompletedParts(heads.exchange, contents.source)?.numbers
        case "DELETE" where isKnown: ending = outcome == .taken ? .cancelled : .none
        default: return nil
        }
    }

    /// A part that the server takes from another object has no content; the range of that object
    /// tells its size.
    private mutating func readCopied(_ heads: TransferHeads) {
        if let range = heads.asked("x-amz-copy-source-range"),
            let list = RangeSpecifier.list(range), list.count == 1,
            case .bounded(let first, let last) = list[0],
            let count = Int64(exactly: last - first).flatMap({ $0 < .max ? $0 + 1 : nil })
        {
            stored = .other(count: count)
            note(.copied)
        } else {
            stored = .other(count: nil)
            note(.unplaced, "copied on the server")
        }
    }

    /// A success by its status is none before the document has come.
    private mutating func readAnswer(
        _ heads: TransferHeads, _ contents: TransferContents
    ) throws {
        guard outcome == .taken else { return }
        switch try S3Document(answerTo: heads.exchange, contents.source) {
        case .error(let code):
            outcome = .refused
            note(.errorDocument, code)
        case .cut: outcome = .unknown
        case .result, nil: if heads.exchange.error != nil { outcome = .unknown }
        }
    }
}
