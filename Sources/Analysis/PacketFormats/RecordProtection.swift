internal import TLS

/// Protects the records of one direction under one key, or takes their protection off.
struct RecordProtection {
    private let version: TLSSuite.Version
    private let algorithm: AEADSession.Algorithm
    private let session: AEADSession
    /// 4 bytes where a part of each nonce is sent (RFC 5288 §3), else 12.
    private let nonce: [UInt8]
    private(set) var sequence: UInt64 = 0

    /// TLS 1.3: both from a traffic secret (RFC 8446 §7.3).
    init(_ suite: TLSSuite, secret: [UInt8]) {
        let keyLength = suite.algorithm.keyLength
        self.init(
            suite, key: suite.hash.expand(secret, "key", count: keyLength),
            nonce: suite.hash.expand(secret, "iv", count: AEADSession.nonceLength))
    }

    private init(_ suite: TLSSuite, key: [UInt8], nonce: [UInt8]) {
        version = suite.version
        algorithm = suite.algorithm
        session = AEADSession(suite.algorithm, key: key)
        self.nonce = nonce
    }

    /// TLS 1.2: both directions from the master secret (RFC 5246 §6.3).
    ///
    /// - Returns: the client's, and the server's.
    static func pair(
        _ suite: TLSSuite, master: [UInt8], clientRandom: [UInt8], serverRandom: [UInt8]
    ) -> (client: RecordProtection, server: RecordProtection) {
        let keyLength = suite.algorithm.keyLength
        let nonceLength = suite.algorithm == .chaCha20Poly1305 ? 12 : 4
        var block = suite.hash.stretch(
            master, "key expansion", seed: serverRandom + clientRandom,
            count: 2 * (keyLength + nonceLength))[...]
        func take(_ count: Int) -> [UInt8] {
            defer { block = block.dropFirst(count) }
            return [UInt8](block.prefix(count))
        }
        let keys = (take(keyLength), take(keyLength))
        let nonces = (take(nonceLength), take(nonceLength))
        return (
            RecordProtection(suite, key: keys.0, nonce: nonces.0),
            RecordProtection(suite, key: keys.1, nonce: nonces.1)
        )
    }

    /// Appends a record with its header.
    mutating func seal(_ type: TLSContentType, _ content: [UInt8], into output: inout [UInt8]) {
        let number = sequence.bigEndianBytes
        sequence += 1
        guard version == .tls12 else {
            let header = TLSContentType.applicationData.header(
                count: content.count + 1 + AEADSession.tagLength)
            output += header
            session.seal(
                content + [type.rawValue], nonce: mixed(number), authenticated: header,
                into: &output)
            return
        }
        let explicit = nonce.count == 4 ? number : []
        output += type.header(count: explicit.count + content.count + AEADSession.tagLength)
        output += explicit
        session.seal(
            content, nonce: nonce.count == 4 ? nonce + number : mixed(number),
            authenticated: number + type.header(count: content.count), into: &output)
    }

    /// Takes the protection off a record.
    ///
    /// - Returns: `nil` if it was not protected with this key as the next record.
    mutating func open(
        _ type: TLSContentType, _ sealed: ArraySlice<UInt8>
    ) -> (TLSContentType, [UInt8])? {
        let number = sequence.bigEndianBytes
        if version == .tls13 {
            let header = type.header(count: sealed.count)
            guard
                var content = session.open(sealed, nonce: mixed(number), authenticated: header)
            else { return nil }
            while content.last == 0 { content.removeLast() }
            guard let inner = content.popLast().flatMap(TLSContentType.init) else { return nil }
            sequence += 1
            return (inner, content)
        }
        let explicitCount = nonce.count == 4 ? 8 : 0
        let length = sealed.count - explicitCount - AEADSession.tagLength
        guard length >= 0 else { return nil }
        let nonce =
            explicitCount > 0 ? nonce + sealed.prefix(explicitCount) : mixed(number)
        guard
            let content = session.open(
                sealed.dropFirst(explicitCount), nonce: nonce,
                authenticated: number + type.header(count: length))
        else { return nil }
        sequence += 1
        return (type, content)
    }

    /// The nonce of a record (RFC 8446 §5.3, RFC 7905 §2).
    private func mixed(_ number: [UInt8]) -> [UInt8] {
        var result = nonce
        for (index, byte) in number.enumerated() { result[result.count - 8 + index] ^= byte }
        return result
    }
}

/// What a record of TLS carries (RFC 8446 §5.1).
enum TLSContentType: UInt8, Sendable {
    case changeCipherSpec = 20
    case alert = 21
    case handshake = 22
    case applicationData = 23

    /// A record's header, with the version that all records have since TLS 1.2.
    func header(count: Int, version: UInt16 = 0x0303) -> [UInt8] {
        [rawValue] + version.bigEndianBytes + UInt16(truncatingIfNeeded: count).bigEndianBytes
    }
}

extension FixedWidthInteger {
    /// In the order of the network.
    var bigEndianBytes: [UInt8] {
        (0..<Self.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }

    var littleEndianBytes: [UInt8] {
        (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }
}
