/// Why a datagram is no part of a QUIC client's first flight that can be read.
///
/// `code` is stable, `detail` is for people only.
package enum QUICViolation: Error, Sendable, Equatable {
    /// The datagram does not begin with a long header.
    case notQUIC
    /// The version is not one whose first packets can be read.
    case version(QUICVersion)
    /// The datagram begins with another packet than an Initial one.
    case notInitial(type: UInt8)
    /// The version or the destination's id is not that of the datagrams before.
    case anotherConnection
    case tooManyDatagrams(limit: Int)
    /// An id has more than the 20 bytes of RFC 9000 §17.2.
    case connectionIDTooLong(Int)
    /// A packet ends within its header, or its length reaches beyond the datagram.
    case truncatedPacket
    /// A packet is too short to be protected (RFC 9001 §5.4.2); the length is in bytes.
    case packetTooShort(Int)
    /// The packet's tag does not fit its content.
    case notAuthentic
    /// Bits that must be zero are not (RFC 9000 §17.2).
    case reservedBits
    /// The packet holds nothing (RFC 9000 §12.4).
    case noFrames
    /// A frame that no Initial packet may hold, or whose type is written too long.
    case frame(UInt64)
    /// The packet's content ends within a frame.
    case truncatedFrame
    /// A CRYPTO frame lies further than any hello reaches; the end is in bytes.
    case cryptoTooLong(limit: Int)
    /// Two CRYPTO frames disagree about the byte at this offset (RFC 9000 §2.2).
    case cryptoChanged(offset: Int)
    /// The CRYPTO frames hold no ClientHello that can be read.
    case hello(ClientHelloViolation)

    /// A stable word that programs may compare.
    package var code: String {
        switch self {
        case .notQUIC: "not-quic"
        case .version: "quic-version"
        case .notInitial: "not-initial"
        case .anotherConnection: "another-connection"
        case .tooManyDatagrams: "too-many-datagrams"
        case .connectionIDTooLong: "connection-id-too-long"
        case .truncatedPacket: "truncated-packet"
        case .packetTooShort: "packet-too-short"
        case .notAuthentic: "not-authentic"
        case .reservedBits: "reserved-bits"
        case .noFrames: "no-frames"
        case .frame: "forbidden-frame"
        case .truncatedFrame: "truncated-frame"
        case .cryptoTooLong: "crypto-too-long"
        case .cryptoChanged: "crypto-changed"
        case .hello(let violation): violation.code
        }
    }

    /// What is wrong, in words.
    package var detail: String {
        switch self {
        case .notQUIC: "the datagram begins with no long header of QUIC"
        case .version(let version): "QUIC \(version), whose first packets cannot be read"
        case .notInitial(let type): "a QUIC packet of type \(type) where an Initial one was due"
        case .anotherConnection: "the QUIC datagram belongs to another connection"
        case .tooManyDatagrams(let limit): "a ClientHello in more than \(limit) QUIC datagrams"
        case .connectionIDTooLong(let length): "a QUIC connection id of \(length) bytes"
        case .truncatedPacket: "the datagram ends within a QUIC packet"
        case .packetTooShort(let length): "a QUIC packet of \(length) bytes"
        case .notAuthentic: "the QUIC packet is not authentic"
        case .reservedBits: "the QUIC packet has reserved bits set"
        case .noFrames: "a QUIC packet without frames"
        case .frame(let type): "a QUIC frame of type \(type) in an Initial packet"
        case .truncatedFrame: "the QUIC packet ends within a frame"
        case .cryptoTooLong(let limit): "a CRYPTO frame that reaches beyond \(limit) bytes"
        case .cryptoChanged(let offset): "CRYPTO frames that disagree at offset \(offset)"
        case .hello(let violation): violation.detail
        }
    }
}
