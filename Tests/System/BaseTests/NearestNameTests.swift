import Testing

@testable import Base

struct NearestNameTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let word: String
        let nearest: String?
        var testDescription: String { word }
    }

    static let findsRows: [Row] = [
        Row(word: "lisen", nearest: "listen"),
        Row(word: "lsiten", nearest: "listen"),
        Row(word: "LISTEN", nearest: "listen"),
        Row(word: "listens", nearest: "listen"),
        Row(word: "list", nearest: "listen"),
        Row(word: "jso", nearest: "json"),
        Row(word: "x", nearest: nil),
        Row(word: "", nearest: nil),
        Row(word: "completely-else", nearest: nil),
    ]

    @Test(arguments: findsRows)
    func finds(_ row: Row) {
        #expect(NearestName.find(row.word, among: ["capture", "listen", "json"]) == row.nearest)
    }

    @Test func aPastedTextCostsLittle() {
        let text = String(repeating: "x", count: 1_000_000)
        #expect(NearestName.find(text, among: [text + "y"]) != nil)
        #expect(NearestName.distance("", "abc") == 3)
        #expect(NearestName.distance("abc", "") == 3)
        #expect(NearestName.distance("ab", "ba") == 1)
    }
}
