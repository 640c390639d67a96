internal import Base
internal import CaptureStore
internal import TLS
internal import Traffic

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

extension FuzzedReader {
    /// A capture file with changes: each is a place in three bytes, a length and the new bytes.
    static let captures = FuzzedReader(
        "capture", lengthLimit: 1024, isCut: false,
        words: [
            "\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}", "CREATE TABLE", "SQLite format 3",
        ],
        seeds: { [[0, 0, 18, 1, 1], [0, 16, 0, 4, 13, 0, 0, 0], [0, 0x40, 3, 2, 0, 9]] },
        run: { bytes, _, transcript in
            var file = CaptureFileSample.bytes
            var place = 0
            while place + 4 <= bytes.count {
                let target = bytes[place..<place + 3].reduce(0) { $0 << 8 | Int($1) }
                let end = min(bytes.count, place + 4 + Int(bytes[place + 3] & 31))
                for (index, byte) in bytes[place + 4..<end].enumerated() {
                    file[(target + index) % file.count] = byte
                }
                place = end
            }
            CaptureFileSample.read(file, of: bytes, &transcript)
        })
}

private enum CaptureFileSample {
    private static let path = "/dev/shm/sallyport-fuzz-\(getpid()).sallyport"

    /// A capture of `Records.sample`.
    static let bytes = makeBytes()

    private static func makeBytes() -> [UInt8] {
        let path = "\(Self.path).sample"
        defer { Files.remove(path) }
        do throws(Failure) {
            let writer = try CaptureWriter(
                path: path,
                configuration: CaptureConfiguration(digest: { TLS.Digests.sha256($0) }))
            writer.submit(Records.sample)
            try writer.close()
            return try Files.read(path)
        } catch { Oracle.fail("no capture: \(error.detail)") }
    }

    /// - Parameter changes: what the file was made of.
    static func read(
        _ file: [UInt8], of changes: [UInt8], _ transcript: inout Transcript
    ) {
        defer { Files.remove(path) }
        do {
            try Files.replace(path, file)
            let reader = try CaptureReader(path: path)
            let capture = MemoryCapture()
            var events: [TrafficEvent] = []
            try reader.connections { record in
                events.append(.connection(record))
                try reader.messages(ofConnection: record.id, exchange: nil) { message in
                    events.append(.message(message))
                    return events.count < eventLimit
                }
                return events.count < eventLimit
            }
            try reader.exchanges { record in
                events.append(.exchange(record))
                for direction in [Direction.request, .response] {
                    var sequence = 0
                    try reader.body(ofExchange: record.id, direction) { bytes in
                        events.append(
                            .bodyChunk(
                                exchange: record.id, direction: direction, sequence: sequence,
                                bytes: bytes))
                        sequence += 1
                        return sequence < 8
                    }
                }
                return events.count < eventLimit
            }
            var rows = 0
            try reader.summaries(ExchangeQuery()) { _ in
                rows += 1
                return rows < eventLimit
            }
            try reader.changes(since: 0) { _ in
                rows += 1
                return rows < 2 * eventLimit
            }
            transcript.note("flaws", try reader.verify().count)
            transcript.note("interrupted", try reader.isInterrupted ? 1 : 0)
            capture.submit(events)
            Exports.run(capture, for: changes)
        } catch { transcript.note("unreadable", text: "\(error)") }
    }

    /// Of one file; a page that refers to itself has no end.
    private static let eventLimit = 256
}
