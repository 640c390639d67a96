internal import Base
internal import Contents
internal import HTTPModel
internal import Redaction
internal import Traffic
internal import Views

/// Writes one content of an exchange for a person to read: decoded, without what is known to be
/// secret, and with a title that says what was done to it.
struct ReadableContent {
    private let presentation: ExchangePresentation
    private let direction: Direction
    private let body: BodyRecord
    /// How much of it was recorded, in bytes.
    private let recordedSize: Int64

    init(_ presentation: ExchangePresentation, _ direction: Direction) throws {
        self.presentation = presentation
        self.direction = direction
        body = presentation.body(direction)
        recordedSize =
            try body.isTruncated
            ? presentation.source.recordedSize(ofExchange: presentation.exchange.id, direction)
            : body.size
    }

    /// Writes the content, if there is one.
    ///
    /// Errors: those of decoding, if that was asked for.
    func write() throws {
        guard body.size > 0 else { return }
        let held = try read()
        guard !held.bytes.isEmpty else { return }
        if presentation.withSecrets { return try write(held, held.bytes, remark: asRecorded) }
        let types = RecordedHead(presentation.head(direction))
            .values(named: "content-type")
        switch ContentRedaction.redact(held.bytes, types: types, isWhole: held.isWhole) {
        case .understood(let redacted):
            let remark = redacted == held.bytes ? "no secret found by its name" : masked
            try write(held, redacted, remark: remark)
        case .opaque:
            try write(held, held.bytes, remark: asRecorded)
        case .malformed(let claimed):
            try writeTitle(
                "\(size(held)), withheld: not the \(claimed) that its type claims;"
                    + " --with-secrets shows it")
        }
    }

    /// The start of a content, as far as a person may read.
    private struct Held {
        var bytes: [UInt8] = []
        /// Whether nothing is missing at the end.
        var isWhole = true
        var isDecoded = false
    }

    /// Reads the content with its coding undone; as it was recorded if that cannot be done, unless
    /// it was asked for.
    private func read() throws -> Held {
        guard let codings = presentation.codings(direction) else { return try read(.identity) }
        if presentation.isDecoded {
            var held = try read(try presentation.environment.decodeContent(codings))
            held.isDecoded = true
            return held
        }
        let stream: ContentStream
        do throws(Failure) {
            stream = try presentation.environment.decodeContent(codings)
        } catch {
            return try read(.identity)
        }
        var held = try read(stream, stopsAtMalformed: true)
        held.isDecoded = true
        return held.bytes.isEmpty ? try read(.identity) : held
    }

    private func read(_ stream: ContentStream, stopsAtMalformed: Bool = false) throws -> Held {
        var held = Held()
        do {
            try presentation.visitBody(direction, through: stream) { bytes in
                held.bytes += bytes.prefix(Self.textLimit - held.bytes.count)
                // The size of a decoded content is known at its end only, and not worth the wait.
                return held.bytes.count < Self.textLimit
            }
        } catch let failure as Failure
            where stopsAtMalformed
            && ["content-malformed", "content-too-large"].contains(failure.code)
        {
            held.isWhole = false
        }
        if body.isTruncated || held.bytes.count == Self.textLimit { held.isWhole = false }
        return held
    }

    private func write(_ held: Held, _ shown: [UInt8], remark: String) throws {
        guard let text = PrintableText(shown, isWhole: held.isWhole)?.text else {
            let dump = shown.prefix(Self.dumpLimit)
            let extent = dump.count < shown.count ? ", the first \(dump.count) as a dump" : ""
            try writeTitle("\(size(held)), binary\(extent), \(remark)")
            try presentation.environment.output.write(HexDump.render(dump))
            return
        }
        try writeTitle("\(size(held)), \(remark)")
        try presentation.environment.writeText([UInt8](text.utf8))
        if held.bytes.count == Self.textLimit {
            try presentation.writeTitle(
                "cut",
                body.isTruncated
                    ? "\(recordedSize) bytes of the content were recorded; --part shows them"
                    : "the content has \(body.size) bytes; --part shows all")
        }
    }

    private func size(_ held: Held) -> String {
        let count = held.bytes.count
        if held.isDecoded {
            let missing = held.isWhole ? "" : ", the end missing"
            let kept = body.isTruncated ? ", of which \(recordedSize) were recorded" : ""
            return "\(count) bytes, decoded\(missing), \(body.size) on the wire\(kept)"
        }
        if held.isWhole { return "\(count) bytes" }
        guard body.isTruncated else { return "the first \(count) of \(body.size) bytes" }
        // What was left out of the recording is one thing, what is left out here another.
        let shown = count < recordedSize ? ", the first \(count) shown" : ""
        return "\(recordedSize) of \(body.size) bytes recorded\(shown)"
    }

    private func writeTitle(_ remark: String) throws(Failure) {
        let title = direction == .request ? "request content" : "response content"
        try presentation.writeTitle(title, remark)
    }

    private let asRecorded = "shown as recorded"
    private let masked = "secrets are masked; --with-secrets shows them"

    /// What a person may read at a time, in bytes; --part has no limit.
    private static let textLimit = 1024 * 1024
    /// In bytes: more of a dump is not read.
    private static let dumpLimit = 4096
}
