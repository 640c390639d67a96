internal import Base
internal import Contents
internal import HTTPCodecs

/// The origins of a recording that are this machine. A client may call one by an address where it
/// was recorded by a name, or the other way round: names alone are told apart, and so are addresses.
struct LoopbackOrigins {
    /// By scheme and port, in the order of the recording.
    private var origins: [String: [String]] = [:]

    /// Others of one scheme and port are left out.
    private static let limit = 8

    mutating func add(_ origin: String) {
        guard let place = Place(origin) else { return }
        let known = origins[place.rest, default: []]
        guard known.count < Self.limit, !known.contains(origin) else { return }
        origins[place.rest] = known + [origin]
    }

    /// An origin as it is asked for, then as it may have been recorded.
    func spellings(of origin: String) -> [String] {
        guard !origins.isEmpty, let place = Place(origin), let known = origins[place.rest] else {
            return [origin]
        }
        return [origin] + known.filter { Place($0)?.isNamed != place.isNamed }
    }

    private struct Place {
        let isNamed: Bool
        /// Scheme and port.
        let rest: String

        /// `nil` for an origin that is not on this machine.
        init?(_ origin: String) {
            let url = RecordedURL(Array(origin.utf8))
            guard let (host, port) = HostField.parse(url.authority), LoopbackHost.contains(host)
            else { return nil }
            isNamed = LoopbackHost.isName(host)
            rest = url.scheme.text + (port.map { ":\($0)" } ?? "")
        }
    }
}
