import Base
import Foundation
import Testing

@testable import Audit

/// What GitHub asks of a file, besides the schema.
@Suite struct SARIFReportTests {
    @Test(arguments: SARIFReport.Selection.allCases)
    func isTakenByCodeScanning(selection: SARIFReport.Selection) throws {
        let log = try read(SARIFReport(selection: selection), sampleReport())
        let expected = [SARIFReport.Selection.failures: 3, .warnings: 5, .all: 13]
        #expect(log.results.count == expected[selection])
        #expect(Set(log.rules.map { $0["id"] as? String }).count == log.rules.count)
        for rule in log.rules { try check(rule: rule) }
        for result in log.results { try check(result: result, in: log) }
    }

    @Test func placesResults() throws {
        let log = try read(
            SARIFReport(standardSource: ".github/workflows/audit.yml:12"), sampleReport())
        #expect(
            try log.results.map(place) == [
                "Sources/My%20App/API%3A%20v2.swift:42", "Sources/My%20App/API%3A%20v2.swift:42",
                ".github/workflows/audit.yml:12",
            ])
        let bare = try read(SARIFReport(), sampleReport())
        #expect(try bare.results.map(place).last == "sallyport-audit:1")
    }

    @Test func kindsTellWhatIsNoFailure() throws {
        let log = try read(SARIFReport(selection: .all), sampleReport())
        #expect(
            log.results.map { "\($0["kind"] ?? "") \($0["level"] ?? "")" } == [
                "pass none", "fail error", "fail error", "pass none", "fail warning",
                "informational none", "pass none", "fail error", "open none", "pass none",
                "notApplicable none", "notApplicable none", "fail warning",
            ])
    }

    /// The same result elsewhere in the file, in a later run, is the same alert.
    @Test func fingerprintsAreOfProbeClientAndDestination() throws {
        let report = sampleReport()
        var moved = report
        moved.sources = [:]
        moved.results.reverse()
        let before = try read(SARIFReport(), report).results.map(fingerprint)
        let after = try read(SARIFReport(), moved).results.map(fingerprint)
        #expect(Set(before) == Set(after))
        #expect(Set(before).count == 3)
        // sha256("trust-self-signed|app|www.example.com:443")
        #expect(
            before.first == "e12297c7fbb0fc90449c49b001404d1fa6005944d45353003b4708ae33111efb")
    }

    @Test func bracesAreNoArguments() throws {
        let log = try read(SARIFReport(), sampleReport())
        let message = try #require(
            (log.results[0]["message"] as? [String: Any])?["text"] as? String)
        #expect(message.contains("\"{{0}}\""))
        #expect(message.hasSuffix("Fix: verify chains"))
    }

    private struct Log {
        let rules: [[String: Any]]
        let results: [[String: Any]]
    }

    private func read(_ form: SARIFReport, _ report: AuditReport) throws -> Log {
        let text = Data(form.document(report).document)
        let log = try #require(JSONSerialization.jsonObject(with: text) as? [String: Any])
        #expect(log["version"] as? String == "2.1.0")
        let run = try #require((log["runs"] as? [[String: Any]])?.first)
        let tool = try #require(run["tool"] as? [String: Any])
        let driver = try #require(tool["driver"] as? [String: Any])
        #expect(driver["name"] as? String == "Sallyport")
        return Log(
            rules: try #require(driver["rules"] as? [[String: Any]]),
            results: try #require(run["results"] as? [[String: Any]]))
    }

    private func check(rule: [String: Any]) throws {
        for key in ["shortDescription", "fullDescription", "help"] {
            let text = try #require((rule[key] as? [String: Any])?["text"] as? String)
            #expect(!text.isEmpty && text.unicodeScalars.count <= 1024)
        }
        let properties = try #require(rule["properties"] as? [String: Any])
        let tags = try #require(properties["tags"] as? [String])
        #expect(tags.contains("security") && tags.count <= 20)
        if let score = properties["security-severity"] {
            let number = try #require((score as? String).flatMap(Double.init))
            #expect(number > 0 && number <= 10)
        }
    }

    private func check(result: [String: Any], in log: Log) throws {
        let index = try #require(result["ruleIndex"] as? Int)
        #expect(log.rules[index]["id"] as? String == result["ruleId"] as? String)
        let uri = try place(result)
        #expect(!uri.isEmpty && uri.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        #expect(fingerprint(result).count == 64)
    }

    private func place(_ result: [String: Any]) throws -> String {
        let locations = try #require(result["locations"] as? [[String: Any]])
        let physical = try #require(locations.first?["physicalLocation"] as? [String: Any])
        let artifact = try #require(physical["artifactLocation"] as? [String: Any])
        let region = try #require(physical["region"] as? [String: Any])
        return "\(try #require(artifact["uri"] as? String)):\(region["startLine"] ?? "")"
    }

    private func fingerprint(_ result: [String: Any]) -> String {
        let fingerprints = result["partialFingerprints"] as? [String: String]
        return fingerprints?["primaryLocationLineHash"] ?? ""
    }
}
