internal import Base

/// What a client of rlogin, rsh or rexec begins with: a port or nothing, and three texts, each with a
/// zero byte behind it (RFC 1282 §2, rshd(8), rexecd(8)).
package struct RemoteHead {
    /// Whether the third text is a terminal's kind and speed, as rlogin has it; rsh and rexec have a
    /// command there, and look alike.
    package let isTerminal: Bool
    package let texts: [ArraySlice<UInt8>]
    /// In bytes.
    package let count: Int

    /// - Returns: `nil` if the bytes do not begin with a whole one.
    package init?(_ bytes: [UInt8]) {
        var cursor = ByteCursor(bytes[...])
        guard Self.mayBegin(bytes), let port = cursor.terminated(),
            let first = cursor.terminated(), let second = cursor.terminated(),
            let third = cursor.terminated()
        else { return nil }
        texts = [first, second, third]
        let speed = third.lastIndex(of: 0x2F).map { third[($0 + 1)...] } ?? []
        isTerminal = port.isEmpty && decimal(speed) != nil
        count = bytes.count - cursor.rest.count
    }

    /// Whether bytes are one, or the start of one: digits, a name without spaces, and text.
    static func mayBegin(_ bytes: [UInt8]) -> Bool {
        var (texts, length) = (0, 0)
        for byte in bytes.prefix(byteLimit) {
            let isAllowed =
                switch (texts, byte) {
                case (0, 0): length <= 5
                case (_, 0): length > 0
                case (0, _): byte.isASCIIDigit
                case (1, _): byte > 0x20 && byte < 0x7F
                default: byte >= 0x20 && byte != 0x7F
                }
            guard isAllowed else { return false }
            length = byte == 0 ? 0 : length + 1
            texts += byte == 0 ? 1 : 0
            if texts == 4 { return true }
        }
        return bytes.count < byteLimit && (texts > 0 || length <= 5)
    }

    private static let byteLimit = 16_384
}
