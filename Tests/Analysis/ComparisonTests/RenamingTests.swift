import Testing

@testable import Comparison

/// When two texts are the same but for what was made up.
struct RenamingTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let left: String
        let right: String
        let agrees: Bool
        var isID = false
        var testDescription: String { "\(left), \(right)" }
    }

    /// `first1` and `second` stand for `uno11111` and `dos`, 17 for 41 and 410 where an id stands.
    static let rows = [
        Row(left: "first1", right: "uno11111", agrees: true),
        Row(left: "a=first1; b=second;", right: "a=uno11111; b=dos;", agrees: true),
        Row(left: "a=first1; b=second;", right: "a=dos; b=uno11111;", agrees: false),
        Row(left: "first1", right: "first1", agrees: true),
        Row(left: "first12", right: "uno111112", agrees: false),
        Row(left: "xfirst1", right: "xuno11111", agrees: false),
        Row(left: "first1 total 5", right: "uno11111 total 6", agrees: false),
        Row(left: "first1", right: "", agrees: false),
        Row(left: "17", right: "41", agrees: false),
        Row(left: "17", right: "41", agrees: true, isID: true),
        Row(left: "\"17\"", right: "\"410\"", agrees: true, isID: true),
        Row(left: "17", right: "42", agrees: false, isID: true),
        Row(left: "/orders/17/x", right: "/orders/41/x", agrees: true),
        Row(left: "/orders/17", right: "/orders/410", agrees: true),
        Row(left: "/orders/170", right: "/orders/410", agrees: false),
        Row(left: "https://a.test/o/17", right: "http://b.test:81/o/41", agrees: true),
        Row(left: "a.test", right: "b.test:81", agrees: true),
        Row(left: "https://a.test.evil/", right: "http://b.test:81/", agrees: false),
        Row(left: "https://c.test/", right: "http://b.test:81/", agrees: false),
    ]

    @Test(arguments: rows) func tellsWhatStandsForWhat(_ row: Row) {
        var renaming = Renaming()
        let values = [("first1", "uno11111"), ("second", "dos"), ("same", "same")]
        for (left, right) in values {
            renaming.add(Array(left.utf8), Array(right.utf8), isShort: false)
        }
        for right in ["41", "410"] {
            renaming.add(Array("17".utf8), Array(right.utf8), isShort: true)
        }
        let pair = renaming.between(("https://a.test", "a.test"), ("http://b.test:81", "b.test:81"))
        #expect(
            pair.agree(Array(row.left.utf8), Array(row.right.utf8), isID: row.isID) == row.agrees)
    }

    /// Several that have become one are a difference.
    @Test func oneStandsForOne() {
        var renaming = Renaming()
        renaming.add(Array("first1".utf8), Array("0000000".utf8), isShort: false)
        renaming.add(Array("second".utf8), Array("0000000".utf8), isShort: false)
        #expect(renaming.agree(Array("first1".utf8), Array("0000000".utf8)))
        #expect(!renaming.agree(Array("second".utf8), Array("0000000".utf8)))
    }

    /// What a capture holds must not make it slow.
    @Test func takesFewSteps() {
        var renaming = Renaming()
        for length in 1...5000 {
            let left = [UInt8](repeating: UInt8(ascii: "-"), count: length)
            renaming.add(left, left + [1], isShort: false)
        }
        let text = [UInt8](repeating: UInt8(ascii: "-"), count: 1 << 16)
        #expect(!renaming.agree(text + [2], text + [3]))
    }
}
