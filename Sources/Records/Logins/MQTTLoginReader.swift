internal import Base
internal import Contents

/// MQTT: the CONNECT packet of versions 3.1, 3.1.1 and 5 (MQTT 5.0 §3.1).
enum MQTTLoginReader {
    static func logins(client: [UInt8], origin: [UInt8]) -> [ClearLogin] {
        var cursor = ByteCursor(client[...])
        guard cursor.number(1) == 0x10, let length = variableNumber(&cursor),
            let packet = cursor.bytes(length), var login = login(packet)
        else { return [] }
        // CONNACK: its fourth byte is the reason.
        if origin.count >= 4, origin[0] == 0x20 {
            login.answer = origin[3] == 0 ? .accepted : .rejected
        }
        return [login]
    }

    private static func login(_ packet: ArraySlice<UInt8>) -> ClearLogin? {
        var cursor = ByteCursor(packet)
        guard let name = cursor.vector(2)?.text, let level = cursor.number(1),
            name == "MQTT" && (4...5).contains(level) || name == "MQIsdp" && level == 3,
            let flags = cursor.number(1), cursor.number(2) != nil, skipProperties(level, &cursor),
            cursor.vector(2) != nil
        else { return nil }
        if flags & 0x04 != 0 {
            guard skipProperties(level, &cursor), cursor.vector(2) != nil, cursor.vector(2) != nil
            else { return nil }
        }
        var user: ArraySlice<UInt8>?
        if flags & 0x80 != 0 {
            user = cursor.vector(2)
            if user == nil { return nil }
        }
        if flags & 0x40 != 0 {
            return cursor.vector(2).flatMap { ClearLogin(.mqtt, .connect, user: user, secret: $0) }
        }
        // A token in the place of the name.
        guard let user, TokenForm.matches(Array(user)) else { return nil }
        return ClearLogin(.mqtt, .connect, user: nil, secret: user)
    }

    private static func skipProperties(_ level: Int, _ cursor: inout ByteCursor) -> Bool {
        guard level == 5 else { return true }
        return variableNumber(&cursor).flatMap { cursor.bytes($0) } != nil
    }

    /// A number of seven bits a byte, at most four of them, the lowest first.
    private static func variableNumber(_ cursor: inout ByteCursor) -> Int? {
        var value = 0
        for shift in [0, 7, 14, 21] {
            guard let byte = cursor.number(1) else { return nil }
            value |= (byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }
}
