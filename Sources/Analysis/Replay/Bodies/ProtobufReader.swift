internal import Base

/// Takes a message of protobuf apart without its schema: fields by their numbers, whose order on
/// the wire means nothing.
enum ProtobufReader {
    /// - Returns: paths such as `3.1` with what stands there; `nil` for what is no protobuf.
    static func fields(_ bytes: ArraySlice<UInt8>) -> [BodyField]? {
        fields(bytes, at: "", depth: 0)
    }

    private static let depthLimit = 32

    private static func fields(
        _ bytes: ArraySlice<UInt8>, at path: String, depth: Int
    ) -> [BodyField]? {
        guard depth < depthLimit else { return nil }
        var rest = bytes
        var fields: [BodyField] = []
        while !rest.isEmpty {
            guard let key = varint(&rest), key >> 3 > 0, key >> 3 < 1 << 29 else { return nil }
            let place = path + String(key >> 3)
            switch key & 7 {
            case 0:
                guard let value = varint(&rest) else { return nil }
                fields.append(BodyField(place, String(value)))
            case 1:
                guard let value = take(8, of: &rest) else { return nil }
                fields.append(BodyField(place, "0x" + value.hex))
            case 5:
                guard let value = take(4, of: &rest) else { return nil }
                fields.append(BodyField(place, "0x" + value.hex))
            case 2:
                guard let size = varint(&rest), size <= UInt64(rest.count),
                    let value = take(Int(size), of: &rest)
                else { return nil }
                fields += held(value, at: place, depth: depth)
            default: return nil
            }
        }
        return fields
    }

    /// What a field of counted bytes holds: a text if it can be read as one, else a message if it
    /// is one.
    private static func held(
        _ value: ArraySlice<UInt8>, at place: String, depth: Int
    ) -> [BodyField] {
        if value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A || $0 == 0x09 }),
            String(validating: value, as: UTF8.self) != nil
        {
            return [BodyField(place, JSONText.string(value.text).line.text)]
        }
        if let inner = fields(value, at: place + ".", depth: depth + 1), !inner.isEmpty {
            return inner
        }
        return [BodyField(place, value.hex)]
    }

    private static func varint(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    private static func take(
        _ count: Int, of rest: inout ArraySlice<UInt8>
    ) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
