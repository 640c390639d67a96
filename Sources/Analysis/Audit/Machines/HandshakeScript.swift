internal import Catalogue
internal import TLS

/// The flight of a server that breaks the order of TLS 1.2 (RFC 5246 §7.3), in cleartext.
struct HandshakeScript {
    private let behaviour: ProbeBehaviour
    private let chain: PresentedChain
    private let hello: ClientHello
    private let random = Digests.randomBytes(32)

    init(_ behaviour: ProbeBehaviour, _ chain: PresentedChain, _ hello: ClientHello) {
        self.behaviour = behaviour
        self.chain = chain
        self.hello = hello
    }

    /// Whether the client does.
    var speaksTLS12: Bool {
        let version = TLSVersion.tls12.rawValue
        guard hello.supportedVersions.isEmpty else {
            return hello.supportedVersions.contains(version)
        }
        return hello.legacyVersion >= version
    }

    /// - Returns: `nil` if the client offers nothing that it can be tried with.
    func flight() -> [UInt8]? {
        guard speaksTLS12, let suite else { return nil }
        let shown = behaviour == .emptyCertificate ? [] : chain.certificates.map(\.der)
        let begin = message(MessageType.serverHello, serverHello(suite)) + certificate(shown)
        let done = message(MessageType.serverHelloDone, [])
        let finished = message(MessageType.finished, [UInt8](repeating: 0, count: 12))
        switch behaviour {
        case .skippedServerKeyExchange: return begin + done
        case .earlyFinished: return begin + finished
        case .changeCipherSpecFinished:
            return begin + RecordType.record(RecordType.changeCipherSpec, [1]) + finished
        case .emptyCertificate:
            guard let exchange = signed(Self.curveParameters) else { return nil }
            return begin + message(MessageType.serverKeyExchange, exchange) + done
        case .exportKey:
            guard let exchange = signed(exportParameters) else { return nil }
            return begin + message(MessageType.serverKeyExchange, exchange) + done
        default: return nil
        }
    }

    // MARK: Messages

    private func serverHello(_ suite: UInt16) -> [UInt8] {
        // RFC 5746 §3.6: without it many clients go no further.
        let isSafe = hello.extensions.contains(0xFF01) || hello.cipherSuites.contains(0x00FF)
        let extensions: [UInt8] = isSafe ? [0, 5, 0xFF, 1, 0, 1, 0] : []
        return [3, 3] + random + [0] + number(Int(suite), 2) + [0] + extensions
    }

    private func certificate(_ chain: [[UInt8]]) -> [UInt8] {
        let list = chain.flatMap { number($0.count, 3) + $0 }
        return message(MessageType.certificate, number(list.count, 3) + list)
    }

    private func signed(_ parameters: [UInt8]) -> [UInt8]? {
        let key = chain.key
        guard let signature = key.signature(of: hello.random + random + parameters) else {
            return nil
        }
        let algorithm: [UInt8] = key.isRSA ? [4, 1] : [4, 3]
        return parameters + algorithm + number(signature.count, 2) + signature
    }

    /// A message in records of its own.
    private func message(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
        let whole = [type] + number(body.count, 3) + body
        return stride(from: 0, to: whole.count, by: 1 << 14).flatMap { start in
            RecordType.record(
                RecordType.handshake, Array(whole[start..<min(start + 1 << 14, whole.count)]))
        }
    }

    private func number(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    // MARK: Parameters

    private var suite: UInt16? {
        let candidates: [UInt16] =
            if behaviour == .exportKey {
                chain.key.isRSA ? Self.rsaSuites : []
            } else {
                chain.key.isRSA ? Self.ecdheRSASuites : Self.ecdheECDSASuites
            }
        return candidates.first { hello.cipherSuites.contains($0) }
    }

    /// An RSA key of 512 bits that nobody has the other half of: nothing is decrypted with it.
    private var exportParameters: [UInt8] {
        var modulus = Digests.randomBytes(64)
        modulus[0] |= 0x80
        modulus[63] |= 1
        return number(64, 2) + modulus + number(3, 2) + [1, 0, 1]
    }

    /// The base point of P-256 as a public key (SEC 2 §2.4.2).
    private static let curveParameters: [UInt8] =
        [3, 0, 23, 65, 4] + [
            0x6B, 0x17, 0xD1, 0xF2, 0xE1, 0x2C, 0x42, 0x47, 0xF8, 0xBC, 0xE6, 0xE5, 0x63, 0xA4,
            0x40, 0xF2, 0x77, 0x03, 0x7D, 0x81, 0x2D, 0xEB, 0x33, 0xA0, 0xF4, 0xA1, 0x39, 0x45,
            0xD8, 0x98, 0xC2, 0x96, 0x4F, 0xE3, 0x42, 0xE2, 0xFE, 0x1A, 0x7F, 0x9B, 0x8E, 0xE7,
            0xEB, 0x4A, 0x7C, 0x0F, 0x9E, 0x16, 0x2B, 0xCE, 0x33, 0x57, 0x6B, 0x31, 0x5E, 0xCE,
            0xCB, 0xB6, 0x40, 0x68, 0x37, 0xBF, 0x51, 0xF5,
        ]

    // Those that clients still offer, the safest first (IANA, TLS Cipher Suites).
    private static let ecdheRSASuites: [UInt16] = [0xC02F, 0xC030, 0xCCA8, 0xC013, 0xC014, 0xC027]
    private static let ecdheECDSASuites: [UInt16] = [
        0xC02B, 0xC02C, 0xCCA9, 0xC009, 0xC00A, 0xC023,
    ]
    private static let rsaSuites: [UInt16] = [
        0x009C, 0x009D, 0x002F, 0x0035, 0x003C, 0x003D, 0x000A,
    ]
}
