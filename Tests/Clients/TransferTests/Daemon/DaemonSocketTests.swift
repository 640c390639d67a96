import Base
import Glibc
import Sockets
import Synchronization
import Testing

@testable import Transfer

/// The daemon at a real socket, in a real folder.
@Suite(.serialized) struct DaemonSocketTests {
    private static func laboratory(_ folder: TransferFolder) -> Laboratory {
        var laboratory = Laboratory()
        laboratory.folder = folder.path
        laboratory.disk = SystemDisk()
        laboratory.holder = HolderNote(processID: 4711, bootID: "this")
        return laboratory
    }

    @Test func servesAProgramOfItsUser() async throws {
        let folder = try TransferFolder()
        let place = DaemonFolder(folder.path)
        try place.prepare()
        let laboratory = Self.laboratory(folder)
        try await laboratory.run { bench in
            let daemon = TransferDaemon(bench.service, .patient, processID: 4711)
            let listener = try LocalListener(place.socket, on: bench.service.loop)
            var facts = stat()
            #expect(unsafe lstat(place.socket, &facts) == 0)
            #expect(facts.st_mode & 0o777 == 0o600)
            async let served: Void = daemon.run(listener)
            let client = try await DaemonConnection.open(place, on: bench.service.loop)
            #expect(try await client.tasks(.list(session: nil)).isEmpty)
            _ = try await client.tasks(.stop)
            await served
            #expect(!Files.exists(place.socket))
        }
    }

    @Test func aSecondOneIsToldWhoHasTheFolder() async throws {
        let folder = try TransferFolder()
        let laboratory = Self.laboratory(folder)
        try await laboratory.run { bench in
            do throws(Failure) {
                _ = try bench.open(SystemDisk())
                Issue.record("opened twice")
            } catch {
                #expect(error.code == "transfers-in-use")
                #expect(error.detail == "process 4711 has the transfers in \(folder.path)")
            }
        }
    }

    @Test func aSocketThatNobodyServesIsTakenAway() async throws {
        let folder = try TransferFolder()
        let place = DaemonFolder(folder.path)
        try await Self.laboratory(folder).run { bench in
            let loop = bench.service.loop
            let first = try LocalListener(folder.path + "/first", on: loop)
            // As a crash leaves it: the path is there, and nobody listens.
            #expect(unsafe link(first.path, place.socket) == 0)
            first.close()
            #expect(try Channel.connect(toPath: place.socket, on: loop) == nil)
            let second = try LocalListener(place.socket, on: loop)
            #expect(try Channel.connect(toPath: place.socket, on: loop) != nil)
            second.close()
        }
    }

    @Test func whatIsNoSocketStays() async throws {
        let folder = try TransferFolder()
        let path = folder.path + "/socket"
        try Files.create(path, [1])
        try await Self.laboratory(folder).run { bench in
            #expect(throws: Failure.self) {
                try LocalListener(path, on: bench.service.loop)
            }
            #expect(Files.exists(path))
        }
    }

    @Test func aPathThatIsTooLongIsRefused() async throws {
        let folder = try TransferFolder()
        let path = folder.path + "/" + String(repeating: "a", count: 108)
        try await Self.laboratory(folder).run { bench in
            do throws(Failure) {
                _ = try LocalListener(path, on: bench.service.loop)
                Issue.record("bound")
            } catch {
                #expect(error.code == "socket-path-too-long")
            }
        }
    }

    @Test func aFolderOfAllIsRefused() throws {
        let folder = try TransferFolder()
        #expect(unsafe chmod(folder.path, 0o755) == 0)
        do throws(Failure) {
            try DaemonFolder(folder.path).prepare()
            Issue.record("taken")
        } catch {
            #expect(error.code == "folder-not-private")
        }
    }

    /// The same check as before a daemon serves: what is sent may hold logins.
    @Test(arguments: [ownUser &+ 1, nil])
    func aDaemonOfAnotherUserIsRefused(_ user: UInt32?) async throws {
        let folder = try TransferFolder()
        let place = DaemonFolder(folder.path)
        try await Self.laboratory(folder).run { bench in
            let loop = bench.service.loop
            let listener = try LocalListener(place.socket, on: loop)
            defer { listener.close() }
            let failure = await #expect(throws: Failure.self) {
                try await DaemonConnection.open(place, on: loop, userOfPeer: { _ in user })
            }
            #expect(failure?.code == "daemon-not-own")
        }
    }

    /// Another daemon's socket, in a folder that was made anew, is left alone.
    @Test(.timeLimit(.minutes(10)), arguments: [false, true])
    func endsWhenItsFolderGoes(isMadeAnew: Bool) async throws {
        let folder = try TransferFolder()
        let place = DaemonFolder(folder.path)
        try place.prepare()
        try await Self.laboratory(folder).run { bench in
            var limits = DaemonLimits.patient
            limits.folderTime = 10
            let daemon = TransferDaemon(bench.service, limits, processID: 4711, folder: place)
            let listener = try LocalListener(place.socket, on: bench.service.loop)
            async let served: Void = daemon.run(listener)
            let client = try await DaemonConnection.open(place, on: bench.service.loop)
            #expect(try await client.tasks(.list(session: nil)).isEmpty)
            #expect(Files.move(place.lock, to: place.lock + ".old"))
            Files.remove(place.socket)
            if isMadeAnew {
                try Files.create(place.socket, [])
                try Files.create(place.lock, [])
            }
            await served
            #expect(Files.exists(place.socket) == isMadeAnew)
        }
    }

    /// Two may wait for one transfer, and the first has it forgotten.
    @Test func tellsTheEndOfWhatWasForgotten() async throws {
        let folder = try TransferFolder()
        let place = DaemonFolder(folder.path)
        try place.prepare()
        try await Self.laboratory(folder).run { bench in
            let (service, loop) = (bench.service, bench.service.loop)
            let daemon = TransferDaemon(service, .patient, processID: 4711, folder: place)
            let listener = try LocalListener(place.socket, on: loop)
            async let served: Void = daemon.run(listener)
            let client = try await DaemonConnection.open(place, on: loop)
            let id = try service.enqueue(
                TransferPlan(.download, bench.origin + "/assets/7/1k", file: folder.path + "/a")
            ).identifier
            async let told = client.tasks(.follow(id))
            while service.watchers[id, default: []].isEmpty { await Task.yield() }
            try service.resume(id)
            #expect(await service.wait(for: id)?.state == .completed)
            try service.acknowledge(id, event: .max)
            #expect(service.task(id) == nil)
            #expect(try await told.last?.state == .completed)
            _ = try await client.tasks(.stop)
            await served
        }
    }

    /// What a command under `run --capture-all` asks for is not fetched past what watches it.
    @Test(arguments: ["net:[1]", nil])
    func doesNothingForAnotherNetwork(_ network: String?) async throws {
        let folder = try TransferFolder()
        let place = DaemonFolder(folder.path)
        try place.prepare()
        try await Self.laboratory(folder).run { bench in
            let daemon = TransferDaemon(
                bench.service, .patient, processID: 4711, folder: place,
                networkOfPeer: { _ in network })
            let listener = try LocalListener(place.socket, on: bench.service.loop)
            async let served: Void = daemon.run(listener)
            let client = try await DaemonConnection.open(place, on: bench.service.loop)
            #expect(try await client.tasks(.list(session: nil)).isEmpty)
            let plan = TransferPlan(.download, bench.origin + "/assets/7/1k", file: "/files/a")
            for request in [DaemonRequest.add(plan), .resume("x")] {
                let failure = await #expect(throws: Failure.self) {
                    _ = try await client.tasks(request)
                }
                #expect(failure?.code == "daemon-elsewhere")
            }
            #expect(bench.service.tasks().isEmpty)
            _ = try await client.tasks(.stop)
            await served
        }
    }

    @Test func isStartedForWhoNeedsIt() async throws {
        let folder = try TransferFolder()
        let place = DaemonFolder(folder.path)
        try await Self.laboratory(folder).run { bench in
            let loop = bench.service.loop
            let starts = Mutex(0)
            let daemon = TransferDaemon(bench.service, .patient, processID: 4711)
            let wakeup = LoopWakeup(loop)
            let served = Task(executorPreference: loop) {
                _ = await wakeup.wait(until: .max)
                await daemon.run(try LocalListener(place.socket, on: loop))
            }
            let client = try await DaemonConnection.open(place, on: loop) { () throws(Failure) in
                starts.withLock { $0 += 1 }
                wakeup.wake()
                return DaemonProcess(hasEnded: { false }, lastWords: { nil })
            }
            _ = try await client.tasks(.stop)
            try await served.value
            #expect(starts.withLock { $0 } == 1)
        }
    }

    @Test(arguments: [true, false])
    func saysWhyItDidNotStart(hasEnded: Bool) async throws {
        let folder = try TransferFolder()
        try await Self.laboratory(folder).run { bench in
            do throws(Failure) {
                _ = try await DaemonConnection.open(
                    DaemonFolder(folder.path), on: bench.service.loop, patience: 100
                ) { () throws(Failure) in
                    DaemonProcess(hasEnded: { hasEnded }, lastWords: { "no room" })
                }
                Issue.record("connected")
            } catch {
                #expect(error.code == "daemon-not-started")
                #expect(error.detail.hasSuffix(": no room"))
            }
            do throws(Failure) {
                _ = try await DaemonConnection.open(
                    DaemonFolder(folder.path), on: bench.service.loop)
                Issue.record("connected")
            } catch {
                #expect(error.code == "daemon-absent")
            }
        }
    }
}

/// A folder that goes with its test, with a path that is short enough for a socket.
final class TransferFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/sallyport-t-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SystemError(errno) }
        path = template.dropLast().map { UInt8(bitPattern: $0) }.text
    }

    deinit {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        Files.removeFolder(path, opened: descriptor)
        close(descriptor)
    }
}
