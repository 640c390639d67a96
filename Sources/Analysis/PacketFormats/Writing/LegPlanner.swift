internal import Base
internal import Formats
internal import TLS
internal import Traffic

/// Decides which legs of a connection become packets, between which addresses, and what has to be
/// said of them.
struct LegPlanner {
    private let record: ConnectionRecord
    private let isRedacted: Bool
    private(set) var plans: [LegPlan] = []
    private(set) var losses: [LossKind] = []

    init(_ record: ConnectionRecord, isRedacted: Bool) {
        self.record = record
        self.isRedacted = isRedacted
        guard var client = PacketEndpoint(text: record.client),
            var listener = PacketEndpoint(text: record.listener)
        else {
            losses.append(.withoutAddress)
            return
        }
        // As of an import, nobody recorded them; without, no reader tells two ends, or two
        // connections, apart.
        if client.port == 0 {
            if client.isLoopback { client.address = madeUpLoopback(like: client.address) }
            client.port = madeUpPort
        }
        if listener.port == 0 { listener.port = listenerPort }
        planClient(client, listener)
        let origin = record.originAddress.flatMap(PacketEndpoint.init(text:))
        if let origin { planServer(origin) }
        if record.clientTLS != nil || isRedacted { planDecrypted(client, origin ?? listener) }
    }

    private mutating func planClient(_ client: PacketEndpoint, _ listener: PacketEndpoint) {
        var plan = LegPlan(
            role: .client, connection: record.id, client: client, origin: listener,
            openedAt: record.openedAt, tls: record.clientTLS.map(leg), way: PacketWay(record))
        if record.mode == .explicit, record.clientTLS != nil || record.exchangeCount == 0,
            !record.originHost.isEmpty
        {
            let name = record.originHost
            let target = HostPort.bracketed(name) + ":\(record.originPort)"
            plan.preamble = [
                (.request, [UInt8]("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\r\n".utf8)),
                (.response, [UInt8]("HTTP/1.1 200 Connection Established\r\n\r\n".utf8)),
            ]
        }
        plan.comment = comment(
            for: plan, bytes: record.clientBytes, of: "client",
            extra: plan.preamble.isEmpty ? [] : ["CONNECT is made up"])
        add(plan)
    }

    private mutating func add(_ plan: LegPlan) {
        plans.append(plan)
        let isMissing = plan.tls.map { $0.gap != nil && $0.isCompleted } ?? false
        if isMissing, !isRedacted { losses.append(.legLeftOut) }
    }

    private mutating func planServer(_ origin: PacketEndpoint) {
        var plan = LegPlan(
            role: .server, connection: record.id, client: own(towards: origin), origin: origin,
            openedAt: record.openedAt, tls: record.originTLS.map(leg))
        var extra = ["our address is made up", "requests are written as the client sent them"]
        if record.originReused { extra.append("the connection served others before") }
        plan.comment = comment(for: plan, bytes: record.originBytes, of: "origin", extra: extra)
        add(plan)
    }

    /// HTTP goes to its own port, because readers take what is on that of HTTPS for TLS.
    private mutating func planDecrypted(_ client: PacketEndpoint, _ origin: PacketEndpoint) {
        var target = origin
        if record.exchangeCount > 0 { target.port = 80 }
        if let plain = Self.plainPorts[target.port] { target.port = plain }
        var plan = LegPlan(
            role: .decrypted, connection: record.id, client: client, origin: target,
            openedAt: record.openedAt, isWithoutContent: isRedacted, way: PacketWay(record))
        var parts = ["connection \(record.id), in plain: packets are made from a recording"]
        if isRedacted { parts.append("contents and secrets are left out") }
        if target.port != origin.port { parts.append("the port was \(origin.port)") }
        plan.comment = parts.joined(separator: "; ")
        plans.append(plan)
    }

    private func leg(_ record: TLSRecord) -> TLSLeg {
        TLSLeg(record, keys: isRedacted ? KeyLog() : KeyLog(lines: record.keyLog))
    }

    private func comment(
        for plan: LegPlan, bytes: ByteCount, of peer: String, extra: [String]
    ) -> String {
        var parts = ["connection \(record.id): packets are made from a recording"]
        parts += extra
        if let tls = plan.tls {
            parts.append("TLS is sealed anew, \(tls.madeUp)")
            if let gap = tls.gap { parts.append("its content is left out: \(gap)") }
        }
        if isRedacted { parts.append("contents and secrets are left out") }
        parts.append("on the wire: \(bytes.received) bytes from the \(peer), \(bytes.sent) to it")
        if record.outcome == .passedThrough { parts.append("passed through undecrypted") }
        return parts.joined(separator: "; ")
    }

    private var madeUpPort: UInt16 {
        UInt16(49_152 + record.id.magnitude % Self.madeUpPortCount)
    }

    /// How often all ports were given before: a made-up address is another one each time.
    private var madeUpRound: UInt32 {
        UInt32(truncatingIfNeeded: record.id.magnitude / Self.madeUpPortCount)
    }

    private static let madeUpPortCount: UInt64 = 16_000

    private func madeUpLoopback(like address: [UInt8]) -> [UInt8] {
        guard madeUpRound > 0 else { return address }
        // ::1 is the only one of IPv6.
        guard address.count == 4 else { return documentationAddress(like: address) }
        return [127] + (madeUpRound &+ 1).bigEndianBytes.dropFirst()
    }

    /// An address for documentation (RFC 5737, RFC 3849): those of IPv4 last for twelve million
    /// connections.
    private func documentationAddress(like address: [UInt8]) -> [UInt8] {
        guard address.count == 4 else {
            return [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 8)
                + (madeUpRound &+ 1).bigEndianBytes
        }
        let networks: [[UInt8]] = [[192, 0, 2], [198, 51, 100], [203, 0, 113]]
        let (network, host) = madeUpRound.quotientAndRemainder(dividingBy: 254)
        return networks[Int(network % 3)] + [UInt8(1 + host)]
    }

    /// That of the origin, or what its content in plain is looked for on.
    private var listenerPort: UInt16 {
        guard record.clientTLS == nil else {
            return record.originPort == 0 ? 443 : record.originPort
        }
        if record.exchangeCount > 0 || record.originPort == 0 { return 80 }
        return Self.plainPorts[record.originPort] ?? record.originPort
    }

    /// Where we would have connected from: nobody recorded it.
    private func own(towards origin: PacketEndpoint) -> PacketEndpoint {
        let address =
            origin.isLoopback
            ? madeUpLoopback(like: origin.address) : documentationAddress(like: origin.address)
        // The client may be made up as well, and all of them on one machine.
        return PacketEndpoint(address: address, port: madeUpPort - UInt16(Self.madeUpPortCount))
    }

    /// The ports of protocols in plain, by those that they have in TLS.
    private static let plainPorts: [UInt16: UInt16] = [
        443: 80, 465: 25, 563: 119, 636: 389, 853: 53, 989: 20, 990: 21, 992: 23, 993: 143,
        995: 110, 5061: 5060, 5671: 5672, 6697: 6667, 8883: 1883,
    ]
}
