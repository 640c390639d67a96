internal import Base
internal import TLS

/// What the first bytes of a connection, or of a tunnel, turn out to be.
///
/// Indirect: a hello is large, and a connection keeps its opening on its stack for life.
indirect enum Opening: Sendable {
    case tls(ClientHello)
    /// A TLS record that holds no ClientHello we can read.
    case brokenTLS(ClientHelloViolation)
    case http
    /// The preface of HTTP/2 without TLS (RFC 9113 §3.4).
    case http2Preface
    case socks
    case unknown
    /// The client waits for the origin to speak first.
    case silent

    /// Judges the bytes that wait; `nil` if more are needed.
    static func judge(_ bytes: Span<UInt8>) -> Opening? {
        guard bytes.count > 0 else { return nil }
        switch bytes[0] {
        case 0x16, 0x80...0xFF: return judgeTLS(bytes)
        case 0x04, 0x05: return .socks
        default: return judgeText(bytes)
        }
    }

    private static func judgeTLS(_ bytes: Span<UInt8>) -> Opening? {
        do throws(ClientHelloViolation) {
            return try ClientHelloReader.read(bytes).map(Opening.tls)
        } catch {
            return .brokenTLS(error)
        }
    }

    private static let preface: StaticString = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    /// A method is a token and a space (RFC 9110 §9.1), and empty lines may come before it.
    private static func judgeText(_ bytes: Span<UInt8>) -> Opening? {
        let prefaceLength = preface.utf8CodeUnitCount
        let compared = min(bytes.count, prefaceLength)
        let isPreface = preface.withUTF8Buffer { expected in
            for index in 0..<compared where unsafe bytes[index] != expected[index] { return false }
            return true
        }
        if isPreface { return bytes.count >= prefaceLength ? .http2Preface : nil }
        var index = 0
        while index < bytes.count, bytes[index] == 0x0D || bytes[index] == 0x0A { index += 1 }
        guard index < bytes.count else { return index > 8 ? .unknown : nil }
        guard bytes[index].isASCIILetter else { return .unknown }
        return .http
    }
}
