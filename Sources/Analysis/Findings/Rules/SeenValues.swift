internal import Base

/// At which services a value was seen first. It keeps hashes and places, never a value.
///
/// What was seen longest ago goes first when there are too many.
struct SeenValues {
    struct Sight {
        let service: ServiceName
        let sighting: Sighting
        let selector: Selector
    }

    private struct Entry {
        var sights: [Sight]
        /// Once it was seen at a second service.
        var value: RedactedValue?
    }

    private var entries: [UInt64: Entry] = [:]
    private var order: [UInt64] = []
    private var oldest = 0

    mutating func add(_ field: MessageField, isPassword: Bool, _ evidence: RunEvidence) {
        let hash = evidence.redaction.hash(of: field.value)
        if let sights = entries[hash]?.sights {
            guard sights.count < Self.serviceLimit,
                !sights.contains(where: { $0.service == evidence.service })
            else { return }
            if sights.count == 1 {
                entries[hash]?.value = RedactedValue(
                    field.value, isPassword: isPassword, redaction: evidence.redaction)
            }
            let sight = sight(of: field, evidence)
            entries[hash]?.sights.append(sight)
            return
        }
        makeRoom(for: hash)
        entries[hash] = Entry(sights: [sight(of: field, evidence)])
    }

    /// The values that were seen at several services, in the order of their first sighting.
    var shared: [(value: RedactedValue, sights: [Sight])] {
        let found = entries.values.compactMap { entry in
            entry.value.map { (value: $0, sights: entry.sights) }
        }
        return found.sorted {
            let (left, right) = ($0.sights[0].sighting, $1.sights[0].sighting)
            return (left.exchange ?? 0, $0.value.tag.text)
                < (right.exchange ?? 0, $1.value.tag.text)
        }
    }

    private func sight(of field: MessageField, _ evidence: RunEvidence) -> Sight {
        Sight(
            service: evidence.service, sighting: evidence.sighting,
            selector: evidence.selector(of: field))
    }

    private mutating func makeRoom(for hash: UInt64) {
        if order.count < Self.valueLimit {
            order.append(hash)
        } else {
            entries[order[oldest]] = nil
            order[oldest] = hash
            oldest = (oldest + 1) % Self.valueLimit
        }
    }

    /// How many values are remembered, of about 500 bytes each.
    private static let valueLimit = 8192
    /// A value at more services than these is a constant of the public.
    static let serviceLimit = 6
}
