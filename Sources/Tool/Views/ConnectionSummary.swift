package import Base
internal import Redaction
package import Traffic

/// One connection in a line: what `connections` prints.
package struct ConnectionSummary {
    package let record: ConnectionRecord

    package init(_ record: ConnectionRecord) {
        self.record = record
    }

    package var alert: AlertRecord? { record.alert }
    package var origin: String { record.origin }
    package var processName: String? { record.processName }

    /// The arguments of that program without the secrets that their names tell.
    package var processArguments: [String] {
        (record.process?.commandLine ?? []).map { argument in
            let bytes = [UInt8](argument.utf8)
            if let redacted = ValueRedaction.redact(bytes, depth: 0), redacted != redactionMark {
                return redacted.text
            }
            return URLRedaction.redact(query: bytes[...]).text
        }
    }

    /// A line of JSON Lines in the schema `sallyport.connection/1`.
    package var json: JSONText {
        let client = record.clientTLS
        let origin = record.originTLS
        return [
            "schema": "sallyport.connection/1",
            "id": .integer(record.id),
            "openedAt": .string(record.openedAt.rfc3339),
            "closedAt": .optional(record.closedAt?.rfc3339),
            "client": .string(record.client),
            "listener": .string(record.listener),
            "mode": .string(record.mode.rawValue),
            "host": .optional(record.originHost.isEmpty ? nil : record.originHost),
            "port": .optional(record.originPort == 0 ? nil : record.originPort),
            "originAddress": .optional(record.originAddress),
            "sni": .optional(client?.sni),
            "alpn": .optional(client?.alpn),
            "tlsVersion": .optional(client?.version),
            "cipher": .optional(client?.cipher),
            "ja3": .optional(client?.ja3),
            "ja4": .optional(client?.ja4),
            "originTlsVersion": .optional(origin?.version),
            "originCipher": .optional(origin?.cipher),
            "originVerifyError": .optional(origin?.verifyError),
            "outcome": .string(record.outcome.rawValue),
            "cause": .optional(record.cause.isEmpty ? nil : record.cause),
            "party": .optional(record.party?.rawValue),
            "alert": .optional(alert?.name),
            "originAlert": .optional(record.originAlert?.name),
            "closedBy": .optional(record.closedBy?.rawValue),
            "policy": .integer(record.policyVersion),
            "bytes": [
                "clientReceived": .integer(record.clientBytes.received),
                "clientSent": .integer(record.clientBytes.sent),
                "originReceived": .integer(record.originBytes.received),
                "originSent": .integer(record.originBytes.sent),
            ],
            "exchanges": .integer(record.exchangeCount),
            "messages": .integer(record.messageCount),
            "upgrade": .optional(record.upgrade),
            "process": process,
            "notes": .array(
                record.notes.map { ["code": .string($0.code), "detail": .string($0.detail)] }),
            "protocol": .optional(record.protocolName.isEmpty ? nil : record.protocolName),
        ]
    }

    private var process: JSONText {
        guard let process = record.process else { return .null }
        return [
            "id": .integer(Int64(process.id)),
            "name": .optional(processName),
            "executable": .optional(process.executable.isEmpty ? nil : process.executable),
            "arguments": .array(processArguments.map { .string($0) }),
        ]
    }
}
