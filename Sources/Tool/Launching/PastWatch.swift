internal import Base
package import Confinement
internal import Glibc
internal import Processes
package import Sockets
internal import Synchronization

/// Sees which TCP connections a command and what it starts make past the proxy, without changing
/// anything for them: the kernel's list of sockets is looked through every few milliseconds.
///
/// What lives shorter than that is missed, or seen without its program; a command that no way past
/// is left for is confined instead.
package final class PastWatch: Sendable {
    /// Connections of one program to one address.
    package struct Connections: Sendable, Equatable {
        package let remote: SocketAddress
        /// As the system names it, such as `curl`; `nil` if the connection ended too soon to tell.
        package let program: String?
        /// Whether they stay on this machine.
        package let isLocal: Bool
        package internal(set) var count: Int

        package init(remote: SocketAddress, program: String?, isLocal: Bool, count: Int) {
            self.remote = remote
            self.program = program
            self.isLocal = isLocal
            self.count = count
        }
    }

    private struct Key: Hashable {
        let remote: SocketAddress
        let program: String?
        let isLocal: Bool
    }

    private struct Ends: Hashable {
        let local: SocketAddress
        let remote: SocketAddress
    }

    /// What only the thread that looks knows.
    private struct Memory {
        let owners = SocketOwners()
        var live: Set<Ends> = []
        /// Those whose end is told of no more.
        var seen: Set<Ends> = []
        var listening: Set<UInt16> = []
        /// Those whose program was not found, with how often it was looked for: it may be about to
        /// become another, or the machine was busy.
        var unfound: [Ends: (socket: SocketDiagnosis.Connection, tries: Int)] = [:]
    }

    private struct State {
        var root: Int32 = 0
        var counts: [Key: Int] = [:]
        var isBlind = false
    }

    private let diagnosis: SocketDiagnosis
    private let proxy: SocketAddress
    private let mark: StrayProcesses.Mark
    private let stopping: PipeEnds
    private let state = Mutex(State())
    private let ended = OneTimeBox<Bool>()

    /// Takes what is there now for what was there before; `nil` where the system does not tell of
    /// its sockets.
    ///
    /// - Parameters:
    ///   - proxy: where the command is led to.
    ///   - mark: what is on the command and all that it starts, unless it takes it off.
    package init?(proxy: SocketAddress, mark: StrayProcesses.Mark) {
        guard let diagnosis = SocketDiagnosis(), let before = diagnosis.list(.connected),
            let past = diagnosis.list(.ended)
        else { return nil }
        do throws(SystemError) {
            stopping = try PipeEnds()
        } catch {
            return nil
        }
        self.diagnosis = diagnosis
        self.proxy = proxy
        self.mark = mark
        let known = Set((before + past).map { Ends(local: $0.local, remote: $0.remote) })
        startThread(named: "past") {
            var memory = Memory()
            memory.live = known
            memory.seen = known
            self.serve(&memory)
        }
    }

    /// Names the command once it runs.
    package func follow(_ root: Int32) { state.withLock { $0.root = root } }

    /// Looks a last time, and tells what was seen; `nil` if the system stopped to tell.
    package func stop() async -> [Connections]? {
        close(stopping.writing)
        _ = await ended.get()
        return state.withLock { state in
            guard !state.isBlind else { return nil }
            return state.counts.map { key, count in
                Connections(
                    remote: key.remote, program: key.program, isLocal: key.isLocal, count: count)
            }.sorted {
                ($0.remote.description, $0.program ?? "")
                    < ($1.remote.description, $1.program ?? "")
            }
        }
    }

    // MARK: The thread that looks

    private func serve(_ memory: inout Memory) {
        var lastEnded = MonotonicTime.now().nanoseconds
        var wait = Self.interval
        while Waiting.readable([stopping.reading], milliseconds: wait).isEmpty {
            let start = Self.spentTime
            look(&memory)
            let spent = Self.spentTime - start
            let now = MonotonicTime.now().nanoseconds
            if now - lastEnded > Self.endedInterval {
                lookAtEnded(&memory)
                lastEnded = now
            }
            // On a machine with many sockets a look takes long; it has a tenth of one processor.
            wait = max(Self.interval, Int32(clamping: 9 * spent / 1_000_000))
        }
        look(&memory)
        lookAtEnded(&memory)
        close(stopping.reading)
        ended.set(true)
    }

    /// The processor time of this thread, in nanoseconds: on a busy machine a look may have to wait,
    /// which is no reason to look less often.
    private static var spentTime: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private func look(_ memory: inout Memory) {
        guard let sockets = diagnosis.list(.connected) else {
            return state.withLock { $0.isBlind = true }
        }
        var live: Set<Ends> = []
        var new: [(ends: Ends, socket: SocketDiagnosis.Connection)] = []
        for socket in sockets {
            let ends = Ends(local: socket.local, remote: socket.remote)
            live.insert(ends)
            guard !memory.live.contains(ends), leadsPast(socket) else { continue }
            new.append((ends, socket))
        }
        if !new.isEmpty { noteListeners(&memory) }
        new.removeAll { memory.listening.contains($0.socket.local.port) }
        examine(new, &memory)
        for (ends, found) in memory.unfound {
            if !live.contains(ends) || found.tries >= Self.tryLimit {
                memory.unfound[ends] = nil
                remember(ends, &memory)
                note(found.socket, program: nil)
            } else {
                live.remove(ends)
            }
        }
        memory.live = live
    }

    /// All in one walk through the processes: others of this machine may open hundreds at a time.
    private func examine(
        _ sockets: [(ends: Ends, socket: SocketDiagnosis.Connection)], _ memory: inout Memory
    ) {
        let ourselves = geteuid()
        let owners = memory.owners.search(
            Set(sockets.lazy.map(\.socket.inode).filter { $0 != 0 }))
        for (ends, socket) in sockets {
            guard ourselves == 0 || socket.user == ourselves else {
                remember(ends, &memory)
                continue
            }
            guard let owner = owners[socket.inode] else {
                let tries = memory.unfound[ends]?.tries ?? 0
                memory.unfound[ends] = (socket, tries + 1)
                continue
            }
            memory.unfound[ends] = nil
            remember(ends, &memory)
            guard owner != getpid(), isOfCommand(owner) else { continue }
            note(socket, program: ProcessFacts.name(of: owner) ?? "a program")
        }
    }

    /// What ended between two looks is still known to the kernel, but not whose it was.
    private func lookAtEnded(_ memory: inout Memory) {
        guard let sockets = diagnosis.list(.ended) else { return }
        noteListeners(&memory)
        for socket in sockets {
            let ends = Ends(local: socket.local, remote: socket.remote)
            guard !memory.seen.contains(ends), leadsPast(socket),
                !memory.listening.contains(socket.local.port)
            else { continue }
            remember(ends, &memory)
            note(socket, program: nil)
        }
    }

    /// What came in is no way out.
    private func noteListeners(_ memory: inout Memory) {
        for socket in diagnosis.list(.listening) ?? [] {
            memory.listening.insert(socket.local.port)
        }
    }

    private func remember(_ ends: Ends, _ memory: inout Memory) {
        if memory.seen.count < Self.endsLimit { memory.seen.insert(ends) }
    }

    private func leadsPast(_ socket: SocketDiagnosis.Connection) -> Bool {
        socket.remote.port != 53 && !socket.remote.isWildcard
            && !(socket.remote.port == proxy.port && socket.remote.isLoopback)
            && !(socket.local.port == proxy.port && socket.local.isLoopback)
    }

    private func note(_ socket: SocketDiagnosis.Connection, program: String?) {
        let isLocal =
            socket.remote.isLoopback || socket.remote.address == socket.local.address
        // Whose it was nobody knows, and it never left the machine.
        if program == nil, isLocal { return }
        let key = Key(remote: socket.remote, program: program, isLocal: isLocal)
        state.withLock { state in
            guard state.counts[key] != nil || state.counts.count < Self.keyLimit else { return }
            state.counts[key, default: 0] += 1
        }
    }

    private func isOfCommand(_ process: Int32) -> Bool {
        let root = state.withLock(\.root)
        var ancestor = process
        for _ in 0..<64 where ancestor > 1 {
            if ancestor == root { return true }
            guard let parent = ProcessFacts.parent(of: ancestor) else { break }
            ancestor = parent
        }
        return mark.isOn(process)
    }

    /// In milliseconds: a connection to another machine lasts as long as a packet goes there and
    /// back, at least.
    private static let interval: Int32 = 2
    /// In nanoseconds; the kernel forgets after a minute.
    private static let endedInterval: UInt64 = 20_000_000_000
    private static let keyLimit = 1_000
    private static let tryLimit = 8
    private static let endsLimit = 65_536
}
