package import Base
package import Catalogue

/// What one client made of one probe at one destination.
package struct AuditResult: Sendable, Equatable {
    /// As it is shown: a program's name, an address, a label that the user gave.
    package var client: String
    /// Such as `www.example.com:443`.
    package var destination: String
    package var probe: ProbeDescription
    package var outcome: ProbeOutcome
    package var verdict: ProbeVerdict
    /// What was seen, in a sentence without a full stop.
    package var evidence: String
    /// The fatal alert that the client sent, if it sent one.
    package var alert: UInt8?
    /// Such as `TLSv1.3`; `nil` if no version was agreed.
    package var version: String?
    /// Of the connections in the capture.
    package var connections: [Int64] = []
    /// The probe that it follows from, for `implied`.
    package var impliedBy: String?
    /// How the command ended; `nil` for a client that was not started for the probe.
    package var exitStatus: Int32?
    /// Whether the random token that the server sent came back on the command's output; `nil` if
    /// that was not looked at.
    package var sawToken: Bool?
    /// Whether the client asked for the certificate's status at the address that it names; `nil` where
    /// it names none.
    package var hasFetchedStatus: Bool?
    /// Whether the client named the host in TLS; `nil` where that was not looked at.
    package var namesHost: Bool?
    /// Whether the client had refused at first, and went on nevertheless.
    package var isSecondTry = false
    /// In microseconds.
    package var duration: Int64 = 0

    package init(
        client: String, destination: String, probe: ProbeDescription, outcome: ProbeOutcome,
        verdict: ProbeVerdict, evidence: String
    ) {
        self.client = client
        self.destination = destination
        self.probe = probe
        self.outcome = outcome
        self.verdict = verdict
        self.evidence = evidence
    }
}

/// Everything that an audit found.
package struct AuditReport: Sendable {
    /// In the order of the catalogue, client by client.
    package var results: [AuditResult]
    package var startedAt: Timestamp
    /// In microseconds.
    package var duration: Int64
    package var capturePath: String
    /// The command that was audited, empty for clients that came by themselves.
    package var command: [String]
    package var toolVersion: String
    /// Where clients are written, by their names: `Sources/App/API.swift:42`.
    package var sources: [String: String]

    package init(
        results: [AuditResult], startedAt: Timestamp, duration: Int64, capturePath: String,
        command: [String] = [], toolVersion: String, sources: [String: String] = [:]
    ) {
        self.results = results
        self.startedAt = startedAt
        self.duration = duration
        self.capturePath = capturePath
        self.command = command
        self.toolVersion = toolVersion
        self.sources = sources
    }
}
