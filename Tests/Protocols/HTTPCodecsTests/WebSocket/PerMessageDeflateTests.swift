import Base
import Testing

@testable import HTTPCodecs

@Suite struct PerMessageDeflateTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var field: String
        var expected: PerMessageDeflate?
        var testDescription: String { field }

        init(_ field: String, _ change: (inout PerMessageDeflate) -> Void) {
            self.field = field
            var value = PerMessageDeflate()
            change(&value)
            expected = value
        }

        init(refused field: String) { self.field = field }
    }

    static let rows: [Row] = [
        Row("permessage-deflate") { _ in },
        Row(" Permessage-Deflate ") { _ in },
        Row("permessage-deflate; server_no_context_takeover") { $0.serverResets = true },
        Row("permessage-deflate;client_no_context_takeover") { $0.clientResets = true },
        Row("permessage-deflate; server_max_window_bits=10;\tclient_max_window_bits = 8") {
            $0.serverWindowBits = 10
            $0.clientWindowBits = 8
        },
        Row(#"permessage-deflate; server_max_window_bits="15""#) { _ in },
        Row("foo; a=b, permessage-deflate; server_max_window_bits=9, bar") {
            $0.serverWindowBits = 9
        },
        Row(#"foo; a="x, \", permessage-deflate, ", permessage-deflate"#) { _ in },
        Row(refused: ""), Row(refused: "permessage-deflat"), Row(refused: ",,"),
        Row(refused: #"foo; a="permessage-deflate, permessage-deflate""#),
        Row(refused: "permessage-deflate, permessage-deflate"),
        Row(refused: "permessage-deflate; a"), Row(refused: "permessage-deflate;"),
        Row(refused: "permessage-deflate; server_no_context_takeover=1"),
        Row(refused: "permessage-deflate; server_no_context_takeover="),
        Row(
            refused: "permessage-deflate; client_no_context_takeover; client_no_context_takeover"),
        Row(
            refused: "permessage-deflate; server_max_window_bits=9; Server_Max_Window_Bits=9"),
        Row(refused: "permessage-deflate; client_max_window_bits"),
        Row(refused: "permessage-deflate; client_max_window_bits="),
        Row(refused: "permessage-deflate; client_max_window_bits=7"),
        Row(refused: "permessage-deflate; client_max_window_bits=16"),
        Row(refused: "permessage-deflate; client_max_window_bits=08"),
        Row(refused: "permessage-deflate; client_max_window_bits=20"),
        Row(refused: "permessage-deflate; client_max_window_bits=1O"),
        Row(refused: "permessage-deflate; server_max_window_bits=-9"),
    ]

    @Test(arguments: rows)
    func reads(row: Row) {
        #expect(PerMessageDeflate(responseField: Array(row.field.utf8)[...]) == row.expected)
    }
}
