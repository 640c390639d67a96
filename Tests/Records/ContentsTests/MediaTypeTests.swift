import Testing

@testable import Contents

@Suite struct MediaTypeTests {
    static let rows: [(String, Set<String>)] = [
        ("application/json", ["json"]), ("Application/JSON ; charset=utf-8", ["json"]),
        ("application/x-amz-json-1.1", ["json"]), ("application/problem+json", ["json"]),
        ("application/x-ndjson", ["json"]), ("application/graphql-response", ["json"]),
        ("application/x-www-form-urlencoded;charset=x", ["form"]),
        ("multipart/form-data; boundary=x", ["multipart", "form-data"]),
        ("multipart/mixed", ["multipart"]), ("text/xml", ["xml", "text"]),
        ("application/soap+xml", ["xml"]), ("application/xhtml+xml", ["xml", "html"]),
        ("text/html", ["html", "text"]), ("text/event-stream", ["events", "text"]),
        ("text/event-streams", ["text"]), ("application/grpc-web+proto", ["grpc"]),
        ("application/x-protobuf", ["protobuf"]), ("text/plain", ["plain", "text"]),
        ("", ["plain"]), (";charset=utf-8", ["plain"]), ("application/octet-stream", ["bytes"]),
        ("image/png", []), ("jso", []), ("n", []),
    ]

    @Test(arguments: rows)
    func tells(_ text: String, _ kinds: Set<String>) {
        let type = MediaType(Array(text.utf8)[...])
        let all: [(String, Bool)] = [
            ("json", type.isJSON), ("form", type.isForm), ("multipart", type.isMultipart),
            ("form-data", type.isFormData), ("xml", type.isXML), ("html", type.isHTML),
            ("text", type.isText), ("events", type.isEventStream), ("grpc", type.isGRPC),
            ("protobuf", type.isProtobuf), ("plain", type.isPlain), ("bytes", type.isOctetStream),
        ]
        #expect(Set(all.filter(\.1).map(\.0)) == kinds)
    }

    @Test func takesTheBoundary() {
        let type = MediaType(Array("multipart/mixed; Boundary=\"a;b\"".utf8)[...])
        #expect(type.boundary == Array("a;b".utf8))
        #expect(MediaType(nil).boundary.isEmpty)
    }
}
