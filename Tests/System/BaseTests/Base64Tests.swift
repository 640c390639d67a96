import Testing

@testable import Base

struct Base64Tests {
    struct Row: CustomTestStringConvertible, Sendable {
        let plain: String
        let coded: String
        var testDescription: String { plain.isEmpty ? "nothing" : plain }
    }

    /// RFC 4648 §10.
    static let rows = [
        Row(plain: "", coded: ""), Row(plain: "f", coded: "Zg=="), Row(plain: "fo", coded: "Zm8="),
        Row(plain: "foo", coded: "Zm9v"), Row(plain: "foob", coded: "Zm9vYg=="),
        Row(plain: "fooba", coded: "Zm9vYmE="), Row(plain: "foobar", coded: "Zm9vYmFy"),
    ]

    @Test(arguments: rows)
    func followsTheSpecification(_ row: Row) {
        #expect(Base64.encode([UInt8](row.plain.utf8)) == row.coded)
        #expect(Base64.decode(row.coded.utf8) == [UInt8](row.plain.utf8))
        #expect(Base64.decode(row.coded.utf8.filter { $0 != 0x3D }) == [UInt8](row.plain.utf8))
    }

    @Test func readsBothAlphabets() {
        let bytes: [UInt8] = [0xFB, 0xEF, 0xFF]
        #expect(Base64.encode(bytes) == "++//")
        #expect(Base64.decode("++//".utf8) == bytes)
        #expect(Base64.decode("--__".utf8) == bytes)
    }

    @Test func roundTripsEveryLength() {
        var random = SeededGenerator(state: 11)
        for length in 0..<260 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(Base64.decode(Base64.encode(bytes).utf8) == bytes)
        }
    }

    static let refused = [
        "A", "AAAAA", "=", "==", "===", "====", "A===", "AA=", "AA===", "AAA==", "AAAA=", "AAAA==",
        "AAAA====", "AA=A", "AA==AAAA", "=AAA", "AA A", "AAAA\n", "AA\u{0}A", "AA.A", "AA,A",
        "né==",
    ]

    @Test(arguments: refused)
    func refuses(_ text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }
}
