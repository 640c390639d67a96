import Base
import Testing

@testable import Formats

struct TnetstringTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let text: String
        let value: TnetstringValue
        var testDescription: String { name }

        init(_ name: String, _ text: String, _ value: TnetstringValue) {
            self.name = name
            self.text = text
            self.value = value
        }
    }

    static let rows = [
        Row("bytes", "11:hello world,", .bytes(Array("hello world".utf8))),
        Row("no bytes", "0:,", .bytes([])),
        Row("text", "5:caf\u{E9};", .string(Array("caf\u{E9}".utf8))),
        Row("integer", "5:12345#", .integer(12345)),
        Row("negative", "2:-7#", .integer(-7)),
        Row("beyond 64 bits", "20:99999999999999999999#", .float(1e20)),
        Row("float", "17:1693314200.327654^", .float(1_693_314_200.327654)),
        Row("exponent", "5:1e+16^", .float(1e16)),
        Row("infinity", "3:inf^", .float(.infinity)),
        Row("true", "4:true!", .boolean(true)),
        Row("false", "5:false!", .boolean(false)),
        Row("null", "0:~", .null),
        Row(
            "list", "19:5:12345#4:true!1:0#]",
            .list([.integer(12345), .boolean(true), .integer(0)])),
        Row("no elements", "0:]", .list([])),
        Row(
            "dictionary", "19:1:a;1:1#1:b,4:1:x;]}",
            .dictionary([
                .init(name: "a", value: .integer(1)),
                .init(name: "b", value: .list([.string([0x78])])),
            ])),
        Row("no members", "0:}", .dictionary([])),
    ]

    @Test(arguments: rows) func readsWhole(_ row: Row) throws {
        var reader = TnetstringReader(itemByteLimit: 1000)
        reader.append(Array("0:~\(row.text)0:~".utf8))
        reader.finish()
        #expect(try reader.next()?.value == .null)
        let item = try #require(try reader.next())
        #expect(item == .init(value: row.value, offset: 3))
        #expect(try reader.next()?.value == .null)
        #expect(try reader.next() == nil)
        #expect(reader.offset == Int64(row.text.utf8.count + 6))
    }

    @Test(arguments: rows) func readsByteByByte(_ row: Row) throws {
        var reader = TnetstringReader(itemByteLimit: 1000)
        var found: [TnetstringValue?] = []
        for byte in row.text.utf8 {
            reader.append([byte])
            while let item = try reader.next() { found.append(item.value) }
        }
        reader.finish()
        #expect(try reader.next() == nil)
        #expect(found == [row.value])
    }

    /// What came before the cut is there, and the violation says where it was.
    @Test(arguments: rows) func tellsWhereItWasCut(_ row: Row) throws {
        let bytes = Array(("4:true!" + row.text).utf8)
        for cut in 0..<bytes.count {
            var reader = TnetstringReader(itemByteLimit: 1000)
            reader.append(Array(bytes[..<cut]))
            reader.finish()
            if cut == 0 || cut == 7 {
                if cut == 7 { #expect(try reader.next()?.value == .boolean(true)) }
                #expect(try reader.next() == nil)
                continue
            }
            if cut > 7 { #expect(try reader.next()?.value == .boolean(true)) }
            let violation = #expect(throws: TnetstringViolation.self) { try reader.next() }
            #expect(violation == .init(kind: .ended, offset: Int64(cut)))
        }
    }

    @Test(arguments: rows) func passesOverWhatIsTooLong(_ row: Row) throws {
        let limit = 4
        guard row.text.utf8.count > limit else { return }
        for piece in 1...row.text.utf8.count {
            var reader = TnetstringReader(itemByteLimit: limit)
            var found: [TnetstringReader.Item] = []
            let bytes = Array((row.text + "1:5#").utf8)
            for start in stride(from: 0, to: bytes.count, by: piece) {
                reader.append(Array(bytes[start..<min(start + piece, bytes.count)]))
                while let item = try reader.next() { found.append(item) }
            }
            reader.finish()
            #expect(try reader.next() == nil)
            #expect(
                found == [
                    .init(value: nil, offset: 0),
                    .init(value: .integer(5), offset: Int64(row.text.utf8.count)),
                ])
        }
    }

    struct BadRow: CustomTestStringConvertible, Sendable {
        let text: String
        let kind: TnetstringViolation.Kind
        let offset: Int64
        var testDescription: String { text }

        init(_ text: String, _ kind: TnetstringViolation.Kind, _ offset: Int64) {
            (self.text, self.kind, self.offset) = (text, kind, offset)
        }
    }

    static let badRows = [
        BadRow("x", .badLength, 0),
        BadRow(":,", .badLength, 0),
        BadRow("5x", .badLength, 1),
        BadRow("-1:,", .badLength, 0),
        BadRow("01:a,", .badLength, 1),
        BadRow("1234567890123:", .badLength, 12),
        BadRow("1:a?", .badType, 3),
        BadRow("1:a#", .badScalar, 2),
        BadRow("0:#", .badScalar, 2),
        BadRow("1:a^", .badScalar, 2),
        BadRow("1:a!", .badScalar, 2),
        BadRow("1:a~", .badScalar, 2),
        BadRow("1:5]", .badLength, 3),
        BadRow("4:9:a,]", .overrun, 2),
        BadRow("4:1:a]", .ended, 6),
        BadRow("3:1:a]]", .overrun, 2),
        BadRow("4:1:a;}", .badLength, 6),
        BadRow("7:0:]0:~}", .ended, 9),
        BadRow("6:0:]0:~}", .badKey, 2),
        BadRow("6:0:~0:?]", .badType, 7),
    ]

    @Test(arguments: badRows) func tellsWhatIsWrong(_ row: BadRow) {
        var reader = TnetstringReader(itemByteLimit: 1000)
        reader.append(Array(row.text.utf8))
        reader.finish()
        let violation = #expect(throws: TnetstringViolation.self) { try reader.next() }
        #expect(violation == .init(kind: row.kind, offset: row.offset))
    }

    @Test func boundsDepthAndCount() {
        var deep = "0:]"
        for _ in 0..<50 { deep = "\(deep.utf8.count):\(deep)]" }
        expect(deep, .tooDeep, nodeLimit: 1000)
        let wide = String(repeating: "0:~", count: 200)
        expect("600:\(wide)]", .tooMany, nodeLimit: 100)
    }

    private func expect(_ text: String, _ kind: TnetstringViolation.Kind, nodeLimit: Int) {
        var reader = TnetstringReader(itemByteLimit: 10_000, nodeLimit: nodeLimit)
        reader.append(Array(text.utf8))
        #expect(throws: TnetstringViolation.self) { try reader.next() }
    }

    @Test func writesWhatItReads() throws {
        let content = TnetstringText.Stream(type: ",", size: 5) { take in
            try take([1, 2])
            try take([3, 4, 5])
        }
        let text = TnetstringText.dictionary([
            ("n", .null), ("b", .list([.boolean(true), .boolean(false)])), ("i", .integer(-5)),
            ("f", .float(1_773_039_901.250007)), ("e", .float(1e16)), ("c", .stream(content)),
            ("s", .string("caf\u{E9}")), ("o", .optional(nil)), ("x", .bytes([0xFF])),
        ])
        var bytes: [UInt8] = []
        var pieces: [[UInt8]] = []
        var writer = TnetstringWriter { pieces.append($0) }
        try writer.write(text)
        try writer.flush()
        bytes = pieces.flatMap(\.self)
        #expect(bytes.count == text.size)
        var reader = TnetstringReader(itemByteLimit: 1000)
        reader.append(bytes)
        let value = try #require(try reader.next()?.value)
        #expect(value["n"] == nil)
        #expect(value["b"]?.elements == [.boolean(true), .boolean(false)])
        #expect(value["i"]?.integer == -5)
        #expect(value["f"]?.moment?.microseconds == 1_773_039_901_250_007)
        #expect(value["e"] == .float(1e16))
        #expect(value["c"] == .bytes([1, 2, 3, 4, 5]))
        #expect(value["s"]?.text == "caf\u{E9}")
        #expect(value["x"] == .bytes([0xFF]))
        #expect(value.members.count == 9)
    }
}
