internal import Base
internal import Traffic

/// Where and when something was seen. It may be kept as long as the run: no byte of a secret is in
/// it.
struct Sighting: Sendable {
    let party: ServiceName
    /// With its path.
    let place: URLTemplate
    let method: MethodName?
    let exchange: Int64?
    let connection: Int64?
    let time: Timestamp
    /// Whether nobody on a network could see it.
    let isLocal: Bool

    /// The same of the whole service.
    var ofService: Sighting {
        Sighting(
            party: party, place: place.rolledUp(to: place.host), method: nil, exchange: exchange,
            connection: connection, time: time, isLocal: isLocal)
    }

    /// What was seen of the run and at no service more than at another.
    ///
    /// - Parameter time: when it was seen first.
    static func ofRun(at time: Timestamp) -> Sighting {
        Sighting(
            party: .run, place: .run, method: nil, exchange: nil, connection: nil, time: time,
            isLocal: false)
    }
}
