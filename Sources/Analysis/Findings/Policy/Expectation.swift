internal import Base

/// Something that has to be seen before a verdict counts.
package struct Expectation: Sendable {
    /// Where it stands in the policy.
    let place: SettingLines.Place
    let subject: Subject

    enum Subject: Sendable {
        /// A request to a host, with the pattern as it was written.
        case host(HostPattern, String)
        /// A value of the profile, wherever it went.
        case planted(String)
        /// At least so many exchanges.
        case exchanges(Int)
    }
}

/// Watches a run for what is expected of it.
struct ExpectationWatch {
    private let expectations: [Expectation]
    /// Those that were met, by their index.
    private var met: Set<Int> = []
    private var exchangeCount = 0

    init(_ expectations: [Expectation]) {
        self.expectations = expectations
    }

    mutating func seeExchange(with host: HostName) {
        exchangeCount += 1
        see(host)
    }

    /// - Parameter host: one that something readable was said to.
    mutating func see(_ host: HostName) {
        for (index, expectation) in expectations.enumerated() where !met.contains(index) {
            if case .host(let pattern, _) = expectation.subject, pattern.matches(host) {
                met.insert(index)
            }
        }
    }

    mutating func see(planted keys: Set<String>) {
        guard !keys.isEmpty else { return }
        for (index, expectation) in expectations.enumerated() {
            if case .planted(let key) = expectation.subject, keys.contains(key) {
                met.insert(index)
            }
        }
    }

    /// What was not seen, a line each.
    func unmet(path: String) -> [String] {
        expectations.enumerated().compactMap { index, expectation in
            let text: String
            switch expectation.subject {
            case .host(_, let pattern): text = "no exchange with \(pattern.shownOfPolicy) was seen"
            case .planted(let key): text = "the profile's \(key.shownOfPolicy) was not seen"
            case .exchanges(let least):
                guard exchangeCount < least else { return nil }
                text = "\(exchangeCount) of at least \(Quantity.text(least, "exchange")) were seen"
            }
            return met.contains(index) ? nil : "\(path):\(expectation.place.line): \(text)"
        }
    }
}
