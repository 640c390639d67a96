package import Base
internal import Glibc
internal import Sockets
internal import Synchronization

/// A signal that asked for the end.
package struct StopSignal: Sendable {
    package let number: Int32
    /// Whether a terminal sent it, which sends it to its whole foreground group at once.
    let isFromTerminal: Bool
}

/// SIGINT, SIGTERM, SIGQUIT and SIGHUP, turned into calls instead of the end of the process.
package final class StopSignals: Sendable {
    private let receiver: Int32
    /// Where SIGUSR1 is noted, apart: however many of them come, the signals that end are heard.
    private let renewals: Int32?
    private let state = Mutex(State())

    private struct State {
        var machine = StopMachine()
        var watcher: Watcher?
    }

    private struct Watcher {
        let onStop: @Sendable (StopSignal) -> Void
        let onInsist: (@Sendable () -> Void)?
        let onTick: @Sendable () -> Void
    }

    /// Takes the signals over for the whole process.
    ///
    /// - Parameters:
    ///   - keepsIgnored: whether a signal that the caller ignores stays ignored; one that hangs up
    ///     always does, because who starts it with `nohup` means it to go on.
    ///   - renews: whether SIGUSR1 is taken as well, for `watchRenewals`; else it ends the process as
    ///     it always does.
    ///
    /// Errors: `no-signals`.
    package init(keepsIgnored: Bool = false, renews: Bool = false) throws(Failure) {
        let ends = try Self.makePipe()
        receiver = ends.reading
        unsafe handlerPipe = ends.writing
        var action = Self.action()
        if renews {
            let ends = try Self.makePipe()
            renewals = ends.reading
            unsafe renewalPipe = ends.writing
            unsafe sigaction(SIGUSR1, &action, nil)
        } else {
            renewals = nil
        }
        for number in [SIGINT, SIGTERM, SIGQUIT, SIGHUP]
        where !(keepsIgnored || number == SIGHUP) || !Self.isIgnored(number) {
            unsafe sigaction(number, &action, nil)
        }
        for number in ignoredSignals { _ = signal(number, SIG_IGN) }
    }

    /// A pipe that a handler writes to.
    private static func makePipe() throws(Failure) -> PipeEnds {
        do throws(SystemError) {
            let ends = try PipeEnds()
            // Whoever is interrupted by a handler must not wait in it.
            _ = fcntl(ends.writing, F_SETFL, O_NONBLOCK)
            return ends
        } catch {
            throw Failure("no-signals", party: .tool, "cannot make a pipe: \(error)")
        }
    }

    /// What notes a signal.
    private static func action() -> sigaction {
        var action = sigaction()
        // Only what POSIX allows in a handler: the note wakes the thread that does the rest.
        unsafe action.__sigaction_handler.sa_sigaction = { number, information, _ in
            let before = errno
            // Above 0 the kernel sent it, and for these it does so for a terminal.
            let isFromTerminal = unsafe (information?.pointee.si_code ?? 0) > 0
            var note = SignalNote(
                number, isFromTerminal: isFromTerminal, at: MonotonicTime.now()
            ).rawValue
            let pipe = unsafe number == SIGUSR1 ? renewalPipe : handlerPipe
            _ = unsafe write(pipe, &note, MemoryLayout<UInt64>.size)
            errno = before
        }
        action.sa_flags = SA_RESTART | SA_SIGINFO
        return action
    }

    /// Calls `onRenew` at SIGUSR1, once for those that have come meanwhile, on a thread of its own:
    /// it may wait for a file, or for who reads what it says, and an end must not.
    package func watchRenewals(_ onRenew: @escaping @Sendable () -> Void) {
        guard let renewals else { preconditionFailure("SIGUSR1 is not taken") }
        startThread(named: "renewals") {
            var notes = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                // Until there is one; what has come is taken all at once.
                let count = unsafe notes.withUnsafeMutableBytes {
                    unsafe Glibc.read(renewals, $0.baseAddress, $0.count)
                }
                if count > 0 { onRenew() }
            }
        }
    }

    /// Calls `onStop` at the first signal; one that comes a second later or more calls `onInsist`,
    /// and the next after that ends the process at once. Who came before gets no more calls.
    ///
    /// - Parameters:
    ///   - onInsist: ends by force what did not end; `nil` to end the process at once.
    ///   - onTick: called about twice a second while none comes.
    package func watch(
        onStop: @escaping @Sendable (StopSignal) -> Void,
        onInsist: (@Sendable () -> Void)? = nil, onTick: @escaping @Sendable () -> Void
    ) {
        let isFirst = state.withLock { state in
            defer { state.watcher = Watcher(onStop: onStop, onInsist: onInsist, onTick: onTick) }
            return state.watcher == nil
        }
        if isFirst { startThread(named: "signals") { self.read() } }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        unsafe sigaction(number, nil, &action)
        let ignoring = unsafe unsafeBitCast(SIG_IGN, to: Int.self)
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == ignoring
    }

    private func read() {
        while true {
            var wanted = pollfd(fd: receiver, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&wanted, 1, 500) > 0 else {
                state.withLock(\.watcher)?.onTick()
                continue
            }
            var note: UInt64 = 0
            let size = MemoryLayout<UInt64>.size
            guard unsafe Glibc.read(receiver, &note, size) == size else { continue }
            act(SignalNote(rawValue: note))
        }
    }

    private func act(_ note: SignalNote) {
        let (action, watcher) = state.withLock { ($0.machine.take(at: note.time), $0.watcher) }
        switch (action, watcher?.onInsist) {
        case (.none, _): break
        case (.stop, _):
            watcher?.onStop(
                StopSignal(number: note.number, isFromTerminal: note.isFromTerminal))
        case (.insist, let onInsist?): onInsist()
        case (.insist, nil), (.leave, _): _exit(128 + note.number)
        }
    }
}

/// What the handler writes of a signal, in as many bytes as a pipe takes at once.
private struct SignalNote {
    let rawValue: UInt64

    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    init(_ number: Int32, isFromTerminal: Bool, at time: MonotonicTime) {
        rawValue =
            (time.nanoseconds / 1_000_000) << 8 | (isFromTerminal ? Self.terminalMark : 0)
            | UInt64(truncatingIfNeeded: number)
    }

    var number: Int32 { Int32(rawValue & 0x7F) }
    var isFromTerminal: Bool { rawValue & Self.terminalMark != 0 }
    /// To the millisecond.
    var time: MonotonicTime { MonotonicTime(nanoseconds: (rawValue >> 8) * 1_000_000) }

    /// No signal's number has this bit.
    private static let terminalMark: UInt64 = 0x80
}

/// Where the handler writes; set once, before the handler is installed.
nonisolated(unsafe) private var handlerPipe: Int32 = -1
/// The same for SIGUSR1.
nonisolated(unsafe) private var renewalPipe: Int32 = -1
