import Foundation

/// An nginx that serves a folder by TLS on a free port, and takes uploads.
final class Origin: Sendable {
    let port: UInt16
    let folder: Folder
    let authority: TestAuthority
    private let server: Program

    /// What can be fetched: every size that matters, chunked, and compressed by the way.
    static let names = [
        "empty.bin", "byte.bin", "small.bin", "large.bin", "chunked/unsized.bin", "story.txt",
    ]
    /// The one of `names` that is sent compressed to a client that can decompress.
    static let compressedName = "story.txt"

    var url: String { "https://localhost:\(port)" }

    /// - Parameter http2: whether it speaks HTTP/2 too.
    init(http2: Bool = false) async throws {
        folder = try Folder()
        authority = try await TestAuthority(in: folder)
        try Self.writeFiles(in: folder)
        // A socket that listens before nginx starts needs neither a free port nor a wait: nginx
        // takes it over from its standard input, as it does from its predecessor on an upgrade.
        let listener = try ListeningSocket()
        port = listener.port
        let configuration = try folder.write(
            "nginx.conf",
            Self.configuration(
                listen: "127.0.0.1:\(port) ssl\(http2 ? " http2" : "")", folder: folder,
                authority: authority))
        server = try Program(
            .nginx, ["-c", configuration, "-e", folder.path("nginx.log")], in: folder,
            input: listener.handle, variables: ["NGINX": "0;"], lastSignal: SIGTERM)
        // If nginx fails, clients are refused and do not wait.
        try listener.handle.close()
    }

    func path(of name: String) -> String {
        folder.path("www/\(name)")
    }

    /// Where an upload to `/upload/NAME` ends up.
    func uploadPath(_ name: String) -> String {
        folder.path("uploaded/upload/\(name)")
    }

    private static func writeFiles(in folder: Folder) throws {
        _ = try folder.folder("uploaded")
        try folder.write("www/empty.bin", Data())
        try folder.write("www/byte.bin", "x")
        try folder.write("www/small.bin", Bytes.random(100_000))
        try folder.write("www/large.bin", Bytes.random(10_000_000))
        try folder.write("www/chunked/unsized.bin", Bytes.random(200_000))
        let lines = (1...40_000).map { "line \($0) of a story\n" }
        try folder.write("www/story.txt", lines.joined())
    }

    private static func configuration(
        listen: String, folder: Folder, authority: TestAuthority
    ) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder.path("nginx-\($0)"));"
        }
        return """
            daemon off;
            worker_processes 1;
            # The tests' files belong to the one who runs them, also if that is root.
            user root;
            pid \(folder.path("nginx.pid"));
            events { worker_connections 1024; }
            http {
                \(temporary.joined(separator: " "))
                access_log off;
                types { text/plain txt; text/html html; image/png png; }
                default_type application/octet-stream;
                client_max_body_size 100m;
                keepalive_requests 1000000;
                gzip on;
                gzip_types text/plain;
                server {
                    listen \(listen);
                    ssl_certificate \(authority.leafPath);
                    ssl_certificate_key \(authority.leafKeyPath);
                    ssl_protocols TLSv1.2 TLSv1.3;
                    root \(folder.path("www"));
                    # A filter that finds nothing hides the length, so that chunks are needed.
                    location /chunked/ { sub_filter_types *; sub_filter '@never@' ''; }
                    # A body for every path: the template's, with the path in its places.
                    location ~ ^/unique/(?<template>[a-z]+)/ {
                        try_files /$template.template =404;
                        sub_filter_types *;
                        sub_filter_once off;
                        sub_filter '@path@' '$request_uri';
                    }
                    location /upload/ {
                        root \(folder.path("uploaded"));
                        dav_methods PUT;
                        create_full_put_path on;
                    }
                    location /small/ { client_max_body_size 1m; }
                }
            }
            """
    }
}

/// A TCP socket on a free port of 127.0.0.1 that listens already.
struct ListeningSocket {
    let port: UInt16
    let handle: FileHandle

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Trouble("no socket: errno \(errno)") }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Int32 in
                guard unsafe bind(descriptor, address, length) == 0 else { return -1 }
                guard listen(descriptor, 128) == 0 else { return -1 }
                return unsafe getsockname(descriptor, address, &length)
            }
        }
        guard status == 0 else { throw Trouble("no listening socket: errno \(errno)") }
        port = UInt16(bigEndian: address.sin_port)
    }
}

enum Bytes {
    /// Bytes that no compression shortens.
    static func random(_ count: Int) throws -> Data {
        let source = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/urandom"))
        guard let bytes = try source.read(upToCount: count), bytes.count == count else {
            throw Trouble("too few random bytes")
        }
        return bytes
    }
}
