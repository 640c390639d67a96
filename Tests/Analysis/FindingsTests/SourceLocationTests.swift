import Testing

@testable import Findings

@Suite struct SourceLocationTests {
    static let rows: [(String, String, Int64)] = [
        ("Sources/App/API.swift:42", "Sources/App/API.swift", 42),
        ("Sources/App/API.swift", "Sources/App/API.swift", 1),
        ("./a/b.py:7", "a/b.py", 7),
        ("My App/ä.swift:3", "My%20App/%C3%A4.swift", 3),
        ("a:b:9", "a%3Ab", 9),
        ("a:0", "a%3A0", 1),
        ("a:-5", "a%3A-5", 1),
        ("a:99999999999", "a%3A99999999999", 1),
        ("/abs/file:2", "file:///abs/file", 2),
        ("100%?#.txt", "100%25%3F%23.txt", 1),
        (#"C:\x.c:5"#, "C%3A%5Cx.c", 5),
        ("", "", 1),
    ]

    @Test(arguments: rows)
    func reads(row: (text: String, uri: String, line: Int64)) {
        let location = SourceLocation(row.text)
        #expect(location.uri == row.uri)
        #expect(location.line == row.line)
    }
}
