internal import Base
internal import HTTPModel
internal import Traffic

/// What a request brought of what the server is to store.
struct SentContent {
    private(set) var form = ContentForm.plain
    /// In bytes.
    private(set) var count: Int64
    /// What `count` was to be; `nil` if nobody told.
    private(set) var announced: Int64?
    /// Whether less came than was announced.
    private(set) var isCut: Bool
    /// Those behind the content, and those within its framing.
    private(set) var trailers: [UInt8]
    private(set) var notes: [TransferNote] = []
    /// Whether its framing cannot be read to its end, so that what is stored may be anything; what
    /// does not look like framing at some place is counted as it is.
    private(set) var isMalformed = false
    /// What the client says is in the frames, in bytes; `nil` if it does not, or there are none.
    private(set) var framedCount: Int64?

    /// Reads the content only where it is framed.
    init(_ heads: TransferHeads, _ contents: TransferContents) throws {
        let body = heads.exchange.requestBody
        count = max(0, body.size)
        announced = heads.announcedRequest
        isCut = heads.requestIsCut
        trailers = body.trailers
        guard count > 0, Self.isFramed(heads) else { return }
        framedCount = heads.asked("x-amz-decoded-content-length").flatMap(TransferHeads.number)
        let (reader, violation) = try contents.unframe(heads.exchange.id, .request)
        if let violation {
            takeMalformed(violation.rawValue)
            return
        }
        form = .awsChunks
        trailers = reader.trailers + trailers
        announced = framedCount ?? (reader.isWhole ? reader.count : nil)
        // What the recording left out passed all the same.
        if body.isTruncated, !isCut, let announced, announced < count {
            count = announced
            return
        }
        if !isCut, !reader.isWhole, !body.isTruncated { takeMalformed("no last chunk") }
        count = reader.count
        isCut = isCut || !reader.isWhole || announced.map { count < $0 } ?? false
        if let announced, count > announced { notes.append(TransferNote(.tooLong)) }
    }

    private mutating func takeMalformed(_ reason: String) {
        isMalformed = true
        notes.append(TransferNote(.chunksMalformed, reason))
    }

    /// Some clients leave out one of the two.
    private static func isFramed(_ heads: TransferHeads) -> Bool {
        let signing = heads.asked("x-amz-content-sha256") ?? []
        return signing.starts(with: Array("STREAMING-".utf8))
            || heads.request.values(named: Array("content-encoding".utf8)).contains {
                $0.split(separator: UInt8(ascii: ",")).contains {
                    $0.trimmingWhitespace.equalsIgnoringCase("aws-chunked")
                }
            }
    }
}
