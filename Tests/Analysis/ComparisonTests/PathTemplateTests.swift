import Base
import Testing

@testable import Comparison

struct PathTemplateTests {
    static let rows: [(path: String, template: String)] = [
        ("/", "/"), ("", "/"), ("/users", "/users"), ("/users/17", "/users/{}"),
        ("/users/17/orders/9", "/users/{}/orders/{}"), ("/v1/items", "/v1/items"),
        ("/f/0b6e9c0e-8f5d-4a43-9f43-0a4c2b8f5b11", "/f/{}"), ("/f/deadbeef01", "/f/{}"),
        ("/feedface", "/feedface"), ("/cafe", "/cafe"), ("/a//b/", "/a//b/"),
        ("/files/ZmlsZS0yMDI2LTAzLTA5LXh5eg", "/files/{}"), ("/app.3f2a.js", "/app.3f2a.js"),
    ]

    @Test(arguments: rows)
    func leavesOpenWhatNamesOneOfMany(_ row: (path: String, template: String)) {
        #expect(PathTemplate.text(Array(row.path.utf8)[...]) == row.template)
    }

    static let targets: [(line: String, path: String, query: String)] = [
        ("GET /a?b=1 HTTP/1.1", "/a", "b=1"), ("GET / HTTP/1.1", "/", ""),
        ("GET http://h:1/a?b HTTP/1.1", "/a", "b"), ("GET http://h?b HTTP/1.1", "", "b"),
        ("GET http://h HTTP/1.1", "", ""), ("OPTIONS * HTTP/1.1", "*", ""),
        ("CONNECT h:443 HTTP/1.1", "h:443", ""), ("GET /a b HTTP/2.0", "/a b", ""),
        ("GET", "", ""), ("", "", ""), ("GET /a? HTTP/1.1", "/a", ""), ("GET /a", "/a", ""),
    ]

    @Test(arguments: targets)
    func readsTargets(_ row: (line: String, path: String, query: String)) {
        for end in 0...row.line.utf8.count {
            let head = Array(row.line.utf8.prefix(end))
            let parts = RequestTargetParts(head)
            #expect(parts.query.upperBound <= head.count)
        }
        let head = Array("\(row.line)\r\nHost: h\r\n\r\n".replacing("\r\n", with: "\n").utf8)
        let parts = RequestTargetParts(head)
        #expect(head[parts.path].text == row.path)
        #expect(head[parts.query].text == row.query)
    }
}
