internal import Base
internal import HTTPCodecs

/// Takes messages of Protocol Buffers apart without their schema: fields by their numbers, whose
/// order on the wire means nothing.
package struct ProtobufReader {
    private var output: ContentValues

    /// The values of one message; `isWhole` is false for what is none.
    package static func read(_ bytes: ArraySlice<UInt8>) -> ContentValues {
        read(bytes, into: ContentValues())
    }

    /// The same with whole values, and many more of them.
    package static func readAll(_ bytes: ArraySlice<UInt8>) -> ContentValues {
        read(bytes, into: ContentValues(countLimit: 1 << 18, byteLimit: .max))
    }

    private static func read(
        _ bytes: ArraySlice<UInt8>, into output: ContentValues
    ) -> ContentValues {
        var reader = ProtobufReader(output: output)
        reader.output.isWhole = reader.message(bytes)
        return reader.output
    }

    /// The values of the messages of a call of gRPC, compressed with gzip too; from one that is none
    /// on they are left out.
    package static func read(calls content: [UInt8]) -> ContentValues {
        var result = ProtobufReader(output: ContentValues())
        var isWhole = true
        var roomLeft = unpackedLimit
        var frames = LengthPrefixedReader()
        frames.read(content.span) { frame in
            // The trailers of gRPC-Web are text.
            guard !frame.isTrailers, isWhole else { return }
            let start = Int(frame.offset) + 5
            let bytes = content[start..<start + Int(frame.size)]
            isWhole =
                frame.isCompressed
                ? result.message(packed: bytes, &roomLeft) : result.message(bytes)
        }
        result.output.isWhole =
            isWhole && frames.violationOffset == nil && frames.unfinished == nil
        return result.output
    }

    /// The values of bytes of no declared type, if they are a message beyond doubt: of random ones
    /// with as many fields and letters, none in millions is.
    static func proven(_ bytes: ArraySlice<UInt8>) -> ContentValues? {
        let found = read(bytes)
        let isSmall = found.values.allSatisfy { $0.path.allSatisfy { $0.count <= 3 } }
        return found.isWhole && isSmall && found.values.count >= 3 && found.letterCount >= 8
            ? found : nil
    }

    private mutating func message(packed bytes: ArraySlice<UInt8>, _ roomLeft: inout Int) -> Bool {
        guard bytes.starts(with: [0x1F, 0x8B]) else { return false }
        let plain = DecodedContent(Array(bytes), [.gzip], byteLimit: roomLeft)
        roomLeft -= plain.bytes.count
        return plain.state == .whole && message(plain.bytes[...])
    }

    /// What the messages of one call may unpack to, in bytes.
    private static let unpackedLimit = 1 << 20

    private mutating func message(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = ContentInput(bytes)
        while !rest.isAtEnd {
            guard let key = Self.number(&rest), key >> 3 > 0, key >> 3 < 1 << 29,
                output.enter("\(key >> 3)".utf8)
            else { return false }
            defer { output.leave() }
            switch key & 7 {
            case 0:
                guard let value = Self.number(&rest), output.append(number: "\(value)") else {
                    return false
                }
            case 1, 5:
                guard let value = rest.bytes(key & 7 == 1 ? 8 : 4), output.append(.fixed, value)
                else { return false }
            case 2:
                guard let size = Self.number(&rest), let value = rest.bytes(size), held(value)
                else { return false }
            default: return false
            }
        }
        return true
    }

    /// What a field of counted bytes holds: a text if it can be read as one, else a message if it
    /// is one. Each byte is tried once for each level, of which there are few.
    private mutating func held(_ bytes: ArraySlice<UInt8>) -> Bool {
        if ContentValues.isText(bytes) { return output.append(text: bytes) }
        let count = output.values.count
        if message(bytes) { return true }
        // A message that is too long for the rest of the room is still one.
        guard !output.isFull else { return false }
        output.removeValues(after: count)
        return output.append(.bytes, bytes)
    }

    private static func number(_ rest: inout ContentInput) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.byte() else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
}
