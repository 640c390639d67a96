internal import Glibc

/// Where the links of `/proc` lead.
enum ProcessLink {
    /// The namespace of a process, such as `net:[4026532281]`; `nil` if it may not be known.
    static func namespace(of process: Int32) -> String? {
        target("/proc/\(process)/ns/net")
    }

    static func target(_ path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe readlink(path, $0.baseAddress!, $0.count)
        }
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
