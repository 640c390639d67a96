import Base
import Contents
import Testing
import Traffic

@testable import Findings

/// The values that contents of every kind hold, with what was undone to see them.
@Suite struct FieldReaderTests {
    /// A structured content is called the same as a container, a step and a form.
    @Test(arguments: StructuredContent.allCases)
    func namesStructuredContents(_ form: StructuredContent) {
        #expect(Container(form).rawValue == form.rawValue)
        #expect(DecodeStep(form).rawValue == form.rawValue)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let type: String
        let body: [UInt8]
        /// Such as `json /a (base64)=x`.
        let fields: [String]
        var isTruncated = false
        var testDescription: String { "\(type): \(fields.first ?? "nothing")" }

        init(_ type: String, _ body: String, _ fields: [String], isTruncated: Bool = false) {
            self.init(type, bytes: Array(body.utf8), fields, isTruncated: isTruncated)
        }

        init(_ type: String, bytes: [UInt8], _ fields: [String], isTruncated: Bool = false) {
            self.type = type
            body = bytes
            self.fields = fields
            self.isTruncated = isTruncated
        }
    }

    @Test(arguments: rows)
    func reads(_ row: Row) {
        var reader = FieldReader()
        reader.read(body: row.body, contentType: Array(row.type.utf8))
        #expect(reader.fields.map(Self.shown) == row.fields)
        #expect(reader.isTruncated == row.isTruncated)
    }

    @Test(arguments: messageRows)
    func readsMessages(_ row: Row) {
        var reader = FieldReader()
        reader.read(message: row.body)
        #expect(reader.fields.map(Self.shown) == row.fields)
    }

    @Test(arguments: [
        ("application/msgpack", hex("81a870617373776f7264a6746f746f746f")),
        ("application/cbor", hex("a16870617373776f726466746f746f746f")),
        ("application/x-plist", binaryList),
        ("application/graphql", Array("{ login(password: \"tototo\") { id } }".utf8)),
        ("application/json", Array(#"{"d":"\#(packed)"}"#.utf8)),
    ])
    func findsPasswords(_ type: String, _ body: [UInt8]) {
        var sample = Sample.post("", type)
        sample.body = body
        let found = FindingsLaboratory.run([sample]).findings.filter { $0.rule == .plainHTTPForm }
        #expect(found.map(\.severity) == [.critical])
        #expect(found.map(\.confidence) == [.certain])
    }

    private static func shown(_ field: MessageField) -> String {
        let path = field.pointer.map { "/" + $0.text }.joined()
        let parts = [
            field.container.rawValue, field.name.text, path,
            field.steps.isEmpty
                ? "" : "(" + field.steps.map(\.rawValue).joined(separator: " ") + ")",
            field.isInFile ? "[file]" : "",
        ]
        return parts.filter { !$0.isEmpty }.joined(separator: " ") + "=" + field.value.text
    }
}

private typealias Row = FieldReaderTests.Row

private func hex(_ text: String) -> [UInt8] { bytes(fromHex: text) ?? [] }

/// `{"password":"tototo"}` in gzip.
private let packed = "H4sIAAAAAAACA6tWKkgsLi7PL0pRslIqyQdBpVoAjl3rHRUAAAA="

private let rows: [Row] = [
    Row(
        "application/x-protobuf", bytes: hex("0a046e6f7261120308960118ff01"),
        ["protobuf /1=nora", "protobuf /2/1=150", "protobuf /3=255"]),
    Row("application/x-protobuf", bytes: hex("0a04"), [], isTruncated: true),
    Row("application/grpc+proto", bytes: hex("00000000060a046e6f7261"), ["protobuf /1=nora"]),
    Row(
        "application/msgpack", bytes: hex("81a870617373776f7264a6746f746f746f"),
        ["msgpack /password=tototo"]),
    Row(
        "application/cbor", bytes: hex("a16870617373776f726466746f746f746f"),
        ["cbor /password=tototo"]),
    Row(
        "application/xml",
        "<?xml version='1.0'?><plist><dict><key>password</key><string>tototo</string></dict></plist>",
        ["plist /password=tototo"]),
    Row("application/x-plist", bytes: binaryList, ["plist /password=tototo"]),
    Row("application/octet-stream", bytes: binaryList, ["plist /password=tototo"]),
    Row(
        "application/octet-stream", bytes: hex("82a870617373776f7264a6746f746f746fa16101"),
        ["msgpack /password=tototo", "msgpack /a=1"]),
    Row("application/octet-stream", bytes: hex("ffd8ffe000104a46494600010100000100010000"), []),
    Row("image/png", bytes: binaryList, []),
    Row(
        "application/graphql", "mutation { login(name: \"nora\", password: \"tototo\") { id } }",
        [
            "body query=mutation { login(name: \"nora\", password: \"tototo\") { id } }",
            "body query /login/name (graphql)=nora", "body query /login/password (graphql)=tototo",
        ]),
    Row(
        "application/json", #"{"query":"{ login(password: \"tototo\") }","variables":{"pin":"1"}}"#,
        [
            "json /query={ login(password: \"tototo\") }",
            "json /query/login/password (graphql)=tototo", "json /variables/pin=1",
        ]),
    Row(
        "application/json", #"{"d":"\#(packed)"}"#,
        ["json /d=\(packed)", "json /d/password (base64 inflate)=tototo"]),
    Row(
        "application/json", #"{"d":"\#(base64Bytes(binaryList))"}"#,
        ["json /d=\(base64Bytes(binaryList))", "json /d/password (base64 plist)=tototo"]),
    Row("application/json", #"{"a":"#, [], isTruncated: true),
    Row(
        "multipart/form-data; boundary=b",
        "--b\r\nContent-Disposition: form-data; name=f; filename=a.xml\r\nContent-Type: text/xml\r\n\r\n<a><password>tototo</password></a>\r\n--b\r\nContent-Disposition: form-data; name=m\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Disposition: form-data; name=g; filename=g\r\nContent-Type: application/json\r\n\r\n{\"a\":1}\r\n--c--\r\n--b--",
        ["multipart password [file]=tototo", "multipart g /a [file]=1"]),
    Row(
        "text/event-stream",
        "event: x\ndata: {\"a\":\ndata: 1}\n\nid: 7\r\ndata:{\"b\":\"c\"}\r\n\r\ndata: text\n\n",
        ["event /a=1", "event /b=c"]),
]

private let messageRows: [Row] = [
    Row(
        "", "42[\"login\",{\"password\":\"tototo\"}]",
        ["message /*=login", "message /*/password=tototo"]),
    Row(
        "", bytes: hex("82a870617373776f7264a6746f746f746fa16101"),
        ["message /password (msgpack)=tototo", "message /a (msgpack)=1"]),
    Row("", bytes: binaryList, ["message /password (plist)=tototo"]),
    Row(
        "", bytes: hex("a26870617373776f726466746f746f746f616101"),
        ["message /password (cbor)=tototo", "message /a (cbor)=1"]),
    Row("", "just words", []),
]

/// `{"password":"tototo"}` as Python's plistlib writes it.
private let binaryList =
    Base64.decode(
        Array(
            "YnBsaXN0MDDRAQJYcGFzc3dvcmRWdG90b3RvCAsUAAAAAAAAAQEAAAAAAAAAAwAAAAAAAAAAAAAAAAAAABs="
                .utf8)) ?? []
