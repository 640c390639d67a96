package import Base
internal import Contents
internal import Redaction
package import Traffic
package import TransferAnalysis

/// A transfer as it is shown.
package struct TransferSummary {
    package let transfer: Transfer
    package let url: String
    private let uploadURL: String?

    /// - Parameter withSecrets: whether the URL is shown as it was recorded.
    package init(_ transfer: Transfer, withSecrets: Bool) {
        self.transfer = transfer
        let shown = { (url: [UInt8]) in (withSecrets ? url : URLRedaction.redact(url)).text }
        url = shown(transfer.url)
        uploadURL = transfer.uploadURL.map(shown)
    }

    /// A line of JSON Lines in the schema `sallyport.transfer/1`.
    package var json: JSONText {
        [
            "schema": "sallyport.transfer/1",
            "id": .integer(transfer.id),
            "startedAt": .optional(transfer.parts.first?.startedAt.rfc3339),
            "direction": .string(transfer.direction == .request ? "upload" : "download"),
            "protocol": .string(transfer.method.rawValue),
            "client": .optional(transfer.client.address.isEmpty ? nil : transfer.client.address),
            "program": .optional(transfer.client.program),
            "method": .string(transfer.httpMethod),
            "url": .string(url),
            "uploadUrl": .optional(uploadURL),
            "state": .string(transfer.state.rawValue),
            "exchanges": .array(transfer.parts.map { .integer($0.exchange) }),
            "leftOut": .optional(transfer.leftOut),
            "versions": .array(transfer.versions.map(\.json)),
            "parts": .array(transfer.parts.map(\.json)),
            "notes": .array(transfer.notes.map(\.json)),
        ]
    }
}

extension TransferVersion {
    fileprivate var json: JSONText {
        var sha256: String?
        var unhashed: String?
        switch hash {
        case .sha256(let bytes): sha256 = bytes.hex
        case .none(let reason): unhashed = reason.rawValue
        }
        return [
            "state": .string(state.rawValue),
            "etag": .optional(identity.entityTagText),
            "lastModified": .optional(identity.lastModified),
            "contentEncoding": .optional(
                identity.contentEncoding.isEmpty ? nil : identity.contentEncoding),
            "sameness": .optional(sameness?.rawValue),
            "total": .optional(total),
            "bytes": .integer(heldCount),
            "held": held.json,
            "missing": missing.json,
            "twice": twice.json,
            "conflicting": conflicting.json,
            "sha256": .optional(sha256),
            "unhashed": .optional(unhashed),
            "digests": .array(digests.map(\.json)),
        ]
    }
}

extension TransferPart {
    fileprivate var json: JSONText {
        [
            "exchange": .integer(exchange),
            "startedAt": .string(startedAt.rfc3339),
            "method": .string(method),
            "status": .optional(status),
            "asked": .optional(asked),
            "ifRange": .optional(ifRange),
            "answered": .optional(answered),
            "bytes": .integer(bytes),
            "endedEarly": .boolean(endedEarly),
            "error": .optional(error),
            "version": .optional(version),
            "ranges": ranges.json,
            "digests": .array(digests.map(\.json)),
            "notes": .array(notes.map(\.json)),
        ]
    }
}

extension DigestCheck {
    fileprivate var json: JSONText {
        [
            "field": .string(field.rawValue), "algorithm": .string(algorithm.name),
            "outcome": .string(outcome.rawValue),
        ]
    }
}

extension TransferNote {
    fileprivate var json: JSONText {
        ["code": .string(code.rawValue), "detail": .optional(detail.isEmpty ? nil : detail)]
    }
}

extension [Range<Int64>] {
    /// As HTTP counts: both ends are in the range.
    fileprivate var json: JSONText {
        .array(map { ["first": .integer($0.lowerBound), "last": .integer($0.upperBound - 1)] })
    }
}

extension TransferClient {
    /// Who opened every connection of a capture; about 50 bytes each.
    package static func byConnection(
        of source: any TrafficSource
    ) throws -> [Int64: TransferClient] {
        var clients: [Int64: TransferClient] = [:]
        try source.connections { record in
            // A program without a name is known by its number alone, and the next attempt has
            // another one.
            let isNamed = !(record.process?.executable.isEmpty ?? true)
            clients[record.id] = TransferClient(
                address: HostPort(record.client)?.host ?? record.client,
                program: isNamed ? record.processName : nil)
            return true
        }
        return clients
    }
}
