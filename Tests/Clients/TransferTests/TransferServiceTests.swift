import Base
import ContentServer
import Foundation
import Origins
import Testing

@testable import Transfer

/// What owners ask of a service, and are told.
@Suite(.serialized) struct TransferServiceTests {
    private static let path = "/assets/7/300k"

    @Test func startsSuspendedAndSendsNothing() async throws {
        try await Laboratory().run { bench in
            let plan = TransferPlan(.download, bench.origin + Self.path, file: "/files/a")
            let task = try bench.service.enqueue(plan)
            #expect(task.state == .suspended)
            // Another one goes by.
            _ = try await bench.fetch("/assets/8/1k")
            #expect(bench.service.task(task.identifier)?.state == .suspended)
            let texts = bench.content.journal.contents().records.map { $0.text() }
            #expect(texts.count == 1, "\(texts) \(bench.service.tasks())")
        }
    }

    @Test func suspendsAndGoesOnByRange() async throws {
        var laboratory = Laboratory()
        laboratory.limits.batchSize = 32 << 10
        laboratory.scenario = "[rule]\npath = /assets/*\nturn = first\nfault = stall:100000\n"
        laboratory.patience = 60_000
        try await laboratory.run { bench in
            let service = bench.service
            let plan = TransferPlan(.download, bench.origin + Self.path, file: "/files/a")
            let task = try service.enqueue(plan)
            try service.resume(task.identifier)
            _ = await service.wait(for: task.identifier) { $0.committed > 50_000 }
            try service.suspend(task.identifier)
            let suspended = await service.wait(for: task.identifier) { $0.state == .suspended }
            let committed = try #require(suspended?.committed)
            #expect(committed > 50_000 && committed <= 100_000)
            try service.resume(task.identifier)
            let ended = await service.wait(for: task.identifier)
            #expect(ended?.state == .completed && ended?.restarts == [])
            #expect(try bench.bytes("/files/a") == (try await held(Self.path)))
            let ranges = bench.content.journal.contents().records.map { $0.range ?? "" }
            #expect(ranges == ["", "bytes=\(committed)-"])
        }
    }

    @Test func cancelsAndLeavesNothing() async throws {
        var laboratory = Laboratory()
        laboratory.scenario = "[rule]\npath = /assets/*\nfault = stall:100000\n"
        let disk = MemoryDisk()
        laboratory.disk = disk
        try await laboratory.run { bench in
            let plan = TransferPlan(.download, bench.origin + Self.path, file: "/files/a")
            let task = try bench.service.enqueue(plan)
            try bench.service.resume(task.identifier)
            _ = await bench.service.wait(for: task.identifier) { $0.state == .running }
            try bench.service.cancel(task.identifier)
            let ended = await bench.service.wait(for: task.identifier)
            #expect(ended?.state == .cancelled)
        }
        #expect(!disk.paths.contains { $0.hasPrefix("/files/") }, "\(disk.paths)")
        // Nobody waits for it any more.
        let paths = try await laboratory.run { bench in
            #expect(bench.service.tasks().isEmpty)
            return disk.paths
        }
        #expect(paths == ["/tasks/lock"])
    }

    /// A file that no place was named for is there until the acknowledgement.
    @Test(arguments: [false, true])
    func keepsAFileUntilItIsAcknowledged(isMoved: Bool) async throws {
        var laboratory = Laboratory()
        let disk = MemoryDisk()
        laboratory.disk = disk
        try await laboratory.run { bench in
            let service = bench.service
            let events = try service.attach(session: "default")
            let task = try await bench.fetch(Self.path, to: nil)
            let path = try #require(task.path)
            #expect(try bench.bytes(path) == (try await held(Self.path)))
            var event = await events.next()
            while event?.kind == .progress { event = await events.next() }
            #expect(event?.kind == .completed && event?.task.path == path)
            if isMoved { try disk.rename(path, to: "/files/kept", replacing: false) }
            try service.acknowledge(task.identifier)
            #expect(service.task(task.identifier) == nil)
        }
        #expect(disk.paths == (isMoved ? ["/files/kept", "/tasks/lock"] : ["/tasks/lock"]))
    }

    @Test func oneOwnerHasASession() async throws {
        try await Laboratory().run { bench in
            let events = try bench.service.attach(session: "a")
            #expect(throws: Failure.self) { try bench.service.attach(session: "a") }
            _ = try bench.service.attach(session: "b")
            events.close()
            _ = try bench.service.attach(session: "a")
        }
    }

    /// The link at each step, and whether a task goes on.
    @Test func waitsForTheEnvironment() async throws {
        var laboratory = Laboratory()
        laboratory.environment.link = .cellular
        try await laboratory.run { bench in
            let service = bench.service
            var plan = TransferPlan(.download, bench.origin + Self.path, file: "/files/a")
            plan.options.allowsCellular = false
            let task = try service.enqueue(plan)
            try service.resume(task.identifier)
            func waits(_ reason: TransferWait.Reason) async -> Bool {
                await service.wait(for: task.identifier) { task in
                    if case .waiting(let wait) = task.state { wait.reason == reason } else { false }
                } != nil
            }
            #expect(await waits(.cellular))
            service.update(TransferEnvironment { $0.link = .none })
            #expect(await waits(.network))
            #expect(bench.content.journal.contents().records.isEmpty)
            service.update(TransferEnvironment { $0.link = .wifi })
            #expect(await service.wait(for: task.identifier)?.state == .completed)
        }
    }

    @Test func failsWithoutANetworkWhereItMustNotWait() async throws {
        var laboratory = Laboratory()
        laboratory.environment.link = .none
        try await laboratory.run { bench in
            let task = try await bench.fetch(Self.path) { $0.waitsForConnectivity = false }
            guard case .failed(let failure) = task.state else {
                Issue.record("\(task.state)")
                return
            }
            #expect(failure.code == "no-network")
        }
    }

    /// The network changes in the middle.
    @Test func stopsAndGoesOnByRangeWhenTheLinkChanges() async throws {
        var laboratory = Laboratory()
        laboratory.limits.batchSize = 32 << 10
        laboratory.scenario = "[rule]\npath = /assets/*\nturn = first\nfault = stall:100000\n"
        laboratory.patience = 60_000
        try await laboratory.run { bench in
            let service = bench.service
            var plan = TransferPlan(.download, bench.origin + Self.path, file: "/files/a")
            plan.options.isDiscretionary = true
            let task = try service.enqueue(plan)
            try service.resume(task.identifier)
            _ = await service.wait(for: task.identifier) { $0.committed > 50_000 }
            service.update(TransferEnvironment { $0.link = .cellular })
            _ = await service.wait(for: task.identifier) { task in
                task.state == .waiting(TransferWait(.discretionary))
            }
            service.update(TransferEnvironment())
            #expect(await service.wait(for: task.identifier)?.state == .completed)
            let ranges = bench.content.journal.contents().records.map { $0.range ?? "" }
            #expect(ranges.count == 2 && ranges[1].hasPrefix("bytes="))
        }
    }

    @Test func aFullDiskIsAState() async throws {
        var laboratory = Laboratory()
        let disk = MemoryDisk()
        laboratory.disk = disk
        laboratory.limits.batchSize = 32 << 10
        try await laboratory.run { bench in
            let service = bench.service
            let plan = TransferPlan(.download, bench.origin + Self.path, file: "/files/a")
            let task = try service.enqueue(plan)
            disk.setSpace(100_000)
            try service.resume(task.identifier)
            let waiting = await service.wait(for: task.identifier) { task in
                if case .waiting(let wait) = task.state { wait.reason == .storage } else { false }
            }
            guard case .waiting(let wait)? = waiting?.state else { return }
            #expect(wait.failure?.code == "no-space" && wait.until != nil)
            disk.setSpace(1 << 30)
            #expect(await service.wait(for: task.identifier)?.state == .completed)
        }
        #expect(try laboratory.disk.size(of: "/files/a") == 300 << 10)
    }

    struct Refusal: CustomTestStringConvertible, Sendable {
        let path: String
        let code: String
        var change: @Sendable (inout TransferOptions) -> Void = { _ in }
        var testDescription: String { "\(path): \(code)" }
    }

    @Test(arguments: [
        Refusal(path: "/status/404", code: "status-404"),
        Refusal(path: "/status/403", code: "status-403"),
        Refusal(path: "/status/501", code: "status-501"),
        Refusal(path: "/faults/loop/assets/7/1k", code: "redirect-loop"),
        Refusal(path: "/assets/7/1m", code: "too-long") { $0.byteLimit = 1000 },
        Refusal(path: "/faults/until-close/assets/7/1m", code: "too-long") { $0.byteLimit = 1000 },
        Refusal(path: "/assets/7/1m", code: "digest-mismatch") {
            $0.expected = ExpectedDigest(.sha256, [UInt8](repeating: 1, count: 32))
        },
        Refusal(path: "/status/503", code: "status-503") { $0.retryLimit = 3 },
        Refusal(path: "/faults/cut:0/assets/7/1k", code: "origin-closed") { $0.retryLimit = 3 },
        Refusal(path: "/assets/7/1k", code: "pin-mismatch") {
            $0.pins = [[UInt8](repeating: 1, count: 32)]
        },
        Refusal(path: "/assets/7/1k", code: "request-malformed") {
            $0.fields = [TransferField("a", "b\r\nc: d")]
        },
    ])
    func refusals(_ row: Refusal) async throws {
        try await Laboratory().run { bench in
            let task = try await bench.fetch(row.path, row.change)
            guard case .failed(let failure) = task.state else {
                Issue.record("\(task.state)")
                return
            }
            #expect(failure.code == row.code, "\(failure)")
        }
    }

    /// A stranger's document names what is redirected: nobody was asked whether it may lead here. What
    /// a user asked for goes where they could go, to a server here that does not take that name.
    @Test(arguments: [(true, "redirect-into-local-network"), (false, "status-400")])
    func staysOutOfTheLocalNetwork(isFromStranger: Bool, _ code: String) async throws {
        try await Laboratory().run { bench in
            // 127.0.0.1, as resolvers read it, in a spelling of nobody who wants to be understood.
            let port = bench.origin.split(separator: ":").last.map(String.init) ?? ""
            let place = "http://2130706433:\(port)/assets/7/1k"
            let task = try await bench.fetch("/redirect-to?url=\(place)") {
                $0.isFromStranger = isFromStranger
            }
            guard case .failed(let failure) = task.state else {
                Issue.record("\(task.state)")
                return
            }
            #expect(failure.code == code, "\(failure)")
            #expect(task.hops == (isFromStranger ? [] : [place]))
        }
    }

    /// From one place of this machine to another: as before.
    @Test func aStrangersDocumentOfThisMachineIsFollowedHere() async throws {
        try await Laboratory().run { bench in
            let task = try await bench.fetch("/redirect-to?url=\(bench.origin)/assets/7/1k") {
                $0.isFromStranger = true
            }
            #expect(task.state == .completed)
        }
    }

    @Test func asksForALoginAndGoesOnWithIt() async throws {
        final class Source: CredentialSource {
            func authorization(
                for reference: String, at location: OriginLocation, schemes: [String],
                refused: String?
            ) async -> String? {
                schemes.contains("basic") && reference == "mine" && refused == nil
                    ? "Basic " + Base64.encode(Array("ann:ann".utf8)) : nil
            }
        }
        var laboratory = Laboratory()
        laboratory.credentials = Source()
        let disk = MemoryDisk()
        laboratory.disk = disk
        try await laboratory.run { bench in
            let service = bench.service
            let events = try service.attach(session: "default")
            let plan = TransferPlan(.download, bench.origin + "/basic/ann", file: "/files/a")
            let task = try service.enqueue(plan)
            try service.resume(task.identifier)
            var event = await events.next()
            while event?.kind == .progress { event = await events.next() }
            let host = bench.origin.split(separator: "/").last.map(String.init) ?? ""
            #expect(event?.kind == .authentication(schemes: ["basic"], host: host))
            try service.acknowledge(task.identifier, event: event?.number ?? 0)
            // A login that was refused is not sent by the next start: accounts are locked for it.
            let count = bench.content.journal.contents().records.count
            let next = try bench.open(MemoryDisk(afterCrashOf: disk, losesUnsynced: true))
            await next.run {
                _ = await next.wait(for: task.identifier) {
                    $0.state.isFinal || $0.wait?.reason == .authentication
                }
            }
            #expect(bench.content.journal.contents().records.count == count)
            var options = task.options
            options.credential = "mine"
            try service.change(task.identifier, to: options)
            try service.resume(task.identifier)
            let ended = await service.wait(for: task.identifier)
            #expect(ended?.state == .completed)
        }
        // No secret is in what was written.
        let secret = Array(Base64.encode(Array("ann:ann".utf8)).utf8)
        for path in disk.paths where path.hasSuffix("journal") {
            let bytes = try disk.open(path, creating: false).read(at: 0, count: 1 << 20)
            #expect(!bytes.text.contains(secret.text))
        }
    }

    /// A daemon that was started under `run --capture-all` takes nothing of its user's others along, which
    /// would fail in there, or be seen.
    @Test(arguments: [
        ("a net:[1]", true), ("a net:[2]", false), ("b net:[1]", true), ("b net:[2]", true),
    ])
    func waitsForItsOwnNetwork(_ network: String, _ goesOn: Bool) async throws {
        let disk = MemoryDisk()
        var laboratory = Laboratory()
        laboratory.disk = disk
        laboratory.clock = HandClock()
        laboratory.network = "a net:[1]"
        let identifier = try await laboratory.run { bench in
            // Where nobody listens.
            let task = try bench.service.enqueue(
                TransferPlan(.download, "http://127.0.0.1:1/", file: "/files/a"))
            try bench.service.resume(task.identifier)
            _ = await bench.service.wait(for: task.identifier) { $0.wait?.reason == .retry }
            return task.identifier
        }
        laboratory.disk = MemoryDisk(afterCrashOf: disk, losesUnsynced: true)
        laboratory.network = network
        try await laboratory.run { bench in
            let found = await bench.service.wait(for: identifier) {
                [.retry, .otherNetwork].contains($0.wait?.reason)
            }
            #expect(found?.wait?.reason == (goesOn ? .retry : .otherNetwork))
            #expect(bench.service.hasWork == goesOn)
            try bench.service.resume(identifier)
            let resumed = await bench.service.wait(for: identifier) { $0.wait?.reason == .retry }
            #expect(resumed != nil, "its owner says that it goes on here")
        }
    }

    /// Others may write to the folder: what was compared is what counts, and no other file.
    @Test func deliversWhatWasCompared() async throws {
        let disk = MemoryDisk()
        disk.exchangeRenamed([6, 6, 6])
        var laboratory = Laboratory()
        laboratory.disk = disk
        let task = try await laboratory.run { bench in
            try await bench.fetch(Self.path) { $0.replacesFile = true }
        }
        guard case .failed(let failure) = task.state else {
            Issue.record("\(task.state)")
            return
        }
        #expect(failure.detail.contains("has another file in its place"), "\(failure)")
    }

    /// A start of the program is no reason to ask an origin that wants to be left alone.
    @Test func keepsThePauseThatAnOriginAskedFor() async throws {
        var laboratory = Laboratory()
        laboratory.scenario =
            "[rule]\nname = busy\npath = /assets/*\nturn = first\nfault = status:503:600\n"
        let (disk, clock) = (MemoryDisk(), HandClock())
        laboratory.disk = disk
        laboratory.clock = clock
        try await laboratory.run { bench in
            let plan = TransferPlan(.download, bench.origin + Self.path, file: "/files/a")
            let task = try bench.service.enqueue(plan)
            try bench.service.resume(task.identifier)
            let asked = try #require(
                await bench.service.wait(for: task.identifier) { $0.wait?.reason == .retry })
            let due = try #require(asked.wait?.until)
            clock.advance(by: 100_000)
            let next = try bench.open(MemoryDisk(afterCrashOf: disk, losesUnsynced: true))
            try await next.run {
                let found = await next.wait(for: task.identifier) {
                    $0.state.isFinal || $0.wait?.reason == .retry
                }
                #expect(found?.wait == TransferWait(.retry, until: due, asked.failure))
                try next.resume(task.identifier)
                let ended = await next.wait(for: task.identifier)
                #expect(ended?.state == .completed, "its owner says that it goes on")
            }
        }
    }

    /// An origin that brings less each time is not asked without end and pause.
    @Test func anOriginThatBringsLessIsAskedSoOften() async throws {
        var laboratory = Laboratory()
        laboratory.scenario =
            "[rule]\nname = first\npath = /assets/*\nturn = first\nfault = until-close\nfault = cut:1000\n"
            + "[rule]\nname = others\npath = /assets/*\nfault = until-close\nfault = cut:500\n"
        laboratory.heedsWishes = false
        let task = try await laboratory.run { bench in
            let task = try await bench.fetch(Self.path) { $0.retryLimit = 3 }
            // It was waited for between them.
            #expect(bench.clock.elapsed > 10_000)
            return task
        }
        #expect(task.state.isFinal)
    }

    /// What an origin says of sizes ends no process.
    @Test(arguments: [Int64.max, Int64.max - 1, 0, 1])
    func anySizeCanBeTold(_ total: Int64) {
        for rate in [Int64.max, 1, 0] {
            for committed in [0, 1, Int64.max] {
                var task = TransferTask(
                    TransferPlan(.download, "http://a.test/"), identifier: "1",
                    createdAt: Timestamp(microseconds: 0))
                (task.total, task.rate, task.committed) = (total, rate, committed)
                #expect(!task.row.line.isEmpty)
            }
        }
    }

    /// A journal that cannot be read takes its own transfer alone.
    @Test func oneBadJournalIsLeftAlone() async throws {
        try await Laboratory().run { bench in
            let disk = MemoryDisk()
            let first = try bench.open(disk)
            for number in 0..<2 {
                _ = try first.enqueue(
                    TransferPlan(.download, bench.origin + Self.path, file: "/files/\(number)"))
            }
            let journals = disk.paths.filter { $0.hasSuffix("/journal") }
            let left = MemoryDisk(afterCrashOf: disk, losesUnsynced: false)
            left.claim(Transfer.Journal.sizeLimit + 1, of: try #require(journals.first))
            let second = try bench.open(left)
            #expect(second.tasks().count == 1)
            #expect(second.unreadable.count == 1)
        }
    }

    @Test func highPriorityIsFirst() async throws {
        var laboratory = Laboratory()
        laboratory.limits.runningLimit = 1
        try await laboratory.run { bench in
            var tasks: [TransferTask] = []
            for priority in 0..<4 {
                var plan = TransferPlan(
                    .download, bench.origin + "/assets/\(priority)/1k", file: "/files/\(priority)")
                plan.options.priority = priority
                tasks.append(try bench.service.enqueue(plan))
            }
            for task in tasks { try bench.service.resume(task.identifier) }
            for task in tasks { _ = await bench.service.wait(for: task.identifier) }
            let order = bench.content.journal.contents().records.map(\.target)
            #expect(order == (0..<4).reversed().map { "/assets/\($0)/1k" }, "\(order)")
        }
    }

    /// What an origin drips holds no place that others wait for.
    @Test(.timeLimit(.minutes(10))) func whatBringsNothingGivesWay() async throws {
        let clock = HandClock()
        var laboratory = Laboratory()
        laboratory.clock = clock
        laboratory.limits.runningLimit = 1
        laboratory.patience = 600_000
        laboratory.scenario =
            "[rule]\npath = /assets/1/*\nturn = first\nfault = stall:600000\n"
        try await laboratory.run { bench in
            var tasks: [TransferTask] = []
            for number in 1...2 {
                let plan = TransferPlan(
                    .download, bench.origin + "/assets/\(number)/200k", file: "/files/\(number)")
                tasks.append(try bench.service.enqueue(plan))
                try bench.service.resume(tasks[number - 1].identifier)
            }
            _ = await bench.service.wait(for: tasks[0].identifier) { $0.state == .running }
            clock.advance(by: bench.service.configuration.limits.slowTime - 1)
            #expect(bench.service.task(tasks[0].identifier)?.state == .running)
            clock.advance(by: 1)
            #expect(await bench.service.wait(for: tasks[1].identifier)?.state == .completed)
            let first = try #require(bench.service.task(tasks[0].identifier))
            guard case .waiting(let wait) = first.state else {
                Issue.record("it is \(first.state)")
                return
            }
            #expect(wait.reason == .queue && wait.failure == nil)
            // And comes again.
            clock.advance(by: bench.service.configuration.limits.slowTime)
            #expect(await bench.service.wait(for: tasks[0].identifier)?.state == .completed)
        }
    }

    /// A file that comes into the way meanwhile costs nothing of what has come.
    @Test(.timeLimit(.minutes(10))) func waitsForAFileInTheWay() async throws {
        let disk = MemoryDisk()
        var laboratory = Laboratory()
        laboratory.disk = disk
        try await laboratory.run { bench in
            let task = try bench.service.enqueue(
                TransferPlan(.download, bench.origin + Self.path, file: "/files/download"))
            let other = try disk.open("/files/download", creating: true)
            try other.write([1].span, at: 0)
            try bench.service.resume(task.identifier)
            let waiting = await bench.service.wait(for: task.identifier) {
                $0.wait?.reason == .fileExists
            }
            #expect(waiting?.wait?.failure?.code == "file-exists")
            #expect(!bench.service.hasWork)
            let count = bench.content.journal.contents().records.count
            #expect(try bench.bytes() == [1])
            try disk.remove("/files/download")
            try bench.service.resume(task.identifier)
            #expect(await bench.service.wait(for: task.identifier)?.state == .completed)
            #expect(bench.content.journal.contents().records.count == count)
        }
    }

    /// Whatever has come into the way: what is looked for behind a crash is not there, and that is all.
    @Test(.timeLimit(.minutes(10)), arguments: ["folder", "link", "nobody's"])
    func waitsForWhatIsInTheWay(_ kind: String) async throws {
        let folder = try TransferFolder()
        var laboratory = Laboratory()
        laboratory.disk = SystemDisk()
        laboratory.folder = folder.path + "/tasks"
        try await laboratory.run { bench in
            let target = folder.path + "/download"
            let task = try bench.service.enqueue(
                TransferPlan(.download, bench.origin + Self.path, file: target))
            switch kind {
            case "folder": #expect(unsafe mkdir(target, 0o700) == 0)
            case "link": #expect(unsafe symlink("/nowhere/at/all", target) == 0)
            default: #expect(unsafe mkfifo(target, 0) == 0)
            }
            for _ in 0..<3 {
                try bench.service.resume(task.identifier)
                let waiting = await bench.service.wait(for: task.identifier) {
                    $0.state.isFinal || $0.wait?.reason == .fileExists
                }
                #expect(waiting?.wait?.failure?.code == "file-exists", "\(waiting?.state)")
            }
            #expect(unsafe remove(target) == 0)
            try bench.service.resume(task.identifier)
            #expect(await bench.service.wait(for: task.identifier)?.state == .completed)
            #expect(bench.content.journal.contents().records.count == 1)
        }
    }

    /// A machine has fewer descriptors than a session tasks.
    @Test func tasksThatWaitHoldNoDescriptor() async throws {
        let folder = try TransferFolder()
        var laboratory = Laboratory()
        laboratory.disk = SystemDisk()
        laboratory.folder = folder.path + "/tasks"
        try await laboratory.run { bench in
            for number in 0..<100 {
                _ = try bench.service.enqueue(
                    TransferPlan(.download, bench.origin + Self.path, file: "/files/\(number)"))
            }
            let prefix = folder.path + "/tasks/"
            let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            let held = names.compactMap { name in
                do {
                    return try FileManager.default.destinationOfSymbolicLink(
                        atPath: "/proc/self/fd/\(name)")
                } catch {
                    // Another test has closed it meanwhile.
                    return nil
                }
            }.filter { $0.hasPrefix(prefix) && $0.hasSuffix("/journal") }
            #expect(held.isEmpty)
        }
    }

    @Test func manySmallFiles() async throws {
        var laboratory = Laboratory()
        let disk = MemoryDisk()
        laboratory.disk = disk
        try await laboratory.run { bench in
            var tasks: [TransferTask] = []
            for number in 0..<500 {
                let plan = TransferPlan(
                    .download, bench.origin + "/assets/\(number)/2k", file: "/files/\(number)")
                tasks.append(try bench.service.enqueue(plan))
                try bench.service.resume(tasks[number].identifier)
            }
            for task in tasks {
                #expect(await bench.service.wait(for: task.identifier)?.state == .completed)
                try bench.service.acknowledge(task.identifier)
            }
            #expect(bench.service.tasks().isEmpty)
        }
        #expect(disk.paths.count == 501)
    }
}
