internal import Base

/// The keys that protect a client's Initial packets (RFC 9001 §5.1, §5.2).
///
/// Everyone who sees the first datagram can make them: they keep middleboxes out, not readers.
struct QUICInitialKeys {
    let key: [UInt8]
    let nonce: [UInt8]
    let headerKey: [UInt8]

    /// - Parameter destinationID: of the first packet that the client sent.
    init(_ secrets: QUICVersion.InitialSecrets, destinationID: [UInt8]) {
        let initial = Digests.hmacSHA256(key: secrets.salt, destinationID)
        let client = Self.expand(initial, "client in", count: 32)
        key = Self.expand(client, secrets.label + "key", count: 16)
        nonce = Self.expand(client, secrets.label + "iv", count: 12)
        headerKey = Self.expand(client, secrets.label + "hp", count: 16)
    }

    /// HKDF-Expand-Label with no context (RFC 8446 §7.1), of at most one block of 32 bytes.
    private static func expand(_ secret: [UInt8], _ label: String, count: UInt8) -> [UInt8] {
        let label = [UInt8]("tls13 \(label)".utf8)
        let info = [0, count, UInt8(label.count)] + label + [0]
        // RFC 5869 §2.3: the first block ends with a 1.
        return [UInt8](Digests.hmacSHA256(key: secret, info + [1]).prefix(Int(count)))
    }

    /// Takes the protection off a packet (RFC 9001 §5.3, §5.4).
    ///
    /// - Parameters:
    ///   - packet: of the datagram, from its first byte to its tag.
    ///   - numberStart: where its packet number is, relative to the datagram.
    /// - Returns: the frames.
    func open(
        _ packet: ArraySlice<UInt8>, numberStart: Int
    ) throws(QUICViolation) -> [UInt8] {
        let sampleStart = numberStart + Self.longestNumber
        guard packet.endIndex - sampleStart >= Self.sampleLength else {
            throw .packetTooShort(packet.count)
        }
        let sample = packet[sampleStart..<sampleStart + Self.sampleLength]
        let mask = AES128.encryptBlock([UInt8](sample), key: headerKey)
        let first = packet[packet.startIndex] ^ mask[0] & 0x0F
        let numberLength = Int(first & 3) + 1
        var header = [UInt8](packet[..<(numberStart + numberLength)])
        header[0] = first
        var nonce = nonce
        for index in 0..<numberLength {
            let place = header.count - numberLength + index
            header[place] ^= mask[1 + index]
            nonce[nonce.count - numberLength + index] ^= header[place]
        }
        let sealed = [UInt8](packet[(numberStart + numberLength)...])
        guard
            let content = AES128.open(sealed, key: key, nonce: nonce, authenticated: header)
        else { throw .notAuthentic }
        guard first & 0x0C == 0 else { throw .reservedBits }
        return content
    }

    /// In bytes; the sample lies behind where the longest packet number would end.
    private static let longestNumber = 4
    private static let sampleLength = 16
}
