import Audit
import Base
import Catalogue
import Foundation
import Sockets
import TLS
import TestConditions
import Testing

@testable import Proxy

/// Probes whose certificate says where its revocation can be asked for.
@Suite(.ownThread) struct RevocationProbeTests {
    private let bench: ProbeBench

    init() throws { bench = try ProbeBench() }

    @Test(arguments: [
        ("revocation-crl", "GET /sallyport.crl HTTP/1.1", "openssl crl -inform DER -noout -text"),
        (
            "revocation-crl", "GET http://localhost/sallyport.crl HTTP/1.1",
            "openssl crl -inform DER -noout -text"
        ),
        (
            "revocation-ocsp-url", "POST /sallyport.ocsp HTTP/1.1\r\ncontent-length: 2\r\n\r\nab",
            "openssl ocsp -respin /dev/stdin -noverify -text"
        ),
        (
            "revocation-ocsp-url", "GET /sallyport.ocsp/MEIw HTTP/1.1",
            "openssl ocsp -respin /dev/stdin -noverify -text"
        ),
    ])
    func publishesThatTheLeafIsRevoked(_ probe: String, _ request: String, reader: String) throws {
        let slot = try bench.slot(probe)
        let machine = try #require(slot.probe(for: try bench.visit(443, MemoryClient.hello())))
        let client = MemoryClient(machine)
        #expect(client.handshake() == .done)
        let leaf = try #require(Certificate(der: client.session.peerChain[0]))
        let clear = try #require(slot.probe(for: try bench.visit(80, nil)))
        let whole = request.contains("\r\n\r\n") ? request : request + "\r\n\r\n"
        clear.receive(Array(whole.utf8).span)
        let answer = clear.takeOutgoing()
        clear.noteEnd(.ours)
        let end = try #require(answer.firstRange(of: Array("\r\n\r\n".utf8)))
        #expect(answer.starts(with: Array("HTTP/1.1 200 OK".utf8)))
        let file = bench.folder.appendingPathComponent("answer").path
        try Files.create(file, Array(answer[end.upperBound...]))
        let shown = try ClientRun(["sh", "-c", "\(reader) <\(file)"]).output
            .uppercased().replacingOccurrences(of: ":", with: "")
        #expect(shown.contains("KEYCOMPROMISE") || shown.contains("KEY COMPROMISE"), "\(shown)")
        try Files.create(file + ".leaf", leaf.pem)
        let serial = try ClientRun(["openssl", "x509", "-noout", "-serial", "-in", file + ".leaf"])
            .output.dropFirst("serial=".count).filter { !$0.isNewline }
        #expect(shown.contains(serial), "\(shown) \(serial)")
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fetches: String?
        let speaks: Bool
        let outcome: ProbeOutcome
        let hasFetched: Bool
        let evidence: String
    }

    @Test(arguments: [
        Row(
            testDescription: "asks, and goes on", fetches: "/sallyport.crl", speaks: true,
            outcome: .accepted, hasFetched: true, evidence: "fetched and accepted: "),
        Row(
            testDescription: "asks, and leaves", fetches: "/sallyport.crl", speaks: false,
            outcome: .refused, hasFetched: true, evidence: "fetched and refused: "),
        Row(
            testDescription: "does not ask", fetches: nil, speaks: true, outcome: .accepted,
            hasFetched: false, evidence: "not fetched and accepted: "),
        Row(
            testDescription: "asks for something else", fetches: "/other", speaks: true,
            outcome: .accepted, hasFetched: false, evidence: "not fetched and accepted: "),
    ])
    func tellsWhetherItWasAskedFor(_ row: Row) throws {
        let slot = try bench.slot("revocation-crl")
        let secure = try #require(slot.probe(for: try bench.visit(443, MemoryClient.hello())))
        let client = MemoryClient(secure)
        #expect(client.handshake() == .done)
        if let path = row.fetches {
            let clear = try #require(slot.probe(for: try bench.visit(80, nil)))
            clear.receive(Array("GET \(path) HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8).span)
            let isFound = clear.takeOutgoing().starts(with: Array("HTTP/1.1 200".utf8))
            #expect(isFound == row.hasFetched)
            clear.noteEnd(.ours)
        }
        if row.speaks { client.send(Array("GET / HTTP/1.1\r\n\r\n".utf8)) }
        secure.noteEnd(.closed)
        let result = try bench.judge(slot)
        #expect(result.outcome == row.outcome && result.verdict == .note, "\(result)")
        #expect(result.hasFetchedStatus == row.hasFetched)
        #expect(result.evidence.hasPrefix(row.evidence), "\(result.evidence)")
    }

    @Test func isNotPossibleWherePort80IsNoneOfOurs() throws {
        bench.presenter.noteUnseenRedirections()
        let slot = try bench.slot("revocation-ocsp-url")
        #expect(slot.probe(for: try bench.visit(443, MemoryClient.hello())) == nil)
        #expect(slot.impossible.values.first?.contains("no port of ours") == true)
    }

    /// Who does not ask for a staple is shown none, and takes nothing that it should not.
    @Test(arguments: ["revocation-ocsp-revoked-stapled", "revocation-ocsp-stale-stapled"])
    func aStapleIsForThoseWhoAsk(_ probe: String) throws {
        let slot = try bench.slot(probe)
        let machine = try #require(slot.probe(for: try bench.visit(443, MemoryClient.hello())))
        let client = MemoryClient(machine)
        client.handshake()
        machine.noteEnd(.ours)
        #expect(try bench.judge(slot).outcome == .notOffered)
    }
}
