internal import Base
internal import Contents
internal import HTTPCodecs
internal import Redaction
package import Traffic

/// One content of an exchange for a person to read: decoded, and without what is known to be secret.
package struct ReadableContent {
    /// What was done to the content.
    package enum Treatment: Equatable {
        case shownAsRecorded
        case masked
        /// No field in it is named like a secret.
        case nothingFound
        /// It is not what its type claims, so that nobody knows where its secrets are.
        case withheld(claimed: String)
    }

    package private(set) var treatment = Treatment.shownAsRecorded
    /// As far as a person may read; empty if it was withheld.
    package private(set) var bytes: [UInt8]
    /// How much there is of it, such as `12 bytes, decoded, 7 on the wire`.
    package let size: String
    /// Whether nothing is missing at the end.
    package let isWhole: Bool
    /// Where the whole is longer than what is here, how long: recorded, and on the wire.
    package let cut: (recorded: Int64, size: Int64)?

    /// The content as text; `nil` if it is none.
    package var text: String? { PrintableText(bytes, isWhole: isWhole)?.text }

    /// - Parameter demandsDecoding: whether a coding that cannot be undone is an error; otherwise
    ///   the content is given as it was recorded.
    /// - Returns: `nil` for an exchange without this content.
    ///
    /// Errors: those of reading the capture and, if it is demanded, of decoding.
    package init?(
        of exchange: RecordedExchange, _ direction: Direction, demandsDecoding: Bool,
        withSecrets: Bool
    ) throws {
        let body = exchange.body(direction)
        guard body.size > 0 else { return nil }
        let recorded =
            try body.isTruncated
            ? exchange.source.recordedSize(ofExchange: exchange.record.id, direction) : body.size
        let reading = Reading(exchange: exchange, direction: direction)
        let held = try reading.read(demandsDecoding: demandsDecoding)
        guard !held.bytes.isEmpty else { return nil }
        bytes = held.bytes
        isWhole = held.isWhole
        size = held.size(body, recorded: recorded)
        cut = held.bytes.count == Self.byteLimit ? (recorded, body.size) : nil
        guard !withSecrets else { return }
        let types = RecordedHead(exchange.head(direction)).values(named: "content-type")
        switch ContentRedaction.redact(held.bytes, types: types, isWhole: held.isWhole) {
        case .understood(let redacted):
            treatment = redacted == held.bytes ? .nothingFound : .masked
            bytes = redacted
        case .opaque: break
        case .malformed(let claimed):
            treatment = .withheld(claimed: claimed)
            bytes = []
        }
    }

    /// What a person may read at a time, in bytes.
    fileprivate static let byteLimit = 1024 * 1024
}

/// The start of a content, as far as a person may read.
private struct Held {
    var bytes: [UInt8] = []
    var isWhole = true
    var isDecoded = false

    func size(_ body: BodyRecord, recorded: Int64) -> String {
        let count = bytes.count
        if isDecoded {
            let missing = isWhole ? "" : ", the end missing"
            let kept = body.isTruncated ? ", of which \(recorded) were recorded" : ""
            return "\(count) bytes, decoded\(missing), \(body.size) on the wire\(kept)"
        }
        if isWhole { return "\(count) bytes" }
        guard body.isTruncated else { return "the first \(count) of \(body.size) bytes" }
        // What was left out of the recording is one thing, what is left out here another.
        let shown = count < recorded ? ", the first \(count) shown" : ""
        return "\(recorded) of \(body.size) bytes recorded\(shown)"
    }
}

/// Reads the start of a content.
private struct Reading {
    let exchange: RecordedExchange
    let direction: Direction

    /// Undoes its coding; gives it as it was recorded if that cannot be done and is not demanded.
    func read(demandsDecoding: Bool) throws -> Held {
        let codings: [ContentCoding]
        do throws(Failure) {
            codings = try exchange.codings(direction)
        } catch {
            if demandsDecoding { throw error }
            codings = []
        }
        guard !codings.isEmpty else { return try read(without: []) }
        var held = try read(without: codings, stopsAtMalformed: !demandsDecoding)
        if held.bytes.isEmpty, !demandsDecoding { return try read(without: []) }
        held.isDecoded = true
        return held
    }

    private func read(
        without codings: [ContentCoding], stopsAtMalformed: Bool = false
    ) throws -> Held {
        var held = Held()
        do {
            try exchange.visitBody(direction, without: codings) { bytes in
                held.bytes += bytes.prefix(ReadableContent.byteLimit - held.bytes.count)
                // The size of a decoded content is known at its end only, and not worth the wait.
                return held.bytes.count < ReadableContent.byteLimit
            }
        } catch let failure as Failure
            where stopsAtMalformed
            && ["content-malformed", "content-too-large"].contains(failure.code)
        {
            held.isWhole = false
        }
        if exchange.body(direction).isTruncated || held.bytes.count == ReadableContent.byteLimit {
            held.isWhole = false
        }
        return held
    }
}
