import Foundation
import Testing

/// Servers that are not ours, each with one version of HTTP on one port.
enum OriginServer: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case nginx = "nginx"
    case nginxTLS = "nginx with TLS"
    case nginxHTTP2 = "nginx with h2c"
    case nginxHTTP2TLS = "nginx with h2"
    case nghttpd = "nghttpd with h2c"
    case nghttpdTLS = "nghttpd with h2"
    case node = "node"
    case nodeTLS = "node with TLS"
    case nodeHTTP2 = "node with h2c"
    case nodeHTTP2TLS = "node with h2"

    var testDescription: String { rawValue }

    var isSecure: Bool {
        switch self {
        case .nginxTLS, .nginxHTTP2TLS, .nghttpdTLS, .nodeTLS, .nodeHTTP2TLS: true
        case .nginx, .nginxHTTP2, .nghttpd, .node, .nodeHTTP2: false
        }
    }

    var speaksHTTP2: Bool {
        switch self {
        case .nginx, .nginxTLS, .node, .nodeTLS: false
        case .nginxHTTP2, .nginxHTTP2TLS, .nghttpd, .nghttpdTLS, .nodeHTTP2, .nodeHTTP2TLS: true
        }
    }

    var peer: Peer {
        switch self {
        case .nginx, .nginxTLS, .nginxHTTP2, .nginxHTTP2TLS: .nginx
        case .nghttpd, .nghttpdTLS: .nghttpd
        case .node, .nodeTLS, .nodeHTTP2, .nodeHTTP2TLS: .node
        }
    }

    /// How it takes an upload: nginx keeps it in a file, the others send it back.
    var echoes: Bool { peer.name != Peer.nginx.name }
}

/// One of these, running, with contents to serve.
final class RunningOrigin: Sendable {
    let server: OriginServer
    let port: UInt16
    let contents: TestContents
    let authority: TestAuthority
    private let folder: Folder
    private let program: Program

    init(_ server: OriginServer, _ contents: TestContents) async throws {
        self.server = server
        self.contents = contents
        folder = contents.folder
        authority = contents.authority
        switch server.peer.name {
        case Peer.nginx.name: (program, port) = try Self.startNginx(server, contents)
        case Peer.nghttpd.name: (program, port) = try await Self.startNghttpd(server, contents)
        default: (program, port) = try await Self.startNode(server, contents)
        }
    }

    var url: String { "\(server.isSecure ? "https" : "http")://localhost:\(port)" }

    /// Where nginx puts what comes to `/upload/NAME`.
    func uploadPath(_ name: String) -> String {
        folder.path("uploaded/upload/\(name)")
    }

    private static func startNginx(
        _ server: OriginServer, _ contents: TestContents
    ) throws -> (Program, UInt16) {
        let folder = contents.folder
        let listener = try ListeningSocket()
        let configuration = try folder.write(
            "nginx.conf", self.configuration(server, listener.port, contents))
        let program = try Program(
            .nginx, ["-c", configuration, "-e", folder.path("nginx.log")], in: folder,
            input: listener.handle, variables: ["NGINX": "0;"], lastSignal: SIGTERM)
        try listener.handle.close()
        return (program, listener.port)
    }

    private static func configuration(
        _ server: OriginServer, _ port: UInt16, _ contents: TestContents
    ) -> String {
        let folder = contents.folder
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder.path("nginx-\($0)"));"
        }
        let protocols = (server.isSecure ? " ssl" : "") + (server.speaksHTTP2 ? " http2" : "")
        return """
            daemon off;
            worker_processes 1;
            user root;
            pid \(folder.path("nginx.pid"));
            events { worker_connections 256; }
            http {
                \(temporary.joined(separator: " "))
                access_log off;
                client_max_body_size 100m;
                add_header x-origin-protocol $server_protocol always;
                server {
                    listen 127.0.0.1:\(port)\(protocols);
                    ssl_certificate \(contents.authority.leafPath);
                    ssl_certificate_key \(contents.authority.leafKeyPath);
                    root \(folder.path("www"));
                    location /upload/ {
                        root \(folder.path("uploaded"));
                        dav_methods PUT;
                        create_full_put_path on;
                    }
                }
            }
            """
    }

    private static func startNghttpd(
        _ server: OriginServer, _ contents: TestContents
    ) async throws -> (Program, UInt16) {
        let secret = [contents.authority.leafKeyPath, contents.authority.leafPath]
        let program = try Program(
            .nghttpd,
            ["--address=127.0.0.1", "--echo-upload", "-d", contents.folder.path("www")]
                + (server.isSecure ? ["0"] + secret : ["--no-tls", "0"]), in: contents.folder)
        let port = try await eventually("the port of nghttpd") {
            if !program.isRunning { throw Trouble("ended: \(program.story)") }
            return try ListeningSocket.port(of: program.processID)
        }
        return (program, port)
    }

    private static func startNode(
        _ server: OriginServer, _ contents: TestContents
    ) async throws -> (Program, UInt16) {
        let (program, ports) = try await NodeOrigin.start(contents)
        return (program, ports[server])
    }
}

/// The origin of Node.js, which has several ports.
struct NodeOrigin: Decodable {
    let http1: UInt16
    let http1TLS: UInt16
    let http2: UInt16
    let http2TLS: UInt16

    subscript(server: OriginServer) -> UInt16 {
        switch (server.speaksHTTP2, server.isSecure) {
        case (false, false): http1
        case (false, true): http1TLS
        case (true, false): http2
        case (true, true): http2TLS
        }
    }

    static func start(_ contents: TestContents) async throws -> (Program, NodeOrigin) {
        let authority = contents.authority
        let program = try Program(
            .node,
            [
                Peer.script("http2-origin.cjs"), authority.leafPath, authority.leafKeyPath,
                contents.folder.path("www"),
            ], in: contents.folder)
        return (program, try await program.ready(as: NodeOrigin.self))
    }
}

extension ListeningSocket {
    /// The TCP port that a process listens on; `nil` if there is none yet.
    static func port(of processID: Int32) throws -> UInt16? {
        let files = FileManager.default
        let descriptors = "/proc/\(processID)/fd"
        let sockets = Set(
            try files.contentsOfDirectory(atPath: descriptors).compactMap { name in
                // One that was closed meanwhile is not the one.
                do {
                    return try files.destinationOfSymbolicLink(atPath: "\(descriptors)/\(name)")
                } catch {
                    return nil
                }
            })
        // Foundation takes the first page of such a file for the whole of it, unless read to its end.
        let table = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/net/tcp"))
        let lines = String(decoding: try table.readToEnd() ?? Data(), as: UTF8.self)
        // Columns: number, local address, remote address, state (0A: listens), …, inode (9).
        for line in lines.split(separator: "\n") {
            let columns = line.split(separator: " ")
            guard columns.count > 9, columns[3] == "0A", sockets.contains("socket:[\(columns[9])]")
            else { continue }
            return columns[1].split(separator: ":").last.flatMap { UInt16($0, radix: 16) }
        }
        return nil
    }
}
