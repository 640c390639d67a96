import Foundation

/// An nginx that serves a folder without TLS on a free port, with its default settings.
final class FileServer: Sendable {
    let port: UInt16
    private let server: Program

    /// - Parameter root: the folder that it serves; its files are plain text.
    init(root: String, in folder: Folder) throws {
        // As `Origin` does it: nginx takes a listening socket over from its standard input.
        let listener = try ListeningSocket()
        port = listener.port
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder.path("nginx-\($0)"));"
        }
        let configuration = try folder.write(
            "nginx.conf",
            """
            daemon off;
            worker_processes 1;
            user root;
            pid \(folder.path("nginx.pid"));
            events { worker_connections 64; }
            http {
                \(temporary.joined(separator: " "))
                access_log off;
                types {}
                default_type "text/plain; charset=utf-8";
                server {
                    listen 127.0.0.1:\(port);
                    root \(root);
                }
            }
            """)
        server = try Program(
            .nginx, ["-c", configuration, "-e", folder.path("nginx.log")], in: folder,
            input: listener.handle, variables: ["NGINX": "0;"], lastSignal: SIGTERM)
        try listener.handle.close()
    }

    /// Ends it in order, so that it leaves the folder alone from then on.
    func end() async throws {
        server.send(SIGTERM)
        let code = try await server.end()
        guard code == 0 else { throw Trouble("exit code \(code) of \(server.story)") }
    }
}
