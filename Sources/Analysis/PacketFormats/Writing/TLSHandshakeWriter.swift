internal import TLS
internal import Traffic

/// Writes the messages of a handshake as far as a leg's record tells them; what it does not tell is
/// made up of zeros or of what the client's random hashes to.
struct TLSHandshakeWriter {
    let record: TLSRecord
    let suiteNumber: UInt16
    let version: UInt16
    /// The client's hello, whole.
    let clientHello: [UInt8]
    let clientRandom: [UInt8]
    let isHelloMadeUp: Bool

    /// - Parameter random: the client's, where its hello is not recorded.
    init(_ record: TLSRecord, suite: UInt16, random: [UInt8]) {
        self.record = record
        suiteNumber = suite
        version = Self.version(record.version)
        let recorded = record.clientHello
        isHelloMadeUp = recorded.count < 39 || recorded[0] != 1
        clientRandom = isHelloMadeUp ? random : [UInt8](recorded[6..<38])
        clientHello =
            isHelloMadeUp
            ? Self.madeUpHello(record, suite: suite, version: version, random: random) : recorded
    }

    /// The numbers of the versions as captures spell them (RFC 8446 §4.1.2); that of TLS 1.2 for others.
    static func version(_ text: String?) -> UInt16 {
        switch text {
        case "TLSv1.3": 0x0304
        case "TLSv1.1": 0x0302
        case "TLSv1": 0x0301
        default: 0x0303
        }
    }

    /// The server's random: nobody recorded it, and the keys are derived anew with this one.
    var serverRandom: [UInt8] {
        Digests.sha256([UInt8]("sallyport server random".utf8) + clientRandom)
    }

    var serverHello: [UInt8] {
        var extensions: [UInt8] = []
        if version == 0x0304 {
            Self.append(43, [3, 4], to: &extensions)
            Self.append(51, [0, 0x1D, 0, 32] + serverRandom, to: &extensions)
            // A resumed session names the identity that was taken (RFC 8446 §4.2.11).
            if record.resumed { Self.append(41, [0, 0], to: &extensions) }
        } else if let alpn = record.alpn {
            Self.append(16, Self.protocolList(alpn), to: &extensions)
        }
        let sessionID = isEchoing ? clientSessionID : []
        let body =
            min(version, 0x0303).bigEndianBytes + serverRandom + Self.vector8(sessionID)
            + suiteNumber.bigEndianBytes + [0] + Self.vector16(extensions)
        return Self.message(2, body)
    }

    /// What follows the hello of TLS 1.3 (RFC 8446 §4.3, §4.4).
    func encryptedFlight(hash: KeyHash) -> [UInt8] {
        var extensions: [UInt8] = []
        if let alpn = record.alpn { Self.append(16, Self.protocolList(alpn), to: &extensions) }
        var flight = Self.message(8, Self.vector16(extensions))
        if !record.chain.isEmpty, !record.resumed {
            let list: [UInt8] = record.chain.reduce(into: []) {
                $0 += Self.vector24($1) + [0, 0]
            }
            flight += Self.message(11, [0] + Self.vector24(list))
            flight += Self.message(15, [4, 3] + Self.vector16(Self.placeholder))
        }
        return flight + finished(count: hash.length)
    }

    /// What follows the hello of TLS 1.2 (RFC 5246 §7.4).
    func plainFlight(_ exchange: TLSSuite.KeyExchange) -> [UInt8] {
        var flight: [UInt8] = []
        if !record.chain.isEmpty {
            let list: [UInt8] = record.chain.reduce(into: []) { $0 += Self.vector24($1) }
            flight += Self.message(11, Self.vector24(list))
        }
        if exchange == .ecdhe {
            let key = [3, 0, 0x1D] + Self.vector8(serverRandom)
            flight += Self.message(12, key + [4, 3] + Self.vector16(Self.placeholder))
        }
        return flight + Self.message(14, [])
    }

    /// The client's half of the key exchange of TLS 1.2, made up.
    func clientKeyExchange(_ exchange: TLSSuite.KeyExchange) -> [UInt8] {
        let key = Digests.sha256(clientRandom)
        return Self.message(16, exchange == .ecdhe ? Self.vector8(key) : Self.vector16(key))
    }

    func finished(count: Int) -> [UInt8] {
        Self.message(20, [UInt8](repeating: 0, count: count))
    }

    /// Whether the server repeats the client's session ID: always in TLS 1.3, and in TLS 1.2 to
    /// resume a session.
    private var isEchoing: Bool { version == 0x0304 || record.resumed }

    private var clientSessionID: [UInt8] {
        let count = Int(clientHello[38])
        guard count <= 32, clientHello.count >= 39 + count else { return [] }
        return [UInt8](clientHello[39..<39 + count])
    }

    // MARK: Pieces

    /// A hello that offers what was agreed on, and nothing else.
    private static func madeUpHello(
        _ record: TLSRecord, suite: UInt16, version: UInt16, random: [UInt8]
    ) -> [UInt8] {
        var extensions: [UInt8] = []
        if let name = record.sni {
            append(0, vector16([0] + vector16([UInt8](name.utf8))), to: &extensions)
        }
        append(10, [0, 2, 0, 0x1D], to: &extensions)
        append(13, [0, 4, 4, 3, 8, 4], to: &extensions)
        if let alpn = record.alpn { append(16, protocolList(alpn), to: &extensions) }
        if version == 0x0304 {
            append(43, [2, 3, 4], to: &extensions)
            append(51, vector16([0, 0x1D, 0, 32] + Digests.sha256(random)), to: &extensions)
        }
        // A session ID, so that one that was resumed can be repeated.
        let sessionID = record.resumed ? vector8(Digests.sha256(random)) : [0]
        let body =
            min(version, 0x0303).bigEndianBytes + random + sessionID
            + vector16(suite.bigEndianBytes) + [1, 0] + vector16(extensions)
        return message(1, body)
    }

    private static let placeholder = [UInt8]("placeholder".utf8)

    private static func message(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
        [type] + vector24(body)
    }

    private static func append(_ type: UInt16, _ content: [UInt8], to list: inout [UInt8]) {
        list += type.bigEndianBytes + vector16(content)
    }

    private static func protocolList(_ name: String) -> [UInt8] {
        vector16(vector8([UInt8](name.utf8)))
    }

    private static func vector8(_ content: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: content.count)] + content
    }

    private static func vector16(_ content: [UInt8]) -> [UInt8] {
        UInt16(truncatingIfNeeded: content.count).bigEndianBytes + content
    }

    private static func vector24(_ content: [UInt8]) -> [UInt8] {
        [UInt8](UInt32(truncatingIfNeeded: content.count).bigEndianBytes.dropFirst()) + content
    }
}
