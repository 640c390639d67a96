internal import Base

/// A value that was read from a tnetstring, of the kind that mitmproxy writes: with text beside
/// bytes.
indirect enum TnetstringValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case float(Double)
    case bytes([UInt8])
    /// Text as its bytes.
    case string([UInt8])
    case list([TnetstringValue])
    case dictionary([Member])

    struct Member: Equatable, Sendable {
        let name: String
        let value: TnetstringValue
    }

    /// The value of a member; `nil` if there is none, or it is null.
    subscript(name: String) -> TnetstringValue? {
        guard case .dictionary(let members) = self else { return nil }
        let value = members.first { $0.name == name }?.value
        return value == .null ? nil : value
    }

    var members: [Member] {
        if case .dictionary(let members) = self { return members }
        return []
    }

    var elements: [TnetstringValue] {
        if case .list(let elements) = self { return elements }
        return []
    }

    /// The content of bytes, or of text.
    var bytes: [UInt8]? {
        switch self {
        case .bytes(let bytes), .string(let bytes): bytes
        default: nil
        }
    }

    var text: String? { bytes?.text }

    var isTrue: Bool { self == .boolean(true) }

    var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .float(let number): Int64(exactly: number.rounded())
        default: nil
        }
    }

    /// A size, a count or a duration, within what one can be.
    var count: Int64? { integer.map(RecordedNumber.bounded) }

    /// Seconds since 1970 as a moment; `nil` for what is none.
    var moment: Timestamp? {
        let seconds: Double
        switch self {
        case .float(let number): seconds = number
        case .integer(let number): seconds = Double(number)
        default: return nil
        }
        guard abs(seconds) < 1e11 else { return nil }
        return Timestamp(recorded: Int64((seconds * 1e6).rounded()))
    }
}
