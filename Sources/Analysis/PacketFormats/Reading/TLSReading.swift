internal import Base
internal import TLS
internal import Traffic

/// The secrets that are known so far.
final class KeyRing {
    var log = KeyLog()
}

/// Reads both directions of a TLS connection and takes the protection off with the keys of a log.
struct TLSReading {
    private(set) var record = TLSRecord()
    private(set) var events: [Event] = []
    /// Why nothing more can be read; `nil` while all can.
    private(set) var obstacle: String?
    private let ring: KeyRing
    private var sides: [2 of Side] = [Side(), Side()]
    private var clientRandom: [UInt8] = []
    private var suite: TLSSuite?

    enum Event {
        case content(Direction, [UInt8])
        case alert(Direction, TLSAlert)
    }

    private struct Side {
        var bytes: [UInt8] = []
        /// One record may hold many, so none is copied for those before it.
        var messages = UnreadBytes()
        var protection: RecordProtection?
        /// Of TLS 1.3, for the key that follows.
        var secret: [UInt8] = []
        var isProtected = false
    }

    /// In bytes, of handshake messages: chains of certificates are the longest.
    private static let messageLimit = 1 << 18
    /// The random of a ServerHello that asks for another ClientHello (RFC 8446 §4.1.3).
    private static let retryRandom =
        "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c"

    init(_ ring: KeyRing) {
        self.ring = ring
    }

    private var keys: KeyLog { ring.log }

    /// Whether bytes begin like a handshake.
    static func isBegun(by bytes: some Collection<UInt8>) -> Bool {
        var iterator = bytes.makeIterator()
        return iterator.next() == 22 && iterator.next() == 3
    }

    mutating func read(_ bytes: [UInt8], _ direction: Direction) {
        guard obstacle == nil else { return }
        let side = direction.rawValue
        sides[side].bytes += bytes
        var position = 0
        while obstacle == nil, sides[side].bytes.count - position >= 5 {
            let head = sides[side].bytes[position..<position + 5]
            let length = Int(head[position + 3]) << 8 | Int(head[position + 4])
            guard let type = TLSContentType(rawValue: head[position]), length <= 1 << 14 + 2048
            else { return stop("what came is no record of TLS") }
            guard sides[side].bytes.count - position >= 5 + length else { break }
            let content = sides[side].bytes[(position + 5)..<(position + 5 + length)]
            position += 5 + length
            open(type, content, direction)
        }
        sides[side].bytes.removeFirst(min(position, sides[side].bytes.count))
    }

    mutating func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }

    // MARK: Records

    private mutating func open(
        _ type: TLSContentType, _ sealed: ArraySlice<UInt8>, _ direction: Direction
    ) {
        let side = direction.rawValue
        if type == .changeCipherSpec {
            if suite?.version == .tls12 { sides[side].isProtected = true }
            // Without a suite that is known, nothing that follows can be read.
            if suite == nil, record.version != nil { stop(unknownSuite) }
            return
        }
        guard sides[side].isProtected else { return take(type, [UInt8](sealed), direction) }
        // Plain alerts of TLS 1.3 come from peers that found no key to agree on.
        if suite?.version == .tls13, type != .applicationData {
            return take(type, [UInt8](sealed), direction)
        }
        guard sides[side].protection != nil else { return stop("its keys are not known") }
        guard let (inner, content) = sides[side].protection?.open(type, sealed) else {
            // Early data, which has a key of its own, may come before the client's Finished.
            if direction == .request, !record.handshakeCompleted, suite?.version == .tls13 {
                return
            }
            return stop("a record does not open with its key")
        }
        take(inner, content, direction)
    }

    private mutating func take(
        _ type: TLSContentType, _ content: [UInt8], _ direction: Direction
    ) {
        switch type {
        case .handshake:
            sides[direction.rawValue].messages.append(content)
            readMessages(direction)
        case .alert where content.count == 2:
            let alert = TLSAlert(isFatal: content[0] == 2, code: content[1])
            record.alerts.append(
                AlertRecord(
                    sender: direction == .request ? .peer : .tool, fatal: alert.isFatal,
                    name: alert.name))
            events.append(.alert(direction, alert))
        case .applicationData: events.append(.content(direction, content))
        case .alert, .changeCipherSpec: break
        }
    }

    // MARK: Messages

    private mutating func readMessages(_ direction: Direction) {
        let side = direction.rawValue
        while obstacle == nil, sides[side].messages.count >= 4 {
            let rest = sides[side].messages.rest
            let (type, number) = (rest[rest.startIndex], rest.dropFirst().prefix(3))
            let length = number.reduce(0) { $0 << 8 | Int($1) }
            guard length <= Self.messageLimit else {
                return stop("a handshake message is too long")
            }
            guard rest.count >= 4 + length else { return }
            let message = [UInt8](rest.prefix(4 + length))
            sides[side].messages.drop(message.count)
            read(type: type, message, direction)
        }
    }

    private mutating func read(type: UInt8, _ message: [UInt8], _ direction: Direction) {
        switch (type, direction) {
        case (1, .request): readClientHello(message)
        case (2, .response): readServerHello(message)
        case (8, .response): readExtensions(message.dropFirst(4))
        case (11, .response): readCertificates(message)
        case (20, _): finish(direction)
        case (24, _): updateKey(direction)
        default: break
        }
    }

    private mutating func readClientHello(_ message: [UInt8]) {
        record.clientHello = message
        let header = TLSContentType.handshake.header(count: min(message.count, 1 << 14))
        guard message.count <= 1 << 14,
            let hello = unwrapped({ try ClientHelloReader.read((header + message).span) })
        else { return stop("its ClientHello is malformed") }
        clientRandom = hello.random
        record.sni = hello.serverName
        record.ja3 = hello.ja3(md5: Digests.md5)
        record.ja4 = hello.ja4(sha256: Digests.sha256)
    }

    private func unwrapped(_ read: () throws -> ClientHello?) -> ClientHello? {
        do { return try read() } catch { return nil }
    }

    private mutating func readServerHello(_ message: [UInt8]) {
        guard message.count >= 39 else { return stop("its ServerHello is malformed") }
        guard message[6..<38].hex != Self.retryRandom else { return }
        let sessionLength = Int(message[38])
        let rest = message.dropFirst(39 + sessionLength)
        guard rest.count >= 3 else { return stop("its ServerHello is malformed") }
        let number = UInt16(rest[rest.startIndex]) << 8 | UInt16(rest[rest.startIndex + 1])
        var version = UInt16(message[4]) << 8 | UInt16(message[5])
        for (type, value) in Self.extensions(rest.dropFirst(3)) {
            if type == 43, value.count == 2 { version = 0x0304 }
            if type == 41 { record.resumed = true }
            if type == 16, value.count > 3 { record.alpn = value.dropFirst(3).text }
        }
        suite = TLSSuite(number: number)
        record.version =
            [
                0x0300: "SSLv3", 0x0301: "TLSv1", 0x0302: "TLSv1.1", 0x0303: "TLSv1.2",
                0x0304: "TLSv1.3",
            ][
                version]
        record.cipher = suite?.name ?? "0x" + number.bigEndianBytes.hex
        record.keyLog = keys.lines(random: clientRandom)
        guard let suite, suite.version.rawValue == version else {
            self.suite = nil
            if version == 0x0304 { stop(unknownSuite) }
            return
        }
        arm(suite, serverRandom: [UInt8](message[6..<38]))
    }

    private var unknownSuite: String {
        "its suite \(record.cipher ?? "") of \(record.version ?? "") is not read"
    }

    /// Makes the keys that follow the hellos.
    private mutating func arm(_ suite: TLSSuite, serverRandom: [UInt8]) {
        switch suite.version {
        case .tls12:
            guard let master = keys.secret(.master, random: clientRandom) else { return }
            let pair = RecordProtection.pair(
                suite, master: master, clientRandom: clientRandom, serverRandom: serverRandom)
            sides[0].protection = pair.client
            sides[1].protection = pair.server
        case .tls13:
            use(.clientHandshake, .request)
            use(.serverHandshake, .response)
        }
    }

    private mutating func use(_ label: KeyLabel, _ direction: Direction) {
        let side = direction.rawValue
        sides[side].isProtected = true
        sides[side].protection = nil
        guard let suite, let secret = keys.secret(label, random: clientRandom) else { return }
        sides[side].secret = secret
        sides[side].protection = RecordProtection(suite, secret: secret)
    }

    private mutating func finish(_ direction: Direction) {
        if suite?.version == .tls13 {
            use(direction == .request ? .client : .server, direction)
        } else {
            // Whose Finished comes second ends the handshake; the other's came before.
            if direction == .response, sides[0].protection?.sequence == 0 { record.resumed = true }
        }
        let sequences = sides[0].protection?.sequence ?? 0
        if suite?.version == .tls13 ? direction == .request : sequences > 0 {
            record.handshakeCompleted = true
        }
    }

    /// The next generation of a traffic secret (RFC 8446 §7.2).
    private mutating func updateKey(_ direction: Direction) {
        guard let suite, suite.version == .tls13 else { return }
        let side = direction.rawValue
        sides[side].secret = suite.hash.expand(
            sides[side].secret, "traffic upd", count: suite.hash.length)
        sides[side].protection = RecordProtection(suite, secret: sides[side].secret)
    }

    private mutating func readExtensions(_ bytes: ArraySlice<UInt8>) {
        for (type, value) in Self.extensions(bytes) where type == 16 && value.count > 3 {
            record.alpn = value.dropFirst(3).text
        }
    }

    private mutating func readCertificates(_ message: [UInt8]) {
        var rest = message.dropFirst(4)
        let isNew = suite?.version == .tls13
        if isNew { rest = rest.dropFirst(1 + Int(rest.first ?? 0)) }
        rest = rest.dropFirst(3)
        var chain: [[UInt8]] = []
        while rest.count >= 3, chain.count < 16 {
            let length = rest.prefix(3).reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= 3 + length else { break }
            chain.append([UInt8](rest.dropFirst(3).prefix(length)))
            rest = rest.dropFirst(3 + length)
            guard isNew, rest.count >= 2 else { continue }
            rest = rest.dropFirst(2 + rest.prefix(2).reduce(0) { $0 << 8 | Int($1) })
        }
        record.chain = chain
    }

    private mutating func stop(_ reason: String) {
        obstacle = reason
        for side in 0..<2 { sides[side] = Side() }
    }

    /// The extensions of a hello, behind their length.
    private static func extensions(
        _ bytes: ArraySlice<UInt8>
    ) -> [(type: UInt16, value: ArraySlice<UInt8>)] {
        var result: [(type: UInt16, value: ArraySlice<UInt8>)] = []
        var rest = bytes.dropFirst(2)
        while rest.count >= 4 {
            let head = [UInt8](rest.prefix(4))
            let length = Int(head[2]) << 8 | Int(head[3])
            rest = rest.dropFirst(4)
            guard rest.count >= length else { break }
            result.append((UInt16(head[0]) << 8 | UInt16(head[1]), rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return result
    }
}
