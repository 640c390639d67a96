internal import Base

/// Masks what a client of PostgreSQL proves its identity with (Frontend/Backend Protocol, Message
/// Formats): password, SASL and GSS messages, and the key of a cancellation.
///
/// What is not framed as the protocol says is masked.
struct PostgreSQLRedaction {
    private enum Phase {
        /// Packets without a type, until one starts the session.
        case startup
        case session
        case lost
    }

    private var phase = Phase.startup
    private var header: [UInt8] = []
    private var left = 0
    private var isMasking = false

    /// The codes of requests that come before a session, beside its versions.
    private static let encryptionCodes: Set<UInt32> = [80_877_103, 80_877_104]
    private static let cancelCode: UInt32 = 80_877_102

    /// Whether these are the first bytes of a client.
    static func begins(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 8 else { return false }
        let code = bytes[4..<8].number
        return encryptionCodes.contains(code) || code == cancelCode
            || code >> 16 == 3 && bytes[..<4].number <= 10_000 && bytes[..<4].number > 8
    }

    /// Tells that bytes were left out.
    mutating func lose() { phase = .lost }

    /// Returns what the client sent next, without the secrets in it.
    mutating func redact(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        var hasMark = false
        while !rest.isEmpty {
            if phase == .lost { return result + (hasMark ? [] : redactionMark) }
            if left == 0 {
                let isSecret = header.first == passwordType && phase == .session
                header.append(rest.removeFirst())
                // The length of a password message tells that of the password.
                if !isSecret { result.append(header[header.count - 1]) }
                if header.count == (phase == .startup ? 8 : 5) { readHeader() }
                hasMark = false
                continue
            }
            let taken = rest.prefix(left)
            left -= taken.count
            rest = rest.dropFirst(taken.count)
            if !isMasking {
                result += taken
            } else if !hasMark {
                result += redactionMark
                hasMark = true
            }
        }
        return result
    }

    private mutating func readHeader() {
        let isStartup = phase == .startup
        let length = isStartup ? header[..<4].number : header[1...].number
        let least: UInt32 = isStartup ? 8 : 4
        guard length >= least, length < 1 << 30 else {
            phase = .lost
            return
        }
        left = Int(length - least)
        isMasking = false
        if isStartup {
            let code = header[4...].number
            if code == Self.cancelCode {
                isMasking = true
            } else if code >> 16 == 3 {
                phase = .session
            } else if !Self.encryptionCodes.contains(code) || left > 0 {
                phase = .lost
            }
        } else {
            isMasking = header.first == passwordType
        }
        header = []
    }
}

/// Masks what a client of MySQL sends until the server has accepted it (Client/Server Protocol,
/// Connection Phase), and when it changes the user.
struct MySQLRedaction {
    /// The packets of one side.
    private struct Packets {
        var header: [UInt8] = []
        var left = 0
        var count = 0

        /// Calls `visit` with the first byte of each packet.
        mutating func read(_ bytes: [UInt8], _ visit: (UInt8, _ count: Int) -> Void) {
            var rest = bytes[...]
            while let byte = rest.first {
                if left > 0 {
                    if header.count == 4 {
                        visit(byte, count)
                        count += 1
                        header = []
                    }
                    let taken = min(left, rest.count)
                    left -= taken
                    rest = rest.dropFirst(taken)
                } else {
                    if header.count == 4 { header = [] }
                    header.append(byte)
                    rest = rest.dropFirst()
                    if header.count == 4 { left = Int(header[..<3].reversed()[...].number) }
                }
            }
        }
    }

    private var client = Packets()
    private var server = Packets()
    private var isAccepted = false
    private var isLost = false

    /// Whether these are the first bytes of a server.
    static func begins(_ bytes: [UInt8]) -> Bool {
        bytes.count > 5 && bytes[2] == 0 && bytes[3] == 0 && bytes[4] == 10
            && Int(bytes[0]) + Int(bytes[1]) << 8 == bytes.count - 4
    }

    /// Tells that bytes were left out.
    mutating func lose() { isLost = true }

    mutating func redact(_ bytes: [UInt8], fromClient: Bool) -> [UInt8] {
        guard !isLost else { return fromClient && !isAccepted ? redactionMark : bytes }
        guard fromClient else {
            var isAccepted = isAccepted
            // The first packet greets; 0 begins the one that accepts.
            server.read(bytes) { if $0 == 0, $1 > 0 { isAccepted = true } }
            self.isAccepted = isAccepted
            return bytes
        }
        guard isAccepted else { return redactionMark }
        var changesUser = false
        client.read(bytes) { first, _ in if first == 0x11 { changesUser = true } }
        guard changesUser else { return bytes }
        isAccepted = false
        client = Packets()
        return redactionMark
    }
}

extension Collection<UInt8> {
    /// As a number in network order; of more than four bytes, the last four.
    fileprivate var number: UInt32 { reduce(0) { $0 << 8 | UInt32($1) } }
}

private let passwordType = UInt8(ascii: "p")
