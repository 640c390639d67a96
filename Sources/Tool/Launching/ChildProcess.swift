package import Base
internal import Confinement
package import Glibc
internal import Sockets

/// A program that was started with our standard streams.
package struct ChildProcess: Sendable {
    package let program: StartedProgram
    package var id: pid_t { program.id }

    /// How it ended.
    package enum Ending: Sendable, Equatable {
        case exited(Int32)
        case signalled(Int32)

        /// - Parameter status: as `waitpid` gives it.
        package init(status: Int32) {
            let number = status & 0x7F
            self = number == 0 ? .exited(status >> 8 & 0xFF) : .signalled(number)
        }

        /// As a shell tells it: 128 and the signal's number where that ended it.
        package var status: Int32 {
            switch self {
            case .exited(let code): code
            case .signalled(let number): 128 + number
            }
        }

        package var signal: Int32? { if case .signalled(let number) = self { number } else { nil } }

        /// In words: `exited with 7`.
        package var text: String {
            switch self {
            case .exited(let code): "exited with \(code)"
            case .signalled(let number): "was ended by signal \(number)"
            }
        }
    }

    /// Starts a program, which is looked for in PATH.
    ///
    /// - Parameter output: what it writes to; `nil` for our standard streams.
    ///
    /// Errors: `command-not-started`.
    package static func start(
        _ arguments: [String], variables: [String: String], output: Int32? = nil
    ) throws(Failure) -> ChildProcess {
        let started = DescriptorLimit.withInherited {
            Program.start(
                arguments[0], arguments: arguments, variables: variables, output: output)
        }
        guard started.number == 0 else {
            throw Confinement.notStarted(arguments[0], started.number)
        }
        return ChildProcess(program: StartedProgram(id: started.id))
    }

    /// Waits for its end; blocks.
    package func wait() -> Ending {
        Ending(status: program.wait())
    }

    /// Passes on a signal that the tool got, unless the terminal sent it to the child as well: for
    /// many programs a second SIGINT means to leave their work undone.
    package func forward(_ signal: StopSignal) {
        if signal.isFromTerminal, getpgid(id) == getpgid(0) { return }
        program.send(signal.number)
    }

    /// Ends it whether it will or not.
    package func kill() {
        program.send(SIGKILL)
    }
}
