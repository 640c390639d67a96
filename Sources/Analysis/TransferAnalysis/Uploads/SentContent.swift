internal import Base
internal import Contents
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
    /// `other` where its framing cannot be read to its end, so that what is stored may be anything,
    /// or was not recorded to its end.
    private(set) var stored = StoredPart.content

    /// `count` with the framing; `nil` if there is none.
    private(set) var framedCount: Int64?

    var isReadable: Bool { if case .content = stored { true } else { false } }

    /// How much of it the server stores, in bytes; `nil` if nobody can tell.
    var storedCount: Int64? {
        switch stored {
        case .content: count
        case .other(let count): count
        }
    }

    /// Reads the content only where it is framed.
    init(_ heads: TransferHeads, _ contents: TransferContents) throws {
        let body = heads.exchange.requestBody
        count = max(0, body.size)
        announced = heads.announcedRequest
        isCut = heads.requestIsCut
        trailers = body.trailers
        guard count > 0, Self.isFramed(heads) else { return }
        announced = heads.asked("x-amz-decoded-content-length").flatMap(TransferHeads.number)
        let (reader, violation) = try contents.unframe(heads.exchange.id, .request)
        if let violation {
            takeMalformed(violation.rawValue)
            return
        }
        form = .awsChunks
        framedCount = count
        trailers = reader.trailers + trailers
        if let announced, reader.count > announced { notes.append(TransferNote(.tooLong)) }
        if body.isTruncated, !reader.isWhole, !isCut {
            takeUnrecorded(behind: reader.count)
            return
        }
        if !isCut, !reader.isWhole { takeMalformed("no last chunk") }
        if reader.isWhole { announced = announced ?? reader.count }
        count = reader.count
        isCut = isCut || !reader.isWhole || announced.map { count < $0 } ?? false
    }

    /// What the recording left out passed all the same, and only the client's own count tells how
    /// much it was: less than with the framing, and no less than what was recorded.
    private mutating func takeUnrecorded(behind recorded: Int64) {
        if let announced, announced < count, recorded <= announced {
            count = announced
        } else {
            count = recorded
            announced = nil
            stored = .other(count: nil)
        }
    }

    /// What does not look like framing at some place is counted as it is.
    private mutating func takeMalformed(_ reason: String) {
        stored = .other(count: isCut ? nil : announced)
        notes.append(TransferNote(.chunksMalformed, reason))
    }

    /// Some clients leave out one of the two. Event streams are signed and have a framing of their
    /// own.
    private static func isFramed(_ heads: TransferHeads) -> Bool {
        let signing = heads.asked("x-amz-content-sha256") ?? []
        return signing.starts(with: Array("STREAMING-".utf8))
            && !signing.reversed().starts(with: "-EVENTS".utf8.reversed())
            || heads.request.elements(named: "content-encoding").contains {
                $0.equalsIgnoringCase("aws-chunked")
            }
    }
}
