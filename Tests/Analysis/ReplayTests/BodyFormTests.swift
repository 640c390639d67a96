import Contents
import TestConditions
import Testing

@testable import Replay

/// Contents that mean the same are the same, and those that do not are not.
struct BodyFormTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let type: String
        let left: String
        let right: String
        let kind: BodyKind
        var isSame = true
        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(
            name: "JSON in another order", type: "application/json",
            left: #"{"a":1,"b":[true,null]}"#, right: "{ \"b\" : [ true , null ],\n\"a\":1.0 }",
            kind: .json),
        Row(
            name: "JSON with an escape", type: "application/problem+json; charset=utf-8",
            left: #"{"a":"é\n"}"#, right: "{\"a\":\"\\u00e9\\u000a\"}", kind: .json),
        Row(
            name: "a number and its text", type: "application/json", left: #"{"a":1}"#,
            right: #"{"a":"1"}"#, kind: .json, isSame: false),
        Row(
            name: "an empty array and none", type: "application/json", left: #"{"a":[]}"#,
            right: "{}", kind: .json, isSame: false),
        Row(
            name: "JSON without its type", type: "", left: #"{"a":2}"#, right: #"{ "a": 2 }"#,
            kind: .json),
        Row(
            name: "a form in another order", type: "application/x-www-form-urlencoded",
            left: "a=1&b=x+y&b=z", right: "b=x%20y&a=1&b=z", kind: .form),
        Row(
            name: "a form with another value", type: "application/x-www-form-urlencoded",
            left: "a=1&b=2", right: "a=1&b=3", kind: .form, isSame: false),
        Row(
            name: "multipart with another boundary", type: "multipart/form-data; boundary=\"AA\"",
            left: "--AA\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\nv\r\n--AA--\r\n",
            right: "--AA\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\nv\r\n--AA--\r\n",
            kind: .multipart),
        Row(
            name: "GraphQL laid out anew", type: "application/json",
            left: #"{"query":"query Q($a:Int){item(id:$a){name}}","variables":{"a":1}}"#,
            right:
                ##"{"variables":{"a":1},"query":"# c\nquery Q($a: Int) {\n item(id: $a){name}\n}"}"##,
            kind: .graphQL),
        Row(
            name: "GraphQL with another variable", type: "application/json",
            left: #"{"query":"{a}","variables":{"a":1}}"#,
            right: #"{"query":"{a}","variables":{"a":2}}"#, kind: .graphQL, isSame: false),
        Row(
            name: "GraphQL's fields in another order", type: "application/graphql", left: "{a b}",
            right: "{b a}", kind: .graphQL, isSame: false),
        Row(
            name: "protobuf in another order", type: "application/x-protobuf",
            left: "\u{8}\u{1}\u{12}\u{2}hi", right: "\u{12}\u{2}hi\u{8}\u{1}", kind: .protobuf),
        Row(
            name: "broken protobuf is bytes", type: "application/x-protobuf", left: "\u{8}",
            right: "\u{8}", kind: .bytes),
        Row(
            name: "gRPC", type: "application/grpc", left: "\0\0\0\0\u{2}\u{8}\u{1}",
            right: "\0\0\0\0\u{2}\u{8}\u{2}", kind: .grpc, isSame: false),
        Row(
            name: "gRPC with an unfinished message", type: "application/grpc",
            left: "\0\0\0\0\u{2}\u{8}", right: "\0\0\0\0\u{2}\u{9}", kind: .bytes,
            isSame: false),
        Row(
            name: "gRPC-Web as text", type: "application/grpc-web-text", left: "AAAAAAIIAQ==",
            right: "AAAAAAIIAg==", kind: .text, isSame: false),
        Row(
            name: "text with a space more", type: "text/plain", left: "a b", right: "a  b",
            kind: .text, isSame: false),
    ]

    @Test(arguments: rows)
    func compares(_ row: Row) {
        let type = [UInt8](row.type.utf8)[...]
        let left = BodyForm([UInt8](row.left.utf8), type: type)
        let right = BodyForm([UInt8](row.right.utf8), type: type)
        #expect(left.kind == row.kind)
        #expect((left == right) == row.isSame)
    }

    /// What is within a long name has it in its path, and so there is a bound.
    @Test(.processorTime(below: .seconds(60))) func holdsNoMorePathsThanMayBe() {
        let name = String(repeating: "n", count: 400_000)
        let zeros = String(repeating: "0,", count: 100_000)
        let type = [UInt8]("application/json".utf8)[...]
        for start in [#"{""#, #"{"query":"{a}",""#] {
            let text = start + name + #"":[\#(zeros)0]}"#
            #expect(BodyForm([UInt8](text.utf8), type: type).kind == .text)
            let few = start + name + #"":[0,0]}"#
            #expect(BodyForm([UInt8](few.utf8), type: type).kind != .text)
            var count = 0
            JSONDocument([UInt8](text.utf8))?.textsAndNumbers { _, _ in count += 1 }
            #expect(count < 20)
        }
    }

    @Test func leavesTheBoundaryOut() {
        let forms = ["x1", "-----y"].map { boundary in
            let content =
                "--\(boundary)\r\nContent-Disposition: form-data; name=\"a\"; filename=\"n.txt\"\r\n"
                + "Content-Type: text/plain\r\n\r\none\r\ntwo\r\n--\(boundary)\r\n"
                + "Content-Disposition: form-data; name=\"b\"\r\n\r\n\r\n--\(boundary)--\r\n"
            return BodyForm(
                [UInt8](content.utf8),
                type: [UInt8]("multipart/form-data; boundary=\(boundary)".utf8)[...])
        }
        #expect(forms[0] == forms[1])
        #expect(
            forms[0].fields == [
                BodyField("a", "one\r\ntwo"), BodyField("a.content-type", "text/plain"),
                BodyField("a.filename", "n.txt"), BodyField("b", ""),
            ])
    }

    /// Cut at every offset, nothing traps, and the same is read each time.
    @Test(arguments: rows)
    func survivesCuts(_ row: Row) {
        let bytes = [UInt8](row.left.utf8)
        for end in bytes.indices {
            for (part, type) in [
                (bytes[..<end], row.type), (bytes[end...], "application/grpc"),
            ] {
                let form = BodyForm(Array(part), type: [UInt8](type.utf8)[...])
                #expect(form == BodyForm(Array(part), type: [UInt8](type.utf8)[...]))
                #expect(form.fields.count <= part.count + 2)
            }
        }
    }
}
