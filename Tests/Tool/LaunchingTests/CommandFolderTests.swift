import Base
import Glibc
import Testing

@testable import Launching

struct CommandFolderTests {
    /// A program that changes its user reads files of it by their path; who else is on the machine
    /// must not see what there is.
    @Test func isPassedThroughAndNotListed() throws {
        let folder = try CommandFolder(in: "/tmp")
        defer { folder.remove() }
        #expect(try mode(of: folder.path) == 0o711)
    }

    /// Only what the caller's own settings may hold a password in is a secret of it.
    @Test func settingsOfTheCallerAreTheirs() throws {
        let parent = try CommandFolder(in: "/tmp")
        defer { parent.remove() }
        let own = parent.path + "/.wgetrc"
        try Files.create(own, [UInt8]("password = s3cret\n".utf8), readableByOthers: true)
        let environment = try ClientEnvironment(
            proxy: nil, trusting: nil, inherited: ["TMPDIR": parent.path, "WGETRC": own])
        defer { environment.remove() }
        #expect(try mode(of: environment.folder) == 0o711)
        let settings = environment.folder + "/wgetrc"
        #expect(try Files.read(settings).text.hasPrefix("password = s3cret\n"))
        #expect(try mode(of: settings) == 0o600)
        let names = try Files.names(inFolder: environment.folder)
        for name in names where !name.hasSuffix("/") {
            let path = "\(environment.folder)/\(name)"
            let isSecret = try Files.read(path).text.contains("s3cret")
            #expect(try !isSecret || mode(of: path) & 0o077 == 0, "\(name)")
        }
    }

    /// Of a file or a folder, without its kind.
    private func mode(of path: String) throws -> mode_t {
        var facts = stat()
        let status = unsafe stat(path, &facts)
        try #require(status == 0, "no \(path)")
        return facts.st_mode & 0o7777
    }
}
