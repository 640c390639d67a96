import Foundation
import Testing

extension RealClientTests {
    /// What people do with the tool, from an empty home, as they type it: the scripts in `Uses`.
    struct UsesTests {
        @Test(
            .needs(.bash, .curl, .python, .unshare),
            arguments: ["audit", "gate", "failing-client"])
        func runs(_ name: String) async throws {
            let folder = try Folder()
            let home = folder.path("home")
            try FileManager.default.createDirectory(
                atPath: home, withIntermediateDirectories: false)
            let tool = try #require(Peer.sallyport.path)
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("sallyport"), withDestinationPath: tool)
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("Uses/\(name).sh").path
            let path = "\(folder.path):/usr/local/bin:/usr/bin:/bin"
            let run = try Program(
                .bash, ["-c", "exec env -i HOME='\(home)' PATH='\(path)' sh '\(script)'"],
                in: folder)
            #expect(try await run.end() == 0, "\(run.story)")
        }
    }
}
