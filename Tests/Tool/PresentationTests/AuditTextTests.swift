import Audit
import Base
import Catalogue
import OutputCollector
import Terminal
import Testing

@testable import Presentation

struct AuditTextTests {
    @Test func tellsAll() throws {
        let collector = Collector()
        try AuditText.write(Self.report, to: collector.stream(nil), palette: .plain)
        #expect(collector.text == Self.wholeText)
    }

    @Test func fitsANarrowTerminal() throws {
        let collector = Collector()
        try AuditText.write(Self.report, to: collector.stream(60), palette: .plain)
        #expect(collector.text == Self.secondText)
    }

    /// Six clients that do not fit beside one another.
    @Test func numbersAndSplitsColumns() throws {
        let collector = Collector()
        var report = Self.report
        report.results = (1...6).map {
            Self.result("trust-self-signed", .trust, .refused, client: "client-\($0)")
        }
        try AuditText.write(report, to: collector.stream(50), palette: .plain)
        #expect(
            collector.text == """
                1  client-1@example.com:443
                2  client-2@example.com:443
                3  client-3@example.com:443
                4  client-4@example.com:443
                5  client-5@example.com:443
                6  client-6@example.com:443

                probe                1       2
                trust
                  trust-self-signed  + pass  + pass

                probe                3       4
                trust
                  trust-self-signed  + pass  + pass

                probe                5       6
                trust
                  trust-self-signed  + pass  + pass

                clean: 6 passed

                """)
    }

    /// It says nothing of what the probes are about, and is told in a line.
    @Test func whatCameInClearIsToldOnce() throws {
        let collector = Collector()
        var report = Self.report
        report.results = [
            Self.result("control-good", .control, .accepted, .accept),
            Self.result("handshake-goto-fail", .handshake, .inClear),
            Self.result("handshake-anon", .handshake, .inClear),
        ]
        try AuditText.write(report, to: collector.stream(nil), palette: .plain)
        #expect(
            collector.text.contains(
                """

                diagnosis
                  app@example.com:443 goes on in cleartext when TLS fails
                """), "\(collector.text)")
        #expect(
            collector.text.contains(
                """
                    shown  by handshake-goto-fail, handshake-anon

                failed
                  app@example.com:443: in-clear: as it was seen
                    handshake-goto-fail, handshake-anon

                failed: 2 failed, 1 passed
                """), "\(collector.text)")
    }

    @Test func nothingWasSeen() throws {
        let collector = Collector()
        var report = Self.report
        report.results = []
        try AuditText.write(report, to: collector.stream(80), palette: .plain)
        #expect(collector.text == "\ninconclusive: nothing was seen\n")
    }

    @Test func coloursAddNothing() throws {
        let plain = Collector()
        let coloured = Collector()
        try AuditText.write(Self.report, to: plain.stream(80), palette: .plain)
        try AuditText.write(
            Self.report, to: coloured.stream(80), palette: Palette(isColoured: true))
        #expect(coloured.text != plain.text)
        #expect(coloured.text.replacing(/\u{1B}\[[0-9]*m/, with: "") == plain.text)
    }

    private static let report = AuditReport(
        results: [
            result("control-good", .control, .accepted, .accept),
            result("trust-self-signed", .trust, .accepted),
            result("trust-self-signed-ca", .trust, .implied),
            result("trust-unknown-root", .trust, .refused),
            result("name-wrong-host", .name, .inconclusive, evidence: "the client waits\u{1B}[2J"),
            result("crypto-leaf-sha1", .crypto, .accepted, .warn),
            result("control-good", .control, .refused, .accept, client: "b"),
            result("trust-self-signed", .trust, .refused, client: "b"),
            result("name-wrong-host", .name, .uncontrolled, client: "b"),
            result("time-expired", .time, .uncontrolled, client: "b"),
        ],
        startedAt: Timestamp(microseconds: 0), duration: 0, capturePath: "", toolVersion: "1")

    private static func result(
        _ identifier: String, _ family: ProbeFamily, _ outcome: ProbeOutcome,
        _ expectation: ProbeExpectation = .refuse, client: String = "app",
        evidence: String = "as it was seen"
    ) -> AuditResult {
        var probe = ProbeDescription(identifier: identifier, family: family)
        probe.title = "what " + identifier + " is"
        probe.expectation = expectation
        probe.reason = "why a client must refuse this, told in a few more words"
        probe.source = "RFC 5280 §6.1"
        probe.fix = "turn it on"
        var result = AuditResult(
            client: client, destination: "example.com:443", probe: probe, outcome: outcome,
            verdict: VerdictRule.verdict(expectation, outcome), evidence: evidence)
        if outcome == .accepted { result.connections = [1, 2] }
        if outcome == .implied { result.impliedBy = "trust-self-signed" }
        return result
    }

    private static let wholeText = """
        probe                   app@example.com:443  b@example.com:443  what
        control
          control-good          + pass               i note             what control-good is
        trust
          trust-self-signed     x FAIL               + pass             what trust-self-signed is
          trust-self-signed-ca  x FAIL                                  what trust-self-signed-ca is
          trust-unknown-root    + pass                                  what trust-unknown-root is
        name
          name-wrong-host       ? unknown            - skipped          what name-wrong-host is
        time
          time-expired                               - skipped          what time-expired is
        crypto
          crypto-leaf-sha1      ! warn                                  what crypto-leaf-sha1 is

        diagnosis
          app@example.com:443 takes self-signed certificates
            It accepts a certificate that nobody but its holder has signed
            fix    Trust the one self-signed certificate that is meant, not all of them
            shown  by trust-self-signed, trust-self-signed-ca
          app@example.com:443 takes broken keys or digests
            It takes certificates whose keys or signatures can be forged or are too weak
            fix    Raise the security level of the TLS library to 112 bits at least
            shown  by crypto-leaf-sha1
          b@example.com:443 does not take a sound server with the audit's CA
            It does not trust the CA, or pins another: that it refuses what the CA signed says nothing
            fix    Have the client trust the CA for the time of the audit; a pinning client is audited with its pins off as well
            shown  by control-good

        failed
          trust-self-signed: what trust-self-signed is (high)
            who    app@example.com:443
            seen   accepted: as it was seen, connections 1, 2
            why    why a client must refuse this, told in a few more words RFC 5280 §6.1
            fix    turn it on
          app@example.com:443: follow from trust-self-signed
            trust-self-signed-ca

        warnings
          crypto-leaf-sha1: what crypto-leaf-sha1 is (high)
            who    app@example.com:443
            seen   accepted: as it was seen, connections 1, 2
            why    why a client must refuse this, told in a few more words RFC 5280 §6.1
            fix    turn it on

        noted
          b@example.com:443: refused
            control-good

        not known
          app@example.com:443: the client waits\\u{1b}[2J
            name-wrong-host

        skipped
          b@example.com:443: as it was seen
            name-wrong-host, time-expired

        failed: 2 failed, 1 to look at, 3 passed, 1 noted, 1 not known, 2 skipped

        """

    private static let secondText = """
        1  app@example.com:443
        2  b@example.com:443

        probe                   1          2
        control
          control-good          + pass     i note
        trust
          trust-self-signed     x FAIL     + pass
          trust-self-signed-ca  x FAIL
          trust-unknown-root    + pass
        name
          name-wrong-host       ? unknown  - skipped
        time
          time-expired                     - skipped
        crypto
          crypto-leaf-sha1      ! warn

        diagnosis
          app@example.com:443 takes self-signed certificates
            It accepts a certificate that nobody but its holder has
            signed
            fix    Trust the one self-signed certificate that is
                   meant, not all of them
            shown  by trust-self-signed, trust-self-signed-ca
          app@example.com:443 takes broken keys or digests
            It takes certificates whose keys or signatures can be
            forged or are too weak
            fix    Raise the security level of the TLS library to
                   112 bits at least
            shown  by crypto-leaf-sha1
          b@example.com:443 does not take a sound server with the
          audit's CA
            It does not trust the CA, or pins another: that it
            refuses what the CA signed says nothing
            fix    Have the client trust the CA for the time of the
                   audit; a pinning client is audited with its pins
                   off as well
            shown  by control-good

        failed
          trust-self-signed: what trust-self-signed is (high)
            who    app@example.com:443
            seen   accepted: as it was seen, connections 1, 2
            why    why a client must refuse this, told in a few more
                   words RFC 5280 §6.1
            fix    turn it on
          app@example.com:443: follow from trust-self-signed
            trust-self-signed-ca

        warnings
          crypto-leaf-sha1: what crypto-leaf-sha1 is (high)
            who    app@example.com:443
            seen   accepted: as it was seen, connections 1, 2
            why    why a client must refuse this, told in a few more
                   words RFC 5280 §6.1
            fix    turn it on

        noted
          b@example.com:443: refused
            control-good

        not known
          app@example.com:443: the client waits\\u{1b}[2J
            name-wrong-host

        skipped
          b@example.com:443: as it was seen
            name-wrong-host, time-expired

        failed: 2 failed, 1 to look at, 3 passed, 1 noted, 1 not
        known, 2 skipped

        """
}
