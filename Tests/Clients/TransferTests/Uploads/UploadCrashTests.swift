import Base
import TLS
import Testing

@testable import Transfer

/// What is left of an upload when the process is killed at every point.
@Suite(.serialized) struct UploadCrashTests {
    private static let bytes = Laboratory.Bench.content(11, size: 200_000)
    private static let digest = Digests.sha256(bytes).hex

    /// The server breaks off twice, so that there is something to go on with.
    private static let rules =
        Laboratory.rule("upload-cut:60000:rst", "reaches = 60000", "turn = first")
        + Laboratory.rule("upload-cut:130000:rst", "reaches = 130000", "turn = first")

    private static func laboratory(_ way: UploadWay) -> Laboratory {
        var laboratory = Laboratory()
        // What cannot be sent twice must not break off.
        laboratory.scenario = way.isSafe ? rules : ""
        return laboratory
    }

    /// Uploads from a disk that stops at an operation.
    private static func begin(
        _ bench: Laboratory.Bench, _ way: UploadWay, _ disk: MemoryDisk, stopAt: Int = .max
    ) async throws {
        disk.stop(at: stopAt)
        do {
            let service = try bench.open(disk)
            try await service.run {
                let task = try service.enqueue(bench.uploadPlan(way))
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
        _ bench: Laboratory.Bench, _ way: UploadWay, _ disk: MemoryDisk, _ label: String
    ) async throws {
        let service = try bench.open(disk)
        // Whoever enqueued it was not told that it was.
        guard let task = service.tasks().first else { return }
        var events: [TransferEvent.Kind] = []
        try await service.run {
            let stream = try service.attach(session: "default")
            try service.resume(task.identifier)
            let ended = await service.wait(for: task.identifier)
            if way.isSafe {
                #expect(ended?.state == .completed, "\(label)")
            } else {
                // Nobody knows, or it is there; never twice.
                let isKnown = ended?.state == .completed || ended?.failureCode == "upload-uncertain"
                #expect(isKnown, "\(label)")
                #expect(try bench.uploadCount() <= 1, "\(label)")
            }
            while let event = stream.take() { if event.isKept { events.append(event.kind) } }
        }
        #expect(events.count == 1, "\(label): \(events)")
        guard way.isSafe || events == [.completed] else { return }
        #expect(try await Set(bench.digested()) == [Self.digest], "\(label) \(bench.requests)")
        // The same event until it is acknowledged, and none then.
        let again = try bench.open(disk)
        let stream = try again.attach(session: "default")
        #expect(stream.take()?.kind == .completed, "\(label)")
        try again.acknowledge(task.identifier)
        #expect(try bench.open(disk).tasks().isEmpty, "\(label)")
        // What was uploaded stays where it is.
        #expect(disk.paths.contains(Laboratory.Bench.source), "\(label)")
    }

    @Test(arguments: UploadWay.few, [false, true])
    func everyPoint(_ way: UploadWay, losesUnsynced: Bool) async throws {
        let points = try await Self.laboratory(way).run { bench in
            let whole = MemoryDisk()
            try Laboratory.Bench.put(Self.bytes, on: whole)
            let before = whole.log.count
            try await Self.begin(bench, way, whole)
            return before..<whole.log.count
        }
        #expect(points.count > 10)
        for point in points.lowerBound...points.upperBound {
            // Another server each time, which breaks off anew.
            try await Self.laboratory(way).run { bench in
                let disk = MemoryDisk()
                try Laboratory.Bench.put(Self.bytes, on: disk)
                try await Self.begin(bench, way, disk, stopAt: point)
                let left = MemoryDisk(afterCrashOf: disk, losesUnsynced: losesUnsynced)
                try await Self.goOn(bench, way, left, "point \(point) of \(points)")
            }
        }
    }

    /// Each record of an upload is torn: cut anywhere it is no record, as `JournalTests.aTornTailIsNoRecord`
    /// shows for each byte, so that three places stand for all.
    @Test(arguments: UploadWay.few)
    func everyTornTail(_ way: UploadWay) async throws {
        let whole = MemoryDisk()
        try Laboratory.Bench.put(Self.bytes, on: whole)
        let before = whole.log.count
        try await Self.laboratory(way).run { try await Self.begin($0, way, whole) }
        var tornCount = 0
        for point in before + 1...whole.log.count where whole.log[point - 1] == "write journal" {
            for part in 1...3 {
                // Another server each time, which breaks off anew.
                tornCount += try await Self.laboratory(way).run { bench in
                    let disk = MemoryDisk()
                    try Laboratory.Bench.put(Self.bytes, on: disk)
                    try await Self.begin(bench, way, disk, stopAt: point)
                    guard disk.log.last == "write journal" else { return 0 }
                    let torn = part == 1 ? 1 : disk.lastWrite * (part - 1) / 2
                    let left = MemoryDisk(
                        afterCrashOf: disk, losesUnsynced: false, tearing: ("journal", torn))
                    try await Self.goOn(bench, way, left, "point \(point), without \(torn) bytes")
                    return 1
                }
            }
        }
        #expect(tornCount > 9, "\(tornCount)")
    }

    /// The file is another one after the crash, with the same size and time.
    @Test(arguments: UploadWay.few.filter(\.isSafe))
    func aFileThatWasExchangedIsSeen(_ way: UploadWay) async throws {
        var laboratory = Self.laboratory(way)
        laboratory.scenario =
            Laboratory.rule("status:503", "method = PUT")
            + Laboratory.rule("status:503", "method = PATCH")
        try await laboratory.run { bench in
            let disk = MemoryDisk()
            try Laboratory.Bench.put(Self.bytes, on: disk)
            let service = try bench.open(disk)
            try await service.run {
                let task = try service.enqueue(bench.uploadPlan(way))
                try service.resume(task.identifier)
                _ = await service.wait(for: task.identifier) { $0.requestCount > 1 }
            }
            disk.exchangeUnseen(Laboratory.Bench.source, Self.bytes.map { $0 ^ 1 })
            let left = MemoryDisk(afterCrashOf: disk, losesUnsynced: false)
            let next = try bench.open(left)
            let task = try #require(next.tasks().first)
            try await next.run {
                try next.resume(task.identifier)
                let ended = await next.wait(for: task.identifier)
                #expect(ended?.failureCode == "source-changed")
            }
        }
    }
}
