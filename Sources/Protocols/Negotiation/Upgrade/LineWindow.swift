internal import Base

/// The line that is coming in: its first bytes, and whether it ends by announcing a literal.
struct LineWindow {
    /// In bytes: a line of commands or capabilities is shorter; what is beyond is not kept.
    static let limit = 1024
    /// A literal that says it is longer is not believed to be so long, in bytes: 1 TiB.
    private static let literalLimit = 1 << 40

    /// An announced run of bytes that are no lines (RFC 9051 §4.3, RFC 5804 §4).
    struct Literal: Equatable {
        var length: Int
        /// Whether the sender waits for leave.
        var waits: Bool
    }

    private enum LiteralState {
        case none
        case digits(Int)
        case plus(Int)
        case closed(Literal)
    }

    private(set) var bytes: [UInt8] = []
    private var state = LiteralState.none
    private var isComplete = false
    private(set) var isEmpty = true

    /// Takes bytes through the end of the line.
    ///
    /// - Returns: `true` at the end of a line, whose end, CRLF or LF, is not in `bytes`.
    mutating func take(_ source: Span<UInt8>, _ index: inout Int) -> Bool {
        if isComplete { self = LineWindow() }
        while index < source.count {
            let byte = source[index]
            index += 1
            isEmpty = false
            if byte == 0x0A {
                if bytes.last == 0x0D { bytes.removeLast() }
                isComplete = true
                return true
            }
            if bytes.count < Self.limit { bytes.append(byte) }
            if byte != 0x0D { follow(byte) }
        }
        return false
    }

    /// Whether the next byte begins a line.
    var isAtStart: Bool { isComplete || isEmpty }

    /// What the complete line announces at its end.
    var literal: Literal? {
        if case .closed(let literal) = state { return literal }
        return nil
    }

    private mutating func follow(_ byte: UInt8) {
        switch (byte, state) {
        case (0x7B, _): state = .digits(0)
        case (0x30...0x39, .digits(let value)):
            state = .digits(min(value * 10 + Int(byte &- 0x30), Self.literalLimit))
        case (0x2B, .digits(let value)): state = .plus(value)
        case (0x7D, .digits(let value)): state = .closed(Literal(length: value, waits: true))
        case (0x7D, .plus(let value)): state = .closed(Literal(length: value, waits: false))
        default: state = .none
        }
    }

    /// The words of the line, which spaces part.
    var words: [ArraySlice<UInt8>] {
        bytes.split(separator: 0x20, maxSplits: 8)
    }

    func word(_ index: Int) -> ArraySlice<UInt8> {
        let all = words
        return index < all.count ? all[index] : []
    }

    func starts(with lowercased: StaticString) -> Bool {
        bytes.prefix(lowercased.utf8CodeUnitCount).equalsIgnoringCase(lowercased)
    }

    /// Whether the text is in the line, whatever the case.
    func contains(_ lowercased: StaticString) -> Bool {
        let length = lowercased.utf8CodeUnitCount
        guard bytes.count >= length else { return false }
        return (0...bytes.count - length).contains {
            bytes[$0..<$0 + length].equalsIgnoringCase(lowercased)
        }
    }
}
