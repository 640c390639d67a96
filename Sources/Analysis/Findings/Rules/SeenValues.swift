internal import Base

/// At which services a value was seen first. It keeps hashes and places, never a value.
///
/// What was seen longest ago goes first when there are too many.
struct SeenValues {
    struct Sight {
        let service: ServiceName
        let isTracker: Bool
        let sighting: Sighting
        let selector: Selector
        /// Whether it was the value that is looked for, and not the same bytes in another field.
        var isFirstHand: Bool
        /// Whether the service itself issued it.
        var isIssuer = false
    }

    private struct Entry {
        var sights: [Sight]
        var issuers: Set<ServiceName> = []
        /// Once it was seen at a second service.
        var value: RedactedValue?
    }

    private var entries: [UInt64: Entry] = [:]
    private var order: [UInt64] = []
    private var oldest = 0

    /// Remembers a value that is looked for.
    mutating func add(_ field: MessageField, isPassword: Bool, _ evidence: RunEvidence) {
        let hash = evidence.redaction.hash(of: field.value)
        if entries[hash] == nil {
            makeRoom(for: hash)
            entries[hash] = Entry(sights: [sight(of: field, isFirstHand: true, evidence)])
        } else {
            see(field, hash, isPassword: isPassword, isFirstHand: true, evidence)
        }
    }

    /// Looks whether a field holds a value that is remembered.
    mutating func follow(_ field: MessageField, isPassword: Bool, _ evidence: RunEvidence) {
        guard !entries.isEmpty else { return }
        let hash = evidence.redaction.hash(of: field.value)
        guard entries[hash] != nil else { return }
        see(field, hash, isPassword: isPassword, isFirstHand: false, evidence)
    }

    mutating func note(issuer: ServiceName, of value: [UInt8], _ evidence: RunEvidence) {
        let hash = evidence.redaction.hash(of: value)
        if entries[hash] == nil {
            makeRoom(for: hash)
            entries[hash] = Entry(sights: [])
        }
        if entries[hash]?.issuers.count ?? 0 < Self.serviceLimit {
            entries[hash]?.issuers.insert(issuer)
        }
    }

    private mutating func see(
        _ field: MessageField, _ hash: UInt64, isPassword: Bool, isFirstHand: Bool,
        _ evidence: RunEvidence
    ) {
        guard let sights = entries[hash]?.sights else { return }
        if let index = sights.firstIndex(where: { $0.service == evidence.view.service }) {
            if isFirstHand { entries[hash]?.sights[index].isFirstHand = true }
            return
        }
        guard sights.count < Self.serviceLimit else { return }
        let sight = sight(of: field, isFirstHand: isFirstHand, evidence)
        entries[hash]?.sights.append(sight)
        if sights.count == 1 {
            entries[hash]?.value = RedactedValue(
                field.value, isPassword: isPassword, redaction: evidence.redaction)
        }
    }

    /// The values that were seen at several services, in the order of their first sighting.
    var shared: [(value: RedactedValue, sights: [Sight])] {
        let found = entries.values.compactMap { entry -> (value: RedactedValue, sights: [Sight])? in
            guard let value = entry.value else { return nil }
            var sights = entry.sights
            for index in sights.indices {
                sights[index].isIssuer = entry.issuers.contains(sights[index].service)
            }
            return (value, sights)
        }
        return found.sorted {
            let (left, right) = ($0.sights[0].sighting, $1.sights[0].sighting)
            return (left.exchange ?? 0, $0.value.tag.text)
                < (right.exchange ?? 0, $1.value.tag.text)
        }
    }

    private func sight(
        of field: MessageField, isFirstHand: Bool, _ evidence: RunEvidence
    ) -> Sight {
        Sight(
            service: evidence.view.service, isTracker: evidence.view.tracker != nil,
            sighting: evidence.sighting,
            selector: evidence.selector(of: field), isFirstHand: isFirstHand)
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
