import Base
import Sockets
import Synchronization
import Testing

@testable import Transfer

/// What clients ask for, and what they are told.
@Suite(.serialized) struct DaemonTests {
    @Test func fetchesAndTellsOfItToTheEnd() async throws {
        try await Laboratory().serve { bench in
            let client = try await bench.connect()
            #expect(client.processID == 4711)
            let task = try #require(
                try await client.tasks(.add(bench.plan("/assets/7/1m"))).first)
            let told = try await client.tasks(.follow(task.identifier))
            #expect(told.last?.state == .completed)
            #expect(told.last?.committed == 1 << 20)
            #expect(told.last?.path == "/files/download")
            #expect(try bench.bench.bytes() == (try await held("/assets/7/1m")))
            #expect(try await client.tasks(.list(session: nil)).map(\.state) == [.completed])
            #expect(try await client.tasks(.list(session: "other")).isEmpty)
            _ = try await client.tasks(.acknowledge(task.identifier, event: nil))
            #expect(try await client.tasks(.list(session: nil)).isEmpty)
        }
    }

    @Test func goesOnWhenItsClientHasGone() async throws {
        try await Laboratory().serve { bench in
            let first = try await bench.connect()
            let task = try #require(
                try await first.tasks(.add(bench.plan("/assets/7/4m"))).first)
            first.close()
            let second = try await bench.connect()
            let told = try await second.tasks(.follow(task.identifier))
            #expect(told.last?.state == .completed)
        }
    }

    @Test func suspendsResumesAndCancels() async throws {
        var laboratory = Laboratory()
        laboratory.scenario = "[rule]\nname = slow\npath = /assets/*\nfault = stall:400000\n"
        try await laboratory.serve { bench in
            let client = try await bench.connect()
            func state(_ request: DaemonRequest) async throws -> String? {
                try await client.tasks(request).last?.state.name
            }
            let task = try #require(
                try await client.tasks(.add(bench.plan("/assets/7/1m"))).first)
            let id = task.identifier
            _ = try await client.tasks(.suspend(id))
            _ = await bench.bench.service.wait(for: id) { $0.state == .suspended }
            #expect(try await state(.show(id)) == "suspended")
            let resumed = try await state(.resume(id))
            #expect(["waiting", "running"].contains(resumed))
            _ = try await client.tasks(.cancel(id))
            #expect(try await state(.follow(id)) == "cancelled")
        }
    }

    /// The same request again is the same transfer, until it has ended; nothing else goes to its file.
    @Test func takesUpWhatItDoesAlready() async throws {
        var laboratory = Laboratory()
        laboratory.scenario =
            "[rule]\nname = slow\npath = /assets/*\nturn = first\nfault = stall:400000\n"
        try await laboratory.serve { bench in
            let client = try await bench.connect()
            func add(_ path: String, session: String = "default") async throws -> TransferTask? {
                var plan = bench.plan(path)
                plan.session = session
                plan.options.replacesFile = true
                return try await client.tasks(.add(plan)).first
            }
            let first = try await add("/assets/7/1m")
            let again = try await add("/assets/7/1m")
            #expect(again?.identifier == first?.identifier)
            for (path, session) in [("/assets/8/1m", "default"), ("/assets/7/1m", "other")] {
                let failure = await #expect(throws: Failure.self) {
                    try await add(path, session: session)
                }
                #expect(failure?.code == "file-claimed")
            }
            let id = try #require(first?.identifier)
            _ = try await client.tasks(.suspend(id))
            _ = await bench.bench.service.wait(for: id) { $0.state == .suspended }
            _ = try await add("/assets/7/1m")
            #expect(try await client.tasks(.follow(id)).last?.state == .completed)
            let other = try await add("/assets/8/1m")
            #expect(other?.identifier != id)
            #expect(try await client.tasks(.list(session: nil)).count == 2)
        }
    }

    @Test func tellsASessionUntilItIsAcknowledged() async throws {
        try await Laboratory().serve { bench in
            let client = try await bench.connect()
            let task = try #require(
                try await client.tasks(.add(bench.plan("/assets/7/100k"))).first)
            _ = try await client.tasks(.follow(task.identifier))
            for _ in 0..<2 {
                let watcher = try await bench.connect()
                let heard = Mutex<TransferEvent?>(nil)
                await #expect(throws: Failure("heard", party: .tool, "")) {
                    try await watcher.ask(.watch(session: "default")) { reply throws(Failure) in
                        guard case .event(let event) = reply, event.isKept else { return }
                        heard.withLock { $0 = event }
                        throw Failure("heard", party: .tool, "")
                    }
                }
                #expect(heard.withLock { $0?.kind } == .completed)
                await #expect(throws: Failure.self) {
                    try await client.tasks(.watch(session: "default"))
                }
                watcher.close()
                // The session is free again once the daemon has seen its client go.
                while bench.bench.service.events["default"]?.isClosed == false {
                    await Task.yield()
                }
            }
        }
    }

    /// What fails, by the code that a client is told; the connection is of use after it.
    @Test(arguments: [
        (DaemonRequest.show("none"), "no-such-transfer"),
        (.resume("none"), "no-such-transfer"),
        (.suspend("none"), "no-such-transfer"),
        (.cancel("none"), "no-such-transfer"),
        (.acknowledge("none", event: nil), "no-such-transfer"),
        (.follow("none"), "no-such-transfer"),
        (.add(TransferPlan(.download, "ftp://example.org/", file: "/a")), "url-invalid"),
        (.add(TransferPlan(.upload, "http://example.org/", file: "/a")), "source-unreadable"),
    ])
    func refuses(_ request: DaemonRequest, _ code: String) async throws {
        try await Laboratory().serve { bench in
            let client = try await bench.connect()
            do throws(Failure) {
                _ = try await client.tasks(request)
                Issue.record("not refused")
            } catch {
                #expect(error.code == code)
            }
            #expect(try await client.tasks(.list(session: nil)).isEmpty)
        }
    }

    @Test func stopsWhenItIsTold() async throws {
        try await Laboratory().run { bench in
            let daemon = TransferDaemon(
                bench.service, .patient, processID: 1, userOfPeer: { _ in ownUser })
            async let served: Void = daemon.run(nil)
            let (ours, theirs) = try Channel.pair(on: bench.service.loop)
            daemon.admit(theirs)
            let client = try #require(try await DaemonConnection.take(ours, until: .max))
            _ = try await client.tasks(.stop)
            await served
        }
    }

    @Test func endsWhenThereIsNothingToDo() async throws {
        try await Laboratory().run { bench in
            let daemon = TransferDaemon(bench.service, processID: 1, userOfPeer: { _ in ownUser })
            let hasEnded = Mutex(false)
            let (ours, theirs) = try Channel.pair(on: bench.service.loop)
            daemon.admit(theirs)
            let served = Task(executorPreference: bench.service.loop) {
                await daemon.run(nil)
                hasEnded.withLock { $0 = true }
            }
            let client = try #require(try await DaemonConnection.take(ours, until: .max))
            let plan = TransferPlan(.download, bench.origin + "/assets/7/1m", file: "/files/a")
            let task = try #require(try await client.tasks(.add(plan)).first)
            _ = try await client.tasks(.follow(task.identifier))
            #expect(bench.clock.elapsed < 60_000)
            #expect(!hasEnded.withLock { $0 })
            client.close()
            await served.value
            // Retries, which this clock does not wait for either, come on top.
            #expect((60_000..<120_000).contains(bench.clock.elapsed))
        }
    }
}
