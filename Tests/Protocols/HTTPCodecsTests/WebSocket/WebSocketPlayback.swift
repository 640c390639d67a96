import Base
import Testing

@testable import HTTPCodecs

/// What a reader told, with pieces joined that belong together.
struct WebSocketStory: Equatable, Sendable, CustomStringConvertible {
    enum Entry: Equatable, Sendable {
        case begin(WebSocketMessageKind, isCompressed: Bool)
        case content([UInt8])
        case end(UInt64, isTruncated: Bool)
        case ping([UInt8])
        case pong([UInt8])
        case close(UInt16?, String)
        case violation(WebSocketViolation, offset: UInt64)
        case raw([UInt8])
    }

    var entries: [Entry] = []
    var isAtBoundary = true

    mutating func add(_ event: WebSocketEvent, _ bytes: Span<UInt8>) {
        let copy = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
        switch event {
        case .messageBegin(let kind, let isCompressed):
            entries.append(.begin(kind, isCompressed: isCompressed))
        case .content:
            if case .content(let before)? = entries.last {
                entries[entries.count - 1] = .content(before + copy)
            } else {
                entries.append(.content(copy))
            }
        case .messageEnd(let end): entries.append(.end(end.size, isTruncated: end.isTruncated))
        case .ping: entries.append(.ping(copy))
        case .pong: entries.append(.pong(copy))
        case .close(let code): entries.append(.close(code, copy.text))
        case .violation(let violation, let offset):
            entries.append(.violation(violation, offset: offset))
        case .raw:
            if case .raw(let before)? = entries.last {
                entries[entries.count - 1] = .raw(before + copy)
            } else {
                entries.append(.raw(copy))
            }
        }
    }

    var description: String {
        entries.map { "\($0)" }.joined(separator: "\n") + "\n\(isAtBoundary)"
    }

    /// What was understood: a packed message that is broken is raw from where the unpacking
    /// stopped, which depends on how it was cut.
    var understood: [Entry] {
        entries.filter { if case .raw = $0 { false } else { true } }
    }

    var raw: [UInt8] {
        if case .raw(let bytes)? = entries.last { bytes } else { [] }
    }
}

/// Reads `bytes` in pieces that end at `cuts`.
func story(
    of bytes: [UInt8], from role: WebSocketRole, _ extensions: PerMessageDeflate? = nil,
    limits: WebSocketLimits = WebSocketLimits(), cuts: some Sequence<Int> = [],
    capacity: Int = 72 * 1024
) -> WebSocketStory {
    var reader = WebSocketReader(role: role, extensions: extensions, limits: limits)
    let scratch = ByteBuffer(capacity: capacity)
    var story = WebSocketStory()
    var start = 0
    for end in Array(cuts) + [bytes.count] {
        reader.read(bytes.span.extracting(start..<end), scratch: scratch) { event, bytes in
            story.add(event, bytes)
        }
        start = end
    }
    #expect(reader.offset == UInt64(bytes.count))
    #expect(scratch.isEmpty)
    story.isAtBoundary = reader.isAtBoundary
    return story
}

/// Reads `bytes` whole, byte by byte, and cut in two at every offset, with scratch buffers of
/// different lengths; tells every way that comes to something else.
func stories(
    of bytes: [UInt8], from role: WebSocketRole, _ extensions: PerMessageDeflate? = nil,
    limits: WebSocketLimits = WebSocketLimits()
) -> (whole: WebSocketStory, deviations: [String]) {
    let whole = story(of: bytes, from: role, extensions, limits: limits)
    var deviations: [String] = []
    func compare(_ other: WebSocketStory, _ way: String) {
        let isSame =
            extensions == nil
            ? other == whole
            : other.understood == whole.understood
                && bytes.reversed().starts(
                    with: other.raw.reversed())
                && other.isAtBoundary == whole.isAtBoundary
        if !isSame { deviations.append("\(way): \(other)") }
    }
    for capacity in [1, 3, 70_000] {
        compare(
            story(
                of: bytes, from: role, extensions, limits: limits, cuts: bytes.indices,
                capacity: capacity), "byte by byte, scratch of \(capacity)")
    }
    for cut in bytes.indices {
        compare(
            story(
                of: bytes, from: role, extensions, limits: limits, cuts: [cut],
                capacity: 1 + cut % 64), "cut at \(cut)")
    }
    return (whole, deviations)
}

/// A frame as the writer makes it; a client's is masked.
func frame(
    _ opcode: WebSocketOpcode, _ payload: [UInt8], from role: WebSocketRole = .server,
    isFinal: Bool = true, isCompressed: Bool = false
) -> [UInt8] {
    var output: [UInt8] = []
    WebSocketWriter.write(
        opcode, payload.span, isFinal: isFinal, isCompressed: isCompressed,
        maskingKey: role == .client ? 0x37FA_213D : nil, into: &output)
    return output
}

func frame(
    _ opcode: WebSocketOpcode, _ payload: String, from role: WebSocketRole = .server,
    isFinal: Bool = true
) -> [UInt8] {
    frame(opcode, Array(payload.utf8), from: role, isFinal: isFinal)
}

/// Packs messages one after the other as a sender of permessage-deflate does.
struct MessagePacker {
    private var session = DeflateSession(level: 6, .raw())
    private let resets: Bool

    init(resets: Bool = false) { self.resets = resets }

    mutating func pack(_ content: [UInt8]) -> [UInt8] {
        if resets { session = DeflateSession(level: 6, .raw()) }
        var output: [UInt8] = []
        session.encode(content.span, .sync, into: &output)
        return Array(output.dropLast(4))
    }
}
