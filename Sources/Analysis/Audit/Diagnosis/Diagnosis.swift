internal import Catalogue

/// What one client does wrong, as the pattern of what it took and refused tells.
package struct Diagnosis: Sendable, Equatable {
    package let client: String
    package let destination: String
    package let mistake: Mistake
    /// The probes that show it, in the order of the catalogue.
    package let probes: [String]

    /// What to do about it, in a sentence without a full stop.
    package var fix: String {
        let port = destination.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        guard mistake == .fallbackToClear, UpgradeProtocol(port: port) == .postgreSQL else {
            return mistake.fix
        }
        return mistake.fix + " (psql: sslmode=verify-full)"
    }
}

extension Diagnosis {
    /// Names the likely mistakes, for each client and destination the gravest first.
    ///
    /// A mistake that explains what a lesser one would is named alone: a client that verifies
    /// nothing does not have a problem with wildcards too.
    package static func all(in results: [AuditResult]) -> [Diagnosis] {
        results.places.flatMap { place in
            diagnose(results.filter { $0.place == place }, place)
        }
    }

    private static func diagnose(
        _ results: [AuditResult], _ place: AuditResult.Place
    ) -> [Diagnosis] {
        var explained: Set<ProbeFamily> = []
        var told: Set<String> = []
        var diagnoses: [Diagnosis] = []
        for pattern in MistakePattern.all {
            guard let shown = pattern.match(results) else { continue }
            let news = shown.filter {
                !explained.contains($0.family) && !told.contains($0.identifier)
            }
            guard !news.isEmpty else { continue }
            explained.formUnion(pattern.explains)
            told.formUnion(news.map(\.identifier))
            let diagnosis = Diagnosis(
                client: place.client, destination: place.destination, mistake: pattern.mistake,
                probes: shown.map(\.identifier))
            diagnoses.append(diagnosis)
        }
        return diagnoses
    }
}

extension [AuditResult] {
    /// Each client at each destination once, in the order of their first results.
    package var places: [AuditResult.Place] {
        var seen: Set<AuditResult.Place> = []
        return map(\.place).filter { seen.insert($0).inserted }
    }
}

/// What a client that makes a mistake takes and refuses.
///
/// A name that ends in `*` stands for all probes that begin so.
struct MistakePattern: Sendable {
    let mistake: Mistake
    /// Every one was accepted.
    var all: [String] = []
    /// At least one was accepted.
    var any: [String] = []
    /// None was accepted, and at least one was refused.
    var refusing: [String] = []
    /// Whether the client has refused at first, and gone on nevertheless; `nil` where that is the same.
    var isSecondTry: Bool? = false
    /// Which outcomes count as accepted.
    var outcomes: Set<ProbeOutcome> = [.accepted, .implied, .shown]
    /// What else must hold.
    var when: @Sendable ([AuditResult]) -> Bool = { _ in true }
    /// In which nothing else needs to be named.
    var explains: Set<ProbeFamily> = []

    /// Returns the probes that show the mistake, `nil` if it is not shown.
    func match(_ results: [AuditResult]) -> [ProbeDescription]? {
        let accepted = results.filter { result in
            outcomes.contains(result.outcome)
                && (isSecondTry ?? result.isSecondTry) == result.isSecondTry
                && [.fail, .warn, .note].contains(result.verdict)
                && result.probe.expectation != .inform
        }
        let shown = accepted.map(\.probe).filter { names($0, all) || names($0, any) }
        let identifiers = Set(shown.map(\.identifier))
        guard !shown.isEmpty, identifiers.isSuperset(of: all) else { return nil }
        guard any.isEmpty || shown.contains(where: { names($0, any) }) else { return nil }
        guard refusing.isEmpty || refuses(results), when(results) else { return nil }
        return shown
    }

    private func refuses(_ results: [AuditResult]) -> Bool {
        let outcomes = results.filter { names($0.probe, refusing) }.map(\.outcome)
        return outcomes.contains(.refused) && !outcomes.contains(where: \.isAcceptance)
    }

    private func names(_ probe: ProbeDescription, _ list: [String]) -> Bool {
        list.contains { entry in
            entry.hasSuffix("*")
                ? probe.identifier.hasPrefix(String(entry.dropLast())) : probe.identifier == entry
        }
    }
}
