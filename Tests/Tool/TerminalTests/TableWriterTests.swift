import Base
import OutputCollector
import Testing

@testable import Terminal

struct TableWriterTests {
    private static let columns = [
        TableWriter.Column(title: "id", isRight: true),
        TableWriter.Column(title: "url", isFlexible: true),
        TableWriter.Column(title: "size", isRight: true),
        TableWriter.Column(title: "error"),
    ]

    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let terminal: Int?
        let cells: [[String]]
        let lines: [String]
        var testDescription: String { name }
    }

    static let rows = [
        Row(name: "no rows", terminal: nil, cells: [], lines: []),
        Row(
            name: "aligned", terminal: nil,
            cells: [["1", "a", "10", ""], ["22", "bcde", "3", "x"]],
            lines: [
                "id  url   size  error",
                " 1  a       10",
                "22  bcde     3  x",
            ]),
        Row(
            name: "wide characters", terminal: nil,
            cells: [
                ["1", "漢字", "1", "x"], ["2", "abcde", "2", "y"], ["3", "e\u{301}😀", "3", "z"],
            ],
            lines: [
                "id  url    size  error",
                " 1  漢字      1  x",
                " 2  abcde     2  y",
                " 3  e\u{301}😀       3  z",
            ]),
        Row(
            name: "cut to the terminal", terminal: 40,
            cells: [["1", "https://example.com/a/long/path", "10", "bad"]],
            lines: [
                "id  url                      size  error",
                " 1  https://exa…a/long/path    10  bad",
            ]),
        Row(
            name: "wide characters cut", terminal: 40,
            cells: [["1", "https://漢字.example/漢字漢字", "10", "bad"], ["2", "x", "1", "bad"]],
            lines: [
                "id  url                      size  error",
                " 1  https://漢…le/漢字漢字     10  bad",
                " 2  x                           1  bad",
            ]),
        Row(
            name: "narrow terminal keeps some", terminal: 10,
            cells: [["1", "https://example.com/a/long/path", "10", ""]],
            lines: [
                "id  url                   size  error",
                " 1  https://ex…long/path    10",
            ]),
        Row(
            name: "of a URL the query goes first", terminal: 40,
            cells: [["1", "https://a.example/path?session=1&x=2", "10", "bad"]],
            lines: [
                "id  url                      size  error",
                " 1  https://a.example/path…    10  bad",
            ]),
        Row(
            name: "never cut in a file", terminal: nil,
            cells: [["1", String(repeating: "u", count: 70), "1", "x"], ["2", "v", "1", ""]],
            lines: [
                "id  url" + String(repeating: " ", count: 59) + "size  error",
                " 1  " + String(repeating: "u", count: 70) + "     1  x",
                " 2  v" + String(repeating: " ", count: 64) + "1",
            ]),
        Row(
            name: "hostile text", terminal: nil, cells: [["1", "a\u{1B}[2J\nb", "1", "\r"]],
            lines: [
                "id  url               size  error",
                " 1  a\\u{1b}[2J\\u{a}b     1  \\u{d}",
            ]),
    ]

    @Test(arguments: rows)
    func lines(_ row: Row) throws {
        let collector = Collector()
        var table = TableWriter(
            Self.columns, to: collector.stream(row.terminal), palette: .plain)
        for cells in row.cells { try table.append(cells.map { TableWriter.Cell($0) }) }
        try table.finish()
        #expect(collector.text == row.lines.map { $0 + "\n" }.joined())
    }

    @Test(arguments: [
        (80, "a  b  url                                               c"),
        (46, "a  url                                       c"),
        (10, "a  url                   c"),
    ])
    func columnsOfTheHighestRankGoFirst(_ width: Int, _ header: String) throws {
        let collector = Collector()
        let columns = [
            TableWriter.Column(title: "a"), TableWriter.Column(title: "b", rank: 2),
            TableWriter.Column(title: "url", isFlexible: true), TableWriter.Column(title: "c"),
        ]
        var table = TableWriter(columns, to: collector.stream(width), palette: .plain)
        let url = String(repeating: "u", count: 48)
        try table.append(["1", "2", url, "3"].map { TableWriter.Cell($0) })
        try table.finish()
        #expect(collector.text.split(separator: "\n").first.map(String.init) == header)
    }

    @Test func coloursDoNotMoveColumns() throws {
        let collector = Collector()
        var table = TableWriter(
            Array(Self.columns.prefix(3)), to: collector.stream(80),
            palette: Palette(isColoured: true))
        try table.append(
            [TableWriter.Cell("1", .red), TableWriter.Cell("a"), TableWriter.Cell("2", .bold)],
            note: TableWriter.Cell("why", .yellow))
        try table.finish()
        #expect(
            collector.text == """
                \u{1B}[2mid\u{1B}[0m  \u{1B}[2murl\u{1B}[0m  \u{1B}[2msize\u{1B}[0m
                 \u{1B}[31m1\u{1B}[0m  a       \u{1B}[1m2\u{1B}[0m
                    \u{1B}[33mwhy\u{1B}[0m

                """)
    }

    /// A batch has 500 records, of which the header is none.
    @Test func alignsABatch() throws {
        let collector = Collector()
        var table = TableWriter(Self.columns, to: collector.stream(), palette: .plain)
        for id in 1...501 {
            let url = id < 500 ? "u" : String(repeating: "w", count: id == 500 ? 9 : 12)
            try table.append(["\(id)", url, "1", "e"].map { TableWriter.Cell($0) })
        }
        try table.finish()
        let lines = collector.text.split(separator: "\n")
        #expect(lines[0] == " id  url        size  error")
        #expect(lines[1] == "  1  u             1  e")
        #expect(lines[501] == "501  wwwwwwwwwwww     1  e")
    }

    /// What is held is written as the table grows, under one header, and stays aligned.
    @Test func writesBatches() throws {
        let collector = Collector()
        var table = TableWriter(Self.columns, to: collector.stream(), palette: .plain)
        for id in 0..<3000 {
            let url = id == 100 ? "long-url-of-a-row" : "u"
            try table.append(["\(id)", url, "1", "e"].map { TableWriter.Cell($0) })
        }
        let early = collector.bytes.count
        try table.finish()
        let lines = collector.text.split(separator: "\n")
        #expect(early > 0)
        #expect(lines.count == 3001)
        #expect(lines.filter { $0.contains("url  ") }.count == 1)
        #expect(lines.dropFirst().allSatisfy { $0.utf8.count >= lines[1].utf8.count })
        #expect(lines[3000] == "2999  u                     1  e")
    }
}
