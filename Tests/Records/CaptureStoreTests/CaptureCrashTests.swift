import Base
import Testing
import Traffic

@testable import CaptureStore

/// What a kill at any moment leaves: the main file and the log as they are, without a close.
@Suite struct CaptureCrashTests {
    private let folder = TemporaryFolder()

    /// Copies the files 20 times while the writer works, opens each copy, and looks for anything
    /// half.
    ///
    /// The copies are made inside of a reader's visit: it keeps the writer from starting the log
    /// anew, so that main file and log belong together although they are copied one after the
    /// other; the log replays every page that a checkpoint touches meanwhile.
    @Test func everyCommittedExchangeIsWhole() throws {
        let path = folder.file("a.sallyport")
        try record([.connection(makeConnection(1, outcome: .completed))], into: path)
        var configuration = quick
        configuration.transactionEventLimit = 13
        configuration.checkpointBytes = 512 << 10
        let writer = try CaptureWriter(path: path, configuration: configuration)
        let reader = try CaptureReader(path: path)
        var next: Int64 = 1
        var copies: [(path: String, committed: Int64)] = []
        for moment in 0..<20 {
            for _ in 0..<100 {
                writer.submit(events(for: next))
                next += 1
            }
            // The writer is at work: something of these was committed, and most was not.
            while try reader.counts().exchanges <= copies.last?.committed ?? 0 {}
            let copy = folder.file("copy-\(moment)")
            try reader.connections { _ in
                copies.append((copy, try reader.counts().exchanges))
                let log = contents(of: path + "-wal")
                let main = contents(of: path)
                write(moment % 2 == 0 ? main : afterOnePage(of: log, over: main), to: copy)
                write(log, to: copy + "-wal")
                return false
            }
        }
        try writer.close()
        for copy in copies { try check(copy.path, committed: copy.committed) }
        try check(path, committed: next - 1)
    }

    private func check(_ path: String, committed: Int64) throws {
        let writer = try CaptureWriter(path: path, configuration: quick)
        let reader = try CaptureReader(path: path)
        let exchanges = try reader.allExchanges()
        #expect(exchanges.map(\.id) == Array(0..<Int64(exchanges.count)).map { $0 + 1 })
        #expect(Int64(exchanges.count) >= committed)
        #expect(writer.nextExchangeID == Int64(exchanges.count) + 1)
        for exchange in exchanges where exchange.durationMicroseconds != nil {
            let body = try reader.wholeBody(of: exchange.id, .response)
            #expect(body == content(of: exchange.id))
        }
        let messages = try reader.allMessages(ofConnection: 1)
        #expect(messages.map(\.number) == exchanges.prefix(messages.count).map(\.id))
        #expect(messages.count + 1 >= exchanges.count)
        for message in messages { #expect(message.bytes == content(of: message.number)) }
        // Only the last one may be in progress: events are committed in order.
        #expect(exchanges.dropLast().allSatisfy { $0.durationMicroseconds != nil })
        #expect(try reader.allConnections().allSatisfy { $0.outcome != .open })
        #expect(try reader.verify() == [])
        try writer.close()
    }

    /// The main file as a checkpoint leaves it that was killed after its first page: that page then
    /// speaks of more pages than the file has (SQLite's file format §4.1).
    private func afterOnePage(of log: [UInt8], over main: [UInt8]) -> [UInt8] {
        guard log.count > 32 else { return main }
        let pageSize = number(log, 8)
        var committed: ArraySlice<UInt8> = []
        var latest: ArraySlice<UInt8> = []
        var frame = 32
        while frame + 24 + pageSize <= log.count, log[frame + 8..<frame + 16] == log[16..<24] {
            if number(log, frame) == 1 { latest = log[frame + 24..<frame + 24 + pageSize] }
            if number(log, frame + 4) != 0 { committed = latest }
            frame += 24 + pageSize
        }
        return committed.isEmpty ? main : [UInt8](committed) + main.dropFirst(pageSize)
    }

    private func number(_ bytes: [UInt8], _ offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Every tenth content goes ahead in chunks; every 50th exchange has a connection.
    private func events(for id: Int64) -> [TrafficEvent] {
        var events: [TrafficEvent] = []
        if id % 50 == 0 { events.append(.connection(makeConnection(id, outcome: .open))) }
        var exchange = makeExchange(id, body: content(of: id))
        if id % 10 == 0 {
            let body = content(of: id)
            let half = body.count / 2
            for (sequence, part) in [body[..<half], body[half...]].enumerated() {
                events.append(
                    .bodyChunk(
                        exchange: id, direction: .response, sequence: sequence, bytes: [UInt8](part)
                    ))
            }
            exchange.responseBody.chunkCount = 2
            exchange.responseBody.bytes = []
        }
        // As many messages as exchanges: each is committed with its own, or with a later one.
        let message = makeMessage(id, exchange: id, bytes: content(of: id))
        return events + [.exchange(exchange), .message(message)]
    }

    private func content(of id: Int64) -> [UInt8] {
        let size = id % 10 == 0 ? 20_000 : Int(id % 7) * 700 + 9
        let mark = [UInt8]("\(id) ".utf8)
        return mark + [UInt8](repeating: UInt8(truncatingIfNeeded: id), count: size - mark.count)
    }
}
