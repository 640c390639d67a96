internal import Base
internal import Glibc

/// Programs that a command has started and left behind, found by what nothing else has.
package enum StrayProcesses {
    /// What tells that a process is the command's own.
    package enum Mark: Sendable {
        /// It is in this network namespace, such as `net:[4026532281]`, and no part of this run of the tool.
        case namespace(String)
        /// Its variables, as it was started with them, have this one, such as `NAME=value`.
        case variable(String)

        package func isOn(_ process: Int32) -> Bool {
            switch self {
            case .namespace(let namespace):
                ProcessLink.namespace(of: process) == namespace
                    && !Self.isOurs(process)
            case .variable(let variable):
                Self.variables(of: process).split(separator: 0).contains {
                    $0.elementsEqual(variable.utf8)
                }
            }
        }

        /// Whether it keeps the namespaces, and is no tool that the command started.
        private static func isOurs(_ process: Int32) -> Bool {
            let words = read("/proc/\(process)/cmdline").split(separator: 0)
            return words.count > 1 && words[1].elementsEqual(ConfinedStart.word.utf8)
                && ProcessLink.target("/proc/\(process)/exe")
                    == ProcessLink.target("/proc/self/exe")
        }

        private static func variables(of process: Int32) -> [UInt8] {
            read("/proc/\(process)/environ")
        }

        /// Empty for a process of another user, whose variables nobody else sees.
        private static func read(_ path: String) -> [UInt8] {
            do throws(Failure) {
                return try Files.read(path)
            } catch {
                return []
            }
        }
    }

    /// Those that were found, each such as `sleep (123)`.
    package struct Ended: Sendable {
        package var ended: [String] = []
        /// Those that could not be: they have changed their user, or are stuck in the kernel.
        package var left: [String] = []
    }

    private static func find(_ mark: Mark) -> [Int32] {
        guard let folder = unsafe opendir("/proc") else { return [] }
        defer { unsafe closedir(folder) }
        var found: [Int32] = []
        while found.count < countLimit, let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
                unsafe String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let process = Int32(name), mark.isOn(process) { found.append(process) }
        }
        return found
    }

    /// Those that run now, each such as `sleep (123)`; as many as a reader wants to know of.
    package static func names(_ mark: Mark) -> [String] { find(mark).prefix(nameLimit).map(name) }

    private static func name(_ process: Int32) -> String {
        do throws(Failure) {
            let bytes = try Files.read("/proc/\(process)/comm")
            return "\(String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)) (\(process))"
        } catch {
            return "? (\(process))"
        }
    }

    /// Asks all to end, ends those that do not, and says who they were; blocks for a second at most.
    ///
    /// What they start in the meantime is ended too.
    package static func end(_ mark: Mark) -> Ended {
        var names: [Int32: String] = [:]
        var round = 0
        while round < roundLimit {
            let found = find(mark)
            if found.isEmpty { return Ended(ended: names.values.sorted()) }
            for process in found {
                let isKnown = names[process] != nil
                if !isKnown { names[process] = name(process) }
                // A number is not given to another process between this look and the signal.
                guard mark.isOn(process) else { continue }
                if round >= patientRounds {
                    kill(process, SIGKILL)
                } else if !isKnown {
                    kill(process, SIGTERM)
                }
            }
            usleep(roundMicroseconds)
            round += 1
        }
        let left = Set(find(mark))
        return Ended(
            ended: names.filter { !left.contains($0.key) }.values.sorted(),
            left: names.filter { left.contains($0.key) }.values.sorted())
    }

    /// Of processes in one look; the next one finds more.
    private static let countLimit = 1_024
    private static let nameLimit = 20
    private static let roundMicroseconds: UInt32 = 10_000
    /// In which a program may end by itself.
    private static let patientRounds = 50
    private static let roundLimit = 100
}
