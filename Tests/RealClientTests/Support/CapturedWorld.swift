import Foundation
import Testing

/// A network of its own with origins of every kind, whose names are known there only.
///
/// It takes root: the origins have the ports that their protocols have, and one of them changes its
/// user. What runs beside `sallyport` there resolves every name to loopback; the command that is
/// captured has names and a network of its own again.
final class CapturedWorld: Sendable {
    let folder: Folder
    let authority: TestAuthority
    private let holder: Program
    private let input: FileHandle
    /// The process whose namespaces are entered.
    private let inside: Int32

    @TaskLocal static var current: CapturedWorld?

    init() async throws {
        folder = try Folder()
        // The origins that change their user, and clients that do, look into it.
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: folder.path)
        authority = try await TestAuthority(in: folder, names: Self.names)
        try await Self.writeFiles(in: folder, authority)
        let pipe = Pipe()
        input = pipe.fileHandleForWriting
        holder = try Program(
            .unshare,
            [
                "--mount", "--net", "--pid", "--fork", "--kill-child", "sh",
                Peer.script("captured/world.sh"),
            ], in: folder, input: pipe.fileHandleForReading,
            variables: ["PYTHON": Peer.python.path ?? ""])
        let (program, holder) = (holder, holder.processID)
        inside = try await eventually("the world of \(program.story)") {
            let path = "/proc/\(holder)/task/\(holder)/children"
            let text = FileManager.default.contents(atPath: path) ?? Data()
            return Int32(String(decoding: text, as: UTF8.self).split(separator: " ").first ?? "")
        }
        try await waitForOrigins()
    }

    /// Ends everything that runs in it.
    func end() async throws {
        try input.close()
        _ = try await holder.end()
    }

    /// Starts a program in it.
    func start(
        _ command: [String], in folder: Folder, asNobody: Bool = false,
        variables: [String: String] = [:]
    ) throws -> Program {
        let other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        return try Program(
            .nsenter,
            ["--target=\(inside)", "--mount", "--net", "--wd=\(folder.path)"]
                + (asNobody ? other : []) + command, in: folder,
            variables: variables)
    }

    private func waitForOrigins() async throws {
        var wanted = [80, 389, 443, 8443]
        if Peer.redis.path != nil { wanted += [6379, 6380] }
        if Peer.mosquitto.path != nil { wanted += [8883] }
        if FileManager.default.fileExists(atPath: "/usr/lib/postgresql") { wanted += [5432] }
        let story = holder
        _ = try await eventually("the origins of \(story.story)", within: .seconds(60)) {
            let sockets = try start(["ss", "-ltnH"], in: folder)
            _ = try await sockets.end()
            let text = String(decoding: sockets.output, as: UTF8.self)
            return wanted.allSatisfy { text.contains(":\($0) ") } ? true : nil
        }
    }

    static let names = ["web", "git", "apt", "grpc", "ldap", "redis", "mqtt", "postgres"].map {
        "\($0).test"
    }
}

extension CapturedWorld {
    private static func writeFiles(in folder: Folder, _ authority: TestAuthority) async throws {
        try folder.write("resolv.conf", "nameserver 127.0.0.1\n")
        try folder.write("www/hello.txt", "from the origin\n")
        try folder.write("www/apt/Packages", "Package: entry\nVersion: 1\nArchitecture: all\n")
        try await writeRepository(in: folder)
        try folder.write("nginx.conf", nginx(in: folder, authority))
        try folder.write(
            "mosquitto.conf",
            """
            user root
            allow_anonymous true
            listener 8883 127.0.0.1
            certfile \(authority.leafPath)
            keyfile \(authority.leafKeyPath)
            """)
    }

    private static func writeRepository(in folder: Folder) async throws {
        let repository = try folder.folder("www/project.git")
        let work = try folder.folder("work")
        try folder.write("work/story.txt", "a story\n")
        for arguments in [
            ["init", "--quiet", "--bare", "--initial-branch=main", repository],
            ["init", "--quiet", "--initial-branch=main", work],
            ["-C", work, "add", "."],
            ["-C", work, "commit", "--quiet", "-m", "first"],
            ["-C", work, "push", "--quiet", repository, "main"],
            ["-C", repository, "update-server-info"],
        ] {
            let identity = ["-c", "user.name=Tester", "-c", "user.email=tester@localhost"]
            try await Program.run(.git, identity + arguments, in: folder)
        }
    }

    private static func nginx(in folder: Folder, _ authority: TestAuthority) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder.path("nginx-\($0)"));"
        }
        return """
            daemon off;
            worker_processes 1;
            user root;
            pid \(folder.path("nginx.pid"));
            events { worker_connections 256; }
            http {
                \(temporary.joined(separator: " "))
                access_log off;
                server {
                    listen 127.0.0.1:80;
                    listen 127.0.0.1:443 ssl http2;
                    ssl_certificate \(authority.leafPath);
                    ssl_certificate_key \(authority.leafKeyPath);
                    root \(folder.path("www"));
                }
            }
            """
    }
}

/// One world for a whole suite.
struct CapturedWorldTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let world = try await CapturedWorld()
        try await CapturedWorld.$current.withValue(world) { try await function() }
        try await world.end()
    }
}

extension Trait where Self == CapturedWorldTrait {
    static var capturedWorld: Self { Self() }
}

/// `sallyport run --capture-all` in the world.
struct CapturedRun {
    let program: Program
    let capture: Capture

    /// - Parameters:
    ///   - tool: the built one, or a copy of it.
    ///   - before: a command that starts the tool with its arguments; empty for none.
    init(
        _ command: [String], in folder: Folder, options: [String] = [],
        tool: Peer = .sallyport, before: [String] = [], asNobody: Bool = false,
        variables: [String: String] = [:]
    ) throws {
        guard let world = CapturedWorld.current else { throw Trouble("there is no world") }
        capture = Capture(path: folder.path("run.sallyport"), folder: folder)
        let words =
            before + [
                tool.path ?? "", "run", "--capture-all", "--capture", capture.path, "--origin-ca",
                world.authority.certificatePath, "--fail-on", "critical",
            ] + options + ["--"] + command
        program = try world.start(words, in: folder, asNobody: asNobody, variables: variables)
    }

    /// What the tool said after the command had ended, and the command on its standard error.
    var talk: String { String(decoding: program.errors, as: UTF8.self) }
    var output: String { String(decoding: program.output, as: UTF8.self) }
}
