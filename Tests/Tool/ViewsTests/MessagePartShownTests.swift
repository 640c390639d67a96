import Replay
import Testing

@testable import Views

/// What misses and learned rules show of recorded values.
struct MessagePartShownTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let part: MessagePart
        let value: String
        let shown: String

        var testDescription: String { name }
    }

    static let long = "$." + String(repeating: "a", count: 300)

    static let rows = [
        Row(
            name: "a path", part: .path, value: "/app/eyJhbGci.e30.sig/reset;jsessionid=1/x",
            shown: "/app/***/reset;jsessionid=***/x"),
        Row(name: "a text", part: .body(""), value: "<password>a</password>", shown: "***"),
        Row(name: "a member", part: .body("$.a"), value: "\"b\"", shown: "\"b\""),
        Row(name: "a password", part: .body("$.password"), value: "\"b\"", shown: "***"),
        Row(
            name: "a password deep inside", part: .body(long + ".password"), value: "\"b\"",
            shown: "***"),
        Row(
            name: "a member of a secret deep inside", part: .body(long + "[\"a token\"][0].v"),
            value: "1", shown: "***"),
        Row(name: "a long path", part: .body(long + ".a"), value: "1", shown: "1"),
        Row(
            name: "a token", part: .body("$.a"), value: "\"eyJhbGci.e30.sig\"", shown: "\"***\""),
        Row(
            name: "a URL", part: .header("x-forwarded-url"), value: "http://u:pw1@h/?token=t1",
            shown: "http://***@h/?token=***"),
        Row(name: "a field", part: .header("x-a"), value: "b: c", shown: "b: c"),
        Row(name: "a trailer", part: .trailer("x-api-key"), value: "b", shown: "***"),
    ]

    @Test(arguments: rows)
    func shows(_ row: Row) {
        #expect(row.part.shown(row.value) == row.shown)
    }
}
