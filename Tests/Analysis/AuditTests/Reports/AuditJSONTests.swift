import Base
import Foundation
import Testing

@testable import Audit

@Suite struct AuditJSONTests {
    @Test func saysAllOfAResult() throws {
        let read = try #require(
            JSONSerialization.jsonObject(with: Data(AuditJSON.document(sampleReport()).document))
                as? [String: Any])
        #expect(read["schema"] as? String == "sallyport.audit/1")
        #expect(read["verdict"] as? String == "failed")
        #expect(read["durationMs"] as? Double == 12500)
        let counts = try #require(read["counts"] as? [String: Int])
        #expect(counts["fail"] == 3 && counts["skipped"] == 2 && counts.count == 6)
        let diagnosis = try #require(read["diagnosis"] as? [[String: Any]])
        #expect(
            diagnosis.map { $0["mistake"] as? String } == [
                "self-signed", "weak-certificate", "sends-before-verifying",
            ])
        let results = try #require(read["results"] as? [[String: Any]])
        #expect(results.count == 13)
        #expect(Set(results.map(\.count)) == [23])
        let failed = results[1]
        #expect(failed["outcome"] as? String == "accepted")
        #expect(failed["cwe"] as? [Int] == [295])
        #expect(failed["masvs"] as? [String] == ["MASVS-NETWORK-1"])
        #expect(failed["connections"] as? [Int] == [3, 4])
        #expect(failed["exitStatus"] as? Int == 0)
        #expect(failed["alert"] is NSNull)
        #expect(results[2]["impliedBy"] as? String == "trust-self-signed")
        let alert = try #require(results[3]["alert"] as? [String: Any])
        #expect(alert["code"] as? Int == 42 && alert["name"] as? String == "bad_certificate")
    }
}
