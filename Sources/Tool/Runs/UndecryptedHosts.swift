internal import Contents
internal import Traffic

/// Hosts that a run's command reached, and whose connections were not looked into.
struct UndecryptedHosts {
    private struct Place: Hashable {
        let host: String
        let reason: String
    }

    private let places: [(place: Place, count: Int)]

    /// Errors: those of reading the capture.
    init(_ source: any TrafficSource) throws {
        var counts: [Place: Int] = [:]
        var captured: Set<Int64> = []
        try source.connections { record in
            if record.mode == .captured { captured.insert(record.id) }
            switch record.outcome {
            case .passedThrough, .clientRefused:
                let host = record.clientTLS?.sni ?? record.originHost
                let place = Place(host: "\(host):\(record.originPort)", reason: record.cause)
                counts[place, default: 0] += 1
            default: break
            }
            return true
        }
        // What goes through a tunnel that the command asked another proxy for is recorded as it is.
        try source.exchanges { record in
            if captured.contains(record.connection), record.asksForTunnel,
                (200..<300).contains(record.status)
            {
                let reason = "a tunnel through a proxy that the command brought along"
                counts[Place(host: record.authority, reason: reason), default: 0] += 1
            }
            return true
        }
        places = counts.sorted { ($0.key.host, $0.key.reason) < ($1.key.host, $1.key.reason) }
            .map { ($0.key, $0.value) }
    }

    /// For programs.
    var texts: [String] { places.map { "\($0.place.host): \($0.place.reason)" } }

    /// For people.
    var lines: [String] {
        places.map { place, count in
            let connections = count == 1 ? "1 connection" : "\(count) connections"
            return "not decrypted: \(place.host), \(connections): \(place.reason)"
        }
    }
}
