import Audit
import Base
import Catalogue
import Foundation
import Sockets
import TLS
import Testing

@testable import Proxy

/// Probes of the catalogue with chains of their own, for clients in memory.
final class ProbeBench: Sendable {
    let folder: URL
    let presenter: CataloguePresenter
    let catalogue: Catalogue
    let authority: Certificate

    init(_ catalogue: Catalogue = .builtIn()) throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("sallyport-audittests.\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let authority = try AuditAuthority.open(folder: folder.path + "/audit")
        self.catalogue = catalogue
        self.authority = authority.certificate
        presenter = CataloguePresenter(
            issuer: try ChainIssuer(
                authority: authority, keys: KeyCache(folder: folder.path + "/keys")),
            catalogue: catalogue, token: "token", now: { 0 })
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            Issue.record("\(error)")
        }
    }

    func probe(_ identifier: String) throws -> ProbeDescription {
        try #require(catalogue.entry(identifier))
    }

    func slot(_ identifier: String) throws -> ProbeSlot {
        ProbeSlot(try probe(identifier), presenter) { _ in true }
    }

    /// - Parameter hello: the client's first bytes; `nil` for one that speaks in cleartext.
    func visit(
        _ port: UInt16, _ hello: [UInt8]?, listener: UInt16 = 1, host: String = ProbeBench.host
    ) throws -> ProbeVisit {
        let local = try #require(SocketAddress(literal: "127.0.0.1", port: listener))
        return ProbeVisit(
            connection: 7, peer: local, listener: local, process: nil, host: host, port: port,
            hello: try hello.flatMap { try ClientHelloReader.read($0.span) })
    }

    /// The server of a probe; `nil` if it does not say anything to such a visit.
    func machine(
        _ probe: ProbeDescription, for visit: ProbeVisit
    ) throws -> (any ProbeMachine)? {
        try presenter.machine(probe, for: visit) { _ in }
    }

    /// What a slot saw, judged as of a client that speaks first and takes a sound server.
    func judge(_ slot: ProbeSlot) throws -> AuditResult {
        let seen = try #require(slot.seen[Self.destination])
        let ledger = AuditLedger(client: "test")
        var sound = ProbeObservation()
        sound.acceptedBytes = 1
        let control = try probe(AuditLedger.control)
        ledger.note(
            ledger.judge(control, at: Self.destination, [sound], run: nil), [sound],
            at: Self.destination)
        return ledger.judge(
            slot.probe, at: Self.destination, seen, run: ProbeRun(exitStatus: 1))
    }

    static let host = "localhost"
    static let destination = AuditDestination(host: host, port: 443)
}
