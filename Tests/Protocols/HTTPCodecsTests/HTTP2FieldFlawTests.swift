import Base
import Testing

@testable import HTTPCodecs

/// What a record says of a field that HTTP/2 does not allow; a value is never in it.
@Suite struct HTTP2FieldFlawTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let value: String
        let text: String
        var testDescription: String { name.debugDescription }

        init(_ name: String, _ value: String, _ text: String) {
            self.name = name
            self.value = value
            self.text = text
        }
    }

    static let rows: [Row] = [
        .init("", "secret", "a field without a name is not allowed"),
        .init("a b", "secret", "the field a b is not allowed"),
        .init("Accept", "secret", "the field Accept is not allowed"),
        .init("a:", "secret", "the field a: is not allowed"),
        .init("x", "secret\r\ny: z", "the value of the field x is not allowed"),
        .init("x", "secret\0", "the value of the field x is not allowed"),
        // Sound in itself: it is the place or the message that forbids it.
        .init("upgrade", "secret", "the field upgrade is not allowed there, or not with its value"),
        .init(":path", "secret", "the field :path is not allowed there, or not with its value"),
        .init(":new", "secret\0", "the field :new is not allowed there, or not with its value"),
        .init(
            String(repeating: "A", count: 65), "secret",
            "the field \(String(repeating: "A", count: 64)) is not allowed"),
    ]

    @Test(arguments: rows) func isToldWithoutTheValue(row: Row) {
        let (name, value) = (Array(row.name.utf8), Array(row.value.utf8))
        #expect(HTTP2FieldFlaw.text(name.span, value.span) == row.text)
        #expect(!row.text.contains("secret"))
    }
}
