internal import Base
package import HTTPModel

/// What live responses handed out in the place of recorded values.
package struct LiveValues: Sendable {
    let plan: SubstitutionPlan
    /// By the value's number; with how far down its sources the one stands that brought it.
    private var live: [Int: (rank: Int, bytes: [UInt8])] = [:]
    /// How many places of requests got a live value, and how many kept the recorded one because
    /// there was none.
    package private(set) var counts = (replaced: 0, kept: 0)

    package init(_ plan: SubstitutionPlan) {
        self.plan = plan
    }

    /// Takes the answer that came in the place of a recorded response.
    package mutating func note(_ head: ResponseHead, _ content: [UInt8], ofResponse id: Int64) {
        let wanted = plan.sources(ofResponse: id)
        guard !wanted.isEmpty else { return }
        var counts: [ValuePlace: Int] = [:]
        ResponseValues.read(head, content) { place, bytes in
            let source = SubstitutionPlan.Source(
                exchange: id, place: place, ordinal: counts[place, default: 0])
            counts[place] = source.ordinal + 1
            for number in wanted[source] ?? [] { take(bytes, for: number, from: source) }
        }
    }

    private mutating func take(
        _ bytes: [UInt8], for number: Int, from source: SubstitutionPlan.Source
    ) {
        let rank = plan.value(number).sources.firstIndex(of: source) ?? .max
        if let known = live[number], known.rank < rank { return }
        live[number] = (rank, bytes)
    }

    /// What to write into a recorded request, by the place of each.
    mutating func edits(ofRequest id: Int64) -> [(slot: RequestSlot, bytes: [UInt8])] {
        var edits: [(slot: RequestSlot, bytes: [UInt8])] = []
        for use in plan.uses(ofRequest: id) {
            guard let bytes = live[use.value]?.bytes, Self.fits(bytes, use.slot) else {
                counts.kept += 1
                continue
            }
            counts.replaced += 1
            edits.append((use.slot, bytes))
        }
        return edits
    }

    /// Whether a value can stand in a head as it is: none may begin a line of its own.
    private static func fits(_ bytes: [UInt8], _ slot: RequestSlot) -> Bool {
        slot.part == .content || slot.spelling == .percent
            || !bytes.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
    }
}
