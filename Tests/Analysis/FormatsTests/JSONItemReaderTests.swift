import Base
import Contents
import Testing

@testable import Formats

struct JSONItemReaderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        /// `path=value` of each item.
        let items: [String]
        var violation: JSONViolation?
        var testDescription: String { name }

        init(
            _ name: String, _ text: String, _ items: [String], _ violation: JSONViolation? = nil
        ) {
            self.name = name
            self.text = text
            self.items = items
            self.violation = violation
        }
    }

    static let rows = [
        Row(
            "scalars", #"{"a":1,"b":"x","c":true,"d":null,"e":false}"#,
            ["a=1", "b=x", "c=true", "d=null", "e=false"]),
        Row(
            "walked arrays", #"{"log":{"list":[1,{"a":[]},"z"],"other":[2]}}"#,
            ["log.list[]=1", "log.list[]={a:[]}", "log.list[]=z", "log.other=[2]"]),
        Row("mark and space", "\u{FEFF} \r\n\t{ \"a\" : [ 1 , 2 ] } \n", ["a=[1,2]"]),
        Row(
            "escapes", #"{"a":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}"#,
            ["a=\"\\/\u{8}\u{C}\n\r\t\u{E9}\u{1F600}"]),
        Row(
            "half of a pair", #"{"a":"\ud83dx","b":"\ud83d","c":"\ude00","d":"\ud83d\n"}"#,
            ["a=\u{FFFD}x", "b=\u{FFFD}", "c=\u{FFFD}", "d=\u{FFFD}\n"]),
        Row("numbers", #"{"a":-0.5e+3,"b":0,"c":12E9}"#, ["a=-0.5e+3", "b=0", "c=12E9"]),
        Row("long string", #"{"a":"0123456789abcdef","b":"short"}"#, ["a=EXCESS", "b=short"]),
        Row("many values", #"{"a":[1,2,3,4,5,6,7,8,9]}"#, ["a=[1,2,3,4,5,EXCESS]"]),
        Row("empty", "", [], JSONViolation(kind: .ended, offset: 0)),
        Row("cut", #"{"a":1,"b":"#, ["a=1"], JSONViolation(kind: .ended, offset: 11)),
        Row("cut in a string", #"{"a":1,"b":"x"#, ["a=1"], JSONViolation(kind: .ended, offset: 13)),
        Row("cut in an escape", #"{"a":"\u00"#, [], JSONViolation(kind: .ended, offset: 10)),
        Row(
            "comma at the end", #"{"a":1,}"#, ["a=1"],
            JSONViolation(kind: .unexpectedByte, offset: 7)),
        Row(
            "two values", #"{"a":1} x"#, ["a=1"],
            JSONViolation(kind: .unexpectedByte, offset: 8)),
        Row(
            "wrong end", #"{"log":{"list":[1}}"#, ["log.list[]=1"],
            JSONViolation(kind: .unexpectedByte, offset: 17)),
        Row("a number that some write", #"{"a":01}"#, ["a=01"]),
        Row("no number", #"{"a":1-2}"#, [], JSONViolation(kind: .badScalar, offset: 5)),
        Row("no word", #"{"a":nul}"#, [], JSONViolation(kind: .badScalar, offset: 5)),
        Row("bad escape", #"{"a":"\x"}"#, [], JSONViolation(kind: .badEscape, offset: 6)),
        Row("bad digits", #"{"a":"\u12g4"}"#, [], JSONViolation(kind: .badEscape, offset: 6)),
        Row(
            "control", "{\"a\":\"x\ny\"}", [],
            JSONViolation(kind: .controlCharacter, offset: 7)),
        Row(
            "deep", #"{"a":"# + String(repeating: "[", count: 200), [],
            JSONViolation(kind: .tooDeep, offset: 132)),
    ]

    @Test(arguments: rows)
    func readsWhole(_ row: Row) {
        expect(row, [Array(row.text.utf8)])
    }

    @Test(arguments: rows)
    func readsByteByByte(_ row: Row) {
        expect(row, row.text.utf8.map { [$0] })
    }

    @Test(arguments: rows)
    func readsCutAnywhere(_ row: Row) {
        let bytes = Array(row.text.utf8)
        for cut in 0...bytes.count {
            expect(row, [Array(bytes[..<cut]), Array(bytes[cut...])])
        }
    }

    private func expect(_ row: Row, _ pieces: [[UInt8]]) {
        var reader = JSONItemReader(
            walking: ["", "log", "log.list"], stringByteLimit: 15, nodeLimit: 6)
        var items: [String] = []
        var violation: JSONViolation?
        do throws(JSONViolation) {
            for piece in pieces {
                reader.append(piece)
                while let item = try reader.next() { items.append(text(item)) }
            }
            reader.finish()
            while let item = try reader.next() { items.append(text(item)) }
        } catch {
            violation = error
        }
        #expect(items == row.items)
        #expect(violation == row.violation)
    }

    private func text(_ item: JSONItemReader.Item) -> String {
        "\(item.path)=\(text(item.value))"
    }

    private func text(_ node: JSONNode) -> String {
        switch node {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .number(let bytes), .string(let bytes): bytes.text
        case .array(let elements): "[\(elements.map(text).joined(separator: ","))]"
        case .object(let members):
            "{\(members.map { "\($0.name):\(text($0.value))" }.joined(separator: ","))}"
        case .excess: "EXCESS"
        }
    }
}
