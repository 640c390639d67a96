import Base
import Testing

@testable import Commands

struct ReplayClientReportTests {
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
}
