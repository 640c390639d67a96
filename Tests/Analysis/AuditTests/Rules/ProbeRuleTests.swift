import Catalogue
import Testing

@testable import Audit

@Suite struct ProbeRuleTests {
    static let rows: [ProbeRuleRow] = [
        .init("no connection", [], .inconclusive, "the client did not connect"),
        .init("data", [.accepted], .accepted, "the client sent data"),
        .init(
            "data wins over refusals", [.refused(alert: 48), .accepted, .refused(alert: 48)],
            .accepted,
            "the client sent data on 1 of 3 connections, after it had refused with alert 48"
                + " (unknown_ca)"),
        .init(
            "an alert", [.refused(alert: 48)], .refused,
            "the client refused with alert 48 (unknown_ca)"),
        .init(
            "a silent refusal", [.refused(alert: nil)], .refused,
            "the client closed during the handshake, without an alert"),
        .init(
            "one hard refusal among unclear ones",
            [.inconclusive("waits"), .refusedLate, .refused(alert: nil), .refused(alert: 42)],
            .refused, "the client refused with alert 42 (bad_certificate)"),
        .init(
            "one late", [.refusedLate], .inconclusive,
            "the client closed after the handshake once, which may have had another cause"),
        .init(
            "two late", [.refusedLate, .refusedLate], .refused,
            "the client closed after the handshake and had sent nothing on 2 of 2 connections"),
        .init("suspected", [.suspected], .suspected),
        .init("suspected and refused", [.suspected, .refused(alert: 51)], .refused),
        .init("nothing shared", [.notOffered], .notOffered),
        .init(
            "nothing shared at first, then refused", [.notOffered, .refused(alert: 70)], .refused),
        .init("waits", [.inconclusive("the client waits")], .inconclusive, "the client waits"),
        .init("no word", [.noEvidence("gone")], .inconclusive, "gone"),
        .init(
            "the better reason", [.inconclusive("waits"), .noEvidence("gone")], .inconclusive,
            "waits"),
        .init("data in cleartext", [.inClear], .inClear, "the client sent its data in cleartext"),
        .init(
            "data in cleartext after a refusal", [.refused(alert: 51), .inClear], .inClear,
            "the client sent its data in cleartext on 1 of 2 connections, and refused TLS with alert 51"
                + " (decrypt_error)"),
        .init(
            "data in cleartext where nothing is shared", [.notOffered, .inClear], .inClear,
            "the client sent its data in cleartext on 1 of 2 connections"),
        .init(
            "data in cleartext, and the command failed", [.inClear],
            run: .init(exitStatus: 1, controlExitStatus: 0), .inClear),
        .init(
            "data in TLS wins over data in cleartext", [.inClear, .accepted], .accepted,
            "the client sent data on 1 of 2 connections"),
        .init(
            "data in cleartext where text was injected", [.refused(alert: nil), .inClear],
            of: .injectAfterStartTLS, .inClear),
        // The command
        .init(
            "one late, and the command failed", [.refusedLate], run: .init(exitStatus: 60),
            .refused,
            "the client closed after the handshake and had sent nothing"
                + ", and its command failed (exit status 60)"),
        .init(
            "one late, when the command was ended", [.refusedLate],
            run: .init(exitStatus: 143, wasEnded: true), .inconclusive),
        .init(
            "data, and the command was ended", [.accepted],
            run: .init(exitStatus: 143, wasEnded: true, controlExitStatus: 0), .accepted,
            "the client sent data"),
        .init(
            "one late, and the command is content", [.refusedLate], run: .init(exitStatus: 0),
            .inconclusive),
        .init(
            "one late, and the command always fails", [.refusedLate],
            run: .init(exitStatus: 1, controlExitStatus: 1), .inconclusive),
        .init(
            "a failing command alone says nothing", [.inconclusive("waits")],
            run: .init(exitStatus: 1, controlExitStatus: 0), .inconclusive),
        .init(
            "data, and the command failed", [.accepted],
            run: .init(exitStatus: 1, sawToken: false, controlExitStatus: 0), .sentThenRefused,
            "the client sent data, and its command failed in the end (exit status 1)"),
        .init(
            "data, and the command failed, output unseen", [.accepted],
            run: .init(exitStatus: 1, controlExitStatus: 0), .sentThenRefused),
        .init(
            "data and the token, whatever the status", [.accepted],
            run: .init(exitStatus: 1, sawToken: true, controlExitStatus: 0), .accepted,
            "the client sent data and used the answer"),
        .init(
            "data, and the command always fails", [.accepted],
            run: .init(exitStatus: 1, sawToken: false, controlExitStatus: 1), .accepted),
        .init(
            "data, before there was a control", [.accepted],
            run: .init(exitStatus: 1, sawToken: false), .accepted),
        .init(
            "the token alone", [.inconclusive("waits")],
            run: .init(exitStatus: 0, sawToken: true), .accepted,
            "what only the probe's server says came back on the command's output"),
        // A server that is sound at first
        .init(
            "a redirect that was not followed", [.refusedLate], of: .redirectToHTTP,
            run: .init(exitStatus: 0, sawToken: true, controlExitStatus: 0), .refused,
            "the client ended where a flawed one goes on"),
        .init(
            "a redirect that was not followed, told by its server", [.refused(alert: nil)],
            of: .redirectToHTTP, .refused, "the client ended where a flawed one goes on"),
        .init(
            "an alert before the redirect", [.refused(alert: 48)], of: .redirectToHTTP, .refused,
            "the client refused with alert 48 (unknown_ca)"),
        .init(
            "a redirect that was followed", [.refusedLate, .accepted], of: .redirectToHTTP,
            run: .init(exitStatus: 0, sawToken: true), .accepted),
        .init(
            "a redirect that may be followed yet", [.refusedLate], of: .redirectToHTTP,
            .inconclusive),
        .init(
            "a client that never saw the redirect", [.inconclusive("waits")],
            of: .redirectWithCredentials, run: .init(exitStatus: 0, sawToken: true),
            .inconclusive),
    ]

    @Test(arguments: rows)
    func concludes(row: ProbeRuleRow) {
        let conclusion = ProbeRule.conclude(row.connections, of: row.behaviour, run: row.run)
        #expect(conclusion.outcome == row.outcome)
        if let evidence = row.evidence { #expect(conclusion.evidence == evidence) }
        #expect(!conclusion.evidence.hasSuffix("."))
    }

    /// A client that refused at first, and went on nevertheless.
    @Test(
        arguments: [
            ([.refused(alert: 48), .accepted], true), ([.refusedLate, .accepted], true),
            ([.noEvidence("gone"), .refused(alert: nil), .accepted], true),
            ([.refused(alert: 48), .inClear], true), ([.accepted, .refused(alert: 48)], false),
            ([.accepted], false), ([.refused(alert: 48)], false),
            ([.notOffered, .accepted], false),
        ] as [([ConnectionVerdict], Bool)])
    func tellsASecondTry(_ verdicts: [ConnectionVerdict], _ isSecondTry: Bool) {
        #expect(ProbeRule.conclude(verdicts).isSecondTry == isSecondTry)
        // Connections that are ended unused, whatever the server, refuse nothing.
        #expect(!ProbeRule.conclude(verdicts, leavesSpares: true).isSecondTry)
    }

    @Test func keepsTheFirstAlert() {
        let verdicts: [ConnectionVerdict] = [
            .refused(alert: nil), .refused(alert: 48), .refused(alert: 42),
        ]
        #expect(ProbeRule.conclude(verdicts).alert == 48)
        #expect(ProbeRule.conclude([.refused(alert: nil)]).alert == nil)
    }

    /// A retry may find out more, and never takes back what was proved.
    @Test func orderDoesNotMatter() {
        let all: [ConnectionVerdict] = [
            .accepted, .inClear, .refused(alert: 48), .refusedLate, .suspected, .notOffered,
            .inconclusive("waits"), .noEvidence("gone"),
        ]
        for first in all {
            for second in all {
                let forth = ProbeRule.conclude([first, second]).outcome
                let back = ProbeRule.conclude([second, first]).outcome
                #expect(forth == back, "\(first), \(second)")
                if first == .accepted { #expect(forth == .accepted) }
            }
        }
    }
}

struct ProbeRuleRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let connections: [ConnectionVerdict]
    let behaviour: ProbeBehaviour
    let run: ProbeRun?
    let outcome: ProbeOutcome
    let evidence: String?

    init(
        _ name: String, _ connections: [ConnectionVerdict], of behaviour: ProbeBehaviour = .serve,
        run: ProbeRun? = nil,
        _ outcome: ProbeOutcome, _ evidence: String? = nil
    ) {
        testDescription = name
        self.connections = connections
        self.behaviour = behaviour
        self.run = run
        self.outcome = outcome
        self.evidence = evidence
    }
}
