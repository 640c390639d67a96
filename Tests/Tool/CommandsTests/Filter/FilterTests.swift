import Base
import Findings
import Testing
import Traffic

@testable import Commands
@testable import Filters
@testable import Views

struct FilterTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let filter: String
        /// The ids of the records of the sample capture that it accepts.
        let ids: [Int64]
        var testDescription: String { filter }

        init(_ filter: String, _ ids: [Int64]) {
            self.filter = filter
            self.ids = ids
        }
    }

    static let acceptsExchangesRows: [Row] = [
        Row("LOGO", [3]),
        Row("'token=t0k3n'", [1]),
        Row("host=api.example.com", [1, 3, 4, 6]),
        Row("host=api.example.com:8443", [3]),
        Row("host=*.EXAMPLE.com", [1, 3, 4, 6]),
        Row("host=example.com", []),
        Row("host~hop", [2, 5]),
        Row("host!=api*", [2, 5]),
        Row("path=/v1/*", [1, 4]),
        Row("path=/login", [2]),
        Row("path=*a*a*h*", [5]),
        Row("url=https://*", [1, 3, 4, 6]),
        Row("method=delete", [4]),
        Row("status=200", [1, 6]),
        Row("status=4xx or status=5xx", [3, 5]),
        Row("status!=2xx", [2, 3, 4, 5]),
        Row("status!=200", [2, 3, 4, 5]),
        Row("status<400", [1, 2, 6]),
        Row("status>=0", [1, 2, 3, 5, 6]),
        Row("scheme=http", [2, 5]),
        Row("size>4k", [3]),
        Row("size=0", [2, 4]),
        Row("request-size>0", [2]),
        Row("duration>=1s", [2, 4]),
        Row("duration<1ms", [3]),
        Row("duration!=1ms", [1, 2, 3, 4, 5, 6]),
        Row("id>4", [5, 6]),
        Row("client=127.0.0.1", [1, 3, 4]),
        Row("client=*", [1, 2, 3, 4, 5]),
        Row("protocol=http/1.1", [1, 2, 3, 4, 5, 6]),
        Row("error=*", [4]),
        Row("error!=*", [1, 2, 3, 5, 6]),
        Row("error~closed", [4]),
        Row("header:cookie", [1]),
        Row("header:Cookie~theme=dark", [1]),
        Row("header:content-type=image/*", [3]),
        Row("header:content-type!=image/*", [1, 2, 4, 5, 6]),
        Row("not (scheme=https or id=2)", [5]),
        Row("host!~hop", [1, 3, 4, 6]),
        Row("port=8443", [3]),
        Row("port=443 or port=80", [1, 2, 4, 5, 6]),
        Row("query~page=2", [1]),
        Row("query=*", [1, 2]),
        Row("path=~'^/v1/items(/\\d+)?$'", [1, 4]),
        Row("path!=~^/v1", [2, 3, 5, 6]),
        Row("type=application/json", [1]),
        Row("type~form", [2]),
        Row("response-type~form", []),
        Row("request-header:content-type", [2]),
        Row("headers=~'^host: shop'", [2, 5]),
        Row("response-headers~cookie", [1]),
        Row("connection=1", [1, 3, 4]),
        Row("tls=TLSv1.3", [1, 3, 4]),
        Row("outcome=completed and listener=*:8080", [1, 2, 3, 4, 5]),
        Row("origin=93.184.216.34", [1, 3, 4]),
        Row("time<07:05:02", [1]),
        Row("time=07:05:02.75", [4]),
        Row("time>=2026-03-09T07:05:02.5Z", [4, 5, 6]),
        Row("time=2026-03-09", [1, 2, 3, 4, 5, 6]),
        Row("body~NORA", [2]),
        Row("response-body~nora", []),
        Row("request-body=user=*", [2]),
        Row("body=~'items.:\\[\\d(,\\d)*\\]'", [1]),
        Row("body=~'\\x89PNG'", [3]),
        // Through a coding that changes the case of letters: what it stands for is searched.
        Row("body=~'(?-i)swapped CASE'", [6]),
        Row("body=~'CASE.?\\.$'", [6]),
        Row("body!=*", [4]),
        Row("finding=*", [2, 5]),
        Row("finding:URL-PASSWORD", [2]),
        Row("finding.severity=critical", [2]),
        Row("~d api ~m 'get|delete' !~c 404", [1, 4, 6]),
        Row("~q", [4]),
        Row("~e", [4]),
        Row("~a", [3]),
        Row("~bq password", [2]),
        Row("~src 192", [2, 5]),
        Row("~dst 93.184", [1, 3, 4]),
        Row("~websocket or ~tcp", []),
        Row("~all", [1, 2, 3, 4, 5, 6]),
    ]

    @Test(arguments: acceptsExchangesRows)
    func acceptsExchanges(_ row: Row) throws {
        let source = SampleCapture.source()
        let filter = try FilterReader.read(row.filter, for: .exchanges)
        let capture = Self.capture(filter, source)
        let ids = try source.exchangeRecords.filter { try capture.accepts($0) }.map(\.id)
        #expect(ids == row.ids)
    }

    @Test(arguments: ["header:x-note~'one two'", "header:x-note=*two", "headers~'X-Note: one two'"])
    func acceptsFoldedFields(_ text: String) throws {
        let source = SampleCapture.source()
        var record = try #require(source.exchangeRecords.first)
        record.requestHead = Array("GET / HTTP/1.1\r\nX-Note: one\r\n\ttwo\r\n\r\n".utf8)
        let filter = try FilterReader.read(text, for: .exchanges)
        #expect(try Self.capture(filter, source).accepts(record))
    }

    static let acceptsConnectionsRows: [Row] = [
        Row("pinned", [2]),
        Row("trust", [2]),
        Row("host=api.example.com", [1]),
        Row("host=*:443", [1, 4]),
        Row("client=::1", [2]),
        Row("client=[::1]:40100", [2]),
        Row("listener=*:8443", [5]),
        Row("outcome!=completed", [2, 4, 5]),
        Row("sni=*", [1, 2]),
        Row("alpn=http/1.1", [1]),
        Row("tls=tlsv1.3", [1]),
        Row("cipher~gcm", [1]),
        Row("alert=unknown_ca", [2]),
        Row("protocol=tls", [2]),
        Row("error=*", [2, 4]),
        Row("size>2k", [1, 2]),
        Row("duration<10ms", [4]),
        Row("duration>0", [1, 2, 3, 4]),
        Row("id=5", [5]),
        Row("port=443", [1, 4]),
        Row("mode=reverse", [5]),
        Row("exchanges>2", [1]),
        Row("messages=0", [1, 2, 3, 4, 5]),
        Row("ja4=t13*", [1]),
        Row("time>=07:05:02.25", [4, 5]),
        Row("finding=TLS-S-CERT", [1]),
        Row("~http", [1, 3]),
        Row("~tcp", [2, 4, 5]),
        Row("~src ::1", [2]),
        Row("~e", [2, 4]),
    ]

    @Test(arguments: acceptsConnectionsRows)
    func acceptsConnections(_ row: Row) throws {
        let filter = try FilterReader.read(row.filter, for: .connections)
        let source = SampleCapture.source()
        let capture = Self.capture(filter, source)
        let ids = try source.connectionRecords.filter { try capture.accepts($0) }.map(\.id)
        #expect(ids == row.ids)
    }

    private static func capture(_ filter: Filter?, _ source: any TrafficSource) -> CaptureFilter {
        let configuration = FindingsConfiguration(
            digests: DigestFunctions(
                sha256: { _ in [] }, sha1: { _ in [] }, md5: { _ in [] }, hmacSHA256: { _, _ in [] }
            ),
            runKey: [], registrableDomain: { $0 })
        return CaptureFilter(filter, in: source, configuration: configuration)
    }

    /// A capture that counts what is read of it.
    private final class CountingSource: TrafficSource {
        let records = SampleCapture.source()
        var bodies: [Int64] = []
        var passes = 0

        func connections(_ visit: (ConnectionRecord) throws -> Bool) throws {
            try records.connections(visit)
        }

        func exchanges(_ visit: (ExchangeRecord) throws -> Bool) throws {
            passes += 1
            try records.exchanges(visit)
        }

        func exchange(_ id: Int64) throws -> ExchangeRecord? { try records.exchange(id) }

        func body(
            ofExchange id: Int64, _ direction: Direction, _ visit: ([UInt8]) throws -> Bool
        ) throws {
            bodies.append(id)
            try records.body(ofExchange: id, direction, visit)
        }

        func messages(
            ofConnection id: Int64, exchange: Int64?, _ visit: (MessageRecord) throws -> Bool
        ) throws {}
    }

    @Test func readsNoContentOfOthers() throws {
        let source = CountingSource()
        let filter = try FilterReader.read("body~nothing and host=shop.example", for: .exchanges)
        let capture = Self.capture(filter, source)
        #expect(try source.records.exchangeRecords.filter { try capture.accepts($0) }.isEmpty)
        #expect(Set(source.bodies) == [2, 5])
        #expect(source.passes == 0)
    }

    @Test func judgesTheCaptureOnce() throws {
        let source = CountingSource()
        let filter = try FilterReader.read("finding=URL-* or ~e", for: .exchanges)
        let capture = Self.capture(filter, source)
        #expect(try source.records.exchangeRecords.count { try capture.accepts($0) } == 2)
        #expect(source.passes == 1)
    }

    @Test func messagesAreFoundByWhatWasRecorded() throws {
        let filter = try FilterReader.read("body~secret and direction=client", for: .messages)
        var record = MessageRecord(
            connection: 1, exchange: 4, number: 7, at: SampleCapture.start, direction: .request,
            kind: .text)
        record.size = 8
        let message = MessageSubject(
            record, size: 8, detail: "", recorded: Array("a Secret".utf8))
        #expect(try filter.accepts(message))
        for (text, isWanted) in [
            ("kind=text and size=8 and exchange=4 and id=7", true), ("~s", false), ("~q", true),
            ("~b 'a s'", true), ("detail=*", false), ("secret", true), ("time=07:05", true),
        ] {
            #expect(try FilterReader.read(text, for: .messages).accepts(message) == isWanted)
        }
    }
}
