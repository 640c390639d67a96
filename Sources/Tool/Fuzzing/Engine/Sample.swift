internal import Base
internal import Filters
internal import Findings
internal import TLS
internal import Traffic

/// Records that stand for what is not fuzzed.
enum Sample {
    static let findings = FindingsConfiguration(
        digests: DigestFunctions(
            sha256: { TLS.Digests.sha256($0) }, sha1: { TLS.Digests.sha1($0) },
            md5: { TLS.Digests.md5($0) }, hmacSHA256: { TLS.Digests.hmacSHA256(key: $0, $1) }),
        runKey: [UInt8](repeating: 7, count: 32), registrableDomain: { $0 })

    static let exchange = makeExchange()

    private static func makeExchange() -> ExchangeRecord {
        var record = ExchangeRecord(
            id: 1, connection: 1, startedAt: Timestamp(microseconds: 1_700_000_000_000_000),
            scheme: .https, authority: "a.example")
        record.requestHead = Array(
            "GET /path?query=1 HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\n\r\n".utf8)
        record.responseHead = Array("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n".utf8)
        record.status = 200
        record.durationMicroseconds = 1500
        return record
    }
}

final class SampleFilterSource: FilterSource {
    func connection(_ id: Int64) throws -> ConnectionRecord? { nil }
    func findings(ofExchange id: Int64) throws -> [FilterFinding] { [] }
    func findings(ofConnection id: Int64) throws -> [FilterFinding] { [] }

    func content(
        of exchange: ExchangeRecord, _ direction: Direction,
        _ visit: (ArraySlice<UInt8>) throws -> Bool
    ) throws {
        _ = try visit(Array(String(repeating: "aaaaaaaaaaaaaaaa\n", count: 32).utf8)[...])
    }
}
