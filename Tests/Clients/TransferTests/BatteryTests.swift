import Base
import Testing

@testable import Transfer

/// The downloads that go wrong in `sallyport audit --battery resume`, done by the service.
@Suite(.serialized) struct ResumeBatteryTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        /// What goes wrong for the first request, and for all others.
        var first = "cut:400000"
        var then = ""
        /// For requests of a part alone.
        var isOfParts = false
        /// The fault that makes what the server holds in the end.
        var held = ""
        var path = "/assets/7/1m"
        var query = ""
        /// `nil` where it can succeed.
        var failure: String?

        var testDescription: String { name }

        var scenario: String {
            func rule(_ name: String, _ faults: String, _ settings: String) -> String {
                guard !faults.isEmpty else { return "" }
                return "[rule]\nname = \(name)\npath = /assets/*\n\(settings)"
                    + faults.split(separator: "|").map { "fault = \($0)\n" }.joined()
            }
            return rule("first", first, "method = GET\nrange = no\nturn = first\n")
                + rule("then", then, isOfParts ? "range = yes\n" : "")
        }
    }

    static let rows = [
        Row(name: "sound", first: ""),
        Row(name: "good"),
        Row(name: "total-unknown", then: "range-star"),
        Row(name: "whole", then: "range-ignored"),
        Row(name: "whole-changed", then: "range-ignored|version:2", held: "version:2"),
        Row(name: "changed-tag", then: "version:2:etag", held: "version:2:etag"),
        Row(name: "changed-date", then: "version:2:date", held: "version:2:date"),
        Row(name: "changed-weak-tag", then: "version:2:weak", held: "version:2:weak"),
        Row(name: "changed-size", then: "version:2:bigger", held: "version:2:bigger"),
        Row(
            name: "shrunk", first: "cut:1000000", then: "version:2:smaller",
            held: "version:2:smaller"),
        Row(name: "part-early", then: "range-shift:-16"),
        Row(name: "part-late", then: "range-shift:+16"),
        Row(name: "part-unlabelled", then: "range-unlabelled"),
        Row(name: "part-gzip", then: "range-gzip|until-close", isOfParts: true),
        Row(name: "page", then: "range-page:200"),
        Row(name: "page-as-part", then: "range-page:206"),
        Row(name: "no-last-chunk", first: "no-last-chunk|cut:400000"),
        Row(name: "cut-until-close", first: "until-close|cut:400000", query: "?digest=repr"),
        Row(
            name: "flipped", first: "", then: "flip:500000:0", query: "?digest=repr",
            failure: "digest-mismatch"),
        Row(
            name: "flipped-digest", first: "", then: "flip:500000:0", query: "?digest=legacy",
            failure: "digest-mismatch"),
        // Held out of the battery.
        Row(name: "labelled as asked for, 16 bytes late", then: "range-lie:+16"),
        Row(name: "labelled as asked for, 16 bytes early", then: "range-lie:-16"),
        Row(name: "short parts", then: "range-short:1000"),
        Row(name: "long parts", then: "range-long:1000"),
        Row(name: "a wrong total", then: "range-total:+5"),
        Row(name: "416 of the same length", then: "416:1048576"),
        Row(name: "416 of what is there", then: "416:400000"),
        Row(name: "no digest, closed early", first: "until-close|cut:400000"),
        Row(name: "reset", first: "reset:400000"),
        Row(name: "nothing came", first: "cut:0"),
        Row(name: "no head came", first: "cut:head"),
        Row(name: "all but one byte", first: "cut:1048575"),
        Row(name: "redirected", path: "/faults/redirect:3/assets/7/1m"),
    ]

    @Test(arguments: rows)
    func isRightOrFails(_ row: Row) async throws {
        var laboratory = Laboratory()
        laboratory.scenario = row.scenario
        laboratory.heedsWishes = false
        // Some servers say that more comes than they have.
        laboratory.patience = 1000
        let (task, bytes) = try await laboratory.run { bench in
            let task = try await bench.fetch(row.path + row.query)
            return (task, task.state == .completed ? try bench.bytes() : [])
        }
        if let code = row.failure {
            guard case .failed(let failure) = task.state else {
                Issue.record("\(task.state)")
                return
            }
            #expect(failure.code == code)
        } else {
            #expect(task.state == .completed)
            #expect(bytes == (try await held("/assets/7/1m", row.held)))
        }
    }
}
