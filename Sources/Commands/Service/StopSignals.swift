internal import Base
internal import Glibc
internal import Sockets

/// A signal that asked for the end.
struct StopSignal: Sendable {
    let number: Int32
    /// Whether a terminal sent it, which sends it to its whole foreground group at once.
    let isFromTerminal: Bool
}

/// SIGINT and SIGTERM, turned into a call instead of the end of the process.
final class StopSignals: Sendable {
    private let receiver: Int32

    /// Takes the signals over for the whole process.
    ///
    /// Errors: `no-signals`.
    init() throws(Failure) {
        let ends: PipeEnds
        do throws(SystemError) {
            ends = try PipeEnds()
        } catch {
            throw Failure("no-signals", party: .tool, "cannot make a pipe: \(error)")
        }
        receiver = ends.reading
        unsafe handlerPipe = ends.writing
        var action = sigaction()
        // Only what POSIX allows in a handler: the byte wakes the thread that does the rest.
        unsafe action.__sigaction_handler.sa_sigaction = { number, information, _ in
            var byte = UInt8(truncatingIfNeeded: number)
            // Above 0 the kernel sent it, and for these it does so for a terminal.
            if unsafe (information?.pointee.si_code ?? 0) > 0 { byte |= terminalMark }
            _ = unsafe write(handlerPipe, &byte, 1)
        }
        action.sa_flags = SA_RESTART | SA_SIGINFO
        unsafe sigaction(SIGINT, &action, nil)
        unsafe sigaction(SIGTERM, &action, nil)
        // A reader of our output that leaves is told by the write that fails.
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// Calls `onStop` at the first signal; a second one ends the process at once.
    ///
    /// - Parameter onTick: called about twice a second while none comes.
    func watch(
        onStop: @escaping @Sendable (StopSignal) -> Void, onTick: @escaping @Sendable () -> Void
    ) {
        let receiver = receiver
        startThread(named: "signals") {
            var count = 0
            while true {
                var wanted = pollfd(fd: receiver, events: Int16(POLLIN), revents: 0)
                guard unsafe poll(&wanted, 1, 500) > 0 else {
                    onTick()
                    continue
                }
                var byte: UInt8 = 0
                guard unsafe read(receiver, &byte, 1) == 1 else { continue }
                count += 1
                let number = Int32(byte & ~terminalMark)
                if count > 1 { _exit(128 + number) }
                onStop(StopSignal(number: number, isFromTerminal: byte & terminalMark != 0))
            }
        }
    }
}

/// No signal's number has this bit.
private let terminalMark: UInt8 = 0x80

/// Where the handler writes; set once, before the handler is installed.
nonisolated(unsafe) private var handlerPipe: Int32 = -1
