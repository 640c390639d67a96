import Testing

@testable import Contents

struct JSONTokenizerTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let text: String
        /// Each token, with `'` where it is plain and `!` where it is odd; then how it ended.
        let tokens: String
        var isSequence = false

        init(_ name: String, _ text: String, _ tokens: String, isSequence: Bool = false) {
            (testDescription, self.text, self.tokens) = (name, text, tokens)
            self.isSequence = isSequence
        }
    }

    static let rows = [
        Row("an object", #" {"a" : [ true,null ] } "#, "{ a': [ true' null' ] } whole"),
        Row(
            "strings", #"["x","é","\n","\ud83d\ude00","\ud83dx"]"#,
            #"[ x' é \n! \ud83d\ude00! \ud83dx! ] whole"#),
        Row("numbers", "[0,-0,1.5,1.50,1e0,01,1-,12]", "[ 0' -0 1.5' 1.50 1e0 01! 1-! 12' ] whole"),
        Row("a mark", "\u{FEFF}1", "1' whole"),
        Row("two values", "[] []", "[ ] unexpected byte at 3"),
        Row("a row", "[] {}\n\u{1E}7", "[ ] { } 7' whole", isSequence: true),
        Row("a guarded row", ")]}',\n[]", "[ ] whole", isSequence: true),
        Row("a guard alone", ")]}'", "open", isSequence: true),
        Row("other signs", ")]", "unexpected byte at 0", isSequence: true),
        Row("a wrong end", "[{]", "[ { unexpected byte at 2"),
        Row("a comma too many", "[1,]", "[ 1' unexpected byte at 3"),
        Row("no colon", #"{"a"1}"#, "{ a': unexpected byte at 4"),
        Row("no comma", "[1 2]", "[ 1' unexpected byte at 3"),
        Row("an unknown escape", #""\x""#, "malformed escape at 1"),
        Row("a short escape", #""\u12g4""#, "malformed escape at 1"),
        Row("a control", "\"a\u{1}\"", "control character in a string at 2"),
        Row("no word", "[nul]", "[ neither a number nor a word of JSON at 1"),
        Row("too deep", String(repeating: "[", count: 9), "[ [ [ [ [ [ [ [ nested too deep at 8"),
        Row("nothing", " ", "open"),
    ]

    @Test(arguments: rows)
    func readsWhole(_ row: Row) {
        #expect(read(row, [Array(row.text.utf8)]) == row.tokens)
    }

    @Test(arguments: rows)
    func readsByteByByte(_ row: Row) {
        #expect(read(row, row.text.utf8.map { [$0] }) == row.tokens)
    }

    @Test(arguments: rows)
    func readsCutAnywhere(_ row: Row) {
        let bytes = Array(row.text.utf8)
        for cut in 0...bytes.count {
            #expect(read(row, [Array(bytes[..<cut]), Array(bytes[cut...])]) == row.tokens)
        }
    }

    /// More than one word of the levels' bits.
    @Test func knowsEachLevelAgain() throws {
        let text = Array(
            (String(repeating: #"[{"":"#, count: 200) + "1" + String(repeating: "}]", count: 200))
                .utf8)
        var tokens = JSONTokenizer(depthLimit: 400)
        while try tokens.next(in: text.span) != nil {}
        #expect(tokens.isComplete)
    }

    @Test(arguments: [
        ("{", true), (" \n[1]", true), ("\u{FEFF}{}", true), ("\u{1E}{}", true), ("1", false),
        ("\"{\"", false), ("\u{E9}{", false), ("", false),
    ])
    func knowsHowJSONBegins(_ text: String, _ mayBegin: Bool) {
        #expect(JSONTokenizer.mayBegin(Array(text.utf8)[...]) == mayBegin)
    }

    private func read(_ row: Row, _ pieces: [[UInt8]]) -> String {
        var tokens = JSONTokenizer(depthLimit: 8, isSequence: row.isSequence, isFinal: false)
        var shown: [String] = []
        var (bytes, passed) = ([UInt8](), 0)
        var open: (bytes: [UInt8], spelling: JSONToken.Spelling) = ([], .plain)
        do throws(JSONViolation) {
            for (index, piece) in (pieces + [[]]).enumerated() {
                passed += tokens.position
                bytes = bytes[tokens.position...] + piece
                tokens.rebase()
                if index == pieces.count { tokens.isFinal = true }
                while let token = try tokens.next(in: bytes.span) {
                    open.bytes += bytes[token.content]
                    if open.spelling != .odd, token.spelling != .plain {
                        open.spelling = token.spelling
                    }
                    guard token.isWhole else { continue }
                    let text = String(decoding: open.bytes, as: UTF8.self)
                    shown.append(text + mark(token, open.spelling))
                    open = ([], .plain)
                }
            }
            shown.append(tokens.isComplete ? "whole" : "open")
        } catch {
            shown.append("\(error.kind.rawValue) at \(passed + Int(error.offset))")
        }
        return shown.joined(separator: " ")
    }

    private func mark(_ token: JSONToken, _ spelling: JSONToken.Spelling) -> String {
        switch token.kind {
        case .beginObject, .endObject, .beginArray, .endArray: return ""
        default: break
        }
        let mark = spelling == .plain ? "'" : spelling == .odd ? "!" : ""
        return mark + (token.kind == .name ? ":" : "")
    }
}
