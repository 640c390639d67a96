import Base
import Testing

@testable import Presentation
@testable import Views

struct ReplayClientReportTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var outcome = ReplayClientReport.Outcome.answered(status: 200, call: 0)
        /// Sent, to be sent, heard and recorded.
        var counts: [Int]?
        /// What it says of the difference; `nil` if there is none.
        let line: String?
        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(name: "the same", line: nil),
        Row(name: "all messages", counts: [2, 2, 3, 3], line: nil),
        Row(name: "more messages than recorded", counts: [2, 2, 4, 3], line: nil),
        Row(
            name: "fewer messages than recorded", counts: [2, 2, 1, 3],
            line: "\(was) is 200 with gRPC status 0; 1 of 3 messages came"),
        Row(
            name: "messages that were not sent", counts: [1, 2, 3, 3],
            line: "\(was) is 200 with gRPC status 0; 1 of 2 messages were sent"),
        Row(
            name: "another gRPC status", outcome: .answered(status: 200, call: 5),
            line: "\(was) is 200 with gRPC status 5"),
        Row(
            name: "no answer", outcome: .failed(code: "timed-out", detail: "a: timed out"),
            counts: [1, 2, 0, 3],
            line: "\(was) has no answer: a: timed out; 1 of 2 messages were sent"),
    ])
    func compares(_ row: Row) {
        var report = ReplayClientReport()
        report.note(
            .init(
                exchange: 1, method: "POST", url: "http://a/", recordedStatus: 200,
                recordedCall: 0, outcome: row.outcome,
                messages: row.counts.map {
                    .init(sent: $0[0], total: $0[1], heard: $0[2], recorded: $0[3])
                }))
        #expect(report.differences.map(\.line) == (row.line.map { [$0] } ?? []))
        #expect(report.sameCount == (row.line == nil ? 1 : 0))
        #expect((report.verdict == .same) == (row.line == nil))
    }

    @Test func showsNoSecretOfAURL() {
        let difference = ReplayClientReport.Difference(
            exchange: 3, method: "GET", url: "http://a.example/x?access_token=planted&page=1",
            recordedStatus: 200, recordedCall: nil,
            outcome: .answered(status: 500, call: nil), messages: nil)
        #expect(
            difference.line
                == "exchange 3: GET http://a.example/x?access_token=***&page=1 was 200 and is 500")
        #expect(!difference.json.line.text.contains("planted"))
    }

    private static let was = "exchange 1: POST http://a/ was 200 with gRPC status 0 and"
}
