internal import Audit
package import Base
package import Catalogue
package import Origins
package import Sockets

/// What an audit shows, to whom, and where it records.
package struct AuditConfiguration: Sendable {
    package var way = Way.listen
    package var proxy = ProxyOptions()
    package var profile = AuditProfile.standard
    package var trust = AuditTrust.env
    /// Some probes alone, by their identifiers; all of the profile if empty.
    package var probes: [String] = []
    package var catalogue: String?
    package var jobs: Int64 = 1
    package var host: String?
    package var port: Int64?
    package var timeout = Duration.seconds(30)
    package var targets: [HostPattern] = []
    /// The true origin, whose chain is presented by probes that need one.
    package var origin: HostPort?
    package var clientName: String?
    package var sources: [ClientSource] = []
    package var isNeverConfined = false
    package var toolVersion = ""

    /// How clients come to the probes.
    package enum Way: Sendable {
        /// A command, started once for each probe.
        case command([String])
        /// By themselves, through a proxy.
        case listen
        /// By themselves, to a port for each probe.
        case serve(PortRange)
    }

    package init() {}

    /// What is shown, in its order.
    ///
    /// Errors: `catalogue-invalid`, `unknown-probe`.
    package func selectedProbes() throws(Failure) -> [ProbeDescription] {
        try selectedProbes(of: try openCatalogue())
    }

    func selectedProbes(of catalogue: Catalogue) throws(Failure) -> [ProbeDescription] {
        try AuditSelection.probes(of: catalogue, profile: profile, named: probes)
    }

    /// Errors: `catalogue-invalid`.
    func openCatalogue() throws(Failure) -> Catalogue {
        guard let catalogue else { return Catalogue.builtIn() }
        return try Catalogue.load(folder: catalogue)
    }
}

/// How the command of an audit is told to trust the audit's CA.
package enum AuditTrust: String, CaseIterable, Sendable {
    /// By variables, and by the system's files where the command is confined.
    case env
    /// By the system's files alone.
    case overlay
    case none
}

/// Where a client is written, for reports that point at files.
package struct ClientSource: Sendable {
    package let client: String
    package let place: String

    package init(client: String, place: String) {
        self.client = client
        self.place = place
    }
}

/// Ports that stand for probes, one each.
package struct PortRange: Sendable {
    package let first: UInt16
    package let last: UInt16

    package init(first: UInt16, last: UInt16) {
        self.first = first
        self.last = last
    }
}

/// Where the servers of an audit are, and whom their clients have to trust.
package struct AuditPlaces: Sendable {
    package let places: [Place]
    package let authority: String
    package let capture: String

    package struct Place: Sendable {
        package let name: String
        package let address: SocketAddress
    }

    /// A line in the schema `sallyport.audit-ready/1`.
    package func json(processID: Int32) -> JSONText {
        [
            "schema": "sallyport.audit-ready/1",
            "ports": .array(
                places.map {
                    ["name": .string($0.name), "listen": .string($0.address.description)]
                }),
            "ca": .string(authority),
            "capture": .string(capture),
            "pid": .integer(Int64(processID)),
        ]
    }
}
