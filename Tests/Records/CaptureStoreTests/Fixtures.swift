import Base
import Traffic

@testable import CaptureStore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A folder of a test's own, removed with all in it when the test is done.
final class TemporaryFolder {
    let path: String

    init() {
        var template = [CChar]("/tmp/capture-store-XXXXXX".utf8CString)
        path = unsafe String(cString: mkdtemp(&template))
    }

    deinit {
        for name in names { unsafe unlink(path + "/" + name) }
        unsafe rmdir(path)
    }

    /// The names of what is in it, sorted.
    var names: [String] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe [UInt8](bytes.prefix { $0 != 0 }).text
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func file(_ name: String) -> String { path + "/" + name }
}

/// Reads a whole file; empty if it cannot be.
func contents(of path: String) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = unsafe read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return result }
        result += buffer[..<count]
    }
}

func write(_ bytes: [UInt8], to path: String, mode: mode_t = 0o644) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, mode)
    precondition(descriptor >= 0, "cannot write a test's file")
    defer { close(descriptor) }
    var start = 0
    while start < bytes.count {
        let count = unsafe bytes.withUnsafeBytes {
            unsafe write(descriptor, $0.baseAddress! + start, bytes.count - start)
        }
        precondition(count > 0, "cannot write a test's file")
        start += count
    }
}

func mode(of path: String) -> mode_t? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o777 : nil
}

/// Two runs of FNV-1a: no protection from anybody, but distinct for a test's contents.
func standInDigest(_ bytes: [UInt8]) -> [UInt8] {
    var words: [UInt64] = [0xCBF2_9CE4_8422_2325, 0x8422_2325_CBF2_9CE4]
    for byte in bytes {
        words[0] = (words[0] ^ UInt64(byte)) &* 0x100_0000_01B3
        words[1] = (words[1] &+ UInt64(byte)) &* 0x9E37_79B9_7F4A_7C15
    }
    return words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
}

/// A configuration whose writer does not wait for company.
var quick: CaptureConfiguration {
    var configuration = CaptureConfiguration(digest: standInDigest)
    configuration.gatheringMicroseconds = 0
    return configuration
}

/// Writes events into a capture and closes it.
func record(
    _ events: [TrafficEvent], into path: String, _ configuration: CaptureConfiguration = quick
) throws {
    let writer = try CaptureWriter(path: path, configuration: configuration)
    writer.submit(events)
    try writer.close()
}

func makeConnection(_ id: Int64, outcome: ConnectionRecord.Outcome = .completed) -> ConnectionRecord
{
    var record = ConnectionRecord(
        id: id, openedAt: Timestamp(microseconds: 1_700_000_000_000_000 + id),
        client: "127.0.0.1:50000", listener: "127.0.0.1:8080", mode: .explicit)
    record.outcome = outcome
    return record
}

/// A whole exchange whose content follows from its number.
func makeExchange(
    _ id: Int64, connection: Int64 = 1, body: [UInt8] = [UInt8]("hello".utf8)
) -> ExchangeRecord {
    var record = ExchangeRecord(
        id: id, connection: connection,
        startedAt: Timestamp(microseconds: 1_700_000_000_000_000 + id),
        scheme: .https, authority: "origin.example")
    record.requestHead = [UInt8]("GET /item/\(id) HTTP/1.1\r\nHost: origin.example\r\n\r\n".utf8)
    record.responseHead = [UInt8]("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8)
    record.status = 200
    record.durationMicroseconds = 900
    record.firstByteMicroseconds = 500
    record.responseBody.size = Int64(body.count)
    record.responseBody.bytes = body
    return record
}

func makeMessage(
    _ number: Int64, of connection: Int64 = 1, exchange: Int64? = nil,
    bytes: [UInt8] = [UInt8]("hello".utf8)
) -> MessageRecord {
    var record = MessageRecord(
        connection: connection, exchange: exchange, number: number,
        at: Timestamp(microseconds: 1_700_000_000_000_000 + number),
        direction: number % 2 == 0 ? .response : .request, kind: .text)
    record.size = Int64(bytes.count)
    record.bytes = bytes
    return record
}

extension CaptureReader {
    func allMessages(
        ofConnection id: Int64, exchange: Int64? = nil
    ) throws -> [MessageRecord] {
        var records: [MessageRecord] = []
        try messages(ofConnection: id, exchange: exchange) { record in
            records.append(record)
            return true
        }
        return records
    }

    func allConnections() throws -> [ConnectionRecord] {
        var records: [ConnectionRecord] = []
        try connections { record in
            records.append(record)
            return true
        }
        return records
    }

    func allExchanges() throws -> [ExchangeRecord] {
        var records: [ExchangeRecord] = []
        try exchanges { record in
            records.append(record)
            return true
        }
        return records
    }

    func wholeBody(of exchange: Int64, _ direction: Direction) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try body(ofExchange: exchange, direction) { part in
            bytes += part
            return true
        }
        return bytes
    }
}

/// What a record holds, field by field, to be compared.
func dump(_ record: Any) -> String {
    var text = ""
    Swift.dump(record, to: &text)
    return text
}
