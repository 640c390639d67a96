internal import Base

/// The small responses of a worker that the same head gets each time, ready to be sent.
///
/// Load tests and clients that poll ask the same many times: finding the answer takes a look at the
/// head's bytes, and making it anew takes ten times as long as sending it.
final class KnownResponses {
    private var responses: [UInt64: KnownResponse] = [:]
    /// Heads that have come once.
    private var seen: Set<UInt64> = []

    /// The response to the head at the start of a buffer; `nil` if it is not known, or not whole.
    func find(_ buffer: ByteBuffer) -> KnownResponse? {
        guard !responses.isEmpty else { return nil }
        return unsafe buffer.withUnsafeReadable { bytes in
            guard let count = unsafe Self.headCount(bytes) else { return nil }
            let head = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
            guard let response = responses[unsafe Self.hash(head)],
                unsafe response.request.elementsEqual(head)
            else { return nil }
            return response
        }
    }

    /// Whether a head has come before; what comes once is not worth its keep.
    func hasSeen(_ head: [UInt8]) -> Bool {
        guard head.count <= Self.headLimit else { return false }
        if seen.count == Self.seenLimit { seen = [] }
        return !seen.insert(Self.hash(head)).inserted
    }

    func keep(_ response: KnownResponse) {
        if responses.count == Self.limit { responses = [:] }
        responses[Self.hash(response.request)] = response
    }

    private static func headCount(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var index = 3
        let end = min(bytes.count, headLimit)
        while index < end {
            // The end is four bytes, of which every second one is a line feed.
            switch unsafe bytes[index] {
            case 0x0A:
                if unsafe bytes[index - 1] == 0x0D, unsafe bytes[index - 2] == 0x0A,
                    unsafe bytes[index - 3] == 0x0D
                {
                    return index + 1
                }
                index += 2
            case 0x0D: index += 1
            default: index += 4
            }
        }
        return nil
    }

    private static func hash(_ head: [UInt8]) -> UInt64 {
        unsafe head.withUnsafeBytes { unsafe hash($0) }
    }

    /// Seeded anew in each process, so that nobody can choose heads that meet.
    private static func hash(_ head: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        unsafe hasher.combine(bytes: head)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Of heads, in bytes: clients of files send far less.
    private static let headLimit = 1024
    /// Of responses.
    private static let limit = 256
    private static let seenLimit = 4096
}

/// One of them.
final class KnownResponse {
    /// The head that it answers, through the empty line.
    let request: [UInt8]
    /// Of its content, in bytes.
    let count: UInt64
    /// Tells the route of a repetition.
    let repetition: Repetition
    private var bytes: [UInt8]
    /// Where the date stands; `nil` if the route sends one of its own.
    private let dateOffset: Int?
    private var date: String

    /// The content that is kept, in bytes: larger ones take longer to send than to make.
    static let contentLimit = 16 << 10

    init(
        to request: [UInt8], _ plan: ResponsePlan, content: [UInt8],
        _ repetition: @escaping Repetition
    ) {
        self.request = request
        count = UInt64(content.count)
        self.repetition = repetition
        bytes = plan.head + content
        date = plan.date ?? ""
        let mark = [UInt8]("\r\nDate: ".utf8)
        dateOffset =
            plan.date == nil ? nil : bytes[...].firstRange(of: mark[...]).map(\.upperBound)
    }

    /// Appends head and content as they are sent at a date.
    func append(to buffer: ByteBuffer, date: String) {
        if let dateOffset, date != self.date {
            self.date = date
            bytes.replaceSubrange(dateOffset..<dateOffset + date.utf8.count, with: date.utf8)
        }
        buffer.append(bytes)
    }
}
