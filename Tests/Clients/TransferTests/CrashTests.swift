import Base
import TLS
import Testing

@testable import Transfer

/// What is left when the power goes, or the process is killed, at every point.
@Suite(.serialized) struct CrashTests {
    private static let size: Int64 = 200 << 10
    private static let batch: Int64 = 64 << 10
    /// What one read of the network brings at most.
    private static let piece: Int64 = 72 << 10
    private static let path = "/assets/7/200k"
    private static let target = "/files/download"

    private static var laboratory: Laboratory {
        var laboratory = Laboratory()
        laboratory.limits.batchSize = batch
        return laboratory
    }

    /// With digests, or as it is for long files of which nobody tells one.
    private static func laboratory(isDigested: Bool) -> Laboratory {
        var laboratory = laboratory
        laboratory.heedsWishes = isDigested
        if !isDigested { laboratory.limits.digestedSize = 0 }
        return laboratory
    }

    /// A disk after a crash behind an operation of the delivery.
    private static func crashed(_ bench: Laboratory.Bench, behind name: String) async throws
        -> MemoryDisk
    {
        let disk = MemoryDisk()
        // The link and its removal are the first and the second half of a rename.
        disk.stop(behind: "link", name == "link" ? 0 : 1)
        try await begin(bench, disk)
        #expect(disk.log.last == name)
        return MemoryDisk(afterCrashOf: disk, losesUnsynced: false)
    }

    /// Lets the only task go on until it has ended or cannot.
    private static func goOn(_ service: TransferService) async throws -> TransferState? {
        let identifier = try #require(service.tasks().first?.identifier)
        return try await service.run {
            try service.resume(identifier)
            return await service.wait(for: identifier) {
                $0.state.isFinal || $0.wait?.failure != nil
            }?.state
        }
    }

    /// Downloads on a disk that stops at an operation.
    private static func begin(
        _ bench: Laboratory.Bench, _ disk: MemoryDisk, stopAt: Int = .max
    ) async throws {
        disk.stop(at: stopAt)
        do {
            let service = try bench.open(disk)
            try await service.run {
                let plan = TransferPlan(.download, bench.origin + path, file: target)
                let task = try service.enqueue(plan)
                try service.resume(task.identifier)
                _ = await service.wait(for: task.identifier) { task in
                    task.state.isFinal || disk.isStopped
                }
            }
        } catch {
            #expect(disk.isStopped)
        }
    }

    /// What the next start makes of it.
    private static func goOn(
        _ bench: Laboratory.Bench, _ disk: MemoryDisk, written: Int64, _ expected: [UInt8],
        _ label: String
    ) async throws {
        var service = try bench.open(disk)
        guard let task = service.tasks().first else {
            // Whoever enqueued it was not told that it was.
            #expect(!disk.paths.contains(target), "\(label)")
            return
        }
        #expect(service.tasks().count == 1)
        let isDone = disk.paths.contains(target)
        // Less may be said than is there, and never more.
        let gathered = try Self.written(disk)
        #expect(isDone || task.committed <= gathered, "\(label)")
        if !isDone, written - task.committed > batch + piece {
            Issue.record("\(label): \(written - task.committed) bytes are fetched again")
        }
        var numbers: [Int64] = []
        let first = service
        try await first.run {
            let events = try first.attach(session: "default")
            try first.resume(task.identifier)
            let ended = await first.wait(for: task.identifier)
            #expect(ended?.state == .completed, "\(label)")
            while let event = events.take() {
                if event.kind == .completed { numbers.append(event.number) }
            }
        }
        #expect(numbers == [1], "\(label)")
        let file = try disk.open(target, creating: false)
        #expect(try file.read(at: 0, count: 1 << 20) == expected, "\(label)")
        #expect(!disk.paths.contains { $0.hasSuffix(".part") }, "\(label)")
        // The same event until it is acknowledged, and none then.
        service = try bench.open(disk)
        let events = try service.attach(session: "default")
        let again = events.take()
        #expect(again?.kind == .completed && again?.number == 1, "\(label)")
        try service.acknowledge(task.identifier)
        #expect(try bench.open(disk).tasks().isEmpty, "\(label)")
        #expect(disk.paths.contains(target), "\(label)")
    }

    private static func written(_ disk: MemoryDisk) throws -> Int64 {
        let path = disk.paths.first { $0.hasSuffix(".part") }
        return try path.flatMap { try disk.size(of: $0) } ?? 0
    }

    /// With digests, and as it is for long files of which nobody tells one.
    @Test(arguments: [false, true], [false, true])
    func everyPoint(losesUnsynced: Bool, isDigested: Bool) async throws {
        let expected = try await held(Self.path)
        try await Self.laboratory(isDigested: isDigested).run { bench in
            let whole = MemoryDisk()
            try await Self.begin(bench, whole)
            let points = whole.log
            // Each kind of step is among them.
            let kinds = [
                "folder", "create journal", "write journal", "sync journal", "sync folder",
                "create data", "write data", "sync data", "link", "rename",
            ]
            #expect(kinds.allSatisfy { points.contains($0) })
            for point in 0...points.count {
                let disk = MemoryDisk()
                try await Self.begin(bench, disk, stopAt: point)
                let written = try Self.written(disk)
                let left = MemoryDisk(afterCrashOf: disk, losesUnsynced: losesUnsynced)
                try await Self.goOn(
                    bench, left, written: written, expected,
                    "point \(point), \(point < points.count ? points[point] : "the end")")
            }
        }
    }

    /// What somebody puts there between the rename and the next start is not taken for what was fetched,
    /// whether a digest tells or the file system does.
    @Test(arguments: [false, true])
    func anothersFileIsNotTheDownload(isDigested: Bool) async throws {
        let expected = try await held(Self.path)
        try await Self.laboratory(isDigested: isDigested).run { bench in
            let left = try await Self.crashed(bench, behind: "rename")
            let others = [UInt8](repeating: 7, count: expected.count)
            try left.remove(Self.target)
            try left.open(Self.target, creating: true).write(others.span, at: 0)
            let state = try await Self.goOn(try bench.open(left))
            #expect(state != .completed)
            let file = try left.open(Self.target, creating: false)
            #expect(try file.read(at: 0, count: 1 << 20) == others)
        }
    }

    /// Between the two halves of the rename a file has two names: once its owner sees it, nothing is written
    /// there, whatever they have made of it.
    @Test(
        arguments: [false, true],
        ["edited", "longer", "shorter", "moved", "moved and edited", "moved, not wanted"])
    func whatItsOwnerHasIsNotWrittenTo(isDigested: Bool, _ change: String) async throws {
        try await Self.laboratory(isDigested: isDigested).run { bench in
            let left = try await Self.crashed(bench, behind: "link")
            let file = try left.open(Self.target, creating: false)
            switch change {
            case "edited": try file.write([1, 2, 3].span, at: 1000)
            case "longer": try file.write([1, 2, 3].span, at: Self.size)
            case "shorter": try file.truncate(to: 1000)
            default: try left.rename(Self.target, to: "/files/mine", replacing: true)
            }
            if change == "moved and edited" { try file.write([1, 2, 3].span, at: 1000) }
            let owned = try file.read(at: 0, count: 1 << 20)
            let service = try bench.open(left)
            if change == "moved, not wanted" {
                let task = try #require(service.tasks().first)
                var options = task.options
                options.expected = ExpectedDigest(.sha256, [UInt8](repeating: 1, count: 32))
                try service.change(task.identifier, to: options)
            }
            let state = try await Self.goOn(service)
            #expect((state == .completed) == ["moved", "moved and edited"].contains(change))
            if state == .completed {
                let brought = try left.open(Self.target, creating: false)
                #expect(try brought.read(at: 0, count: 1 << 20) == (try await held(Self.path)))
            }
            #expect(try file.read(at: 0, count: 1 << 20) == owned)
        }
    }

    /// A digest that is named while nobody runs is compared by the next start.
    @Test(arguments: [false, true])
    func aDigestThatIsNamedLaterCounts(isRight: Bool) async throws {
        let expected = try await held(Self.path)
        try await Self.laboratory(isDigested: false).run { bench in
            let service = try bench.open(try await Self.crashed(bench, behind: "rename"))
            let task = try #require(service.tasks().first)
            var options = task.options
            options.expected = ExpectedDigest(
                .sha256,
                isRight ? Digests.sha256(expected) : [UInt8](repeating: 1, count: 32))
            try service.change(task.identifier, to: options)
            let state = try await Self.goOn(service)
            #expect((state == .completed) == isRight)
        }
    }

    /// Whoever gives the same command again after a restart is told that it is done.
    @Test func theSameAgainAfterTheEnd() async throws {
        try await Self.laboratory.run { bench in
            let disk = MemoryDisk()
            try await Self.begin(bench, disk)
            let service = try bench.open(MemoryDisk(afterCrashOf: disk, losesUnsynced: true))
            let task = try #require(service.tasks().first)
            let plan = TransferPlan(.download, bench.origin + Self.path, file: Self.target)
            #expect(try service.transfer(doing: plan)?.identifier == task.identifier)
        }
    }

    @Test func everyTornTail() async throws {
        let expected = try await held(Self.path)
        let torn = try await Self.laboratory.run { bench in
            let whole = MemoryDisk()
            try await Self.begin(bench, whole)
            var tornCount = 0
            for point in 1...whole.log.count {
                let disk = MemoryDisk()
                try await Self.begin(bench, disk, stopAt: point)
                guard disk.log.last == "write journal" else { continue }
                tornCount += disk.lastWrite
                let written = try Self.written(disk)
                for torn in 1...disk.lastWrite {
                    let left = MemoryDisk(
                        afterCrashOf: disk, losesUnsynced: false, tearing: ("journal", torn))
                    try await Self.goOn(
                        bench, left, written: written, expected,
                        "point \(point), without its last \(torn) bytes")
                }
            }
            return tornCount
        }
        // Each record of a download, and each of its bytes.
        #expect(torn > 800)
    }
}
