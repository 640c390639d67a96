package import Base
package import Catalogue
package import Proxy
package import TLS

/// Makes the server side of probes.
package protocol ProbePresenter: Sendable {
    /// Makes the machine that shows a probe to a client that asks for a host.
    ///
    /// - Parameter report: called once, when the connection has ended.
    /// - Returns: `nil` for a connection in cleartext that has nothing to do with the probe.
    ///
    /// Errors: `probe-not-possible` with why, such as a wildcard for a name of one label.
    func machine(
        _ probe: ProbeDescription, for visit: ProbeVisit,
        report: @escaping @Sendable (ProbeObservation) -> Void
    ) throws(Failure) -> (any ProbeMachine)?

    /// Makes the machine of a sound server that proves nothing.
    ///
    /// - Parameter control: the probe that is sound.
    /// - Returns: `nil` for a connection that it has nothing to say to.
    func soundMachine(_ control: ProbeDescription, for visit: ProbeVisit) -> (any ProbeMachine)?

    /// What the answers of a probe's server hold there, and nobody's elsewhere.
    func proof(of destination: AuditDestination) -> String

    /// Makes what takes a request in cleartext that the probe has not led to.
    ///
    /// - Parameters:
    ///   - destination: where the client was shown the probe.
    ///   - report: called once, when the connection has ended.
    func unaskedMachine(
        _ probe: ProbeDescription, for visit: ProbeVisit, besides destination: AuditDestination,
        report: @escaping @Sendable (ProbeObservation) -> Void
    ) -> any ProbeMachine

    /// What a client has to trust besides the audit's CA to be shown a probe at a host.
    ///
    /// Errors: as for the machine.
    func anchors(of probe: ProbeDescription, host: String) throws(Failure) -> [Certificate]
}

extension ProbePresenter {
    /// What the probe brings along, without those of its chain.
    package func anchors(
        of probe: ProbeDescription, host: String
    ) throws(Failure) -> [Certificate] {
        try Certificate.all(inPEM: probe.trustAnchors, name: probe.identifier)
    }
}

/// Where a client wants to go.
package struct AuditDestination: Sendable, Hashable, Comparable {
    /// In lower case.
    package let host: String
    package let port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host.lowercased()
        self.port = port
    }

    /// The host by the name that the client asks for in TLS, if it does.
    package init(_ visit: ProbeVisit) {
        self.init(host: visit.hello?.serverName ?? visit.host, port: visit.port)
    }

    package var text: String {
        host.utf8.contains(0x3A) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    package static func < (left: AuditDestination, right: AuditDestination) -> Bool {
        (left.host, left.port) < (right.host, right.port)
    }
}

extension AuditDestination {
    /// How long the server has to keep quiet: some protocols wait for it to speak first.
    var serverSpeaksFirst: Bool { Self.greetingPorts.contains(port) }

    /// SMTP, POP3, IMAP, FTP, MySQL and their kin, where they are spoken without TLS at first.
    private static let greetingPorts: Set<UInt16> = [21, 25, 110, 143, 587, 2525, 3306]
}
