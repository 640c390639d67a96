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

        mutating func add(issuer: ServiceName) {
            if issuers.count < SeenValues.serviceLimit { issuers.insert(issuer) }
        }
    }

    private var entries: [UInt64: Entry] = [:]
    private var order = HashRing(limit: Self.valueLimit)
    /// Who sent what no request has had yet. Whoever answers can fill it, and nothing else.
    private var issued: [UInt64: ServiceName] = [:]
    private var issuedOrder = HashRing(limit: Self.issuedLimit)

    /// How many values are no longer compared.
    var forgottenCount: Int { order.droppedCount }

    /// Remembers a value that is looked for.
    mutating func add(_ field: MessageField, isPassword: Bool, _ evidence: RunEvidence) {
        let hash = evidence.redaction.hash(of: field.value)
        if entries[hash] == nil {
            if let dropped = order.add(hash) { entries[dropped] = nil }
            entries[hash] = Entry(
                sights: [sight(of: field, isFirstHand: true, evidence)],
                issuers: Set([issued[hash]].compactMap(\.self)))
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

    /// Notes who issued a remembered value, by what the value itself says.
    mutating func note(issuer: ServiceName, namedIn value: [UInt8], _ evidence: RunEvidence) {
        entries[evidence.redaction.hash(of: value)]?.add(issuer: issuer)
    }

    /// Notes who sent a value: its issuer, unless another service had it before.
    mutating func note(sender: ServiceName, of value: [UInt8], _ evidence: RunEvidence) {
        let hash = evidence.redaction.hash(of: value)
        if let entry = entries[hash] {
            guard entry.sights.allSatisfy({ $0.service == sender }) else { return }
            entries[hash]?.add(issuer: sender)
        } else if issued[hash] == nil {
            if let dropped = issuedOrder.add(hash) { issued[dropped] = nil }
            issued[hash] = sender
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

    /// How many values are remembered, of about 500 bytes each.
    private static let valueLimit = 8192
    private static let issuedLimit = 4096
    /// A value at more services than these is a constant of the public.
    static let serviceLimit = 6
}
