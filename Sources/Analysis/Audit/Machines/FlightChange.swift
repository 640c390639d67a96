/// Changes what a server says in TLS 1.2 before it encrypts.
struct FlightChange {
    enum Kind: Sendable {
        /// One bit of the ServerKeyExchange's signature.
        case flippedServerKeyExchange
        /// A ChangeCipherSpec after the ServerHello.
        case earlyChangeCipherSpec
        /// A HeartbeatRequest after the ServerHello, which claims more than it has.
        case heartbeat
    }

    private let kind: Kind
    private var waiting: [UInt8] = []
    private var isOver = false
    /// Whether the change was made.
    private(set) var isMade = false

    init(_ kind: Kind) { self.kind = kind }

    /// Takes what the server says, and returns what the client is told, whole records at a time.
    mutating func receive(_ bytes: [UInt8]) -> [UInt8] {
        if isOver { return bytes }
        waiting += bytes
        var result: [UInt8] = []
        while !isOver, waiting.count >= 5 {
            let size = 5 + (Int(waiting[3]) << 8 | Int(waiting[4]))
            guard waiting.count >= size else { break }
            result += change(Array(waiting[..<size]))
            waiting.removeFirst(size)
        }
        if isOver {
            result += waiting
            waiting = []
        }
        return result
    }

    private mutating func change(_ record: [UInt8]) -> [UInt8] {
        guard record[0] == RecordType.handshake, record.count > 5 else {
            isOver = isOver || record[0] == RecordType.changeCipherSpec
            return record
        }
        switch (kind, record[5]) {
        case (.flippedServerKeyExchange, MessageType.serverKeyExchange):
            end()
            return record.dropLast() + [record[record.count - 1] ^ 1]
        case (.earlyChangeCipherSpec, MessageType.serverHello):
            end()
            return record + RecordType.record(RecordType.changeCipherSpec, [1])
        case (.heartbeat, MessageType.serverHello):
            end()
            // RFC 6520 §4: a request, that claims 16 KB, has 3 bytes, and no padding.
            return record + RecordType.record(24, [1, 0x40, 0, 1, 2, 3])
        default: return record
        }
    }

    private mutating func end() {
        isMade = true
        isOver = true
    }
}

/// Of records (RFC 8446 §5.1).
enum RecordType {
    static let changeCipherSpec: UInt8 = 20
    static let alert: UInt8 = 21
    static let handshake: UInt8 = 22
    static let applicationData: UInt8 = 23
    static let heartbeat: UInt8 = 24

    /// A record in cleartext, as TLS 1.2 writes it.
    static func record(_ type: UInt8, _ content: [UInt8]) -> [UInt8] {
        [type, 3, 3, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
    }
}

/// Of handshake messages (RFC 5246 §7.4).
enum MessageType {
    static let clientHello: UInt8 = 1
    static let serverHello: UInt8 = 2
    static let certificate: UInt8 = 11
    static let serverKeyExchange: UInt8 = 12
    static let serverHelloDone: UInt8 = 14
    static let clientKeyExchange: UInt8 = 16
    static let finished: UInt8 = 20
}
