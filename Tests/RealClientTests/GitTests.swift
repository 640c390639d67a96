import Foundation
import Testing

extension RealClientTests {
    /// git over https: clones by the dumb and the smart protocol, and a push.
    struct GitTests {
        /// Every object is a file that is fetched by itself.
        @Test(.needs(.git)) func clonesFromPlainFiles() async throws {
            let origin = try await Origin()
            let repository = try await Repository(at: "www/project.git", in: origin.folder)
            try await repository.git("update-server-info")
            let folder = try Folder()
            let proxy = try await ProxyProcess(for: origin, in: folder)
            let client = GitClient(folder: folder, proxy: proxy)

            try await client.git("clone", "--quiet", "\(origin.url)/project.git", "clone")
            try await client.expectClone("clone", of: repository)
            try await proxy.end()

            let flows = try await proxy.capture.flows()
            let objects = flows.filter { $0.url.contains("/objects/") && $0.status == 200 }
            #expect(!objects.isEmpty)
            var recorded: [String] = []
            var served: [String] = []
            for (index, flow) in objects.enumerated() {
                served.append(origin.path(of: String(flow.url.dropFirst(origin.url.count + 1))))
                let content = try await proxy.capture.show(flow.id, "response-body")
                recorded.append(try folder.write("recorded/\(index)", content))
            }
            let expected = try await Digests.of(served, in: folder)
            #expect(try await Digests.of(recorded, in: folder) == expected)
        }

        /// One pack comes back as the answer to a POST, and one goes out in chunks.
        @Test(.needs(.git, .python)) func clonesAndPushesPacks() async throws {
            let origin = try await Origin()
            let repository = try await Repository(at: "git/project.git", in: origin.folder)
            try await repository.git("config", "http.receivepack", "true")
            let server = try Program(
                .python,
                [
                    Peer.script("git-server.py"), origin.folder.path("git"),
                    origin.authority.leafPath, origin.authority.leafKeyPath,
                ], in: origin.folder)
            let port = try await eventually("the port of \(server.story)") {
                let output = String(decoding: server.output, as: UTF8.self)
                return output.hasSuffix("\n") ? Int(output.dropLast()) : nil
            }
            let folder = try Folder()
            let proxy = try await ProxyProcess(for: origin, in: folder)
            let client = GitClient(folder: folder, proxy: proxy)

            try await client.git(
                "clone", "--quiet", "https://localhost:\(port)/project.git", "clone")
            try await client.expectClone("clone", of: repository)
            try folder.write("clone/more.bin", Bytes.random(3_000_000))
            try await client.git("-C", "clone", "add", "more.bin")
            try await client.git("-C", "clone", "commit", "--quiet", "-m", "more")
            try await client.git("-C", "clone", "push", "--quiet")
            try await client.expectClone("clone", of: repository)
            try await proxy.end()

            let flows = try await proxy.capture.flows(filter: "method=POST")
            #expect(flows.allSatisfy { $0.status == 200 && $0.error == nil }, "\(flows)")
            let push = try #require(
                flows.last { $0.url.hasSuffix("/git-receive-pack") && $0.requestBytes > 3_000_000 })
            let head = try await proxy.capture.show(push.id, "request-head")
            #expect(String(decoding: head, as: UTF8.self).contains("chunked"))
            try await Self.expectPack(
                in: await proxy.capture.show(push.id, "request-body"), folder)
        }

        /// Expects a whole pack behind the commands of a push: git checks its digest.
        private static func expectPack(in content: Data, _ folder: Folder) async throws {
            let start = try #require(content.firstRange(of: Data("PACK".utf8))).lowerBound
            let path = try folder.write("recorded.pack", content[start...])
            try await Program.run(
                .git, ["-C", folder.path("clone"), "index-pack", "--stdin", "--fix-thin"],
                in: folder, input: FileHandle(forReadingFrom: URL(fileURLWithPath: path)))
        }
    }
}

/// A bare repository with a file of every kind that matters to a pack.
private struct Repository {
    let folder: Folder
    let path: String

    init(at name: String, in folder: Folder) async throws {
        self.folder = folder
        path = try folder.folder(name)
        let work = try folder.folder("work")
        try folder.write("work/story.txt", (1...5_000).map { "line \($0)\n" }.joined())
        try folder.write("work/random.bin", Bytes.random(1_500_000))
        try await Self.git("init", "--quiet", "--bare", "--initial-branch=main", path, in: folder)
        try await Self.git("init", "--quiet", "--initial-branch=main", work, in: folder)
        try await Self.git("-C", work, "add", ".", in: folder)
        try await Self.git("-C", work, "commit", "--quiet", "-m", "first", in: folder)
        try folder.write("work/story.txt", (2...5_001).map { "line \($0)\n" }.joined())
        try await Self.git("-C", work, "commit", "--quiet", "-a", "-m", "second", in: folder)
        try await Self.git("-C", work, "push", "--quiet", path, "main", in: folder)
    }

    @discardableResult
    func git(_ arguments: String...) async throws -> String {
        try await Self.git(arguments: ["-C", path] + arguments, in: folder)
    }

    private static func git(_ arguments: String..., in folder: Folder) async throws {
        try await git(arguments: arguments, in: folder)
    }

    @discardableResult
    static func git(
        arguments: [String], in folder: Folder, variables: [String: String] = [:]
    ) async throws -> String {
        let identity = ["-c", "user.name=Tester", "-c", "user.email=tester@localhost"]
        let output = try await Program.run(
            .git, identity + arguments, in: folder, variables: variables)
        return String(decoding: output, as: UTF8.self)
    }
}

private struct GitClient {
    let folder: Folder
    let proxy: ProxyProcess

    @discardableResult
    func git(_ arguments: String...) async throws -> String {
        let settings = ["-c", "http.sslCAInfo=\(proxy.authorityPath)"]
        return try await Repository.git(
            arguments: settings + arguments, in: folder, variables: ["https_proxy": proxy.url])
    }

    /// Expects the same history here and there, and every object whole.
    func expectClone(_ name: String, of repository: Repository) async throws {
        let here = try await git("-C", name, "rev-parse", "HEAD", "HEAD^{tree}")
        #expect(here == (try await repository.git("rev-parse", "main", "main^{tree}")))
        try await git("-C", name, "fsck", "--full", "--strict")
    }
}
