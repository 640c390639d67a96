/// A value that is written as a tnetstring.
indirect enum TnetstringText {
    case null
    case boolean(Bool)
    case integer(Int64)
    case float(Double)
    case bytes([UInt8])
    case string(String)
    case list([TnetstringText])
    case dictionary([(name: String, value: TnetstringText)])
    /// What is too long to be held.
    case stream(Stream)

    /// A payload that is made while it is written. Its size has to be known before.
    struct Stream {
        let type: Unicode.Scalar
        let size: Int
        /// Hands over the payload in pieces.
        let visit: (_ take: ([UInt8]) throws -> Void) throws -> Void
    }

    static func optional(_ text: String?) -> TnetstringText { text.map { .string($0) } ?? .null }

    /// Seconds since 1970.
    static func seconds(_ microseconds: Int64) -> TnetstringText {
        .float(Double(microseconds) / 1e6)
    }

    /// With length and type, in bytes.
    var size: Int {
        let payload = payloadSize
        return String(payload).utf8.count + payload + 2
    }

    /// The bytes of a value that is no stream and holds none.
    var held: [UInt8] {
        var result: [UInt8] = []
        // Only streams throw.
        do { try write { result += $0 } } catch { preconditionFailure("a held value failed") }
        return result
    }

    /// Hands over the bytes in pieces, small ones too.
    ///
    /// Errors: those of `take` and of the streams in it.
    func write(_ take: ([UInt8]) throws -> Void) throws {
        try take(Array("\(payloadSize):".utf8))
        switch self {
        case .list(let elements): for element in elements { try element.write(take) }
        case .dictionary(let members):
            for member in members {
                try TnetstringText.string(member.name).write(take)
                try member.value.write(take)
            }
        case .stream(let stream): try stream.visit(take)
        default: try take(scalar)
        }
        try take([UInt8(ascii: type)])
    }

    private var payloadSize: Int {
        switch self {
        case .list(let elements): elements.reduce(0) { $0 + $1.size }
        case .dictionary(let members):
            members.reduce(0) { $0 + TnetstringText.string($1.name).size + $1.value.size }
        case .stream(let stream): stream.size
        case .bytes(let bytes): bytes.count
        default: scalar.count
        }
    }

    private var scalar: [UInt8] {
        switch self {
        case .boolean(let value): Array(value ? "true".utf8 : "false".utf8)
        case .integer(let number): Array(String(number).utf8)
        // As Python's: the shortest that is read as the same.
        case .float(let number): Array(String(number).utf8)
        case .bytes(let bytes): bytes
        case .string(let text): Array(text.utf8)
        default: []
        }
    }

    private var type: Unicode.Scalar {
        switch self {
        case .null: "~"
        case .boolean: "!"
        case .integer: "#"
        case .float: "^"
        case .bytes: ","
        case .string: ";"
        case .list: "]"
        case .dictionary: "}"
        case .stream(let stream): stream.type
        }
    }
}
