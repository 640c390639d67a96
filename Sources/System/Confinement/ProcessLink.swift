internal import Base

/// Where the links of `/proc` lead.
enum ProcessLink {
    /// The namespace of a process, such as `net:[4026532281]`; `nil` if it may not be known.
    static func namespace(of process: Int32) -> String? {
        target("/proc/\(process)/ns/net")
    }

    static func target(_ path: String) -> String? {
        Files.linkTarget(path)
    }
}
