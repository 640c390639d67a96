internal import Glibc

/// The processes of a network namespace, as `/proc` has them.
enum NamespaceProcesses {
    /// The namespace of a process, such as `net:[4026532281]`; `nil` if it may not be known.
    static func namespace(of process: Int32) -> String? {
        target("/proc/\(process)/ns/net")
    }

    /// Those inside, each such as `sleep (123)`, without the tool's own; at most `countLimit`.
    static func names(in namespace: String) -> [String] {
        StrayProcesses.find(.namespace(namespace)).prefix(countLimit).map(StrayProcesses.name)
    }

    static func target(_ path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe readlink(path, $0.baseAddress!, $0.count)
        }
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Whoever reads the list needs no more to know what was started.
    private static let countLimit = 20
}
