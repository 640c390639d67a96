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

/// SIGINT, SIGTERM and SIGHUP, turned into calls instead of the end of the process.
package final class StopSignals: Sendable {
    private let receiver: Int32
    private let state = Mutex(State())

    private struct State {
        var machine = StopMachine()
        var watcher: Watcher?
        var onRenew: (@Sendable () -> Void)?
    }

    private struct Watcher {
        let onStop: @Sendable (StopSignal) -> Void
        let onInsist: (@Sendable () -> Void)?
        let onTick: @Sendable () -> Void
    }

    /// Takes the signals over for the whole process.
    ///
    /// - Parameter keepsIgnored: whether a signal that the caller ignores stays ignored; one that
    ///   hangs up always does, because who starts it with `nohup` means it to go on.
    ///
    /// Errors: `no-signals`.
    package init(keepsIgnored: Bool = false) throws(Failure) {
        let ends: PipeEnds
        do throws(SystemError) {
            ends = try PipeEnds()
        } catch {
            throw Failure("no-signals", party: .tool, "cannot make a pipe: \(error)")
        }
        receiver = ends.reading
        // Whoever is interrupted by a handler must not wait in it.
        _ = fcntl(ends.writing, F_SETFL, O_NONBLOCK)
        unsafe handlerPipe = ends.writing
        var action = Self.action()
        for number in [SIGINT, SIGTERM, SIGHUP]
        where !(keepsIgnored || number == SIGHUP) || !Self.isIgnored(number) {
            unsafe sigaction(number, &action, nil)
        }
        for number in ignoredSignals { _ = signal(number, SIG_IGN) }
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
            _ = unsafe write(handlerPipe, &note, MemoryLayout<UInt64>.size)
            errno = before
        }
        action.sa_flags = SA_RESTART | SA_SIGINFO
        return action
    }

    /// Calls `onRenew` at each SIGUSR1 from now on, on the thread that watches; without this, the
    /// signal ends the process as it always does.
    package func watchRenewal(_ onRenew: @escaping @Sendable () -> Void) {
        state.withLock { $0.onRenew = onRenew }
        var action = Self.action()
        unsafe sigaction(SIGUSR1, &action, nil)
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
        if note.number == SIGUSR1 {
            state.withLock(\.onRenew)?()
            return
        }
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
