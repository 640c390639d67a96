import Base
import Testing

@testable import Transfer

@Suite(.serialized) struct JournalTests {
    static let records: [JournalRecord] = {
        var plan = TransferPlan(.upload, "https://a.test/?q=\u{fc}", file: "/a\n\"b", session: "s")
        plan.options.isDiscretionary = true
        plan.options.isFromStranger = true
        plan.options.storage = .completeUnlessOpen
        plan.options.expected = ExpectedDigest(.sha512, [UInt8](repeating: 3, count: 64))
        plan.options.fields = [TransferField("A", "b")]
        plan.options.pins = [[1, 2]]
        plan.options.byteLimit = 5
        plan.options.credential = "mine"
        var version = SavedVersion(url: "http://b.test/")
        version.entityTag = "\"\\a\""
        version.length = .max
        version.digests = [ExpectedDigest(.sha256, [UInt8](repeating: 9, count: 32))]
        return [
            .created(plan, at: Timestamp(microseconds: 77)), .optionsChanged(plan.options),
            .resumed(true), .network("a net:[1]"), .head(version), .hop("http://c.test/"),
            .progress(BlockCheck(end: 70_000, count: 65_536, checksum: .max), from: 0),
            .forgotten, .restarted("416"), .verified(VerifiedContent(size: 9, sha256: [1, 2, 3])),
            .verified(
                VerifiedContent(
                    size: 9, sha256: nil,
                    in: FileIdentity(
                        device: 1, inode: .max, size: 9, modified: .min, changed: 2))),
            .completed(path: "/x"), .failed(Failure("a-b", party: .origin, "c", hint: "d")),
            .cancelled, .authenticationAsked(schemes: ["basic"], host: "a"),
            .pauseAsked(until: Timestamp(microseconds: 78), Failure("e-f", party: .origin, "g")),
            .delivered(1), .acknowledged(2),
            .upload(Array("{\"a\":1}".utf8)),
        ]
    }()

    @Test func recordsAreReadAsTheyWereWritten() {
        var reader = JournalReader(Self.records.flatMap { JournalReader.frame($0) })
        var read: [JournalRecord] = []
        while let record = reader.next() { read.append(record) }
        #expect(read == Self.records)
    }

    /// Cut anywhere, all records that are whole are read, and no other.
    @Test func aTornTailIsNoRecord() {
        let frames = Self.records.map { JournalReader.frame($0) }
        let whole = frames.flatMap { $0 }
        for count in 0...whole.count {
            var reader = JournalReader(Array(whole.prefix(count)))
            var (number, end) = (0, 0)
            while reader.next() != nil { number += 1 }
            while end < frames.count, frames[...end].reduce(0, { $0 + $1.count }) <= count {
                end += 1
            }
            #expect(number == end)
            #expect(reader.end == frames.prefix(end).reduce(0) { $0 + $1.count })
        }
    }

    /// A bit that is turned ends what is read.
    @Test func aTurnedBitIsSeen() {
        let frames = Self.records.prefix(3).map { JournalReader.frame($0) }
        let whole = frames.flatMap { $0 }
        for index in frames[0].count..<whole.count {
            for bit in 0..<8 {
                var bytes = whole
                bytes[index] ^= 1 << bit
                var reader = JournalReader(bytes)
                var read: [JournalRecord] = []
                while let record = reader.next() { read.append(record) }
                let isSecond = index < frames[0].count + frames[1].count
                #expect(read == Array(Self.records.prefix(isSecond ? 1 : 2)))
            }
        }
    }

    @Test func anyBytesAreRead() {
        for seed in UInt64(0)..<300 {
            let bytes = (0..<200).map { UInt8(truncatingIfNeeded: SplitMix.word(seed: seed, $0)) }
            var reader = JournalReader(bytes)
            #expect(reader.next() == nil)
        }
    }

    /// What the disk has lost in spite of all is fetched again.
    @Test(arguments: [0, 1, 65_535, 65_536, 100_000, 200_000])
    func backsOffFromWhatIsNotThere(_ lost: Int) async throws {
        var laboratory = Laboratory()
        let disk = MemoryDisk()
        laboratory.disk = disk
        laboratory.limits.batchSize = 64 << 10
        laboratory.scenario = "[rule]\npath = /assets/*\nturn = first\nfault = stall:200000\n"
        laboratory.patience = 60_000
        let identifier = try await laboratory.run { bench in
            let plan = TransferPlan(.download, bench.origin + "/assets/7/300k", file: "/files/a")
            let task = try bench.service.enqueue(plan)
            try bench.service.resume(task.identifier)
            _ = await bench.service.wait(for: task.identifier) { $0.committed >= 160_000 }
            return task.identifier
        }
        let path = try #require(disk.paths.first { $0.hasSuffix(".part") })
        let file = try disk.open(path, creating: false)
        let size = try file.size()
        try file.truncate(to: max(0, size - Int64(lost)))
        // And what is left of the last block is not what it was.
        if lost == 1 {
            let byte = try file.read(at: size - 2, count: 1).map { ~$0 }
            try file.write(byte.span, at: size - 2)
        }
        // The same tasks, whose URL has another port now.
        let open = try #require(
            try Journal.open("/tasks/\(identifier)/journal", on: disk))
        #expect(open.state.committedCount >= 160_000)
        let state = open.state
        let transfer = try RunningTransfer.of(state, open, identifier, disk)
        let store = try DownloadStore(transfer)
        let expected = try await held("/assets/7/300k")
        #expect(store.offset <= max(0, size - Int64(lost)))
        #expect(store.offset >= state.prefix - Int64(lost) - 65_536 - 1)
        #expect(
            try store.file.read(at: 0, count: Int(store.offset))
                == Array(expected.prefix(Int(store.offset))))
        #expect(
            try Journal.open("/tasks/\(identifier)/journal", on: disk)?.state.prefix
                == store.offset)
    }

    // MARK: Written anew

    /// A journal that grows is written anew, and says the same.
    @Test(arguments: UInt64(0)..<6) func staysShort(_ seed: UInt64) throws {
        let disk = MemoryDisk()
        let journal = try Self.make(on: disk)
        var expected = journal.state
        for number in UInt64(0)..<400 {
            let record = Self.record(SplitMix.word(seed: seed, number))
            expected.apply(record)
            try journal.append(record)
            #expect(try #require(try disk.size(of: Self.path)) < 40_000)
        }
        #expect(disk.log.contains("rename"))
        #expect(journal.state == expected)
        #expect(try Journal.open(Self.path, on: disk)?.state == expected)
        try Journal.remove(Self.path, on: disk)
        #expect(disk.paths.isEmpty)
    }

    /// A crash at any operation leaves what the last record has made, or the one before it.
    @Test(arguments: UInt64(0)..<3) func isWholeAtEachCrash(_ seed: UInt64) throws {
        let whole = MemoryDisk()
        _ = Self.appendMany(seed, on: whole)
        let count = whole.log.count
        #expect(whole.log.filter { $0 == "rename" }.count > 1)
        for operation in 3..<count {
            let disk = MemoryDisk()
            disk.stop(at: operation)
            let states = Self.appendMany(seed, on: disk)
            for losesUnsynced in [true, false] {
                let left = MemoryDisk(afterCrashOf: disk, losesUnsynced: losesUnsynced)
                guard let journal = try Journal.open(Self.path, on: left) else {
                    #expect(states.count <= 1)
                    continue
                }
                // Whoever began it was not told that it is there.
                guard !states.isEmpty else { continue }
                #expect(states.suffix(2).contains(journal.state), "\(operation)")
            }
        }
    }

    /// - Returns: what the journal was to say, from the start to the record that failed.
    private static func appendMany(_ seed: UInt64, on disk: MemoryDisk) -> [JournalState] {
        var states: [JournalState] = []
        do {
            let journal = try make(on: disk, rewritingAt: 1500)
            states.append(journal.state)
            for number in UInt64(0)..<150 {
                let record = record(SplitMix.word(seed: seed, number))
                var next = journal.state
                next.apply(record)
                states.append(next)
                try journal.append(record)
            }
        } catch {
            return states
        }
        return states
    }

    /// Where there is no room for it the old one goes on.
    @Test func growsWhereItCannotBeWrittenAnew() throws {
        let disk = MemoryDisk()
        let journal = try Self.make(on: disk)
        for _ in 0..<1000 {
            // Room for a record, and not for another journal.
            disk.setSpace(60)
            try journal.append(.resumed(true))
        }
        #expect(!disk.log.contains("rename"))
        let state = try #require(try Journal.open(Self.path, on: disk)).state
        #expect(state == journal.state)
    }

    private static let path = "/tasks/a/journal"

    private static func make(
        on disk: MemoryDisk, rewritingAt limit: Int64 = 4000
    ) throws -> Transfer.Journal {
        try disk.makeFolder("/tasks/a")
        let plan = TransferPlan(.download, "https://a.test/", file: "/a")
        let journal = try Journal.create(
            path, plan, at: Timestamp(microseconds: 77), on: disk, rewritingAt: limit)
        try disk.syncFolder("/tasks/a")
        return journal
    }

    private static func record(_ word: UInt64) -> JournalRecord {
        let part = Int64(word >> 8 & 0xFFFF)
        var version = SavedVersion(url: "https://a.test/")
        version.length = part
        return switch word & 0xF {
        case 0: .resumed(part & 1 == 0)
        case 1: .head(version)
        case 2: .hop("https://b.test/\(part)")
        case 3: .authenticationAsked(schemes: ["basic"], host: "\(part)")
        case 4: .delivered(part & 7)
        case 5: .acknowledged(part & 7)
        case 6: .upload(Array("{\"a\":\(part)}".utf8))
        case 7: .verified(VerifiedContent(size: part, sha256: [1, UInt8(part & 0xFF)]))
        case 8 where part & 3 == 0: .restarted("\(part)")
        case 8: .forgotten
        default:
            .progress(
                BlockCheck(end: part & 0xF000 + 4096, count: 9, checksum: 1), from: part & 0xF000)
        }
    }
}
