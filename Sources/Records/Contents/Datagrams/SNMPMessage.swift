/// The head of a message of SNMP (RFC 1157 §4, RFC 3416 §3, RFC 3412 §6).
package struct SNMPMessage {
    /// 0 for version 1, 1 for version 2c, 3 for version 3.
    package let version: Int
    /// Where the community stands, which is the password of versions 1 and 2c; `nil` in version 3.
    package let community: Range<Int>?
    package let isResponse: Bool
    /// Where the message ends.
    package let end: Int

    /// Reads the message that begins at `start`; `nil` if none does.
    package init?(_ bytes: [UInt8], at start: Int = 0) {
        guard let message = Self.element(bytes, 0x30, start..<bytes.count),
            let version = Self.element(bytes, 0x02, message), version.count == 1
        else { return nil }
        let rest = version.upperBound..<message.upperBound
        self.version = Int(bytes[version.lowerBound])
        end = message.upperBound
        switch self.version {
        case 0, 1:
            guard let community = Self.element(bytes, 0x04, rest),
                community.upperBound < message.upperBound
            else { return nil }
            let operation = bytes[community.upperBound]
            let content = community.upperBound..<message.upperBound
            guard (0xA0...0xA8).contains(operation),
                Self.element(bytes, operation, content)?.upperBound == message.upperBound
            else { return nil }
            self.community = community
            isResponse = operation == 0xA2
        case 3:
            guard let header = Self.element(bytes, 0x30, rest),
                let number = Self.element(bytes, 0x02, header),
                Self.element(bytes, 0x02, number.upperBound..<header.upperBound) != nil,
                Self.element(bytes, 0x04, header.upperBound..<message.upperBound) != nil
            else { return nil }
            community = nil
            isResponse = false
        default: return nil
        }
    }

    /// Where a community stands in the start of a message, however much of it is there.
    package static func community(inStart bytes: [UInt8]) -> Range<Int>? {
        let all = 0..<bytes.count
        guard let message = element(bytes, 0x30, all, isCut: true),
            let version = element(bytes, 0x02, message), version.count == 1,
            bytes[version.lowerBound] <= 1
        else { return nil }
        return element(bytes, 0x04, version.upperBound..<message.upperBound, isCut: true)
    }

    /// What an element of BER holds (ITU-T X.690 §8.1), `nil` if no such element begins there.
    ///
    /// - Parameter isCut: whether its end may be missing.
    private static func element(
        _ bytes: [UInt8], _ tag: UInt8, _ place: Range<Int>, isCut: Bool = false
    ) -> Range<Int>? {
        guard place.count >= 2, bytes[place.lowerBound] == tag else { return nil }
        var start = place.lowerBound + 2
        var length = Int(bytes[place.lowerBound + 1])
        if length >= 0x80 {
            let count = length - 0x80
            guard (1...4).contains(count), place.count >= 2 + count else { return nil }
            length = bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
            start += count
        }
        let room = place.upperBound - start
        guard length <= room || isCut else { return nil }
        return start..<start + min(length, room)
    }
}
