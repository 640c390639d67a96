internal import Base
internal import Contents
internal import Traffic

/// ECON-RESUME: large downloads that begin anew when they break off.
struct ResumeDetector {
    /// How much of what broke off had come, in bytes, by hashes of the addresses.
    private var broken: [UInt64: Int64] = [:]

    mutating func examine(_ view: ExchangeView, _ evidence: RunEvidence) -> [RuleMatch] {
        let exchange = view.exchange
        guard view.hasOriginResponse, view.method == Array("GET".utf8),
            exchange.status == 200 || exchange.status == 206
        else { return [] }
        let size = exchange.responseBody.size
        let isLarge = size > Self.leastSize
        guard isLarge || !broken.isEmpty || exchange.error != nil else { return [] }
        let address = evidence.redaction.hash(
            of: Array(exchange.authority.utf8) + Array(view.target.target))
        var notes: [FindingNote] = []
        let isWhole = exchange.status == 200 && view.request.first(named: "range") == nil
        if isWhole, let lost = broken.removeValue(forKey: address) {
            notes.append(.measured(.beganAnew(lost: lost)))
        }
        if exchange.error != nil, size >= Self.leastLoss, broken.count < Self.countLimit {
            broken[address] = size
        }
        let facts = view.responseFacts
        if isLarge, isWhole, !facts.acceptsRanges, !facts.hasEntityTag, !facts.hasLastModified,
            !MediaType(view.responseType[...]).isEventStream
        {
            notes.append(.hygiene(.neitherRangesNorValidator))
        }
        guard !notes.isEmpty else { return [] }
        var result = RuleMatch(.economyResume, .medium, .certain)
        result.notes = notes
        return [result]
    }

    /// In bytes.
    private static let leastSize: Int64 = 2 << 20
    private static let leastLoss: Int64 = 64 << 10
    private static let countLimit = 4096
}

extension RuleText {
    static let economyResume = RuleText(
        title: "Large download cannot be resumed, or was not",
        reason: "what breaks off at the end, as it does on the road, costs all of it again",
        advice: "send ETag and Accept-Ranges: bytes; go on with Range and If-Range",
        decision:
            "A download of more than 2 MiB came without Accept-Ranges, ETag and Last-Modified; or"
            + " one broke off and the next request for it had no Range (RFC 9110 §14).",
        exceptions: "Event streams. Whether the first one was ended by the user is not known.",
        party: .origin, worst: .medium,
        weaknesses: [])
}
