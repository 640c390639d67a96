import COpenSSL

@testable import TLS

/// Makes Initial packets that no library would send.
struct QUICPacketBuilder {
    var version = QUICVersion.v1
    /// The two bits of the type; the version's Initial if `nil`.
    var type: UInt8?
    var reservedBits: UInt8 = 0
    var destinationID: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    var sourceID: [UInt8] = []
    var token: [UInt8] = []
    var number: [UInt8] = [0]
    var frames: [UInt8] = []
    /// Added to what the header says.
    var lengthError = 0

    init(_ frames: [UInt8], _ change: (inout QUICPacketBuilder) -> Void = { _ in }) {
        self.frames = frames
        change(&self)
    }

    var packet: [UInt8] {
        let secrets = version.initialSecrets ?? QUICVersion.secretsOfV1
        let keys = QUICInitialKeys(secrets, destinationID: destinationID)
        let type = type ?? secrets.type
        var header = [0xC0 | type << 4 | reservedBits << 2 | UInt8(number.count - 1)]
        header += (0..<4).map { UInt8(truncatingIfNeeded: version.rawValue >> (24 - 8 * $0)) }
        header += [UInt8(destinationID.count)] + destinationID
        header += [UInt8(sourceID.count)] + sourceID
        if type == secrets.type { header += variable(token.count) + token }
        let length = number.count + frames.count + 16 + lengthError
        header += variable(length) + number
        var nonce = keys.nonce
        for (index, byte) in number.enumerated() {
            nonce[nonce.count - number.count + index] ^= byte
        }
        let sealed = seal(frames, key: keys.key, nonce: nonce, authenticated: header)
        let sampleStart = 4 - number.count
        guard sealed.count >= sampleStart + 16 else { return header + sealed }
        let sample = [UInt8](sealed[sampleStart..<sampleStart + 16])
        let mask = AES128.encryptBlock(sample, key: keys.headerKey)
        header[0] ^= mask[0] & 0x0F
        for index in number.indices {
            header[header.count - number.count + index] ^= mask[1 + index]
        }
        return header + sealed
    }

    /// A CRYPTO frame.
    static func crypto(_ offset: Int, _ bytes: some Collection<UInt8>) -> [UInt8] {
        [6] + variable(offset) + variable(bytes.count) + bytes
    }
}

/// A number in the fewest bytes that hold it (RFC 9000 §16).
func variable(_ value: Int) -> [UInt8] {
    switch value {
    case ..<64: [UInt8(value)]
    case ..<16_384: [0x40 | UInt8(value >> 8), UInt8(value & 0xFF)]
    default:
        [0x80 | UInt8(value >> 24), UInt8(value >> 16 & 0xFF)] + number(UInt16(value & 0xFFFF))
    }
}

private func seal(
    _ content: [UInt8], key: [UInt8], nonce: [UInt8], authenticated: [UInt8]
) -> [UInt8] {
    let context = unsafe EVP_CIPHER_CTX_new()
    defer { unsafe EVP_CIPHER_CTX_free(context) }
    var sealed = [UInt8](repeating: 0, count: content.count)
    var tag = [UInt8](repeating: 0, count: 16)
    var count: Int32 = 0
    unsafe EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce)
    unsafe EVP_EncryptUpdate(context, nil, &count, authenticated, Int32(authenticated.count))
    unsafe EVP_EncryptUpdate(context, &sealed, &count, content, Int32(content.count))
    var last = [UInt8](repeating: 0, count: 16)
    unsafe EVP_EncryptFinal_ex(context, &last, &count)
    unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag)
    return sealed + tag
}
