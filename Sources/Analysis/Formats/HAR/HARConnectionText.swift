internal import Base
internal import Redaction
internal import Traffic

/// A connection as our own exports keep it, and as HTTP Toolkit tells of one that failed.
struct HARConnectionText {
    let record: ConnectionRecord
    let withSecrets: Bool

    /// Everything, so that an import of it makes the same record.
    var json: JSONText {
        var members = JSONMembers()
        members.add("id", .integer(record.id))
        members.add("openedUs", .integer(record.openedAt.microseconds))
        members.add("closedUs", .optional(record.closedAt?.microseconds))
        members.add("client", .string(record.client))
        members.add("listener", .string(record.listener))
        members.add("mode", .string(record.mode.rawValue))
        members.add("host", .string(record.originHost))
        members.add("port", .integer(Int64(record.originPort)))
        members.add("originAddress", .optional(record.originAddress))
        members.add("originReused", .boolean(record.originReused))
        members.add("clientBytes", Self.counts(record.clientBytes))
        members.add("originBytes", Self.counts(record.originBytes))
        members.add("protocol", .string(record.protocolName))
        members.add("exchanges", .integer(record.exchangeCount))
        members.add("messages", .integer(record.messageCount))
        members.add("upgrade", .optional(record.upgrade))
        members.add("outcome", .string(record.outcome.rawValue))
        members.add("cause", .string(record.cause))
        members.add("closedBy", .optional(record.closedBy?.rawValue))
        members.add("process", record.process.map(process) ?? .null)
        let isNoted =
            withSecrets || record.has(.secretsMasked)
        let notes = record.notes + (isNoted ? [] : [.secretsMasked])
        if !notes.isEmpty {
            members.add(
                "notes",
                .array(notes.map { ["code": .string($0.code), "detail": .string($0.detail)] }))
        }
        members.add("clientTLS", record.clientTLS.map(tls) ?? .null)
        members.add("originTLS", record.originTLS.map(tls) ?? .null)
        return members.json
    }

    private static func counts(_ count: ByteCount) -> JSONText {
        .array([.integer(count.received), .integer(count.sent)])
    }

    private func process(_ process: ProcessRecord) -> JSONText {
        let arguments = process.commandLine.map { argument -> JSONText in
            guard !withSecrets else { return .string(argument) }
            let bytes = [UInt8](argument.utf8)
            if let shown = ValueRedaction.redact(bytes, depth: 0), shown != redactionMark {
                return .bytes(shown)
            }
            return .bytes(URLRedaction.redact(query: bytes[...]))
        }
        return [
            "id": .integer(Int64(process.id)), "executable": .string(process.executable),
            "arguments": .array(arguments),
        ]
    }

    private func tls(_ record: TLSRecord) -> JSONText {
        var members = JSONMembers()
        members.add("version", .optional(record.version))
        members.add("cipher", .optional(record.cipher))
        members.add("alpn", .optional(record.alpn))
        members.add("sni", .optional(record.sni))
        members.add("ja3", .optional(record.ja3))
        members.add("ja4", .optional(record.ja4))
        members.add("resumed", .boolean(record.resumed))
        members.add("completed", .boolean(record.handshakeCompleted))
        members.add("verifyError", .optional(record.verifyError))
        if !record.clientHello.isEmpty {
            members.add("clientHello", .string(Base64.encode(record.clientHello)))
        }
        if !record.chain.isEmpty {
            members.add("chain", .array(record.chain.map { .string(Base64.encode($0)) }))
        }
        if !record.clientChain.isEmpty {
            members.add(
                "clientChain", .array(record.clientChain.map { .string(Base64.encode($0)) }))
        }
        if !record.alerts.isEmpty {
            members.add(
                "alerts",
                .array(
                    record.alerts.map {
                        [
                            "sender": .string($0.sender.rawValue), "fatal": .boolean($0.fatal),
                            "name": .string($0.name),
                        ]
                    }))
        }
        if withSecrets, !record.keyLog.isEmpty {
            members.add("keyLog", .array(record.keyLog.map { .string($0) }))
        }
        return members.json
    }

    /// One of `log._tlsErrors`, `nil` if the client's handshake did not fail.
    var failedHandshake: JSONText? {
        guard let cause = handshakeCause else { return nil }
        let (address, port) = Self.split(record.client)
        let tls = record.clientTLS
        let time = record.closedAt.map { $0.microseconds(since: record.openedAt) } ?? 0
        return [
            "startedDateTime": .string(record.openedAt.iso8601),
            "time": .thousandths(time),
            "hostname": .optional(
                tls?.sni ?? (record.originHost.isEmpty ? nil : record.originHost)),
            "cause": .string(cause),
            "tlsMetadata": [
                "sniHostname": .optional(tls?.sni),
                "ja3Fingerprint": .optional(tls?.ja3),
                "ja4Fingerprint": .optional(tls?.ja4),
            ],
            "clientIPAddress": .string(address),
            "clientPort": .optional(port),
            "_sallyport": ["connection": .integer(record.id)],
        ]
    }

    /// In the words of HTTP Toolkit.
    private var handshakeCause: String? {
        switch record.outcome {
        case .clientRefused: return "cert-rejected"
        case .clientHandshakeFailed:
            let alerts = record.clientTLS?.alerts ?? []
            if alerts.contains(where: { $0.sender == .tool && $0.name == "handshake_failure" }) {
                return "no-shared-cipher"
            }
            return record.closedBy == .client && alerts.isEmpty ? "closed" : "unknown"
        default: return nil
        }
    }

    /// `[::1]:443` into its address without brackets and its port.
    static func split(_ peer: String) -> (address: String, port: UInt16?) {
        guard let colon = peer.lastIndex(of: ":") else { return (peer, nil) }
        var address = peer[..<colon]
        if address.hasPrefix("["), address.hasSuffix("]") {
            address = address.dropFirst().dropLast()
        }
        return (String(address), UInt16(peer[peer.index(after: colon)...]))
    }
}

/// Members of an object, those that are `null` left out.
struct JSONMembers {
    private var members: [JSONText.Member] = []

    mutating func add(_ name: String, _ value: JSONText) {
        if value != .null { members.append(JSONText.Member(name, value)) }
    }

    var isEmpty: Bool { members.isEmpty }
    var json: JSONText { .object(members) }
}
