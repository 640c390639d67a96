internal import Base
internal import Traffic

/// One connection in a line: what `connections` prints.
struct ConnectionSummary {
    let record: ConnectionRecord

    init(_ record: ConnectionRecord) {
        self.record = record
    }

    /// The first fatal alert of the client's leg, else the last one; `nil` if there was none.
    var alert: AlertRecord? {
        let alerts = record.clientTLS?.alerts ?? []
        return alerts.first { $0.fatal } ?? alerts.last
    }

    /// The origin as it was asked for, empty if it is unknown.
    var origin: String {
        if record.originHost.isEmpty { return record.clientTLS?.sni ?? "" }
        guard record.originPort > 0 else { return record.originHost }
        return HostPort(host: record.originHost, port: record.originPort).description
    }

    /// A line of JSON Lines in the schema `sallyport.connection/1`.
    var json: JSONText {
        let client = record.clientTLS
        let origin = record.originTLS
        return [
            "schema": "sallyport.connection/1",
            "id": .integer(record.id),
            "opened": .string(record.openedAt.rfc3339),
            "closed": .optional(record.closedAt?.rfc3339),
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
            "alert": .optional(alert?.name),
            "closedBy": .optional(record.closedBy?.rawValue),
            "bytes": [
                "clientReceived": .integer(record.clientBytes.received),
                "clientSent": .integer(record.clientBytes.sent),
                "originReceived": .integer(record.originBytes.received),
                "originSent": .integer(record.originBytes.sent),
            ],
            "exchanges": .integer(record.exchangeCount),
            "protocol": .optional(record.protocolName.isEmpty ? nil : record.protocolName),
        ]
    }
}
