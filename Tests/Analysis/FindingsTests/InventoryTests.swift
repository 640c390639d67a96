import Base
import Testing
import Traffic

@testable import Findings

@Suite struct InventoryTests {
    @Test func countsEverything() {
        let report = FindingsLaboratory.run([
            .post(#"{"a":1}"#, "application/json", to: "a.one.test"),
            Sample(
                scheme: .https, host: "b.one.test", responseHeaders: ["Content-Type: text/html"],
                responseBody: Array("<p>hello".utf8)),
            Sample(
                scheme: .https, host: "two.test", responseHeaders: ["Content-Type: image/png"],
                responseBody: [UInt8](repeating: 1, count: 2000)),
            Sample(host: "two.test:443", method: "CONNECT", target: "two.test:443"),
        ])
        let inventory = report.inventory
        #expect(inventory.total.exchanges == 3)
        #expect(inventory.largestServices.map(\.service.text) == ["two.test", "one.test"])
        #expect(inventory.services.values.map(\.exchanges).sorted() == [1, 2])
        #expect(inventory.kinds.mapValues(\.responseBytes) == [.json: 0, .html: 8, .image: 2000])
        #expect(inventory.kinds[.json]?.requestBytes == 7)
        #expect(inventory.total.clearExchanges == 1)
        let text = FindingsText.render(report, color: false)
        #expect(
            text.contains("inventory: 2 services, 1.9k received, 7 sent; most by two.test, 1.9k"))
        let json = FindingsJSON.document(report).line.text
        #expect(json.contains(#""types":[{"type":"json","exchanges":1,"clearExchanges":1,"#))
    }

    @Test func boundsServices() {
        let report = FindingsLaboratory.run((0..<1100).map { Sample(host: "a.h\($0).test\($0)") })
        #expect(report.inventory.services.count == 1025)
        #expect(report.inventory.total.exchanges == 1100)
    }
}
