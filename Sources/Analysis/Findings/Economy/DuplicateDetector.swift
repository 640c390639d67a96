internal import Base
internal import Contents
internal import Traffic

/// ECON-DUP: the same content fetched again, by its digest in the capture.
struct DuplicateDetector {
    private struct Content: Hashable {
        let digest: UInt64
        let size: Int64
    }

    private struct Fetches {
        var count = 1
        let sighting: Sighting
    }

    private var contents: [Content: Fetches] = [:]
    private var order: [Content] = []
    private var oldest = 0

    mutating func examine(_ view: ExchangeView, _ evidence: RunEvidence) {
        let body = view.exchange.responseBody
        guard let digest = view.responseDigest, body.size >= Self.leastSize,
            view.exchange.status == 200, view.hasOriginResponse,
            view.method == Array("GET".utf8), view.request.first(named: "range") == nil,
            !MediaType(view.responseType[...]).isEventStream
        else { return }
        let content = Content(digest: digest, size: body.size)
        if contents[content] != nil {
            contents[content]?.count += 1
        } else {
            makeRoom(for: content)
            contents[content] = Fetches(sighting: evidence.sighting)
        }
    }

    func finish() -> [LateMatch] {
        let found = contents.filter { $0.value.count > 1 }.sorted {
            ($0.value.sighting.exchange ?? 0) < ($1.value.sighting.exchange ?? 0)
        }
        return found.map { content, fetches in
            var match = LateMatch(.economyDuplicate, .medium, .certain, at: fetches.sighting)
            match.notes = [
                .measured(
                    .fetchedAgain(
                        fetches.count, wasted: content.size.timesSaturated(Int64(fetches.count - 1))
                    ))
            ]
            return match
        }
    }

    private mutating func makeRoom(for content: Content) {
        if order.count < Self.countLimit {
            order.append(content)
        } else {
            contents[order[oldest]] = nil
            order[oldest] = content
            oldest = (oldest + 1) % Self.countLimit
        }
    }

    /// In bytes.
    private static let leastSize: Int64 = 4096
    /// How many contents are remembered, of about 400 bytes each.
    private static let countLimit = 8192
}

extension Int64 {
    fileprivate func timesSaturated(_ count: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: count)
        return overflow ? .max : product
    }
}

extension RuleText {
    static let economyDuplicate = RuleText(
        title: "Same content fetched again",
        reason: "it takes time, money and battery, and nothing new comes of it",
        advice: "keep what was fetched, ask with If-None-Match, and name one content by one URL",
        decision:
            "A content of 4 KiB or more, equal by its size and digest, came twice or more as the 200"
            + " of a GET, at one URL or several.",
        exceptions:
            "Parts of contents, event streams, and 304, which costs next to nothing. A run of a"
            + " browser without a cache fetches anew by intent.",
        worst: .medium,
        weaknesses: [])
}
