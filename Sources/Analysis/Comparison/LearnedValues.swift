internal import Contents
internal import Replay
internal import Traffic

/// What origins made up in the left capture, and what stands for it in the right one: a session or
/// an id that a response hands out and a later request sends back.
struct LearnedValues {
    private let left: CaptureComparison.Subject
    private let right: CaptureComparison.Subject
    /// What hands out such values, by the places of requests: what comes from there is made up, also
    /// where no client sends it back.
    private var places: [Int: Set<ValuePlace>] = [:]
    private var live: LiveValues
    private(set) var renaming = Renaming()

    /// Reads all of the left capture, in its order.
    ///
    /// - Returns: `nil` if nothing that is made up is sent back.
    init?(
        _ left: CaptureComparison.Subject, _ right: CaptureComparison.Subject,
        _ signatures: [ExchangeSignature]
    ) throws {
        let plan = try ReplayPlan(
            left.source, substitutes: true, keeps: [], includes: left.accepts
        ).substitutions
        let madeUp = plan.madeUpPlaces
        guard !madeUp.isEmpty else { return nil }
        for signature in signatures {
            guard let found = madeUp[signature.id] else { continue }
            places[signature.place, default: []].formUnion(found)
        }
        self.left = left
        self.right = right
        live = LiveValues(plan)
    }

    /// Takes what stands for the values of responses.
    ///
    /// - Returns: whether anything was not known before.
    mutating func learn(
        from pairs: [(left: ExchangeSignature, right: ExchangeSignature)]
    ) throws -> Bool {
        let before = renaming.count
        for (mine, theirs) in pairs {
            guard let wanted = places[mine.place],
                let record = try left.source.exchange(mine.id),
                let other = try right.source.exchange(theirs.id)
            else { continue }
            try live.note(other, in: right.source, ofResponse: mine.id)
            var found: [ValuePlace: [Int: [UInt8]]] = [:]
            for value in try RecordedValue.all(of: other, in: right.source) {
                found[value.place, default: [:]][value.ordinal] = value.bytes
            }
            for value in try RecordedValue.all(of: record, in: left.source)
            where wanted.contains(value.place.inEveryElement) {
                guard let new = found[value.place]?[value.ordinal] else { continue }
                for (old, new) in Self.pieces(of: value.bytes, new) {
                    let name = value.place.name
                    let isShort = !ValueRule.isDistinctive(old, name: name)
                    // A session that has become empty, or a word, is worth telling.
                    guard isShort ? ValueRule.isID(new) : ValueRule.isDistinctive(new, name: name)
                    else { continue }
                    renaming.add(old, new, isShort: isShort)
                }
            }
        }
        return renaming.count > before
    }

    /// What may stand for each other in two values: of URLs, only what is in their paths and queries,
    /// as another host or another path is worth telling.
    private static func pieces(
        of left: [UInt8], _ right: [UInt8]
    ) -> [(left: [UInt8], right: [UInt8])] {
        let (old, new) = (RecordedURL(left), RecordedURL(right))
        // A token may begin with a slash as well.
        let areURLs = !old.scheme.isEmpty || !new.scheme.isEmpty
        guard areURLs || old.path.first == 0x2F && new.path.first == 0x2F else {
            return [(left, right)]
        }
        let segments = (old.path.split(separator: 0x2F), new.path.split(separator: 0x2F))
        let values = (old.parameters, new.parameters)
        guard segments.0.count == segments.1.count, values.0.map(\.name) == values.1.map(\.name)
        else { return [] }
        return zip(segments.0, segments.1).map { (Array($0), Array($1)) }
            + zip(values.0, values.1).map { (Array($0.value), Array($1.value)) }
    }

    /// A request of the left with what stands for its values on the right; `nil` if it has none.
    mutating func renamed(_ id: Int64) throws -> ExchangeRecord? {
        guard live.concern(request: id), var record = try left.source.exchange(id) else {
            return nil
        }
        record.requestHead = live.head(of: record)
        return record
    }
}
