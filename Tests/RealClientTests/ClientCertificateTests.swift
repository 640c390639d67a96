import Foundation
import Testing

extension RealClientTests {
    /// Certificates of clients, between programs that are not ours.
    struct ClientCertificateTests {
        private struct Ready: Decodable {
            let port: Int
        }

        /// A CA, and a certificate of a device in `client.pem`, with its key, and in `client.p12`.
        private static func makeIdentity(in folder: Folder) async throws {
            let common = [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-days", "2",
            ]
            try await Program.run(
                .openssl,
                common + [
                    "-subj", "/CN=Devices", "-keyout", "devices.key", "-out", "devices.pem",
                    "-addext", "keyUsage=critical,keyCertSign",
                ], in: folder)
            try await Program.run(
                .openssl,
                common + [
                    "-CA", "devices.pem", "-CAkey", "devices.key", "-subj", "/CN=device 7",
                    "-keyout", "client.key", "-out", "leaf.pem", "-addext",
                    "basicConstraints=critical,CA:FALSE",
                ], in: folder)
            try folder.write("password", "secret\n")
            try await Program.run(
                .openssl,
                [
                    "pkcs12", "-export", "-in", "leaf.pem", "-inkey", "client.key", "-out",
                    "client.p12", "-passout", "file:password",
                ], in: folder)
            let leaf = try String(contentsOfFile: folder.path("leaf.pem"), encoding: .utf8)
            let key = try String(contentsOfFile: folder.path("client.key"), encoding: .utf8)
            let path = try folder.write("client.pem", leaf + key)
            for file in [path, folder.path("client.p12")] {
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o600], ofItemAtPath: file)
            }
        }

        @Test(.needs(.python, .curl, .openssl), arguments: ["TLSv1_2", "TLSv1_3"])
        func originIsShownWhatItAsksFor(_ version: String) async throws {
            let folder = try Folder()
            let authority = try await TestAuthority(in: folder)
            try await Self.makeIdentity(in: folder)
            let origin = try Program(
                .python,
                [
                    Peer.projectFolder + "/Tests/RealClientTests/Servers/client-certificates.py",
                    authority.leafPath, authority.leafKeyPath, folder.path("devices.pem"), version,
                ], in: folder)
            let port = try await origin.ready(as: Ready.self).port
            for (name, options, status) in [
                ("pem", ["--client-cert", "localhost=\(folder.path("client.pem"))"], "200"),
                (
                    "p12",
                    [
                        "--client-cert", "*=\(folder.path("client.p12"))",
                        "--client-cert-password-file", folder.path("password"),
                    ], "200"
                ),
                ("other", ["--client-cert", "*.test=\(folder.path("client.pem"))"], "502"),
            ] {
                let proxy = try await ProxyProcess(
                    trusting: authority, reverse: nil, in: folder, capture: "\(name).sallyport",
                    options)
                let output = try await Program.run(
                    .curl,
                    [
                        "-sS", "--proxy", proxy.url, "--cacert", proxy.authorityPath, "-w",
                        "%{http_code}", "https://localhost:\(port)/",
                    ], in: folder)
                try await proxy.end()
                let text = String(decoding: output, as: UTF8.self)
                let connection = try #require(await proxy.capture.connections().first)
                let note = connection.notes.first { $0.code == "origin-asked-for-certificate" }
                let detail = note?.detail ?? "no note"
                #expect(text.hasSuffix(status), "\(text)")
                if status == "200" {
                    #expect(text == "device 7\n200")
                    #expect(detail.contains("was shown CN=device 7, issued by CN=Devices"))
                } else {
                    #expect(text.contains("--client-cert HOST=FILE"))
                    #expect(detail.contains("was shown none"))
                }
            }
        }

        @Test(.needs(.curl, .openssl), arguments: [["--http1.1"], ["--http2"]])
        func clientShowsWhatItIsAskedFor(_ version: [String]) async throws {
            let folder = try Folder()
            try await Self.makeIdentity(in: folder)
            let origin = try await Origin()
            let proxy = try await ProxyProcess(
                for: origin, in: folder, ["--ask-client-cert", "localhost"])
            for own in [["--cert", "client.pem"], []] {
                try await Program.run(
                    .curl,
                    [
                        "-sS", "--proxy", proxy.url, "--cacert", proxy.authorityPath, "-o",
                        "answer", origin.url + "/",
                    ] + version + own, in: folder)
            }
            try await proxy.end()
            let notes = try await proxy.capture.connections().map { connection in
                connection.notes.first { $0.code == "client-certificate" }?.detail
            }
            #expect(notes.count == 2)
            let first = try #require(notes.first ?? nil)
            #expect(
                first.hasPrefix("the client showed CN=device 7, issued by CN=Devices, SHA-256 "))
            #expect(first.hasSuffix("and proved to have its key"))
            #expect(notes.last == .some(nil))
        }
    }
}
