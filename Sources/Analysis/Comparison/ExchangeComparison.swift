internal import Base
internal import Contents
internal import HTTPModel
internal import Redaction
internal import Replay
internal import Traffic

/// Tells two exchanges apart that stand for each other.
struct ExchangeComparison {
    struct Side {
        let record: ExchangeRecord
        let signature: ExchangeSignature
        let source: any TrafficSource

        init(_ record: ExchangeRecord, _ signature: ExchangeSignature, _ source: any TrafficSource)
        {
            self.record = record
            self.signature = signature
            self.source = source
        }

        /// With its scheme, and without.
        var origin: (String, String) {
            ("\(record.scheme.rawValue)://\(record.authority)", record.authority)
        }

        func head(_ direction: Direction) -> [UInt8] {
            direction == .request ? record.requestHead : record.responseHead
        }

        func body(_ direction: Direction) -> BodyRecord {
            direction == .request ? record.requestBody : record.responseBody
        }
    }

    var configuration: ComparisonConfiguration
    let left: Side
    let right: Side
    /// Whether the first difference that counts is enough.
    var isBrief = false

    init(configuration: ComparisonConfiguration, left: Side, right: Side) {
        self.configuration = configuration
        self.left = left
        self.right = right
        self.configuration.rules = configuration.rules.at([left.record.place, right.record.place])
        // That the authority differs is told once.
        self.configuration.renaming = configuration.renaming.between(left.origin, right.origin)
    }

    /// What differs, in the order of the exchange.
    ///
    /// Errors: those of the sources.
    func differences() throws -> [Difference] {
        var found = place() + query() + heads(.request)
        if isEnough(found) { return found }
        found += try contents(.request)
        found += interim() + outcome() + status() + heads(.response)
        if isEnough(found) { return found }
        found += try contents(.response)
        if isEnough(found) { return found }
        return found + (try messages())
    }

    private func isEnough(_ found: [Difference]) -> Bool {
        isBrief && found.contains { !$0.isNote }
    }

    // MARK: Lines

    private func place() -> [Difference] {
        let (before, after) = (left.record, right.record)
        var found: [Difference] = []
        if left.signature.authority != right.signature.authority {
            found.append(
                Difference(
                    .exchange, .authority, from: left.origin.0, to: right.origin.0))
        }
        if before.protocolName != after.protocolName {
            found.append(
                Difference(
                    .exchange, .version, from: before.protocolName, to: after.protocolName,
                    isNote: true))
        }
        if left.signature.target == right.signature.target { return found }
        let (path, other) = (path(before), path(after))
        if path != other, !configuration.rules.ignores(.request, .path) {
            found.append(
                Difference(
                    .request, .path, from: shown(url: path), to: shown(url: other),
                    isNote: configuration.renaming.agree(path, other)))
        }
        return found
    }

    private func query() -> [Difference] {
        guard left.signature.target != right.signature.target else { return [] }
        let (before, after) = (queryBytes(left.record), queryBytes(right.record))
        guard before != after else { return [] }
        let withSecrets = configuration.withSecrets
        return ParameterDifference(
            side: .request, kind: .query, renaming: configuration.renaming
        ).differences(
            Parameter.list(query: before, withSecrets: withSecrets),
            Parameter.list(query: after, withSecrets: withSecrets)
        ) { configuration.rules.ignores(.request, .query($0)) }
    }

    private func status() -> [Difference] {
        guard left.signature.status != right.signature.status else { return [] }
        let (before, after) = (left.record.status, right.record.status)
        return [
            Difference(
                .response, .status, from: before == 0 ? nil : String(before),
                to: after == 0 ? nil : String(after))
        ]
    }

    private func outcome() -> [Difference] {
        let (before, after) = (left.record, right.record)
        var found: [Difference] = []
        if before.error != after.error {
            found.append(
                Difference(.exchange, .outcome, "error", from: before.error, to: after.error))
        }
        if before.answeredByTool != after.answeredByTool {
            let words = { $0 ? "the tool" : "the origin" }
            found.append(
                Difference(
                    .exchange, .outcome, "answered by", from: words(before.answeredByTool),
                    to: words(after.answeredByTool)))
        }
        return found
    }

    private func interim() -> [Difference] {
        let (before, after) = (left.record.interimHeads, right.record.interimHeads)
        return (0..<max(before.count, after.count)).compactMap { index in
            let mine = before.indices.contains(index) ? before[index] : nil
            let theirs = after.indices.contains(index) ? after[index] : nil
            guard mine != theirs else { return nil }
            return Difference(
                .response, .interim, String(index + 1), from: mine.map(shown(head:)),
                to: theirs.map(shown(head:)))
        }
    }

    // MARK: Messages

    private func heads(_ direction: Direction) -> [Difference] {
        let side = Difference.Side(direction)
        var found: [Difference] = []
        let hasSameHead =
            direction == .request
            ? left.signature.requestHead == right.signature.requestHead
            : left.signature.responseHead == right.signature.responseHead
        if !hasSameHead {
            let sizes = (left.body(direction).size, right.body(direction).size)
            let (before, after) = ComparedFields.unlike(left.head(direction), right.head(direction))
            found += HeadDifference(
                side: side, kind: .field, configuration: configuration, contentSizes: sizes
            ).differences(before, after)
        }
        let (before, after) = (left.body(direction).trailers, right.body(direction).trailers)
        if before != after {
            found += HeadDifference(side: side, kind: .trailer, configuration: configuration)
                .differences(ComparedFields(section: before), ComparedFields(section: after))
        }
        return found
    }

    private func contents(_ direction: Direction) throws -> [Difference] {
        let hasSameContent =
            direction == .request
            ? left.signature.requestBody == right.signature.requestBody
            : left.signature.responseBody == right.signature.responseBody
        guard !hasSameContent, try !isSame(direction) else { return [] }
        return ContentDifference(side: Difference.Side(direction), configuration: configuration)
            .differences(try content(left, direction), try content(right, direction))
    }

    /// The messages of a WebSocket, those of the client first.
    private func messages() throws -> [Difference] {
        guard left.record.leavesHTTP, right.record.leavesHTTP,
            left.signature.requestBody != right.signature.requestBody
                || left.signature.responseBody != right.signature.responseBody
        else { return [] }
        let before = try SocketMessages(of: left.record, in: left.source, configuration)
        let after = try SocketMessages(of: right.record, in: right.source, configuration)
        return MessageDifference.differences(
            before.request, after.request, side: .request, configuration: configuration)
            + MessageDifference.differences(
                before.response, after.response, side: .response, configuration: configuration)
    }

    /// Whether long contents of one size that were stored in other parts are the same.
    private func isSame(_ direction: Direction) throws -> Bool {
        let (before, after) = (left.body(direction).size, right.body(direction).size)
        guard before == after, before > configuration.contentLimit else { return false }
        return try contentHash(left.source, left.record.id, direction)
            == contentHash(right.source, right.record.id, direction)
    }

    private func content(
        _ side: Side, _ direction: Direction
    ) throws -> ContentDifference.Content {
        let body = side.body(direction)
        let head = RecordedHead(side.head(direction))
        var content = ContentDifference.Content()
        content.size = body.size
        content.isWhole = body.size <= configuration.contentLimit && !body.isTruncated
        content.types = head.values(named: "content-type").map(Array.init)
        content.codings = head.contentCodings
        guard content.isWhole, body.size > 0 else { return content }
        try side.source.body(ofExchange: side.record.id, direction) { bytes in
            if content.bytes.isEmpty, bytes.count <= configuration.contentLimit {
                content.bytes = bytes
            } else {
                content.bytes += bytes.prefix(configuration.contentLimit + 1 - content.bytes.count)
            }
            return content.bytes.count <= configuration.contentLimit
        }
        return content
    }

    // MARK: Texts

    private func path(_ record: ExchangeRecord) -> [UInt8] {
        Array(record.requestHead[RequestTargetParts(record.requestHead).path])
    }

    private func queryBytes(_ record: ExchangeRecord) -> ArraySlice<UInt8> {
        record.requestHead[RequestTargetParts(record.requestHead).query]
    }

    private func shown(url: [UInt8]) -> String {
        shownLine(configuration.withSecrets ? url : URLRedaction.redact(url))
    }

    private func shown(head: [UInt8]) -> String {
        let text = configuration.withSecrets ? head : HeadRedaction.redact(head: head)
        return shownText(text.filter { $0 != 0x0D })
    }
}
