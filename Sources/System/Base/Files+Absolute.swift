#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

extension Files {
    /// A path as it is written from the current folder, if it leads to something below it.
    package static func relative(_ path: String) -> String {
        guard path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        let prefix = unsafe String(cString: folder) + "/"
        return path.hasPrefix(prefix) ? String(path.dropFirst(prefix.utf8.count)) : path
    }

    /// A path from the root on, which holds in another folder too; where its folder is there, the same
    /// one for the same file.
    ///
    /// Errors: `file-unreadable` if the current folder is not there.
    package static func absolute(_ path: String) throws(Failure) -> String {
        let whole = try rooted(path)
        let slash = whole.lastIndex(of: "/") ?? whole.startIndex
        let (folder, name) = (String(whole[...slash]), whole[whole.index(after: slash)...])
        guard !name.isEmpty, name != ".", name != "..", let real = unsafe realpath(folder, nil)
        else {
            return whole
        }
        defer { unsafe free(real) }
        let parent = unsafe String(cString: real)
        return parent == "/" ? "/\(name)" : "\(parent)/\(name)"
    }

    private static func rooted(_ path: String) throws(Failure) -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = unsafe getcwd(nil, 0) else {
            throw Failure("file-unreadable", party: .tool, "the current folder is not there")
        }
        defer { unsafe free(folder) }
        return unsafe String(cString: folder) + "/" + path
    }
}
