internal import Base

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
        var cursor = ByteCursor(bytes[start...])
        guard let message = cursor.content(of: 0x30) else { return nil }
        var fields = ByteCursor(message)
        guard let version = fields.content(of: 0x02), version.count == 1, let first = version.first
        else { return nil }
        self.version = Int(first)
        end = message.endIndex
        switch first {
        case 0, 1:
            guard let community = fields.content(of: 0x04), let operation = fields.element(),
                (0xA0...0xA8).contains(operation.tag), fields.rest.isEmpty
            else { return nil }
            self.community = community.startIndex..<community.endIndex
            isResponse = operation.tag == 0xA2
        case 3:
            guard let header = fields.content(of: 0x30), fields.content(of: 0x04) != nil else {
                return nil
            }
            var parts = ByteCursor(header)
            guard parts.content(of: 0x02) != nil, parts.content(of: 0x02) != nil else { return nil }
            community = nil
            isResponse = false
        default: return nil
        }
    }

    /// Where a community stands in the start of a message, however much of it is there.
    package static func community(inStart bytes: [UInt8]) -> Range<Int>? {
        var cursor = ByteCursor(bytes[...])
        var fields = ByteCursor(cursor.content(of: 0x30, mayBeCut: true) ?? [])
        guard let version = fields.content(of: 0x02), version.count == 1, version.first ?? 2 <= 1,
            let community = fields.content(of: 0x04, mayBeCut: true)
        else { return nil }
        return community.startIndex..<community.endIndex
    }
}
