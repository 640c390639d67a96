internal import Base
internal import Glibc

/// The processes of a network namespace, as `/proc` has them.
enum NamespaceProcesses {
    /// The namespace of a process, such as `net:[4026532281]`; `nil` if it may not be known.
    static func namespace(of process: Int32) -> String? {
        target("/proc/\(process)/ns/net")
    }

    /// Those inside, each such as `sleep (123)`, without the tool's own; at most `countLimit`.
    static func names(in namespace: String) -> [String] {
        let ours = target("/proc/self/exe")
        var names: [String] = []
        guard let folder = unsafe opendir("/proc") else { return [] }
        defer { unsafe closedir(folder) }
        while names.count < countLimit, let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
                unsafe String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let process = Int32(name), self.namespace(of: process) == namespace,
                target("/proc/\(process)/exe") != ours
            else { continue }
            names.append("\(command(of: process)) (\(process))")
        }
        return names
    }

    private static func command(of process: Int32) -> String {
        do throws(Failure) {
            let bytes = try Files.read("/proc/\(process)/comm")
            return String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
        } catch {
            return "?"
        }
    }

    private static func target(_ path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe readlink(path, $0.baseAddress!, $0.count)
        }
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Whoever reads the list needs no more to know what was started.
    private static let countLimit = 20
}
