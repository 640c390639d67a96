import Base
import TLS
import Testing

@testable import Transfer

/// Which files can be read and made when: by keys that are there or not.
@Suite(.serialized) struct StorageTests {
    enum Moment: String, CaseIterable, Sendable {
        case restarted, unlocked, locked, unlockedAgain
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let storage: StorageClass
        /// When one that was made before can be opened.
        let opens: [Moment]
        /// When one can be made.
        let makes: [Moment]
        var testDescription: String { storage.rawValue }
    }

    private static let passcode = Array("0000".utf8)

    @Test(arguments: [
        Row(
            storage: .untilFirstUnlock, opens: [.unlocked, .locked, .unlockedAgain],
            makes: [.unlocked, .locked, .unlockedAgain]),
        Row(
            storage: .complete, opens: [.unlocked, .unlockedAgain],
            makes: [.unlocked, .unlockedAgain]),
        Row(
            storage: .completeUnlessOpen, opens: [.unlocked, .unlockedAgain],
            makes: Moment.allCases),
    ])
    func classes(_ row: Row) throws {
        let disk = MemoryDisk()
        let content = (0..<100_000).map { UInt8(truncatingIfNeeded: SplitMix.word(seed: 3, $0)) }
        let made = try StorageVault.create(in: "/tasks", passcode: Self.passcode, on: disk)
        do {
            let file = try SealedFile.open("/old", row.storage, made, on: disk, creating: true)
            try file.write(content.span, at: 0)
            try file.sync()
        }
        let vault = try #require(try StorageVault.open(in: "/tasks", on: disk))
        for moment in Moment.allCases {
            switch moment {
            case .restarted: #expect(!vault.unlock(passcode: Array("1234".utf8)))
            case .unlocked, .unlockedAgain: #expect(vault.unlock(passcode: Self.passcode))
            case .locked: vault.lock()
            }
            #expect(vault.isLocked == (moment == .locked || moment == .restarted))
            var read: [UInt8] = []
            let isOpened = Self.failure {
                read = try SealedFile.open("/old", row.storage, vault, on: disk, creating: false)
                    .read(at: 0, count: 1 << 20)
            }
            #expect((isOpened == nil) == row.opens.contains(moment), "\(moment)")
            #expect(read == (row.opens.contains(moment) ? content : []))
            let isMade = Self.failure {
                _ = try SealedFile.open(
                    "/\(moment.rawValue)", row.storage, vault, on: disk, creating: true)
            }
            #expect(isMade == (row.makes.contains(moment) ? nil : "storage-locked"), "\(moment)")
        }
        // What is on the disk shows nothing of it.
        for path in disk.paths {
            let bytes = try disk.open(path, creating: false).read(at: 0, count: 1 << 20)
            #expect(!bytes.text.contains(content[5000..<5040].text))
            #expect(bytes.firstRange(of: content[5000..<5040]) == nil)
        }
    }

    /// The code of what was thrown; `nil` if nothing was.
    private static func failure(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return (error as? DiskFailure)?.failure.code ?? (error as? Failure)?.code ?? "other"
        }
    }

    /// What is written in any order is what is read, before and after it is opened again.
    @Test func writesAreRead() throws {
        let disk = MemoryDisk()
        let vault = try StorageVault.create(in: "/tasks", passcode: Self.passcode, on: disk)
        var expected: [UInt8] = []
        var file = try SealedFile.open("/a", .complete, vault, on: disk, creating: true)
        var drawn: UInt64 = 0
        func below(_ limit: Int) -> Int {
            defer { drawn += 1 }
            return Int(SplitMix.word(seed: 9, drawn) % UInt64(limit))
        }
        for step in 0..<200 {
            switch below(8) {
            case 0: try file.sync()
            case 1:
                try file.sync()
                file = try SealedFile.open("/a", .complete, vault, on: disk, creating: false)
            case 2:
                let size = below(expected.count + 1)
                try file.truncate(to: Int64(size))
                expected.removeLast(expected.count - size)
            default:
                let start = below(min(expected.count, 300_000) + 1)
                let bytes = [UInt8](repeating: UInt8(step), count: 1 + below(100_000))
                try file.write(bytes.span, at: Int64(start))
                let end = min(expected.count, start + bytes.count)
                expected.replaceSubrange(start..<end, with: bytes)
            }
            #expect(try file.size() == Int64(expected.count))
            let start = below(expected.count + 1)
            let count = below(200_000)
            #expect(
                try file.read(at: Int64(start), count: count)
                    == Array(expected[start..<min(expected.count, start + count)]))
        }
    }

    @Test func aTurnedBitIsSeen() throws {
        let disk = MemoryDisk()
        let vault = try StorageVault.create(in: "/tasks", passcode: Self.passcode, on: disk)
        let file = try SealedFile.open("/a", .complete, vault, on: disk, creating: true)
        let content = [UInt8](repeating: 7, count: 100)
        try file.write(content.span, at: 0)
        try file.sync()
        let raw = try disk.open("/a", creating: false)
        let size = try raw.size()
        for place in [size - 1, size - 40, size - 120] {
            let byte = try raw.read(at: place, count: 1)
            let turned = byte.map { $0 ^ 1 }
            try raw.write(turned.span, at: place)
            let opened = try SealedFile.open("/a", .complete, vault, on: disk, creating: false)
            let failure = Self.failure { _ = try opened.read(at: 0, count: 100) }
            #expect(failure == "file-unreadable")
            try raw.write(byte.span, at: place)
        }
    }

    /// A download whose device is locked in its middle.
    @Test(arguments: [StorageClass.complete, .completeUnlessOpen, .untilFirstUnlock])
    func locksInTheMiddle(_ storage: StorageClass) async throws {
        var laboratory = Laboratory()
        let disk = MemoryDisk()
        laboratory.disk = disk
        laboratory.vault = try StorageVault.create(
            in: "/vault", passcode: Self.passcode, on: disk)
        laboratory.limits.batchSize = 32 << 10
        laboratory.scenario =
            "[rule]\npath = /assets/*\nturn = first\nfault = stall:100000\n"
        // A server that digests what it sends first takes long for it where many tests run.
        laboratory.heedsWishes = false
        laboratory.patience = storage == .complete ? 60_000 : 3_000
        let path = "/assets/7/300k"
        let expected = try await held(path)
        try await laboratory.run { bench in
            let service = bench.service
            var plan = TransferPlan(.download, bench.origin + path, file: "/files/a")
            plan.options.storage = storage
            let task = try service.enqueue(plan)
            try service.resume(task.identifier)
            _ = await service.wait(for: task.identifier) { task in
                task.committed > 50_000 || task.state.isFinal
            }
            service.lock()
            if storage == .complete {
                _ = await service.wait(for: task.identifier) { task in
                    task.state == .waiting(TransferWait(.locked))
                }
                #expect(service.unlock(passcode: Self.passcode))
            }
            let ended = try #require(await service.wait(for: task.identifier))
            #expect(ended.state == .completed)
            #expect(ended.digest == Digests.sha256(expected))
            var read: [UInt8] = []
            let failure = Self.failure {
                read = try service.open(task.identifier).read(at: 0, count: 1 << 20)
            }
            #expect(failure == (storage == .completeUnlessOpen ? "storage-locked" : nil))
            #expect(read == (failure == nil ? expected : []))
            #expect(service.unlock(passcode: Self.passcode))
            let file = try service.open(task.identifier)
            #expect(try file.read(at: 0, count: 1 << 20) == expected)
        }
        for path in disk.paths {
            let bytes = try disk.open(path, creating: false).read(at: 0, count: 1 << 20)
            for place in stride(from: 0, to: expected.count - 40, by: 10_000) {
                #expect(bytes.firstRange(of: expected[place..<place + 40]) == nil)
            }
        }
    }

    @Test func classesNeedAVault() async throws {
        try await Laboratory().run { bench in
            var plan = TransferPlan(.download, bench.origin + "/assets/7/1k", file: "/files/a")
            plan.options.storage = .complete
            #expect(throws: Failure.self) { try bench.service.enqueue(plan) }
        }
    }
}
