internal import Base

/// The message of NTLM that answers the challenge, whatever carries it ([MS-NLMP] §2.2.1.3).
package struct NTLMAnswer {
    /// Whether it answers as LM or NTLMv1 do, with 24 bytes made by DES.
    package let isVersion1: Bool
    /// As UTF-8; empty if it could not be read.
    package let user: [UInt8]
    package let response: [UInt8]
    /// Whether the user is in the message: else it may have been cut.
    let isWhole: Bool

    /// Finds the first in the start of some bytes, as it is in SPNEGO or in another framing; `nil`
    /// if there is none, or one of nobody.
    package init?(in bytes: some Collection<UInt8>) {
        let all = Array(bytes.prefix(Self.limit))
        var start = 0
        while let place = all.firstIndex(ofRun: Self.mark, from: start) {
            let message = all[place...]
            if let answer = NTLMAnswer(message) {
                self = answer
                return
            }
            start = place + 1
        }
        return nil
    }

    private init?(_ message: ArraySlice<UInt8>) {
        func number(_ place: Int, _ count: Int) -> Int {
            (0..<count).reduce(0) { $0 | Int(message[message.startIndex + place + $1]) << (8 * $1) }
        }
        /// What stands where a length, a room and an offset say.
        func field(_ place: Int) -> ArraySlice<UInt8>? {
            guard message.count >= place + 8 else { return nil }
            let (length, offset) = (number(place, 2), number(place + 4, 4))
            guard offset + length <= message.count else { return nil }
            return message.dropFirst(offset).prefix(length)
        }
        guard message.count >= 28, number(8, 4) == 3, let old = field(12), let new = field(20),
            !new.isEmpty || old.count > 1
        else { return nil }
        isVersion1 = new.count <= 24
        response = Array(new.isEmpty ? old : new)
        let name = field(36)
        isWhole = name != nil
        // Unless the client says that it is not, text is UTF-16.
        let isNarrow = message.count >= 64 && number(60, 1) & 1 == 0
        user = isNarrow ? Array(name ?? []) : UTF16Text.utf8(name ?? [])
    }

    private static let mark = Array("NTLMSSP\0".utf8)
    /// In bytes.
    private static let limit = 65_536
}

/// Text of Windows' protocols.
enum UTF16Text {
    /// UTF-16 with the low byte first, as UTF-8.
    static func utf8(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let bytes = Array(bytes)
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map {
            UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}
