/// Who stands between clients and their origins, without a socket: the proxy asks, and does what it is
/// told. What it may do is its role, or several: a `Prober` takes connections out of the
/// proxy's hands, an `OriginResponder` answers requests in an origin's place, a `MessageEditor`
/// changes what goes on to origins and clients.
///
/// A proxy has a list of them (`ProxyPlan.interceptors`), and asks them in its order.
package protocol Interceptor: AnyObject, Sendable {}

/// The interceptors of a proxy by their roles.
struct Interceptors: Sendable {
    let probers: [any Prober]
    let responders: [any OriginResponder]
    let editors: [any MessageEditor]

    init(_ all: [any Interceptor]) {
        probers = all.compactMap { $0 as? any Prober }
        responders = all.compactMap { $0 as? any OriginResponder }
        editors = all.compactMap { $0 as? any MessageEditor }
    }

    /// The first claim to a connection.
    func claim(_ visit: ProbeVisit) -> ProbeClaim {
        for prober in probers {
            let claim = prober.claim(visit)
            if claim != .none { return claim }
        }
        return .none
    }

    /// How a connection that was claimed is served; `nil` leaves it to the proxy.
    func probe(for visit: ProbeVisit) -> (any ProbeMachine)? {
        for prober in probers {
            if let machine = prober.probe(for: visit) { return machine }
        }
        return nil
    }
}
