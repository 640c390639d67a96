import Base
import HTTPModel
import Testing
import Traffic

@testable import Replay

struct SubstitutionPlanTests {
    /// A recorded response, a request after it, what the live response has, and what goes out.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var response = ""
        var answer = ""
        /// Of the recording, and live: a value that stands in the two above for `$`.
        var value = "aB3dE6gH9"
        var liveValue = "zY8xW5vU2"
        let request: String
        var content = ""
        /// What the request becomes; `nil` if it stays.
        let sent: String?
        /// Where the value comes from, and where it goes.
        var from = ""
        var to = ""
        var testDescription: String { name }
    }

    static let places = [
        Row(
            name: "cookie", response: "Set-Cookie: sid=$; Path=/; HttpOnly",
            request: "GET / HTTP/1.1\nCookie: a=b; sid=aB3dE6gH9; c=d",
            sent: "GET / HTTP/1.1\nCookie: a=b; sid=zY8xW5vU2; c=d", from: "cookie sid",
            to: "cookie sid"),
        Row(
            name: "short cookie", response: "Set-Cookie: sid=$", value: "a", liveValue: "bcd",
            request: "GET /a HTTP/1.1\nCookie: sid=a; other=a",
            sent: "GET /a HTTP/1.1\nCookie: sid=bcd; other=a", from: "cookie sid",
            to: "cookie sid"),
        Row(
            name: "cookie in a header, decoded", response: "Set-Cookie: XSRF-TOKEN=$",
            value: "aB3%2FdE6", liveValue: "zY8%3D%3D",
            request: "GET / HTTP/1.1\nX-XSRF-TOKEN: aB3/dE6",
            sent: "GET / HTTP/1.1\nX-XSRF-TOKEN: zY8==", from: "cookie XSRF-TOKEN decoded",
            to: "header x-xsrf-token"),
        Row(
            name: "header", response: "X-CSRF-Token: $",
            request: "GET / HTTP/1.1\nX-CSRF-Token: aB3dE6gH9",
            sent: "GET / HTTP/1.1\nX-CSRF-Token: zY8xW5vU2", from: "header x-csrf-token",
            to: "header x-csrf-token"),
        Row(
            name: "entity tag", response: "ETag: $", value: "\"v1-77ab\"",
            liveValue: "W/\"v2-88cd\"", request: "GET / HTTP/1.1\nIf-None-Match: \"v1-77ab\"",
            sent: "GET / HTTP/1.1\nIf-None-Match: W/\"v2-88cd\"", from: "header etag",
            to: "header if-none-match"),
        Row(
            name: "location's segment", response: "Location: https://example.com/o/$/edit",
            request: "GET /o/aB3dE6gH9 HTTP/1.1", sent: "GET /o/zY8xW5vU2 HTTP/1.1",
            from: "header location segment 2", to: "path segment 2"),
        Row(
            name: "location's parameter", response: "Location: /next?x=1&code=$",
            liveValue: "z%26%20y",
            request: "GET /cb?code=aB3dE6gH9&x=1 HTTP/1.1",
            sent: "GET /cb?code=z%26%20y&x=1 HTTP/1.1", from: "header location query code",
            to: "query code"),
        Row(
            name: "JSON string", response: "Content-Type: application/json",
            answer: #"{"a": [{"token": "$"}]}"#, liveValue: #"q\"\u00e9"#,
            request: "POST / HTTP/1.1\nContent-Type: application/json",
            content: #"{"t": "aB3dE6gH9", "n": 1}"#, sent: #"{"t": "q\"é", "n": 1}"#,
            from: "body $.a[0].token", to: "body $.t"),
        Row(
            name: "JSON number", response: "Content-Type: application/json",
            answer: #"{"id": $}"#, value: "7654321", liveValue: "1234567",
            request: "PUT / HTTP/1.1\nContent-Type: application/json",
            content: #"{"id":7654321,"s":"7654321"}"#, sent: #"{"id":1234567,"s":"1234567"}"#,
            from: "body $.id", to: "body $.id"),
        Row(
            name: "JSON's URL", response: "Content-Type: application/hal+json",
            answer: #"{"next": "/items?cursor=$"}"#,
            request: "GET /items?cursor=aB3dE6gH9 HTTP/1.1",
            sent: "GET /items?cursor=zY8xW5vU2 HTTP/1.1", from: "body $.next query cursor",
            to: "query cursor"),
        Row(
            name: "bearer", response: "Content-Type: application/json",
            answer: #"{"access_token": "$"}"#,
            request: "GET / HTTP/1.1\nAuthorization: Bearer aB3dE6gH9",
            sent: "GET / HTTP/1.1\nAuthorization: Bearer zY8xW5vU2", from: "body $.access_token",
            to: "header authorization"),
        Row(
            name: "field of a form", response: "Content-Type: text/html; charset=utf-8",
            answer: #"<form><input name=_csrf type="hidden" value='$'></form>"#,
            liveValue: "a&amp;b=",
            request: "POST / HTTP/1.1\n"
                + "Content-Type: application/x-www-form-urlencoded",
            content: "user=me&_csrf=aB3dE6gH9", sent: "user=me&_csrf=a%26b%3D",
            from: "field _csrf", to: "form _csrf"),
        Row(
            name: "meta", response: "Content-Type: text/html",
            answer: #"<META content="$" name="csrf-token">"#,
            request: "GET / HTTP/1.1\nX-Token: aB3dE6gH9",
            sent: "GET / HTTP/1.1\nX-Token: zY8xW5vU2", from: "meta csrf-token",
            to: "header x-token"),
        Row(
            name: "text", response: "Content-Type: text/plain", answer: "$",
            request: "GET /?t=aB3dE6gH9 HTTP/1.1", sent: "GET /?t=zY8xW5vU2 HTTP/1.1",
            from: "body", to: "query t"),
        Row(
            name: "multipart", response: "X-Upload-Token: $",
            request: "POST / HTTP/1.1\nContent-Type: multipart/form-data; boundary=b",
            content: "--b\r\nContent-Disposition: form-data; name=t\r\n\r\naB3dE6gH9\r\n--b--",
            sent: "--b\r\nContent-Disposition: form-data; name=t\r\n\r\nzY8xW5vU2\r\n--b--",
            from: "header x-upload-token", to: "body"),
        Row(
            name: "referer", response: "Location: /o/$",
            request: "GET / HTTP/1.1\nReferer: https://example.com/o/aB3dE6gH9?a=b",
            sent: "GET / HTTP/1.1\nReferer: https://example.com/o/zY8xW5vU2?a=b",
            from: "header location segment 2", to: "header referer path segment 2"),
        Row(
            name: "a short id of a list", response: "Location: https://example.com/api/orders/$",
            value: "7", liveValue: "41",
            request: "GET /orders/7/lines?n=7 HTTP/1.1",
            sent: "GET /orders/41/lines?n=7 HTTP/1.1", from: "header location segment 3",
            to: "path segment 2"),
        Row(
            name: "a short id in JSON", response: "Content-Type: application/json",
            answer: #"{"lines": [{"lineId": $}]}"#, value: "7", liveValue: "41",
            request: "DELETE /lines/7 HTTP/1.1", sent: "DELETE /lines/41 HTTP/1.1",
            from: "body $.lines[0].lineId", to: "path segment 2"),
    ]

    static let untouched = [
        Row(
            name: "an id of another list", response: "Location: /orders/$", value: "7",
            liveValue: "41", request: "GET /users/7 HTTP/1.1", sent: nil),
        Row(
            name: "a number that is no id", response: "Content-Type: application/json",
            answer: #"{"lines": [{"count": $}]}"#, value: "7", liveValue: "41",
            request: "GET /lines/7 HTTP/1.1", sent: nil),
        Row(
            name: "a word of a path", response: "Location: /orders/$", value: "new",
            liveValue: "old", request: "GET /orders/new HTTP/1.1", sent: nil),
        Row(
            name: "a word", response: "X-Kind: $", value: "standard", liveValue: "premium",
            request: "GET /standard HTTP/1.1", sent: nil),
        Row(
            name: "a short number", response: "X-Count: $", value: "12345", liveValue: "54321",
            request: "GET /12345 HTTP/1.1", sent: nil),
        Row(
            name: "a part of a word", response: "X-CSRF-Token: $",
            request: "GET /aB3dE6gH9x HTTP/1.1", sent: nil),
        Row(
            name: "a dull field", response: "Server: $", request: "GET /aB3dE6gH9 HTTP/1.1",
            sent: nil),
        Row(
            name: "a line of its own", response: "Content-Type: application/json",
            answer: #"{"token": "$"}"#, liveValue: #"a\r\nEvil: 1"#,
            request: "GET / HTTP/1.1\nX-Token: aB3dE6gH9", sent: nil,
            from: "body $.token", to: "header x-token"),
    ]

    @Test(arguments: places + untouched) func replaces(_ row: Row) throws {
        var plan = SubstitutionPlan()
        plan.note(try row.head(row.value), row.answer(row.value), ofResponse: 1)
        let source = MemorySource()
        source.add("GET / HTTP/1.1\nHost: example.com\n\n")
        source.add(row.request + row.fields, Array(row.content.utf8))
        let record = source.exchangeRecords[1]
        let head = try #require(RecordedHeads.head(of: record))
        plan.note(head, record.requestBody.bytes, ofRequest: 2)
        plan.finish()
        #expect(plan.values.first?.sources.first?.place.description ?? "" == row.from)
        #expect(plan.values.first?.uses.first?.name ?? "" == row.to)
        #expect(plan.needs(ofRequest: 2) == (row.from.isEmpty ? [] : [1]))

        var live = LiveValues(plan)
        live.note(try row.head(row.liveValue), row.answer(row.liveValue), ofResponse: 1)
        let destination = RequestRewrite.Destination(
            origin: "https://example.com", authority: "example.com")
        let rewrite = try #require(
            RequestRewrite(record, to: destination, &live) { record.requestBody.bytes })
        let sent = rewrite.content?.text ?? row.content
        if row.content.isEmpty {
            let wanted = (row.sent ?? row.request) + row.fields
            #expect(
                rewrite.head.text
                    == wanted.split(
                        separator: "\n", omittingEmptySubsequences: false
                    ).joined(separator: "\r\n"))
        } else {
            #expect(sent == row.sent ?? row.content)
            #expect(rewrite.head.text.contains("Content-Length: \(sent.utf8.count)\r\n"))
        }
    }

    @Test func keepsWhatClientsMadeUp() throws {
        var plan = SubstitutionPlan()
        plan.note(try request("GET /?id=aB3dE6gH9 HTTP/1.1"), [], ofRequest: 1)
        plan.note(try response("X-Echo: aB3dE6gH9"), [], ofResponse: 1)
        plan.note(try request("GET /aB3dE6gH9 HTTP/1.1"), [], ofRequest: 2)
        plan.finish()
        #expect(plan.values.isEmpty)
    }

    /// An id is known behind the list that was asked for its thing, unless the client named it.
    @Test(arguments: [("POST /api/orders", true), ("GET /api/orders/7", false)])
    func knowsShortIDsByWhatWasAsked(_ line: String, _ isKnown: Bool) throws {
        var plan = SubstitutionPlan()
        plan.note(try request("\(line) HTTP/1.1"), [], ofRequest: 1)
        plan.note(
            try response("Content-Type: application/json"), Array(#"{"id": 7}"#.utf8),
            ofResponse: 1)
        plan.note(try request("DELETE /api/orders/7 HTTP/1.1"), [], ofRequest: 2)
        plan.finish()
        #expect(plan.values.map { $0.uses.map(\.name) } == (isKnown ? [["path segment 3"]] : []))
    }

    @Test func keepsWhatItIsTold() throws {
        var plan = SubstitutionPlan(keeps: ["header x-token"])
        plan.note(try response("X-Token: aB3dE6gH9"), [], ofResponse: 1)
        plan.note(try request("GET /aB3dE6gH9 HTTP/1.1"), [], ofRequest: 2)
        plan.finish()
        #expect(plan.values.isEmpty)
    }

    /// What the first response no longer has, a later one may.
    @Test func takesTheNextSource() throws {
        var plan = SubstitutionPlan()
        plan.note(try response("X-Token: aB3dE6gH9"), [], ofResponse: 1)
        plan.note(try response("X-Again: aB3dE6gH9"), [], ofResponse: 2)
        plan.note(try request("GET /aB3dE6gH9 HTTP/1.1"), [], ofRequest: 3)
        plan.finish()
        #expect(plan.wants(answerTo: 1) && plan.wants(answerTo: 2))
        var live = LiveValues(plan)
        #expect(live.edits(ofRequest: 3).isEmpty)
        live.note(try response("X-Again: second22"), [], ofResponse: 2)
        #expect(live.edits(ofRequest: 3).map(\.bytes.text) == ["second22"])
        live.note(try response("X-Token: first111"), [], ofResponse: 1)
        #expect(live.edits(ofRequest: 3).map(\.bytes.text) == ["first111"])
        #expect(live.counts.replaced == 2 && live.counts.kept == 1)
    }

    @Test func movesOrigins() throws {
        let source = MemorySource()
        source.add(
            "POST https://example.com/a HTTP/1.1\nHost: example.com\nOrigin: https://example.com\n"
                + "Referer: https://example.com/b\nExpect: 100-continue\n"
                + "Transfer-Encoding: chunked\n\n", [1])
        var live = LiveValues(SubstitutionPlan())
        let destination = RequestRewrite.Destination(
            origin: "http://localhost:8080", authority: "localhost:8080")
        let rewrite = try #require(
            RequestRewrite(source.exchangeRecords[0], to: destination, &live) { [] })
        #expect(
            rewrite.head.text.split(separator: "\r\n") == [
                "POST /a HTTP/1.1", "Host: localhost:8080", "Origin: http://localhost:8080",
                "Referer: http://localhost:8080/b", "Transfer-Encoding: chunked",
            ])
        #expect(rewrite.isChunked && rewrite.content == nil)
    }

    private func request(_ line: String) throws -> RequestHead {
        try #require(
            RecordedHeads.read(request: Array("\(line)\r\nHost: example.com\r\n\r\n".utf8)))
    }

    private func response(_ field: String) throws -> ResponseHead {
        try #require(RecordedHeads.response(Array("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n".utf8)))
    }
}

extension SubstitutionPlanTests.Row {
    /// What stands behind the lines of the request.
    fileprivate var fields: String {
        let length = content.isEmpty ? "" : "\nContent-Length: \(content.utf8.count)"
        return "\nHost: example.com\(length)\n\n"
    }

    fileprivate func head(_ value: String) throws -> ResponseHead {
        let line = response.replacing("$", with: value)
        return try #require(
            RecordedHeads.response(Array("HTTP/1.1 200 OK\r\n\(line)\r\n\r\n".utf8)))
    }

    fileprivate func answer(_ value: String) -> [UInt8] {
        Array(answer.replacing("$", with: value).utf8)
    }
}
