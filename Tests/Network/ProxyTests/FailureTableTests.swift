import Base
import Foundation
import HTTPCodecs
import ProcessStart
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Sixteen failures that people debug, each with its true cause: documented as they are here.
    @Suite struct FailureTable {
        @Test(.enabled(if: FlawedOrigin.hasPeers), arguments: FailureRow.all)
        func tellsTheCause(_ row: FailureRow) throws {
            try judge(row, by: row.way)
        }

        /// What a client does before it speaks any HTTP is left out.
        @Test(
            .enabled(if: FlawedOrigin.hasPeers),
            arguments: FailureRow.all.filter { $0.way == .reverse && $0.trust == .proxy })
        func saysTheSameOverHTTP2(_ row: FailureRow) throws {
            try judge(row, by: .reverseHTTP2)
        }

        private func judge(_ row: FailureRow, by way: WayIn) throws {
            let seen = try Self.run(row.by(way))
            #expect(seen.outcome == row.outcome)
            #expect(seen.party == row.party)
            // A machine without a name server cannot tell.
            if row.isAboutNames, seen.code == "name-lookup-failed" { return }
            // Without an exchange there is no code; whether one began depends on who spoke first.
            if row.code != nil || seen.code != "origin-handshake-failed" {
                #expect(seen.code == row.code)
            }
            #expect(seen.cause == row.cause)
        }

        /// A server of an older version refuses within the handshake, so that there is no leg.
        @Test(.enabled(if: FlawedOrigin.hasPeers), arguments: [WayIn.tunnel, .reverse])
        func tellsThatACertificateWasAskedFor(_ way: WayIn) throws {
            for row in FailureRow.demandingCertificates {
                let seen = try Self.run(row.by(way))
                #expect(seen.outcome == row.outcome)
                #expect(seen.code == row.code)
                #expect(seen.notes.contains("origin-asked-for-certificate"))
            }
        }

        /// The table in the documentation is this one.
        @Test func isDocumented() throws {
            let text = Self.document
            print(text)
            let place = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../../Documentation/failures.md").standardized.path
            if ProcessInfo.processInfo.environment["SALLYPORT_ACCEPT_CASES"] != nil {
                try Data(text.utf8).write(to: URL(fileURLWithPath: place))
            }
            #expect(try Files.read(place).text == text)
        }
    }
}

extension ProxyTests.FailureTable {
    /// An origin that leaves the request unread resets the connection behind its alert, which may be
    /// lost by that: what it had asked for is told all the same.
    @Test(.enabled(if: FlawedOrigin.hasPeers), arguments: ["GET", "POST"])
    func certificateIsToldWhateverComesFirst(_ method: String) throws {
        let origin = try FlawedOrigin(.demandsCertificate)
        let target = ProxyPlan.ReverseTarget(.https, host: "localhost", port: origin.port)
        let change = PlanChange { plan in
            plan.wiring.ports[0].mode = .reverse(target)
            plan.policy.originTrust.extraAuthorities = [origin.authority]
        }
        try withProxy(change) { proxy in
            for place in 0..<20 {
                let client = try proxy.connect()
                try client.secure(ProxyUnderTest.clientSession(for: "localhost"))
                try client.send("\(method) / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na")
                #expect(try client.readResponse().status == 502)
                client.close()
                let cause = try proxy.traffic.connection(place).cause
                #expect(cause.contains(" a client certificate"), "\(cause)")
            }
        }
    }

    /// The same where HTTP/2 is spoken, by the client and by the origin, or by one of them.
    @Test(
        .enabled(if: FlawedOrigin.hasPeers),
        arguments: [
            ("h2", .demandsCertificate), ("h2", .demandsCertificateByHTTP2),
            ("http/1.1", .demandsCertificateByHTTP2),
        ] as [(String, FlawedOrigin.Flaw)])
    func certificateIsToldInStreams(_ version: String, _ flaw: FlawedOrigin.Flaw) throws {
        let origin = try FlawedOrigin(flaw)
        let target = ProxyPlan.ReverseTarget(.https, host: "localhost", port: origin.port)
        let change = PlanChange { plan in
            plan.wiring.ports[0].mode = .reverse(target)
            plan.policy.originVersion = flaw == .demandsCertificate ? .http1 : .http2
            plan.policy.originTrust.extraAuthorities = [origin.authority]
        }
        try withProxy(change) { proxy in
            for place in 0..<10 {
                if version == "h2" {
                    try Self.fetchInStream(proxy)
                } else {
                    let client = try proxy.connect()
                    try client.secure(ProxyUnderTest.clientSession(for: "localhost"))
                    #expect(try client.get("/").status == 502)
                    client.close()
                }
                let connection = try proxy.traffic.connection(place)
                let cause = connection.cause
                #expect(cause.contains(" a client certificate"), "\(cause)")
                #expect(connection.notes.map(\.code).contains("origin-asked-for-certificate"))
            }
        }
    }
}

// MARK: How they are run

extension ProxyTests.FailureTable {
    struct Seen {
        let outcome: ConnectionRecord.Outcome
        let party: ConnectionRecord.Side?
        let code: String?
        let cause: String
        let notes: [String]
    }

    static func run(_ row: FailureRow) throws -> Seen {
        var scripted: ScriptedOrigin?
        var authority: Certificate?
        var flawed: FlawedOrigin?
        var closed: ClosedPort?
        var port: UInt16 = 80
        switch row.peer {
        case .plain(let script), .foreign(let script):
            scripted = try ScriptedOrigin(.plain, script)
        case .secure(let script): scripted = try ScriptedOrigin(.tls, script)
        case .flawed(let flaw): flawed = try FlawedOrigin(flaw)
        case .nobody: closed = try ClosedPort()
        case .noName: break
        }
        if case .flawed(let flaw) = row.peer, flaw != .selfSigned { authority = flawed?.authority }
        port = scripted?.port ?? flawed?.port ?? closed?.port ?? port
        var host = row.isSecure ? "localhost" : "127.0.0.1"
        if case .noName = row.peer { host = "no-such-name.invalid" }
        let reverse = ProxyPlan.ReverseTarget(row.isSecure ? .https : .http, host: host, port: port)
        let trusted = authority
        let change = PlanChange { plan in
            if row.way == .reverseHTTP2 { plan.policy.originVersion = .http1 }
            if row.way == .reverse || row.way == .reverseHTTP2 {
                plan.wiring.ports[0].mode = .reverse(reverse)
            }
            if let trusted { plan.policy.originTrust.extraAuthorities = [trusted] }
        }
        var seen: Seen?
        try withProxy(change) { proxy in
            if let scripted { proxy.adopt(scripted) }
            try fetch("\(row.isSecure ? "https" : "http")://\(host):\(port)/", row, proxy)
            let connection = try proxy.traffic.connection()
            let exchange = proxy.traffic.content.finalExchanges.first
            seen = Seen(
                outcome: connection.outcome, party: connection.party,
                code: exchange?.error
                    ?? connection.clientTLS?.alerts.first {
                        $0.sender == .peer && $0.fatal
                    }?.name,
                cause: connection.cause
                    .replacingOccurrences(of: "port \(port)", with: "port PORT")
                    .replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}/, with: "DATE"),
                notes: connection.notes.map(\.code))
        }
        return try #require(seen)
    }

    /// A request by a client that speaks HTTP/2 alone, of an origin that fails.
    private static func fetchInStream(_ proxy: ProxyUnderTest) throws {
        let wire = try proxy.connect()
        try wire.secure(ProxyUnderTest.clientSession(for: "localhost", protocols: ["h2"]))
        try check(wire.session?.parameters.alpn == "h2", "the proxy did not choose h2")
        let client = try HTTP2Peer(.client, wire)
        #expect(try client.get("/").status == 502)
        wire.close()
    }

    /// A request by curl, whichever way; how it ends is the proxy's to tell.
    private static func fetch(_ url: String, _ row: FailureRow, _ proxy: ProxyUnderTest) throws {
        // With TLS curl offers HTTP/1.1 as well, and that is what is chosen for such origins.
        if row.way == .reverseHTTP2, row.isSecure { return try fetchInStream(proxy) }
        var arguments = ["-sS", "-m", "10", "-o", "/dev/null", "--noproxy", ""]
        arguments.append(row.way == .reverseHTTP2 ? "--http2-prior-knowledge" : "--http1.1")
        switch row.way {
        case .explicit: arguments += ["-x", "http://\(proxy.address)"]
        case .tunnel: arguments += ["-p", "-x", "http://\(proxy.address)"]
        case .reverse, .reverseHTTP2: arguments += ["--connect-to", "::\(proxy.address)"]
        }
        let folder = try TemporaryFolder()
        try Files.create("\(folder.path)/ca.pem", TestAuthority.proxy.certificate.pem)
        if row.trust != .nobody { arguments += ["--cacert", "\(folder.path)/ca.pem"] }
        if row.trust == .anotherPin {
            let pin = String(repeating: "A", count: 43) + "="
            arguments += ["--pinnedpubkey", "sha256//\(pin)"]
        }
        let client = Process()
        client.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        client.arguments = arguments + [url]
        client.standardInput = FileHandle.nullDevice
        client.standardOutput = FileHandle.nullDevice
        client.standardError = FileHandle.nullDevice
        try ProcessStart.alone { try client.run() }
        client.waitUntilExit()
    }

    // MARK: The document

    private static var document: String {
        let rows = FailureRow.all
        var lines = [
            "# Failures", "", introduction, "",
            "| failure | way in | outcome | party | code | cause |", "|---|---|---|---|---|---|",
        ]
        var place = rows.startIndex
        while place < rows.endIndex {
            let row = rows[place]
            let same = rows[place...].prefix { $0.name == row.name && $0.code == row.code }
            place = same.endIndex
            let ways = same.map(\.way.rawValue).joined(separator: ", ")
            let code = row.code.map { "`\($0)`" } ?? ""
            lines.append(
                "| \(row.name) | \(ways) | `\(row.outcome.rawValue)` | \(row.party.rawValue) |"
                    + " \(code) | \(row.cause) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let introduction = """
        What is said at first sight of sixteen failures that people debug: `outcome` and `cause` in \
        `sallyport connections`, the party to blame (`party` with `--json`), and the code that the \
        exchange has in `sallyport flows list` and the client gets in the field `sallyport-error`; \
        where there is no exchange, the alert that the client sent. The version of HTTP changes \
        nothing of it. A test makes each of them, with curl and real servers, and holds this table \
        to what it sees.
        """
}
