internal import Base
internal import Glibc
internal import Traffic

/// Makes the records of processes, and remembers the last ones.
struct ProcessRecords {
    private struct Known {
        let commandLine: [UInt8]
        let record: ProcessRecord
    }

    private var known: [Int32: Known] = [:]

    /// The record of a process; `nil` if it has ended.
    ///
    /// A process may become another program, so what it runs is read each time.
    mutating func record(_ id: Int32) -> ProcessRecord? {
        guard let bytes = Self.commandLine(id) else {
            known[id] = nil
            return nil
        }
        let path = Link.target("/proc/\(id)/exe", byteLimit: 4096)
        let executable = path.map { String(decoding: $0, as: UTF8.self) } ?? ""
        if let last = known[id], last.commandLine == bytes, last.record.executable == executable {
            return last.record
        }
        var words = bytes.split(separator: 0, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        // Of one that is ending nothing but its name is left.
        if bytes.isEmpty, executable.isEmpty, let name = ProcessFacts.name(of: id) {
            words = [name]
        }
        let record = ProcessRecord(
            id: id, executable: executable,
            // The last one ends with a NUL too.
            commandLine: CommandLineRedaction.redact(words.last == "" ? words.dropLast() : words))
        if known.count >= Self.limit { known = [:] }
        known[id] = Known(commandLine: bytes, record: record)
        return record
    }

    /// The start of the arguments, each with a NUL behind it.
    private static func commandLine(_ id: Int32) -> [UInt8]? {
        let descriptor = unsafe open("/proc/\(id)/cmdline", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: byteLimit)
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe read(descriptor, $0.baseAddress, $0.count)
        }
        return count < 0 ? nil : Array(bytes.prefix(count))
    }

    /// What is longer, such as a class path, says nothing more.
    private static let byteLimit = 4096
    private static let limit = 256
}
