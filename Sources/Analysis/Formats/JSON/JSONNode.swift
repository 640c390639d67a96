internal import Base

/// A JSON value as it was read, with its members in their order.
indirect enum JSONNode: Equatable {
    case null
    case boolean(Bool)
    /// As it was written.
    case number([UInt8])
    /// Without its escapes.
    case string([UInt8])
    case array([JSONNode])
    case object([Member])
    /// Left out, or cut short, because it is over a limit.
    case excess

    struct Member: Equatable {
        let name: String
        let value: JSONNode
    }

    /// The value of the first member of this name; `nil` if there is none, or it is `null`.
    subscript(name: String) -> JSONNode? {
        guard case .object(let members) = self,
            let value = members.first(where: { $0.name == name })?.value, value != .null
        else { return nil }
        return value
    }

    var elements: [JSONNode] {
        if case .array(let elements) = self { return elements }
        return []
    }

    var bytes: [UInt8]? {
        if case .string(let bytes) = self { return bytes }
        return nil
    }

    /// A string; a number, too, since some tools write one where the format has a string.
    var text: String? {
        switch self {
        case .string(let bytes), .number(let bytes): bytes.text
        default: nil
        }
    }

    var double: Double? {
        switch self {
        case .number(let bytes), .string(let bytes): Double(bytes.text)
        default: nil
        }
    }

    var integer: Int64? {
        guard let text else { return nil }
        return Int64(text) ?? double.flatMap { Int64(exactly: $0.rounded()) }
    }

    /// A size, a count or a duration, within what one can be.
    var count: Int64? { integer.map(RecordedNumber.bounded) }

    /// A moment in microseconds, within what one can be.
    var moment: Timestamp? { integer.map { Timestamp(recorded: $0) } }

    var isTrue: Bool { self == .boolean(true) }
}
