import Base
import Testing
import Traffic

@testable import Filters

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
    ]

    @Test(arguments: acceptsExchangesRows)
    func acceptsExchanges(_ row: Row) throws {
        let source = SampleCapture.source()
        let filter = try FilterReader.read(row.filter, for: .exchanges)
        let clients = Dictionary(
            uniqueKeysWithValues: source.connectionRecords.map { ($0.id, $0.client) })
        let ids = source.exchangeRecords.filter { exchange in
            let client = clients[exchange.connection] ?? ""
            return filter.accepts(ExchangeSubject(exchange: exchange, client: client))
        }
        .map(\.id)
        #expect(ids == row.ids)
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
    ]

    @Test(arguments: acceptsConnectionsRows)
    func acceptsConnections(_ row: Row) throws {
        let filter = try FilterReader.read(row.filter, for: .connections)
        let ids = SampleCapture.source().connectionRecords.filter {
            filter.accepts(ConnectionSubject(record: $0))
        }
        .map(\.id)
        #expect(ids == row.ids)
    }
}
