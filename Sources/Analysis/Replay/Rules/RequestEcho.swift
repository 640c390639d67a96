internal import Base
internal import HTTPModel
package import Traffic

/// Which values of a recorded request its response holds: those that a replay has to put there anew.
package struct RequestEcho {
    private let values: [MessagePart: String]
    private let head: [UInt8]
    private let content: [UInt8]

    /// - Returns: `nil` if one of the heads is malformed.
    ///
    /// Errors: those of the source.
    package init?(of record: ExchangeRecord, in source: any TrafficSource) throws {
        guard var facts = RecordedHeads.request(of: record),
            let head = RecordedHeads.response(record.responseHead)
        else { return nil }
        if record.requestBody.size <= ReplayPlan.contentLimit {
            let content = try ReplayPlan.content(ofExchange: record.id, .request, in: source)
            facts.body = BodyForm(content, of: facts.fields)
        }
        var items = MatchRule().items(of: facts).filter {
            if case .header = $0.part { false } else { true }
        }
        items += facts.fields.slices.map { slice in
            MatchRule.Item(
                part: .header(facts.fields.name(slice).text.lowercased()),
                value: facts.fields.value(slice).text)
        }
        values = Dictionary(items.map { ($0.part, $0.value) }) { "\($0), \($1)" }
        self.head = head.raw
        content = BodyForm.decoded(
            try ReplayPlan.content(ofExchange: record.id, .response, in: source), head.fields)
    }

    package func holds(_ part: MessagePart) -> Bool {
        guard let value = values[part] else { return false }
        let bare = Substitution.bare(value)
        guard bare.count >= Substitution.leastLength else { return false }
        return content.firstRange(of: bare) != nil || head.firstRange(of: bare) != nil
    }
}
