import Base
import OutputCollector
import Presentation
import Terminal
import Testing
import Traffic

@testable import Commands

struct LiveLogTests {
    private let plain = LiveLog(for: Collector().stream(), .plain)

    @Test func aLineAnExchange() {
        let lines = SampleCapture.source().exchangeRecords.map { plain.line(for: $0) }
        #expect(
            lines == [
                "07:05:01.270 200 GET https://api.example.com/v1/items?page=2&access_token=*** 29 34ms",
                "07:05:02.160 302 POST http://***@shop.example/login?next=%2Fcart 0 1.2s",
                "07:05:02.200 404 GET https://api.example.com:8443/logo.png 4.8k 0.9ms",
                "07:05:02.750 --- DELETE https://api.example.com/v1/items/7 0 1m01s origin-closed",
                "07:05:02.850 500 GET http://shop.example/\\u{1b}[2J/漢字漢字漢字漢字漢字漢字漢字漢字"
                    + "/and/a/path/that/is/longer/than/a/line 13 5ms",
                "07:05:02.950 200 GET https://api.example.com/coded 18 -",
            ])
    }

    /// A call of gRPC fails with a status of 200, in the trailers or in a head that is all of them.
    @Test func namesHowACallFailed() {
        let calls = SampleCalls.source().exchangeRecords
        let line = "07:05:01.250 200 POST https://api.example.com/shop.Cart/Get 0 20ms"
        let failed = "\(line) grpc 14 UNAVAILABLE"
        let lines = calls.map { plain.line(for: $0) }
        #expect(lines == [line, failed, failed])
        let log = LiveLog(for: Collector().stream(100), Palette(isColoured: true))
        let isRed = calls.map { call in
            log.line(for: call).hasSuffix("\u{1B}[31m 0 20ms grpc 14 UNAVAILABLE\u{1B}[0m")
        }
        #expect(isRed == [false, true, true])
    }

    @Test func aLineAConnectionThatCameToNothing() {
        let lines = SampleCapture.source().connectionRecords.map { plain.line(for: $0) }
        #expect(
            lines == [
                nil,
                "07:05:01.750 --- client-refused pinned.example.com:8443"
                    + " client refused the certificate (unknown_ca): it does not trust the CA",
                nil,
                "07:05:02.250 --- origin-unreachable gone.example:443 no address for gone.example",
                nil,
            ])
    }

    @Test func fitsTheTerminal() {
        let log = LiveLog(for: Collector().stream(72), .plain)
        let source = SampleCapture.source()
        for exchange in source.exchangeRecords {
            #expect(TerminalText.width(log.line(for: exchange)) <= 72)
        }
        #expect(
            log.line(for: source.exchangeRecords[4])
                == "07:05:02.850 500 GET http://shop.example/\\u{1b}[2J/漢字漢字漢字… 13 5ms")
    }

    @Test func coloursOnATerminal() {
        let log = LiveLog(for: Collector().stream(100), Palette(isColoured: true))
        let source = SampleCapture.source()
        #expect(
            log.line(for: source.exchangeRecords[3])
                == "\u{1B}[2m07:05:02.750\u{1B}[0m \u{1B}[31m---\u{1B}[0m DELETE"
                + " https://api.example.com/v1/items/7\u{1B}[31m 0 1m01s origin-closed\u{1B}[0m")
        #expect(
            log.line(for: source.connectionRecords[3])
                == "\u{1B}[2m07:05:02.250\u{1B}[0m --- \u{1B}[31morigin-unreachable\u{1B}[0m"
                + " gone.example:443 no address for gone.example")
    }
}
