internal import HTTPModel
package import Traffic

/// A value that a recorded response hands out.
package struct RecordedValue: Sendable {
    package let place: ValuePlace
    /// Which one of those at the same place, from 0.
    package let ordinal: Int
    package let bytes: [UInt8]

    /// Those of an exchange's response, in their order.
    ///
    /// Errors: those of the source.
    package static func all(
        of record: ExchangeRecord, in source: any TrafficSource
    ) throws -> [RecordedValue] {
        guard let head = RecordedHeads.response(record.responseHead) else { return [] }
        let content = try ReplayPlan.content(ofExchange: record.id, .response, in: source)
        var counts: [ValuePlace: Int] = [:]
        var values: [RecordedValue] = []
        ResponseValues.read(head, content) { place, bytes in
            values.append(
                RecordedValue(place: place, ordinal: counts[place, default: 0], bytes: bytes))
            counts[place, default: 0] += 1
        }
        return values
    }
}

extension ValuePlace {
    /// The same place in every element of a list: `$.items[*].id`.
    package var inEveryElement: ValuePlace {
        switch self {
        case .json(let path): .json(MessagePart.withoutIndices(path))
        case .urlQuery(let place, let name): .urlQuery(place.inEveryElement, name)
        case .urlSegment(let place, let index): .urlSegment(place.inEveryElement, index)
        case .decoded(let place): .decoded(place.inEveryElement)
        case .cookie, .header, .field, .meta, .content: self
        }
    }
}

extension SubstitutionPlan {
    /// Where responses hand out what their origin makes up, by exchange: a value that a client sends
    /// back in a path, a query, a cookie or another field, or that is called an id or a token. One
    /// that is only typed back, such as a price, may be none.
    package var madeUpPlaces: [Int64: Set<ValuePlace>] {
        var places: [Int64: Set<ValuePlace>] = [:]
        for value in values {
            let isSentBack = value.uses.contains {
                !$0.name.hasPrefix("body") && !$0.name.hasPrefix("form ")
            }
            for source in value.sources {
                let name = source.place.name
                guard isSentBack || ValueRule.namesOne(name) || ValueRule.isSecret(name) else {
                    continue
                }
                places[source.exchange, default: []].insert(source.place.inEveryElement)
            }
        }
        return places
    }
}

extension LiveValues {
    /// Takes the response of another recording that stands for a recorded one.
    package mutating func note(
        _ record: ExchangeRecord, in source: any TrafficSource, ofResponse id: Int64
    ) throws {
        guard plan.wants(answerTo: id),
            let head = RecordedHeads.response(record.responseHead)
        else { return }
        let content = try ReplayPlan.content(ofExchange: record.id, .response, in: source)
        note(head, content, ofResponse: id)
    }

    /// Whether a request holds a value that a response handed out.
    package func concern(request id: Int64) -> Bool { !plan.uses(ofRequest: id).isEmpty }

    /// A recorded request's head as it would go out to the same place.
    package mutating func head(of record: ExchangeRecord) -> [UInt8] {
        guard let head = RecordedHeads.head(of: record) else { return record.requestHead }
        let edits = edits(ofRequest: record.id).filter { $0.slot.part == .head }
        return RequestRewrite.applied(edits, to: head.raw)
    }
}
