import Base
import Foundation
import Testing

@testable import Runs

@Suite struct WorkTreeTests {
    @Test(arguments: [
        ([String: String](), false), ([".git/HEAD": ""], true),
        ([".git/HEAD": "", ".gitignore": "node_modules\n*.sallyport\n"], false),
        ([".git/HEAD": "", ".gitignore": "*.pcap\r\n# *.sallyport of old\n"], true),
        ([".git/HEAD": "", ".gitignore": "run.sallyport"], false),
        ([".git/HEAD": "", ".git/info/exclude": "*.sallyport\n"], false),
        ([".git/HEAD": "", "sub/.gitignore": "/*.sallyport\n"], false),
        // The .git of a work tree that was added is a file.
        ([".git": "gitdir: /elsewhere\n"], true),
    ])
    func takesWhatIsNotIgnored(_ files: [String: String], _ isTaken: Bool) throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("sallyport-tree-\(UUID().uuidString)")
        for (name, text) in files.merging(["sub/x": ""], uniquingKeysWith: { $1 }) {
            let file = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: false, encoding: .utf8)
        }
        #expect(WorkTree.wouldTake(folder.path + "/sub/run.sallyport") == isTaken)
        try FileManager.default.removeItem(at: folder)
    }
}
