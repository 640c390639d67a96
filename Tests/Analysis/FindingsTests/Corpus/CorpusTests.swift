import Base
import Testing
import Traffic

@testable import Findings

/// The labelled corpus: recall and false positives over all rules at once.
///
/// A table of a detector's own rows is part of it when it is named in `tables`.
@Suite struct CorpusTests {
    private static let ruleRows: [CorpusRow] = [
        RuleTests.rows, HygieneRuleTests.rows, WrongPartyRuleTests.rows, PrivacyRuleTests.rows,
    ].flatMap(\.self).map { row in
        CorpusRow(
            name: row.testDescription, wanted: row.severity == nil ? nil : row.rule,
            also: also[row.testDescription] ?? [], traffic: .exchanges(row.traffic))
    }

    private static let runRows: [CorpusRow] = RunRuleTests.rows.map { row in
        CorpusRow(
            name: row.testDescription, wanted: row.found.isEmpty ? nil : row.rule,
            also: also[row.testDescription] ?? [], firstParties: row.firstParties,
            traffic: .exchanges(row.traffic))
    }

    private static let dialogueRows: [CorpusRow] = DialogueRuleTests.rows.map { row in
        CorpusRow(
            name: row.testDescription, wanted: row.severity == nil ? nil : row.rule,
            also: [.upgradeUnused, .plainLogin, .hashLogin], traffic: .dialogue(row.sample))
    }

    private static let networkRows: [CorpusRow] = LocalNetworkRuleTests.rows.map { row in
        CorpusRow(
            name: row.testDescription, wanted: row.severities.isEmpty ? nil : row.rule,
            also: [.plainLogin, .upgradeUnused], traffic: .dialogue(row.sample))
    }

    private static let tables = ruleRows + runRows + dialogueRows + networkRows

    private static let all: [CorpusRow] = CorpusHits.rows + CorpusCalm.rows + tables

    @Test func isLarge() {
        #expect(Self.all.count { $0.wanted != nil } >= 300)
        #expect(Self.all.count { $0.wanted == nil } >= 600)
        let names = Self.all.map { "\($0.wanted?.rawValue ?? "") \($0.name)" }
        #expect(Set(names).count >= 900)
    }

    @Test func findsAll() {
        var missed: [String] = []
        for row in Self.all {
            guard let wanted = row.wanted else { continue }
            if !row.report.findings.contains(where: { $0.rule == wanted }) {
                missed.append("\(wanted.rawValue): \(row.name)")
            }
        }
        #expect(missed == [])
    }

    /// At high and firm, where a build fails unless told otherwise.
    @Test func findsNothingElse() {
        var others: [String] = []
        for row in Self.all {
            let allowed = row.also.union(row.wanted.map { [$0] } ?? [])
            let report = row.report
            for finding in report.findings where report.gate.reaches(finding) {
                guard !allowed.contains(finding.rule) else { continue }
                others.append("\(row.name): \(finding.rule.rawValue) \(finding.place)")
            }
        }
        #expect(others == [])
    }

    /// Rows about one rule whose traffic holds another credential as well.
    private static let also: [String: Set<RuleID>] = [
        "HASH-HTTP-DIGEST: Digest inside of Basic": [.plainHTTPBasic],
        "KEY-PROVIDER: its provider in cleartext": [.plainHTTPBearer],
        "LEAK-REDIRECT-AUTH: to cleartext": [.plainHTTPBearer],
        "LEAK-REDIRECT-AUTH: from cleartext to TLS": [.plainHTTPBearer],
    ]
}
