import Base
import Synchronization
import Testing
import Traffic

@testable import CaptureStore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct CaptureWriterTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("a.sallyport") }

    // MARK: Opening

    @Test func createsForTheOwnerAlone() throws {
        let before = umask(0)
        defer { umask(before) }
        let writer = try CaptureWriter(path: path, configuration: quick)
        #expect(folder.names == ["a.sallyport", "a.sallyport-shm", "a.sallyport-wal"])
        for name in folder.names { #expect(mode(of: folder.file(name)) == 0o600, "\(name)") }
        try writer.close()
        #expect(folder.names == ["a.sallyport"])
    }

    @Test func aStartThatFailedLeavesNothing() throws {
        do { _ = try CaptureWriter(path: path, configuration: quick) }
        #expect(folder.names.isEmpty)
    }

    /// What was there before, or holds something, stays.
    @Test func abandonsOnlyWhatIsItsOwnAndEmpty() throws {
        write([], to: path)
        try CaptureWriter(path: path, configuration: quick).abandon()
        #expect(folder.names == ["a.sallyport"])
        let other = folder.file("b.sallyport")
        let writer = try CaptureWriter(path: other, configuration: quick)
        writer.submit([.exchange(makeExchange(1))])
        writer.abandon()
        #expect(try CaptureReader(path: other).counts().exchanges == 1)
    }

    @Test func anEmptyFileBecomesACapture() throws {
        write([], to: path, mode: 0o644)
        try record([.exchange(makeExchange(1))], into: path)
        #expect(mode(of: path) == 0o600)
        #expect(try CaptureReader(path: path).counts().exchanges == 1)
    }

    @Test(arguments: [0o644, 0o640, 0o604, 0o666])
    func takesACaptureFromOthersBeforeItAdds(mode before: mode_t) throws {
        try record([.exchange(makeExchange(1))], into: path)
        unsafe chmod(path, before)
        let writer = try CaptureWriter(path: path, configuration: quick)
        for name in folder.names { #expect(mode(of: folder.file(name)) == 0o600, "\(name)") }
        try writer.close()
        #expect(mode(of: path) == 0o600)
    }

    /// Numbers that leave none for what is added.
    @Test(arguments: [
        "UPDATE exchange SET id = 9223372036854775807",
        "UPDATE connection SET id = 9223372036854775807",
        "UPDATE chunk SET id = 9223372036854775807",
        "UPDATE certificate SET id = 9223372036854775807",
    ])
    func addsNothingBehindTheHighestNumber(sql: String) throws {
        var connection = makeConnection(1)
        var tls = TLSRecord()
        tls.chain = [[1]]
        connection.clientTLS = tls
        try record([.connection(connection), .exchange(makeExchange(1))], into: path)
        try Database(path: path, access: .write).execute(sql)
        let failure = #expect(throws: Failure.self) {
            try CaptureWriter(path: path, configuration: quick)
        }
        #expect(failure?.code == "capture-write-failed")
    }

    @Test func namesWithMeaningToSQLiteAreFiles() throws {
        let here = folder.file(":memory:")
        try record([.exchange(makeExchange(1))], into: here)
        #expect(folder.names == [":memory:"])
    }

    @Test func numbersGoOn() throws {
        let first = try CaptureWriter(path: path, configuration: quick)
        #expect(first.nextConnectionID == 1)
        #expect(first.nextExchangeID == 1)
        first.submit([
            .connection(makeConnection(41)), .exchange(makeExchange(7)), .exchange(makeExchange(3)),
        ])
        try first.close()
        let second = try CaptureWriter(path: path, configuration: quick)
        #expect(second.nextConnectionID == 42)
        #expect(second.nextExchangeID == 8)
        second.submit([.exchange(makeExchange(8))])
        try second.close()
        let reader = try CaptureReader(path: path)
        #expect(try reader.allExchanges().map(\.id) == [3, 7, 8])
        #expect(try reader.verify() == [])
    }

    @Test func openConnectionsBecomeLost() throws {
        try record(
            [.connection(makeConnection(1, outcome: .open)), .connection(makeConnection(2))],
            into: path)
        let reader = try CaptureReader(path: path)
        #expect(try reader.allConnections().map(\.outcome) == [.open, .completed])
        try record([], into: path)
        #expect(try reader.allConnections().map(\.outcome) == [.lost, .completed])
    }

    @Test(arguments: CaptureReaderTests.foreignRows.filter { $0.bytes?.isEmpty == false })
    func refusesAndLeaves(_ row: CaptureReaderTests.ForeignRow) throws {
        write(row.bytes ?? [], to: path, mode: 0o640)
        let failure = #expect(throws: Failure.self) {
            try CaptureWriter(path: path, configuration: quick)
        }
        #expect(failure?.code == row.code)
        #expect(contents(of: path) == row.bytes)
        #expect(mode(of: path) == 0o640)
        #expect(folder.names == ["a.sallyport"])
    }

    @Test func refusesALink() throws {
        try record([], into: path)
        let before = contents(of: path)
        let link = folder.file("link")
        unsafe symlink(path, link)
        let failure = #expect(throws: Failure.self) {
            try CaptureWriter(path: link, configuration: quick)
        }
        #expect(failure?.code == "capture-not-a-capture")
        #expect(contents(of: path) == before)
        unsafe symlink(folder.file("nowhere"), folder.file("dangling"))
        #expect(throws: Failure.self) {
            try CaptureWriter(path: folder.file("dangling"), configuration: quick)
        }
        #expect(!folder.names.contains("nowhere"))
    }

    @Test func refusesAFolderAndAMissingOne() throws {
        let row = [
            (folder.path, "capture-not-a-capture"), (folder.file("no/a"), "capture-write-failed"),
        ]
        for (path, code) in row {
            let failure = #expect(throws: Failure.self) {
                try CaptureWriter(path: path, configuration: quick)
            }
            #expect(failure?.code == code)
        }
    }

    @Test func refusesANewerSchema() throws {
        try record([.exchange(makeExchange(1))], into: path)
        try Database(path: path, access: .write).execute(
            "PRAGMA user_version = \(Schema.version + 1)")
        let before = contents(of: path)
        let reading = #expect(throws: Failure.self) { try CaptureReader(path: path) }
        #expect(reading?.code == "capture-newer")
        let writing = #expect(throws: Failure.self) {
            try CaptureWriter(path: path, configuration: quick)
        }
        #expect(writing?.code == "capture-newer")
        #expect(contents(of: path) == before)
        #expect(folder.names == ["a.sallyport"])
    }

    @Test func refusesASecondWriter() throws {
        let first = try CaptureWriter(path: path, configuration: quick)
        first.submit([.connection(makeConnection(1, outcome: .open))])
        let failure = #expect(throws: Failure.self) {
            try CaptureWriter(path: path, configuration: quick)
        }
        #expect(failure?.code == "capture-in-use")
        try first.close()
        #expect(try CaptureReader(path: path).allConnections().map(\.outcome) == [.open])
        try record([], into: path)
    }

    // MARK: Rows

    @Test("What is told once of a leg stays, where a later event of a connection leaves it empty")
    func laterRecordsKeepWhatIsToldOnce() throws {
        var first = makeConnection(1, outcome: .open)
        var tls = TLSRecord()
        tls.clientHello = [1, 2, 3]
        tls.keyLog = ["CLIENT_RANDOM 00 01"]
        tls.chain = [[4], [5]]
        (first.clientTLS, first.originTLS) = (tls, tls)
        var last = makeConnection(1)
        var later = TLSRecord()
        later.version = "TLSv1.3"
        (last.clientTLS, last.originTLS) = (later, later)
        try record([.connection(first)], into: path)
        try record([.connection(last)], into: path)
        let found = try #require(try CaptureReader(path: path).allConnections().first)
        #expect(found.outcome == .completed)
        for leg in [found.clientTLS, found.originTLS] {
            #expect(leg?.version == "TLSv1.3")
            #expect(leg?.clientHello == tls.clientHello)
            #expect(leg?.keyLog == tls.keyLog)
            #expect(leg?.chain == tls.chain)
        }
    }

    @Test func laterRecordsReplaceEarlierOnes() throws {
        var connection = makeConnection(1, outcome: .open)
        var exchange = makeExchange(1, body: [UInt8]("so far".utf8))
        exchange.durationMicroseconds = nil
        var events: [TrafficEvent] = [.connection(connection), .exchange(exchange)]
        connection.outcome = .broken
        connection.clientTLS = TLSRecord()
        exchange = makeExchange(1, body: [UInt8]("all of it".utf8))
        exchange.interimHeads = [[UInt8]("HTTP/1.1 100 Continue\r\n\r\n".utf8)]
        events += [.connection(connection), .exchange(exchange)]
        try record(events, into: path)
        let reader = try CaptureReader(path: path)
        #expect(try reader.allConnections().map { dump($0) } == [dump(connection)])
        #expect(try reader.wholeBody(of: 1, .response) == [UInt8]("all of it".utf8))
        exchange.responseBody.bytes = []
        #expect(try reader.allExchanges().map { dump($0) } == [dump(exchange)])
        #expect(try reader.verify() == [])
    }

    struct BodyRow: Sendable, CustomTestStringConvertible {
        let name: String
        var chunks: [[UInt8]] = []
        var inline: [UInt8] = []
        /// How many rows of parts there are in the end.
        let parts: Int64
        var testDescription: String { name }
    }

    static let bodyRows = [
        BodyRow(name: "none", parts: 0),
        BodyRow(name: "one byte", inline: [0], parts: 0),
        BodyRow(name: "1 MiB", inline: [UInt8](repeating: 7, count: 1 << 20), parts: 0),
        BodyRow(
            name: "more than 1 MiB", inline: [UInt8](repeating: 7, count: 1 << 20 | 1), parts: 2),
        BodyRow(name: "chunks", chunks: [[1, 2], [3], [1, 2]], parts: 3),
        BodyRow(name: "chunks and a rest", chunks: [[1, 2], [3]], inline: [4], parts: 3),
        BodyRow(
            name: "large chunks",
            chunks: Array(repeating: [UInt8](repeating: 5, count: 262_144), count: 4),
            parts: 4),
    ]

    @Test(arguments: bodyRows, [Direction.request, .response])
    func bodyComesBack(_ row: BodyRow, _ direction: Direction) throws {
        let whole = row.chunks.flatMap(\.self) + row.inline
        var body = BodyRecord()
        body.bytes = row.inline
        body.chunkCount = row.chunks.count
        body.size = Int64(whole.count)
        var exchange = makeExchange(1, body: [])
        if direction == .request {
            exchange.requestBody = body
        } else {
            exchange.responseBody = body
        }
        let chunks = row.chunks.enumerated().map { sequence, bytes in
            TrafficEvent.bodyChunk(
                exchange: 1, direction: direction, sequence: sequence, bytes: bytes)
        }
        try record(chunks + [.exchange(exchange)], into: path)
        let reader = try CaptureReader(path: path)
        #expect(try reader.wholeBody(of: 1, direction) == whole)
        #expect(try reader.recordedSize(ofExchange: 1, direction) == Int64(whole.count))
        #expect(try reader.database.integer("SELECT count(*) FROM part") == row.parts)
        #expect(try reader.verify() == [])
    }

    @Test func chunksWithoutARecordHaveAnOwner() throws {
        try record(
            [.bodyChunk(exchange: 5, direction: .request, sequence: 0, bytes: [1])], into: path)
        let reader = try CaptureReader(path: path)
        let exchange = try #require(try reader.exchange(5))
        #expect(exchange.connection == 0)
        #expect(exchange.durationMicroseconds == nil)
        #expect(exchange.isHeadMissing)
        #expect(exchange.requestBody.size == 1)
        #expect(exchange.requestBody.isTruncated)
        #expect(try reader.wholeBody(of: 5, .request) == [1])
        #expect(try reader.counts().unfinishedExchanges == 1)
        #expect(try reader.verify() == [])
    }

    @Test func chunksReplaceWhatWasThereSoFar() throws {
        var exchange = makeExchange(1, body: [1, 2])
        exchange.durationMicroseconds = nil
        try record(
            [
                .exchange(exchange),
                .bodyChunk(exchange: 1, direction: .response, sequence: 0, bytes: [1, 2, 3]),
            ], into: path)
        let reader = try CaptureReader(path: path)
        #expect(try reader.wholeBody(of: 1, .response) == [1, 2, 3])
        #expect(try reader.allExchanges().map(\.authority) == ["origin.example"])
        #expect(try reader.verify() == [])
    }

    @Test func equalContentIsStoredOnce() throws {
        let small = [UInt8](repeating: 1, count: 100)
        let large = [UInt8](repeating: 2, count: 5000)
        var events: [TrafficEvent] = []
        for id in 1...20 as ClosedRange<Int64> {
            events.append(.exchange(makeExchange(id, body: id % 2 == 0 ? small : large)))
        }
        try record(events, into: path)
        let reader = try CaptureReader(path: path)
        #expect(try reader.database.integer("SELECT count(*) FROM chunk") == 2)
        // A later writer remembers nothing, and finds large content by the index.
        try record(
            [.exchange(makeExchange(30, body: large)), .exchange(makeExchange(31, body: small))],
            into: path)
        #expect(try reader.database.integer("SELECT count(*) FROM chunk") == 3)
        #expect(try reader.wholeBody(of: 30, .response) == large)
        #expect(try reader.verify() == [])
    }

    @Test func certificatesAreStoredOnce() throws {
        for run in 0..<2 as Range<Int64> {
            let events = (1...10 as ClosedRange<Int64>).map { id in
                var connection = makeConnection(run * 10 + id)
                var tls = TLSRecord()
                tls.chain = [[UInt8](repeating: UInt8(id % 3), count: 900), [9, 9]]
                connection.originTLS = tls
                return TrafficEvent.connection(connection)
            }
            try record(events, into: path)
        }
        let reader = try CaptureReader(path: path)
        #expect(try reader.database.integer("SELECT count(*) FROM certificate") == 4)
        #expect(try reader.allConnections().count == 20)
        #expect(try reader.verify() == [])
    }

    // MARK: Pressure

    @Test func congestionSlowsDownAndNothingIsDropped() throws {
        let gate = WakeSignal()
        var configuration = CaptureConfiguration { bytes in
            gate.wait(lowering: false)
            return standInDigest(bytes)
        }
        configuration.queueByteLimit = 64 << 10
        let writer = try CaptureWriter(path: path, configuration: configuration)
        let atOnce = Mutex(false)
        writer.whenRoom { atOnce.withLock { $0 = true } }
        let wasCalled = atOnce.withLock { $0 }
        #expect(wasCalled)
        var count: Int64 = 0
        while !writer.isCongested {
            count += 1
            writer.submit([.exchange(makeExchange(count))])
            try #require(count < 1000)
        }
        // Congested means slow down, not stop: what is submitted still counts.
        writer.submit((1...500).map { .exchange(makeExchange(count + $0)) })
        count += 500
        let room = WakeSignal()
        let early = Mutex(true)
        writer.whenRoom {
            early.withLock { $0 = writer.isCongested }
            room.raise()
        }
        gate.raise()
        room.wait(lowering: true)
        let wasEarly = early.withLock { $0 }
        #expect(!wasEarly)
        try writer.close()
        let reader = try CaptureReader(path: path)
        #expect(try reader.allExchanges().map(\.id) == Array(1...count))
        #expect(try reader.verify() == [])
    }

    @Test func manyLoopsSubmitAtOnce() async throws {
        let writer = try CaptureWriter(path: path, configuration: quick)
        await withTaskGroup { group in
            for loop in 0..<4 as Range<Int64> {
                group.addTask {
                    for id in 0..<500 as Range<Int64> {
                        writer.submit([.exchange(makeExchange(loop * 1000 + id + 1))])
                    }
                }
            }
        }
        try writer.close()
        #expect(try CaptureReader(path: path).counts().exchanges == 2000)
    }

    @Test func aFullDiskIsTold() throws {
        var configuration = quick
        configuration.pageLimit = 60
        configuration.queueByteLimit = 1 << 20
        let writer = try CaptureWriter(path: path, configuration: configuration)
        #expect(writer.failure == nil)
        var id: Int64 = 0
        while writer.failure == nil, id < 100_000 {
            id += 1
            writer.submit([
                .exchange(makeExchange(id, body: [UInt8](repeating: UInt8(id & 255), count: 2000)))
            ])
        }
        #expect(writer.failure?.code == "capture-write-failed")
        // No loop waits for a writer that writes no more.
        writer.submit((1...2000).map { .exchange(makeExchange(id + $0)) })
        let room = WakeSignal()
        writer.whenRoom { room.raise() }
        room.wait(lowering: true)
        let failure = #expect(throws: Failure.self) { try writer.close() }
        #expect(failure == writer.failure)
        #expect(failure?.hint != nil)
        // What was committed until then is whole.
        let reader = try CaptureReader(path: path)
        let kept = try reader.allExchanges().map(\.id)
        #expect(kept == (0..<kept.count).map { Int64($0) + 1 })
        #expect(kept.count < Int(id))
        #expect(try reader.verify() == [])
        #expect(try reader.isInterrupted)
    }

    @Test func aWriterThatNeverClosedIsTold() throws {
        try record([.exchange(makeExchange(1))], into: path)
        #expect(try !CaptureReader(path: path).isInterrupted)
        let writer = try CaptureWriter(path: path, configuration: quick)
        #expect(try !CaptureReader(path: path).isInterrupted)
        let link = path + ".link"
        #expect(unsafe symlink(path, link) == 0)
        #expect(try !CaptureReader(path: link).isInterrupted)
        // As a killed one leaves it.
        let left = path + ".left"
        for end in ["", "-wal"] { write(contents(of: path + end), to: left + end) }
        try writer.close()
        #expect(try !CaptureReader(path: path).isInterrupted)
        #expect(try CaptureReader(path: left).isInterrupted)
        // The main file alone, and what others have recorded behind it.
        write(contents(of: left), to: left + ".copy")
        for name in [left, left + ".copy"] {
            try record([.exchange(makeExchange(2))], into: name)
            #expect(try CaptureReader(path: name).isInterrupted)
        }
        let reader = try CaptureReader(path: left)
        #expect(try reader.database.integer(Self.interruptions) == 1)
        #expect(try reader.verify() == [])
    }

    private static let interruptions = "SELECT value FROM meta WHERE key = 'interruptions'"

    @Test func closingTwiceAndSubmittingLaterAreHarmless() throws {
        let writer = try CaptureWriter(path: path, configuration: quick)
        try writer.close()
        writer.submit([.exchange(makeExchange(1))])
        try writer.close()
        #expect(try CaptureReader(path: path).counts().exchanges == 0)
    }

    @Test func transactionsEndByCountAndSize() throws {
        for (events, bytes) in [(3, 1 << 20), (1000, 2000)] {
            var configuration = CaptureConfiguration(digest: standInDigest)
            configuration.transactionEventLimit = events
            configuration.transactionByteLimit = bytes
            try record((1...50).map { .exchange(makeExchange($0)) }, into: path, configuration)
            let reader = try CaptureReader(path: path)
            #expect(try reader.counts().exchanges == 50)
            #expect(try reader.verify() == [])
        }
    }
}
