import Testing

@testable import Base

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct FilesTests {
    private let folder = TemporaryFolder()

    @Test func readsBackWhatItWrote() throws {
        let bytes = [UInt8](repeating: 7, count: 200_000) + [0, 1, 255]
        try Files.create(folder.file("a"), bytes)
        #expect(try Files.read(folder.file("a")) == bytes)
        try Files.create(folder.file("empty"), [])
        #expect(try Files.read(folder.file("empty")) == [])
    }

    /// A named pipe that nobody writes would be waited for, and a device never ends.
    @Test func readsRegularFilesAlone() throws {
        try Files.create(folder.file("a"), [1, 2])
        unsafe symlink(folder.file("a"), folder.file("link"))
        #expect(try Files.readRegular(folder.file("link"), byteLimit: 2) == [1, 2])
        #expect(unsafe mkfifo(folder.file("unwritten"), 0o600) == 0)
        for path in [folder.file("unwritten"), "/dev/zero", folder.path] {
            let failure = #expect(throws: Failure.self) {
                try Files.readRegular(path, byteLimit: 1 << 20)
            }
            #expect(failure?.detail == "cannot read \(path): it is no regular file")
        }
        #expect(throws: Failure.self) { try Files.readRegular(folder.file("a"), byteLimit: 1) }
    }

    @Test func keepsSecretsToTheirOwner() throws {
        try Files.create(folder.file("secret"), [1])
        try Files.create(folder.file("public"), [1], readableByOthers: true)
        #expect(mode(of: folder.file("secret")) == 0o600)
        #expect(mode(of: folder.file("public")) & 0o600 == 0o600)
        try Files.makeFolder(folder.file("deep/down"))
        #expect(mode(of: folder.file("deep/down")) == 0o700)
        #expect(mode(of: folder.file("deep")) == 0o700)
    }

    @Test func neverOverwrites() throws {
        try Files.create(folder.file("a"), [1])
        let failure = #expect(throws: Failure.self) {
            try Files.create(folder.file("a"), [2])
        }
        #expect(failure?.code == "file-unwritable")
        #expect(failure?.detail == "cannot create \(folder.file("a")): file exists")
        #expect(try Files.read(folder.file("a")) == [1])
    }

    @Test func givesAFileItsNameWhenItIsWhole() throws {
        let path = folder.file("a")
        let file = try OutputFile(path: path)
        try file.write([1, 2])
        #expect(!Files.exists(path))
        try file.finish()
        #expect(try Files.read(path) == [1, 2])
        #expect(mode(of: path) == 0o600)
        let dropped = try OutputFile(path: folder.file("b"))
        try dropped.write([1])
        dropped.discard()
        #expect(try Files.names(inFolder: folder.path) == ["a"])
    }

    /// What somebody else has under the old temporary name stays, link or file.
    @Test func leavesOthersFilesAlone() throws {
        try Files.create(folder.file("a.new"), [7])
        unsafe symlink(folder.file("target"), folder.file("b.new"))
        for name in ["a", "b"] {
            let file = try OutputFile(path: folder.file(name))
            try file.write([1])
            try file.finish()
            try Files.replace(folder.file(name), [2])
            #expect(try Files.read(folder.file(name)) == [2])
        }
        #expect(try Files.read(folder.file("a.new")) == [7])
        #expect(try Files.names(inFolder: folder.path) == ["a", "a.new", "b", "b.new"])
    }

    /// The first that is whole has the name; the other's half is not given it.
    @Test func keepsTwoWritersOfOneNameApart() throws {
        let path = folder.file("a")
        let first = try OutputFile(path: path)
        try first.write([1, 2])
        let second = try OutputFile(path: path)
        try second.write([3])
        try first.finish()
        #expect(try Files.read(path) == [1, 2])
        try second.write([4])
        #expect(throws: Failure.self) { try second.finish() }
        second.discard()
        #expect(try Files.read(path) == [1, 2])
        #expect(try Files.names(inFolder: folder.path) == ["a"])
    }

    @Test func doesNotTakeANameThatWasTakenMeanwhile() throws {
        let path = folder.file("a")
        let file = try OutputFile(path: path)
        try file.write([1])
        try Files.create(path, [2])
        let failure = #expect(throws: Failure.self) { try file.finish() }
        #expect(failure?.hint == "name another one, or remove this one first")
        #expect(try Files.read(path) == [2])
    }

    @Test func knowsAFileByAnotherPath() throws {
        try Files.create(folder.file("a"), [1])
        try Files.create(folder.file("b"), [1])
        unsafe symlink(folder.file("a"), folder.file("link"))
        #expect(Files.isSame(folder.file("a"), folder.file("link")))
        #expect(!Files.isSame(folder.file("a"), folder.file("b")))
        #expect(!Files.isSame(folder.file("c"), folder.file("c")))
    }

    @Test func followsNoLinkWhenItCreates() throws {
        unsafe symlink(folder.file("target"), folder.file("link"))
        #expect(throws: Failure.self) { try Files.create(folder.file("link"), [2]) }
        #expect(!Files.exists(folder.file("target")))
    }

    @Test func writesThroughALinkThatItReplaces() throws {
        try Files.create(folder.file("target"), [1, 2, 3])
        unsafe symlink(folder.file("target"), folder.file("link"))
        try Files.replace(folder.file("link"), [4])
        #expect(try Files.read(folder.file("target")) == [4])
        var facts = stat()
        #expect(unsafe lstat(folder.file("link"), &facts) == 0)
        #expect(facts.st_mode & S_IFMT == S_IFLNK)
        try Files.replace(folder.file("target"), [5, 6])
        #expect(try Files.read(folder.file("link")) == [5, 6])
        try Files.replace("/dev/null", [7])
    }

    /// What is reported is nobody else's to read, unless its owner has said so before.
    @Test(arguments: [nil, mode_t(0o644), 0o600, 0o640])
    func keepsReportsToTheirOwner(_ before: mode_t?) throws {
        let path = folder.file("report")
        if let before {
            try Files.create(path, [1])
            #expect(unsafe chmod(path, before) == 0)
        }
        try Files.replace(path, [2])
        var facts = stat()
        #expect(unsafe stat(path, &facts) == 0)
        #expect(facts.st_mode & 0o777 == before ?? 0o600)
        #expect(try Files.read(path) == [2])
    }

    /// Only root can make something another's.
    @Test(.enabled(if: geteuid() == 0), arguments: ["link", "target", "pipe"])
    func touchesNothingOfOthers(_ name: String) throws {
        try Files.create(folder.file("target"), [1])
        unsafe symlink(folder.file("target"), folder.file("link"))
        #expect(unsafe mkfifo(folder.file("pipe"), 0o600) == 0)
        #expect(unsafe lchown(folder.file(name), 65_534, 65_534) == 0)
        let path = folder.file(name == "target" ? "link" : name)
        for write in [{ try Files.replace(path, [2]) }, { try Files.checkReplaceable(path) }] {
            let failure = #expect(throws: Failure.self) { try write() }
            #expect(failure?.code == "file-unwritable")
            #expect(failure?.detail.contains("another user's") == true)
        }
        #expect(try Files.read(folder.file("target")) == [1])
    }

    @Test func doesNotWaitForeverForAReader() throws {
        let path = folder.file("pipe")
        #expect(unsafe mkfifo(path, 0o600) == 0)
        let failure = #expect(throws: Failure.self) { try Files.replace(path, [1]) }
        #expect(failure?.detail.hasSuffix("nobody reads it") == true)
        let reader = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        try Files.replace(path, [7])
        var byte: UInt8 = 0
        #expect(unsafe read(reader, &byte, 1) == 1)
        #expect(byte == 7)
    }

    @Test(arguments: ["/dev/fd/", "/proc/self/fd/"])
    func writesThroughADescriptorAfterWhatIsThere(_ place: String) throws {
        try Files.create(folder.file("a"), [])
        let number = unsafe open(folder.file("a"), O_WRONLY | O_CLOEXEC)
        defer { close(number) }
        var byte: UInt8 = 1
        #expect(unsafe write(number, &byte, 1) == 1)
        try Files.checkReplaceable("\(place)\(number)")
        try Files.replace("\(place)\(number)", [2, 3])
        byte = 4
        #expect(unsafe write(number, &byte, 1) == 1)
        #expect(try Files.read(folder.file("a")) == [1, 2, 3, 4])
    }

    @Test func leavesNothingWhereItFails() throws {
        try Files.makeFolder(folder.file("full"))
        try Files.create(folder.file("full/a"), [1])
        #expect(throws: Failure.self) { try Files.replace(folder.file("full/"), [2]) }
        let long = folder.file(String(repeating: "n", count: 255))
        #expect(throws: Failure.self) { try Files.replace(long, [2]) }
        #expect(try Files.names(inFolder: folder.path) == ["full/"])
        #expect(try Files.names(inFolder: folder.file("full")) == ["a"])
    }

    /// What is written in pieces takes a file's place as a whole, or leaves it as it was.
    @Test func replacesInPieces() throws {
        let path = folder.file("a")
        try Files.create(path, [1])
        let count = try Files.replace(path) { write throws(Failure) in
            for byte in 2...4 as ClosedRange<UInt8> { try write([byte]) }
            return 3
        }
        #expect(count == 3)
        #expect(try Files.read(path) == [2, 3, 4])
        #expect(throws: Failure.self) {
            try Files.replace(path) { write throws(Failure) in
                try write([5])
                throw Failure("trace-invalid", party: .tool, "too long")
            }
        }
        #expect(try Files.read(path) == [2, 3, 4])
        #expect(try Files.names(inFolder: folder.path) == ["a"])
    }

    @Test func seesWhereItCannotWrite() throws {
        let reading = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(reading) }
        for number in ["\(reading)", "1000000"] {
            let failure = #expect(throws: Failure.self) {
                try Files.checkReplaceable("/dev/fd/" + number)
            }
            #expect(failure?.code == "file-unwritable")
        }
        try Files.create(folder.file("there"), [])
        try Files.checkReplaceable(folder.file("there"))
        try Files.checkReplaceable(folder.file("new"))
        try Files.checkReplaceable("/dev/null")
        for (path, reason) in [("none/new", "no such file or directory"), (".", "it is a folder")] {
            let failure = #expect(throws: Failure.self) {
                try Files.checkReplaceable(folder.file(path))
            }
            #expect(failure?.code == "file-unwritable")
            #expect(failure?.detail.hasSuffix(": " + reason) == true)
        }
    }

    @Test func refusesWhatIsLongerThanTheLimit() throws {
        try Files.create(folder.file("a"), [UInt8](repeating: 1, count: 100_000))
        #expect(try Files.read(folder.file("a"), byteLimit: 100_000).count == 100_000)
        let failure = #expect(throws: Failure.self) {
            try Files.read(folder.file("a"), byteLimit: 99_999)
        }
        #expect(failure?.code == "file-unreadable")
        #expect(failure?.detail.hasSuffix("longer than 99999 bytes") == true)
        #expect(throws: Failure.self) { try Files.read("/dev/zero", byteLimit: 1 << 20) }
    }

    @Test func namesTheFileItCannotRead() {
        let missing = #expect(throws: Failure.self) { try Files.read(folder.file("none")) }
        #expect(missing?.detail == "cannot read \(folder.file("none")): no such file or directory")
        let directory = #expect(throws: Failure.self) { try Files.read(folder.path) }
        #expect(directory?.detail == "cannot read \(folder.path): is a directory")
    }

    @Test func namesTheFolderItCannotMake() throws {
        try Files.create(folder.file("file"), [])
        let failure = #expect(throws: Failure.self) {
            try Files.makeFolder(folder.file("file/below"))
        }
        #expect(
            failure?.detail
                == "cannot make the folder \(folder.file("file/below")): not a directory")
    }

    @Test func toleratesWhatIsThere() throws {
        try Files.makeFolder(folder.file("a//b/"))
        try Files.makeFolder(folder.file("a/b"))
        #expect(Files.exists(folder.file("a/b")))
        Files.remove(folder.file("a/none"))
        Files.remove(folder.file("a/b"))
        #expect(!Files.exists(folder.file("a/b")))
    }

    @Test func movesNothingOntoAFullFolder() throws {
        try Files.makeFolder(folder.file("new"))
        try Files.makeFolder(folder.file("full"))
        try Files.create(folder.file("full/a"), [1])
        #expect(!Files.move(folder.file("new"), to: folder.file("full")))
        #expect(try Files.read(folder.file("full/a")) == [1])
        #expect(Files.move(folder.file("full"), to: folder.file("new")))
        #expect(try Files.read(folder.file("new/a")) == [1])
    }

    /// What has the name may be a link that somebody has put there.
    @Test func writesBesideWhatHasTheName() throws {
        try Files.create(folder.file("a"), [1])
        #expect(unsafe symlink("a", folder.file("link")) == 0)
        #expect(Files.isLink(folder.file("link")) && !Files.isLink(folder.file("a")))
        let beside = try Files.createBeside(folder.file("link"), [2])
        #expect(mode(of: beside) == 0o600)
        #expect(Files.move(beside, to: folder.file("link")))
        #expect(try Files.read(folder.file("a")) == [1])
        #expect(try Files.read(folder.file("link")) == [2])
        #expect(!Files.isLink(folder.file("link")))
        #expect(throws: Failure.self) { try Files.createBeside(folder.file("no/a"), [3]) }
    }

    @Test func listsAFolder() throws {
        try Files.makeFolder(folder.file("inner"))
        try Files.create(folder.file("b"), [])
        try Files.create(folder.file("a"), [])
        #expect(try Files.names(inFolder: folder.path) == ["a", "b", "inner/"])
        #expect(try Files.names(inFolder: folder.path, countLimit: 1) { $0 == "b" } == ["b"])
        for (place, limit) in [(folder.path, 2), (folder.file("missing"), 9)] {
            let failure = #expect(throws: Failure.self) {
                _ = try Files.names(inFolder: place, countLimit: limit)
            }
            #expect(failure?.code == "file-unreadable")
        }
    }

    private func mode(of path: String) -> mode_t {
        var facts = stat()
        guard unsafe lstat(path, &facts) == 0 else { return 0 }
        return facts.st_mode & 0o777
    }
}

/// A folder of a test's own, removed with all in it when the test is done.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        var template = [CChar]("/tmp/base-tests-XXXXXX".utf8CString)
        path = unsafe String(cString: mkdtemp(&template))
    }

    deinit { Self.removeAll(path) }

    private static func removeAll(_ path: String) {
        if let folder = unsafe opendir(path) {
            defer { unsafe closedir(folder) }
            while let entry = unsafe readdir(folder) {
                let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    unsafe [UInt8](bytes.prefix { $0 != 0 }).text
                }
                if name != ".", name != ".." { removeAll("\(path)/\(name)") }
            }
        }
        unsafe remove(path)
    }

    func file(_ name: String) -> String { path + "/" + name }

    @Test func pathsAreFromTheRootOn() throws {
        #expect(try Files.absolute("/a/b") == "/a/b")
        #expect(try Files.absolute("b").hasPrefix("/"))
        #expect(try Files.absolute("b").hasSuffix("/b"))
    }
}
