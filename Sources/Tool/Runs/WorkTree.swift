internal import Base

/// What git would do with a file.
enum WorkTree {
    /// Whether a commit of everything would take a capture along: it lies in a work tree, and no
    /// file of what is ignored says plainly that it does not.
    static func wouldTake(_ path: String) -> Bool {
        let slash = path.lastIndex(of: "/")
        let name = Files.name(of: path)
        var folder = slash.map { String(path[...$0]) } ?? "./"
        for _ in 0..<depthLimit {
            if ignores(folder + ".gitignore", name) { return false }
            if Files.exists(folder + ".git") {
                return !ignores(folder + ".git/info/exclude", name)
            }
            folder += "../"
        }
        return false
    }

    private static func ignores(_ file: String, _ name: String) -> Bool {
        do throws(Failure) {
            guard Files.exists(file), let bytes = try Files.readOwn(file, byteLimit: 1 << 18)
            else { return false }
            let patterns: Set = ["*", "*.sallyport", "/*.sallyport", "**/*.sallyport", name]
            return bytes.split(separator: UInt8(ascii: "\n")).contains { line in
                patterns.contains(Array(line).text.filter { !$0.isWhitespace })
            }
        } catch {
            // What cannot be read ignores nothing.
            return false
        }
    }

    /// A file further down is taken for one of no work tree.
    private static let depthLimit = 64
}
