/// Tells the events of a text/event-stream as it passes (WHATWG HTML §9.2.6); it copies none.
///
/// It holds no more than an event's type. What never ends with an empty line is no event.
package struct EventStreamReader: Sendable {
    private enum Phase: Sendable {
        case byteOrderMark
        case lineStart
        case name
        /// Behind the colon, where one space does not count.
        case valueStart
        case eventType
        case passing
    }

    /// How much of an event's type is told, in bytes.
    package static let typeLimit = 64

    /// How many bytes were read.
    package private(set) var offset: UInt64 = 0
    private var phase = Phase.byteOrderMark
    /// Bytes of the byte order mark, or of a field's name.
    private var count = 0
    /// The last eight bytes of a field's name.
    private var name: UInt64 = 0
    /// Whether the last byte ended a line as CR, so that a LF belongs to it.
    private var sawReturn = false
    /// Where the first line since the last empty one starts.
    private var start: UInt64 = 0
    /// Whether a line came since then.
    private var sawLine = false
    private var hasData = false
    private var type: InlineArray<64, UInt8> = .init(repeating: 0)
    private var typeCount = 0

    package init() {}

    /// Reads all of `bytes`, and tells each event when the empty line that ends it has begun to
    /// end.
    ///
    /// - Parameter visit: gets where the event is, and its type's first bytes: none for `message`.
    package mutating func read(
        _ bytes: Span<UInt8>, _ visit: (EventStreamEvent, Span<UInt8>) -> Void
    ) {
        var position = 0
        while position < bytes.count {
            if phase == .passing {
                position = bytes.firstLineEnd(from: position)
                guard position < bytes.count else { break }
            }
            take(bytes[position], at: offset &+ UInt64(position), visit)
            position &+= 1
        }
        offset &+= UInt64(bytes.count)
    }

    private mutating func take(
        _ byte: UInt8, at place: UInt64, _ visit: (EventStreamEvent, Span<UInt8>) -> Void
    ) {
        if phase == .byteOrderMark, takeOfMark(byte, at: place) { return }
        if sawReturn {
            sawReturn = false
            if byte == lineFeed {
                if isBetween { start = place &+ 1 }
                return
            }
        }
        guard byte != lineFeed, byte != carriageReturn else {
            sawReturn = byte == carriageReturn
            endLine(at: place, visit)
            return
        }
        takeOfLine(byte)
    }

    /// Whether nothing came since the last empty line.
    private var isBetween: Bool { phase == .lineStart && !sawLine }

    /// Passes over a byte order mark; bytes that only begin like one begin a name that means
    /// nothing.
    private mutating func takeOfMark(_ byte: UInt8, at place: UInt64) -> Bool {
        let mark: UInt64 = 0xEF_BBBF
        if UInt64(byte) == mark >> UInt64((2 &- count) &* 8) & 0xFF {
            count &+= 1
            if count == 3 {
                phase = .lineStart
                count = 0
                start = place &+ 1
            }
            return true
        }
        phase = count == 0 ? .lineStart : .passing
        count = 0
        return false
    }

    private mutating func takeOfLine(_ byte: UInt8) {
        switch phase {
        case .lineStart, .name:
            if phase == .lineStart {
                sawLine = true
                count = 0
                name = 0
            }
            phase = .name
            if byte == colon {
                phase = isEvent ? .valueStart : .passing
                if isData { hasData = true }
                if isEvent { typeCount = 0 }
            } else if count == 8 {
                // No name that counts is as long.
                phase = .passing
            } else {
                name = name << 8 | UInt64(byte)
                count &+= 1
            }
        case .valueStart:
            phase = .eventType
            if byte != space { takeOfType(byte) }
        case .eventType: takeOfType(byte)
        case .byteOrderMark, .passing: return
        }
    }

    private mutating func takeOfType(_ byte: UInt8) {
        guard typeCount < Self.typeLimit else { return }
        type[typeCount] = byte
        typeCount &+= 1
    }

    private var isData: Bool { count == 4 && name == dataName }
    private var isEvent: Bool { count == 5 && name == eventName }

    private mutating func endLine(
        at place: UInt64, _ visit: (EventStreamEvent, Span<UInt8>) -> Void
    ) {
        if phase != .lineStart {
            sawLine = true
            // A name without a colon has an empty value.
            if phase == .name, isData { hasData = true }
            if phase == .name, isEvent { typeCount = 0 }
            phase = .lineStart
            return
        }
        if hasData {
            let event = EventStreamEvent(offset: start, size: place &- start)
            let bytes = type
            visit(event, bytes.span.extracting(0..<typeCount))
        }
        hasData = false
        typeCount = 0
        sawLine = false
        start = place &+ 1
    }
}

/// Where an event stands in a body: its lines, comments among them, without the empty line.
package struct EventStreamEvent: Sendable, Equatable {
    /// In bytes from the start of the body.
    package var offset: UInt64
    /// In bytes.
    package var size: UInt64
}

extension Span<UInt8> {
    /// The first position from `start` of CR or LF, the end if there is none.
    ///
    /// Looks at eight bytes at a time: `x - 01…` borrows into the high bit of each byte that is 0;
    /// the lowest such bit is always a true one.
    fileprivate func firstLineEnd(from start: Int) -> Int {
        var position = start
        while position &+ 8 <= count {
            let word = unsafe UInt64(
                littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
            let feed = word ^ 0x0A0A_0A0A_0A0A_0A0A
            let carriage = word ^ 0x0D0D_0D0D_0D0D_0D0D
            let ones: UInt64 = 0x0101_0101_0101_0101
            let found =
                ((feed &- ones) & ~feed | (carriage &- ones) & ~carriage) & 0x8080_8080_8080_8080
            if found != 0 { return position &+ found.trailingZeroBitCount &>> 3 }
            position &+= 8
        }
        while position < count, self[position] != lineFeed, self[position] != carriageReturn {
            position &+= 1
        }
        return position
    }
}

private let colon: UInt8 = 0x3A
/// `data` and `event`, most significant byte first.
private let dataName: UInt64 = 0x6461_7461
private let eventName: UInt64 = 0x65_7665_6E74
