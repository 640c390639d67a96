import Testing

@testable import Views

struct HexDumpTests {
    static let rowsRows: [(count: Int, text: String)] = [
        (count: 0, text: ""),
        (count: 3, text: "00000000  3e 3f 40" + String(repeating: " ", count: 42) + "|>?@|\n"),
        (
            count: 8,
            text: "00000000  3e 3f 40 41 42 43 44 45" + String(repeating: " ", count: 27)
                + "|>?@ABCDE|\n"
        ),
        (
            count: 18,
            text: "00000000  3e 3f 40 41 42 43 44 45  46 47 48 49 4a 4b 4c 4d  |>?@ABCDEFGHIJKLM|\n"
                + "00000010  4e 4f" + String(repeating: " ", count: 45) + "|NO|\n"
        ),
    ]

    @Test(arguments: rowsRows)
    func rows(_ row: (count: Int, text: String)) {
        #expect(HexDump.render((0..<row.count).map { UInt8(0x3E + $0) }) == row.text)
    }

    @Test func showsNoControlCharacters() {
        #expect(HexDump.render([0x1B, 0x7F, 0x20, 0x80]).contains("|.. .|"))
    }
}
