internal import Base

/// What two sides said up to a tunnel through a SOCKS proxy (RFC 1928, RFC 1929; SOCKS 4 and 4A),
/// where it was set up.
package struct SOCKSTunnel: Equatable {
    /// Where the tunnel leads: a name, or an address without brackets.
    package let host: String
    package let port: UInt16
    /// How many bytes of either side come before it.
    package let clientCount: Int
    package let originCount: Int

    package enum Judgement: Equatable {
        case tunnel(SOCKSTunnel)
        case needsMore
        /// It is none, or was refused.
        case none
    }

    /// In bytes of either side: what the longest greeting, login and request have.
    private static let byteLimit = 2048

    /// Judges the first bytes of both sides.
    package static func judge(client: [UInt8], origin: [UInt8]) -> Judgement {
        var client = Side(rest: client.prefix(byteLimit))
        var origin = Side(rest: origin.prefix(byteLimit))
        guard let version = client.number() else { return .needsMore }
        let judged: Judgement?
        switch version {
        case 5: judged = version5(&client, &origin)
        case 4: judged = version4(&client, &origin)
        default: return .none
        }
        let isFull = client.count >= byteLimit || origin.count >= byteLimit
        return judged ?? (isFull ? Judgement.none : .needsMore)
    }

    /// - Returns: `nil` if more is needed.
    private static func version5(_ client: inout Side, _ origin: inout Side) -> Judgement? {
        guard client.vector() != nil, let answer = origin.bytes(2) else { return nil }
        guard answer.first == 5, answer.last == 0 || answer.last == 2 else { return Judgement.none }
        if answer.last == 2 {
            guard let kind = client.number() else { return nil }
            guard kind == 1 else { return Judgement.none }
            guard client.vector() != nil, client.vector() != nil, let verdict = origin.bytes(2)
            else { return nil }
            guard verdict.last == 0 else { return Judgement.none }
        }
        guard let command = client.bytes(3) else { return nil }
        guard command.elementsEqual([5, 1, 0]) else { return Judgement.none }
        guard let place = client.place(), let reply = origin.bytes(3) else { return nil }
        guard reply.first == 5, reply.dropFirst().first == 0 else { return Judgement.none }
        guard origin.place() != nil else { return nil }
        return tunnel(place.host, place.port, client, origin)
    }

    private static func version4(_ client: inout Side, _ origin: inout Side) -> Judgement? {
        guard let command = client.number() else { return nil }
        guard command == 1 else { return Judgement.none }
        guard let port = client.number16(), let address = client.bytes(4), client.text() != nil
        else { return nil }
        var host = Side.text(of: address)
        // An address that none can be stands for a name behind the user (SOCKS 4A).
        if address.starts(with: [0, 0, 0]), address.last != 0 {
            guard let name = client.text() else { return nil }
            host = name.text
        }
        guard let reply = origin.bytes(8) else { return nil }
        guard reply.starts(with: [0, 90]) else { return Judgement.none }
        return tunnel(host, port, client, origin)
    }

    private static func tunnel(
        _ host: String, _ port: UInt16, _ client: Side, _ origin: Side
    ) -> Judgement {
        .tunnel(
            SOCKSTunnel(
                host: host, port: port, clientCount: client.count, originCount: origin.count))
    }

    /// One side's bytes, from their start.
    private struct Side {
        var rest: ArraySlice<UInt8>
        /// How many were taken.
        var count = 0

        mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
            guard rest.count >= count else { return nil }
            defer {
                rest = rest.dropFirst(count)
                self.count += count
            }
            return rest.prefix(count)
        }

        mutating func number() -> UInt8? { bytes(1)?.first }

        mutating func number16() -> UInt16? {
            bytes(2).map { $0.reduce(0) { $0 << 8 | UInt16($1) } }
        }

        /// What follows its own length.
        mutating func vector() -> ArraySlice<UInt8>? {
            number().flatMap { bytes(Int($0)) }
        }

        /// What is before the next zero.
        mutating func text() -> ArraySlice<UInt8>? {
            guard let end = rest.firstIndex(of: 0) else { return nil }
            return bytes(end - rest.startIndex + 1)?.dropLast()
        }

        /// An address with its kind, and a port (RFC 1928 §4, §5).
        mutating func place() -> (host: String, port: UInt16)? {
            guard let kind = number() else { return nil }
            let host: String?
            switch kind {
            case 1: host = bytes(4).map(Side.text)
            case 3: host = vector()?.text
            case 4:
                host = bytes(16).map { address in
                    stride(from: address.startIndex, to: address.endIndex, by: 2).map {
                        String(UInt16(address[$0]) << 8 | UInt16(address[$0 + 1]), radix: 16)
                    }.joined(separator: ":")
                }
            default: return nil
            }
            guard let host, let port = number16() else { return nil }
            return (host, port)
        }

        static func text(of address: ArraySlice<UInt8>) -> String {
            address.map { String($0) }.joined(separator: ".")
        }
    }
}
